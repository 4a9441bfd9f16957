"""A real browser, and pages in it that show reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Protocol

import browsers
import pytest
from browsers import PATIENCE, WINDOW, Chromium
from html_pages import as_at_first
from html_reports import everything
from playwright.sync_api import Browser, BrowserContext, Page

from runner.compare.comparison import Comparison
from runner.record.report import Report
from runner.reporters.html import render

chromium = browsers.chromium
browser = browsers.browser

Scheme = Literal["light", "dark"]


class OpenReport(Protocol):
    def __call__(
        self,
        report: Report | Path,
        baseline: Report | None = None,
        hash: str = "",
        found: Comparison | None = None,
        scheme: Scheme = "light",
        **context: Any,
    ) -> Page: ...


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    """The report with everything, and its page."""
    folder = tmp_path_factory.mktemp("everything")
    report = everything(folder)
    path = folder / "report.html"
    path.write_text(render(report), "utf-8")
    return report, path


@pytest.fixture(scope="module")
def opened(browser: Browser, whole: tuple[Report, Path]) -> Page:
    """That page, opened once for all tests of a module."""
    page = browser.new_context(viewport=WINDOW).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(whole[1].as_uri())
    page.locator(".row").first.wait_for()
    return page


@pytest.fixture
def page(opened: Page) -> Iterator[Page]:
    """That page as it was at first; a test may do with it what a person may do."""
    with as_at_first(opened, 9):
        yield opened


@pytest.fixture
def open_report(chromium: Chromium, tmp_path: Path) -> Iterator[OpenReport]:
    """Opens a report, or a file with one; afterwards no page may have had an error or asked for anything. Keywords beside
    `scheme` are those of a browser context."""
    usual = chromium.usual
    said: list[str] = []
    asked: list[str] = []
    opened: list[Path] = []
    contexts: list[BrowserContext] = []
    listeners = {
        "pageerror": lambda error: said.append(str(error)),
        "console": lambda message: said.append(message.text),
        "request": lambda request: asked.append(request.url),
    }
    for event, listener in listeners.items():
        usual.on(event, listener)  # type: ignore[call-overload]

    def open(
        report: Report | Path,
        baseline: Report | None = None,
        hash: str = "",
        found: Comparison | None = None,
        scheme: Scheme = "light",
        **context: Any,
    ) -> Page:
        path = report
        if not isinstance(path, Path):
            path = tmp_path / f"report-{len(opened)}.html"
            path.write_text(render(report, baseline, found), "utf-8")  # type: ignore[arg-type]
        page = usual
        page.emulate_media(color_scheme=scheme)
        if context:
            contexts.append(chromium.browser.new_context(**{"viewport": WINDOW, **context}))
            page = contexts[-1].new_page()
            page.set_default_timeout(PATIENCE)
            for event, listener in listeners.items():
                page.on(event, listener)  # type: ignore[call-overload]
        opened.append(path)
        page.goto(path.as_uri() + hash)
        page.locator(".summary").wait_for()
        return page

    yield open
    for event, listener in listeners.items():
        usual.remove_listener(event, listener)
    usual.evaluate("location.protocol === 'file:' && localStorage.clear()")
    for context in contexts:
        context.close()
    assert said == []
    assert [url.partition("#")[0] for url in asked if not url.startswith(("blob:", "data:"))] == [
        path.as_uri() for path in opened
    ]
