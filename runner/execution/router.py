"""Answers what the scripts of a run call, and what workers ask about its tests: a table of groups of processes, then
the host functions.

Mocks, `stores.*` and scripts are answered before, in the realm (`bindings/src/realm/process.ts`). Calls and answers
travel as JSON."""

from __future__ import annotations

import _thread
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from bindings import KeptCall, Snapshots, failure_envelope, revived
from bindings import envelope as envelope_of
from scripttest import AskBack, Outcome, Selected, Services, TestKey, kind_of
from scripttest.values import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from bindings import InlineSnapshots, World
    from runner.execution.services import RunServices
    from runner.execution.stopping import Stop
    from runner.planning.plan import RunPlan
    from runner.reporters.console.terminal import Progress
    from runner.test_kinds.benchmark_tests import BenchmarkTests
    from runner.test_kinds.fuzz_tests import FuzzTests
    from scripttest import Focus

AGENT_GROUPS = ("agent", "agents", "assistants", "ai", "llm", "mcp")
"""First words of the names of processes that agents answer."""
KINDS = ("fuzz", "benchmark")
"""First words of what tests of these kinds ask for."""
MOST_OF_LOADING = 1000
"""At most this many calls are kept of the loading of a module, which happens for each test."""
_JUDGE = "agent.Validate"
"""What `t.assert.Agent` asks a judge by."""


