"""Runs the test modules of a run, and makes events of what the script host reports about them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from bindings import DATABASE
from runner.errors import shown_path
from runner.execution.repetition import Passes, Repetition
from runner.results.events import Event, SuiteEnd, SuiteStart, TestStart
from runner.results.model import TestResult
from runner.results.test_place import TestPlace
from scripttest import (
    FUZZ,
    Broken,
    Ended,
    Failure,
    HostRecord,
    Line,
    Listed,
    LogLine,
    Module,
    Outcome,
    Source,
    Started,
    Status,
    TestKey,
    kind_of,
)
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from bindings import RunSnapshots, World, Worlds
    from runner.application.application import TestModule
    from runner.execution.services import RunServices
    from runner.execution.services_of_tests import TestServices
    from runner.execution.stopping import Stop
    from runner.planning.plan import RunPlan
    from runner.planning.selection import Selection
    from scripttest import Compiled, ScriptHost


LISTING = 2.0
"""Time limit in seconds for modules to list their tests when the run has ended."""


class ScriptModules:
    """The test modules of a plan, on a script host."""

    def __init__(
        self,
        *,
        host: ScriptHost,
        plan: RunPlan,
        services: RunServices,
        tests: TestServices,
        selection: Selection | None,
        stop: Stop,
        traces: bool,
    ) -> None:
        """`traces`: results get fingerprints, which say what they depend on."""
        self._host = host
        self._plan = plan
        self._services = services
        self._tests = tests
        self._selection = selection
        self._stop = stop
        self._traces = traces
        self._sources: Mapping[str, Source] = {}
        """Finds what test modules depend on, if their results have fingerprints."""
        self._agents = {module.id: module.agent for module in plan.modules}
        self._modules = host_modules(plan)
        self._records: Iterator[HostRecord] = iter(())

    def compile(self) -> None:
        """Begins to compile them; does not block."""
        plan, host = self._plan, self._host
        takers = [self._services.fingerprints().parts.take] if self._traces else []
        takers += [self._tests.other_kinds().fuzz().take] if plan.options.fuzz else []
        if takers:

            def told(compiled: Compiled) -> None:
                for take in takers:
                    take(compiled)

            host.libraries.told = told
        if self._traces:
            self._sources = {module.source.key: module.source for module in self._modules}
        host.begin(self._modules)

    def begin(self) -> None:
        """Begins to run them; blocks until the compiler has answered for the first. Raises ConfigurationError when
        `--run` turns out to match nothing."""
        plan, stop = self._plan, self._stop
        stop.listen(self._host.wake)
        self._records = self._host.run(self._modules, stop.left)
        if self._selection is None or plan.matched:
            return
        ids = (id for source in plan.sources for id in source.ids())
        self._records = self._selection.begun(self._records, plan.retained_tests, ids, lambda: bool(stop.reason))

    def run(self, send: Callable[[Event], None], repetition: Repetition) -> int:
        """Runs the modules until they have ended, or the run shall stop, or too many tests have failed; tests that are
        running then have no result. Returns how many tests have sent nothing when too many have failed. Blocks. Raises
        HostError."""
        from runner.execution.repetition import Passes

        options, modules = self._plan.options, [module.id for module in self._plan.modules]
        most = options.failure_limit
        events = ScriptEvents(
            send=send,
            repetition=repetition,
            retained=self._plan.retained_places,
            selection=self._selection,
            fingerprint=self._fingerprint if self._traces else None,
            passes=Passes(options.retry_errors, send, self._stop),
            worlds=self._services.worlds,
            snapshots=self._tests.snapshots,
            calls=self._tests.calls_of_scripts(),
        )
        try:
            while True:
                for record in self._records:
                    events.take(record)
                    if most is not None and repetition.failures >= most:
                        self._host.only_list(LISTING)
                        return _listed(self._records, set(modules) - events.known)
                again = events.next_pass()
                if again is None:
                    return 0
                self._records = self._again(again)
        finally:
            events.give_up_held()
            for module in modules:
                repetition.cut(module)

    def kill(self) -> None:
        """Kills the processes of the host, which has nothing more to run. They end while the run is reported."""
        self._host.kill()

    def _again(self, tests: Mapping[str, Collection[str] | None]) -> Iterator[HostRecord]:
        """Runs tests of modules again; None: all tests of a module."""
        self._tests.begin_again(tests)
        modules = [module for module in host_modules(self._plan) if module.source.key in tests]
        return self._host.run(modules, self._stop.left)

    def _fingerprint(self, test: TestKey) -> Mapping[str, Any]:
        """The fingerprint of a script test."""
        from runner.fingerprints.parts import part_of, parts_of_database, parts_of_world
        from runner.parts import Dependency

        fingerprints, root = self._services.fingerprints(), self._plan.application.root
        module = test.suite
        own = self._sources[module]
        parts = [part_of(source, root) for source in (own, *self._host.libraries.called_by(module))]
        world = self._services.worlds.known(test)
        parts += parts_of_database(world.held(DATABASE) if world is not None else None)
        parts += parts_of_world(world)
        if own.script is None:
            parts.append(Dependency(kind="handler", name=module))
        if kind_of(test.test) == FUZZ:
            corpus = self._tests.other_kinds().fuzz().corpus_of(module, test.test)
            parts.append(Dependency(kind="corpus", name=shown_path(corpus, root)))
        digests = {part: fingerprints.parts.of(part) for part in parts}
        used = {**digests, **self._services.parts_of(test)}
        return fingerprints.of_test(self._agents[module], used, judged=world is not None and world.is_judged)


def _listed(records: Iterator[HostRecord], modules: set[str]) -> int:
    """How many tests some modules have, as the host lists them. A module that cannot be listed in time counts as one
    test."""
    counts = dict.fromkeys(modules, 1)
    waiting = set(modules)
    while waiting and (record := next(records, None)) is not None:
        if isinstance(record, Listed):
            counts[record.module] = len(record.tests)
        waiting.discard(record.module)
    return sum(counts.values())


def host_modules(plan: RunPlan) -> list[Module]:
    """All test modules of a plan."""
    return [_host_module(module, plan) for module in plan.modules]


def _host_module(module: TestModule, plan: RunPlan) -> Module:
    context = plan.context_of(module.agent)
    own = {**context, "assistant_id": context["assistant_id"] or module.agent}
    folder = f"{str(module.test)[: -len(module.label)]}{module.label.partition('/src/')[0]}"
    if os.path.isfile(f"{folder}/sandbox.yao"):
        own = _in_sandbox(own, Path(folder))
    return Module(
        source=Source(key=module.id, test=module.test, script=module.script),
        context=json.dumps(own),
        timeout=plan.settings.of(module.agent, plan.options).script_timeout,
    )


def _in_sandbox(context: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The context of an agent with a sandbox. It is unchanged when the sandbox file is wrong, which calls of the agent
    report."""
    from runner.application.sandbox import read_sandbox
    from runner.errors import ConfigurationError

    try:
        sandbox = read_sandbox(folder)
    except ConfigurationError:
        return context
    return context if sandbox is None else sandbox.context(context)


