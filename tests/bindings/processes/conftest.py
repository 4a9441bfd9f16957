"""What answers a process in these tests, unless a module has its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bindings.policy import HostCall, Policy
from bindings.processes import call
from bindings.world import World

Run = Callable[..., Any]


@pytest.fixture
def surroundings() -> HostCall:
    return HostCall(
        app_root=Path("/nowhere"),
        policy=Policy(environment={"SHOWN": "yes"}),
        locale="en-us",
        authorized={"session_id": "s1"},
        world=World(suite="", test=""),
    )


@pytest.fixture
def run(surroundings: HostCall) -> Run:
    return lambda name, *args: call(name, args, surroundings)
