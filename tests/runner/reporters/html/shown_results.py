"""The results that a page shows."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

ALL = ["TestSetupReturnsId", "TestSlowSetup", "T002", "T003", "book-a-trip", "TestSystemReady", "T001", "polite-refusal", "TestLater"]  # fmt: skip


def ids(page: Page) -> list[str]:
    return page.locator(".row-id").all_inner_texts()


def expect_ids(page: Page, *wanted: str) -> None:
    expect(page.locator(".row-id")).to_have_text(list(wanted))


def expand(page: Page, id: str) -> Any:
    """Opens a result; its details."""
    page.locator(".row-head", has=page.get_by_text(id, exact=True)).click()
    detail = page.get_by_role("region", name=f"Result {id}", exact=True)
    detail.locator(".actions").wait_for()
    return detail


def lines(locator: Any) -> list[str]:
    return [line for line in locator.inner_text().split("\n") if line.strip()]
