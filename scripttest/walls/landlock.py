"""Landlock: limits which files a thread, and everything that it starts, may open. It needs no privileges.

Only files that a rule names can be opened. Rules add up: a folder below an allowed folder cannot be closed again. Names
and sizes of files stay visible. From version 4 on it also refuses TCP, from version 6 on signals to outside processes
and abstract sockets. The format is in `linux/landlock.h`.
"""

from __future__ import annotations

import os

from scripttest.walls.system import NO_NEW_PRIVILEGES, prctl, syscall

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


def version() -> int:
    """The version of Landlock in this kernel. Raises OSError when it has none, or does not use it."""
    return syscall(_CREATE_RULESET, 0, 0, _VERSION)


def restrict(rules: list[tuple[str, int]]) -> None:
    """Leaves this thread, and what it starts, no files but these. Raises OSError.

    Args:
        rules: path, which must be there, and what is allowed to it and below it.
    """
    known = version()
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
