"""The command line, from its words to the exit code: the run, and a click command for each other thing to do.

Importing this package loads none of them."""

from __future__ import annotations

from bindings import SCRIPT_PARTS
from scripttest import launch_ahead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    "calibrate completion config convert diff doctor extract history init label mcp merge mutate regrade repl schema"
    " show status store trust types view"
).split()
"""First words that begin something else than a run. `tables` has a class of each name."""
COMPLETING = "_YAO_TEST_COMPLETE"
"""The shell sets this variable when it asks how a command line can be completed."""
_OTHER_WORKERS = ("--cluster", "--coverage")
"""Flags with which a run uses no worker of this kind."""


_OF_A_RUN = ("-", "scripts.", "run", "test", "eval", "watch")
"""How the first word of a run begins that may name script tests."""


def start_worker(arguments: Sequence[str]) -> None:
    """Starts it, for a command line of a run that names script tests and does not run them elsewhere."""
    named = any(word.startswith("scripts.") for word in arguments)
    if named and arguments[0].startswith(_OF_A_RUN) and not any(word.startswith(_OTHER_WORKERS) for word in arguments):
        launch_ahead(SCRIPT_PARTS)
