"""What a run is asked to do, and what it will do for that: its plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runner.application.application import Application, TestModule
from runner.options.options import RunOptions, RunSettings
from runner.record.model import Suite, SuiteKind
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.environment import Environment
    from runner.modes.transcripts import Transcripts
    from runner.planning.case_source import Arrange, CaseSource
    from runner.planning.resume import ResumeState
    from runner.planning.selection import Order, Selection
    from runner.planning.still_valid import Retained
    from runner.store.places import StorePlace


class RunRequest(Value):
    """What the command line asks a run to do."""

    options: RunOptions
    settings: RunSettings = RunSettings()
    """The other settings of the configuration file."""
    environment: Environment
    application: Application
    regraded_from: str | None = None
    """The report whose answers are graded again; None: agents are asked."""
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


class LeftOut(Value):
    """How many tests one flag leaves out."""

    flag: str
    """As it is given, such as `--run Ready`."""
    modules: int = 0
    """Whole test modules, whose numbers of tests are not known."""
    tests: int = 0
    """Cases, and tests of modules that run otherwise."""

    def plus(self, tests: int) -> LeftOut:
        """The same with more tests left out."""
        return self.replace(tests=self.tests + tests)

    @property
    def words(self) -> str:
        """The numbers in words, such as `1 module and 2 tests`."""
        parts = ((self.modules, "module"), (self.tests, "test"))
        return " and ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in parts if number)


class RunPlan(RunRequest):
    """What a run was asked to do, and what it does for that."""

    suites: tuple[Suite, ...]
    """All suites, in the order in which they were named."""
    modules: tuple[TestModule, ...] = ()
    """Suites that are test modules."""
    sources: tuple[CaseSource, ...] = ()
    """The cases of the other suites, which are read again for each use."""
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
    left_out: tuple[LeftOut, ...] = ()
    """What flags leave out, as far as that is known before modules are loaded."""
    resumable: bool = False
    """Whether the run writes a report that a later run can resume."""
    resume: ResumeState | None = None
    """What is taken from an earlier run, and what a later run will need; None when no report can be resumed."""
    store: StorePlace | None = None
    """Where the store keeps the run; None: it does not."""
    transcripts: Transcripts | None = None
    """The transcripts of a saved run that is graded again; None: agents are asked."""
    run_id: str = ""
    """The id of the run in reports and in the store; empty for a part of a run."""
    is_part: bool = False
    """Whether other machines run other tests of the same suites."""
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
    def retained(self) -> Retained | None:
        """The results of an earlier run that are kept."""
        return self.resume.retained if self.resume is not None else None

    def retained_tests(self, module: str) -> dict[str, int]:
        """The tests of a module that have results of an earlier run, and their positions."""
        kept = self.retained
        return {one.name: one.position for one in kept.results.get(module, ())} if kept is not None else {}


def suite_of(module: TestModule) -> Suite:
    """A test module as a suite."""
    return Suite(id=module.id, kind=SuiteKind.MODULE, label=module.label, file=str(module.test), agent=module.agent)
