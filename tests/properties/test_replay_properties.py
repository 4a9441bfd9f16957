"""A run that is saved and shown again gives the bytes that the run gave, whatever its results are."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from made_up import json_values, texts

from runner.assertions.base import AssertionResult, ToolUse
from runner.environment import Environment
from runner.execution.repetition import Repetition
from runner.options.options import RunOptions
from runner.record import events, model
from runner.record.case_result import (
    CaseResult,
    CheckpointResult,
    CriterionResult,
    ScoreResult,
    TrialResult,
    TurnResult,
)
from runner.record.events import InterimLooks, RunEnd, RunError, RunStart, SuiteEnd, SuiteStart, Warned
from runner.record.fold import Execution
from runner.record.lines import line_of, result_of
from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite
from runner.record.report import events_of
from runner.record.saved import load
from runner.reporters import maker_for_file
from runner.reporters.console.console import ConsoleReporter
from runner.reporters.stream import Multiplexer, Ordered
from runner.security.secrets import Secrets
from scripttest import Failure, Location, LogLine, Outcome, ResultWarning, StackFrame
from scripttest.values import fields_of

FORMATS = ("jsonl", "json", "md", "html", "xml", "ctrf.json", "txt")
SCRIPTS = Suite(
    id="scripts.demo.a", kind=SCRIPT_TEST, label="demo/src/a_test.ts", file="/app/demo/src/a_test.ts", agent="demo"
)
CASES = Suite(id="b.jsonl", kind=AGENT_TEST, label="b.jsonl", file="/app/b.jsonl", agent="demo", multi_turn=True)
ENVIRONMENT = {"user_id": "u", "team_id": "t", "locale": "en"}

words = texts.filter(lambda text: "/app" not in text)
maybe = st.none() | words.filter(bool)
numbers = st.integers(1, 9)
whole = st.integers(0, 100_000)
shares = st.none() | st.floats(0, 1)
weights = st.floats(0, 9)
values = json_values(leaves=3)
statuses = st.sampled_from(["passed", "failed", "skipped"])


def some(strategy: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=most).map(tuple)


places = st.builds(
    Location, file=st.sampled_from(["/app/x.ts", "/elsewhere/y.ts"]), line=numbers, column=numbers, length=numbers
)
frames = some(st.builds(StackFrame, function=st.sampled_from(["", "TestX", "a (b)"]), location=places))
causes = st.sampled_from(["assertion", "error", "timeout", "crash", "setup", "infrastructure", "pending"])
failures = st.builds(
    Failure,
    cause=causes,
    message=words,
    type=st.none() | st.sampled_from(["Equal", "contains"]),
    reason=maybe,
    expected=values,
    actual=values,
    expected_text=maybe,
    actual_text=maybe,
    diff=maybe,
    phase=st.none() | st.sampled_from(["BeforeEach", "after 3 ms", "subtest", "turn 2"]),
    frames=frames,
    code_frame=words,
    details=words,
)
warnings = st.builds(ResultWarning, kind=words, message=words, frames=frames, code_frame=words, details=words)
levels = st.sampled_from(["info", "trace", "debug", "warn", "error"])
logs = some(st.builds(LogLine, level=levels, text=words | st.just("[warn] x")))
tools = st.builds(ToolUse, name=words, server=words, arguments=values, result=values) | st.builds(
    ToolUse, name=words, server=words, arguments=values, error=words.filter(bool)
)
assertions = st.builds(
    AssertionResult,
    type=st.sampled_from(["contains", "equals", "json_path"]),
    passed=st.booleans(),
    expected=values,
    actual=values,
    message=words,
    error=st.booleans(),
    score=shares,
    path=maybe,
    name=maybe,
    infrastructure=st.booleans(),
    judged=st.booleans(),
)
turns = st.builds(
    TurnResult,
    turn=numbers,
    input=values,
    source=st.sampled_from(["", "static", "initial", "simulated", "human"]),
    status=statuses,
    output=values.filter(lambda value: value != ""),
    response=words,
    awaiting_input=st.booleans(),
    awaiting_reason=words,
    input_hint=maybe,
    assertions=some(assertions),
    tools=some(tools),
    milliseconds=whole,
    error=maybe,
    skip_reason=maybe,
    note=maybe,
    question=maybe,
)
checkpoints = st.builds(
    CheckpointResult,
    id=words,
    description=maybe,
    required=st.booleans(),
    reached_at_turn=st.none() | numbers,
    message=words,
    judged=st.booleans(),
    not_judged=st.integers(0, 2),
)
criteria = st.builds(
    CriterionResult,
    text=words,
    passed=st.booleans(),
    score=shares,
    weight=weights,
    required=st.booleans(),
    reason=words,
    error=st.booleans(),
    id=maybe,
    infrastructure=st.booleans(),
    not_judged=st.integers(0, 2),
) | st.builds(CriterionResult, text=words, passed=st.just(True), score=st.none(), judged=st.just(False))
scores = st.builds(
    ScoreResult,
    name=st.sampled_from(["turn-1", "assertions"]),
    type=words,
    score=shares,
    verdict=st.sampled_from(["pass", "fail", "skip"]),
    assertions=some(criteria),
)
trials = st.builds(
    TrialResult, trial=numbers, score=shares, status=statuses, milliseconds=whole, error=maybe
)  # fmt: skip


@st.composite
def cases(draw: Callable[[st.SearchStrategy[Any]], Any]) -> CaseResult:
    mode = draw(st.sampled_from(["standard", "multi_turn", "dynamic", "conversation"]))
    more: dict[str, Any] = {"output": draw(values)}
    if mode == "standard":
        more["assertions"] = draw(some(assertions))
    else:
        more |= {
            "simulator": draw(maybe),
            "turns": draw(some(turns)),
            "final_assertions": draw(st.none() | some(assertions)),
        }
    if mode == "dynamic":
        more["checkpoints"] = draw(some(checkpoints))
    if mode == "conversation":
        said = st.fixed_dictionaries({"role": st.just("user"), "content": words})
        more |= {"score": draw(shares), "scores": draw(some(scores)), "threshold": draw(shares)}
        more |= {"trials": draw(some(trials)), "transcript": draw(some(said))}
    if draw(st.booleans()):
        more |= {"model_calls": draw(numbers), "input_tokens": draw(whole), "output_tokens": draw(whole)}
        more["cost"] = draw(st.none() | st.just(0.25))
    return CaseResult(
        title=draw(maybe),
        input=draw(values),
        response=draw(words),
        expected=draw(values),
        messages=draw(numbers),
        tools=draw(some(tools)),
        connector=draw(words),
        line=draw(st.integers(0, 3)),
        tags=draw(some(words)),
        metadata=draw(st.none() | st.dictionaries(words, values, min_size=1, max_size=2)),
        mode=mode,
        in_turns=mode != "standard",
        scores_turns=mode == "conversation",
        **more,
    )


@st.composite
def outcomes(draw: Callable[[st.SearchStrategy[Any]], Any], name: str, steps: int = 0) -> Outcome:
    status = draw(statuses)
    return Outcome(
        name=name,
        status=status,
        milliseconds=draw(whole),
        failures=tuple(draw(st.lists(failures, min_size=1, max_size=2))) if status == "failed" else (),
        assertions=draw(st.integers(0, 3)),
        skip_reason=draw(words.filter(bool)) if status == "skipped" else None,
        steps=tuple(draw(outcomes(f"{name}/{step}", steps - 1)) for step in range(draw(st.integers(0, steps)))),
        not_judged=draw(st.integers(0, 2)),
    )


@st.composite
def results(draw: Callable[[st.SearchStrategy[Any]], Any], suite: Suite, position: int) -> model.TestResult:
    is_case = suite is CASES
    name = f"C{position}" if is_case else f"Test{position}"
    outcome = draw(outcomes(name, 0 if is_case else 2))
    return model.TestResult(
        suite=suite.id,
        name=name,
        position=position,
        outcome=outcome.replace(warnings=draw(some(warnings))),
        logs=draw(logs),
        case=draw(cases()) if is_case else None,
    )


@st.composite
def runs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[tuple[Suite, ...], list[model.TestResult], int]:
    """Suites, the results of every run of their tests, and how often each test ran."""
    suites = draw(st.sampled_from([(SCRIPTS,), (CASES,), (SCRIPTS, CASES)]))
    count = draw(st.sampled_from([1, 1, 2]))
    found = []
    for suite in suites:
        for position in range(draw(st.integers(0, 2))):
            for run in range(1, count + 1):
                found.append(draw(results(suite, position)).replace(run=run if count > 1 else 0))
    return suites, found, count


def console_of(options: RunOptions, out: io.StringIO) -> ConsoleReporter:
    environment = Environment(directory=Path("/app"), variables={}, stdout=out, stderr=out, cpus=1, secrets=Secrets())
    return ConsoleReporter(options, environment, lambda text: print(text, end="", file=out))


OPTIONS = ({}, {"verbose": 1}, {"quiet": True})
"""Flags of the console."""


@given(outcomes("x", 2), some(warnings), logs)
def test_a_script_result_is_read_as_it_was_written(
    outcome: Outcome, warned: tuple[ResultWarning, ...], lines: tuple[LogLine, ...]
) -> None:
    outcome = outcome.replace(warnings=warned)
    result = model.TestResult(suite=SCRIPTS.id, name="x", position=0, outcome=outcome, logs=lines)
    assert result_of(line_of(result, SCRIPTS), suite=SCRIPTS.id, position=0) == result


@given(results(CASES, 3))
def test_a_case_result_is_read_as_it_was_written(result: model.TestResult) -> None:
    found = result_of(line_of(result, CASES), suite=CASES.id, position=3)
    assert found.case is not None and result.case is not None
    assert fields_of(found.case) == fields_of(result.case)
    assert found == result


@given(
    runs(),
    maybe,
    st.sampled_from([None, "interrupted"]),
    st.sampled_from([InterimLooks(), InterimLooks(made=2, planned=4)]),
)
def test_a_saved_run_gives_the_bytes_of_the_run(
    run: tuple[tuple[Suite, ...], list[model.TestResult], int],
    problem: str | None,
    stopped: str | None,
    looks: InterimLooks,
) -> None:
    suites, found, count = run
    with tempfile.TemporaryDirectory() as folder:
        live = Path(folder) / "live"
        again = Path(folder) / "again"
        live.mkdir()
        again.mkdir()
        said = [io.StringIO() for _ in OPTIONS]
        consoles = [
            Ordered(console_of(RunOptions(inputs=(), runs=count, **more), out))
            for more, out in zip(OPTIONS, said, strict=True)
        ]
        stream = Multiplexer([*consoles, *(maker_for_file(live / f"r.{end}")() for end in FORMATS)])
        rooted = tuple(suite.replace(root="/app") for suite in suites)
        stream.send(
            RunStart(started_at="2026-01-01T00:00:00Z", version="1", suites=rooted, environment=ENVIRONMENT, runs=count)
        )
        stream.send(Warned(message="odd"))
        repetition = Repetition(stream.send, RunOptions(inputs=(), runs=count))
        for suite in suites:
            own = [result for result in found if result.suite == suite.id]
            tests = len({result.position for result in own})
            stream.send(SuiteStart(suite=suite.id, selected=tests, total=tests + bool(problem)))
            for result in own:
                stream.send(
                    events.TestStart(suite=suite.id, name=result.name, position=result.position, run=result.run)
                )
                repetition.end(result)
            stream.send(SuiteEnd(suite=suite.id))
        if problem:
            stream.send(RunError(message=problem, hint="Do better"))
        status = (
            "interrupted" if stopped else "error" if problem else "failed" if stream.execution.counts.bad else "passed"
        )
        stream.send(
            RunEnd(
                status=status,
                seconds=1.2346,
                completed_at="2026-01-01T00:00:02Z",
                stopped=stopped,
                not_run=3,
                looks=looks,
            )
        )
        stream.close()

        report = load(live / "r.jsonl").replace(root="/app")
        for end in FORMATS:
            reporter = maker_for_file(again / f"r.{end}")()
            reporter.write(report)
            reporter.close()
            assert (again / f"r.{end}").read_bytes() == (live / f"r.{end}").read_bytes(), end
        for more, out in zip(OPTIONS, said, strict=True):
            shown = io.StringIO()
            console, so_far = console_of(RunOptions(inputs=(), runs=count, **more), shown), Execution()
            for event in events_of(report):
                so_far.add(event)
                console.on_event(event, so_far)
            assert shown.getvalue() == out.getvalue(), more
            assert so_far.end is not None
            assert so_far.end.looks == looks
