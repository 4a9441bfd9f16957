"""The loop of `--watch`: a run, then another one for each change and each key. The compiler and the workers stay.

| thread | does |
|---|---|
| main | runs tests, and waits in between |
| changes | finds out what changed, and stops a run whose result nobody wants any more |
| keys | reads the terminal |
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from runner import exit_codes
from runner.cli.settings import Settings
from runner.errors import RunnerError
from runner.execution.session import run
from runner.execution.stopping import Signals, Stop, undone_at_once
from runner.planning.inputs import CaseInput, Input, everything, resolve_inputs
from runner.planning.order import suite_key
from runner.reporters.console.style import Style
from runner.results.events import STALE, Event, RunStart, SuiteEnd, TestEnd
from runner.watch.changes import Changes
from runner.watch.dependents import Dependents
from runner.watch.keys import ESCAPE, Keys
from scripttest import Status, start_processes

if TYPE_CHECKING:
    from runner.application.application import Application
    from runner.cli.options import RunOptions
    from runner.connectors.load import Connectors
    from runner.environment import Environment
    from runner.fingerprints.parts import PartDigests
    from runner.results.fold import Execution
    from scripttest import Processes

QUIET = 0.02
"""Seconds without a change, after which a run begins."""
FILLING = 0.2
"""The same where a file is empty: who saves it has perhaps not written it yet."""
LONGEST = 0.3
"""Seconds after the first change, after which it begins in any case."""
HELP = """\
  a      run all tests
  f      run what failed
  u      update the snapshots of what failed
  p      only files whose names match
  t      only tests whose names match
  Esc    without those two
  Enter  run the same again
  q      quit
