"""What bends the code for speed: realms that set up less, modules cut down to one test, bindings as bytecode, and all
modules of this project in one file.

Each has a plain way beside it, which gives the same results and takes longer. With the environment variable `PLAIN`
only the plain ways are taken: a fault that stays then is none of a shortcut.
"""

from __future__ import annotations

import os

PLAIN = "YAO_TEST_PLAIN"
"""For developers: `1` switches all shortcuts off, in the command and in its workers; `scan`, `slicing`, `bytecode` and
`imports`, apart by commas, switch off those."""


def is_off(shortcut: str) -> bool:
    """Whether the plain way is to be taken."""
    named = os.environ.get(PLAIN, "")
    return named == "1" or shortcut in named.split(",")
