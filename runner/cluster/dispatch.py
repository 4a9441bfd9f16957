"""One run on a cluster: hands out pieces, takes their results, and deals with workers that join and are lost."""

from __future__ import annotations

import os
import time
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

from runner.cluster import station_work
from runner.cluster.connection import Connection, Station, gone
from runner.cluster.feed import Feed
from runner.cluster.flight import Flight
from runner.cluster.frames import EVENT, FAILED, TELL, frame, packed, unpacked
from runner.cluster.ledger import Again, Ledger, part_with
from runner.cluster.pieces import Heard, Job, Piece, Told
from runner.cluster.preflight import Found, Preflight
from runner.cluster.recordings import write_recording
from runner.cluster.shared_bounds import KeptBounds
from runner.errors import ConfigurationError, RunnerError
from runner.execution.repetition import Passes, at_a_time
from runner.results.events import AttemptEnd, HookOutput, RunError, SuiteEnd, TestEnd, TestStart, Warned

if TYPE_CHECKING:
    from runner.application.application import TestModule
    from runner.cluster.answers import StoredAnswers
    from runner.execution.observing import PlanRun
    from runner.options.values import ClusterAddress
    from runner.planning.plan import RunPlan

AHEAD = 1
"""Pieces that wait on a worker, in addition to the running one."""
LOOK = 0.05
"""Seconds between looks whether the run is to stop."""
MARGIN = 0.4
"""Seconds by which workers are told to end before the time of the run is up: what they say is under way for so long."""
PATIENCE = 30.0
"""Seconds without any worker after which a run ends."""
LATE = 5.0
"""Seconds in which the last events of a piece have to come after Dask says that it has ended."""
DOING_NOTHING = 3
"""Times that a piece may end without a result for its tests."""