_NO_PLACE = -1
"""Position of the placeholder for a module that cannot be loaded, until it is sent; no test has it."""
LOG_LINES = 1 << 17
"""At most this many captured lines of one test are kept."""


class _Test(Value):
    """A test that runs again."""

    module: str
    name: str | None
    """None: its module could not be loaded."""


class ScriptEvents:
    """Makes events of the records that the host reports, and says which tests run again because they broke."""

    def __init__(
        self,
        *,
        send: Callable[[Event], None],
        repetition: Repetition,
        retained: Mapping[str, Collection[int]],
        selection: Selection | None,
        fingerprint: Callable[[TestKey], Mapping[str, Any]] | None,
        passes: Passes[_Test],
        worlds: Worlds,
        snapshots: RunSnapshots,
        calls: Callable[[World], dict[str, Any] | None] | None,
    ) -> None:
        """Sends nothing yet.

        Args:
            retained: module → positions of the tests that have results of an earlier run.
            selection: what `--run` selects.
            fingerprint: what a run of a test was made of; None when no report needs it.
            passes: run broken tests again.
            worlds: the worlds of the tests; each ends with its test.
            snapshots: take the inline snapshots of tests.
            calls: the calls of agents that a test has made; None if they are not needed.
        """
        self._calls = calls
        self._snapshots = snapshots
        self._passes = passes
        self._again: dict[str, set[TestPlace]] = {}
        """Module → its tests, or runs of them, that run again in this pass."""
        self._all_places: dict[str, dict[str, int]] = {}
        """Module → position in the suite of each test by its name."""
        self._send = send
        self._worlds = worlds
        self._repetition = repetition
        self._retained = retained
        self._selection = selection
        self._fingerprint = fingerprint
        self._places: dict[str, list[int]] = {}
        """Module → position in the suite of each test that runs."""
        self._logs: dict[TestPlace, list[LogLine]] = {}
        self._left: dict[str, int] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self.known: set[str] = set()
        """Modules whose tests were sent."""

    def take(self, record: HostRecord) -> None:
        """Sends the events for a record."""
        module = record.module
        send = self._send
        if isinstance(record, Started):
            place = self._place(record)
            if record.again:
                self._logs.pop(place, None)
            elif not self._passes.is_again(place) and not self._is_over(place):
                name = self._names[module][record.position]
                send(TestStart(suite=module, name=name, position=place.position, run=place.run))
        elif isinstance(record, Line):
            lines = self._logs.setdefault(self._place(record), [])
            if len(lines) < LOG_LINES:
                lines.append(record.line)
        elif isinstance(record, Ended):
            place = self._place(record)
            captured = tuple(self._logs.pop(place, ()))
            outcome = record.outcome
            if outcome.inlined:
                from runner.execution.snapshots import with_inlined

                outcome = with_inlined(module, outcome, self._snapshots.inline())
            if self._selection is not None:
                outcome = self._selection.checked(module, outcome)
            key = TestKey(suite=module, test=outcome.name, run=record.run)
            fingerprint = self._fingerprint(key) if self._fingerprint is not None else None
            result = TestResult(
                suite=module,
                name=outcome.name,
                position=place.position,
                outcome=outcome,
                logs=captured,
                run=place.run,
                fingerprint=fingerprint,
            )
            if self._calls is not None and (asked := self._worlds.known(key)) is not None:
                result = result.replace(calls=self._calls(asked))
            world = self._worlds.end(key)
            if world is not None or outcome.mocked:
                from runner.execution.outside import with_outside

                result = with_outside(result, world)
            if self._is_over(place):
                return
            if self._passes.holds(result):
                self._passes.hold(_Test(module=module, name=outcome.name), result)
                return
            self._ended(self._passes.told(result))
        elif isinstance(record, Listed) and module in self.known:
            self._names[module] = record.tests
            self._places[module] = [self._all_places[module][name] for name in record.tests]
        elif isinstance(record, Listed):
            self.known.add(module)
            self._names[module] = record.tests
            self._left[module] = len(record.tests)
            retained = self._retained.get(module, ())
            selected = len(record.tests) + len(retained)
            self._places[module] = [place for place in range(selected) if place not in retained]
            self._all_places[module] = dict(zip(record.tests, self._places[module], strict=True))
            send(SuiteStart(suite=module, selected=selected, total=len(record.known), tests=record.tests))
            if not record.tests:
                send(SuiteEnd(suite=module))
        else:
            self._broken(record)

    def next_pass(self) -> dict[str, set[str] | None] | None:
        """Waits for the next pass and begins it: module → its tests that run again, None for all of them. None: there
        is no further pass. Blocks."""
        if self._passes.goes_on():
            for pause in self._passes.pauses():
                time.sleep(pause)
        if not self._passes.goes_on():
            return None
        held = self._passes.begin()
        tests: dict[str, set[str] | None] = {}
        for test in (one.item for one in held):
            known = tests.setdefault(test.module, set() if test.name is not None else None)
            if known is not None and test.name is not None:
                known.add(test.name)
        self._again = {module: set() for module, names in tests.items() if names is not None}
        for one in held:
            if one.item.name is not None:
                self._again[one.item.module].add(one.result.place)
        return tests

    def give_up_held(self) -> None:
        """Sends the results of tests that were held back for another pass, which will not come."""
        for held in self._passes.take():
            if held.item.name is None:
                self._send_broken(held.result)
            else:
                self._ended(self._passes.told(held.result))

    def _is_over(self, place: TestPlace) -> bool:
        """Whether one run of a test already has its result, while the test runs again because another of its
        runs broke."""
        return place.suite in self._again and place not in self._again[place.suite]

    def _ended(self, result: TestResult) -> None:
        if self._repetition.end(result) is not None:
            self._left[result.suite] -= 1
            if not self._left[result.suite]:
                self._send(SuiteEnd(suite=result.suite))

    def _place(self, record: Started | Line | Ended) -> TestPlace:
        """Where the test of a record stands in the run."""
        run = record.run if self._repetition.runs > 1 else 0
        return TestPlace(suite=record.module, position=self._places[record.module][record.position], run=run)

    def _broken(self, record: Broken) -> None:
        """Reports a module that cannot be loaded as one broken test with the name of the module."""
        name = record.module.rpartition(".")[2]
        outcome = Outcome(name=name, status=Status.FAILED, milliseconds=0, failures=(broken_failure(record),))
        result = TestResult(suite=record.module, name=name, position=_NO_PLACE, outcome=outcome)
        if self._passes.holds(result):
            self._passes.hold(_Test(module=record.module, name=None), result)
        else:
            self._send_broken(self._passes.told(result))

    def _send_broken(self, result: TestResult) -> None:
        module = result.suite
        self.known.add(module)
        self._send(SuiteStart(suite=module, selected=1, total=1, tests=(result.name,)))
        self._send(TestStart(suite=module, name=result.name, position=0))
        self._repetition.end(result.replace(position=0))
        self._send(SuiteEnd(suite=module))


def broken_failure(record: Broken) -> Failure:
    """The failure of a module that cannot be loaded, with the compiler's messages."""
    lines = ["the module cannot be loaded: " + record.failure.message, *map(str, record.others[:20])]
    lines += [record.hint] if record.hint else []
    return record.failure.replace(message="\n".join(lines))
