"""The server that plays a provider, a connector that points to it, and an agent with scripted replies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from connector_bench import Bench
from model_server import ModelServer
from recorded import Recorded
from scripted_agent import Agent


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def bench(tmp_path: Path, server: ModelServer) -> Bench:
    return Bench(tmp_path, server)


@pytest.fixture
def recorded(bench: Bench, tmp_path: Path) -> Recorded:
    return Recorded(bench, tmp_path / "rec")


@pytest.fixture
def agent(tmp_path: Path) -> Any:
    """Makes an agent of the text of a file of replies."""
    return lambda replies: Agent(tmp_path, replies)
