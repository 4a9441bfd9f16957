"""A server of `yao-test view` over a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import httpx
from command import PATIENCE

from runner.view.page_actions import PageActions
from runner.view.reruns import Reruns
from runner.view.runs import StoredRuns
from runner.view.server import Serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

NOW = "2026-11-23T06:00:00Z"


class View:
    """A server that answers."""

    def __init__(self, serving: Serving, folder: Path) -> None:
        self.folder = folder
        self.port = serving.port
        self.origin, _, self.token = serving.link.partition("/#token=")
        self.client = httpx.Client(base_url=self.origin, timeout=PATIENCE, headers={"X-Yao-Test-Token": self.token})

    def page(self, path: str = "/", hash: str = "", **values: Any) -> str:
        """The address of a page, as a link has it that brings the token; `hash` begins with `&`."""
        query = f"?{urlencode(values, doseq=True)}" if values else ""
        return f"{self.origin}{path}{query}#token={self.token}{hash}"

    def get(self, path: str, **values: Any) -> Any:
        """The answer of the server, which must not be a refusal."""
        response = self.client.get(path, params=values)
        assert response.status_code == 200, response.text
        return response.json()


@contextmanager
def serving(folder: Path, application: Path | None = None, variables: dict[str, str] | None = None) -> Iterator[View]:
    """A server over a store."""
    runs = StoredRuns(folder, application, str)
    again = Reruns(variables or {})
    server = Serving(PageActions(runs, again, "ann", lambda: NOW), 0)
    thread = Thread(target=server.run)
    thread.start()
    view = View(server, folder)
    try:
        yield view
    finally:
        view.client.close()
        server.end()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        again.stop()
        runs.close()


def ids(view: View) -> list[str]:
    """The runs, newest first."""
    return [run["id"] for run in view.get("/api/runs", limit=10)["runs"]]


def opened(page: Page, id: str) -> Any:
    """The details of a result."""
    page.locator(".row-head", has=page.get_by_text(id, exact=True)).click()
    detail = page.get_by_role("region", name=f"Result {id}", exact=True)
    detail.locator(".actions").wait_for()
    return detail
