"""Opens everything that receives the events of a run: the reporters, the store, the memory of failures, and the journal
of model calls. The stream of a run whose model calls are recorded or replayed tells recordings of the cases that have
ended, and fails a case that missed a recorded answer, even when the case took that for something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bindings import agent_id
from runner.errors import shown_path
from runner.record.events import AttemptEnd, Event, RunEnd, RunError, RunStatus, TestEnd, TestStart, Warned
from runner.record.model import TestResult
from runner.record.outcomes import Verdict
from runner.reporters import BUILT_IN, Console, maker_by_id, open_reporters
from runner.reporters.stream import Multiplexer, Reporter, describe
from scripttest import Cause, Failure, Status
from scripttest.typing_names import Record, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from runner.answers.recording import Recording
    from runner.execution.outcome import JsonOutcome
    from runner.execution.run import Run
    from runner.execution.services import RunServices
    from runner.execution.stopping import Stop
    from runner.record.fold import Execution
    from runner.record.writing import LineFile
    from runner.reporters import Maker
    from runner.reporters.agent import AgentReporter
    from runner.security.secrets import Secrets


def open_stream(run: Run, console: Console, outcome: JsonOutcome | None, own: Sequence[Reporter]) -> Multiplexer:
    """Opens all receivers, and returns the stream of events for them. Raises ConfigurationError. `outcome`: what
    `--json` prints. It is closed last, and gets the messages of the others then. `own`: those of the session."""
    plan, services, secrets = run.plan, run.services, run.environment.secrets
    said = [] if outcome is None else [outcome]
    reporters: list[Reporter] = [*own, *said, *_reporters(run, console)]
    if run.observer is not None:
        run.snapshots.before_writing = run.observer.writes
        if services.recording is not None and run.observer.held_back is not None:
            services.recording.held_back = run.observer.held_back
        reporters.append(run.observer)
    paths = [path for reporter in reporters if (path := getattr(reporter, "path", None)) is not None]
    reports = [path for path in paths if path.suffix.lower() == ".jsonl" and path.is_file()]
    files = {file.path: file for reporter in reporters if (file := getattr(reporter, "line_file", None)) is not None}
    spared = files.get(reports[0]) if reports else None
    reporters += [*_store(run, reports, spared), *_failures(run), *_journal(run, reports)]
    if services.recording is None or run.remote is not None:
        return Multiplexer(reporters, secrets, counts=not plan.is_part)

    services.recording.set_messages(suite.id for suite in plan.suites if suite.is_message)
    return RecordedStream(reporters, secrets, services.recording, plan.is_whole)


def _reporters(run: Run, console: Console) -> list[Reporter]:
    plan = run.plan
    if plan.is_part:
        return []

    def chosen(id: str, target: Path | TextIO) -> Maker:
        """The reporter that `--reporter` names: a built-in one, or an agent of the application."""
        named = agent_id(id)
        is_agent = any(agent.id == named for agent in run.application.agents())
        if id in BUILT_IN or (id.startswith("report.") and not is_agent):
            return maker_by_id(id, target)
        return _agent_maker(run, named, target)

    return open_reporters(console, plan.case_folders, plan.options.outputs, plan.resumed_report, chosen)


def _agent_maker(run: Run, agent: str, target: Path | TextIO) -> Maker:
    from runner.reporters import check_writable
    from runner.reporters.agent import AgentReporter, ReportError

    service, timeout = run.services.agents(), run.options.case_timeout
    service.runtime.assistants.get(agent)

    async def answer(payload: Record) -> Any:
        import asyncio

        from bindings import World
        from runner.agents.chat import Chat
        from runner.agents.helpers import ask_helper

        world = World(suite="", test="@report", mocked=False)
        chat = Chat({**run.plan.context, "chat_id": "report"}, world)
        try:
            async with asyncio.timeout(timeout):
                return (await ask_helper(service.runtime, agent, "reporter", payload, {}, chat)).output
        except TimeoutError as error:
            raise ReportError(f"it did not answer within {timeout:g}s") from error

    def make() -> AgentReporter:
        if isinstance(target, Path):
            check_writable(target)
        return AgentReporter(target, agent, lambda payload: service.run(answer(payload)), bool(run.options.verbose))

    return make


def _store(run: Run, reports: list[Path], report: LineFile | None) -> list[Reporter]:
    """The receivers that write the run into its store, if it has one; `report`: the open file of the first one."""
    store, environment, root = run.plan.store, run.environment, run.application.root
    if store is None or (run.observer is not None and not run.observer.keeps):
        return []
    from runner.options.values import STANDARD_STORE_KEEP
    from runner.store.places import place_of, revision_of
    from runner.store.run_writer import FallbackReport, RunWriter

    names = tuple(shown_path(path, environment.directory) for path in reports)
    spare = FallbackReport(store.run, report, *names[:1])
    writer = RunWriter(
        store.folder,
        store.run,
        revision_of(root, environment.variables).replace(place=place_of(root)),
        profile=run.options.profile,
        reports=names,
        spare=spare,
        keep=run.options.store_keep or (STANDARD_STORE_KEEP,),
        now=environment.now,
    )
    return [spare, writer]


def _failures(run: Run) -> list[Reporter]:
    """The receiver that remembers failures for later runs. There is none when a store does that, when a saved run is
    graded again, with --no-writes, and for benchmarks, which other runs do not know."""
    plan = run.plan
    if plan.store is not None or plan.transcripts is not None or plan.options.bench or plan.options.no_writes:
        return []
    from runner.planning.last_failed import FailureMemory, memory_of

    memory = memory_of(run.application.root, run.environment)
    return [] if memory is None else [FailureMemory(memory, run.application.root)]


def _journal(run: Run, reports: list[Path]) -> list[Reporter]:
    plan, options = run.plan, run.options
    report = reports[0] if reports else None
    if plan.resumed_report is not None:
        report = plan.resumed_report.path
    if report is None or not plan.resumable or not report.is_file():
        return []

    at_once = run.environment.cpus + 1 if plan.modules else 1
    run.services.keep_answers(report, resumes=options.resume is not None, at_once=options.parallel or at_once)
    return [JournalWatch(run.services, run.stop)]


T = TypeVar("T")


class RecordedStream(Multiplexer):
    """A `Multiplexer` of a run with recordings."""

    def __init__(self, reporters: list[Reporter], secrets: Secrets, recording: Recording, whole: bool) -> None:
        """`whole`: all cases run, so recordings that none of them uses are obsolete."""
        super().__init__(reporters, secrets)
        self._recording = recording
        self._whole = whole
        self._broken = False
        self._started: set[tuple[str, str]] = set()
        """Tests that have begun. A test that ends without having begun was taken from an earlier run."""

    def send(self, event: Event) -> None:
        """Sends an event; before the last one, errors and warnings about the recordings."""
        if isinstance(event, AttemptEnd | TestEnd) and event.result.cut_short and not event.result.attempts:
            self._recording.give_up(event.result.key)
        if isinstance(event, TestStart):
            self._started.add((event.suite, event.name))
        elif isinstance(event, TestEnd):
            suite, name, status = event.result.suite, event.result.name, event.result.outcome.status
            if (suite, name) in self._started:
                self._started.discard((suite, name))
                self._try(lambda: self._recording.end(suite, name, status))
            else:
                self._recording.keep(suite, name)
        elif isinstance(event, RunEnd):
            whole = self._whole and event.status != RunStatus.INTERRUPTED
            warning = self._try(lambda: self._recording.finish(whole))
            if warning:
                super().send(Warned(message=warning))
            if self.execution.errors and event.status in (RunStatus.PASSED, RunStatus.FAILED):
                event = event.replace(status=RunStatus.ERROR)
        super().send(event)

    def close(self) -> None:
        """Closes the reporters, which may have asked models until now."""
        super().close()
        try:
            self._recording.close()
        except Exception as error:
            self.untold.append(_cannot_write(error))
            self.execution.add(self.untold[-1])

    def checked(self, result: TestResult) -> TestResult:
        """The result of an attempt; it is failed if a recorded answer was missing."""
        outcome = result.outcome
        misses = self._recording.misses(result.key)
        said = [failure.message for failure in outcome.failures]
        unsaid = [miss for miss in misses if not any(miss.partition("\n")[0] in text for text in said)]
        if not unsaid:
            return result
        failures = (*(Failure(cause=Cause.INFRASTRUCTURE, message=miss) for miss in unsaid), *outcome.failures)
        return result.replace(
            cut_short=False, outcome=outcome.replace(status=Status.FAILED, failures=failures, skip_reason=None)
        )

    def _try(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except Exception as error:
            if not self._broken:  # one word is enough of a disk that is full
                self._broken = True
                super().send(_cannot_write(error))
            return None


def _cannot_write(error: Exception) -> RunError:
    return RunError(message=f"Cannot write recordings: {describe(error)}", hint="Calls of some cases are not recorded")


class JournalWatch(Reporter):
    """A reporter that writes nothing. It comes after the reporter of the report: when answers are deleted, their result
    is already written."""

    def __init__(self, services: RunServices, stop: Stop) -> None:
        self._services = services
        self._stop = stop

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Records the end of a test, or of one of its runs."""
        journal = self._services.journal
        if journal is None or not isinstance(event, (AttemptEnd, TestEnd)) or event.result.attempts:
            return
        result, verdict = event.result, event.result.verdict
        if verdict is Verdict.SKIPPED and self._stop.reason is not None:
            return  # it was cut short, and continues in a later run
        journal.end(result.key, broke=verdict is Verdict.BROKEN)
