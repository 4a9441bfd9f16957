"""Which walls this machine has, for people and for reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import lru_cache

from scripttest.values import Value
from scripttest.walls import landlock
from scripttest.walls.confinement import missing_landlock, missing_seccomp
from scripttest.walls.environment import missing_hiding


class Wall(Value):
    """One wall of the system around workers, the compiler and the keys of the command."""

    name: str
    """As `docs/security.md` has it: `files`, `system calls`, `session`, `limits`, `environment`."""
    holds: str
    """What it keeps from whom, a sentence without a full stop."""
    missing: str
    """Why this machine does not have it; empty when it has."""


@lru_cache(1)
def system_walls() -> tuple[Wall, ...]:
    """The walls of this machine, all that there are, on or not. Does not block."""
    is_linux = sys.platform.startswith("linux")
    no_landlock = missing_landlock()
    version = "" if no_landlock else f" (Landlock {landlock.version()})"
    return (
        Wall(
            name="files",
            holds=f"Workers open no file, the compiler those of the application{version}",
            missing=no_landlock,
        ),
        Wall(
            name="system calls",
            holds="Workers and the compiler make no call of the system that they do not need (seccomp)",
            missing=missing_seccomp(),
        ),
        Wall(
            name="session",
            holds="Workers and the compiler have no terminal",
            missing="" if hasattr(os, "setsid") and sys.platform in ("linux", "darwin") else "this system has none",
        ),
        Wall(
            name="limits",
            holds="Memory of workers and of the compiler is bounded",
            missing="" if is_linux else "only Linux bounds the compiler; workers have what this system knows",
        ),
        Wall(
            name="environment",
            holds="The environment of the command is cleared where other processes could read it",
            missing=missing_hiding(),
        ),
    )


def sandbox_of(absent: Iterable[str]) -> dict[str, str]:
    """What the environment of a report says, such as `{sandbox: "without files, limits"}`; nothing with all walls.
    `absent` are the names of the walls that are missing."""
    names = ", ".join(absent)
    return {"sandbox": f"without {names}"} if names else {}


def missing_walls() -> dict[str, str]:
    """Name → why this machine does not have the wall."""
    return {wall.name: wall.missing for wall in system_walls() if wall.missing}
