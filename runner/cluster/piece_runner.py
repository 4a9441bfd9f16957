"""A process beside a Dask worker: runs pieces of a run one after the other, as the command would.

    a SETUP on standard input, then PIECEs; events on standard output

Its own environment has the keys. It ends with its standard input, whatever it is doing; workers of scripts end with it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

from runner.application.application import Application
from runner.cluster.frames import DONE, EVENT, FAILED, PIECE, SETUP, Moved, frame, packed, read_frame, unpacked
from runner.cluster.outbox import Outbox
from runner.cluster.pieces import CasesPart, Heard, Piece, Setup, Told
from runner.environment import SCRIPT_PARTS, Environment, from_process
from runner.errors import RunnerError
from runner.execution.run import open_host, selection_of
from runner.execution.services import RunServices, TestServices
from runner.execution.session import Session
from runner.execution.stopping import Stop
from runner.planning.case_source import CaseSource
from runner.planning.plan import RunPlan, suite_of
from runner.planning.resume import ResumeState, Retained
from runner.planning.saved_run import Saved
from runner.results.events import (
    AttemptEnd,
    Event,
    RunEnd,
    RunError,
    RunStart,
    SuiteEnd,
    SuiteStart,
    TestEnd,
    TestStart,
    TurnStart,
    Warned,
)
from scripttest import Processes, ScriptHost, hide_environment, start_processes

if TYPE_CHECKING:
    from runner.agents.service import AgentService
    from runner.cli.options import RunOptions
    from runner.fingerprints.parts import PartDigests
    from runner.results.fold import Execution

_OF_CASES = AttemptEnd | TestEnd | TestStart | TurnStart
_LOST = "the connection to the worker is gone"


class Runner:
    """One process."""

    def __init__(self, setup: Setup, root: Path, environment: Environment, write: Callable[[bytes], None]) -> None:
        """Raises RunnerError when the run cannot be had here.

        Args:
            setup: what all pieces have in common.
            root: of the application, here.
            environment: of this process.
            write: takes messages, from any thread.
        """
        self._there = Moved(root, setup.root)
        self._here = Moved(setup.root, root)
        self._setup = setup = self._here.value(setup)
        self._root = root
        self._outbox = Outbox(lambda values: write(frame(EVENT, self._there.packed(values))))
        self._scratch = Path(tempfile.mkdtemp(prefix="yao-test-piece-"))
        self._environment = environment.replace(directory=setup.directory)
        self._application = Application(root)
        self._processes: Processes | None = None
        self._options = self._options_of(setup.options)
        self._parallel = setup.parallel or 1
        if self._options.sandbox is not None:
            from runner.execution.walls import look_at_walls

            look_at_walls(self._options, self._environment)
        self._services = RunServices(
            options=self._options,
            environment=self._environment,
            application=self._application,
            context=setup.context,
            parts=SCRIPT_PARTS,
            settings=setup.settings,
            key=setup.key,
        )
        if setup.counts_usage:
            self._services.count_usage(_Usage(self))  # type: ignore[arg-type]
        self._service: AgentService | None = None
        self._services.on_agents = self._set_up_agents
        self._answers: tuple[str, ...] = ()
        self.stop = Stop()

    def close(self) -> None:
        """Ends what was started for the pieces."""
        if self._processes is not None:
            self._processes.close()
        self._services.__exit__()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def say(self, value: Any) -> None:
        """Sends an event, or a `Heard`, soon and with others; from any thread."""
        self._outbox.put(value)

    def say_now(self, value: Any) -> None:
        """Sends it at once."""
        self._outbox.put(value)
        self._outbox.flush()

    def send_recordings(self, event: TestEnd | AttemptEnd) -> None:
        """Sends the recordings of a test that has ended."""
        recording, result = self._services.recording, event.result
        if recording is None or recording.mode == "replay" or isinstance(event, AttemptEnd):
            return
        from runner.connectors.base import Origin

        for run in range(1, max(len(result.attempts), 1) + 1):
            name = recording.file(Origin(suite=result.suite, case=result.name, run=run))
            path = recording.folder / name
            self.say(Heard(file=(name, path.read_bytes() if path.is_file() else None)))

    def run(self, piece: Piece) -> None:
        """Runs a piece to its end; blocks until all is said of it."""
        try:
            self._run(piece)
        except Exception as error:
            message, hint = _problem(error)
            self.say(RunError(message=message, hint=hint))
        self._outbox.flush()

    def _run(self, piece: Piece) -> None:
        piece = self._here.value(piece)
        self._answers = piece.answers
        if piece.begins_pass:
            self._services.begin_again({})
        if self._service is not None:
            self._keep_answers(self._service)
        plan = self._plan(piece)
        selection = selection_of(self._options)
        tests = TestServices(
            self._services, plan, selection, self._environment, stopped=lambda: self.stop.reason is not None
        )
        observer = _Shipped(self, piece)

        def carry_out(host: ScriptHost | None) -> None:
            Session(
                plan=plan,
                environment=self._environment,
                services=self._services,
                tests=tests,
                selection=selection,
                stop=self.stop,
                host=host,
                started=self._environment.monotonic(),
                observer=observer,
            ).run()

        if not plan.modules:
            carry_out(None)
            return
        if self._processes is None:
            self._processes = start_processes(SCRIPT_PARTS, self._root)
        processes, self._processes = self._processes, None
        with open_host(self._options, self._application, processes, tests, self._parallel) as host, tests:
            carry_out(host)
            self._processes = host.release()

    def _options_of(self, options: RunOptions) -> RunOptions:
        """What decides about the whole run is the affair of the command."""
        folder = {"record": str(self._scratch / "recordings")} if options.record else {}
        return options.replace(
            inputs=("everything",),
            outputs=(),
            reporter=None,
            resume=None,
            shard=None,
            shuffle=None,
            failed_first=False,
            max_cost=None,
            max_tokens=None,
            max_duration=None,
            max_errors=None,
            retry_errors=0,
            fail_fast=False,
            max_failures=None,
            durations=None,
            require_trust=False,
            trust_from=None,
            verbose=0,
            quiet=True,
            json=False,
            no_color=True,
            cluster=None,
            **folder,
        )

    def _set_up_agents(self, service: AgentService) -> None:
        from runner.cluster.shared_bounds import SharedPlaces

        self._service = service
        self.places = SharedPlaces(lambda call: self.say_now(Heard(call=call)))
        connectors = service.runtime.connectors
        connectors.share(self.places)
        if self._setup.bounds:
            connectors.bound(self._parallel)
        self._keep_answers(service)

    def _keep_answers(self, service: AgentService) -> None:
        """Has answers sent to the command as they come, and those taken up that it has."""
        if self._options.replay is not None:
            return
        from runner.connectors.journal import Journal

        path = self._scratch / "calls.jsonl"
        path.write_text("".join(f"{line}\n" for line in self._answers), "utf-8")
        service.runtime.journal = Journal(
            path,
            lambda _: _Answers(self),
            self._root,
            self._environment.secrets.text,
            lambda problem: self.say(Warned(message=problem)),
            goes_on=True,
        )

    def _plan(self, piece: Piece) -> RunPlan:
        modules = tuple(part.module for part in piece.modules)
        sources = tuple(map(self._source, piece.cases))
        suites = (*map(suite_of, modules), *(source.suite for source in sources))
        records = {
            part.module.id: [
                {"id": done.name, "position": done.position, "run": done.run, "status": done.status}
                for done in part.done
            ]
            for part in piece.modules
            if part.done
        }
        saved = Saved(path=self._root, start={}, results=[], is_whole=True, subject="")
        retained = Retained(saved=saved, results=records, ended={}, gaps=(), warnings=())
        return RunPlan(
            options=self._options,
            application=self._application,
            context=self._setup.context,
            settings=self._setup.settings,
            contexts=self._setup.contexts,
            suites=suites,
            modules=modules,
            sources=sources,
            warnings=(),
            notes=(),
            picked={part.module.id: part.picked for part in piece.modules if part.picked is not None},
            order=self._setup.order,
            matched=True,
            left_out=(),
            resumable=self._setup.resumable,
            resume=ResumeState(sources=list(sources), retained=retained),
            store=None,
            transcripts=None,
            is_part=True,
            writes_cases=False,
        )

    def _source(self, part: CasesPart) -> CaseSource:
        from runner.agents.assistant import Assistants, stand_in

        assistants = Assistants(self._application)
        agent = part.suite.agent
        assistant = stand_in(*assistants.find(agent)) if part.broken else assistants.get(agent)
        cases = [(line, case) for _, line, case in part.cases]
        return CaseSource(
            suite=part.suite,
            assistant=assistant,
            folder=part.folder,
            selected=len(cases),
            total=len(cases),
            cases=lambda: cases,
            ids=lambda: [case.id for _, case in cases],
            waited=part.waited,
            broken=part.broken,
            done=part.done,
            variant=part.variant,
            ended=dict(part.ended),
            runs=part.runs,
        )


class _Shipped:
    """Sends the events of a piece to the command; implements `runner.execution.observing.Observer`."""

    def __init__(self, runner: Runner, piece: Piece) -> None:
        self.stop = runner.stop
        self.processes: Processes | None = None
        self.traces = self.keeps = False
        self.held_back: Callable[[str], str | None] | None = None
        self._runner = runner
        self._modules = {part.module.id for part in piece.modules}
        self._places = {part.suite.id: [position for position, _, _ in part.cases] for part in piece.cases}
        """Suite → the positions of its cases, by their places in this piece."""

    def begin(self, parts: PartDigests) -> None:
        """See `Observer`."""

    def writes(self, path: Path, content: bytes) -> None:
        """See `Observer`."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """See `Observer`."""
        if isinstance(event, RunStart | RunEnd):
            return
        if isinstance(event, SuiteStart | SuiteEnd) and event.suite not in self._modules:
            return
        if isinstance(event, _OF_CASES):
            event = self._in_place(event)
        if isinstance(event, TestEnd | AttemptEnd):
            self._runner.send_recordings(event)
        self._runner.say(event)

    def close(self) -> None:
        """See `Observer`."""

    def _in_place(self, event: Any) -> Event:
        if isinstance(event, AttemptEnd | TestEnd):
            places = self._places.get(event.result.suite)
            if places is None:
                return event
            return event.replace(result=event.result.replace(position=places[event.result.position]))
        places = self._places.get(event.suite)
        moved: Event = event if places is None else event.replace(position=places[event.position])
        return moved


class _Usage:
    """Stands for the budgets of the run, which the command keeps."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def spend(self, connector: str, usage: Any, free: bool) -> None:
        """Tells the command of a model call."""
        self._runner.say(Heard(usage=(connector, usage, free)))

    def end(self) -> None:
        """Has no clock to stop."""


