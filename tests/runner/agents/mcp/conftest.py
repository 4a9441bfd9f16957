"""The surroundings of tests with real MCP servers."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_application import marked
from mcp_surroundings import Surroundings


@pytest.fixture
def here(tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[Surroundings]:
    """Checks afterwards that no process is left, and that nothing was said outside of errors."""
    surroundings = Surroundings(tmp_path)
    try:
        yield surroundings
        assert marked(surroundings.mark) == []
        assert capfd.readouterr() == ("", "")
        assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    finally:
        surroundings.close()
