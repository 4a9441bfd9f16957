"""A real browser, and what is asked of every page in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

CHROMIUM = shutil.which("chromium")
PATIENCE = 60_000
"""Milliseconds after which something that should be there is missed."""
WINDOW: ViewportSize = {"width": 1280, "height": 900}
AXE = Path(__file__).parents[2] / "bindings/node_modules/axe-core/axe.min.js"
RULES = {
    "light": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    "dark": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},  # all else is the same in the light
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; it ends with the module, as `asyncio.run` does not work beside it."""
    if CHROMIUM is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        expect.set_options(timeout=PATIENCE)
        yield browser
        browser.close()


def assert_accessible(page: Page, scheme: Any) -> None:
    """Everybody can use the page, in these colours, by axe-core."""
    if not AXE.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs axe-core: python bindings/build.py check")
    page.wait_for_function("() => document.getAnimations().length === 0")
    page.evaluate(f"if (!window.axe) {{ {AXE.read_text('utf-8')}; 0 }}")
    found = page.evaluate(
        "(rules) => axe.run(document, { runOnly: rules, resultTypes: ['violations'] })", RULES[scheme]
    )
    problems = [
        (one["id"], node["target"], node.get("failureSummary")) for one in found["violations"] for node in one["nodes"]
    ]
    assert not problems, problems
    assert "color-contrast" in [one["id"] for one in found["passes"]]
    assert len(found["passes"]) > (10 if scheme == "light" else 0)
