"""The loop of `--watch`: a run, then another one after each change and each key. The compiler and the workers are kept.

| thread | does |
|---|---|
| main | runs tests, and waits in between |
| changes | finds out what has changed, and stops a run whose result is no longer needed |
| keys | reads the terminal |"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from bindings import SCRIPT_PARTS
from runner import exit_codes
from runner.application.context import variables_of
from runner.errors import RunnerError
from runner.execution.start import run
from runner.execution.stopping import Interrupted, Signals, Stop, undone_at_once
from runner.options.options import ConfiguredOptions, RunSettings
from runner.planning.inputs import Input, resolve_inputs, with_inputs
from runner.planning.last_failed import suite_key
from runner.planning.plan import CaseInput, RunRequest
from runner.planning.selection import Selection
from runner.record.events import STALE
from runner.reporters.console.style import Style
from runner.watch.changes import ESCAPE, Broke, Changes, Inbox, Keys, Message, Pressed, SavedFile, Screen, written_by
from runner.watch.dependents import Dependents, ObservedRun
from scripttest import HeldFolder, Status, start_processes

if TYPE_CHECKING:
    from runner.application.application import Application
    from runner.environment import Environment
    from runner.fingerprints.parts import PartDigests
    from runner.options.options import RunOptions
    from scripttest import Coverage, Processes

RUNS: Mapping[str, Mapping[str, object]] = {
    "a": {},
    "f": {"last_failed": True},
    "u": {"last_failed": True, "update_snapshots": True},
}
"""Key that runs all suites → changes of the options."""
MOST = 3
"""How many runs in a row a file may stop, or start although it has changed while they ran: then the runs write it."""
DECIDING = (*RUNS, "q", "\n", "")
"""Keys that end the current run."""
HELD_BACK = "this would call the model, which watch mode does only on request: press Enter"


class Watch:
    """Runs the tests of one command again after each change."""

    def __init__(
        self,
        options: RunOptions,
        environment: Environment,
        application: Application,
        configured: Callable[[], ConfiguredOptions],
        coverage: Coverage | None,
    ) -> None:
        """`configured` reads the options again, with what the configuration file says by then; `coverage` counts what
        the runs cover together, if anything is counted."""
        self._coverage = coverage
        self._options = options
        self._settings = RunSettings()
        self._environment = environment
        self._application = application
        self._configured = configured
        self._inbox = Inbox()
        self._dependents = Dependents()
        self._processes: Processes | None = None
        self._current: ObservedRun | None = None
        self._ended = 0.0
        """When the last run ended, in seconds since 1970."""
        broke = self._inbox.put
        self._changes = Changes(application.root, self._on_change, lambda error: broke([Broke(reason=str(error))]))
        self._files = ""
        """Pattern of `p`."""
        self._names: str | None = None
        """Pattern of `t`."""
        self._last: tuple[set[str] | None, Mapping[str, object]] = (None, {})
        """What ran last: suites (None: all), and options in addition to those of the command line."""
        self._results: dict[str, dict[str, str]] = {}
        self._stopped: Counter[str] = Counter()
        """Changed file → how many runs it has stopped since one ended by itself."""
        self._started: Counter[str] = Counter()
        """Changed file → how many runs it has started, one after the other, although it changed while the last ran."""
        self._held: set[str] = set()
        """Suites whose models are not asked in this run."""
        self._answers = HeldFolder("yao-test-watch-")
        """The answers of real models."""
        self._screen = Screen(environment.stdout, Style(environment.colors and not options.no_color))

    def run(self) -> int:
        """Runs until the user ends it. Returns the exit code."""
        stop = Stop()
        try:
            with (
                Keys(self._on_key) as keys,
                undone_at_once(keys.restore_at_once),
                undone_at_once(self._answers.remove),
                Signals(stop),
            ):
                self._changes.start()
                self._cycle(None, asks=True)
                while self._next():
                    pass
        except Interrupted as error:
            return error.code
        except KeyboardInterrupt:
            return stop.code or exit_codes.INTERRUPTED
        finally:
            self._changes.stop()
            self._answers.remove()
            if self._processes is not None:
                self._processes.close()
        return exit_codes.PASSED

    def _on_change(self, changed: set[str]) -> None:
        """Files changed; on the thread of the changes."""
        self._inbox.put(SavedFile(path=path, in_run=self._in_run(path)) for path in changed)
        self._look_at_waiting()

    def _in_run(self, path: str) -> bool:
        """Whether a file has changed while tests ran, also where that is told after their end."""
        try:
            return self._current is not None or os.stat(path).st_ctime <= self._ended
        except OSError:
            return False

    def _on_key(self, key: str) -> None:
        """A key was pressed; on the thread of the keys."""
        self._inbox.put([Pressed(key=key)])
        self._look_at_waiting()

    def _look_at_waiting(self) -> None:
        """Ends a run because of what waits until it has ended: a key that starts something else, or ends all, or files
        on which it depends. From any thread."""
        current, waiting = self._current, self._inbox.waiting()
        if current is None:
            return
        if any(isinstance(message, Pressed) and message.key in DECIDING for message in waiting):
            current.is_given_up = True
            current.stop.request(STALE, 0)
        paths = {message.path for message in waiting if isinstance(message, SavedFile)}
        changed = {path for path in paths if self._stopped[path] < MOST}
        if not changed:
            return
        current.learn()
        if current.open & self._affected(changed):
            self._stopped.update(changed if current.stop.reason is None else ())
            current.stop.request(STALE, 0)

    def _affected(self, changed: set[str]) -> set[str]:
        return self._dependents.affected(changed, self._digests)

    def _next(self) -> bool:
        """Waits for what comes next, and does it; False when that is the end."""
        message = self._inbox.next()
        if not isinstance(message, SavedFile):
            return self._take(message)
        changed, others = self._inbox.gathered({message.path})
        if not message.in_run:
            self._started.clear()
        self._started.update(changed)
        changed = {path for path in changed if self._started[path] <= MOST}
        there = self._there()
        suites = self._stale(changed, there)
        for other in others:
            if not self._take(other):
                return False
        if not there:
            self._screen.wait(self._files, self._names)
        if suites:
            shown = ", ".join(sorted(suite_key(path, self._application.root) for path in changed)[:3])
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            self._screen.say(f"Changed: {shown}{more}")
            self._cycle(suites, there=there, asks=False)
        return True

    def _there(self) -> dict[str, Input]:
        try:
            return self._inputs()
        except RunnerError as error:
            self._screen.explain(error)
            return {}

    def _stale(self, changed: set[str], there: Collection[str]) -> set[str]:
        """The suites that are to run after changes: those that depend on them, and new ones."""
        if not there:
            return set()
        affected = self._affected(changed)
        return {id for id in there if id in affected or not self._dependents.knows(id)}

    def _take(self, message: Message) -> bool:
        if isinstance(message, Broke):
            raise RunnerError(f"Cannot watch {self._application.root}: {message.reason}")
        return not isinstance(message, Pressed) or self._pressed(message.key)

    def _pressed(self, key: str) -> bool:
        if key in ("q", ""):
            return False
        if key in RUNS:
            if key == "a" and self._coverage is not None:
                self._coverage.begin_again()
            self._cycle(None, asks=True, changes=RUNS[key])
        elif key == "\n":
            suites, changes = self._last
            self._cycle(suites, asks=True, changes=changes)
        elif key == "h":
            self._screen.show_keys()
        elif key in ("p", "t"):
            self._filter(key)
        elif key == ESCAPE and (self._files or self._names):
            self._files, self._names = "", None
            self._screen.say("All files and all tests")
            self._cycle(None, asks=False)
        return True

    def _filter(self, key: str) -> None:
        typed = self._screen.ask("Files that match: " if key == "p" else "Tests that match: ", self._inbox)
        if typed is None:
            return
        try:
            if key == "p":
                re.compile(typed)
                self._files = typed
            else:
                Selection(typed, "")
                self._names = typed or None
        except re.error as error:
            self._screen.say(f'Cannot read "{typed}": {error}')
        except RunnerError as error:
            self._screen.explain(error)
        else:
            self._cycle(None, asks=False)

    def _cycle(
        self,
        suites: set[str] | None,
        *,
        asks: bool,
        there: Mapping[str, Input] | None = None,
        changes: Mapping[str, object] = RUNS["a"],
    ) -> None:
        """Runs suites (None: all), and those that become stale meanwhile, until a run ends without such a change.
        `there`: all suites that exist, if they have just been looked up. `asks`: whether models are asked; otherwise
        stored answers are used. `changes`: changes of the options."""
        self._last = (suites, changes)
        try:
            options = self._read()
            chosen = self._chosen(suites, self._inputs() if there is None else there)
            asking: Collection[str] = set(chosen) if asks else ()
            while chosen:
                left = self._left(options, chosen, asking)
                recording = self._recording(options, left, asks, asking)
                if not left or not self._is_stale_after(options, left, {**changes, **recording}):
                    break
                asking = left.keys() - self._held if recording else ()
                changed, others = self._inbox.gathered(set())
                self._inbox.put(others)
                options, there = self._read(), self._there()
                chosen = self._chosen({*left, *self._stale(changed, there)}, there)
                if chosen and self._last[0] is not None:
                    self._last = (set(chosen), changes)
        except RunnerError as error:
            self._screen.explain(error)
        self._screen.wait(self._files, self._names)
        if self._processes is not None:
            self._processes.prepare()

    def _left(self, options: RunOptions, chosen: Mapping[str, Input], asking: Collection[str]) -> dict[str, Input]:
        """Suites without those whose results are kept: real models would be asked something else there, or their
        answers have not been recorded. `asking` are those whose models are asked; the others answer as before."""
        self._held = set()
        others = chosen.keys() - asking
        if not others or options.replay is not None:
            return dict(chosen)
        from runner.connectors.load import Connectors

        connectors, now = Connectors(self._application.root, self._environment.variables), self._digests()
        real = {id for id in others if self._dependents.asks_models(id, connectors)}
        is_recorded = _keeps_no_answers(options)
        kept = {id for id in real if not is_recorded or self._dependents.asks_otherwise(id, now)}
        for id in sorted(kept):
            statuses = list(self._results.get(id, {}).values())
            passed = f"{statuses.count(Status.PASSED)} of {len(statuses)} passed"
            name = suite_key(id, self._application.root)
            self._screen.say(f"Not rerun: {name} ({passed}). These call a model: press Enter to run them")
        self._held = real - kept
        if self._held:
            self._screen.say("Recorded model responses were used: press Enter to call the model")
        return {id: item for id, item in chosen.items() if id not in kept}

    def _recording(
        self, options: RunOptions, left: Collection[str], asks: bool, asking: Collection[str]
    ) -> dict[str, object]:
        """Options that keep the answers of models, where they may be asked and the command line does not say it."""
        is_needed = asking or self._held or not all(map(self._dependents.knows, left))
        if not is_needed or options.replay or not _keeps_no_answers(options):
            return {}
        return {"record" if asks and not self._held else "record_missing": self._answers.path}

    def _is_stale_after(self, options: RunOptions, items: Mapping[str, Input], changes: Mapping[str, object]) -> bool:
        """Runs suites, with changes of the options; whether that was stopped because files changed."""
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
            counters = self._coverage.folder if self._coverage is not None else None
            self._processes = start_processes(SCRIPT_PARTS, self._application.root, counters)
        processes, rest = (self._processes, None) if has_modules else (None, self._processes)
        self._processes = None
        holds_back = narrowed.record_missing == self._answers.path
        current = self._current = ObservedRun(
            self._dependents,
            rest,
            self._changes.expect,
            (lambda suite: HELD_BACK if suite in self._held else None) if holds_back else None,
            self._look_at_waiting,
        )
        self._look_at_waiting()
        self._changes.leave_out(written_by(narrowed, self._environment.directory))
        try:
            request = RunRequest(
                options=narrowed,
                settings=self._settings.replace(typed=self._options),
                environment=self._environment,
                application=self._application,
            )
            run(request, processes, observer=current, coverage=self._coverage)
        finally:
            self._current, self._ended = None, time.time()
            self._processes = current.processes
            self._results |= current.kept
        if current.stop.code is not None:
            raise Interrupted(current.stop.code)
        if current.stop.reason is None:
            self._stopped.clear()
        return current.stop.reason == STALE and not current.is_given_up

    def _read(self) -> RunOptions:
        """The options, with what the configuration file says now. Raises ConfigurationError."""
        found = self._configured()
        self._settings = found.settings
        return found.options

    def _inputs(self) -> dict[str, Input]:
        """What the command line names, as it is now. Raises ConfigurationError."""
        directory = self._environment.directory
        options = with_inputs(self._options, self._application, directory)
        return {item.id: item for item in resolve_inputs(options, self._application, directory)}

    def _chosen(self, suites: set[str] | None, there: Mapping[str, Input]) -> dict[str, Input]:
        found = {id: item for id, item in there.items() if suites is None or id in suites}
        if not self._files:
            return found
        root = self._application.root
        return {id: item for id, item in found.items() if re.search(self._files, suite_key(_place(item), root))}

    def _digests(self) -> PartDigests:
        from runner.fingerprints.parts import PartDigests

        variables = variables_of(self._application.root, self._environment.variables)
        return PartDigests(self._application, variables.every, "", None)


def _keeps_no_answers(options: RunOptions) -> bool:
    return not options.record and not options.record_missing


def _spelled(item: Input) -> str:
    if isinstance(item, CaseInput):
        return str(item.path) if item.path is not None else item.message
    return item.id


def _place(item: Input) -> str:
    return str(getattr(item, "test", None) or getattr(item, "path", None) or item.id)
