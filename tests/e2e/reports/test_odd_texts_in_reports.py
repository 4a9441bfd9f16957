"""Reports of texts that no format expects, on disks that are full, and of other versions: by the real command."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from gzip import decompress
from xml.etree import ElementTree

import pytest
from agent_files import agent, case_file, lines
from command import Application, MakeApplication

from runner.record.saved import load

FORMATS = ("jsonl", "json", "md", "xml", "ctrf.json", "html", "txt")
TEXTS = {
    "lone surrogates": "a\\ud800b",
    "NUL": "a\\0b",
    "control characters": "\\u001b[2J\\u0007\\b\\u0085",
    "right to left": "שלום \\u202eabc مرحبا",
    "emoji": "👩‍🚀🏳️‍🌈",
    "not characters": "\\uffff\\ufffe",
}
"""Name → the inside of a JavaScript string."""
LONG = 2_100_000
TESTS = f"""\
const texts = {{ {", ".join(f'{json.dumps(name)}: "{text}"' for name, text in TEXTS.items())} }};
export function TestTexts(t) {{
  for (const [name, text] of Object.entries(texts)) {{
    console.log(name, text);
    t.run(name, (t) => t.assert.Equal(text, text + "!", text));
  }}
}}
export function TestLong(t) {{ t.assert.Equal("x".repeat({LONG}), "y", "z".repeat({LONG})); }}
"""


@pytest.fixture(scope="module")
def odd(shared_app: MakeApplication) -> Application:
    """A run with such texts in script tests and cases, in every format."""
    said = [json.loads(f'"{text}"') for text in TEXTS.values() if "\\\\0" not in text and "\\0" not in text]
    cases = [
        {"id": f"{number} {text}", "name": text, "input": text, "tags": [text], "assertions": [{"type": "contains", "value": f"{text}!"}]}
        for number, text in enumerate(text for text in said if "\ud800" not in text)  # no case file has them
    ]  # fmt: skip
    cases.append({"id": "long", "input": "x" * LONG, "assertions": [{"type": "equals", "value": "y"}]})
    files = agent(replies='- reply: "{{ input }}"\n') | {f"/{case_file()}": "\n".join(map(json.dumps, cases))}
    here = shared_app({"a_test.ts": TESTS, **files})
    outputs = [word for extension in FORMATS for word in ("-o", f"r.{extension}")]
    run = here.run("-i", "scripts.demo.a", "-i", case_file(), *outputs)
    assert (run.code, run.stderr) == (1, ""), (run.code, run.stderr[:2000], run.stdout[-2000:])
    assert len(run.stdout) < 1_000_000
    (here.home / "count").write_text(str(len(cases) + 2))
    return here


def test_every_format_holds_odd_texts(odd: Application) -> None:
    count = int((odd.home / "count").read_text())
    texts = {extension: (odd.root / f"r.{extension}").read_bytes().decode() for extension in FORMATS}

    assert len(load(odd.root / "r.jsonl").lines) == len(load(odd.root / "r.json").lines) == count
    assert len(json.loads(texts["ctrf.json"])["results"]["tests"]) == count
    assert len(list(ElementTree.fromstring(texts["xml"]).iter("testcase"))) == count
    assert texts["md"].count("\n### ") == count and len(texts["md"].encode()) <= 1_000_000
    assert texts["txt"].count("\nFAILED ") == count
    blocks = re.findall(r'id="block-\d+">([^<]*)<', texts["html"])
    assert sum(len(json.loads(decompress(b64decode(block)))) for block in blocks) == count
    for extension in ("md", "xml", "txt"):
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", texts[extension]), extension
        assert len(texts[extension]) < 2_000_000, extension


def test_saved_odd_texts_are_shown_extracted_and_compared(odd: Application) -> None:
    again = [word for extension in FORMATS for word in ("-o", f"again.{extension}")]
    shown, extracted, compared = (
        odd.run("show", "r.jsonl", *again),
        odd.run("extract", "r.jsonl", "-d", "out"),
        odd.run("diff", "r.jsonl", "r.json"),
    )

    assert [(run.code, run.stderr) for run in (shown, extracted, compared)] == [(0, "")] * 3
    for extension in ("md", "ctrf.json", "txt", "xml"):
        assert (odd.root / f"again.{extension}").stat().st_size == (odd.root / f"r.{extension}").stat().st_size
    assert compared.stdout.partition("\n\n")[2].partition("\n\n")[2].startswith("Still failing (7)\n")
    assert "\nNothing looks worse\n" in compared.stdout


def test_a_disk_that_gets_full_leaves_the_results_on_the_console(app: MakeApplication) -> None:
    tests = "".join(f"export function Test{n}(t) {{ t.fail('{'x' * 200}'); }}\n" for n in range(40))
    here = app({"a_test.ts": tests, **{f"/r.{extension}": "of yesterday" for extension in FORMATS}})
    # Python would cut off the bytecode that it keeps, and every later command would fail to read that.
    limited = ("/bin/sh", "-c", 'ulimit -f 8; PYTHONDONTWRITEBYTECODE=1 exec "$@"', "sh")

    outputs = [word for extension in FORMATS for word in ("-o", f"r.{extension}")]
    with here.start("-i", "scripts.demo.a", *outputs, prefix=limited) as process:
        run = here.finish(process)

    assert (run.code, run.stderr) == (3, "")
    assert run.stdout.count("► [Test") == 40
    assert "  Summary: 0 passed, 40 failed, 0 skipped" in run.stdout
    said = [line for line in run.stdout.splitlines() if line.startswith("Error: ")]
    assert len(said) == len(FORMATS)
    assert all("File too large" in line and "<app>/" in line for line in said), said
    assert [path.name for path in here.root.iterdir() if "yao-test" in path.name] == []
    documents = [extension for extension in FORMATS if extension != "jsonl"]  # each replaced whole or not at all
    assert {(here.root / f"r.{extension}").read_text() for extension in documents} == {"of yesterday"}


def test_an_unknown_extension_is_said_before_anything_runs(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) {}\n"})

    run = here.run("-i", "scripts.demo.a", "-o", "r.jsn", "-o", "fine.json")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == (
        'Error: Cannot write a report to <app>/r.jsn: unknown extension ".jsn"\nHint: Did you mean ".json"?\n'
    )
    assert not (here.root / "fine.json").exists()


NEW = lines(
    {"type": "start", "timestamp": "2036-12-17T10:00:00Z", "version": "9.0.0", "shape": {"a": 1},
     "suites": [{"id": "c.jsonl", "kind": "agent_test", "label": "c.jsonl", "file": "", "agent": "demo", "connector": "", "new": 1}]},
    {"type": "spans", "spans": [1, 2]},
    {"type": "result", "suite": "c.jsonl", "id": "a", "status": "passed", "input": "x", "duration_ms": 3, "spans": [{"x": 1}]},
    {"type": "result", "suite": "c.jsonl", "id": "b", "status": "failed", "input": "x", "duration_ms": 4, "error": "no", "cause": "gremlins"},
    {"type": "summary", "total": 2, "passed": 1, "failed": 1, "duration_ms": 7, "status": "failed"},
)  # fmt: skip


def test_a_report_of_a_newer_version_is_read_by_every_command(app: MakeApplication) -> None:
    here = app({"/r.jsonl": NEW})
    outputs = [word for extension in FORMATS for word in ("-o", f"out/r.{extension}")]

    for arguments in (
        ("show", "r.jsonl"),
        ("show", "r.jsonl", *outputs),
        ("extract", "r.jsonl"),
        ("diff", "r.jsonl", "out/r.json"),
        ("merge", "r.jsonl", "-o", "merged.json"),
    ):
        run = here.run(*arguments)
        assert (run.code, run.stderr) == (0, ""), arguments

    for name in ("out/r.jsonl", "out/r.json", "merged.json"):
        found = [(record["id"], record["status"], record.get("error")) for record in load(here.root / name).lines]
        assert found == [("a", "passed", None), ("b", "failed", "no")]


def damaged(text: str, path: str, value: object) -> str:
    """A report with another value in its first line."""
    start, rest = text.split("\n", 1)
    record = json.loads(start)
    *above, last = path.split(".")
    inside = record
    for key in above:
        inside = inside[int(key) if key.isdecimal() else key]
    inside[last] = value
    return json.dumps(record) + "\n" + rest


DAMAGED: dict[str, tuple[str, object, str]] = {
    "suites": ("suites", 5, '"suites" is not a list'),
    "a file": ("suites.0.file", True, 'the "file" of a suite is not a string'),
    "runs": ("runs_per_case", "x", '"runs_per_case" is not a number'),
    "failed tests": ("resume.failed", {"a": 1}, 'the "failed" of "resume" does not list tests'),
    "plans": ("resume.planned", "x", 'the "planned" of "resume" is not an object'),
    "inputs": ("resume.options.inputs", True, 'the "inputs" of its options cannot be true'),
    "an input": ("resume.options.inputs", [5], 'the "inputs" of its options cannot be [5]'),
    "half of a letter": ("resume.options.inputs", ["\ud800"], 'the "inputs" of its options cannot be ["\\ud800"]'),
    "a switch": ("resume.options.strict", 1, 'the "strict" of its options cannot be 1'),
    "a huge number": ("resume.options.runs", 10**30, 'the "runs" of its options cannot be 1' + "0" * 30),
}


@pytest.mark.parametrize(("path", "value", "problem"), DAMAGED.values(), ids=DAMAGED)
def test_a_start_line_that_no_run_wrote_is_said(app: MakeApplication, path: str, value: object, problem: str) -> None:
    case = {"id": "a", "input": "hello", "assert": {"type": "contains", "value": "hello"}}
    here = app(agent(cases=[case]))
    here.run("-i", case_file(), "-o", "whole.jsonl")
    report = damaged((here.root / "whole.jsonl").read_text("utf-8"), path, value)
    (here.root / "r.jsonl").write_text(report, "utf-8")
    hint = "Hint: Only .jsonl and .json reports of yao-test can be read\n"

    for arguments in (("status", "r.jsonl"), ("--resume", "r.jsonl"), ("regrade", "r.jsonl", "-o", "new.jsonl")):
        run = here.run(*arguments)
        assert run.code == 2, arguments
        assert run.stderr.endswith(f": {problem}\n{hint}"), arguments
    assert (here.root / "r.jsonl").read_text("utf-8") == report
    if not path.startswith("resume.options."):
        merged = here.run("merge", "r.jsonl", "-o", "new.json")
        assert (merged.code, merged.stderr.endswith(f": {problem}\n{hint}")) == (2, True)


def test_an_answer_of_any_depth_costs_no_report(app: MakeApplication) -> None:
    hooks = """
        export function Next(ctx: any, payload: any) {
          let data: any = 1;
          for (let left = Number(payload.completion.content); left > 0; left--) data = { a: data };
          return { data };
        }
    """
    depths = (1, 790, 810, 970, 1100)
    checks = [{"type": "equals", "value": 2}, {"type": "snapshot"}]
    cases = [{"id": str(depth), "input": str(depth), "assert": checks} for depth in depths]
    here = app(agent(hooks=hooks, replies='- reply: "{{ input }}"\n', cases=cases))
    outputs = [word for extension in FORMATS for word in ("-o", f"r.{extension}")]

    for more in ((), ("--runs", "2", "--trace", "full")):
        run = here.run("-i", case_file(), "--store", "store", *more, *outputs)
        assert (run.code, run.stderr) == (1, ""), run.stderr[:500]
        results = load(here.root / "r.jsonl").lines
        assert [result["status"] for result in results] == ["failed"] * len(depths)
        assert ["nested too deeply" in result["error"] for result in results] == [depth > 800 for depth in depths]
        (here.root / "r.jsonl").rename(here.root / f"{len(more)}.jsonl")
    assert here.run("merge", "0.jsonl", "r.json", "--as-runs", "-o", "runs.json").code == 0
