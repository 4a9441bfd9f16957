"""Sets up the walls that this machine has. A worker sets up its own; those around the compiler are set up at its start.

Landlock limits which files a thread, and everything that it starts, may open. It needs no privileges. Only files that a
rule names can be opened. Rules add up: a folder below an allowed folder cannot be closed again. Names and sizes of
files stay visible. From version 4 on it also refuses TCP, from version 6 on signals to outside processes and abstract
sockets. The format is in `linux/landlock.h`.

A wall that the machine does not have is left out; one that it has and that cannot be put up is an error. All that is
needed is loaded with this module: behind a wall it could not be."""

from __future__ import annotations

import os
import resource
import sys

from scripttest.walls import seccomp
from scripttest.walls.seccomp import NO_NEW_PRIVILEGES, prctl, syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
IN_FOLDER = WRITE_FILE | READ_FILE | READ_DIR | 0x10 | 0x20 | 0x80 | 0x100 | 0x1000 | 0x2000 | 0x4000
"""All that can be done in a folder with files, folders and symbolic links, but to run a file."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_FILES = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""From which version on which rights to files can be refused."""
_TCP = ((4, 0b11),)
"""Binding and connecting."""
_SCOPES = ((6, 0b11),)
"""Abstract sockets and signals."""


def close_files() -> None:
    """Forbids files, TCP, abstract sockets and signals to other processes, for this thread and those that it starts
    later. Everything that is needed must be loaded before. Raises OSError."""
    if not missing_landlock():
        restrict([])


def close_system() -> None:
    """Forbids further processes and threads, and leaves all threads of this worker the system calls that scripts need.
    Must be called once, when all threads run. The limit on processes does not apply to root, the filter of system calls
    does. Raises OSError."""
    _lower("RLIMIT_NPROC", 0)
    if not missing_seccomp():
        seccomp.confine_worker()


def confine_compiler(program: str, paths: Iterable[str]) -> None:
    """Leaves this thread, and the compiler that it starts, these folders and files to read, and the calls of the
    compiler. Raises OSError."""
    has_filter = not missing_seccomp()
    if not missing_landlock():
        rules = []
        for path in paths:
            is_folder = os.path.isdir(path)
            rules.append((path, READ_FILE | READ_DIR if is_folder else READ_FILE))
            if not is_folder or path.endswith("/node_modules"):  # it looks for these in the list of their folder
                rules.append((os.path.dirname(path), READ_DIR))
        restrict([*rules, (program, READ_FILE | EXECUTE)])
    if has_filter:
        seccomp.confine_compiler()


def missing_landlock() -> str:
    """Why files cannot be closed here; empty when they can be."""
    if not sys.platform.startswith("linux"):
        return "only Linux has it"
    try:
        landlock_version()
    except OSError as error:
        return (
            f"it needs Landlock: Linux 5.13 or newer, with landlock in lsm=, allowed in containers ({error.strerror})"
        )
    return ""


def missing_seccomp() -> str:
    """Why system calls cannot be refused here; empty when they can be."""
    return seccomp.missing() if sys.platform.startswith("linux") else "only Linux has it"


def landlock_version() -> int:
    """The version of Landlock in this kernel. Raises OSError when it has none, or does not use it."""
    return syscall(_CREATE_RULESET, 0, 0, _VERSION)


def restrict(rules: list[tuple[str, int]]) -> None:
    """Leaves this thread, and what it starts, no files but these. Raises OSError. `rules`: path, which must be
    there, and what is allowed to it and below it."""
    known = landlock_version()
    handled = [sum(rights for since, rights in table if since <= known) for table in (_FILES, _TCP, _SCOPES)]
    ruleset = syscall(_CREATE_RULESET, b"".join(rights.to_bytes(8, "little") for rights in handled), 24, 0)
    try:
        for path, rights in rules:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = (rights & handled[0]).to_bytes(8, "little") + descriptor.to_bytes(4, "little")
                syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
            finally:
                os.close(descriptor)
        prctl(NO_NEW_PRIVILEGES, 1)
        syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


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


def _lower(name: str, value: int) -> None:
    """Limits can only be lowered; one that the system does not have, or has lower already, stays as it is."""
    number = getattr(resource, name, None)
    if number is None:
        return
    try:
        _, most = resource.getrlimit(number)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(number, (value, value))
    except (OSError, ValueError):
        return
