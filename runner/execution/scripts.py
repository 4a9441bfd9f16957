"""Runs the test modules of a run, and makes events of what the script host reports about them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

from bindings import DATABASE
from runner.errors import shown_path
from runner.execution.repetition import RetryPasses
from runner.record.events import SuiteEnd, SuiteStart, TestStart
from runner.record.keys import TestPlace
from runner.record.model import TestResult
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from bindings import KeptCall
    from runner.application.application import TestModule
    from runner.execution.repetition import Repetition
    from runner.execution.run import Run
    from runner.execution.stories import Stories
    from runner.planning.plan import RunPlan
    from scripttest import Compiled, ScriptHost

LISTING = 2.0
"""Time limit in seconds for modules to list their tests when the run has ended."""
LOG_LINES = 1 << 17
"""At most this many captured lines of one test are kept."""
_NO_PLACE = -1
"""Position of the placeholder for a module that cannot be loaded, until it is sent; no test has it."""


def host_modules(plan: RunPlan) -> list[Module]:
    """All test modules of a plan in the form that the script host takes."""
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
        timeout=plan.options_of(module.agent).script_timeout,
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


def broken_failure(record: Broken) -> Failure:
    """The failure of a module that cannot be loaded, with the compiler's messages."""
    message = record.failure.message
    begin = "" if message.startswith("Cannot ") else "cannot load the module: "
    lines = [begin + message, *map(str, record.others[:20])]
    lines += [record.hint] if record.hint else []
    return record.failure.replace(message="\n".join(lines))


class ScriptModules:
    """The test modules of a run, on a script host."""

    def __init__(self, run: Run, host: ScriptHost) -> None:
        self._run = run
        self._host = host
        self._sources: Mapping[str, Source] = {}
        """Finds what test modules depend on, if their results have fingerprints."""
        self._agents = {module.id: module.agent for module in run.plan.modules}
        self._modules = host_modules(run.plan)
        self._records: Iterator[HostRecord] = iter(())
        self._tell = self._teller()

    def _teller(self) -> Callable[[], Stories] | None:
        """What opens the stories of failed tests; None where none are wanted."""
        run, host = self._run, self._host
        wanted = run.options.story or ("few" if run.environment.terminal else "off")
        if wanted == "off" or run.options.fuzz or run.options.bench:
            return None
        from bindings import KeptCalls

        run.router.kept = KeptCalls()
        seed = host.boots.own_seed = int.from_bytes(os.urandom(6), "big")

        def tell() -> Stories:
            from runner.execution.stories import Stories

            return Stories(run, self._modules, seed)

        return tell

    def compile(self) -> None:
        """Begins to compile them; does not block."""
        run, takers = self._run, []
        if run.with_fingerprints:
            takers.append(run.services.fingerprints().parts.take)
            self._sources = {module.source.key: module.source for module in self._modules}
        if run.options.fuzz:
            takers.append(run.fuzz_and_bench().fuzz().take)
        if takers:

            def take(compiled: Compiled) -> None:
                for taker in takers:
                    taker(compiled)

            self._host.libraries.told = take
        self._host.begin(self._modules)

    def begin(self) -> None:
        """Begins to run them; blocks until the compiler has answered for the first. Raises ConfigurationError when
        `--run` turns out to match nothing."""
        plan, stop = self._run.plan, self._run.stop
        stop.listen(self._host.wake)
        self._records = self._host.run(self._modules, stop.left)
        if plan.selection is None or plan.matched:
            return
        ids = (id for source in plan.sources for id in source.ids())
        self._records = plan.selection.begun(self._records, plan.retained_tests, ids, lambda: bool(stop.reason))

    def run(self, repetition: Repetition) -> int:
        """Runs the modules until they have ended, or the run shall stop, or too many tests have failed; tests that are
        running then have no result. Returns how many tests have sent nothing when too many have failed. Blocks. Raises
        HostError."""
        run, modules = self._run, [module.source.key for module in self._modules]
        fingerprint = self._fingerprint if run.with_fingerprints else None
        events = _ScriptEvents(run, repetition, fingerprint, self._tell)
        may_stop = run.options.failure_limit is not None
        try:
            while True:
                for record in self._records:
                    events.take(record)
                    if events.has_stories:
                        events.send_told(all=may_stop)
                    if run.observer is not None and events.holds_wanted:
                        break
                    if may_stop and repetition.has_failed_enough:
                        self._host.only_list(LISTING)
                        return _listed(self._records, set(modules) - events.known)
                events.send_told(all=True)
                again = events.next_pass()
                if again is None:
                    return 0
                run.begin_again(again)
                broken = [module for module in host_modules(run.plan) if module.source.key in again]
                self._records = self._host.run(broken, run.stop.left)
        finally:
            events.send_told(all=True)
            events.give_up_postponed()
            events.close()
            for module in modules:
                repetition.cut(module)

    def kill(self) -> None:
        """Kills the processes of the host, which has nothing more to run. They end while the run is reported."""
        self._host.kill()

    def _fingerprint(self, test: TestKey) -> Mapping[str, Any]:
        """The fingerprint of a script test."""
        from runner.fingerprints.parts import part_of, parts_of_database, parts_of_world
        from runner.parts import Dependency

        services, root = self._run.services, self._run.application.root
        fingerprints, module = services.fingerprints(), test.suite
        own = self._sources[module]
        parts = [part_of(source, root) for source in (own, *self._host.libraries.called_by(module))]
        world = services.worlds.known(test)
        parts += parts_of_database(world.held(DATABASE) if world is not None else None)
        parts += parts_of_world(world)
        if own.script is None:
            parts.append(Dependency(kind="handler", name=module))
        if kind_of(test.test) == FUZZ:
            corpus = self._run.fuzz_and_bench().fuzz().corpus_of(module, test.test)
            parts.append(Dependency(kind="corpus", name=shown_path(corpus, root)))
        digests = {part: fingerprints.parts.of(part) for part in parts}
        used = {**digests, **services.parts_of(test)}
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


