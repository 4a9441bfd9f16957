"""What the stream of a recorded run does about recordings when cases and the run end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from connector_bench import Bench, asks

from runner.answers.recording import Mode, Recording, check_folder
from runner.connectors.base import ConnectorError, Origin
from runner.connectors.load import Connectors
from runner.execution.listeners import RecordedStream
from runner.record import events, model
from runner.record.events import Event, RunEnd, RunError, RunStart, SuiteStart, Warned
from runner.record.fold import Execution
from runner.record.model import AGENT_TEST, Suite
from runner.security.secrets import Secrets
from scripttest import Failure, Outcome, Status

SUITE = Suite(id="suite", kind=AGENT_TEST, label="suite", file="", agent="demo")


class Heard:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event, so_far: Execution) -> None:
        self.events.append(event)

    def close(self) -> None:
        """Nothing to close."""


class Run:
    """One run with one suite."""

    def __init__(self, bench: Bench, mode: Mode) -> None:
        self.bench = bench
        bench.write()
        self.folder = bench.root / "rec"
        check_folder("rec", self.folder, mode)
        self.recording = Recording(self.folder, "rec", mode, bench.root)
        self.heard = Heard()
        self.stream = RecordedStream([self.heard], Secrets(), self.recording, True)
        self.stream.send(RunStart(started_at="", version="", suites=(SUITE,), environment={}))
        self.stream.send(SuiteStart(suite="suite", selected=1, total=1))

    def ask(self, text: str) -> None:
        async def work(connectors: Connectors) -> None:
            await self.recording.complete(Origin(suite="suite", case="case"), "test", asks(text), connectors)

        self.bench.run(work)

    def case(self, status: str = "passed", begins: bool = True, failures: tuple[Failure, ...] = ()) -> model.TestResult:
        if begins:
            self.stream.send(events.TestStart(suite="suite", name="case", position=0))
        outcome = Outcome(name="case", status=status, milliseconds=0, failures=failures)  # type: ignore[arg-type]
        result = self.stream.checked(model.TestResult(suite="suite", name="case", position=0, outcome=outcome))
        self.stream.send(events.TestEnd(result=result))
        return result

    def end(self) -> list[Event]:
        """The events at the end of the run."""
        self.stream.send(RunEnd(status="passed", seconds=0, completed_at=""))
        self.stream.close()
        return [event for event in self.heard.events if isinstance(event, Warned | RunError | RunEnd)]


MakeRun = Callable[[Mode], Run]


@pytest.fixture
def start(bench: Bench) -> MakeRun:
    return lambda mode: Run(bench, mode)


def recorded(start: MakeRun) -> Path:
    run = start("record")
    run.ask("hi")
    run.case()
    assert run.end() == [RunEnd(status="passed", seconds=0, completed_at="")]
    return run.folder / "suite/case.json"


def test_a_case_that_was_taken_over_from_an_earlier_run_keeps_its_recording(start: MakeRun) -> None:
    path = recorded(start)
    content = path.read_text()
    for mode in ("record", "replay", "missing"):
        run = start(mode)
        run.case(begins=False)

        assert run.end() == [RunEnd(status="passed", seconds=0, completed_at="")]
        assert path.read_text() == content


@pytest.mark.parametrize("mode", ["record", "missing"])
def test_a_case_that_was_cut_short_keeps_its_recording(start: MakeRun, mode: Mode) -> None:
    """Half of one would replay as if it were whole."""
    path = recorded(start)
    run = start(mode)
    run.stream.send(events.TestStart(suite="suite", name="case", position=0))
    run.ask("hi")
    run.ask("ho")
    outcome = Outcome(name="case", status=Status.SKIPPED, milliseconds=0)
    cut = model.TestResult(suite="suite", name="case", position=0, outcome=outcome, cut_short=True)
    run.stream.send(events.TestEnd(result=cut))
    run.end()

    asked = [call["request"]["messages"][-1]["content"] for call in json.loads(path.read_text())["calls"]]
    assert asked == (["hi"] if mode == "record" else ["hi", "ho"])


def test_a_case_that_runs_and_no_longer_asks_loses_its_recording(start: MakeRun) -> None:
    path = recorded(start)
    run = start("record")
    run.case()
    run.end()

    assert not path.exists()


@pytest.mark.parametrize("status", ["passed", "skipped"])
def test_a_miss_that_nobody_spoke_of_breaks_the_case(start: MakeRun, status: str) -> None:
    recorded(start)
    run = start("replay")
    with pytest.raises(ConnectorError) as caught:
        run.ask("ho")

    outcome = run.case(status).outcome

    assert (outcome.status, outcome.failures) == (
        "failed",
        (Failure(cause="infrastructure", message=caught.value.message),),
    )


def test_a_miss_that_the_case_tells_is_told_once(start: MakeRun) -> None:
    recorded(start)
    run = start("replay")
    with pytest.raises(ConnectorError) as caught:
        run.ask("ho")
    told = (Failure(cause="error", message=f"agent error: {caught.value.message}"),)

    assert run.case("failed", failures=told).outcome.failures == told


def test_what_was_not_used_is_said_before_the_end(start: MakeRun) -> None:
    recorded(start)
    run = start("replay")
    run.case()

    said = 'Unused recordings in rec: "case" in suite (all 1)'
    assert run.end() == [Warned(message=said), RunEnd(status="passed", seconds=0, completed_at="")]


def test_a_disk_that_takes_no_recordings_is_an_error_that_is_said_once(start: MakeRun) -> None:
    run = start("record")
    (run.folder / "suite").write_text("in the way")
    for _ in range(2):
        run.ask("hi")
        run.case()

    problem, end = run.end()

    assert isinstance(problem, RunError)
    assert problem.message.startswith("Cannot write recordings: ")
    assert end == RunEnd(status="error", seconds=0, completed_at="")
