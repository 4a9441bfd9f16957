"""One run on a cluster: hands out units, takes their results, and deals with workers that join and are lost."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from queue import Empty
from typing import TYPE_CHECKING, Any

from runner.cluster import worker_side
from runner.cluster.connection import Connection, DaskWorker, gone
from runner.cluster.messages import (
    EVENT,
    FAILED,
    TELL,
    Instruction,
    Job,
    RunnerMessage,
    packed,
    unpacked,
)
from runner.cluster.model_calls import SharedLimits, StoredAnswers, write_recording
from runner.cluster.preflight import Preflight, WorkerCheck
from runner.cluster.queue import Ledger, Work, WorkQueue
from runner.errors import ConfigurationError, RunnerError
from runner.execution.repetition import RetryPasses
from runner.record.events import HookOutput, RunError, SuiteEnd, TestEnd, TestStart, Warned
from runner.record.model import TestPlace

if TYPE_CHECKING:
    from runner.application.application import TestModule
    from runner.execution.repetition import Repetition
    from runner.execution.run import Run
    from runner.planning.plan import RunPlan


AHEAD = 1
"""Work units that wait on a worker, in addition to the running one."""
LOOK = 0.05
"""Seconds between looks whether the run is to stop."""
MARGIN = 0.4
"""Seconds by which workers are told to end before the time of the run is up: what they say is under way for so long."""
PATIENCE = 30.0
"""Seconds without any worker after which a run ends."""
LATE = 5.0
"""Seconds in which the last events of a work unit have to come after Dask says that it has ended."""
DOING_NOTHING = 3
"""Times that a work unit may end without a result for its tests."""


class RunningUnit:
    """A work unit that a worker runs, as the command knows it."""

    def __init__(self, work: Work, worker: DaskWorker) -> None:
        self.work, self.worker = work, worker
        self.future: Any = None
        self.number = 0
        """The number of the next message."""
        self.begun: float | None = None
        """When its first message came."""
        self.stopped_at: float | None = None
        """The time in seconds that the worker was last told it still has."""
        self.under_way: dict[TestPlace, str] = {}
        self.kept = self.told = 0
        """Up to which number the answers of models are kept, and up to which it was told so."""
        self.ended_at: float | None = None
        """When Dask said that it has ended."""


class Dispatch:
    """Gives the units of one run to workers, and takes their results."""

    def __init__(
        self,
        run: Run,
        repetition: Repetition,
        connection: Connection,
        preflight: Preflight,
        found: WorkerCheck,
        job: Job,
    ) -> None:
        """`found` are the workers at the start; `job` is what all jobs of the run have in common."""
        self._plan, self._stop, self._services = run.plan, run.stop, run.services
        self._repetition, self._send = repetition, repetition.send
        self._connection, self._preflight, self._found, self._job = connection, preflight, found, job
        self._address = connection.address
        self._workers = dict(found.usable)
        self._running: dict[str, RunningUnit] = {}
        self._without_workers: float | None = None
        self._said: set[str] = set()
        self._idle_ends = 0
        self._bounds = SharedLimits(
            lambda attempt, number: self._tell(attempt, Instruction(let=number)), connection.loop
        )
        self._answers = StoredAnswers(run.services, run.application.root)
        self._passes = RetryPasses(run.options.retry_errors, self._send, run.stop)
        self._ledger = Ledger(self._plan, repetition, self._passes, self._answers)

    def run(self) -> int:
        """See `Remote.run`."""
        plan, rounds = self._plan, self._repetition.rounds
        self._connection.listen(self._job.topic)
        there = self._connection.workers()  # some may have left, or come, since they were looked at
        self._workers = {address: one for address, one in self._workers.items() if address in there}
        if there.keys() - self._workers.keys():
            self._take_come()
        for warning in self._found.warnings:
            self._warn(warning)
        if rounds is not None:
            rounds.begin()
        try:
            self._run_round(plan, plan.modules, rounds.made if rounds is not None else None)
            while rounds is not None and not self._is_over and rounds.goes_on():
                self._run_round(plan, (), rounds.made)
        finally:
            self._give_up()
            self._ledger.give_up_postponed()
            for suite in plan.suites:
                self._repetition.cut(suite.id)
        self._ledger.end_sources()
        return sum(module.id not in self._ledger.listed for module in plan.modules)

    @property
    def _is_over(self) -> bool:
        return bool(self._stop.reason) or self._repetition.has_failed_enough

    def _run_round(self, plan: RunPlan, modules: tuple[TestModule, ...], round: int | None) -> None:
        """Runs some modules, and all cases or one run of each, and again what broke."""
        self._passes.number = 1  # each round has its own
        self._queue = WorkQueue(plan, modules, self._ledger.begin_source, round)
        self._go_on()
        while self._passes.wait():
            for work in self._ledger.begin_pass():
                self._queue.give_back(work)
            self._go_on()

    def _go_on(self) -> None:
        """Runs what there is, until it has ended or the run stops."""
        while not self._repetition.has_failed_enough:
            if self._connection.is_lost:
                raise gone(self._address)
            waits = False
            if self._stop.reason is not None:
                self._wind_up()
            elif self._workers:
                self._hand_out()
            else:
                waits = self._waits_for_workers()
            if not self._running and not waits:
                return
            self._listen()
            self._see_to_late()

    def _hand_out(self) -> None:
        """Gives units to workers that have room."""
        self._without_workers = None
        places = sum(worker.threads for worker in self._workers.values())
        most = self._passes.at_a_time(places) if self._passes.number > 1 else None
        for depth in range(1, 2 + AHEAD):  # the first ones for all before the second one for any
            for worker in list(self._workers.values()):
                room = worker.threads * min(depth, 1) + max(0, depth - 1)
                if most is not None and len(self._running) >= most:
                    return
                while sum(running.worker is worker for running in self._running.values()) < room:
                    work = self._queue.take(places)
                    if work is None:
                        return
                    self._start(work, worker)

    def _start(self, work: Work, worker: DaskWorker) -> None:
        left = self._ledger.rest(work)
        if left is None:
            return
        attempt = os.urandom(8).hex()
        running = self._running[attempt] = RunningUnit(left, worker)
        job = self._job.replace(attempt=attempt, worker=worker.id, unit=packed(self._ledger.unit(left)))
        running.future = self._connection.submit(worker_side.work, job, attempt, worker.address)

    def _waits_for_workers(self) -> bool:
        """Whether there are tests left, and no worker for them. Raises RunnerError when none has come for long."""
        work = self._queue.take(1)
        if work is None:
            return False
        self._queue.give_back(work)
        now = time.monotonic()
        if self._without_workers is None:
            self._without_workers = now
            self._warn(f"The cluster at {self._address} has lost all its workers; waiting for a new one")
        if now - self._without_workers > PATIENCE:
            raise RunnerError(
                f"The cluster at {self._address} has had no worker for {PATIENCE:.0f} s",
                "Results so far are in the report: continue a .jsonl report with --resume",
            )
        return True

    def _listen(self) -> None:
        """Takes what has come; waits a little where nothing has."""
        inbox = self._connection.inbox
        try:
            message = inbox.get(timeout=LOOK)
            while True:
                self._take(message)
                if self._repetition.has_failed_enough:
                    return
                message = inbox.get_nowait()
        except Empty:
            self._say_kept()

    def _say_kept(self) -> None:
        """Tells runner processes which answers are kept."""
        for attempt, running in self._running.items():
            if running.told < running.kept:
                running.told = running.kept
                self._tell(attempt, Instruction(kept=running.kept))

    def _take(self, message: tuple[Any, ...]) -> None:
        kind = message[0]
        if kind == "events":
            self._take_events(message[1])
        elif kind == "gone":
            self._take_gone(message[1])
        elif kind == "come":
            self._take_come()
        elif kind == "untold":
            if message[1] in self._running and not self._connection.is_lost:
                self._lose(message[1], "it could not be sent further instructions")
        elif (running := self._running.get(message[1])) is not None:
            if self._connection.is_lost:
                return
            running.ended_at = running.ended_at or time.monotonic()

    def _take_events(self, message: dict[str, Any]) -> None:
        attempt = message["attempt"]
        running = self._running.get(attempt)
        if running is None:  # of an attempt that was given up
            return
        if message["number"] != running.number:
            self._lose(attempt, "some of its messages were lost")
            return
        running.number, running.begun = running.number + 1, running.begun or time.monotonic()
        for one in message["messages"]:
            kind = one[:1]
            if kind == EVENT:
                for said in unpacked(one[1:]):
                    self._take_said(attempt, running, said)
                    if self._repetition.has_failed_enough:
                        return
            elif kind == FAILED:
                text, hint = unpacked(one[1:])
                raise RunnerError(f"Cannot run on the worker {running.worker.address}: {text}", hint)
        if message["end"] == "done":
            self._end(attempt)
        elif message["end"]:
            self._lose(attempt, "the process that ran its tests died")

    def _take_said(self, attempt: str, running: RunningUnit, said: Any) -> None:
        if isinstance(said, RunnerMessage):
            self._take_heard(attempt, running, said)
        elif isinstance(said, HookOutput):
            self._send(said)
        elif isinstance(said, Warned):
            self._warn(said.message)
        elif isinstance(said, RunError):
            if said.message not in self._said:
                self._said.add(said.message)
                self._send(said)
        elif not isinstance(said, SuiteEnd):
            if isinstance(said, TestStart):
                running.under_way[said.place.of_test] = said.name
            elif isinstance(said, TestEnd):
                running.under_way.pop(said.result.place.of_test, None)
                if said.result.cut_short and self._stop.reason is None:
                    return
            self._ledger.take(said, running.work)

    def _take_heard(self, attempt: str, running: RunningUnit, heard: RunnerMessage) -> None:
        if heard.usage is not None and self._services.usage is not None:
            self._services.usage.spend(*heard.usage)
        if heard.answer is not None:
            running.kept, line = heard.answer
            self._answers.add(line)
        if heard.file is not None and self._services.recording is not None:
            write_recording(self._services.recording.folder, *heard.file)
        if heard.call is not None:
            self._bounds.take(attempt, heard.call)

    def _take_gone(self, address: str) -> None:
        """Gives up the work of a worker that was lost."""
        self._workers.pop(address, None)
        for attempt in [key for key, running in self._running.items() if running.worker.address == address]:
            self._lose(attempt, "it is gone")

    def _take_come(self) -> None:
        """Takes in workers that are new, if they can run the tests."""
        if self._stop.reason is not None:
            return
        workers = self._connection.workers()
        new = {address: threads for address, threads in workers.items() if address not in self._workers}
        try:
            found = self._preflight.look(new)
        except ConfigurationError as error:
            self._warn(f"A new worker of the cluster gets no tests: {error.message}")
            return
        self._workers |= found.usable
        for problem in found.problems.values():
            self._warn(f"A new worker of the cluster gets no tests: {problem}")
        for warning in found.warnings:
            self._warn(warning)
        for wall, why in found.missing_walls.items():
            if wall not in self._found.missing_walls:
                self._warn(f"A new worker of the cluster lacks a sandbox wall ({wall}: {why})")

    def _end(self, attempt: str) -> None:
        running = self._running.pop(attempt)
        self._bounds.give_up(attempt)
        if self._stop.reason is not None:
            return
        assert running.begun is not None
        self._queue.ended(running.work, time.monotonic() - running.begun)
        rest = self._ledger.rest(running.work)
        if rest is not None:
            self._idle_ends += 1
            if self._idle_ends > DOING_NOTHING:
                raise RunnerError(
                    f"The worker {running.worker.address} ends tests without a result",
                    "Run them without --cluster to find out why",
                )
            self._queue.give_back(rest)

    def _lose(self, attempt: str, why: str) -> None:
        """Gives the rest of a work unit to other workers."""
        running = self._running.pop(attempt)
        self._bounds.give_up(attempt)
        self._connection.cancel([running.future])
        if self._stop.reason is not None:
            return
        self._ledger.lose(running.under_way)
        rest = self._ledger.rest(running.work)
        if rest is not None:
            self._queue.give_back(rest)
            if running.begun:
                self._warn(f"The worker {running.worker.address} was lost ({why}): its tests run elsewhere")

    def _see_to_late(self) -> None:
        """Gives up units that have ended by Dask's report, but have not sent their end."""
        now = time.monotonic()
        for attempt, running in list(self._running.items()):
            if running.ended_at is not None and now - running.ended_at > LATE:
                self._lose(attempt, "its last messages did not arrive")

    def _wind_up(self) -> None:
        """Tells workers that the run has to stop, and gives up what has not begun; when the time is up, everything."""
        left = self._stop.left() or 0.0
        waiting = [attempt for attempt, running in self._running.items() if not running.begun]
        self._connection.cancel([self._running.pop(attempt).future for attempt in waiting])
        seconds = max(0.0, left - MARGIN)
        for attempt, running in self._running.items():
            if running.stopped_at is None or (seconds < running.stopped_at - MARGIN and not seconds):
                running.stopped_at = seconds
                self._tell(attempt, Instruction(stop=(self._stop.reason or "", seconds, self._stop.closes_models)))
        if self._stop.over:
            self._give_up()

    def _give_up(self) -> None:
        """Ends all running work."""
        given_up, self._running = self._running, {}
        for attempt in given_up:
            self._bounds.give_up(attempt)
        with suppress(RunnerError):
            self._connection.cancel([one.future for one in given_up.values()])

    def _tell(self, attempt: str, told: Instruction) -> None:
        running = self._running.get(attempt)
        if running is not None:
            message = TELL + packed(told)
            self._connection.tell(worker_side.tell, attempt, message, attempt=attempt, worker=running.worker.address)

    def _warn(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self._send(Warned(message=message))
