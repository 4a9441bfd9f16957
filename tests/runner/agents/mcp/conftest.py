"""Fixtures for tests with real MCP servers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp_application import marked
from mcp_surroundings import Service, Surroundings


@pytest.fixture(scope="module")
def service() -> Iterator[Callable[[str], Service]]:
    """The service of a transport, which is started for the first test that asks for it."""
    services: dict[str, Service] = {}

    def of(transport: str) -> Service:
        if transport not in services:
            services[transport] = Service(transport)
        return services[transport]

    yield of
    for service in services.values():
        service.close()


@pytest.fixture
def here(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    service: Callable[[str], Service],
) -> Iterator[Surroundings]:
    """Checks afterwards that no process is left, and that nothing was said outside of errors."""
    surroundings = Surroundings(tmp_path, service)
    try:
        yield surroundings
        assert marked(surroundings.mark) == []
        assert capfd.readouterr() == ("", "")
        assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    finally:
        surroundings.close()
