"""What the system allows a worker process: a second wall behind the engine, should a script ever get out of that.

Limits can only be lowered; one that the system does not have, or has lower already, stays as it is.
"""

from __future__ import annotations

import os
import resource
import sys

from scripttest.walls.confinement import close_files, close_system

MAX_INHERITED = 1024
"""Descriptors up to this one that the process got from its parent, and does not know, are closed."""
ADDRESS_SPACE = 3 << 29
"""Bytes: the interpreter, the script thread's stack, and realms within realms at the engine's own bound."""
FILE_SIZE = 1 << 20
"""Bytes of the largest file that may be written. Workers write none; the interpreter may cache a module."""
OPEN_FILES = 16
ROOM = 100 << 20
"""Bytes that a worker may have used at once and still keep what it could free."""
PROCESSOR_SECONDS = 4 * 3600
"""Seconds of the processor that a worker may use in all its life; how long a test takes is watched from outside."""


def limit_resources() -> None:
    """No core dumps, which would store what scripts hold; few open files, small ones, and so much memory
    and time of the processor."""
    _lower("RLIMIT_CORE", 0)
    _lower("RLIMIT_NOFILE", OPEN_FILES)
    _lower("RLIMIT_FSIZE", FILE_SIZE)
    _lower("RLIMIT_AS", ADDRESS_SPACE)
    _lower("RLIMIT_CPU", PROCESSOR_SECONDS)


def has_room() -> bool:
    """Whether the process has never used much memory."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (most if sys.platform == "darwin" else most << 10) < ROOM


def give_way() -> None:
    """Has the command go on when its message wakes this process: it has work for the other workers too."""
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except (AttributeError, OSError):
        return


def limit_files() -> None:
    """No files, TCP, signals to others and abstract sockets, for this thread and those that it starts from now on. What
    is needed must be loaded. Raises OSError."""
    close_files()


def limit_processes() -> None:
    """No further processes and threads, and no call of the system that scripts do not need. To be called once all
    threads run. The limit does not hold for root, the filter does. Raises OSError."""
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
