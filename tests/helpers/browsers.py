"""A real browser, and checks for every page in it."""

from __future__ import annotations

import asyncio
import os
import shutil
from asyncio import _set_running_loop
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--in-process-gpu", "--renderer-process-limit=1", "--process-per-site"]
"""The last three: as few processes as can be, and none for a page that nobody may open."""
SCRIPTS = "--js-flags=--max-lazy,--no-opt,--no-maglev,--no-sparkplug"
"""A page lives for a second: what makes its scripts quicker takes longer than they do, a quarter of all work."""
NOT_WANTED = ["--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]
"""Flags of Playwright: memory that processes share is not to be in a file on a disk, and nothing is drawn in 3D."""
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


class Chromium:
    """One browser for all tests of a process, and a page in it that they use one after another: either takes longer to
    begin than most tests."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._loop = asyncio.get_running_loop()

    @cached_property
    def usual(self) -> Page:
        """The page of the tests that ask for nothing special."""
        page = self.browser.new_context(viewport=WINDOW).new_page()
        page.set_default_timeout(PATIENCE)
        return page

    @contextmanager
    def in_use(self) -> Iterator[Self]:
        """Playwright leaves its loop as the one that runs. Other tests find none, so that `asyncio.run` works."""
        _set_running_loop(self._loop)
        yield self
        _set_running_loop(None)


@contextmanager
def launched() -> Iterator[Chromium]:
    """Debian's Chromium."""
    if CHROMIUM is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "needs chromium: apt-get install chromium-headless-shell, or chromium"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*FLAGS, SCRIPTS], ignore_default_args=NOT_WANTED
        )
        expect.set_options(timeout=PATIENCE)
        chromium = Chromium(browser)
        _set_running_loop(None)
        yield chromium
        with chromium.in_use():
            browser.close()
            playwright.stop()


@pytest.fixture(scope="module")
def chromium(real_browser: Chromium) -> Iterator[Chromium]:
    """The browser, while a module uses it."""
    with real_browser.in_use():
        yield real_browser


@pytest.fixture(scope="module")
def browser(chromium: Chromium) -> Browser:
    return chromium.browser


CROSSING = """() => {
  const wide = [...document.querySelectorAll(".table, .card, .row-head, .detail > *, h1")].filter((one) => one.scrollWidth > one.clientWidth + 1);
  const broken = [];
  for (const cell of document.querySelectorAll(".table :is(td, th)")) {
    for (const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT); words.nextNode(); ) {
      for (const word of words.currentNode.data.matchAll(/[^\\s\\/._›-]+/gu)) {
        const range = document.createRange();
        range.setStart(words.currentNode, word.index);
        range.setEnd(words.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1 && word[0].length < 30) broken.push(word[0]);
      }
    }
  }
  return [document.documentElement.scrollWidth - innerWidth, wide.map((one) => `${one.className}: ${one.textContent.slice(0, 60)}`), broken];
}"""


def assert_fits_a_phone(page: Page) -> None:
    """In a window of 390 columns nothing has to be moved to be seen, and no word of a table is broken."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate(CROSSING) == [0, [], []]


def assert_accessible(page: Page, scheme: Any) -> None:
    """Everybody can use the page, in these colours, by axe-core."""
    if not AXE.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs axe-core: python bindings/build.py check")
    page.wait_for_function("() => document.getAnimations().length === 0")
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"{AXE.read_text('utf-8')}; 0")
    found = page.evaluate(
        "(rules) => axe.run(document, { runOnly: rules, resultTypes: ['violations'] })", RULES[scheme]
    )
    problems = [
        (one["id"], node["target"], node.get("failureSummary")) for one in found["violations"] for node in one["nodes"]
    ]
    assert not problems, problems
    assert "color-contrast" in [one["id"] for one in found["passes"]]
    assert len(found["passes"]) > (10 if scheme == "light" else 0)
