"""Starts the program of a worker.

It takes about as long to load as a command needs to find out what is to run. So a command that will need a worker
starts one before anything else, `launch_ahead`. The first that is launched after that with the same command line, in
the same environment, is that one. Nobody has to take it: it ends with the process that started it."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

from scripttest.process import LIFELINE, Child, spawn
from scripttest.shortcuts import PLAIN

INHERITED = (PLAIN, "TZ")
"""Environment variables that a worker gets; no others."""
_BOOTSTRAP = "import sys; sys.path += sys.argv[5:]; from scripttest.realm.worker import main; main()"
_COUNTING = (
    "import sys; sys.path += sys.argv[6:]; from scripttest.realm.counting import counters;"
    " from scripttest.realm.worker import main; main(*counters(sys.argv[5]))"
)
_TELLING = (
    "import sys; sys.path += sys.argv[5:]; from scripttest.realm.story import Story;"
    " from scripttest.realm.worker import main; main(story=Story())"
)
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_ahead: list[tuple[object, Child]] = []
"""How the process that was started ahead was started, and that process, until one is launched."""


def worker_command(parts: str, counters: str | None = None, tells: bool = False) -> list[str]:
    """The command line of a worker that loads the script half of the bindings from a folder. If `counters` is a folder,
    the worker counts the code that scripts run, and leaves the counters there; if it `tells`, scripts with a recorder
    tell what they do. Raises HostError."""
    command = _command(parts, counters, tells)
    if command is None:
        from scripttest.results import HostError

        raise HostError(
            "Cannot find the JavaScript engine", hint="Install yao-test again: it brings the package quickjs-ng"
        )
    return command


def _command(parts: str, counters: str | None, tells: bool = False) -> list[str] | None:
    engine = PathFinder.find_spec("_quickjs")
    if engine is None or engine.origin is None:
        return None
    bootstrap, given = (_TELLING if tells else _BOOTSTRAP, []) if counters is None else (_COUNTING, [counters])
    paths = [_ROOT, os.path.dirname(engine.origin)]
    return [sys.executable, "-I", "-S", "-c", bootstrap, parts, "0", "1", str(LIFELINE), *given, *paths]


def launch(command: list[str]) -> Child:
    """A process with a command line: a new one, or the one that was started ahead. Raises OSError."""
    environment = _environment()
    while _ahead:
        how, child = _ahead.pop()
        if how == (command, environment):
            return child
        child.end()
    return spawn(command, environment)


def launch_ahead(parts: str) -> None:
    """Starts a worker for the first `launch`, with the parts of that folder. Where it cannot be started, that is told
    when it is needed."""
    command, environment = _command(parts, None), _environment()
    if command is not None:
        try:
            _ahead.append(((command, environment), spawn(command, environment)))
        except OSError:
            return


def end_ahead() -> None:
    """Ends the process that was started ahead and has not been launched, if there is one."""
    while _ahead:
        _ahead.pop()[1].end()


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in INHERITED if os.environ.get(name)}
