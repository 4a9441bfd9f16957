"""Fixtures for tests that use the real command on an application written for the test."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from command import MakeApplication, make_application

signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # a shell's job in the background ignores it, with its children


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are CPUs: many tests wait for a deadline, a grace or a slow model."""
    return (os.cpu_count() or 1) * 3 // 2


@pytest.fixture
def app(tmp_path: Path) -> MakeApplication:
    """Writes an application of this test."""
    return lambda files: make_application(tmp_path, files)


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> MakeApplication:
    """Writes an application that all tests of a module look at."""
    return lambda files: make_application(tmp_path_factory.mktemp("shared"), files)