class Router(Services):
    """Implements `scripttest.Services` for one run of a plan."""

    def __init__(self, plan: RunPlan, services: RunServices, stop: Stop, results: TextIO | None = None) -> None:
        """Calls nothing yet. `results` takes the lines of benchmarks."""
        self.plan, self.services, self.stop = plan, services, stop
        options, environment = plan.options, plan.environment
        self._results = results or environment.stdout
        self.progress: Progress | None = None
        """The progress line, which is hidden while a person is asked."""
        self.kinds: FuzzTests | BenchmarkTests | None = None
        """See `fuzz_or_benchmarks`."""
        self.snapshots = Snapshots(
            plan.test_files,
            options.update_snapshots,
            environment.ci or (options.no_writes and not options.update_snapshots),
            environment.secrets.text,
        )
        self.inline_snapshots: InlineSnapshots | None = None
        """What is written into sources; None when that is nothing."""
        self.again: Mapping[str, Collection[str] | None] = {}
        """Module → its tests that run in this pass, None for all; empty in the first one."""
        self._lock = _thread.allocate_lock()
        self._providers: dict[str, Callable[[World, str, list[Any]], Any]] = {
            **dict.fromkeys(AGENT_GROUPS, lambda world, name, args: services.agents().answer(world, name, args)),
            "agent.JudgeRequired": self._is_judge_required,
            "agent.Verdict": _read_verdict,
            "agent.Vote": self._count_votes,
            "subtest.Focus": lambda world, name, args: fields_of(_focus_of(str(args[0]))),  # by a function's source
            "subtest.Selects": self._selects,
            "snapshot.Inline": lambda world, name, args: self.used_inline_snapshots().match(args),
            "snapshot.Match": lambda world, name, args: self.snapshots.match(world.suite, world.key.label, args),
        }
        """By group, the first word of a process name in lower case, or by a whole name, which comes first: what answers
        (world of the test, name, arguments) with a JSON value, and raises ProcessError, on any thread."""
        self.judged: dict[tuple[str, int], str] | None = None
        """Arguments of a judge and how often the test has asked that before → the answer, which is given again; None:
        judges are asked each time."""
        self._asked: Counter[tuple[TestKey, str]] = Counter()
        self.keeps_calls = False
        """Whether the calls of tests under way are kept."""
        self._kept: dict[TestKey, list[KeptCall]] = {}

    def call(self, test: TestKey, name: str, arguments: str, world: str, link: AskBack) -> str:
        """Answers one host call; see `scripttest.Services`."""
        if not self.keeps_calls:
            return self._answered(test, name, arguments, world, link)
        asked: list[tuple[str, str]] = []

        def ask(question: str, given: str, done: Callable[[str | None, str], None]) -> None:
            asked.append((question, given))
            link(question, given, done)

        envelope = self._answered(test, name, arguments, world, ask)
        calls = self._kept.setdefault(test, [])
        if test.test or len(calls) < MOST_OF_LOADING:
            calls.append(KeptCall(name=name, arguments=arguments, envelope=envelope, asked=tuple(asked)))
        return envelope

    def calls_of(self, test: TestKey) -> tuple[KeptCall, ...]:
        """The calls of a test that has ended, which are forgotten."""
        return tuple(self._kept.pop(test, ()))

    def calls_of_loading(self, module: str) -> tuple[KeptCall, ...]:
        """The calls that a module made while it was loaded."""
        return tuple(self._kept.get(TestKey(suite=module, test=""), ()))

    def _answered(self, test: TestKey, name: str, arguments: str, world: str, link: AskBack) -> str:
        if self.judged is None or name != _JUDGE:
            return self._enveloped(test, name, arguments, world, link)
        order = (arguments, self._asked[test, arguments])
        self._asked[test, arguments] += 1
        if order not in self.judged:
            self.judged[order] = self._enveloped(test, name, arguments, world, link)
        return self.judged[order]

    def _enveloped(self, test: TestKey, name: str, arguments: str, told: str, link: AskBack) -> str:
        """The JSON envelope of the answer to a call, before which the realm has told the state of the test."""
        from bindings import ProcessError

        world = self.services.worlds.of(test)
        world.link = link
        try:
            args = revived(arguments)
            world.take(told)
            return envelope_of(self._answer(world, name, args), world.clock)
        except ProcessError as error:
            failure = error
        except RecursionError:
            failure = ProcessError(f"{name}: values are nested too deeply", 400)
        except UnicodeEncodeError:
            failure = ProcessError(f"{name}: a string contains a lone surrogate", 400)
        except Exception as error:
            failure = ProcessError(f"{name}: {type(error).__name__}: {error}")
        return failure_envelope(failure, world.clock)

    def _answer(self, world: World, name: str, args: list[Any]) -> Any:
        group = name.partition(".")[0]
        if group in KINDS and group == kind_of(world.test).lower():
            return self.fuzz_or_benchmarks().answer(world, name, args)
        from bindings import PendingQuestion

        provider = self._providers.get(name) or self._providers.get(group.lower())
        asked = world.asked = PendingQuestion(name)
        try:
            if provider is not None:
                return provider(world, name, args)
            return self.services.processes.call(name, args, self.plan.context, world)
        finally:
            asked.end()

    def library(self, module: str, script: str) -> Path:
        """The file of a script; see `scripttest.Services`."""
        return self.services.processes.library(script)

    def selected(self, module: str, tests: Mapping[str, str]) -> Selected:
        """The tests of a module that run, by flags and `t.only`, and have no result yet."""
        plan = self.plan
        names, selection = plan.picked.get(module), plan.selection
        wanted = [test for test in tests if names is None or test in names]
        wanted = [test for test in wanted if selection is None or selection.test(test)]
        only = [test for test in wanted if ".only(" in tests[test] and _focus_of(tests[test]).only]
        run = only if only and not plan.forbids_only else wanted
        retained, again = plan.retained_tests(module), self.again.get(module)
        return Selected(
            tests=frozenset(test for test in run if test not in retained and (again is None or test in again)),
            only=only,
            forbidden=plan.forbids_only,
            focuses=selection is None or not selection.names_subtests,
        )

    def arranged(self, module: str, tests: Sequence[str]) -> Sequence[int]:
        """In which order tests run; see `scripttest.Services`."""
        arrange = self.plan.arrange
        return range(len(tests)) if arrange is None else arrange(module, tests)

    def seconds_after(self, test: TestKey, name: str) -> float | None:
        """Seconds that a fuzz test or a benchmark gets again after a call; see `scripttest.Services`."""
        return self.fuzz_or_benchmarks().seconds_after(test, name)

    def settled(self, test: TestKey, outcome: Outcome) -> Outcome | None:
        """The outcome of a fuzz test or a benchmark whose realm has ended; see `scripttest.Services`."""
        settled = self.fuzz_or_benchmarks().settled(test, outcome)
        if settled is None:
            self.services.worlds.forget(test.suite, [test.test])
            self.services.forget(test.suite, test.test)
        return settled

    def used_inline_snapshots(self) -> InlineSnapshots:
        """What is written into sources."""
        with self._lock:
            if self.inline_snapshots is None:
                from bindings import InlineSnapshots

                self.inline_snapshots = InlineSnapshots(self.snapshots)
            return self.inline_snapshots

    def fuzz_or_benchmarks(self) -> FuzzTests | BenchmarkTests:
        """What controls the fuzz tests or the benchmarks; created on the first call, from any thread. Raises
        ConfigurationError if the library for `--fuzz` is missing, or `--baseline` cannot be used."""
        with self._lock:
            if self.kinds is None:
                plan, options = self.plan, self.plan.options
                if options.bench:
                    from runner.test_kinds.benchmark_tests import BenchmarkTests

                    modules = [module.id for module in plan.modules]
                    self.kinds = BenchmarkTests(options, plan.environment, self._write, modules)
                else:
                    from runner.test_kinds.fuzz_tests import FuzzTests

                    root, stop = plan.application.root, self.stop
                    self.kinds = FuzzTests(options, plan.test_files, root, lambda: stop.reason is not None)
        return self.kinds

    def _write(self, text: str) -> None:
        """Writes lines of benchmarks, while the progress line is hidden."""
        if self.plan.options.json:
            return
        from contextlib import nullcontext

        with self.progress.paused() if self.progress else nullcontext():
            self._results.write(text)
            self._results.flush()

    def _selects(self, world: World, name: str, args: list[Any]) -> bool:
        selection = self.plan.selection
        return selection is None or selection.subtest(world.suite, args)

    def _is_judge_required(self, world: World, name: str, args: list[Any]) -> bool:
        world.is_judged = True
        return self.plan.options.require_judge

    def _count_votes(self, world: World, name: str, args: list[Any]) -> dict[str, Any]:
        from runner.agents.helpers import count_votes

        world.is_judged = True
        options = self.plan.options
        return count_votes(world, options.judge_samples, options.judge_connector or "", options.require_judge, args)


def _focus_of(source: str) -> Focus:
    from scripttest import focus_of

    return focus_of(source)


def _read_verdict(world: World, name: str, args: list[Any]) -> dict[str, Any]:
    """Reads the mocked answer of a validator: `[validator, reply]`."""
    from bindings import ProcessError
    from runner.agents.answer import AgentError
    from runner.agents.helpers import mocked_verdict
    from runner.errors import sentences

    agent, reply = args
    try:
        return mocked_verdict(agent, reply, world)
    except AgentError as error:
        said = sentences(error.message, error.hint)
        raise ProcessError(said, infrastructure=error.infrastructure) from error
