"""Sets up the walls that this machine has. A worker sets up its own; those around the compiler are set up at its start.

A wall that the machine does not have is left out; one that it has and that cannot be put up is an error. All that is
needed is loaded with this module: behind a wall it could not be.
"""

from __future__ import annotations

import os
import sys

from scripttest.walls import landlock, seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def close_files() -> None:
    """Forbids this thread, and those that it starts from now on, to open files. Raises OSError."""
    if not missing_landlock():
        landlock.restrict([])


def close_system() -> None:
    """Leaves all threads of this worker the calls that scripts need. Raises OSError."""
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
            rules.append((path, landlock.READ_FILE | landlock.READ_DIR if is_folder else landlock.READ_FILE))
            if not is_folder or path.endswith("/node_modules"):  # it looks for these in the list of their folder
                rules.append((os.path.dirname(path), landlock.READ_DIR))
        landlock.restrict([*rules, (program, landlock.READ_FILE | landlock.EXECUTE)])
    if has_filter:
        seccomp.confine_compiler()


def missing_landlock() -> str:
    """Why files cannot be closed here; empty when they can be."""
    if not sys.platform.startswith("linux"):
        return "only Linux has it"
    try:
        landlock.version()
    except OSError as error:
        return f"it needs Landlock: Linux 5.13 or newer, with landlock in lsm=, open to containers ({error.strerror})"
    return ""


def missing_seccomp() -> str:
    """Why system calls cannot be refused here; empty when they can be."""
    return seccomp.missing() if sys.platform.startswith("linux") else "only Linux has it"
