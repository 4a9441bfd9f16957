"""A run of `yao-test mutate`, from its plan to the verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from bindings import SCRIPT_PARTS
from runner.errors import ConfigurationError
from runner.execution.ending import NO_TESTS, NO_TESTS_HINT
from runner.execution.run import Run
from runner.execution.scripts import broken_failure, host_modules
from runner.execution.services import RunServices
from runner.execution.stopping import Budgets, Signals, Stop, woken
from runner.mutation.trials import (
    OWN,
    STRYKER,
    Change,
    Trials,
    Walk,
    change_since,
    chosen,
    points_of,
    text_of,
    texts_before,
)
from runner.mutation.verdicts import (
    NAME,
    Kept,
    KeptVerdicts,
    Status,
    Verdict,
    digest_of,
    place_of,
    read_kept,
    write_kept,
)
from runner.planning.last_failed import memory_of, store_of
from runner.planning.planner import looking, make_plan
from runner.security.files import read_bytes
from scripttest import Broken, CalledFunctions, Ended, Listed, MutantHost, Mutants, TestKey, Walked, start_processes
from scripttest import Status as TestStatus
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.options.values import Shard
    from runner.planning.plan import RunPlan, RunRequest

SEED = 1
"""The seed of `--sample` without `--seed`."""


class MutationOptions(Value):
    """What is asked of `yao-test mutate` besides the tests."""

    files: tuple[str, ...] = ()
    """Patterns of paths of handlers from the root; empty: those that the tests load."""
    adds: bool = False
    """Whether they also name handlers that no test loads."""
    ignore_calls: tuple[str, ...] = ()
    """Names of functions in whose arguments nothing is planted."""
    mutators: frozenset[str] = STRYKER | OWN
    """The names of the mutators."""
    since: str | None = None
    """The revision since whose merge base code has changed."""
    before: Mapping[str, str | None] | None = None
    """Path from the root → what a script was then that has changed; None: the repository is asked."""
    sample: int | None = None
    """So many mutants are drawn."""
    shard: Shard | None = None
    fresh: bool = False
    """Whether all mutants are asked again."""
    values: bool = True
    """Whether the values at the points of survivors are looked at."""


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
    test_files: Mapping[str, str] = {}
    """Test module → the path of its file from the root."""
    change: Change | None = None
    warnings: tuple[str, ...] = ()
    stopped: str | None = None
    """Why the run ended early."""
    code: int | None = None
    """The exit code, where a signal ended it."""
    kept: Mapping[str, list[str]] | None = None
    """The rows that are kept for later runs."""


class Progress(Value):
    """How far a run is."""

    done: int
    left: int
    seconds: float
    """Since the first mutant was tried."""


Told = Callable[[Progress], None]


def run_mutants(request: RunRequest, options: MutationOptions, told: Told, kept: Kept | None) -> Outcome:
    """Runs the tests of a request without mutants, and then with each. Blocks. Raises ConfigurationError. `kept` are
    the verdicts of earlier runs, where they are none of the caller's concern; None: nothing is kept."""
    stop = Stop()
    request = looking(request.replace(options=request.options.replace(runs=1)))
    mutants = Mutants(str(request.application.root), _wanted(options.files), options.ignore_calls)
    functions = CalledFunctions(lambda scope: scope.chat.world.key)
    with Signals(stop), RunServices(request, key=None if kept is None else kept.key) as services:
        services.instrument, services.switches = mutants.instrument, functions
        plan = make_plan(request, agents=services.agents, fingerprints=services.fingerprints)
        if not plan.modules:  # --tag has left only cases
            return Outcome()
        run = Run(plan, services, stop)
        run.judged = {}
        budgets = Budgets(plan.options, stop)
        services.count_usage(budgets)
        processes = start_processes(SCRIPT_PARTS, plan.application.root, "")
        with run.open_host_of(MutantHost, processes, mutants.instrument) as host, woken(host.wake_descriptor), run:
            stop.heeded = True
            try:
                session = _Session(run, options, mutants, host, kept, told)
                host.keep(session.walk, session.close_world, functions)
                return session.run()
            finally:
                budgets.end()


def keeping(request: RunRequest, run: Callable[[Kept | None], Outcome]) -> Outcome:
    """What a run comes to that gets the verdicts of earlier ones. Its own are kept for later ones."""
    path = _place_of_kept(request)
    kept = read_kept(path) if path is not None else None
    outcome = run(kept)
    if path is None or kept is None or outcome.kept is None or outcome.kept == kept.rows:
        return outcome
    try:
        write_kept(path, kept.replace(rows=outcome.kept))
    except OSError as error:
        said = f"Cannot save the verdicts for the next run: {error.filename}: {error.strerror}"
        return outcome.replace(warnings=(*outcome.warnings, said))
    return outcome


def _place_of_kept(request: RunRequest) -> Path | None:
    """The file of kept verdicts: in the store, else beside what remembers failures; None: neither is there."""
    root = request.application.root
    store = store_of(request.options, request.environment, request.application)
    memory = memory_of(root, request.environment)
    return store / NAME if store is not None else memory and memory.with_name(NAME)


