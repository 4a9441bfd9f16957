"""The page on architecture says where each flag is read, used and printed."""

from __future__ import annotations

import re
from pathlib import Path

from runner.cli.options import FLAGS

ROOT = Path(__file__).parent.parent


def test_each_flag_is_in_the_table() -> None:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    section = page.partition("\n## Where a flag goes\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"`--([\w-]+)`", section)) == {flag.name for flag in FLAGS}
