"""A run of `yao-test mutate`, from its plan to the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from bindings import SCRIPT_PARTS
from runner.errors import ConfigurationError
from runner.execution.run import Run
from runner.execution.scripts import broken_failure, host_modules
from runner.execution.services import RunServices
from runner.execution.stopping import Signals, Stop, Woken
from runner.mutation.trials import Trials, Walk
from runner.mutation.verdicts import Status, Verdict
from runner.planning.planner import make_plan, with_contexts
from scripttest import (
    Broken,
    Ended,
    Mutant,
    MutantHost,
    Mutants,
    TestKey,
    Walked,
    start_processes,
)
from scripttest import Status as TestStatus
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.planning.plan import RunPlan, RunRequest

MOST_NAMED = 20
"""At most this many failed tests are named."""


class MutationOptions(Value):
    """What is asked of `yao-test mutate` besides the tests."""

    files: tuple[str, ...] = ()
    """Patterns of paths of handlers from the root; empty: those that the tests load."""
    ignore_calls: tuple[str, ...] = ()
    """Names of functions in whose arguments nothing is planted."""


class FailedTest(Value):
    """A test that fails without a mutant."""

    name: str
    why: str


class Outcome(Value):
    """What came of a run."""

    verdicts: tuple[Verdict, ...] = ()
    failed: tuple[FailedTest, ...] = ()
    """Tests that fail although nothing is planted; then there are no verdicts."""
    texts: Mapping[str, str] = {}
    """Path of a handler → its text."""
    tests: tuple[Walk, ...] = ()
    warnings: tuple[str, ...] = ()
    stopped: str | None = None
    """Why the run ended early."""
    code: int | None = None
    """The exit code, where a signal ended it."""


class Progress(Value):
    """How far a run is."""

    done: int
    left: int
    seconds: float
    """Since the first mutant was tried."""


def run_mutants(
    request: RunRequest,
    options: MutationOptions,
    *,
    told: Callable[[Progress], None] = lambda _: None,
) -> Outcome:
    """Runs the tests of a request without mutants, and then with each. Blocks. Raises ConfigurationError."""
    stop = Stop()
    environment = request.environment
    looking = environment.replace(variables={**environment.variables, "CI": "1"})  # which writes no snapshots
    with Signals(stop), RunServices(request := with_contexts(request.replace(environment=looking))) as services:
        plan = make_plan(request, agents=services.agents, fingerprints=services.fingerprints)
        if not plan.modules:
            raise ConfigurationError(
                "Cannot plant mutants: there are no script tests among the inputs",
                "Name test modules, such as -i scripts.expense.setup",
            )
        wanted = _wanted(options.files)
        mutants = Mutants(str(plan.application.root), wanted, options.ignore_calls)
        run = Run(plan, services, stop)
        processes = start_processes(SCRIPT_PARTS, plan.application.root, "")
        with run.open_host_of(MutantHost, processes, mutants.instrument) as host, Woken(host.wake_descriptor), run:
            stop.heeded = True
            return _Session(plan, run, mutants, host, stop, told).run()


def _wanted(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a handler is among those of `--mutate`."""

    def wanted(name: str) -> bool:
        left_out = [one[1:] for one in patterns if one.startswith("!")]
        named = [one for one in patterns if not one.startswith("!")]
        return (not named or any(_matches(name, one) for one in named)) and not any(
            _matches(name, one) for one in left_out
        )

    return wanted


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern) or name.startswith(f"{pattern.rstrip('/')}/")


class _Session:
    def __init__(
        self,
        plan: RunPlan,
        run: Run,
        mutants: Mutants,
        host: MutantHost,
        stop: Stop,
        told: Callable[[Progress], None],
    ) -> None:
        self._plan, self._run, self._mutants, self._host, self._stop, self._told = plan, run, mutants, host, stop, told
        self._ended: dict[TestKey, float] = {}
        """Tests that have passed → their seconds."""
        self._failed: list[FailedTest] = []
        self._walked: dict[TestKey, Walked] = {}
        host.size = lambda: mutants.size
        host.keep(self._walk, self._forget)

    def run(self) -> Outcome:
        stop = self._stop
        stop.listen(self._host.wake)
        modules = host_modules(self._plan)
        self._host.begin(modules)
        for record in self._host.run(modules, stop.left):
            if isinstance(record, Ended):
                self._end(record)
            elif isinstance(record, Broken):
                self._failed.append(FailedTest(name=record.module, why=broken_failure(record).message))
        texts = {name: file.text for name, file in self._mutants.files.items()}
        if self._failed or stop.reason:
            return Outcome(failed=tuple(self._failed), texts=texts, stopped=stop.reason, code=stop.code)
        walks = self._walks()
        everything = [mutant for file in self._mutants.files.values() for mutant in file.mutants]
        of_place: dict[int, list[Walk]] = {}
        for key, walk in walks.items():
            for place in self._walked[key].mutants:
                of_place.setdefault(place, []).append(walk)
        verdicts = [_unplanted(mutant) for mutant in everything if not mutant.number]
        planted = [mutant for mutant in everything if mutant.number]
        verdicts += [_unreached(mutant) for mutant in planted if mutant.site not in of_place]
        trials = Trials(
            [mutant for mutant in planted if mutant.site in of_place], of_place, self._run.options.script_timeout
        )
        clock = self._run.environment.monotonic
        began, done = clock(), 0
        for tried in self._host.try_all(trials.following, stop.left):
            verdict = trials.take(tried)
            if verdict is not None:
                verdicts.append(verdict)
                done += 1
                self._told(Progress(done=done, left=trials.left, seconds=clock() - began))
        verdicts += trials.undecided(stop.reason or "it was not tried")
        return Outcome(
            verdicts=tuple(verdicts),
            texts=texts,
            tests=tuple(walks.values()),
            warnings=tuple(
                f"{name} has no mutants, because it cannot be read: {file.unread}"
                for name, file in self._mutants.files.items()
                if file.unread is not None
            ),
            stopped=stop.reason,
            code=stop.code,
        )

    def _forget(self, test: TestKey) -> None:
        self._run.services.worlds.end(test)

    def _walk(self, walked: Walked) -> None:
        self._walked[walked.test] = walked

    def _end(self, record: Ended) -> None:
        outcome = record.outcome
        key = TestKey(suite=record.module, test=outcome.name)
        self._run.services.worlds.end(key)
        if outcome.status is TestStatus.FAILED:
            said = outcome.failures[0].message if outcome.failures else "a subtest failed"
            self._failed.append(FailedTest(name=f"{record.module} {outcome.name}", why=said))
        else:
            self._ended[key] = outcome.milliseconds / 1000

    def _walks(self) -> dict[TestKey, Walk]:
        """The tests that have passed, with the index that each has on the host."""
        found = {}
        for module, run in self._host.modules().items():
            for index, test in enumerate(run.tests):
                key = TestKey(suite=module, test=test.name)
                if key in self._ended and key in self._walked:
                    rounds = self._walked[key].rounds
                    found[key] = Walk(key=key, index=index, seconds=self._ended[key], rounds=rounds)
        return found


def _unplanted(mutant: Mutant) -> Verdict:
    return Verdict(mutant=mutant, status=Status.IGNORED, reason=mutant.ignored or "")


def _unreached(mutant: Mutant) -> Verdict:
    return Verdict(mutant=mutant, status=Status.NO_COVERAGE)
