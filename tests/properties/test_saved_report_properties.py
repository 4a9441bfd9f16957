"""Saved reports: one that was cut off at any byte, or damaged, gives what its whole lines say or is refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from agent_files import agent, case_file
from command import MakeApplication
from hypothesis import assume, given
from hypothesis import strategies as st
from made_up import json_values

from runner.application.context import build_context
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.fingerprints.fingerprints import Fingerprints
from runner.fingerprints.parts import PartDigests
from runner.options.options import RunOptions
from runner.planning.inputs import resolve_application
from runner.planning.plan import RunPlan, RunRequest
from runner.planning.planner import make_plan
from runner.planning.resume import read_saved, with_saved_options
from runner.planning.still_valid import retain
from runner.record import saved
from runner.security.secrets import Secrets

Record = dict[str, Any]
CASES = [
    {"id": "plain", "input": "a"},
    {"id": "é 😀 \u2028", "input": 'b\n\t"', "expected": "no", "metadata": {"a": [1, {"b": None}]}},
    {"id": "left out", "input": "c", "skip": "later"},
    {"id": "last", "input": "d", "assert": [{"type": "contains", "value": "d", "negate": True}]},
]
SCRIPT = """\
export function TestA(t) { t.assert.True(true); console.log("é"); }
export function TestB(t) { t.assert.Equal(1, 2); }
"""


class Report(NamedTuple):
    content: bytes
    plan: RunPlan
    fingerprints: Fingerprints
    runs: int
    all: frozenset[tuple[str, str, int]]
    """Suite, id and run of each result."""


@pytest.fixture(scope="module", params=[1, 2], ids=["one run", "two runs"])
def report(request: pytest.FixtureRequest, shared_app: MakeApplication) -> Report:
    """A report that the command wrote."""
    cases = CASES if request.param == 1 else CASES[1:2]
    app = shared_app({**agent(replies="- reply: heard", cases=cases), "some_test.ts": SCRIPT})
    path = app.home / "report.jsonl"
    app.run("-i", case_file(), "-i", "scripts.demo.some", "--runs", str(request.param), "-o", str(path))
    content = path.read_bytes()
    start, *lines = map(json.loads, content.splitlines())
    done = [key(line) for line in lines if line["type"] == "result"]
    assert len(done) == len(set(done)) >= 6, content
    options = with_saved_options(read_saved(path), RunOptions(inputs=(), resume=str(path)), app.root).replace(
        resume=None
    )
    application, context = resolve_application(options, app.root), build_context(options, app.root)
    parts = PartDigests(application, {}, start["resume"]["key"], None)
    environment = Environment(
        directory=app.root, variables={}, stdout=sys.stdout, stderr=sys.stderr, cpus=1, secrets=Secrets({})
    )
    fingerprints = Fingerprints(parts, options, context)
    asked = RunRequest(options=options, environment=environment, application=application, context=context)
    plan = make_plan(
        asked,
        agents=nobody,
        fingerprints=lambda: fingerprints,
    )
    return Report(
        content=content,
        plan=plan,
        fingerprints=fingerprints,
        runs=request.param,
        all=frozenset(done),
    )


def nobody() -> Any:
    raise AssertionError("no agent is needed to plan cases")


def key(record: Record) -> tuple[str, str, int]:
    return record["suite"], record["id"], record.get("run", 0)


def lengths(report: Report) -> list[int]:
    """The lengths around every end of a line, and every 31st one between."""
    size = len(report.content)
    ends = [at for at, byte in enumerate(report.content) if byte == 0x0A]
    around = {at + step for at in (0, *ends, size) for step in (-2, -1, 0, 1, 2, 3)}
    return sorted({at for at in around if 0 <= at <= size} | set(range(0, size, 31)))


def whole_lines(content: bytes) -> list[Record]:
    """The lines that are complete, also one whose end alone is missing."""
    found = []
    for line in content.split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def test_a_report_that_is_cut_off_at_any_byte_gives_all_whole_lines(tmp_path: Path, report: Report) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes(report.content)
    for length in reversed(lengths(report)):
        content = report.content[:length]
        os.truncate(path, length)
        records = whole_lines(content)
        try:
            found = saved.load(path)
        except ConfigurationError:
            assert not records, length
            continue
        expected = {(record["suite"], record["id"]) for record in records if record["type"] == "result"}
        assert {(record["suite"], record["id"]) for record in found.lines} == expected, length
        assert len(found.lines) == len(expected)
        torn = not content.endswith(b"\n") and (not content or len(content.splitlines()) != len(records))
        warned = sum("ends in the middle of this line" in warning for warning in found.warnings)
        assert warned == torn, (length, found.warnings)
        assert (found.summary["status"] != "interrupted") is (records[-1]["type"] == "summary")


def test_a_report_that_is_cut_off_at_any_byte_can_be_resumed(tmp_path: Path, report: Report) -> None:
    """What is kept of cases is exactly what the lines with an end say, so that exactly the others run again."""
    path = tmp_path / "cut.jsonl"
    retained: dict[str, Any] = {}
    """By what was read: cuts within a line read the same, and what is kept of it is looked at once."""
    path.write_bytes(report.content)
    for length in reversed(lengths(report)):
        content = report.content[:length]
        os.truncate(path, length)
        lines = whole_lines(content[: content.rfind(b"\n") + 1])
        found = read_saved(path)
        done = {key(line) for line in lines if line["type"] == "result"}
        assert {key(result.line) for result in found.results} == done, length
        assert len(found.results) == len(done)
        assert bool(found.start) is bool(lines)
        if found.start:
            read = repr((found.start, [result.line for result in found.results]))
            if read not in retained:
                retained[read] = retain(found.results, found.subject, report.plan, report.fingerprints)
            kept = retained[read]
            again = report.all - {key(result.line) for results in kept.results.values() for result in results}
            assert again >= report.all - done, length
            assert {test for _, test, _ in again - (report.all - done)} <= {"TestA", "TestB"}, (
                "whole modules' tests only"
            )
            assert with_saved_options(
                read_saved(path), RunOptions(inputs=(), resume=str(path)), tmp_path
            ).inputs == tuple(found.start["resume"]["options"]["inputs"])


@given(st.data())
def test_a_damaged_report_is_read_or_refused(tmp_path: Path, report: Report, data: st.DataObject) -> None:
    content = bytearray(report.content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 9))] = data.draw(
            st.sampled_from(
                [b"", b"\n", b"\0", b"\xff", b"{", b"}", b'"', b"null", b"[]", b"1e999", b'{"type": "result"}\n']
            )
        )
    refused_or_read(tmp_path / "damaged.jsonl", bytes(content))


@given(st.data(), json_values())
def test_a_report_with_another_value_in_a_field_is_read_or_refused(
    tmp_path: Path, report: Report, data: st.DataObject, value: Any
) -> None:
    lines = report.content.splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    record = json.loads(lines[at])
    target = record
    while True:
        name = data.draw(st.sampled_from(sorted(target)))
        if not (isinstance(target[name], dict) and target[name] and data.draw(st.booleans())):
            break
        target = target[name]
    assume(name != "run" or not isinstance(value, int))
    if data.draw(st.booleans()):
        target[name] = value
    else:
        del target[name]
    lines[at] = json.dumps(record).encode()
    refused_or_read(tmp_path / "damaged.jsonl", b"\n".join(lines) + b"\n")


def refused_or_read(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for reading in (saved.load, read_saved):
        try:
            reading(path)
        except ConfigurationError as error:
            assert str(path) in error.message
