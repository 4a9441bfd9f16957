"""The processor time of each part of a run of cases.

    python tests/bench/case_parts.py PARTS.json -i assistants --parallel 50 -o report.jsonl ...

runs the command in this process and writes `{part: seconds}`. Each function below is timed whenever its code runs,
without what other parts take within it and without waiting; of a coroutine that is each of its steps. `agents.py
--parts` shows the difference of two runs, so that the start of the command is in none of the parts.
"""

from __future__ import annotations

import atexit
import inspect
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from importlib import import_module
from pathlib import Path
from typing import Any

PARTS = {
    "case": ["runner.execution.scheduler:_Schedule._case"],
    "agent": ["runner.modes.base:call_agent"],
    "asking": ["runner.connectors.provider:HttpConnector.complete"],
    "journal": ["runner.answers.journal:Journal.complete", "runner.answers.journal:Journal.end"],
    "grading": ["runner.modes.mode:check_all"],
    "result": ["runner.execution.attempts:AttemptRun._ended"],
    "fingerprint": ["runner.fingerprints.fingerprints:Fingerprints.of_case", "runner.agents.runtime:Runtime.note"],
    "events": ["runner.reporters.stream:Multiplexer.send"],
    "line": ["runner.record.lines:line_of", "runner.record.report:stored_text"],
    "report": [
        "runner.reporters.document:JsonlReporter.on_event",
        "runner.reporters.document:Collector.on_event",
    ],
}
"""Part → its functions, as `module:name`; the modules that import a function by name have to be named here."""
LOOP = "loop"
"""The thread of the event loop, without the parts: asyncio, and reading what has come."""
THREADS = "threads"
"""Threads besides that of the event loop and the main one."""
REST = "rest"
"""What the main thread does: the start of the command, its plan, and the end of the run."""
GOALS = {
    "case": 0.17,
    "agent": 0.09,
    "asking": 0.28,
    THREADS: 0.01,
    LOOP: 0.11,
    "journal": 0.13,
    "grading": 0.02,
    "result": 0.09,
    "fingerprint": 0.04,
    "events": 0.09,
    "line": 0.09,
    "report": 0.06,
    REST: 0.02,
}
"""Part → milliseconds a case: 1.2 together."""

_spent: Counter[str] = Counter()
_open: dict[int, list[str]] = {}
"""Thread → the parts that its code is in, the innermost last."""
_since: dict[int, float] = {}


def _switch(thread: int) -> None:
    """Charges the time of a thread since it last changed its part."""
    now = time.thread_time()
    _spent[_open[thread][-1]] += now - _since[thread]
    _since[thread] = now


def _enter(part: str) -> int:
    thread = threading.get_ident()
    if thread not in _open:
        is_main = threading.current_thread() is threading.main_thread()
        _open[thread], _since[thread] = [REST if is_main else LOOP], 0.0
    _switch(thread)
    _open[thread].append(part)
    return thread


def _leave(thread: int) -> None:
    _switch(thread)
    _open[thread].pop()


class _Steps:
    """A coroutine whose steps are timed."""

    def __init__(self, inner: Awaitable[Any], part: str) -> None:
        self._inner = inner
        self._part = part

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._inner.__await__()
        given: Any = None
        raised: BaseException | None = None
        while True:
            thread = _enter(self._part)
            try:
                waits_for = steps.send(given) if raised is None else steps.throw(raised)
            except StopIteration as end:
                return end.value
            finally:
                _leave(thread)
            given = raised = None
            try:
                given = yield waits_for
            except BaseException as error:
                raised = error


def _timed(function: Callable[..., Any], part: str) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        async def steps(*args: Any, **named: Any) -> Any:
            return await _Steps(function(*args, **named), part)

        return steps

    def call(*args: Any, **named: Any) -> Any:
        thread = _enter(part)
        try:
            return function(*args, **named)
        finally:
            _leave(thread)

    return call


def _time_parts() -> None:
    for part, functions in PARTS.items():
        for name in functions:
            module, _, path = name.partition(":")
            *owners, last = path.split(".")
            holder: Any = import_module(module)
            for owner in owners:
                holder = getattr(holder, owner)
            setattr(holder, last, _timed(getattr(holder, last), part))


def _write(file: Path) -> None:
    for thread in threading.enumerate():
        if thread is threading.main_thread() and thread.ident in _open:
            _switch(thread.ident)
    whole = time.process_time()
    file.write_text(json.dumps({**_spent, THREADS: whole - sum(_spent.values())}))


def main() -> None:
    file = Path(sys.argv.pop(1)).absolute()
    _enter(REST)
    _time_parts()
    atexit.register(_write, file)
    from runner.commands.main import main as command

    command()


if __name__ == "__main__":
    main()
