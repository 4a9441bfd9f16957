"""What answers the calls of script tests, and the environment of cases."""

from __future__ import annotations

import _thread
from functools import partial

from bindings import RunSnapshots
from runner.execution.processes import open_router

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any, TextIO

    from bindings import World
    from runner.environment import Environment
    from runner.execution.case_schedule import AgentCases
    from runner.execution.other_kinds import OtherKinds
    from runner.execution.services import RunServices
    from runner.modes.case_environment import CaseEnvironment
    from runner.modes.interactive import Person
    from runner.options.options import RunOptions
    from runner.planning.plan import RunPlan
    from runner.planning.selection import Selection
    from runner.reporters.console.terminal import Progress


class TestServices:
    """The services for the tests of one plan, based on the `RunServices` of the run."""

    def __init__(
        self,
        services: RunServices,
        plan: RunPlan,
        selection: Selection | None,
        environment: Environment,
        results: TextIO | None = None,
        stopped: Callable[[], bool] = bool,
    ) -> None:
        """`selection` is what `--run` names; `results` takes the lines of benchmarks, and `stopped` says whether the
        run is to end."""
        self.kinds: OtherKinds | None = None
        """Controls fuzz tests and benchmarks; None before the first of them runs."""
        self._lock = _thread.allocate_lock()
        self._results = results or environment.stdout
        self._stopped = stopped
        self.progress: Progress | None = None
        """The progress line, which is hidden while a person is asked."""
        self._services = services
        self._plan = plan
        self._environment = environment
        options, self._retained = plan.options, plan.retained_tests
        self._again: Mapping[str, Collection[str] | None] = {}
        self.snapshots = RunSnapshots(
            plan.test_files, options.update_snapshots, environment.ci, environment.secrets.text
        )
        self.router = open_router(
            services.processes,
            self.snapshots,
            lambda world, name, args: services.agents().answer(world, name, args),
            selection,
            plan.context,
            done=self._is_done,
            require_judge=options.require_judge,
            judge_samples=options.judge_samples,
            judge_connector=options.judge_connector or "",
            worlds=services.worlds,
            picked=plan.picked,
            arrange=plan.order.tests if plan.order is not None else None,
            kinds={"fuzz": lambda: self.other_kinds().fuzz(), "benchmark": lambda: self.other_kinds().benchmarks()},
            goes_on=services.forget,
        )
        """Answers what scripts call."""

    def begin_again(self, tests: Mapping[str, Collection[str] | None]) -> None:
        """Prepares a further pass: from now on, only these tests of each module run, as if for the first time. None
        stands for all."""
        self._again = tests
        for module, names in tests.items():
            self.router.forget(module, names)
        self._services.begin_again(tests)

    def __enter__(self) -> TestServices:
        return self

    def __exit__(self, *_: object) -> None:
        if self.kinds is not None:
            self.kinds.close()

    def other_kinds(self) -> OtherKinds:
        """Controls fuzz tests and benchmarks; created on the first call, from any thread. Raises ConfigurationError
        when one of their flags cannot be used."""
        with self._lock:
            if self.kinds is None:
                from runner.execution.other_kinds import OtherKinds

                self.kinds = OtherKinds(self._plan, self._environment, self._write, self._stopped)
        return self.kinds

    def _write(self, text: str) -> None:
        """Writes lines of benchmarks, while the progress line is hidden."""
        from contextlib import nullcontext

        with self.progress.paused() if self.progress else nullcontext():
            self._results.write(text)
            self._results.flush()

    def _is_done(self, module: str, test: str) -> bool:
        again = self._again.get(module)
        return test in self._retained.get(module, ()) or (again is not None and test not in again)

    def cases(self, options: RunOptions, context: Mapping[str, Any], traces: bool) -> AgentCases:
        """The environment and the hooks for the cases of an agent."""
        from runner.execution.case_schedule import AgentCases

        environment = self._case_environment(options, context, traces)
        return AgentCases(environment=environment, before=options.before, after=options.after)

    def _case_environment(self, options: RunOptions, context: Mapping[str, Any], traces: bool) -> CaseEnvironment:
        """The environment of cases with these options and this context; `traces`: their results get fingerprints."""
        from runner.application.context import decided_ids
        from runner.modes.case_environment import CaseEnvironment

        plan, service = self._plan, self._services.agents()
        return CaseEnvironment(
            application=plan.application,
            runtime=service.runtime,
            helpers=service.helpers,
            context=context,
            decided_ids=decided_ids(options, self._environment.directory),
            connector=options.connector or "",
            timeout=options.case_timeout,
            snapshot=self.snapshots.matcher,
            threshold=options.score_threshold,
            simulator=options.simulator or "",
            on_missing_input=options.on_missing_input or "skip",
            interactive=options.interactive,
            person=self._person(),
            fingerprints=self._services.fingerprints() if traces else None,
            require_judge=options.require_judge,
            judge_samples=options.judge_samples,
            judge_connector=options.judge_connector or "",
            seed=options.seed,
            spans=options.otlp is not None,
            trace=options.trace or ("full" if self._spans_hold_content(options) else "summary"),
            clean=self._environment.secrets.text,
            transcripts=plan.transcripts,
            database=self._services.open_databases().of_case,
        )

    def calls_of_scripts(self) -> Callable[[World], dict[str, Any] | None] | None:
        """Returns a function that gives the calls of a script test to agents, for spans; None when no spans
        are sent."""
        if (options := self._plan.options).otlp is None or options.trace == "off":
            return None
        from runner.execution.outside import calls_of

        return partial(calls_of, clean=self._environment.secrets.text, whole=self._spans_hold_content(options))

    def _spans_hold_content(self, options: RunOptions) -> bool:
        return options.otlp is not None and self._environment.content_in_spans

    def _person(self) -> Person | None:
        """The person at the terminal; None with `--skip-interactive`."""
        if self._plan.options.skip_interactive:
            return None
        from runner.modes.interactive import Person

        clean, ci = self._environment.secrets.text, self._environment.ci
        return Person(ci, clean, self.progress.paused) if self.progress else Person(ci, clean)