class Dispatch:
    """Gives the pieces of one run to workers, and takes their results."""

    def __init__(
        self,
        connection: Connection,
        address: ClusterAddress,
        run: str,
        application: str,
        setup: bytes,
        found: Found,
        preflight: Preflight,
        recordings: Path | None,
    ) -> None:
        """`run` is an id of the run; `application` is as in a `Job`; `found` are the workers at the start;
        `recordings` is where what workers record is written."""
        self._connection, self._address, self._run = connection, address, run
        self._application, self._setup = application, setup
        self._found, self._preflight, self._recordings = found, preflight, recordings
        self._stations = dict(found.stations)
        self._flights: dict[str, Flight] = {}
        self._without_stations: float | None = None
        self._said: set[str] = set()
        self._idle_ends = 0
        self._bounds = KeptBounds(lambda attempt, number: self._tell(attempt, Told(let=number)))

    def run(self, run: PlanRun, answers: StoredAnswers) -> int:
        """See `Remote.run`; `answers` are those of models in tests that are under way."""
        plan, rounds = run.plan, run.rounds
        self._send, self._stop, self._services = run.send, run.stop, run.services
        self._repetition, self._limit = run.repetition, plan.options.failure_limit
        self._answers = answers
        self._passes: Passes[Again] = Passes(plan.options.retry_errors, run.send, run.stop)
        self._ledger = Ledger(run.send, run.repetition, self._passes, answers)
        self._connection.listen(f"yao-test-{self._run}")
        there = self._connection.workers()  # some may have left, or come, since they were looked at
        self._stations = {address: one for address, one in self._stations.items() if address in there}
        if there.keys() - self._stations.keys():
            self._take_come()
        for warning in self._found.warnings:
            self._warn(warning)
        if rounds is not None:
            rounds.begin()
        try:
            self._run_round(plan, plan.modules, rounds.made if rounds is not None else None)
            while rounds is not None and not run.stop.reason and not self._has_failed_enough and rounds.goes_on():
                self._run_round(plan, (), rounds.made)
        finally:
            self._give_up()
            self._ledger.give_up_held()
            for suite in plan.suites:
                run.repetition.cut(suite.id)
            if self._ledger.repeated:
                self._warn(_repeated(self._ledger.repeated))
        self._ledger.end_sources()
        return sum(module.id not in self._ledger.listed for module in plan.modules)

    def _run_round(self, plan: RunPlan, modules: tuple[TestModule, ...], round: int | None) -> None:
        """Runs some modules, and all cases or one run of each, and again what broke."""
        self._feed = Feed(plan, modules, self._ledger.begin_source, round)
        self._go_on()
        while self._passes.goes_on():
            for pause in self._passes.pauses():
                time.sleep(pause)
            if self._passes.goes_on():
                for piece in self._ledger.begin_pass():
                    self._feed.give_back(piece)
                self._go_on()

    @property
    def _has_failed_enough(self) -> bool:
        return self._limit is not None and self._repetition.failures >= self._limit

    def _go_on(self) -> None:
        """Runs what there is, until it has ended or the run stops."""
        while not self._has_failed_enough:
            if self._connection.is_lost:
                raise gone(self._address)
            waits = False
            if self._stop.reason is not None:
                self._wind_up()
            elif self._stations:
                self._hand_out()
            else:
                waits = self._waits_for_stations()
            if not self._flights and not waits:
                return
            self._listen()
            self._see_to_late()

    def _hand_out(self) -> None:
        """Gives pieces to workers that have room."""
        self._without_stations = None
        places = sum(station.threads for station in self._stations.values())
        most = at_a_time(places, self._passes.number) if self._passes.number > 1 else None
        for depth in range(1, 2 + AHEAD):  # the first ones for all before the second one for any
            for station in list(self._stations.values()):
                room = station.threads * min(depth, 1) + max(0, depth - 1)
                if most is not None and len(self._flights) >= most:
                    return
                while sum(flight.station is station for flight in self._flights.values()) < room:
                    piece = self._feed.take(places)
                    if piece is None:
                        return
                    self._start(piece, station)

    def _start(self, piece: Piece, station: Station) -> None:
        whole = self._ledger.rest(piece)
        if whole is None:
            return
        attempt = os.urandom(8).hex()
        flight = self._flights[attempt] = Flight(whole, station)
        job = Job(
            run=self._run,
            attempt=attempt,
            worker=station.id,
            application=self._application,
            setup=self._setup,
            piece=packed(whole),
            topic=f"yao-test-{self._run}",
        )
        flight.future = self._connection.submit(station_work.work, job, attempt, station.address)

    def _waits_for_stations(self) -> bool:
        """Whether there are tests left, and no worker for them. Raises RunnerError when none has come for long."""
        piece = self._feed.take(1)
        if piece is None:
            return False
        self._feed.give_back(piece)
        now = time.monotonic()
        if self._without_stations is None:
            self._without_stations = now
            self._warn(f"The cluster at {self._address} has no worker any more; the run waits for one")
        if now - self._without_stations > PATIENCE:
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
                if self._has_failed_enough:
                    return
                message = inbox.get_nowait()
        except Empty:
            self._say_kept()

    def _say_kept(self) -> None:
        """Tells runner processes which answers are kept."""
        for attempt, flight in self._flights.items():
            if flight.told < flight.kept:
                flight.told = flight.kept
                self._tell(attempt, Told(kept=flight.kept))

    def _take(self, message: tuple[Any, ...]) -> None:
        kind = message[0]
        if kind == "events":
            self._take_events(message[1])
        elif kind == "gone":
            self._take_gone(message[1])
        elif kind == "come":
            self._take_come()
        elif kind == "untold":
            if message[1] in self._flights and not self._connection.is_lost:
                self._lose(message[1], "it could not be sent further instructions")
        elif (flight := self._flights.get(message[1])) is not None:
            if self._connection.is_lost:
                return
            flight.ended_at = flight.ended_at or time.monotonic()

    def _take_events(self, message: dict[str, Any]) -> None:
        attempt = message["attempt"]
        flight = self._flights.get(attempt)
        if flight is None:  # of an attempt that was given up
            return
        if message["number"] != flight.number:
            self._lose(attempt, "some of its messages were lost")
            return
        flight.number, flight.begun = flight.number + 1, flight.begun or time.monotonic()
        for kind, payload in flight.buffer.take(message["data"]):
            if kind == EVENT:
                for said in unpacked(payload):
                    self._take_said(attempt, flight, said)
                    if self._has_failed_enough:
                        return
            elif kind == FAILED:
                text, hint = unpacked(payload)
                raise RunnerError(f"Cannot run on the worker {flight.station.address}: {text}", hint)
        if message["end"] == "done":
            self._end(attempt)
        elif message["end"]:
            self._lose(attempt, "the process that ran its tests died")

    def _take_said(self, attempt: str, flight: Flight, said: Any) -> None:
        if isinstance(said, Heard):
            self._take_heard(attempt, flight, said)
        elif isinstance(said, HookOutput):
            self._send(said)
        elif isinstance(said, Warned):
            self._warn(said.message)
        elif isinstance(said, RunError):
            if said.message not in self._said:
                self._said.add(said.message)
                self._send(said)
        elif not isinstance(said, SuiteEnd):
            result = said.result if isinstance(said, TestEnd | AttemptEnd) else None
            suite = result.suite if result is not None else said.suite
            if isinstance(said, TestStart):
                flight.under_way[said.place.of_test] = said.name
            elif isinstance(said, TestEnd) and result is not None:
                if flight.under_way:
                    flight.under_way.pop(result.place.of_test, None)
                if result.cut_short and self._stop.reason is None:
                    return
            self._ledger.take(said, part_with(flight.piece, suite))

    def _take_heard(self, attempt: str, flight: Flight, heard: Heard) -> None:
        if heard.usage is not None and self._services.usage is not None:
            self._services.usage.spend(*heard.usage)
        if heard.answer is not None:
            flight.kept, line = heard.answer
            self._answers.add(line)
        if heard.file is not None and self._recordings is not None:
            write_recording(self._recordings, *heard.file)
        if heard.call is not None:
            self._bounds.take(attempt, heard.call)

    def _take_gone(self, address: str) -> None:
        """Gives up the work of a worker that was lost."""
        self._stations.pop(address, None)
        for attempt in [key for key, flight in self._flights.items() if flight.station.address == address]:
            self._lose(attempt, "it is gone")

    def _take_come(self) -> None:
        """Takes in workers that are new, if they can run the tests."""
        if self._stop.reason is not None:
            return
        workers = self._connection.workers()
        new = {address: threads for address, threads in workers.items() if address not in self._stations}
        try:
            found = self._preflight.look(new)
        except ConfigurationError as error:
            self._warn(f"A new worker of the cluster gets no tests: {error.message}")
            return
        self._stations |= found.stations
        for problem in found.problems.values():
            self._warn(f"A new worker of the cluster gets no tests: {problem}")
        for warning in found.warnings:
            self._warn(warning)
        for wall, why in found.missing_walls.items():
            if wall not in self._found.missing_walls:
                self._warn(f"A new worker of the cluster lacks a wall around scripts ({wall}: {why})")

    def _end(self, attempt: str) -> None:
        flight = self._flights.pop(attempt)
        self._bounds.give_up(attempt)
        if self._stop.reason is not None:
            return
        assert flight.begun is not None
        self._feed.ended(flight.piece, time.monotonic() - flight.begun)
        rest = self._ledger.rest(flight.piece)
        if rest is not None:
            self._idle_ends += 1
            if self._idle_ends > DOING_NOTHING:
                raise RunnerError(
                    f"The worker {flight.station.address} ends tests without a result",
                    "Run them without --cluster to see why",
                )
            self._feed.give_back(rest)

    def _lose(self, attempt: str, why: str) -> None:
        """Gives the rest of a piece to other workers."""
        flight = self._flights.pop(attempt)
        self._bounds.give_up(attempt)
        self._connection.cancel([flight.future])
        if self._stop.reason is not None:
            return
        self._ledger.lose(flight.piece, flight.under_way)
        rest = self._ledger.rest(flight.piece)
        if rest is not None:
            self._feed.give_back(rest)
            if flight.begun:
                self._warn(f"The worker {flight.station.address} was lost ({why}): its tests run elsewhere")

    def _see_to_late(self) -> None:
        """Gives up pieces that have ended by Dask's report, but have not sent their end."""
        now = time.monotonic()
        for attempt, flight in list(self._flights.items()):
            if flight.ended_at is not None and now - flight.ended_at > LATE:
                self._lose(attempt, "its last messages did not come")

    def _wind_up(self) -> None:
        """Tells workers that the run has to stop, and gives up what has not begun; when the time is up, everything."""
        left = self._stop.left() or 0.0
        waiting = [attempt for attempt, flight in self._flights.items() if not flight.begun]
        self._connection.cancel([self._flights.pop(attempt).future for attempt in waiting])
        seconds = max(0.0, left - MARGIN)
        for attempt, flight in self._flights.items():
            if flight.stopped_at is None or (seconds < flight.stopped_at - MARGIN and not seconds):
                flight.stopped_at = seconds
                self._tell(attempt, Told(stop=(self._stop.reason or "", seconds, self._stop.closes_models)))
        if self._stop.over:
            self._give_up()

    def _give_up(self) -> None:
        """Ends all running work."""
        flights, self._flights = self._flights, {}
        for attempt in flights:
            self._bounds.give_up(attempt)
        self._bounds.close()
        if self._connection.is_lost:
            return
        try:
            self._connection.cancel([flight.future for flight in flights.values()])
        except RunnerError:
            return

    def _tell(self, attempt: str, told: Told) -> None:
        flight = self._flights.get(attempt)
        if flight is not None:
            message = frame(TELL, packed(told))
            self._connection.tell(station_work.tell, attempt, message, attempt=attempt, station=flight.station.address)

    def _warn(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self._send(Warned(message=message))


def _repeated(number: int) -> str:
    """The message about results that arrived twice."""
    what = "1 result was" if number == 1 else f"{number} results were"
    return f"{what} made again after a worker was lost, and counted once"
