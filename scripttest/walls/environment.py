"""Keeps what this process was started with out of `/proc/<pid>/environ`, where other processes of the user, and root,
could read the keys in it."""

from __future__ import annotations

import os
import sys

from scripttest.walls.system import GET_DUMPABLE, SET_DUMPABLE, prctl

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
        return "it could not be cleared, or this is no process of the command" if prctl(GET_DUMPABLE) else ""
    except OSError as error:
        return f"{error.strerror}"
