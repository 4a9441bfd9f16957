"""A process beside a Dask worker. It runs work units of a run one after the other, as the command would.

    a SETUP on standard input, then UNITs; events on standard output

Keys are in its own environment. When its standard input ends, it ends too, whatever it is doing, and so do its workers
of scripts."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from bindings import SCRIPT_PARTS
from runner.application.application import Application
from runner.cluster.messages import (
    DONE,
    EVENT,
    FAILED,
    SETUP,
    UNIT,
    Instruction,
    PathTranslation,
    RunnerMessage,
    Setup,
    WorkUnit,
    packed,
    unpacked,
)
from runner.environment import CONTENT_IN_SPANS, Environment, from_process
from runner.errors import RunnerError
from runner.execution.run import Observer, Run
from runner.execution.services import RunServices
from runner.execution.start import carry_out
from runner.execution.stopping import Stop
from runner.options.options import FLAGS, RunOptions
from runner.planning.plan import CaseSource, RunPlan, RunRequest, suite_of
from runner.planning.planner import selection_of
from runner.record.events import AttemptEnd, Event, RunEnd, RunError, RunStart, SuiteEnd, SuiteStart, TestEnd, Warned
from scripttest import ScriptHost, Status, belongings_of, hide_environment, start_processes
from scripttest.values import fields_of

if TYPE_CHECKING:
    from runner.agents.service import AgentService
    from runner.answers.recording import Recording
    from runner.cluster.model_calls import SentAnswers
    from runner.record.fold import Execution
    from runner.record.model import TestResult
    from scripttest import ModuleFile


class EventsOut(Observer):
    """Sends the events of one work unit."""

    def __init__(
        self,
        unit: WorkUnit,
        stop: Stop,
        recording: Recording | None,
        say: Callable[[Any], None],
        say_now: Callable[[Any], None],
    ) -> None:
        """`say` takes messages to the command; `say_now` takes the first failure, which may end the run."""
        super().__init__(stop)
        self._recording = recording if recording is not None and recording.mode != "replay" else None
        self._say, self._say_failure = say, say_now
        self._modules = {module.id for module in unit.modules}

    def on_event(self, event: Event, so_far: Execution) -> None:
        """See `Observer`."""
        if isinstance(event, RunStart | RunEnd):
            return
        if isinstance(event, SuiteStart | SuiteEnd) and event.suite not in self._modules:
            return
        if isinstance(event, TestEnd):
            self._send_recordings(event.result)
        if isinstance(event, AttemptEnd | TestEnd) and event.result.outcome.status is Status.FAILED:
            self._say_failure(event)
            self._say_failure = self._say
        else:
            self._say(event)

    def _send_recordings(self, result: TestResult) -> None:
        """Sends the recordings of a test that has ended."""
        if self._recording is None:
            return
        from runner.connectors.base import Origin

        for run in [attempt.run for attempt in result.attempts] or [1]:
            name = self._recording.file(Origin(suite=result.suite, case=result.name, run=run))
            path = self._recording.folder / name
            self._say(RunnerMessage(file=(name, path.read_bytes() if path.is_file() else None)))


GATHER = 0.25
"""Seconds in which what can wait becomes one message."""


class Sender:
    """Sends values in their order, from a thread of its own."""

    def __init__(self, send: Callable[[list[Any]], None]) -> None:
        """`send` takes some values."""
        self._send = send
        self._values: list[Any] = []
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._has_some = threading.Event()
        threading.Thread(target=self._send_some, daemon=True).start()

    def put(self, value: Any) -> None:
        """Sends a value, soon; from any thread."""
        with self._lock:
            self._values.append(value)
            if len(self._values) == 1:
                self._has_some.set()

    def flush(self) -> None:
        """Sends at once what there is."""
        with self._sending:
            with self._lock:
                values, self._values = self._values, []
                self._has_some.clear()
            if values:
                self._send(values)

    def _send_some(self) -> None:
        while True:
            self._has_some.wait()
            time.sleep(GATHER)
            self.flush()


class Runner:
    """Runs the units that one runner process is given, and tells the command of model calls, as a
    `runner.agents.runtime.UsageCounter`."""

    def __init__(self, setup: Setup, root: Path, environment: Environment, write: Callable[[bytes], None]) -> None:
        """Raises RunnerError if the run is not possible on this machine.

        Args:
            setup: what all units have in common.
            root: the application on this machine.
            environment: of this process.
            write: takes messages, from any thread."""
        self._there = PathTranslation(root, setup.root)
        self._here = PathTranslation(setup.root, root)
        self._setup = setup = self._here.value(setup)
        self._root = root
        self._sender = Sender(lambda values: write(EVENT + self._there.packed(values)))
        said = {"CI": "1", CONTENT_IN_SPANS: str(setup.content_in_spans)}
        variables = {**environment.variables, **said}
        self._environment = environment.replace(directory=setup.directory, variables=variables, named=setup.named)
        self._application = Application(root)
        if setup.listed is not None:
            belongings_of(os.path.realpath(root)).know(setup.listed)
        self._processes = start_processes(SCRIPT_PARTS, root) if setup.has_modules else None
        self._options = options_of(setup.options, self._scratch / "recordings" if setup.options.record else None)
        self._parallel = setup.options.parallel or 1
        self._request = RunRequest(
            options=self._options,
            settings=setup.settings,
            environment=self._environment,
            application=self._application,
            context=setup.context,
            contexts=setup.contexts,
        )
        self._services = RunServices(self._request, key=setup.key)
        if (setup.options.max_cost, setup.options.max_tokens) != (None, None):
            self._services.count_usage(self)
        self._service: AgentService | None = None
        self._services.on_agents = self._set_up_agents
        self._answers: tuple[str, ...] = ()
        self.sent_answers: SentAnswers | None = None
        self.stop = Stop()

    def close(self) -> None:
        """Ends what was started for the units, and takes away what they have written here."""
        try:
            if self._processes is not None:
                self._processes.close()
            self._services.__exit__()
        finally:
            if "_scratch" in self.__dict__:
                import shutil

                shutil.rmtree(self._scratch, ignore_errors=True)

    @cached_property
    def _scratch(self) -> Path:
        """A folder for what the units write."""
        import tempfile

        return Path(tempfile.mkdtemp(prefix="yao-test-unit-"))

    def say(self, value: Any) -> None:
        """Sends an event, or a `RunnerMessage`, soon and with others; from any thread."""
        self._sender.put(value)

    def say_now(self, value: Any) -> None:
        """Sends it at once."""
        self._sender.put(value)
        self._sender.flush()

    @property
    def refusal(self) -> str | None:
        """See `UsageCounter`."""
        return self.stop.reason if self.stop.closes_models else None

    def spend(self, connector: str, usage: Any, free: bool) -> None:
        """See `UsageCounter`."""
        self.say(RunnerMessage(usage=(connector, usage, free)))

    def run(self, unit: WorkUnit) -> None:
        """Runs a work unit to its end; blocks until all is said of it, and answers are kept."""
        try:
            self._run(unit)
        except Exception as error:
            message, hint = _problem(error)
            self.say(RunError(message=message, hint=hint))
        self._sender.flush()
        if self.sent_answers is not None:
            self.sent_answers.wait()

    def _run(self, unit: WorkUnit) -> None:
        unit = self._here.value(unit)
        self._answers = unit.answers
        if unit.begins_pass:
            self._services.begin_again({})
        if self._service is not None:
            self._keep_answers(self._service)
        plan = plan_of(unit, self._setup, self._request)
        observer = EventsOut(unit, self.stop, self._services.recording, self.say, self.say_now)
        run = Run(plan, self._services, self.stop, started=self._environment.monotonic(), observer=observer)
        if not plan.modules:
            carry_out(run, None)
            return
        processes, self._processes = self._processes or start_processes(SCRIPT_PARTS, self._root), None
        with run.open_host_of(ScriptHost, processes, self._services.instrument, self._parallel) as host, run:
            carry_out(run, host)
            self._processes = host.release()

    def _set_up_agents(self, service: AgentService) -> None:
        from runner.cluster.model_calls import AskedLimits

        self._service = service
        self.places = AskedLimits(lambda call: self.say_now(RunnerMessage(call=call)))
        service.runtime.connectors.share(self.places)
        self._keep_answers(service)

    def _keep_answers(self, service: AgentService) -> None:
        """Sends answers to the command as they arrive, and uses those that the command has already."""
        if self._options.replay is not None:
            return
        from runner.answers.journal import Journal
        from runner.cluster.model_calls import SentAnswers

        if self.sent_answers is None:
            self.sent_answers = SentAnswers(self.say_now, self._parallel)
        answers = self.sent_answers
        path = self._scratch / "calls.jsonl"
        path.write_text("".join(f"{line}\n" for line in self._answers), "utf-8")
        service.runtime.journal = Journal(
            path,
            lambda _: answers,
            self._root,
            self._environment.secrets.text,
            lambda problem: self.say(Warned(message=problem)),
            resumes=True,
            limit=sys.maxsize,
            gate=answers,
        )


def main(modules: ModuleFile | None) -> None:
    """Runs units until standard input ends, and ends the process. `modules` is where modules are imported from."""
    incoming, outgoing = Connection(os.dup(0), writable=False), Connection(os.dup(1), readable=False)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    environment = from_process()
    hide_environment()
    lock = threading.Lock()

    def write(message: bytes) -> None:
        with lock, suppress(OSError):  # where the reader has ended, which `_listen` notices too
            outgoing.send_bytes(message)

    setup = _received(incoming)
    if setup[:1] != SETUP:
        os._exit(1)
    try:
        folder, common = unpacked(setup[1:])
        os.chdir(folder)
        runner = Runner(unpacked(common), Path(folder), environment, write)
    except Exception as error:
        write(FAILED + packed(_problem(error)))
        os._exit(1)
    units: SimpleQueue[WorkUnit] = SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, runner, units), daemon=True).start()
    while True:
        runner.run(units.get())
        runner.stop = Stop()
        write(DONE)
        if modules is not None:
            modules.save()


def _received(incoming: Connection) -> bytes:
    """The next message; blocks. Empty when nobody is there any more."""
    try:
        return incoming.recv_bytes()
    except (EOFError, OSError):
        return b""


def _listen(incoming: Connection, runner: Runner, units: SimpleQueue[WorkUnit]) -> None:
    """Takes units and what is said of them; ends the process when nobody is there any more."""
    while message := _received(incoming):
        if message[:1] == UNIT:
            units.put(unpacked(message[1:]))
            continue
        told: Instruction = unpacked(message[1:])
        if told.stop is not None:
            reason, seconds, closes_models = told.stop
            runner.stop.request(reason, seconds, closes_models=closes_models)
            runner.stop.hurry(seconds)
        if told.let is not None:
            runner.places.let(told.let)
        if told.kept is not None and runner.sent_answers is not None:
            runner.sent_answers.keep(told.kept)
    try:
        runner.close()
    finally:
        os._exit(0)


def _problem(error: Exception) -> tuple[str, str | None]:
    if isinstance(error, RunnerError):
        return error.message, error.hint
    return f"internal error of yao-test on a worker: {type(error).__name__}: {error}", None


def options_of(options: RunOptions, recordings: Path | None) -> RunOptions:
    """The options of a run for its units. What they record goes to a folder of this machine; None: nothing is
    recorded."""
    kept = {flag.field: getattr(options, flag.field) for flag in FLAGS if flag.of_test and flag.field != "variants"}
    record = None if recordings is None else str(recordings)
    of_run = {name: getattr(options, name) for name in ("run", "parallel", "otlp")}
    return RunOptions(inputs=("everything",), **kept, **of_run, quiet=True, no_color=True, record=record)


def plan_of(unit: WorkUnit, setup: Setup, request: RunRequest) -> RunPlan:
    """The plan of a work unit."""
    sources = tuple(_with_agent(source, request.application) for source in unit.sources)
    return RunPlan(
        **fields_of(request),
        suites=(*map(suite_of, unit.modules), *(source.suite for source in sources)),
        modules=unit.modules,
        sources=sources,
        selection=selection_of(request.options),
        picked=setup.picked,
        order=setup.order,
        resumable=setup.resumable,
        is_part=True,
        elsewhere=unit.elsewhere,
    )


def _with_agent(source: CaseSource, application: Application) -> CaseSource:
    from runner.agents.assistant import Assistants, stand_in

    assistants, agent = Assistants(application), source.suite.agent
    return source.replace(assistant=stand_in(assistants.find(agent)) if source.broken else assistants.get(agent))