class _ScriptEvents:
    """Makes events of the records that the host reports, and says which tests run again because they broke."""

    def __init__(
        self,
        run: Run,
        repetition: Repetition,
        fingerprint: Callable[[TestKey], Mapping[str, Any]] | None,
        tell: Callable[[], Stories] | None,
    ) -> None:
        """`fingerprint` says what the result of a test depends on; None when no report needs it."""
        self._tell = tell
        self._stories: Stories | None = None
        self._run = run
        self._repetition = repetition
        self._send = repetition.send
        self._fingerprint = fingerprint
        self._passes: RetryPasses[None] = RetryPasses(run.options.retry_errors, self._send, run.stop)
        self._retained = run.plan.retained_places
        self._again: dict[str, set[TestPlace]] = {}
        """Module → its tests, or runs of them, that run again in this pass."""
        self._all_places: dict[str, dict[str, int]] = {}
        """Module → position in the suite of each test by its name."""
        self._places: dict[str, list[int]] = {}
        """Module → position in the suite of each test that runs."""
        self._logs: dict[TestPlace, list[LogLine]] = {}
        self._began: dict[TestPlace, float] = {}
        """When a test began, in milliseconds since 1970, where its story may be told."""
        self._left: dict[str, int] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self.known: set[str] = set()
        """Modules whose tests were sent."""

    def take(self, record: HostRecord) -> None:
        """Sends the events for a record."""
        if isinstance(record, Started):
            self._started(record)
        elif isinstance(record, Line):
            lines = self._logs.setdefault(self._place(record), [])
            if len(lines) < LOG_LINES:
                lines.append(record.line)
        elif isinstance(record, Ended):
            self._ended(record)
        elif isinstance(record, Listed):
            self._listed(record)
        else:
            self._broken(record)

    def _started(self, record: Started) -> None:
        place = self._place(record)
        if self._tell is not None:
            self._began[place] = time.time() * 1000
        if record.again:
            self._logs.pop(place, None)
        elif not self._passes.is_again(place) and not self._is_over(place):
            name = self._names[record.module][record.position]
            self._send(TestStart(suite=record.module, name=name, position=place.position, run=place.run))

    def _ended(self, record: Ended) -> None:
        run, module, place, outcome = self._run, record.module, self._place(record), record.outcome
        logs = tuple(self._logs.pop(place, ())) if self._logs else ()
        if outcome.inlined:
            from runner.execution.snapshots import with_inlined

            outcome = with_inlined(module, outcome, run.snapshots.inline())
        if run.plan.selection is not None:
            outcome = run.plan.selection.checked(module, outcome)
        key = TestKey(suite=module, test=outcome.name, run=record.run)
        result = TestResult(
            suite=module,
            name=outcome.name,
            position=place.position,
            outcome=outcome,
            logs=logs,
            run=place.run,
            fingerprint=self._fingerprint(key) if self._fingerprint is not None else None,
        )
        worlds = run.services.worlds
        if run.options.otlp is not None and (asked := worlds.known(key)) is not None:
            result = result.replace(calls=run.calls_of_script(asked))
        world = worlds.end(key)
        if world is not None or outcome.mocked:
            from runner.execution.external_calls import with_external_calls

            result = with_external_calls(result, world)
        calls = run.router.kept.take(key) if run.router.kept is not None else ()
        began = self._began.pop(place, 0.0) if self._tell is not None else 0.0
        if self._is_over(place):
            return
        if self._passes.postpones(result):
            self._passes.postpone(None, result)
            return
        result = self._passes.with_earlier_errors(result)
        if not self._has_story(result, calls, began):
            self._finish(result)

    def _listed(self, record: Listed) -> None:
        module = record.module
        self._names[module] = record.tests
        if module in self.known:
            self._places[module] = [self._all_places[module][name] for name in record.tests]
            return
        self.known.add(module)
        self._left[module] = len(record.tests)
        retained = self._retained.get(module, ())
        selected = len(record.tests) + len(retained)
        self._places[module] = [place for place in range(selected) if place not in retained]
        self._all_places[module] = dict(zip(record.tests, self._places[module], strict=True))
        self._send(SuiteStart(suite=module, selected=selected, total=len(record.known), tests=record.tests))
        if not record.tests:
            self._send(SuiteEnd(suite=module))

    def _broken(self, record: Broken) -> None:
        """Reports a module that cannot be loaded as one broken test with the name of the module."""
        name = record.module.rpartition(".")[2]
        outcome = Outcome(name=name, status=Status.FAILED, milliseconds=0, failures=(broken_failure(record),))
        result = TestResult(suite=record.module, name=name, position=_NO_PLACE, outcome=outcome)
        if self._passes.postpones(result):
            self._passes.postpone(None, result)
            return
        result = self._passes.with_earlier_errors(result)
        if not self._has_story(result, (), time.time() * 1000):
            self._finish(result)

    def _has_story(self, result: TestResult, calls: tuple[KeptCall, ...], began: float) -> bool:
        """Begins to tell the story of a failed test; False when it gets none."""
        if self._tell is None or result.status != Status.FAILED:
            return False
        self._stories = self._stories or self._tell()
        return self._stories.begin(result, calls, began)

    def close(self) -> None:
        """Ends the processes that tell stories."""
        if self._stories is not None:
            self._stories.close()

    @property
    def has_stories(self) -> bool:
        """Whether any was begun."""
        return self._stories is not None

    def send_told(self, all: bool) -> None:
        """Sends the results whose stories are told by now; `all` waits for them."""
        for result in self._stories.told(all) if self._stories is not None else ():
            self._finish(result)

    @property
    def holds_wanted(self) -> bool:
        """Whether the only test that may run is held back for the next pass."""
        return self._passes.is_waiting and self._run.wanted() is not None

    def next_pass(self) -> dict[str, set[str] | None] | None:
        """Waits for the next pass and begins it: module → its tests that run again, None for all of them. None: there
        is no further pass. Blocks."""
        if self._passes.continues:
            for pause in self._passes.pauses():
                time.sleep(pause)
        if not self._passes.continues:
            return None
        tests: dict[str, set[str] | None] = {}
        self._again = {}
        for result in (one.result for one in self._passes.begin()):
            module = result.suite
            if result.position == _NO_PLACE:
                tests[module] = None
                continue
            self._again.setdefault(module, set()).add(result.place)
            if (names := tests.setdefault(module, set())) is not None:
                names.add(result.name)
        return tests

    def give_up_postponed(self) -> None:
        """Sends the results of tests that were postponed to another pass, which will not come."""
        for result in (one.result for one in self._passes.take()):
            self._finish(result if result.position == _NO_PLACE else self._passes.with_earlier_errors(result))

    def _is_over(self, place: TestPlace) -> bool:
        """Whether one run of a test already has its result, while the test runs again because another of its
        runs broke."""
        return place.suite in self._again and place not in self._again[place.suite]

    def _finish(self, result: TestResult) -> None:
        if result.position == _NO_PLACE:
            self._send_broken(result)
        elif self._repetition.end(result) is not None:
            self._left[result.suite] -= 1
            if not self._left[result.suite]:
                self._send(SuiteEnd(suite=result.suite))

    def _place(self, record: Started | Line | Ended) -> TestPlace:
        """Where the test of a record stands in the run."""
        run = record.run if self._run.options.runs > 1 else 0
        return TestPlace(suite=record.module, position=self._places[record.module][record.position], run=run)

    def _send_broken(self, result: TestResult) -> None:
        module = result.suite
        self.known.add(module)
        self._send(SuiteStart(suite=module, selected=1, total=1, tests=(result.name,)))
        self._send(TestStart(suite=module, name=result.name, position=0))
        self._repetition.end(result.replace(position=0))
        self._send(SuiteEnd(suite=module))
