"""What a run is asked to do, what it takes from an earlier one, and what it will do: its plan. Cases of large files are
read again for each use, so that they need little memory, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from runner.application.application import Application, TestModule
from runner.errors import listed
from runner.options.options import RunOptions, RunSettings
from runner.record.model import SCRIPT_TEST, Suite, TestResult
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.agents.assistant import AgentVariant, Assistant
    from runner.cases.model import Reference
    from runner.cases.reader import LocatedCase
    from runner.environment import Environment
    from runner.modes.transcripts import Transcripts
    from runner.planning.selection import Order, Selection
    from runner.record.writing import LineFile
    from runner.store.places import StorePlace
    from scripttest import Status
    from scripttest.typing_names import Record


class RunRequest(Value):
    """What the command line asks a run to do."""

    options: RunOptions
    settings: RunSettings = RunSettings()
    """The other settings of the configuration file."""
    environment: Environment
    application: Application
    resumed: Mapping[str, Any] = {}
    """The start line of the report that is resumed; empty where there is none."""
    transcripts: Transcripts | None = None
    """The transcripts of a saved run that is graded again; None: agents are asked."""
    context: Mapping[str, Any] = {}
    """The context of the run: the fields of `agent.Context`. It is read from a file when the run begins."""
    contexts: Mapping[str, Mapping[str, Any]] = {}
    """Agent → the context of its tests, for agents with settings of their own."""

    def options_of(self, agent: str) -> RunOptions:
        """The options for the tests of an agent."""
        return self.settings.of(agent, self.options)

    def context_of(self, agent: str) -> Mapping[str, Any]:
        """The context of the tests of an agent."""
        return self.contexts.get(agent, self.context)


class Reason(StrEnum):
    """Why a test runs again, in words; `{}` is what changed, or the runs that lack a result."""

    MISSING = "without a result"
    RUNS = "without a result of {}"
    CHANGED = "re-run because {} changed"
    UNKNOWN = "re-run because their results have no fingerprint"
    BROKEN = "re-run because they ended with an error"
    CUT = "re-run because they were cut short"
    SKIPPED = "re-run because cases they depend on are re-run"
    GONE = "no longer exist, so their results are left out"


class Rerun(Value):
    """Tests of one suite that run for the same reason."""

    suite: str
    """Its name for people."""
    reason: Reason
    parts: tuple[str, ...]
    """The names of the parts of the fingerprint that have changed; or the runs that have no result."""
    ids: tuple[str, ...]

    @property
    def text(self) -> str:
        """It as a line for people."""
        from runner.parts import described

        parts = described(self.parts) if self.reason is Reason.CHANGED else ", ".join(self.parts)
        return f"{self.suite}: {self.reason.format(parts)}: {listed(self.ids)}"


class Retained(Value):
    """The results of a report that are valid for this run, and what runs again."""

    results: Mapping[str, Sequence[TestResult]]
    """Suite id → the valid results, with the positions that their tests have now."""
    ended: Mapping[str, Mapping[str, Status]] = {}
    """Suite id → its cases of which no run is repeated, with their statuses."""
    reruns: tuple[Rerun, ...] = ()
    """As far as they are known before modules are loaded."""
    report: LineFile | None = None
    """The open report, where it is continued; it is locked from before it was read."""

    def statuses(self, suite: str) -> dict[str, dict[int, Status]]:
        """Test → the status of each of its runs that has a result; 0 is the only run of a test that runs once."""
        found: dict[str, dict[int, Status]] = {}
        for result in self.results.get(suite, ()):
            found.setdefault(result.name, {})[result.run] = result.status
        return found

    def source(self, source: CaseSource) -> CaseSource:
        """Cases with the results that they have."""
        return source.replace(done=self.statuses(source.suite.id), ended=self.ended.get(source.suite.id, {}))

    @property
    def count(self) -> int:
        """How many results there are."""
        return sum(map(len, self.results.values()))


class RunPlan(RunRequest):
    """What a run was asked to do, and what it does for that."""

    suites: tuple[Suite, ...]
    """All suites, in the order in which they were named."""
    modules: tuple[TestModule, ...] = ()
    """Suites that are test modules."""
    sources: tuple[CaseSource, ...] = ()
    """The cases of the other suites, which a large file gives anew for each use."""
    warnings: tuple[str, ...] = ()
    """Warnings that are printed before anything runs."""
    notes: tuple[str, ...] = ()
    """Notes about the selection and the order of the tests, one sentence each."""
    selection: Selection | None = None
    """What `--run`, `--fuzz` or `--bench` selects; None: all tests."""
    picked: Mapping[str, frozenset[str] | None] = {}
    """Module → its tests that flags select; None, or no entry: all of its tests."""
    order: Order | None = None
    """The order in which tests run; None: that of the files."""
    matched: bool = True
    """Whether `--run` is certain to match something; else that is known only when the modules are loaded."""
    resumable: bool = False
    """Whether the run writes a report that a later run can resume."""
    origin: Record | None = None
    """What a later run needs: the content of `resume` in the start line; None when no report can be resumed."""
    retained: Retained | None = None
    """The results of an earlier run that are kept; None: there is no earlier run."""
    store: StorePlace | None = None
    """Where the store keeps the run; None: it does not."""
    run_id: str = ""
    """The id of the run in reports and in the store; empty for a part of a run."""
    is_part: bool = False
    """Whether other machines run other tests of the same suites."""
    elsewhere: Mapping[str, Mapping[str, int]] = {}
    """Of a part of a run: module → its tests that run or have run elsewhere, and their positions."""
    writes_cases: bool = False
    """Whether the cases that generators made are written to `--output`, and nothing runs."""

    @property
    def forbids_only(self) -> bool:
        """Whether tests that call `t.only` fail; for a part of a run, the whole of it has decided that."""
        return self.options.forbid_only or (self.environment.ci and not self.is_part)

    @property
    def arrange(self) -> Arrange | None:
        """Decides the order of the tests of a suite; None: that of the file."""
        return self.order.tests if self.order is not None else None

    @property
    def total_cases(self) -> int | None:
        """How many cases run; None when modules run too, whose tests are not known yet."""
        return None if self.modules else sum(source.selected for source in self.sources)

    @property
    def is_whole(self) -> bool:
        """Whether all tests of the suites run."""
        options = self.options
        return not (options.selecting or options.failure_limit or options.shard or self.is_part)

    @property
    def test_files(self) -> dict[str, Path]:
        """Suite id → its test or case file, for those that have one."""
        files = {module.id: module.test for module in self.modules}
        return files | {source.suite.id: Path(source.suite.file) for source in self.sources if source.suite.file}

    @property
    def case_folders(self) -> set[Path]:
        """The folders of case files, of which the first gets a report where none is named; none without inputs."""
        if self.transcripts is not None or not self.options.inputs or self.options.watch:
            return set()
        return {source.folder for source in self.sources if source.suite.file}

    @property
    def resumed_report(self) -> LineFile | None:
        """The open report of an earlier run that is continued."""
        return self.retained.report if self.retained is not None else None

    def retained_tests(self, module: str) -> Mapping[str, int]:
        """The tests of a module that have results of an earlier run, or elsewhere, and their positions."""
        kept = self.retained
        if kept is None:
            return self.elsewhere.get(module, {})
        return {one.name: one.position for one in kept.results.get(module, ())}


def suite_of(module: TestModule) -> Suite:
    """A test module as a suite."""
    return Suite(id=module.id, kind=SCRIPT_TEST, label=module.label, file=str(module.test), agent=module.agent)


class CaseInput(Value):
    """A case file, or a message."""

    agent: str
    """Id of the tested agent."""
    path: Path | None
    """Absolute path of the case file; None for a message."""
    message: str = ""

    @property
    def id(self) -> str:
        """The id of this input, unique in a run."""
        return str(self.path) if self.path else f"message {self.message}"


class GeneratorInput(Value):
    """An input whose cases an agent or a script makes."""

    agent: str
    """Id of the tested agent."""
    id: str
    """As the user wrote it."""
    reference: Reference
    """Who makes them."""
    named: str
    """The same as the user wrote it: `agents:workers.test.generator`, `scripts:tests.expense.generate`."""
    parameters: dict[str, Any]
    """The parameters after the `?`: texts, numbers and booleans."""


Arrange = Callable[[str, Sequence[str]], Sequence[int]]
"""(id of a suite, names of its tests) → their positions, in the order in which they run."""


class CaseSource(Value):
    """The cases of one input."""

    suite: Suite
    assistant: Assistant
    folder: Path
    """The folder that relative paths in the cases start from."""
    selected: int
    """How many cases will run."""
    total: int
    """How many cases there are before filters such as `--run`."""
    cases: Callable[[], Iterable[LocatedCase]]
    """Reads the cases that will run."""
    ids: Callable[[], Iterable[str]] = tuple
    """Reads the ids of all cases, before filters such as `--run`."""
    waited: frozenset[str] = frozenset()
    """Ids of the cases that other cases depend on."""
    refers: bool = True
    """Whether its cases may name agents, scripts or connectors."""
    broken: str = ""
    """What is wrong with the files of the agent, if that keeps all of its cases from running."""
    done: Mapping[str, Mapping[int, Status]] = {}
    """Case → the status of each of its runs that has a result of an earlier run, by the number of the run; 0 is the
    only run of a case that runs once."""
    variant: AgentVariant | None = None
    """The variant of the agent that these cases run with; None: the run has no variants."""
    ended: Mapping[str, Status] = {}
    """Case → its status, for cases that are complete in an earlier run."""
    runs: Mapping[str, tuple[int, ...]] = {}
    """Case → the numbers of its runs that will run; cases that are not in it run as often as flags and the case file
    say."""

    def running(self) -> Iterator[LocatedCase]:
        """Reads the cases that are not skipped and not complete in an earlier run."""
        return (one for one in self.cases() if not (one.case.skip or one.case.id in self.ended))

    def placed(self, arrange: Arrange | None) -> Iterator[LocatedCase]:
        """Reads the cases with their positions, in the order in which they run; an order that is given has all of them
        in memory."""
        placed: Iterable[tuple[int, LocatedCase]] = enumerate(self.cases())
        if arrange is not None:
            cases = list(self.cases())
            placed = ((at, cases[at]) for at in arrange(self.suite.id, [located.case.id for located in cases]))
        return (located if located.position >= 0 else located.replace(position=at) for at, located in placed)

    def cleaned(self, clean: Callable[[str], str]) -> CaseSource:
        """The same cases with the secrets removed from their ids, as results, recordings and snapshots name them."""
        return self.replace(
            cases=lambda: (_cleaned(located, clean) for located in self.cases()),
            ids=lambda: map(clean, self.ids()),
            waited=frozenset(map(clean, self.waited)),
        )


def _cleaned(located: LocatedCase, clean: Callable[[str], str]) -> LocatedCase:
    case = located.case
    id, needed = clean(case.id), list(map(clean, case.depends_on))
    if id == case.id and needed == case.depends_on:
        return located
    return located.replace(case=case.model_copy(update={"id": id, "depends_on": needed}))
