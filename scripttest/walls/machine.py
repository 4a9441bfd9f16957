"""Which walls this machine has, for people and for reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import lru_cache

from scripttest.values import Value
from scripttest.walls.confinement import landlock_version, missing_landlock, missing_seccomp
from scripttest.walls.seccomp import GET_DUMPABLE, SET_DUMPABLE, prctl


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
    version = "" if no_landlock else f" (Landlock {landlock_version()})"
    return (
        Wall(
            name="files",
            holds=f"Workers cannot open files, the compiler only those of the application{version}",
            missing=no_landlock,
        ),
        Wall(
            name="system calls",
            holds="Workers and the compiler can only make the system calls they need (seccomp)",
            missing=missing_seccomp(),
        ),
        Wall(
            name="session",
            holds="Workers and the compiler have no terminal",
            missing="" if hasattr(os, "setsid") and sys.platform in ("linux", "darwin") else "this system has none",
        ),
        Wall(
            name="limits",
            holds="Workers and the compiler have a memory limit",
            missing="" if is_linux else "the compiler is limited on Linux only; workers have the limits of this system",
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


_START, _END = 47, 48
"""Fields of `/proc/self/stat` behind the name of the program: where the block of the environment begins and ends."""


def hide_environment() -> None:
    """Clears the block that the system made of the environment, and closes this process to debuggers of the same user.
    `os.environ` and the environment of programs that are started stay as they are. Where that cannot be done,
    `missing_hiding` says so afterwards."""
    if not sys.platform.startswith("linux"):
        return
    try:
        _clear()
        prctl(SET_DUMPABLE, 0)
    except OSError:
        return


def _clear() -> None:
    for name, value in os.environ.items():
        if name:
            os.environ[name] = value  # the C library copies it out of the block
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[_START]), int(fields[_END])
    memory = os.open("/proc/self/mem", os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.pwrite(memory, bytes(end - start), start)
    finally:
        os.close(memory)


def missing_hiding() -> str:
    """Why the environment of this process is not hidden; empty when it is."""
    if not sys.platform.startswith("linux"):
        return "only Linux has it"
    try:
        return "it could not be cleared, or this is not a process of the command" if prctl(GET_DUMPABLE) else ""
    except OSError as error:
        return f"{error.strerror}"
