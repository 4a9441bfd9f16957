"""Opens everything that receives the events of a run: the reporters, the store, the memory of failures, and
the journal."""

from __future__ import annotations

from bindings import agent_id
from runner.errors import shown_path
from runner.reporters import BUILT_IN, maker_by_id
from runner.reporters.opening import Console, open_reporters
from runner.reporters.stream import Multiplexer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import TextIO

    from runner.environment import Environment
    from runner.execution.observing import Observer
    from runner.execution.outcome import Lines, Outcome
    from runner.execution.services import RunServices
    from runner.execution.services_of_tests import TestServices
    from runner.execution.snapshots import SnapshotWatch
    from runner.execution.stopping import Stop
    from runner.planning.plan import RunPlan
    from runner.reporters import Maker
    from runner.reporters.stream import Reporter
    from runner.results.line_file import LineFile


class Listeners:
    """Opens the receivers of the events of one run."""

    def __init__(
        self,
        *,
        plan: RunPlan,
        environment: Environment,
        services: RunServices,
        tests: TestServices,
        stop: Stop,
        observer: Observer | None,
        runs_here: bool,
    ) -> None:
        """`runs_here`: the tests run in this process, not on other machines."""
        self._plan = plan
        self._environment = environment
        self._services = services
        self._tests = tests
        self._stop = stop
        self._observer = observer
        self._runs_here = runs_here

    def open(self, console: Console, outcome: Outcome | Lines | None, watch: SnapshotWatch | None) -> Multiplexer:
        """Opens all receivers, and returns the stream of events for them.

        Args:
            outcome: what `--json` prints. It is closed last, and gets the messages of the others then.
            watch: finds obsolete snapshots.
        """
        plan, services, secrets = self._plan, self._services, self._environment.secrets
        reporters = [*self._reporters(console), *self._observers(), *([watch] if watch else ())]
        if outcome is not None:
            reporters.insert(0, outcome)
        if plan.resumable:
            from runner.execution.snapshots import SnapshotWriter

            reporters.insert(0, SnapshotWriter(self._tests.snapshots))
        paths = [path for reporter in reporters if (path := getattr(reporter, "path", None)) is not None]
        reports = [path for path in paths if path.suffix.lower() == ".jsonl" and path.is_file()]
        files = {
            file.path: file for reporter in reporters if (file := getattr(reporter, "line_file", None)) is not None
        }
        spared = files.get(reports[0]) if reports else None
        reporters += [*self._store(reports, spared), *self._failures(), *self._journal(reports)]
        if services.recording is None or not self._runs_here:
            return Multiplexer(reporters, secrets, counts=not plan.is_part)
        from runner.execution.recorded import RecordedStream

        services.recording.set_messages(suite.id for suite in plan.suites if suite.is_message)
        return RecordedStream(reporters, secrets, services.recording, plan.is_whole)

    def _reporters(self, console: Console) -> list[Reporter]:
        plan = self._plan
        if plan.is_part:
            return []
        resumed = plan.resume.resumed_report if plan.resume else None
        return open_reporters(console, plan.case_folders, plan.options.outputs, resumed, self._chosen)

    def _chosen(self, id: str, target: Path | TextIO) -> Maker:
        """The reporter that `--reporter` names: a built-in one, or an agent of the application. Raises
        ConfigurationError."""
        plan, options = self._plan, self._plan.options
        named = agent_id(id)
        is_agent = any(agent.id == named for agent in plan.application.agents())
        if id in BUILT_IN or (id.startswith("report.") and not is_agent):
            return maker_by_id(id, target)
        from runner.execution.agent_reporter import agent_maker

        agents, context = self._services.agents(), dict(plan.context)
        return agent_maker(named, target, agents, context, options.case_timeout, bool(options.verbose))

    def _observers(self) -> list[Reporter]:
        """The receivers that watch the run from outside."""
        observer, recording = self._observer, self._services.recording
        if observer is None:
            return []
        self._tests.snapshots.before_writing = observer.writes
        if recording is not None and observer.held_back is not None:
            recording.held_back = observer.held_back
        return [observer]

    def _store(self, reports: list[Path], report: LineFile | None) -> list[Reporter]:
        """The receivers that write the run into its store, if it has one; `report`: the open file of the first one."""
        plan, environment = self._plan, self._environment
        if plan.store is None or (self._observer is not None and not self._observer.keeps):
            return []
        from runner.options.values import STANDARD_STORE_KEEP
        from runner.store.fallback_report import FallbackReport
        from runner.store.places import place_of, revision_of
        from runner.store.run_writer import RunWriter

        names = tuple(shown_path(path, environment.directory) for path in reports)
        spare = FallbackReport(plan.store.run, environment.directory, report, *names[:1])
        root = plan.application.root
        return [
            spare,
            RunWriter(
                plan.store.folder,
                plan.store.run,
                revision_of(root, environment.variables).replace(place=place_of(root)),
                profile=plan.options.profile,
                reports=names,
                spare=spare,
                keep=plan.options.store_keep or (STANDARD_STORE_KEEP,),
                now=environment.now,
            ),
        ]

    def _failures(self) -> list[Reporter]:
        """The receiver that remembers failures for later runs. There is none when a store does that,
        when a saved run is graded again, and for benchmarks, which other runs do not know."""
        plan = self._plan
        if plan.store is not None or plan.transcripts is not None or plan.options.bench:
            return []
        from runner.planning.last_failed import memory_of

        root = self._plan.application.root
        memory = memory_of(root, self._environment)
        if memory is None:
            return []
        from runner.planning.last_failed import FailureMemory

        return [FailureMemory(memory, root)]

    def _journal(self, reports: list[Path]) -> list[Reporter]:
        """The receiver that tells the journal beside the first `.jsonl` report which tests have results, if the run can
        be resumed."""
        plan = self._plan
        report = reports[0] if reports else None
        if plan.resume is not None and plan.resume.resumed_report is not None:
            report = plan.resume.resumed_report.path
        if report is None or not plan.resumable or not report.is_file():
            return []
        from runner.execution.recorded import JournalWatch

        options, at_once = plan.options, self._environment.cpus if plan.modules else 1
        self._services.keep_answers(report, goes_on=options.resume is not None, at_once=options.parallel or at_once)
        return [JournalWatch(self._services, self._stop)]
