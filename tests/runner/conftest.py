"""The server that plays a provider, and a connector that points to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from connector_bench import Bench
from model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def bench(tmp_path: Path, server: ModelServer) -> Bench:
    return Bench(tmp_path, server)
