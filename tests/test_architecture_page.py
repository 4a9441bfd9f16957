"""The page on architecture says where each flag is read, used and printed."""

from __future__ import annotations

import re
from pathlib import Path

from runner.options.options import FLAGS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_each_flag_is_in_the_table() -> None:
    assert set(re.findall(r"`--([\w-]+)`", section("Places of flags"))) == {flag.name for flag in FLAGS}


def test_the_places_where_something_is_added_exist() -> None:
    text = section("Places for additions")
    paths = re.findall(r"`([\w.]+/[\w./<>-]+)`", text)
    assert len(paths) > 20
    assert [path for path in paths if not [*ROOT.glob(re.sub("<[^>]*>", "*", path).rstrip("/"))]] == []
    lines = re.findall(r"`(\w+)` in `([\w/]+\.py)`", text)
    assert len(lines) > 8
    assert [(name, path) for name, path in lines if name not in (ROOT / path).read_text("utf-8")] == []
