"""Saved reports: what is read of whole ones, of ones that were cut off, and of files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_reports import GOLDEN, ODD, STREAMS, report, result, written

from runner.errors import ConfigurationError
from runner.record.saved import load

LINES = (GOLDEN / "mixed.jsonl").read_text("utf-8")
START, *RESULTS, SUMMARY = LINES.splitlines(keepends=True)


def save(folder: Path, content: str | bytes) -> Path:
    path = folder / "r.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("stream", STREAMS)
def test_lines_and_document_hold_the_same(stream: str) -> None:
    lines, document = load(GOLDEN / f"{stream}.jsonl"), load(GOLDEN / f"{stream}.json")

    assert document.lines == lines.lines
    assert document.summary == lines.summary
    assert document.start.environment == lines.start.environment
    assert [suite.id for suite in document.suites] == [suite.id for suite in lines.suites]


def test_a_file_that_ends_anywhere_gives_every_whole_line(tmp_path: Path) -> None:
    content = LINES.encode()
    ends = [at for at in range(len(content)) if content[at : at + 1] == b"\n"]
    for end in range(len(START.encode()), len(content), 97):
        found = load(save(tmp_path, content[:end]))
        whole = sum(at <= end for at in ends) - 1  # a line is whole without its end, too
        assert len(found.lines) == min(whole, len(RESULTS)), end
        assert (found.summary["status"], found.summary["total"]) == ("interrupted", whole), end
        assert found.warnings[-1].endswith("r.jsonl: the run did not end, so there is no summary")
        in_the_middle = end - 1 not in ends and end not in ends
        assert (
            any(f"r.jsonl:{whole + 2}: the file ends in the middle" in said for said in found.warnings) == in_the_middle
        )


def test_a_file_that_ends_within_a_letter_or_in_zeros_gives_every_whole_line(tmp_path: Path) -> None:
    astronaut = LINES.encode().index("👩".encode())
    for tail in (b"", b"\0" * 600):
        found = load(save(tmp_path, LINES.encode()[: astronaut + 2] + tail))
        assert len(found.lines) == len(RESULTS) - 1


def test_results_come_in_the_order_of_their_tests(tmp_path: Path) -> None:
    found = load(save(tmp_path, START + "".join(reversed(RESULTS)) + SUMMARY))

    assert found.replace(text="") == load(GOLDEN / "mixed.jsonl").replace(text="")


def test_a_line_of_a_newer_version_is_passed_over(tmp_path: Path) -> None:
    found = load(save(tmp_path, START + '{"type": "future"}\n\n' + "".join(RESULTS) + SUMMARY))

    assert found.replace(text="") == load(GOLDEN / "mixed.jsonl").replace(text="")


def test_lines_as_yao_writes_them_are_of_the_agent(tmp_path: Path) -> None:
    lines = [
        {"type": "start", "timestamp": "2024-12-17T10:00:00Z", "agent_id": "keyword", "total_cases": 42},
        {"type": "result", "id": "T001", "status": "passed", "duration_ms": 234, "output": {"keywords": ["AI"]}},
        {"type": "result", "id": "T002", "status": "failed", "duration_ms": 0, "error": "timeout after 30s"},
        {"type": "result", "id": "T003", "status": "timeout", "duration_ms": 9, "error": "timeout after 9ms"},
        {"type": "summary", "total": 42, "passed": 40, "failed": 2, "duration_ms": 12345},
    ]
    found = load(save(tmp_path, "".join(f"{json.dumps(line)}\n" for line in lines)))

    assert [(suite.id, suite.agent, suite.has_cases) for suite in found.suites] == [("keyword", "keyword", True)]
    assert [(one.suite, one.name, one.status.value) for one in found.results] == [
        ("keyword", "T001", "passed"),
        ("keyword", "T002", "failed"),
        ("keyword", "T003", "failed"),
    ]


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "<file>: it is empty"),
    "zeros": (b"\0" * 4096, "<file>: it is empty"),
    "text": ("hello\n", "<file>:1:1: it is not JSON: Expecting value"),
    "HTML": ("<!doctype html>\n", "<file>:1:1: it is not JSON: Expecting value"),
    "an image": (b"\x89PNG\r\n\x1a\n\0\0", "<file>:1: it is not UTF-8 text"),
    "a number": ("1\n", "<file>: it is a number, not a report of a run"),
    "a list": ("[1]\n", "<file>: it is a list, not a report of a run"),
    "another document": ('{\n"a": 1}\n', "<file>: it is an object, not a report of a run"),
    "CTRF": (
        (GOLDEN / "cases.ctrf.json").read_bytes(),
        "<file>: it is a CTRF report, which has too little data, not a report of a run",
    ),
    "cases": ('{"id": "a", "input": "b"}\n', '<file>:1: it is not an object with a "type"'),
    "a start only in part": (START[:40], "<file>: it was cut off within its first line"),
    "no start": (RESULTS[0], "<file>:1: the first line is not the start of a report"),
    "a broken line": (START + '{"type": "result", \n' + SUMMARY, None),  # type: ignore[dict-item]
    "two on a line": (START + "{} {}\n" + SUMMARY, "<file>:2:4: it is not JSON: Extra data"),
    "two reports in one file": (START + SUMMARY + START, "<file>:3: it is made of several reports"),
    "metadata of another type": (
        '{"type": "agent_test", "input": "a", "results": [], "summary": {}, "metadata": 3}',
        '<file>: the "metadata" of the report cannot be 3',
    ),
    "errors of another type": (
        '{\n"type": "test_run", "reports": [], "errors": {"a": 1}}',
        '<file>: the "errors" of the report cannot be {"a": 1}',
    ),
    "a result without id": (START + '{"type": "result"}\n', "<file>:2: a result has no id or no status"),
    "another status": (
        START + '{"type": "result", "id": "a", "status": "green"}\n',
        "<file>:2: a result has no id or no status",
    ),
    "suites of another kind": (
        '{"type": "start", "suites": [{"id": "a", "kind": "b"}]}\n',
        "<file>:1: a suite has no id or no kind",
    ),
    "a suite with another label": (
        '{"type": "start", "suites": [{"id": "a", "kind": "agent_test", "label": 1}]}\n',
        '<file>:1: the "label" of a suite is not a string',
    ),
    "plans that are none": (
        '{"type": "start", "resume": {"planned": {"a": {"cases": 1, "ids": 2}}}}\n',
        '<file>:1: the "planned" of "resume" does not say how many cases there are',
    ),
    "a time of a subtest": (
        f'{START}{{"type": "result", "id": "a", "status": "passed", "steps": [{{"name": "b", "status": "passed", "duration_ms": []}}]}}\n',
        '<file>:2: the "steps" of a result cannot be [] at steps[0].duration_ms',
    ),
    "a number of checks": (
        f'{START}{{"type": "result", "id": "a", "status": "passed", "assertion_count": "1"}}\n',
        '<file>:2: the "assertion_count" of a result cannot be "1"',
    ),
    "a huge number": (
        f'{START}{{"type": "result", "id": "a", "status": "passed", "duration_ms": 1{"0" * 400}}}\n',
        f'<file>:2: the "duration_ms" of a result cannot be 1{"0" * 39}',
    ),
    "a number without end": (
        f'{START}{{"type": "result", "id": "a", "status": "passed", "duration_ms": {"1" * 5000}}}\n',
        "<file>:2: a number has too many digits",
    ),
    "votes that are none": (
        START
        + '{"type": "result", "id": "a", "status": "passed", "attempts":'
        + ' [{"status": "passed", "duration_ms": 1, "judging": {"scores": "x"}}]}\n',
        '<file>:2: the "attempts" of a result cannot be null at attempts[0].run',
    ),
    "too deep": (START + "[" * 200_000 + "]" * 200_000 + "\n" + SUMMARY, "<file>:2: its values are nested too deeply"),
    "a document cut off": ((GOLDEN / "mixed.json").read_text("utf-8")[:300], None),  # type: ignore[dict-item]
}


@pytest.mark.parametrize(("content", "why"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_no_report_is_said_with_its_place(content: str | bytes, why: str | None, tmp_path: Path) -> None:
    path = save(tmp_path, content)

    with pytest.raises(ConfigurationError) as raised:
        load(path)

    message = raised.value.message.replace(str(path), "<file>")
    assert message.startswith("Cannot read the report <file>")
    assert (why is None and ": it is not JSON: " in message) or message == f"Cannot read the report {why}"


@pytest.mark.parametrize("kind", ["folder", "missing"])
def test_what_is_no_file_is_said(kind: str, tmp_path: Path) -> None:
    path = tmp_path if kind == "folder" else tmp_path / "none.jsonl"

    with pytest.raises(ConfigurationError, match=r"^Cannot read the report .*: (Is a directory|No such file)"):
        load(path)


@pytest.mark.parametrize("extension", ["jsonl", "json"])
@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_any_text_is_read_as_it_was_written(text: str, extension: str, tmp_path: Path) -> None:
    written(report(result(input=text, output=[text])), tmp_path, extension)

    (record,) = load(tmp_path / f"report.{extension}").lines

    kept = text.encode("utf-8", "backslashreplace").decode()
    assert (record["input"], record["output"]) == (kept, [kept])


@pytest.mark.parametrize("extension", ["jsonl", "json"])
@pytest.mark.parametrize("count", [1, 1200])
def test_numbers_that_json_has_no_word_for_are_texts(extension: str, count: int, tmp_path: Path) -> None:
    many = [result(f"T{number}", output={"a": [float("inf"), float("nan")]}) for number in range(count)]
    written(report(*many), tmp_path, extension)

    record = load(tmp_path / f"report.{extension}").lines[-1]

    assert record["output"] == {"a": ["Infinity", "NaN"]}
