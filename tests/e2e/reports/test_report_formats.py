"""The files of `-o`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from base64 import b64decode, b64encode
from gzip import decompress
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file
from command import MakeApplication, Run, eventually
from faults import lines_of, results_in, with_model
from model_server import ModelServer, says, silence

from runner.record.saved import load

AT = "assistants/demo/src/"
SETUP = "export function Setup(x) {\n  return { id: x };\n}\n"
TESTS = """import { Setup } from "./setup";
export function TestPasses(t) { t.assert.Equal(Setup(1), { id: 1 }); }
export function TestFails(t) {
  t.log("setting up");
  console.error("bad", { a: 1 });
  t.assert.Equal(Setup(1).id, 2, "Result ID should match");
  t.assert.True(false, "second");
}
export function TestThrows(t) {
  throw new TypeError("no");
}
export function TestSkips(t) { t.skip("later"); }
export function TestSteps(t) { t.run("a", (t) => {}); t.run("b", (t) => t.skip("x")); }
"""
FRAMES = {
    line: {"function": name, "file": f"{AT}setup_test.ts", "line": line, "column": column, **more}
    for line, name, column, more in (
        (6, "TestFails", 12, {"length": 5}),
        (7, "TestFails", 12, {"length": 4}),
        (10, "TestThrows", 13, {}),
    )
}
CODE = {
    6: """\
  4 |   t.log("setting up");
  5 |   console.error("bad", { a: 1 });
> 6 |   t.assert.Equal(Setup(1).id, 2, "Result ID should match");
    |            ^^^^^
  7 |   t.assert.True(false, "second");
  8 | }""",
    7: """\
  5 |   console.error("bad", { a: 1 });
  6 |   t.assert.Equal(Setup(1).id, 2, "Result ID should match");
