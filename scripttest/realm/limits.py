"""What the system allows a worker process: a second wall behind the engine, should a script ever get out of that.

Limits can only be lowered; one that the system does not have, or has lower already, stays as it is."""

from __future__ import annotations

import os
import resource
import sys

from scripttest.walls.confinement import close_files, close_system

MAX_INHERITED = 1024
"""Inherited file descriptors that the process does not know are closed, up to this number."""
ADDRESS_SPACE = 3 << 29
"""Bytes of address space: for the interpreter, the stack of the script thread, and nested realms at the engine's own
limit."""
FILE_SIZE = 1 << 20
"""Bytes of the largest file that may be written. Workers write none; the interpreter may cache a module."""
OPEN_FILES = 16
ROOM = 100 << 20
"""A worker that never used more bytes than this keeps the memory that it could free."""
PROCESSOR_SECONDS = 4 * 3600
"""Seconds of the processor that a worker may use in all its life; how long a test takes is watched from outside."""


def limit_resources() -> None:
    """Forbids core dumps, which would store what scripts hold, and limits open files, file sizes, memory and processor
    time."""
    _lower("RLIMIT_CORE", 0)
    _lower("RLIMIT_NOFILE", OPEN_FILES)
    _lower("RLIMIT_FSIZE", FILE_SIZE)
    _lower("RLIMIT_AS", ADDRESS_SPACE)
    _lower("RLIMIT_CPU", PROCESSOR_SECONDS)


def has_room() -> bool:
    """Whether the process has never used more memory than `ROOM`."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (most if sys.platform == "darwin" else most << 10) < ROOM


def give_way() -> None:
    """Lets the command run before this process when a message wakes it, because the command has work for other workers
    too."""
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except (AttributeError, OSError):
        return


def limit_files() -> None:
    """Forbids files, TCP, abstract sockets and signals to other processes, for this thread and those that it starts
    later. Everything that is needed must be loaded before. Raises OSError."""
    close_files()


def limit_processes() -> None:
    """Forbids further processes and threads, and system calls that scripts do not need. Must be called once, when all
    threads run. The limit on processes does not apply to root, the filter of system calls does. Raises OSError."""
    _lower("RLIMIT_NPROC", 0)
    close_system()


def _lower(name: str, value: int) -> None:
    number = getattr(resource, name, None)
    if number is None:
        return
    try:
        _, most = resource.getrlimit(number)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(number, (value, value))
    except (OSError, ValueError):
        return
