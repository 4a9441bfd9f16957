"""Runs the test modules of a run, and makes events of what the script host reports about them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from runner.errors import shown_path
from runner.execution.repetition import Repetition, RetryPasses
from runner.execution.services import with_external_calls
from runner.record.events import SuiteEnd, SuiteStart, TestStart
from runner.record.model import TestPlace, TestResult
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
    from typing import Any

    from bindings import KeptCall
    from runner.application.application import TestModule
    from runner.execution.run import Run
    from runner.execution.stories import Stories
    from runner.planning.plan import RunPlan
    from scripttest import Compiled, ScriptHost
    from scripttest.typing_names import Record

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
        from runner.application.sandbox import read_sandbox
        from runner.errors import ConfigurationError

        with suppress(ConfigurationError):  # calls of the agent report what is wrong with it
            sandbox = read_sandbox(Path(folder))
            own = own if sandbox is None else sandbox.context(own)
    return Module(
        source=Source(key=module.id, test=module.test, script=module.script),
        context=json.dumps(own),
        timeout=plan.options_of(module.agent).script_timeout,
    )


def broken_failure(record: Broken) -> Failure:
    """The failure of a module that cannot be loaded, with the compiler's messages."""
    message = record.failure.message
    begin = "" if message.startswith("Cannot ") else "cannot load the module: "
    lines = [begin + message, *map(str, record.others[:20])]
    lines += [record.hint] if record.hint else []
    return record.failure.replace(message="\n".join(lines))