def _wanted(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a handler is among those of `--mutate`."""
    left_out = [one[1:] for one in patterns if one.startswith("!")]
    named = [one for one in patterns if not one.startswith("!")]
    return lambda name: (not named or _matches(name, named)) and not _matches(name, left_out)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, one) or name.startswith(f"{one.rstrip('/')}/") for one in patterns)


class _Session:
    def __init__(
        self,
        run: Run,
        options: MutationOptions,
        mutants: Mutants,
        host: MutantHost,
        kept: Kept | None,
        told: Told,
    ) -> None:
        self._run, self._options, self._mutants, self._host = run, options, mutants, host
        self._kept, self._told = kept, told
        self._rows: Mapping[str, list[str]] | None = None
        self._plan: RunPlan = run.plan
        self._agents = {module.id: module.agent for module in run.plan.modules}
        self._stop = run.stop
        self._seconds: dict[TestKey, float] = {}
        """Tests that have passed → their seconds."""
        self._made: dict[TestKey, str | None] = {}
        """What their results depend on besides their code; None: it cannot be told."""
        self._failed: list[FailedTest] = []
        self._walked: dict[TestKey, Walked] = {}
        self._warnings: list[str] = []
        self._known: list[str] = []
        """The names of all tests, chosen or not."""

    def run(self) -> Outcome:
        stop, root = self._stop, self._plan.application.root
        stop.listen(self._host.wake)
        modules = host_modules(self._plan)
        self._host.begin(modules)
        for record in self._host.run(modules, stop.left):
            if isinstance(record, Ended):
                self._end(record)
            elif isinstance(record, Listed):
                self._known += record.known
            elif isinstance(record, Broken):
                self._failed.append(FailedTest(name=record.module, why=broken_failure(record).message))
        is_of_cases = self._plan.matched and self._plan.sources
        if not (self._failed or self._seconds or stop.reason or is_of_cases):
            raise self._nothing()
        if self._options.adds and not self._failed:
            self._add_handlers()
        files = self._mutants.files
        if self._options.adds and not (files or self._failed):
            raise ConfigurationError(
                f"No handler matches {', '.join(self._options.files)}",
                "--mutate takes paths below the application, such as 'assistants/expense/**'",
            )
        texts = {name: file.text for name, file in files.items()}
        if self._failed or stop.reason:
            return Outcome(failed=tuple(self._failed), texts=texts, stopped=stop.reason, code=stop.code)
        tests = {module.source.test: self._host.inputs_of(module.source.key) for module in modules}
        change = None
        if self._options.since is not None:
            change = change_since(self._before(self._options.since), texts, tests, root)
        walks = self._walks()
        verdicts = self._verdicts(walks, change, frozenset().union(*tests.values()))
        if self._options.values and not stop.reason:
            survivors = {one.mutant.number: one for one in verdicts if one.status is Status.SURVIVED}
            reached = {number: [walks[key] for key in one.reached_by] for number, one in survivors.items()}
            mutants = sorted((one.mutant for one in survivors.values()), key=place_of)
            points = points_of(mutants, reached, self._host, stop.left, self._run.options.script_timeout)
            verdicts = [one.replace(point=points.get(one.mutant.number)) for one in verdicts]
        self._warnings += [
            f"{name} has no mutants, because it cannot be read: {file.unread}"
            for name, file in files.items()
            if file.unread is not None
        ]
        return Outcome(
            verdicts=tuple(verdicts),
            texts=texts,
            tests=tuple(walks.values()),
            test_files={one.source.key: str(one.source.test).removeprefix(f"{root}/") for one in modules},
            change=change,
            warnings=tuple(self._warnings),
            stopped=stop.reason,
            code=stop.code,
            kept=self._rows,
        )

    def _before(self, revision: str) -> Callable[[str], str | None]:
        root, known = self._plan.application.root, self._options.before
        if known is None:
            return texts_before(revision, root, self._run.environment.variables)
        return lambda name: known[name] if name in known else text_of(root / name)

    def _nothing(self) -> ConfigurationError:
        selection = self._plan.selection
        return ConfigurationError(NO_TESTS, NO_TESTS_HINT) if selection is None else selection.nothing(self._known)

    def _add_handlers(self) -> None:
        for path in self._plan.application.files_of_scripts():
            with suppress(OSError):  # such as a link that leads nowhere
                self._mutants.instrument(path, read_bytes(Path(path), None))

    def _verdicts(self, walks: dict[TestKey, Walk], change: Change | None, loaded: frozenset[str]) -> list[Verdict]:
        """Tries what is to be tried, and keeps the verdicts. `loaded` are the paths of what tests include."""
        options = self._options
        seed = self._run.options.seed or SEED
        everything = [mutant for file in self._mutants.files.values() for mutant in file.mutants]
        aside = self._aside(loaded, of_change=change is not None)
        every = [one for one in everything if one.mutator in options.mutators and one.file not in aside]
        planted = chosen((one for one in every if one.number), change, options.sample, seed, options.shard)
        verdicts = [
            Verdict(mutant=mutant, status=Status.IGNORED, reason=mutant.ignored or "")
            for mutant in every
            if not mutant.number and (change is None or change.has(mutant))
        ]
        at_place: dict[int, list[Walk]] = {}
        for key, walk in walks.items():
            for place in self._walked[key].mutants:
                at_place.setdefault(place, []).append(walk)
        reached = {mutant.number: at_place.get(mutant.site, []) for mutant in planted}
        keys = {number: tuple(walk.key for walk in found) for number, found in reached.items()}
        digests = {key: self._digest(walk) for key, walk in walks.items()}
        kept = KeptVerdicts(self._kept.rows if self._kept is not None else {}, digests, fresh=options.fresh)
        numbered = [one for one in everything if one.number]
        known = kept.known(numbered, keys)
        waiting, passed = [], {}
        for mutant in planted:
            if not reached[mutant.number]:
                verdicts.append(Verdict(mutant=mutant, status=Status.NO_COVERAGE))
            elif isinstance(found := known[mutant.number], Verdict):
                verdicts.append(found)
            else:
                waiting.append(mutant)
                passed[mutant.number] = found
        trials = Trials(waiting, reached, passed, self._run.options.script_timeout)
        self._told(Progress(done=0, left=trials.left, seconds=0))
        verdicts += self._try(trials)
        verdicts += trials.undecided(self._stop.reason or "it was not tested")
        if self._kept is not None:
            self._rows = kept.after(verdicts, numbered)
        return verdicts

    def _aside(self, loaded: frozenset[str], *, of_change: bool) -> frozenset[str]:
        """Handlers that are not for the chosen tests: those that only case files name, and in a run of some tests those
        of which none runs a function."""
        if self._options.files:
            return frozenset()
        options = self._run.options
        some = not of_change and (options.inputs or options.run or options.tags)
        reached = {place for walked in self._walked.values() for place in walked.mutants}
        found, named = [], []
        for name, file in self._mutants.files.items():
            sites = {one.site: one.within for one in file.mutants if one.number}
            if name not in loaded and not sites.keys() & reached:
                named.append(name)
            elif some and any(sites.values()) and not any(sites[one] for one in sites.keys() & reached):
                found.append(name)
        if found:
            self._warnings.append(
                f"These tests load {', '.join(sorted(found))} but run none of its functions: it gets no mutants unless"
                " --mutate names it"
            )
        return frozenset(found + named)

    def _try(self, trials: Trials) -> Iterator[Verdict]:
        clock = self._run.environment.monotonic
        began, done = clock(), 0
        for tried in self._host.try_all(trials.following, self._stop.left):
            verdict = trials.take(tried)
            if verdict is not None:
                done += 1
                self._told(Progress(done=done, left=trials.left, seconds=clock() - began))
                yield verdict

    def walk(self, walked: Walked) -> None:
        """A test has ended without a mutant."""
        self._walked[walked.test] = walked

    def _end(self, record: Ended) -> None:
        outcome = record.outcome
        key = TestKey(suite=record.module, test=outcome.name)
        if outcome.status is TestStatus.FAILED:
            said = outcome.failures[0].message if outcome.failures else "a subtest failed"
            self._failed.append(FailedTest(name=f"{record.module} {outcome.name}", why=said))
        else:
            self._seconds[key] = outcome.milliseconds / 1000
            self._made[key] = self._made_of(key) if self._kept is not None else None
        self.close_world(key)

    def close_world(self, test: TestKey) -> None:
        """A test has ended."""
        self._run.services.worlds.end(test)

    def _made_of(self, test: TestKey) -> str | None:
        """What the result of a test depends on besides its code; None where a judge decided."""
        services = self._run.services
        world = services.worlds.known(test)
        if world is not None and world.is_judged:
            return None
        fingerprint = services.fingerprints().of_test(self._agents[test.suite], (), services.parts_of(test), world)
        return json.dumps(fingerprint, sort_keys=True)

    def _digest(self, walk: Walk) -> str | None:
        """The digest of all that the result of a test depends on; None: it cannot be told."""
        made_of = self._made[walk.key]
        code = self._host.code_of(walk.key.suite, walk.index)
        return None if made_of is None else digest_of(walk.key.suite, walk.key.test, made_of, *code)

    def _walks(self) -> dict[TestKey, Walk]:
        """The tests that have passed, with the index that each has on the host."""
        found = {}
        for module, run in self._host.modules().items():
            for index, test in enumerate(run.tests):
                key = TestKey(suite=module, test=test.name)
                if key in self._seconds and key in self._walked:
                    rounds = self._walked[key].rounds
                    found[key] = Walk(key=key, index=index, seconds=self._seconds[key], rounds=rounds)
        return found
