"""Pages of a server of `yao-test view`, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import browsers
import pytest
from agent_files import case_file
from browsers import PATIENCE, WINDOW
from command import Application, make_application
from html_reports import CASES, everything, report, result, suite
from kept_runs import keep
from playwright.sync_api import Browser, Page
from view_server import View, serving
from viewed_application import FILES

from runner.planning.last_failed import STORE as FOLDER
from runner.store.places import Revision

chromium = browsers.chromium
browser = browsers.browser
ENDED = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_NETWORK", "yao-test view has ended")
"""What a page says whose server has ended before it."""


class Window:
    """A browser window, in which one page after another is opened: a new one takes longer than all that is on it."""

    def __init__(self, browser: Browser) -> None:
        self._context = browser.new_context(viewport=WINDOW)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.origins = {"blob:", "about:"}
        self._context.on("request", lambda request: self.asked.append(request.url))
        self._context.on("console", lambda message: self.said.append(message.text))
        self._context.on("weberror", lambda error: self.said.append(str(error.error)))
        self.page = self.further()

    def further(self) -> Page:
        """One more page."""
        page = self._context.new_page()
        page.set_default_timeout(PATIENCE)
        return page

    def tidy(self) -> None:
        """Leaves one page as it is, which asks no longer."""
        self.page.evaluate("window.stop()")
        for page in self._context.pages:
            if page is not self.page:
                page.close()
        self.page.set_viewport_size(WINDOW)
        self.page.emulate_media(color_scheme="light")
        self.said.clear()
        self.asked.clear()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three runs: everything that a report can have, and two of the same cases."""
    folder = tmp_path_factory.mktemp("store")
    keep(folder, everything(folder))
    for day, answer in ((1, "No dogs, please."), (2, "Yes, dogs are welcome.")):
        cases = [
            result(CASES, "dog", input="May I bring a dog?", output=answer),
            result(CASES, "late", "failed", input="May I check out late?", output="No.", error="assertion failed: no"),
        ]
        made = report([suite(CASES)], cases, timestamp=f"2099-01-0{day}T09:00:00Z")
        keep(folder, made, Revision(branch="main", commit=f"{day}" * 40))
    return folder


@pytest.fixture(scope="module")
def elsewhere(store: Path) -> Iterator[View]:
    """A server over that store, where the application is not."""
    with serving(store) as view:
        yield view


@pytest.fixture(scope="module")
def window(browser: Browser) -> Window:
    return Window(browser)


@pytest.fixture
def look(window: Window) -> Iterator[Callable[..., Page]]:
    """Opens a page of a server, instead of the last one or `beside` it; afterwards none may have had an error, or
    asked anybody else."""

    def open(view: View, path: str = "/", hash: str = "", beside: bool = False, **values: Any) -> Page:
        window.origins.add(view.origin)
        page = window.further() if beside else window.page
        wanted = view.page(path, hash, **values)
        if page.url.partition("#")[0] == wanted.partition("#")[0]:  # it would stay
            page.goto("about:blank")
        page.goto(wanted)
        return page

    yield open
    said = [text for text in window.said if not any(sign in text for sign in ENDED)]
    asked = [url for url in window.asked if not url.startswith(tuple(window.origins))]
    window.tidy()
    assert (said, asked) == ([], [])


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Application:
    """An application whose store has two runs of it, one of them with two runs of each case, and one from elsewhere."""
    application = make_application(tmp_path_factory.mktemp("view"), FILES)
    (application.root / FOLDER).mkdir()
    for more in ((), ("--runs", "2")):
        run = application.run("-i", case_file(), "-q", "--trace", "full", *more)
        assert run.code == 1, run
    keep(
        application.root / FOLDER,
        report([suite("a.jsonl")], [result("a.jsonl", "a", input="x", output="y")], timestamp="2099-01-01T00:00:00Z"),
    )
    return application


@pytest.fixture(scope="module")
def view(kept: Application) -> Iterator[View]:
    with serving(kept.root / FOLDER, kept.root, kept.environment) as view:
        yield view


@pytest.fixture(scope="module")
def runs(view: View) -> list[dict[str, Any]]:
    """Heads of the runs: the newest, from elsewhere, then that of two runs each, then the first."""
    found: list[dict[str, Any]] = view.get("/api/runs", limit=10)["runs"]
    return found