> 7 |   t.assert.True(false, "second");
    |            ^^^^
  8 | }
  9 | export function TestThrows(t) {""",
    10: """\
   8 | }
   9 | export function TestThrows(t) {
> 10 |   throw new TypeError("no");
     |             ^
  11 | }
  12 | export function TestSkips(t) { t.skip("later"); }""",
}
RESULTS = [
    {"name": "TestPasses", "status": "passed", "duration_ms": "N", "assertion_count": 1, "logs": []},
    {
        "name": "TestFails",
        "status": "failed",
        "duration_ms": "N",
        "error": "assertion failed: Result ID should match",
        "cause": "assertion",
        "assertion": {"type": "Equal", "expected": 2, "actual": 1, "message": "Result ID should match"},
        "location": f"{AT}setup_test.ts:6:12",
        "stack_trace": f"at TestFails ({AT}setup_test.ts:6:12)",
        "errors": ["assertion failed: Result ID should match", "assertion failed: second"],
        "failures": [
            {
                "cause": "assertion",
                "message": "Result ID should match",
                "type": "Equal",
                "reason": "Not equal",
                "expected": 2,
                "actual": 1,
                "expected_text": "2",
                "actual_text": "1",
                "code_frame": CODE[6],
                "frames": [FRAMES[6]],
            },
            {
                "cause": "assertion",
                "message": "second",
                "type": "True",
                "reason": "Should be true",
                "expected": True,
                "actual": False,
                "expected_text": "true",
                "actual_text": "false",
                "code_frame": CODE[7],
                "frames": [FRAMES[7]],
            },
        ],
        "assertion_count": 2,
        "logs": ["setting up", "[error] bad {a: 1}"],
        "log_levels": ["info", "error"],
    },
    {
        "name": "TestThrows",
        "status": "failed",
        "duration_ms": "N",
        "error": "TypeError: no",
        "cause": "error",
        "location": f"{AT}setup_test.ts:10:13",
        "stack_trace": f"at TestThrows ({AT}setup_test.ts:10:13)",
        "failures": [
            {"cause": "error", "message": "TypeError: no", "code_frame": CODE[10], "frames": [FRAMES[10]]},
        ],
        "logs": [],
    },
    {"name": "TestSkips", "status": "skipped", "duration_ms": "N", "skip_reason": "later", "logs": []},
    {
        "name": "TestSteps",
        "status": "passed",
        "duration_ms": "N",
        "steps": [
            {"name": "TestSteps/a", "status": "passed", "duration_ms": "N"},
            {"name": "TestSteps/b", "status": "skipped", "duration_ms": "N", "skip_reason": "x"},
        ],
        "logs": [],
    },
]
FLAGS = ["--user", "ann", "--team", "ops"]
ENVIRONMENT = {"user_id": "ann", "team_id": "ops", "locale": "en-us"}


def plain(value: Any) -> Any:
    """A report without times: numbers of milliseconds become N, times become T; the id of the run becomes I."""
    if isinstance(value, dict):
        known = {"version": "V", "run_id": "I"}
        return {
            key: "N" if key == "duration_ms" and isinstance(item, int) else known.get(key) or plain(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value):
        return "T"
    return value


@pytest.fixture(scope="module")
def written(shared_app: MakeApplication) -> tuple[str, str, str]:
    """The text of a JSON, a JSONL and a summary report of the same tests."""
    here = shared_app({"setup.ts": SETUP, "setup_test.ts": TESTS})
    who = ("-i", "scripts.demo.setup", "-u", "ann", "-t", "ops")
    assert here.run(*who, "-o", "r.json", "-o", "deep/er/r.jsonl").code == 1
    assert here.run(*who, "-o", "r.txt", "-r", "report.summary").code == 1
    return tuple(here.anonymous((here.root / name).read_bytes()) for name in ("r.json", "deep/er/r.jsonl", "r.txt"))  # type: ignore[return-value]


def test_the_json_report_of_one_module(written: tuple[str, str, str]) -> None:
    assert plain(json.loads(written[0])) == {
        "type": "script_test",
        "script": "scripts.demo.setup",
        "script_path": "demo/src/setup_test.ts",
        "summary": {"total": 5, "passed": 2, "failed": 2, "skipped": 1, "duration_ms": "N"},
        "environment": ENVIRONMENT,
        "results": [{key: value for key, value in record.items() if key != "assertion_count"} for record in RESULTS],
        "metadata": {"started_at": "T", "completed_at": "T", "version": "V", "flags": FLAGS, "run_id": "I"},
    }


def test_the_jsonl_report_of_one_module(written: tuple[str, str, str]) -> None:
    lines = [plain(json.loads(line)) for line in written[1].splitlines()]
    resume = lines[0].pop("resume")
    assert resume["options"] == {"inputs": ["scripts.demo.setup"], "user": "ann", "team": "ops"}
    made_of = [line.pop("fingerprint") for line in lines if line["type"] == "result"]
    assert [list(parts) for parts in made_of] == 5 * [["format", "context", f"module {AT}setup_test.ts"]]
    assert lines == [
        {
            "type": "start",
            "timestamp": "T",
            "agent_id": "demo",
            "total_cases": None,
            "scripts": ["scripts.demo.setup"],
            "inputs": [],
            "suites": [
                {
                    "id": "scripts.demo.setup",
                    "kind": "script_test",
                    "label": "demo/src/setup_test.ts",
                    "file": f"{AT}setup_test.ts",
                    "agent": "demo",
                    "connector": "",
                }
            ],
            "environment": ENVIRONMENT,
            "version": "V",
            "flags": FLAGS,
            "run_id": "I",
        },
        *(
            {
                "type": "result",
                "suite": "scripts.demo.setup",
                "position": position,
                "id": record["name"],
                "script": "scripts.demo.setup",
                **{k: v for k, v in record.items() if k != "name"},
            }
            for position, record in enumerate(RESULTS)
        ),
        {
            "type": "summary",
            "total": 5,
            "passed": 2,
            "failed": 2,
            "skipped": 1,
            "duration_ms": "N",
            "status": "failed",
            "completed_at": "T",
        },
    ]


def test_the_summary_report(written: tuple[str, str, str]) -> None:
    assert re.sub(r"\d+\.\d\ds", "Ns", written[2]).splitlines() == [
        "2 passed, 2 failed, 1 skipped in Ns",
        "FAILED scripts.demo.setup TestFails: assertion failed: Result ID should match",
        "FAILED scripts.demo.setup TestThrows: TypeError: no",
    ]


def test_the_json_report_of_several_modules_is_in_the_order_of_the_modules(app: MakeApplication) -> None:
    slow = "export async function TestA(t) { await new Promise((done) => setTimeout(done, 30)); }\nexport function TestB(t) {}\n"
    here = app(
        {"a_test.ts": slow, "b_test.ts": "export function TestC(t) { t.fail('x'); }\n", "c_test.ts": "const = 1;\n"}
    )
    report = plain(here.report("-i", "scripts.demo", "--parallel", "2", code=1))
    assert {key: value for key, value in report.items() if key != "reports"} == {
        "type": "test_run",
        "summary": {"total": 4, "passed": 2, "failed": 2, "skipped": 0, "duration_ms": "N"},
        "environment": {"user_id": "test-user", "team_id": "test-team", "locale": "en-us"},
        "metadata": {"started_at": "T", "completed_at": "T", "version": "V", "run_id": "I"},
    }
    assert [
        (part["script"], part["summary"]["total"], [r["name"] for r in part["results"]]) for part in report["reports"]
    ] == [
        ("scripts.demo.a", 2, ["TestA", "TestB"]),
        ("scripts.demo.b", 1, ["TestC"]),
        ("scripts.demo.c", 1, ["c"]),
    ]


def test_formats_have_the_same_sums_of_several_runs(app: MakeApplication) -> None:
    slow = "- reply: { text: Hi, delay: 20ms }"
    cases = [{"id": "one", "input": "x", "repeat": {"pass": "2 of 5", "stop": True}, "assert": {"value": "Hi"}}]
    here = app({"setup_test.ts": "function TestA(t) {}", **agent(replies=slow, cases=cases)})

    here.run("assistants", "-o", "r.json", "-o", "r.jsonl", "-o", "r.md")

    document = json.loads((here.root / "r.json").read_text("utf-8"))
    summary = lines_of(here.root / "r.jsonl")[-1]
    beside = ("type", "status", "completed_at")
    assert document["summary"].items() >= {key: value for key, value in summary.items() if key not in beside}.items()
    assert summary["stopped_early"] == {"not_needed": 3, "of": 5}
    took = {one.get("input"): f"{one['summary']['duration_ms']}ms" for one in document["reports"]}
    assert re.search(rf"cases\.jsonl .* {took[case_file()]} +\|$", (here.root / "r.md").read_text("utf-8"), re.M)


def test_a_report_replaces_an_older_one_and_leaves_nothing_beside_it(app: MakeApplication) -> None:
    here = app(
        {"a_test.ts": "export function TestA(t) {}\n", "/out/r.json": "x" * 10_000, "/out/r.jsonl": "y" * 10_000}
    )
    assert here.run("-i", "scripts.demo.a", "-o", "out/r.json", "-o", "out/r.jsonl").code == 0
    assert json.loads((here.root / "out/r.json").read_text())["summary"]["passed"] == 1
    assert len((here.root / "out/r.jsonl").read_text().splitlines()) == 3
    assert sorted(path.name for path in (here.root / "out").iterdir()) == ["r.json", "r.jsonl"]


def test_a_report_replaces_no_file_that_the_command_reads(app: MakeApplication) -> None:
    here = app(agent(cases=[{"id": "one", "input": "x"}]))
    cases = (here.root / case_file()).read_bytes()
    run = here.run("assistants", "-o", "r.html", "-o", case_file())
    assert (run.code, run.stderr.splitlines()) == (
        2,
        [f"Error: Cannot write over {case_file()}: this command reads it", "Hint: Choose another file with -o"],
    )
    assert (here.root / case_file()).read_bytes() == cases
    assert here.run("assistants", "-q", "-o", "part.jsonl").code == 0
    assert here.run("merge", "part.jsonl", "-o", "./part.jsonl").code == 2


def test_values_that_are_not_json_are_reported_as_text(app: MakeApplication) -> None:
    code = """export function TestA(t) {
      t.assert.Equal(new Map([[1, 2]]), undefined, "map");
    }
    export function TestB(t) { t.assert.Equal(NaN, 10n, "numbers"); }
    """
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)
    assert results["TestA"]["assertion"] == {
        "type": "Equal",
        "expected": "undefined",
        "actual": "Map(1) {1 => 2}",
        "message": "map",
    }
    assert results["TestB"]["assertion"] == {"type": "Equal", "expected": "10n", "actual": "NaN", "message": "numbers"}


def test_output_keeps_its_order_and_levels(app: MakeApplication) -> None:
    code = """
        console.log("loaded");
        export function TestA(t) {
          console.log("one", 2); console.info("info"); console.warn("warn"); console.error("error"); console.debug("debug");
          t.log("t", [1]); t.run("s", (t) => t.log("in", t.name)); log.Info("yao %s", "style");
        }
    """
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=0)
    assert results["TestA"]["logs"] == [
        "loaded",
        "one 2",
        "info",
        "[warn] warn",
        "[error] error",
        "[debug] debug",
        "t [1]",
        "in TestA/s",
        "yao style",
    ]


def test_a_report_path_counts_from_the_working_directory(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) {}\n"})
    assert here.run("-i", "scripts.demo.a", "-o", "r.json", directory="assistants").code == 0
    assert Path(here.root, "assistants/r.json").exists()


# Attachments


def test_no_report_holds_the_content_of_attachments(app: MakeApplication) -> None:
    picture, sound = bytes(range(256)) * 47, b"RIFF" + bytes(9000)
    files = [{"type": "image", "source": "file://dot.png"}, {"type": "audio", "source": "file://a.wav"}]
    url = f"data:image/png;base64,{b64encode(picture).decode()}"
    cases = [
        {"id": "talk", "mode": "conversation", "turns": [{"input": "Both", "attachments": files, "assertions": [{"type": "contains", "value": "image"}]}]},
        {"id": "once", "input": "Look", "attachments": files[:1], "assertions": [{"type": "contains", "value": "nobody"}]},
        {"id": "given", "input": [{"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image", "source": url}]}]},
    ]  # fmt: skip
    echo = '- when: { input: both }\n  reply: an image\n- reply: "{{ messages.-1.content }}"\n'
    folder = "/assistants/demo/tests/"
    here = app({**agent(replies=echo, cases=cases), f"{folder}dot.png": picture, f"{folder}a.wav": sound})
    names = [f"r.{extension}" for extension in ("jsonl", "json", "md", "xml", "ctrf.json", "html")]

    run = here.run("-i", case_file(), "-v", "--runs", "2", *(word for name in names for word in ("-o", name)))

    assert run.code == 1, run
    blocks = re.findall(r'id="[\w-]+">([^<]*)<', (here.root / "r.html").read_text("utf-8"))
    page = "".join(decompress(b64decode(block)).decode() for block in blocks)
    for text in [page, *((here.root / name).read_text("utf-8") for name in names if name != "r.html")]:
        assert b64encode(picture).decode()[:200] not in text
        assert "UklGR" not in text
    records = {record["id"]: record for record in load(here.root / "r.jsonl").lines}
    assert records["talk"]["output"][0]["content"][1:] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,… (12 KB)", "detail": "auto"}},
        {"type": "input_audio", "input_audio": {"data": "… (9 KB)", "format": "wav"}},
    ]
    assert records["given"]["input"][0]["content"][1]["source"] == "data:image/png;base64,… (12 KB)"
    assert "data:image/png;base64,… (12 KB)" in records["once"]["output"]


# Runs that end before their time

SHORT_GRACE = "import os, runner.execution.stopping; runner.execution.stopping.BUDGET_GRACE = 0.5; from runner.commands.main import main; os._exit(main())"
TALK = {"id": "talk", "turns": [{"input": "one"}, {"input": "two"}]}


def cut_short(app: MakeApplication, *command: str, signals: int = 0) -> Run:
    """A run in which the second turn of a case is never answered."""
    with ModelServer(silence()) as server:
        server.plan(says("hello"), says("first"))
        cases = [{"id": "fine", "input": "Hi"}, TALK]
        here = app({**agent(package={"connector": "local"}, cases=cases), **with_model(server)})
        with subprocess.Popen(
            [sys.executable, *command, "-i", case_file(), "-o", "r.jsonl"],
            cwd=here.root,
            env=here.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            for _ in range(signals):
                eventually(lambda: len(server.requests) == 3, "the second turn is under way")
                process.send_signal(signal.SIGINT)
                eventually(lambda: Path(f"/proc/{process.pid}/stat").read_text().split()[2] in "SZ", "it is heard")
            return here.finish(process)


@pytest.mark.parametrize(
    ("command", "signals", "reason", "code"),
    [
        (("-m", "runner"), 2, "interrupted", 130),
        (("-c", SHORT_GRACE, "--max-tokens", "36"), 0, "--max-tokens 36 is used up (36)", 1),
    ],
    ids=["signals", "a budget"],
)
def test_a_case_that_was_cut_short_counts_as_not_run(
    app: MakeApplication, tmp_path: Path, command: tuple[str, ...], signals: int, reason: str, code: int
) -> None:
    run = cut_short(app, *command, signals=signals)

    assert (run.code, run.stderr) == (code, "")
    (path,) = tmp_path.rglob("r.jsonl")
    assert results_in(path) == [("fine", "passed"), ("talk", "skipped")]
    summary = lines_of(path)[-1]
    assert {key: summary[key] for key in ("total", "passed", "skipped", "status", "stopped", "not_run")} == {
        "total": 2, "passed": 1, "skipped": 1, "status": "interrupted", "stopped": reason, "not_run": 1,
    }  # fmt: skip
    assert f"Stopped: {reason}; 1 not run\n" in run.stdout
