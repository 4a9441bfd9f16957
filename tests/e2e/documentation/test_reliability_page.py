"""`docs/reliability.md` names tests: they exist, and each row of its tables of bounds and ends has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/reliability.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_the_tests_that_the_page_names_exist() -> None:
    named = NAMED.findall(PAGE)
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.M)
    ]
    assert (len(named) > 10, missing) == (True, [])


@pytest.mark.parametrize("title", ["Bounds", "Ends"])
def test_each_row_has_its_test(title: str) -> None:
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(rows) > 10
    assert [row for row in rows if not NAMED.search(row)] == []
