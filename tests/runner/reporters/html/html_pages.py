"""Pages that several tests use one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

AS_AT_FIRST = """async (rows) => {
  const next = () => new Promise((done) => requestAnimationFrame(done));
  const all = (selector) => [...document.querySelectorAll(selector)];
  location.hash = "";
  while (all(".row").length !== rows) await next();
  while (all(".row-head[aria-expanded=true]").length) {
    all(".row-head[aria-expanded=true]").forEach((head) => head.click());
    await next();
  }
  location.hash = "";
  scrollTo(0, 0);
  document.activeElement?.blur();
  await next();
}"""
"""Shows a page as it was when it was opened."""


@contextmanager
def as_at_first(page: Page, rows: int) -> Iterator[None]:
    """A page that other tests have used, with so many results, as it was when it was opened. Meanwhile it may have no
    error and ask for nothing."""
    said: list[str] = []
    listeners = {
        "pageerror": lambda error: said.append(str(error)),
        "console": lambda message: said.append(message.text),
        "request": lambda request: said.append(request.url),
    }
    page.evaluate(AS_AT_FIRST, rows)
    for event, listener in listeners.items():
        page.on(event, listener)  # type: ignore[call-overload]
    yield
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    assert [text for text in said if not text.startswith(("blob:", "data:"))] == []
