"""Answers of a model that are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from connector_bench import Bench
from recorded import Recorded


@pytest.fixture
def recorded(bench: Bench, tmp_path: Path) -> Recorded:
    return Recorded(bench, tmp_path / "rec")
