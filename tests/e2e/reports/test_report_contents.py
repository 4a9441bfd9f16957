"""Reports keep what was sent and what it took, in every format: messages before the turns, files with their type and size,
tokens and cost, and how many tests did not run."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from base64 import b64decode, b64encode
from collections.abc import Iterator
from gzip import decompress
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, Files, Record, Run, make_application
from table_tests import each

FORMATS = ("json", "jsonl", "md", "html", "xml", "ctrf.json", "txt")
PICTURE, SOUND, NOTES = b"\x89PNG" + bytes(2996), b"RIFF" + bytes(496), b"%PDF-1.4\n"


class Reports:
    """The reports of one run."""

    def __init__(self, app: Application, *arguments: str, code: int) -> None:
        paths = {name: app.home / f"report.{name}" for name in FORMATS}
        self.run: Run = app.run(*arguments, *(word for path in paths.values() for word in ("-o", str(path))))
        assert self.run.code == code, self.run
        self.text = {name: app.anonymous(path.read_bytes()) for name, path in paths.items()}
        self.path = paths["jsonl"]
        self.json = json.loads(self.text["json"])
        self.lines = [json.loads(line) for line in self.text["jsonl"].splitlines()]
        self.summary = self.lines[-1]
        self.ctrf = json.loads(self.text["ctrf.json"])["results"]
        self.junit = ElementTree.fromstring(self.text["xml"])

    def records(self) -> Iterator[dict[str, Record]]:
        """The records of the formats that have them, by id."""
        yield {record["id"]: record for record in self.json["results"]}
        yield {record["id"]: record for record in self.lines if record["type"] == "result"}
        yield {record["id"]: record for record, _ in self.page("block-0")}

    def page(self, block: str) -> Any:
        """A block of the page."""
        text = self.text["html"].partition(f'id="{block}">')[2].partition("<")[0]
        return json.loads(decompress(b64decode(text)))

    def section(self, id: str) -> str:
        """The part of the Markdown document about a result."""
        return self.text["md"].partition(f" {id} - ")[2].partition("\n### ")[0]

    def output(self, id: str) -> str:
        """The output of a result in JUnit."""
        case = next(case for case in self.junit.iter("testcase") if case.get("name") == id)
        return case.findtext("system-out") or ""

    def extra(self, id: str) -> Record:
        """The additional fields of a result in CTRF."""
        found: Record = next(test for test in self.ctrf["tests"] if test["name"] == id)["extra"]
        return found

    def properties(self) -> dict[str | None, str | None]:
        """Those of the first suite of JUnit."""
        return {item.get("name"): item.get("value") for item in self.junit.iter("property")}


# Attachments

FILES: Files = {
    "/assistants/demo/tests/dot.png": PICTURE,
    "/assistants/demo/tests/a.wav": SOUND,
    "/assistants/demo/tests/notes.pdf": NOTES,
}
DOT = {"type": "image", "name": "dot.png", "media_type": "image/png", "size": 3000, "source": "file://dot.png"}
WAV = {"type": "audio", "name": "a.wav", "media_type": "audio/wav", "size": 500, "source": "file://a.wav"}
PDF = {"type": "file", "name": "Notes", "media_type": "application/pdf", "size": 9, "source": "file://notes.pdf"}
INLINE = {"type": "image", "media_type": "image/png", "size": 40}
FAR = {"type": "image", "source": "https://example.com/far.png"}
IMAGE = {"type": "image", "source": "file://dot.png"}
AUDIO = {"type": "audio", "source": "file://a.wav"}
FILE = {"type": "file", "source": "file://notes.pdf", "name": "Notes"}
DATA = b64encode(bytes(range(40))).decode()
ATTACHED: list[Record] = [
    {"id": "beside", "input": "Look", "attachments": [IMAGE, FILE]},
    {"id": "within", "input": {"role": "user", "content": [{"type": "text", "text": "Hear"}, AUDIO]}},
    {"id": "inline", "input": [{"role": "user", "content": [{"type": "image", "source": f"data:image/png;base64,{DATA}"}]}]},
    {"id": "data", "input": [{"role": "user", "content": [{"type": "audio", "data": DATA, "format": "mp3"}]}]},
    {"id": "far", "input": "Look", "attachments": [FAR]},
    {"id": "before", "messages": [{"role": "user", "content": [IMAGE]}, {"role": "assistant", "content": "A dot"}, {"role": "user", "content": "Sure?"}]},
    {"id": "none", "input": "Look"},
]  # fmt: skip
WANTED: dict[str, list[Record] | None] = {
    "beside": [DOT, PDF],
    "within": [WAV],
    "inline": [INLINE],
    "data": [{"type": "audio", "media_type": "audio/mp3", "size": 40}],
    "far": [FAR],
    "before": [DOT],
    "none": None,
}


@pytest.fixture(scope="module")
def attached(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    app = make_application(
        tmp_path_factory.mktemp("attached"), {**agent(replies="- reply: I see\n", cases=ATTACHED), **FILES}
    )
    return Reports(app, "-i", case_file(), code=0)


@each("id", WANTED)
def test_attachments_are_kept_with_type_and_size(attached: Reports, id: str) -> None:
    for records in attached.records():
        assert records[id].get("attachments") == WANTED[id]
    assert attached.extra(id).get("attachments") == WANTED[id]


@each(
    ("id", "lines"),
    [
        ("beside", ["dot.png (image/png, 3000 bytes)", "Notes (application/pdf, 9 bytes)"]),
        ("within", ["a.wav (audio/wav, 500 bytes)"]),
        ("inline", ["image (image/png, 40 bytes)"]),
        ("far", ["https://example.com/far.png (image)"]),
        ("none", []),
    ],
)
def test_attachments_are_named_for_people(attached: Reports, id: str, lines: list[str]) -> None:
    assert [line for line in attached.output(id).splitlines() if line.startswith("attachment: ")] == [
        f"attachment: {line}" for line in lines
    ]
    said = [line for line in attached.section(id).splitlines() if line.startswith("Attachments: ")]
    assert said == ([f"Attachments: {', '.join(lines)}"] if lines else [])


def test_the_content_of_attachments_is_in_no_report_however_short(attached: Reports) -> None:
    blocks = json.dumps(attached.page("block-0"))
    for text in [*attached.text.values(), blocks]:
        assert DATA not in text


TURNS: list[Record] = [
    {"id": "turns", "attachments": [FILE], "turns": [{"input": "Look", "attachments": [IMAGE]}, {"input": "And now?"}]},
    {"id": "parts", "turns": [{"input": [{"type": "text", "text": "Hear"}, AUDIO]}]},
    {"id": "graded", "mode": "conversation", "turns": [{"input": "Look", "attachments": [IMAGE, AUDIO]}]},
    {"id": "simulated", "input": "Look", "attachments": [IMAGE], "simulator": {"use": "scripts:play"}, "max_turns": 3,
     "checkpoints": [{"id": "seen", "assertion": {"type": "contains", "value": "see"}}]},
    {"id": "history", "messages": [{"role": "user", "content": "Do you see dots?"}, {"role": "assistant", "content": "I do"}],
     "turns": [{"input": "Look again"}]},
]  # fmt: skip
PLAY = 'export function Simulate() { return { input: "Go on", goal_achieved: false }; }\n'


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    files = {**agent(replies="- reply: I see\n", cases=TURNS), **FILES, "play.ts": PLAY}
    return Reports(make_application(tmp_path_factory.mktemp("turns"), files), "-i", case_file(), code=0)


@each(
    ("id", "wanted"),
    [("turns", [[DOT, PDF], None]), ("parts", [[WAV]]), ("graded", [[DOT, WAV]]), ("simulated", [[DOT]]), ("history", [None])],
)  # fmt: skip
def test_attachments_of_turns_are_kept_with_their_turn(turns: Reports, id: str, wanted: list[Any]) -> None:
    for records in turns.records():
        assert [turn.get("attachments") for turn in records[id]["turns"]] == wanted
    assert [turn.get("attachments") for turn in turns.extra(id)["turns"]] == wanted
    count = sum(len(files or ()) for files in wanted)
    assert turns.output(id).count(" attachment: ") == count
    assert turns.section(id).count("bytes)") >= count


def test_every_format_has_what_each_turn_said(turns: Reports) -> None:
    lines = turns.output("turns").splitlines()
    assert [line for line in lines if not line.startswith(("turn 2", "It checks"))] == [
        "attachment: Notes (application/pdf, 9 bytes)",
        "turn 1 input: Look",
        "turn 1 attachment: dot.png (image/png, 3000 bytes)",
        "turn 1 attachment: Notes (application/pdf, 9 bytes)",
        "turn 1 output: I see",
    ]
    assert [(turn["turn"], turn["input"], turn["output"]) for turn in turns.extra("turns")["turns"]] == [
        (1, "Look", "I see"),
        (2, "And now?", "I see"),
    ]


def test_messages_before_the_turns_are_in_every_format(turns: Reports) -> None:
    said = TURNS[-1]["messages"]
    for records in turns.records():
        assert records["history"]["input"] == said
    assert turns.extra("history")["input"] == said
    assert "Do you see dots?" in turns.output("history")
    assert "Do you see dots?" in turns.section("history")


# Tokens and cost

PRICED = {
    "/connectors/priced.conn.yao": json.dumps(
        {"type": "scripted", "options": {"prices": {"input": 1000, "output": 2000}}}
    )
}
PLAIN_CASES: list[Record] = [{"id": "a", "input": "one two three"}, {"id": "b", "input": "four"}]


def test_the_tokens_of_a_run_are_in_every_summary(tmp_path: Path) -> None:
    app = make_application(tmp_path, agent(replies="- reply: A short answer\n", cases=PLAIN_CASES))
    reports = Reports(app, "-i", case_file(), code=0)

    records = [record["usage"] for record in reports.lines if record["type"] == "result"]
    usage = {key: sum(record[key] for record in records) for key in ("input_tokens", "output_tokens")}
    total = sum(usage.values())
    assert total > 0
    assert reports.summary["usage"] == usage
    assert reports.json["summary"]["usage"] == usage
    assert reports.ctrf["summary"]["extra"]["usage"] == usage
    assert reports.page("index")["summary"]["usage"] == usage
    assert {key: reports.properties()[key] for key in usage} == {key: str(value) for key, value in usage.items()}
    assert (
        f"{usage['input_tokens']} in, {usage['output_tokens']} out" in reports.text["md"].partition("## Environment")[0]
    )
    assert f", {total} tokens" in reports.text["txt"].splitlines()[0]
    assert f"  Tokens:  {total}\n" in reports.run.stdout


@pytest.mark.parametrize("arguments", [("-q",), ("-i", "scripts.demo"), ("-i", "scripts.demo", "-v")], ids=" ".join)
def test_the_console_says_the_tokens_in_each_of_its_summaries(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    files = {
        **agent(replies="- reply: A short answer\n", cases=PLAIN_CASES),
        "a_test.ts": "export function TestA(t) {}\n",
    }
    app = make_application(tmp_path, files)

    run = app.run("-i", case_file(), *arguments)

    assert run.stdout.count("  Tokens:  ") == 1


def test_a_run_without_models_says_nothing_of_tokens(tmp_path: Path) -> None:
    app = make_application(tmp_path, {"a_test.ts": "export function TestA(t) {}\n"})
    reports = Reports(app, "-i", "scripts.demo.a", code=0)

    assert "usage" not in reports.summary
    assert "oken" not in reports.run.stdout + reports.text["md"] + reports.text["txt"]


# --fail-fast

TESTS = """\
export function TestFails(t) { t.fail("no"); }
export function TestB(t) {}
export function TestC(t) {}
"""
ONE = "export function TestOne(t) {}\n"
HANGS = "time.Sleep(1e6);\nexport function TestNever(t) {}\n"
WRONG: list[Record] = [
    {"id": f"c{number}", "input": "x", "assert": {"type": "contains", "value": "never"}} for number in range(4)
]
CASES = agent(replies="- reply: Hello\n", cases=WRONG)
RUNS: dict[str, tuple[Files, tuple[str, ...], int]] = {
    "tests of the module": ({"a_test.ts": TESTS}, ("-i", "scripts.demo"), 2),
    "modules that were not begun": ({"a_test.ts": TESTS, "b_test.ts": ONE + TESTS.replace("TestFails", "TestX"), "c_test.ts": ONE}, ("-i", "scripts.demo", "--parallel", "1"), 7),
    "cases": (CASES, ("-i", case_file()), 3),
    "cases after tests": ({**CASES, "a_test.ts": TESTS}, ("-i", "scripts.demo", "-i", case_file()), 6),
    "what --run picks": ({**CASES, "a_test.ts": TESTS}, ("-i", "scripts.demo", "-i", case_file(), "--run", "TestFails|TestB|c2"), 2),
    "after a module that cannot be loaded": ({"a_test.ts": "const = 1;\n", "b_test.ts": TESTS}, ("-i", "scripts.demo.a", "-i", "scripts.demo.b", "--parallel", "1"), 3),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_every_format_says_how_many_did_not_run_after_fail_fast(tmp_path: Path, name: str) -> None:
    files, arguments, left = RUNS[name]
    reports = Reports(make_application(tmp_path, files), *arguments, "--fail-fast", code=1)

    stopped = {"stopped": "--fail-fast", "not_run": left}
    for summary in (
        reports.summary,
        reports.json["summary"],
        reports.ctrf["summary"]["extra"],
        reports.page("index")["summary"],
    ):
        assert {key: summary.get(key) for key in stopped} == stopped
    assert {key: reports.properties()[key] for key in stopped} == {"stopped": "--fail-fast", "not_run": str(left)}
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in reports.text["md"].splitlines() if "|" in line]
    assert ["Not Run", str(left)] in rows
    assert f"stopped: --fail-fast, {left} not run" in reports.text["txt"]
    assert f"Stopped: --fail-fast; {left} not run\n" in reports.run.stdout


@pytest.mark.parametrize("extension", ["jsonl", "json"])
def test_a_saved_report_still_says_what_did_not_run(tmp_path: Path, extension: str) -> None:
    app = make_application(tmp_path, CASES)
    app.run("-i", case_file(), "--fail-fast", "-o", f"r.{extension}")

    assert "Stopped: --fail-fast; 3 not run" in app.run("show", f"r.{extension}").stdout
    app.run("merge", f"r.{extension}", "-o", "whole.json")
    summary = json.loads((app.root / "whole.json").read_text())["summary"]
    assert (summary["stopped"], summary["not_run"], "usage" in summary) == ("--fail-fast", 3, True)


@pytest.mark.parametrize(
    ("files", "arguments"),
    [
        ({"a_test.ts": ONE}, ("-i", "scripts.demo")),
        ({"a_test.ts": ONE + TESTS.splitlines()[0]}, ("-i", "scripts.demo")),
    ],
    ids=["nothing failed", "the last one failed"],
)
def test_where_everything_ran_nothing_is_said(tmp_path: Path, files: Files, arguments: tuple[str, ...]) -> None:
    app = make_application(tmp_path, files)

    run = app.run(*arguments, "--fail-fast", "-o", "r.jsonl")

    assert "not run" not in run.stdout
    assert '"not_run"' not in (app.root / "r.jsonl").read_text()


def test_a_module_that_never_ends_does_not_hold_up_the_end(tmp_path: Path) -> None:
    """Its tests cannot be counted, so it counts as one."""
    app = make_application(tmp_path, {"a_test.ts": TESTS, "b_test.ts": HANGS})

    run = app.run("-i", "scripts.demo", "--fail-fast", "--timeout", "1h")

    assert "Stopped: --fail-fast; 3 not run\n" in run.stdout


# What was written


def wrote(run: Run) -> list[str]:
    """The last lines that name files."""
    return [line for line in run.stdout.splitlines() if line.startswith("Wrote ")]


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (("-o", "r.json"), ["Wrote r.json"]),
        (("-o", "out/r.jsonl", "-o", "r.xml", "-o", "r.html"), ["Wrote out/r.jsonl", "Wrote r.xml", "Wrote r.html"]),
        (("-o", "r.json", "-o", "./r.json"), ["Wrote r.json"]),
        (("-o", "../home/r.md"), ["Wrote <home>/r.md"]),
        (("-o", "r.txt", "-r", "report.markdown"), ["Wrote r.txt"]),
        (("-o", "r.json", "-q"), []),
        (("-o", "/dev/null", "-r", "report.json"), []),
        ((), []),
    ],
    ids=["one", "several", "one twice", "elsewhere", "with -r", "quiet", "a device", "none"],
)
def test_the_end_of_a_run_says_what_was_written(tmp_path: Path, arguments: tuple[str, ...], lines: list[str]) -> None:
    app = make_application(tmp_path, {"a_test.ts": ONE})

    run = app.run("-i", "scripts.demo.a", *arguments)

    assert run.code == 0, run
    assert wrote(run) == lines
    assert run.stdout.splitlines()[-len(lines) :] == lines if lines else True


def test_a_report_that_could_not_be_written_is_not_named(tmp_path: Path) -> None:
    failing = 'function Create() { throw new Error("no words"); }'
    files = {**agent("writer", prompts=None, replies=None, hooks=failing), "a_test.ts": ONE}
    app = make_application(tmp_path, files)

    run = app.run("-i", "scripts.demo.a", "-r", "writer", "-o", "r.html", "-o", "r.json")

    assert run.code == 3
    assert wrote(run) == ["Wrote r.json"]


def test_a_report_on_standard_output_stands_alone(tmp_path: Path) -> None:
    run = make_application(tmp_path, {"a_test.ts": ONE}).run("-i", "scripts.demo.a", "-r", "report.json")

    assert json.loads(run.stdout)["summary"]["passed"] == 1
    assert "Wrote" not in run.stdout + run.stderr


def test_the_price_of_a_run_is_in_every_summary(tmp_path: Path) -> None:
    """A connector with a price, and the model host of the tests."""
    from model_server import ModelServer, says

    with ModelServer() as server:
        server.plan(says("one"), says("two"))
        options = {"host": server.url, "model": "m", "key": "sk-none", "price": {"input": 1000, "output": 1000}}
        connector = {"/connectors/priced.conn.yao": json.dumps({"type": "openai", "options": options})}
        cases = agent(package={"connector": "priced"}, cases=PLAIN_CASES)
        reports = Reports(make_application(tmp_path, {**cases, **connector}), "-i", case_file(), code=0)

    cost = reports.summary["usage"]["cost"]
    assert cost > 0
    for summary in (reports.json["summary"], reports.ctrf["summary"]["extra"], reports.page("index")["summary"]):
        assert summary["usage"]["cost"] == cost
    assert float(reports.properties()["cost"] or 0) == cost
    for text in (
        reports.run.stdout,
        reports.text["txt"],
        reports.text["md"].partition("## Environment")[0].replace("\\", ""),
    ):
        assert f"${cost:.4f}" in text
