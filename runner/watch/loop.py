"""The loop of `--watch`: a run, then another one after each change and each key. The compiler and the workers are kept.

| thread | does |
|---|---|
| main | runs tests, and waits in between |
| changes | finds out what has changed, and stops a run whose result is no longer needed |
| keys | reads the terminal |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from bindings import SCRIPT_PARTS
from runner import exit_codes
from runner.errors import RunnerError
from runner.execution.run import run
from runner.execution.stopping import Interrupted, Signals, Stop, UndoneAtOnce
from runner.options.options import Configured, Settings
from runner.planning.case_source import CaseInput
from runner.planning.inputs import Input, everything, resolve_inputs
from runner.planning.last_failed import suite_key
from runner.planning.selection import Selection
from runner.reporters.console.style import Style
from runner.results.events import STALE
from runner.watch.answers import AnswerFolder
from runner.watch.changes import Broke, Changes, Inbox, Message, Pressed, Saved
from runner.watch.dependents import Dependents, ObservedRun
from runner.watch.screen import ESCAPE, Keys, Screen
from scripttest import Status, start_processes

if TYPE_CHECKING:
    from runner.application.application import Application
    from runner.connectors.load import Connectors
    from runner.environment import Environment
    from runner.fingerprints.parts import PartDigests
    from runner.options.options import RunOptions
    from scripttest import Coverage, Processes

DECIDING = ("a", "f", "u", "q", "\n", "")
"""Keys that end the current run."""
HELD_BACK = "the model would be asked something new, which only a key starts while files are watched: press Enter"


class Watch:
    """Runs the tests of one command again after each change."""

    def __init__(
        self,
        options: RunOptions,
        environment: Environment,
        application: Application,
        configured: Callable[[], Configured],
        coverage: Coverage | None,
    ) -> None:
        """`configured` reads the options again, with what the configuration file says by then; `coverage` counts what
        the runs cover together, if anything is counted."""
        self._coverage = coverage
        self._options = options
        self._settings = Settings()
        self._environment = environment
        self._application = application
        self._configured = configured
        self._inbox = Inbox()
        self._dependents = Dependents()
        self._processes: Processes | None = None
        self._current: ObservedRun | None = None
        broke = self._inbox.put
        self._changes = Changes(application.root, self._on_change, lambda error: broke([Broke(reason=str(error))]))
        self._files = ""
        """Pattern of `p`."""
        self._names: str | None = None
        """Pattern of `t`."""
        self._last: tuple[set[str] | None, Mapping[str, object]] = (None, {})
        """What ran last: suites (None: all), and options in addition to those of the command line."""
        self._results: dict[str, dict[str, str]] = {}
        self._held: set[str] = set()
        """Suites whose models are not asked in this run."""
        self._answers = AnswerFolder()
        self._screen = Screen(environment.stdout, Style(environment.colors and not options.no_color))

    def run(self) -> int:
        """Runs until the user ends it. Returns the exit code."""
        stop = Stop()
        try:
            with (
                Keys(self._on_key) as keys,
                UndoneAtOnce(keys.restore_at_once),
                UndoneAtOnce(self._answers.remove),
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

    # what others tell

    def _on_change(self, changed: set[str]) -> None:
        """Files changed; on the thread of the changes."""
        self._inbox.put(Saved(path=path) for path in changed)
        self._give_up_stale(changed)

    def _on_key(self, key: str) -> None:
        """A key was pressed; on the thread of the keys. One that starts something else, or ends all, ends the run."""
        self._inbox.put([Pressed(key=key)])
        self._give_up_for({key})

    def _look_at_waiting(self) -> None:
        """Ends a run because of messages that arrived before it had begun."""
        waiting = self._inbox.waiting()
        self._give_up_for({message.key for message in waiting if isinstance(message, Pressed)})
        self._give_up_stale({message.path for message in waiting if isinstance(message, Saved)})

    def _give_up_stale(self, changed: set[str]) -> None:
        current = self._current
        if current is not None and changed and current.open & self._affected(changed):
            current.stop.request(STALE, 0)

    def _give_up_for(self, keys: set[str]) -> None:
        current = self._current
        if current is not None and not keys.isdisjoint(DECIDING):
            current.is_given_up = True
            current.stop.request(STALE, 0)

    def _affected(self, changed: set[str]) -> set[str]:
        return self._dependents.affected(changed, self._digests)

    # the loop

    def _next(self) -> bool:
        """Waits for what comes next, and does it; False when that is the end."""
        message = self._inbox.next()
        if not isinstance(message, Saved):
            return self._take(message)
        changed, others = self._inbox.gathered({message.path})
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
        """The suites that exist; none, and an error message, if they cannot be listed."""
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
        if key == "a":
            if self._coverage is not None:
                self._coverage.begin_again()
            self._cycle(None, asks=True)
        elif key == "f":
            self._cycle(None, asks=True, changes={"last_failed": True})
        elif key == "u":
            self._cycle(None, asks=True, changes={"last_failed": True, "update_snapshots": True})
        elif key == "\n":
            suites, changes = self._last
            self._cycle(suites, asks=True, changes=changes)
        elif key == "h":
            self._screen.show_keys()
        elif key in ("p", "t"):
            return self._filter(key)
        elif key == ESCAPE and (self._files or self._names):
            self._files, self._names = "", None
            self._screen.say("All files and all tests")
            self._cycle(None, asks=False)
        return True

    def _filter(self, key: str) -> bool:
        """Asks for a pattern, and runs what it picks."""
        typed = self._screen.ask("Files that match: " if key == "p" else "Tests that match: ", self._inbox)
        if typed is None:
            return True
        if key == "p":
            try:
                re.compile(typed)
            except re.error as error:
                self._screen.say(f'Cannot read "{typed}": {error}')
                return True
            self._files = typed
        else:
            try:
                Selection(typed, "")
            except RunnerError as error:
                self._screen.explain(error)
                return True
            self._names = typed or None
        self._cycle(None, asks=False)
        return True

    # running

    def _cycle(
        self,
        suites: set[str] | None,
        *,
        asks: bool,
        there: Mapping[str, Input] | None = None,
        changes: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """Runs suites (None: all), and those that become stale meanwhile, until a run ends without such a change.

        Args:
            there: all suites that exist, if they have just been looked up.
            asks: whether models are asked; otherwise stored answers are used.
            changes: changes of the options.
        """
        self._last = (suites, changes)
        try:
            options = self._read()
            chosen = self._chosen(suites, self._inputs() if there is None else there)
            self._go(options, chosen, changes, asks=asks, asking=set(chosen) if asks else set())
        except RunnerError as error:
            self._screen.explain(error)
        self._screen.wait(self._files, self._names)
        if self._processes is not None:
            self._processes.prepare()

    def _go(
        self,
        options: RunOptions,
        chosen: Mapping[str, Input],
        changes: Mapping[str, object],
        *,
        asks: bool,
        asking: Collection[str],
    ) -> None:
        """Runs suites, except those whose results are kept.

        Args:
            changes: changes of the options.
            asks: whether a key has started this.
            asking: suites whose models are asked; those of the others answer as before.
        """
        others = {id: item for id, item in chosen.items() if id not in asking}
        kept = self._kept(options, others) if others else set()
        for id in sorted(kept):
            self._say_kept(id)
        left = {id: item for id, item in chosen.items() if id not in kept}
        self._held = set() if options.replay else self._asking(others.keys() - kept)
        if self._held:
            self._screen.say("A model answers as before: press Enter to ask it again")
        if left:
            records = asking or self._held or not all(map(self._dependents.knows, left))
            recording = self._recording(options, asks and not self._held) if records else {}
            self._run(options, left, changes, recording, asks)

    def _kept(self, options: RunOptions, chosen: Mapping[str, Input]) -> set[str]:
        """Suites whose results are kept: real models would be asked something else, or have not been recorded."""
        if options.replay is not None:
            return set()
        is_recorded, now = bool(self._recording(options, True)), self._digests()
        asking = self._asking(chosen)
        return {id for id in asking if not is_recorded or self._dependents.asks_otherwise(id, now)}

    def _asking(self, suites: Collection[str]) -> set[str]:
        """Suites in which real models answered."""
        connectors = self._connectors()
        return {id for id in suites if self._dependents.asks_models(id, connectors)}

    def _recording(self, options: RunOptions, asks: bool) -> dict[str, object]:
        """How the answers of models are kept, where the command line does not say it."""
        if options.record or options.replay or options.record_missing:
            return {}
        return {"record" if asks else "record_missing": self._answers.path}

    def _held_back(self, suite: str) -> str | None:
        return HELD_BACK if suite in self._held else None

    def _run(
        self,
        options: RunOptions,
        items: Mapping[str, Input],
        changes: Mapping[str, object],
        recording: Mapping[str, object],
        asks: bool,
    ) -> None:
        narrowed = options.replace(
            inputs=tuple(_spelled(item) for item in items.values()),
            skip_interactive=True,
            interactive=False,
            failed_first=not (options.last_failed or options.shuffle or changes.get("last_failed")),
            **({"run": self._names} if self._names else {}),
            **changes,
            **recording,
        )
        has_modules = any(not isinstance(item, CaseInput) for item in items.values())
        if has_modules and self._processes is None:
            counters = self._coverage.folder if self._coverage is not None else None
            self._processes = start_processes(SCRIPT_PARTS, self._application.root, counters)
        processes, rest = (self._processes, None) if has_modules else (None, self._processes)
        self._processes = None
        held_back = self._held_back if narrowed.record_missing == self._answers.path else None
        current = self._current = ObservedRun(
            self._dependents, rest, self._changes.expect, held_back, self._look_at_waiting
        )
        self._look_at_waiting()
        try:
            run(
                narrowed,
                self._environment,
                self._application,
                processes,
                settings=self._settings.replace(typed=self._options),
                observer=current,
                coverage=self._coverage,
            )
        finally:
            self._current = None
            self._processes = current.processes
            self._results |= current.kept
        if current.stop.code is not None:
            raise Interrupted(current.stop.code)
        if current.stop.reason == STALE and not current.is_given_up:
            asking = items.keys() - self._held if recording else set()
            self._again(items, changes, asks=asks, asking=asking)

    def _again(
        self, items: Mapping[str, Input], changes: Mapping[str, object], *, asks: bool, asking: Collection[str]
    ) -> None:
        """What was stopped, together with what became stale, when it is quiet; see `_go`."""
        changed, others = self._inbox.gathered(set())
        self._inbox.put(others)
        options = self._read()
        there = self._there()
        chosen = self._chosen({*items, *self._stale(changed, there)}, there)
        if chosen:
            if self._last[0] is not None:
                self._last = (set(chosen), changes)
            self._go(options, chosen, changes, asks=asks, asking=asking)

    def _read(self) -> RunOptions:
        """The options, with what the configuration file says now. Raises ConfigurationError."""
        found = self._configured()
        self._settings = found.settings
        return found.options

    def _inputs(self) -> dict[str, Input]:
        """What the command line names, as it is now. Raises ConfigurationError."""
        options = self._options
        directory = self._environment.directory
        if not options.inputs:
            options = options.replace(inputs=(everything(options, self._application, directory),))
        return {item.id: item for item in resolve_inputs(options, self._application, directory)}

    def _chosen(self, suites: set[str] | None, there: Mapping[str, Input]) -> dict[str, Input]:
        found = {id: item for id, item in there.items() if suites is None or id in suites}
        if not self._files:
            return found
        root = self._application.root
        return {id: item for id, item in found.items() if re.search(self._files, suite_key(_place(item), root))}

    def _digests(self) -> PartDigests:
        from runner.application.dotenv import variables_of
        from runner.fingerprints.parts import PartDigests

        variables = variables_of(self._application.root, self._environment.variables)
        return PartDigests(self._application, variables.every, "", None)

    def _connectors(self) -> Connectors:
        from runner.connectors.load import Connectors

        return Connectors(self._application.root, self._environment.variables)

    def _say_kept(self, id: str) -> None:
        results = list(self._results.get(id, {}).values())
        passed = sum(status == Status.PASSED for status in results)
        name = suite_key(id, self._application.root)
        self._screen.say(
            f"Kept: {name}  {passed} of {len(results)} passed. A model answers there: press Enter to ask it"
        )


def _spelled(item: Input) -> str:
    """The value of `-i`."""
    if isinstance(item, CaseInput):
        return str(item.path) if item.path is not None else item.message
    return item.id


def _place(item: Input) -> str:
    """What a pattern of files is looked for in."""
    return str(getattr(item, "test", None) or getattr(item, "path", None) or item.id)