class _Answers:
    """Lines of a journal that the command writes; implements `runner.connectors.journal.Lines`."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def replace(self, lines: Any) -> None:
        """The command has these."""

    def write(self, line: str) -> None:
        """Sends a line."""
        self._runner.say_now(Heard(answer=line))

    def close(self) -> None:
        """Has nothing to close."""


def main() -> None:
    """Runs pieces until standard input ends, and ends the process."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    environment = from_process()
    environment = environment.replace(variables={**environment.variables, "CI": "1"})
    hide_environment()
    lock = threading.Lock()

    def write(message: bytes) -> None:
        view = memoryview(message)
        with lock:
            try:
                while view:
                    view = view[os.write(outgoing, view) :]
            except OSError:
                os._exit(1)

    setup = read_frame(incoming)
    if setup is None or setup[0] != SETUP:
        os._exit(1)
    try:
        runner = Runner(unpacked(setup[1]), Path(os.getcwd()), environment, write)
    except Exception as error:
        write(frame(FAILED, packed(_problem(error))))
        os._exit(1)
    pieces: SimpleQueue[Piece] = SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, runner, pieces), daemon=True).start()
    while True:
        runner.run(pieces.get())
        runner.stop = Stop()
        write(frame(DONE, b""))


def _listen(incoming: IO[bytes], runner: Runner, pieces: SimpleQueue[Piece]) -> None:
    """Takes pieces and what is said of them; ends the process when nobody is there any more."""
    while (message := read_frame(incoming)) is not None:
        kind, payload = message
        if kind == PIECE:
            pieces.put(unpacked(payload))
            continue
        told: Told = unpacked(payload)
        if told.stop is not None:
            reason, seconds = told.stop
            runner.stop.request(reason, seconds)
            runner.stop.hurry(seconds)
        if told.let is not None:
            runner.places.let(told.let)
    try:
        runner.close()
    finally:
        os._exit(0)


def _problem(error: Exception) -> tuple[str, str | None]:
    if isinstance(error, RunnerError):
        return error.message, error.hint
    return f"yao-test broke on a worker: {type(error).__name__}: {error}", None