class ScriptModules:
    """The test modules of a run, on a script host, and the events of what it reports."""

    def __init__(self, run: Run, host: ScriptHost) -> None:
        self._run, self._host = run, host
        self._order = host_modules(run.plan)
        self._modules = {module.source.key: module for module in self._order}
        self._agents = {module.id: module.agent for module in run.plan.modules}
        self._records: Iterator[HostRecord] = iter(())
        self._seed = self._seed_of_stories()
        self._stories: Stories | None = None
        self._again: dict[str, set[TestPlace]] = {}
        """Module → its tests, or runs of them, that run again in this pass."""
        self._positions: dict[str, dict[str, int]] = {}
        """Module → position in the suite of each test by its name."""
        self._tests: dict[str, tuple[str, ...]] = {}
        self._left: dict[str, int] = {}
        """Module whose tests were sent → how many of them have no result."""
        self._logs: dict[TestPlace, list[LogLine]] = {}
        self._began: dict[TestPlace, float] = {}
        """When a test began, in milliseconds since 1970, where its story may be told."""

    def _seed_of_stories(self) -> int | None:
        """The seed of random numbers of a run that has none, where stories are told; None: none are told."""
        run = self._run
        wanted = run.options.story or ("few" if run.environment.terminal else "off")
        if wanted == "off" or run.options.fuzz or run.options.bench:
            return None
        run.keeps_calls = True
        seed = self._host.boots.own_seed = int.from_bytes(os.urandom(6), "big")
        return seed

    def compile(self) -> None:
        """Begins to compile them; does not block."""
        run, takers = self._run, []
        if run.with_fingerprints:
            takers.append(run.services.fingerprints().parts.take)
        if run.options.fuzz:
            takers.append(run.fuzz_or_benchmarks().take)  # type: ignore[union-attr]  # with --fuzz
        if takers:

            def take(compiled: Compiled) -> None:
                for taker in takers:
                    taker(compiled)

            self._host.libraries.told = take
        self._host.begin(self._order)

    def begin(self) -> None:
        """Begins to run them; blocks until the compiler has answered for the first. Raises ConfigurationError when
        `--run` turns out to match nothing."""
        plan, stop = self._run.plan, self._run.stop
        stop.listen(self._host.wake)
        self._records = self._host.run(self._order, stop.left)
        if plan.selection is None or plan.matched:
            return
        ids = (id for source in plan.sources for id in source.ids())
        self._records = plan.selection.begun(self._records, plan.retained_tests, ids, lambda: bool(stop.reason))

    def run(self, repetition: Repetition) -> int:
        """Runs the modules until they have ended, or the run shall stop, or too many tests have failed; tests that are
        running then have no result. Returns how many tests have sent nothing when too many have failed. Blocks. Raises
        HostError."""
        run = self._run
        self._repetition, self._send = repetition, repetition.send
        self._passes = RetryPasses(run.options.retry_errors, self._send, run.stop)
        may_stop = run.options.failure_limit is not None
        try:
            while True:
                for record in self._records:
                    self._take(record)
                    if self._stories is not None:
                        self._send_told(all=may_stop)
                    if run.observer is not None and self._passes.is_waiting and run.wanted() is not None:
                        break
                    if may_stop and repetition.has_failed_enough:
                        return self._unlisted()
                self._send_told(all=True)
                if not self._begin_pass():
                    return 0
        finally:
            self._send_told(all=True)
            for result in self._passes.take():
                self._finish(result)
            if self._stories is not None:
                self._stories.close()
            for module in self._modules:
                repetition.cut(module)

    def kill(self) -> None:
        """Kills the processes of the host, which has nothing more to run. They end while the run is reported."""
        self._host.kill()

    def _unlisted(self) -> int:
        """How many tests have sent nothing, as the host lists them; 1 for a module that it cannot list in time."""
        self._host.only_list(LISTING)
        waiting = self._modules.keys() - self._left.keys()
        counts = dict.fromkeys(waiting, 1)
        while waiting and (record := next(self._records, None)) is not None:
            if isinstance(record, Listed):
                counts[record.module] = len(record.tests)
            waiting.discard(record.module)
        return sum(counts.values())

    def _begin_pass(self) -> bool:
        """Waits for the next pass and begins it; False: there is none. Blocks."""
        if not self._passes.wait():
            return False
        tests: dict[str, set[str] | None] = {}
        """Module → its tests that run again, None for all of them."""
        self._again = {}
        for result, _ in self._passes.begin():
            if result.position == _NO_PLACE:
                tests[result.suite] = None
                continue
            self._again.setdefault(result.suite, set()).add(result.place)
            if (names := tests.setdefault(result.suite, set())) is not None:
                names.add(result.name)
        self._run.begin_again(tests)
        self._records = self._host.run([self._modules[module] for module in tests], self._run.stop.left)
        return True

    # records of the host

    def _take(self, record: HostRecord) -> None:
        if isinstance(record, Started):
            self._take_start(record)
        elif isinstance(record, Line):
            lines = self._logs.setdefault(self._place(record), [])
            if len(lines) < LOG_LINES:
                lines.append(record.line)
        elif isinstance(record, Ended):
            self._take_end(record)
        elif isinstance(record, Listed):
            self._take_list(record)
        else:  # a module that cannot be loaded is one broken test with the name of the module
            name = record.module.rpartition(".")[2]
            outcome = Outcome(name=name, status=Status.FAILED, milliseconds=0, failures=(broken_failure(record),))
            result = TestResult(suite=record.module, name=name, position=_NO_PLACE, outcome=outcome)
            self._end(result, (), time.time() * 1000)

    def _take_list(self, record: Listed) -> None:
        module, tests = record.module, record.tests
        self._tests[module] = tests
        if module in self._left:
            return
        self._left[module] = len(tests)
        retained = self._run.plan.retained_tests(module).values()
        selected = len(tests) + len(retained)
        places = (place for place in range(selected) if place not in retained)
        self._positions[module] = dict(zip(tests, places, strict=True))
        self._send(SuiteStart(suite=module, selected=selected, total=len(record.known), tests=tests))
        if not tests:
            self._send(SuiteEnd(suite=module))

    def _take_start(self, record: Started) -> None:
        if self._seed is not None:
            self._began[self._place(record)] = time.time() * 1000
        if record.again:
            self._logs.pop(self._place(record), None)
            return
        if self._passes.number > 1:
            place = self._place(record)
            if self._passes.is_again(place) or self._is_over(place):
                return
        name, position, run = self._at(record)
        self._send(TestStart(suite=record.module, name=name, position=position, run=run))

    def _take_end(self, record: Ended) -> None:
        run, module, outcome = self._run, record.module, record.outcome
        _, position, of_runs = self._at(record)
        logs = tuple(self._logs.pop(self._place(record), ())) if self._logs else ()
        if outcome.inlined:
            from runner.execution.snapshots import with_inlined

            outcome = with_inlined(module, outcome, run.used_inline_snapshots())
        if run.plan.selection is not None:
            outcome = run.plan.selection.checked(module, outcome)
        key = TestKey(suite=module, test=outcome.name, run=record.run)
        result = TestResult(
            suite=module,
            name=outcome.name,
            position=position,
            outcome=outcome,
            logs=logs,
            run=of_runs,
            fingerprint=self._fingerprint(key) if run.with_fingerprints else None,
        )
        if run.options.otlp is not None:
            result = result.replace(calls=self._calls(key))
        world = run.services.worlds.end(key)
        if world is not None or outcome.mocked:
            result = with_external_calls(result, world)
        calls = run.calls_of(key)
        began = self._began.pop(self._place(record), 0.0) if self._began else 0.0
        if not self._again or not self._is_over(self._place(record)):
            self._end(result, calls, began)

    def _calls(self, test: TestKey) -> Record | None:
        """The calls of a test to agents, models and tools, for spans; None when there are none."""
        from runner.agents.chat import CHAT
        from runner.modes.tracing import trace_of

        run, world = self._run, self._run.services.worlds.known(test)
        chat = world.held(CHAT) if world is not None and run.options.trace != "off" else None
        if chat is None:
            return None
        return trace_of(chat.steps, chat.calls, run.environment.secrets.text, whole=run.spans_hold_content, spans=True)

    def _place(self, record: Started | Line | Ended) -> TestPlace:
        _, position, run = self._at(record)
        return TestPlace(suite=record.module, position=position, run=run)

    def _at(self, record: Started | Line | Ended) -> tuple[str, int, int]:
        """The name of the test of a record, its position in its suite, and its run; 0: it has only one."""
        name = self._tests[record.module][record.position]
        return name, self._positions[record.module][name], record.run if self._run.options.runs > 1 else 0

    def _is_over(self, place: TestPlace) -> bool:
        """Whether one run of a test has its result, while the test runs again because another one broke."""
        return place.suite in self._again and place not in self._again[place.suite]

    def _fingerprint(self, test: TestKey) -> Mapping[str, Any]:
        from runner.fingerprints.parts import part_of
        from runner.parts import Dependency

        services, root = self._run.services, self._run.application.root
        fingerprints, module = services.fingerprints(), test.suite
        own = self._modules[module].source
        scripts = [part_of(source, root) for source in (own, *self._host.libraries.called_by(module))]
        world = services.worlds.known(test)
        parts = [Dependency(kind="handler", name=module)] if own.script is None else []
        if kind_of(test.test) == FUZZ:
            corpus = self._run.fuzz_or_benchmarks().corpus_of(module, test.test)  # type: ignore[union-attr]
            parts.append(Dependency(kind="corpus", name=shown_path(corpus, root)))
        used = {**{part: fingerprints.parts.of(part) for part in parts}, **services.parts_of(test)}
        return fingerprints.of_test(self._agents[module], scripts, used, world)

    # results

    def _end(self, result: TestResult, calls: Sequence[KeptCall], began: float) -> None:
        """Sends a result, once its story is told if it gets one, unless its test runs again."""
        if self._passes.holds(result):
            return
        result = self._passes.with_earlier_errors(result)
        if self._seed is not None and result.status == Status.FAILED:
            if self._stories is None:
                from runner.execution.stories import Stories

                self._stories = Stories(self._run, self._modules, self._seed)
            if self._stories.begin(result, calls, began):
                return
        self._finish(result)

    def _send_told(self, all: bool) -> None:
        """Sends the results whose stories are told by now; `all` waits for them."""
        for result in self._stories.told(all) if self._stories is not None else ():
            self._finish(result)

    def _finish(self, result: TestResult) -> None:
        module = result.suite
        if result.position == _NO_PLACE:
            self._left[module] = 1
            self._send(SuiteStart(suite=module, selected=1, total=1, tests=(result.name,)))
            self._send(TestStart(suite=module, name=result.name, position=0))
            result = result.replace(position=0)
        if self._repetition.end(result) is not None:
            self._left[module] -= 1
            if not self._left[module]:
                self._send(SuiteEnd(suite=module))