"""
FILE = "file "
"""Begins a message of the queue that names a changed file; a key has one letter."""
DECIDING = ("a", "f", "u", "q", "\n", "")
"""Keys that end a run which is under way."""
BROKE = "broke "
"""Begins one that says why nobody watches the files any more."""


class _Watched:
    """One run; implements `runner.execution.observing.Observer`."""

    def __init__(self, dependents: Dependents, processes: Processes | None) -> None:
        self.stop = Stop()
        self.processes = processes
        self.is_given_up = False
        """Whether a key stopped it."""
        self.open: frozenset[str] = frozenset()
        """Suites that have not ended."""
        self.kept: dict[str, dict[str, str]] = {}
        """Suite → its tests and how they ended."""
        self._dependents = dependents
        self._parts: PartDigests | None = None

    def begin(self, parts: PartDigests) -> None:
        """See `Observer`."""
        self._parts = parts

    def on_event(self, event: Event, so_far: Execution) -> None:
        """See `Observer`."""
        assert self._parts is not None
        if isinstance(event, RunStart):
            self.open = frozenset(so_far.suites)
            self._dependents.begin(so_far.suites)
        elif isinstance(event, TestEnd):
            self._dependents.learn(self._parts.files)
            self._dependents.take(event.result)
            self.kept.setdefault(event.result.suite, {})[event.result.name] = event.result.outcome.status
        elif isinstance(event, SuiteEnd):
            self._dependents.learn(self._parts.files)
            self._dependents.end(event.suite)
            self.open = self.open - {event.suite}  # others read it meanwhile

    def close(self) -> None:
        """See `Observer`."""


class Watch:
    """One command."""

    def __init__(
        self,
        options: RunOptions,
        environment: Environment,
        application: Application,
        parts: Path,
        configured: Callable[[], tuple[RunOptions, Settings | None]],
    ) -> None:
        """`configured` reads the options anew, with what the configuration file says by then."""
        self._options = options
        self._settings: Settings | None = None
        self._environment = environment
        self._application = application
        self._parts = parts
        self._configured = configured
        self._events: SimpleQueue[str] = SimpleQueue()
        self._dependents = Dependents()
        self._processes: Processes | None = None
        self._current: _Watched | None = None
        self._changes = Changes(application.root, self._hear, lambda error: self._events.put(f"{BROKE}{error}"))
        self._files = ""
        """Pattern of `p`."""
        self._names: str | None = None
        """Pattern of `t`."""
        self._last: tuple[set[str] | None, dict[str, object]] = (None, {})
        """What ran last: suites, None for all, and options beside those of the command line."""
        self._results: dict[str, dict[str, str]] = {}
        self._answers = TemporaryDirectory(prefix="yao-test-watch-")
        """Where the answers of models are kept."""
        self._style = Style(environment.colors and not options.no_color)

    def run(self) -> int:
        """Until somebody ends it; the exit code. An interrupt raises KeyboardInterrupt with its `code`."""
        stop = Stop()
        try:
            with (
                Keys(self._hear_key) as keys,
                undone_at_once(keys.restore_at_once),
                undone_at_once(self._answers.cleanup),
                Signals(stop),
            ):
                self._changes.start()
                self._cycle(None, asks=True)
                while self._next():
                    pass
        except KeyboardInterrupt as error:
            error.code = getattr(error, "code", None) or stop.code or exit_codes.INTERRUPTED  # type: ignore[attr-defined]
            raise
        finally:
            self._changes.stop()
            self._answers.cleanup()
            if self._processes is not None:
                self._processes.close()
        return exit_codes.PASSED

    # what others tell

    def _hear(self, changed: set[str]) -> None:
        """Files changed; on the thread of the changes."""
        current = self._current
        for path in changed:
            self._events.put(f"{FILE}{path}")
        if current is not None and current.open & self._affected(changed):
            current.stop.request(STALE, 0)

    def _hear_key(self, key: str) -> None:
        """A key was pressed; on the thread of the keys. One that starts something else, or ends all, ends the run."""
        current = self._current
        self._events.put(key)
        if current is not None and key in DECIDING:
            current.is_given_up = True
            current.stop.request(STALE, 0)

    def _affected(self, changed: set[str]) -> set[str]:
        return self._dependents.affected(changed, self._digests)

    # the loop

    def _next(self) -> bool:
        """Waits for what comes next, and does it; False when that is the end."""
        event = self._events.get()
        if not event.startswith(FILE) or len(event) == 1:
            return self._pressed(event)
        changed, keys = self._gathered({event.removeprefix(FILE)})
        suites = self._stale(changed)
        for key in keys:
            if not self._pressed(key):
                return False
        if suites:
            shown = ", ".join(sorted(suite_key(path, self._application.root) for path in changed)[:3])
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            self._say(f"Changed: {shown}{more}")
            self._cycle(suites, asks=False)
        return True

    def _gathered(self, changed: set[str]) -> tuple[set[str], list[str]]:
        """All changes until it is quiet, and keys that came meanwhile."""
        keys: list[str] = []
        end = time.monotonic() + LONGEST
        while (left := end - time.monotonic()) > 0:
            try:
                event = self._events.get(timeout=min(FILLING if any(map(_is_empty, changed)) else QUIET, left))
            except Empty:
                break
            if event.startswith(FILE) and len(event) > 1:
                changed.add(event.removeprefix(FILE))
            else:
                keys.append(event)
        return changed, keys

    def _stale(self, changed: set[str]) -> set[str]:
        """The suites that are to run after changes: those that depend on them, and new ones."""
        try:
            there = self._inputs()
        except RunnerError as error:
            self._explain(error)
            return set()
        affected = self._affected(changed)
        return {id for id in there if id in affected or not self._dependents.knows(id)}

    def _pressed(self, key: str) -> bool:
        if key.startswith(BROKE):
            raise RunnerError(f"Cannot watch {self._application.root}: {key.removeprefix(BROKE)}")
        if key in ("q", ""):
            return False
        if key == "a":
            self._cycle(None, asks=True)
        elif key == "f":
            self._cycle(None, asks=True, last_failed=True)
        elif key == "u":
            self._cycle(None, asks=True, last_failed=True, update_snapshots=True)
        elif key == "\n":
            suites, more = self._last
            self._cycle(suites, asks=True, **more)
        elif key == "h":
            self._write(HELP)
        elif key in ("p", "t"):
            return self._filter(key)
        elif key == ESCAPE and (self._files or self._names):
            self._files, self._names = "", None
            self._say("All files and all tests")
            self._cycle(None, asks=False)
        return True

    def _filter(self, key: str) -> bool:
        """Asks for a pattern, and runs what it picks."""
        typed = self._typed("Files that match: " if key == "p" else "Tests that match: ")
        if typed is None:
            self._write("\n")
            return True
        if key == "p":
            try:
                re.compile(typed)
            except re.error as error:
                self._say(f'Cannot read "{typed}": {error}')
                return True
            self._files = typed
        else:
            self._names = typed or None
        self._cycle(None, asks=False)
        return True

    def _typed(self, question: str) -> str | None:
        """A line that somebody types; None when it is given up. Changes wait meanwhile."""
        text, waiting = "", []
        self._write(question)
        while True:
            event = self._events.get()
            if event.startswith(FILE) and len(event) > 1:
                waiting.append(event)
                continue
            if event in ("\n", "", ESCAPE):
                break
            text = text[:-1] if event in ("\x7f", "\b") else text + event
            self._write(f"\r\x1b[K{question}{text}")
        self._write("\n")
        for other in waiting:
            self._events.put(other)
        return text if event == "\n" else None

    # running

    def _cycle(self, suites: set[str] | None, *, asks: bool, **changes: object) -> None:
        """Runs suites, None for all, and what becomes stale meanwhile, until a run comes to its end.

        Args:
            asks: whether models are asked; else what they answered is kept.
            changes: of the options.
        """
        self._last = (suites, changes)
        try:
            options, self._settings = self._configured()
            chosen = self._chosen(options, suites)
            kept, replayed = ({}, {}) if asks else self._answered(options, chosen)
            left = {id: item for id, item in chosen.items() if id not in kept and id not in replayed}
            for id in kept:
                self._say_kept(id)
            if replayed and all(map(self._dependents.knows, left)):  # what asks no model runs the same then
                left, replayed = {}, {id: item for id, item in chosen.items() if id not in kept}
            if left:
                self._run(options, left, {**changes, **self._recording(options, asks)})
            if replayed:
                self._say("A model answers as before: press Enter to ask it again")
                self._run(options, replayed, {**changes, "replay": self._answers.name})
        except RunnerError as error:
            self._explain(error)
        self._wait_line()

    def _answered(self, options: RunOptions, chosen: Mapping[str, Input]) -> tuple[dict[str, Input], dict[str, Input]]:
        """Suites in which real models answer: those whose results are kept, since they would be asked something else,
        and those that run with the answers of before."""
        if options.replay is not None:
            return {}, {}
        connectors, now = self._connectors(), self._digests()
        asking = {id: item for id, item in chosen.items() if self._dependents.asks_models(id, connectors)}
        replays = self._recording(options, True)
        kept = {id: item for id, item in asking.items() if not replays or self._dependents.asks_otherwise(id, now)}
        return kept, {id: item for id, item in asking.items() if id not in kept}

    def _recording(self, options: RunOptions, asks: bool) -> dict[str, object]:
        """How the answers of models are kept, where the command line does not say it."""
        if not asks or options.record or options.replay or options.record_missing:
            return {}
        return {"record": self._answers.name}

    def _run(self, options: RunOptions, items: Mapping[str, Input], changes: Mapping[str, object]) -> None:
        narrowed = options.replace(
            inputs=tuple(_spelled(item) for item in items.values()),
            skip_interactive=True,
            interactive=False,
            failed_first=not (options.last_failed or options.shuffle or changes.get("last_failed")),
            **({"run": self._names} if self._names else {}),
            **changes,
        )
        has_modules = any(not isinstance(item, CaseInput) for item in items.values())
        if has_modules and self._processes is None:
            self._processes = start_processes(self._parts, self._application.root)
        processes, rest = (self._processes, None) if has_modules else (None, self._processes)
        self._processes = None
        current = self._current = _Watched(self._dependents, rest)
        try:
            run(
                narrowed,
                self._environment,
                self._application,
                self._parts,
                processes,
                settings=(self._settings or Settings()).replace(typed=self._options),
                observer=current,
            )
        finally:
            self._current = None
            self._processes = current.processes
            self._results |= current.kept
        if current.stop.code is not None:
            error = KeyboardInterrupt()
            error.code = current.stop.code  # type: ignore[attr-defined]
            raise error
        if current.stop.reason == STALE and not current.is_given_up:
            self._again(items, changes)

    def _again(self, items: Mapping[str, Input], changes: Mapping[str, object]) -> None:
        """What was stopped, together with what became stale, when it is quiet."""
        changed, keys = self._gathered(set())
        for key in keys:
            self._events.put(key)
        options, self._settings = self._configured()
        chosen = self._chosen(options, {*items, *self._stale(changed)})
        if chosen:
            self._run(options, chosen, changes)

    def _inputs(self) -> dict[str, Input]:
        """What the command line names, as it is now. Raises ConfigurationError."""
        options = self._options
        directory = self._environment.directory
        if not options.inputs:
            options = options.replace(inputs=(everything(options, self._application, directory),))
        return {item.id: item for item in resolve_inputs(options, self._application, directory)}

    def _chosen(self, options: RunOptions, suites: set[str] | None) -> dict[str, Input]:
        found = {id: item for id, item in self._inputs().items() if suites is None or id in suites}
        if not self._files:
            return found
        root = self._application.root
        return {id: item for id, item in found.items() if re.search(self._files, suite_key(_place(item), root))}

    def _digests(self) -> PartDigests:
        from runner.application.dotenv import named_variables
        from runner.fingerprints.parts import PartDigests

        root, variables = self._application.root, self._environment.variables
        return PartDigests(self._application, {**named_variables(root, variables), **variables}, "", None)

    def _connectors(self) -> Connectors:
        from runner.connectors.load import Connectors

        return Connectors(self._application.root, self._environment.variables)

    # saying

    def _write(self, text: str) -> None:
        self._environment.stdout.write(text)
        self._environment.stdout.flush()

    def _say(self, text: str) -> None:
        self._write(self._style.paint(f"{text}\n", "cyan"))

    def _say_kept(self, id: str) -> None:
        results = list(self._results.get(id, {}).values())
        passed = sum(status == Status.PASSED for status in results)
        name = suite_key(id, self._application.root)
        self._say(f"Kept: {name}  {passed} of {len(results)} passed. A model answers there: press Enter to ask it")

    def _explain(self, error: RunnerError) -> None:
        hint = f"Hint: {error.hint}\n" if error.hint else ""
        self._write(self._style.paint(f"Error: {error.message}\n", "red") + hint)

    def _wait_line(self) -> None:
        filters = [f"files {self._files}"] if self._files else []
        filters += [f"tests {self._names}"] if self._names else []
        only = f" ({', '.join(filters)})" if filters else ""
        self._write(self._style.paint(f"Waiting for changes{only}: h for help, q to quit\n", "dim"))


def _is_empty(path: str) -> bool:
    try:
        return not os.path.getsize(path)
    except OSError:
        return False


def _spelled(item: Input) -> str:
    """What stands behind `-i`."""
    if isinstance(item, CaseInput):
        return str(item.path) if item.path is not None else item.message
    return item.id


def _place(item: Input) -> str:
    """What a pattern of files is looked for in."""
    return str(getattr(item, "test", None) or getattr(item, "path", None) or item.id)
