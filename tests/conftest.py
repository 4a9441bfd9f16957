"""Fixtures for tests that use the real command on an application written for the test."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from command import MakeApplication, make_application

signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # a shell's job in the background ignores it, with its children


@pytest.fixture
def app(tmp_path: Path) -> MakeApplication:
    """Writes an application of this test."""
    return lambda files: make_application(tmp_path, files)


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> MakeApplication:
    """Writes an application that all tests of a module look at."""
    return lambda files: make_application(tmp_path_factory.mktemp("shared"), files)
