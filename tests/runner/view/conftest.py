"""Pages of a server of `yao-test view`, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import browsers
import pytest
from browsers import PATIENCE, WINDOW
from playwright.sync_api import Browser, Page
from view_server import View

browser = browsers.browser
ENDED = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_NETWORK", "yao-test view has ended")
"""What a page says whose server has ended before it."""


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page of a server; afterwards no page may have had an error, or asked anybody else."""
    said: list[str] = []
    asked: list[str] = []
    origins = {"blob:"}
    pages: list[Page] = []

    def open(view: View, path: str = "/", hash: str = "", context: dict[str, Any] | None = None, **values: Any) -> Page:
        origins.add(view.origin)
        page = browser.new_context(**{"viewport": WINDOW, **(context or {})}).new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        pages.append(page)
        page.goto(view.page(path, hash, **values))
        return page

    yield open
    for page in pages:
        page.context.close()
    assert [text for text in said if not any(sign in text for sign in ENDED)] == []
    assert [url for url in asked if not url.startswith(tuple(origins))] == []
