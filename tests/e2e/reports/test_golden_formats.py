"""One application with everything in it, and every form in which its runs are shown or written, compared as a whole with
`golden/`; times, ids and places are masked.

    WRITE_GOLDEN=1 pytest tests/e2e/reports/test_golden_formats.py    writes what is made now: read the difference before it is committed
"""

from __future__ import annotations

import itertools
import json
import os
import re
from base64 import b64decode
from gzip import decompress
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, server
from command import Application, MakeApplication, Record
from table_tests import each

GOLDEN = Path(__file__).parent / "golden"

SCRIPTS = """\
import { half } from "./half";
export function TestPasses(t) { t.assert.Equal(half(4), 2); console.log("ready"); console.error("[odd] line"); }
export function TestFails(t) {
  console.warn("a | b `c` <b>bold</b>", { a: 1 });
  t.assert.Equal({ id: 1, tags: ["x"] }, { id: 2, tags: ["y"] }, "ids");
  t.assert.True(half(2) === 2, "second");
}
export function TestThrows(t) { throw new TypeError("no\\nway"); }
export function TestSkips(t) { t.skip("later"); }
export function TestSteps(t) {
  t.run("a", (t) => {});
  t.run("b/c d", (t) => { t.run("deep", (t) => t.assert.Nil(1)); });
  t.run("e", (t) => t.skip("x"));
}
export function TestChecksNothing(t) { half(2); }
export function TestCalls(t) {
  t.mock.process("models.b.*", 1);
  Process("models.b.Get");
  Process("text.ExtractJSON", "{}");
  try { Process("models.a.Find", 1); } catch (error) { t.log(error.message.slice(0, 20)); }
}
export function TestJudged(t) {
  t.assert.Agent("Hello", "judge.yes", { criteria: "kind" });
  t.assert.Agent("Hello", "judge.no", { criteria: "short" });
}
export function TestSnapshot(t) { t.assert.MatchSnapshot({ a: [1, 2] }); }
export function TestWobbles(t, ctx) { t.assert.True(true); Promise.reject(new Error("nobody waits")); }
"""
HALF = """\
export function half(n) {
  if (n < 0) return -half(-n);
  return n / 2;
}
export const unused = () => 1;
"""
JUDGES = {
    "yes": '- reply: { json: { passed: true, reason: "fine", score: 0.8 } }',
    "no": '- reply: { json: { passed: false, reason: "rude", score: 0.2 } }',
    "unsure": '- reply: { json: { judged: false, reason: "no idea" } }',
    "broken": '- reply: "{{ metadata.nothing }}"',
}
REPLIES = """\
- when: { tool.name: book }
  reply: One moment, it is done.
- when: { input: confirm }
  reply: { tool_calls: [{ name: book, arguments: { amount: 3500 } }] }
- when: { input: euros }
  reply: Shall I book it?
- when: { input: broken }
  reply: { error: { status: 400, message: the prompt is too long } }
- when: { input: down }
  reply: "{{ metadata.nothing }}"
- when: { input: json }
  reply: { json: { keywords: [ai, "a|b"], note: "```" } }
- when: { input: wobbly, metadata.run: 2 }
  reply: "No."
- reply: "What type of trip is it?"
"""
PLAY = """\
export function Simulate(asked) {
  const last = asked.conversation.at(-1)?.content ?? "";
  if (/type/.test(last)) return { input: "By train, 3500 euros", goal_achieved: false };
  if (/book/.test(last)) return { message: "I confirm", goal_achieved: false };
  return { input: "A trip, please", goal_achieved: /done/.test(last) };
}
"""
BOOK = "export function Book(args) { return { message: 'Trip submitted', id: 7, amount: args.amount }; }"


def asked(*judges: str, value: str = "kind", **more: Any) -> Record:
    return {
        "type": "agent",
        "use": f"agents:judge.{judges[0]}",
        "value": value,
        "judge": {"judges": [f"agents:judge.{judge}" for judge in judges], **more},
    }


KIND, POLITE = asked("yes"), {"id": "polite", "description": "Is polite", "assertion": asked("yes", "no", "yes")}
TYPE = {"type": "contains", "value": "type"}
CRITERIA = {"type": "rubrics", "criteria": [{"id": "r1", "outcome": "kind", "weight": 2}, "short"]}
CASES: list[Record] = [
    {"id": "plain", "name": "A trip", "input": "Hello", "assert": [{"type": "contains", "value": "trip"}], "tags": ["smoke", "a|b"], "metadata": {"team": 7}},
    {"id": "odd `id` <b>", "input": "json\n```\n| x |", "assert": [
        {"type": "json_path", "path": "$.keywords[0]", "value": "ai"},
        {"type": "contains", "value": "</details>|`none`"},
        {"type": "all_of", "value": [{"type": "regex", "value": "^{"}, {"type": "contains", "value": "no"}]},
    ]},
    {"id": "broken", "input": "broken"},
    {"id": "down", "input": "down", "assert": TYPE},
    {"id": "skipped", "input": "later", "skip": "not today"},
    {"id": "nothing", "input": "Hello"},
    {"id": "slow", "input": "Hello", "assert": TYPE, "attachments": [{"type": "image", "source": "file://./dot.png"}]},
    {"id": "judged", "input": "x", "assert": [KIND, asked("unsure", value="short")], "tags": ["judged"]},
    {"id": "votes", "input": "x", "assert": [asked("yes", "no", "yes"), asked("no", "no", value="short")]},
    {"id": "undecided", "input": "x", "assert": asked("yes", "no")},
    {"id": "unjudged", "input": "x", "assert": asked("unsure")},
    {"id": "judge is down", "input": "x", "assert": asked("broken")},
    {"id": "graded", "input": "x", "threshold": 0.5, "assert": [TYPE, {**KIND, "weight": 2}, {**TYPE, "value": "never"}]},
    {"id": "rubrics", "input": "x", "grader": "agents:judge.yes", "rubrics": CRITERIA["criteria"]},
    {"id": "tools", "input": "confirm", "assert": [{"type": "tool_called", "name": "book"}, {"type": "tool_called", "name": "cancel"}]},
    {"id": "turns", "turns": [
        {"input": "A trip", "assert": [TYPE]},
        {"input": "3500 euros", "assert": [{"type": "contains", "value": "never said"}, KIND]},
        {"input": "I confirm"},
    ], "final_assertions": [asked("no", value="short")]},
    {"id": "dynamic", "input": "A trip, please", "simulator": {"use": "scripts:play"}, "max_turns": 6, "checkpoints": [
        {"id": "type", "description": "Asks for the | type", "assertion": TYPE},
        {"id": "book", "assertion": {"type": "tool_called", "name": "book"}},
        POLITE,
        {"id": "thanks", "required": False, "assertion": {"type": "contains", "value": "thanks"}},
    ]},
    {"id": "talk", "mode": "conversation", "grader": "agents:judge.yes", "trials": 2, "threshold": 0.9, "turns": [
        {"input": "A trip", "assertions": [TYPE, CRITERIA]},
        {"input": "3500 euros", "expected_output": "Shall I book it?", "assertions": [{"type": "contains", "value": "never"}]},
    ]},
    {"id": "repeated", "input": "wobbly", "assert": TYPE, "repeat": "2 of 4"},
    {"id": "repeated, rude", "input": "wobbly", "assert": [{"type": "contains", "value": "never"}, asked("yes", "no", "yes")], "repeat": "any of 3"},
    {"id": "👩‍🚀 مرحبا", "input": "Right to left: שלום", "assert": [TYPE]},
]  # fmt: skip
DOT = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")


def application(app: MakeApplication) -> Application:
    files: dict[str, str | bytes] = {}
    for name, replies in JUDGES.items():
        files |= agent(f"judge.{name}", replies=replies)
    files |= agent(replies=REPLIES, cases=CASES, package={"mcp": {"servers": ["trips"]}})
    files |= agent(
        "small",
        replies=REPLIES,
        cases=[
            {"id": "one", "input": "wobbly", "assert": TYPE},
            {"id": "two", "input": "x", "assert": [TYPE, asked("yes", "no", "yes")]},
        ],
    )
    files |= server("trips", {"book": "scripts.demo.book.Book"})
    files |= {
        "book.ts": BOOK,
        "play.ts": PLAY,
        "half.ts": HALF,
        "all_test.ts": SCRIPTS,
        "broken_test.ts": "const = 1;\n",
    }
    return app({**files, "/assistants/demo/tests/dot.png": DOT, "/new.yml": "- { role: system, content: Be long. }"})  # fmt: skip


MASKS = (
    (r"-?\b\d\.\d{8,}(e-\d+)?\b", "<number>"),
    (r"\b[0-9a-f]{32,64}\b", "<digest>"),
    (r"output-\d{14}", "output-<time>"),
    (r'(?s)("duration_ms": \{[^{}]*\})', '"duration_ms": {}'),
    (r'(?s)"x\d[^"]*"', '"<ratio>"'),
    (r'"(faster|slower)"(?=,?\n)', '"no clear change"'),
    (r"  Duration  .*(cannot tell|change|unchanged|slower|faster)|\| Duration  .*", "<durations>"),
    (r'("ms": )\d+', r"\1<n>"),
    (r'("duration_ms": )null', r"\1<n>"),
    (r"\b[0-9a-f]{16}\b", "<digest>"),
    (r"\b[0-9a-f]{12}\b", "<run>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?( UTC)?", "<time>"),
    (r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "<time>"),
    (r'("?\w*(_ms|seconds|deviation|elapsed|started|ended)"?: )[\d.]+', r"\1<n>"),
    (r'"(duration|start|stop|at|time)": [\d.]+', r'"\1": <n>'),
    (r'(time)="[\d.]+"', r'\1="<n>"'),
    (r'(timestamp)="[^"]+"', r'\1="<time>"'),
    (r"\b\d+(\.\d+)? ?(ms|s)\b", "<duration>"),
    (r"[ ]*<duration>[ ]*", " <duration> "),
    (r"(passes|flaky|fails)( <duration>)? *\n", r"\1\n"),
    (r"\|? *[-\d.]+ → [-\d.]+ ms", "<durations>"),
    (r'"version": "[\d.a-z+]+"', '"version": "<version>"'),
    (r"yao-test \d+\.\d+\.\d+\S*", "yao-test <version>"),
    (r"\b\d{13}\b", "<time>"),
    (r"[█▇▆▅▄▃▂▁]+", "<bar>"),
    (r"([^\n ]) {2,}", r"\1  "),
)
"""Patterns of what differs from run to run, and what stands for it."""


def masked(text: str) -> str:
    for pattern, stands in MASKS:
        text = re.sub(pattern, stands, text)
    return text


def compare(name: str, text: str, writes: bool = True) -> None:
    """A text is what `golden/` has under this name."""
    path = GOLDEN / name
    found = masked(text)
    if name.startswith("variants"):  # their cases run side by side
        found = "\n".join(sorted(re.sub(r'"parts": \[.*?\]\}?\]', '"parts": []', found).splitlines()))
    if name.endswith(".md"):  # the columns of tables are as wide as the times in them
        found = re.sub(r"(?m)(?<=\S) +\|(?= |$)", " |", re.sub(r"-{4,}(?= \|)", "---", found))
    if writes and os.environ.get("WRITE_GOLDEN"):
        path.write_text(found, "utf-8")
    lines, wanted = found.splitlines(), path.read_text("utf-8").splitlines()
    if name.endswith(".jsonl"):  # results of modules are written in the order in which they end
        lines, wanted = sorted(lines), sorted(wanted)
    assert lines == wanted, name


def pages(text: str) -> str:
    """What the HTML report holds, as lines of JSON."""
    blocks = re.findall(r'<script[^>]* id="([^"]+)"[^>]*>([A-Za-z0-9+/=]+)</script>', text)
    assert blocks
    return "\n".join(
        f"{name}\n{json.dumps(json.loads(decompress(b64decode(data))), ensure_ascii=False, indent=1)}"
        for name, data in blocks
    )


ENDS = ("jsonl", "json", "md", "xml", "ctrf.json", "html", "txt")


@pytest.fixture(scope="module")
def ran(shared_app: MakeApplication) -> dict[str, Any]:
    """The runs, each once: what they print, and the application that has their reports."""
    here = application(shared_app)
    both = ("-i", "scripts.demo.all", "-i", "scripts.demo.broken", "-i", case_file())
    some = (
        "-i",
        case_file(),
        "--run",
        "^(plain|odd|repeated|votes|turns|talk|Test(Passes|Fails|Throws|Skips|Steps|Calls|Judged))",
    )
    small = ("-i", "assistants/small/tests/cases.jsonl")
    outputs = [word for end in ENDS for word in ("-o", f"whole.{end}")]
    fixed = ("--parallel", "1")
    github = {**here.environment, "GITHUB_ACTIONS": "true"}
    printed = {
        "whole": here.run(*both, *fixed, *outputs, "--coverage", "--store", "store", "--judge-samples", "2"),
        "runs": here.run(*some, "-i", "scripts.demo.all", *fixed, "--runs", "3", "--min-pass-rate", "60", "-o", "runs.jsonl", "-o", "runs.json", "-o", "runs.md", "-o", "runs.html", "--store", "store"),
        "variants": here.run(*small, *fixed, "--runs", "2", "--variant", "old=", "--variant", "new=prompts:new.yml", "-o", "variants.jsonl", "--store", "store"),
        "stopped": here.run(*both, *fixed, "--max-errors", "1", "--timeout", "20s", "--max-tokens", "250", "-o", "stopped.jsonl", "-o", "stopped.json", "-o", "stopped.xml"),
        "quiet": here.run(*both, *fixed, "--json"),
        "github": here.run(*both, *fixed, "-v", "--on-inconclusive", "skip", "-o", "settled.jsonl", env=github),
    }  # fmt: skip
    return {"app": here, "printed": printed}


@each("name", ["whole", "runs", "variants", "stopped", "quiet", "github"])
def test_what_a_run_prints(ran: dict[str, Any], name: str) -> None:
    run = ran["printed"][name]
    compare(f"{name}.console", f"{run.code}\n{run.stdout}\n{run.stderr}")


@each(
    "name",
    [f"whole.{end}" for end in ENDS]
    + ["runs.jsonl", "runs.json", "runs.md", "runs.html", "variants.jsonl"]
    + ["stopped.jsonl", "stopped.json", "stopped.xml", "settled.jsonl"],
)
def test_what_a_report_holds(ran: dict[str, Any], name: str) -> None:
    here = ran["app"]
    text = here.anonymous((here.root / name).read_bytes())
    compare(name, pages(text) if name.endswith(".html") else text)


COMMANDS: dict[str, tuple[str, ...]] = {
    "show": ("show", "whole.jsonl", "-v"),
    "show-json": ("show", "whole.json"),
    "show-files": ("show", "whole.jsonl", *(word for end in ENDS for word in ("-o", f"shown.{end}"))),
    "show-runs": ("show", "runs.jsonl", "-o", "shown-runs.json", "-o", "shown-runs.jsonl", "-o", "shown-runs.xml"),
    "merge": ("merge", "runs.jsonl", "stopped.jsonl", "-o", "merged.jsonl", "-o", "merged.json"),
    "merge-runs": ("merge", "--as-runs", "whole.jsonl", "settled.jsonl", "-o", "joined.jsonl", "-o", "joined.md"),
    "diff": (
        "diff",
        "whole.jsonl",
        "runs.jsonl",
        "--slower-by",
        "1h",
        "-o",
        "diff.json",
        "-o",
        "diff.md",
        "-o",
        "diff.html",
    ),
    "diff-variants": ("diff", "variants.jsonl", "-o", "diff-variants.json"),
    "regrade": ("regrade", "whole.jsonl", "-o", "regraded.jsonl", "-o", "regraded.json", "--judge-samples", "1"),
    "history": ("history", "--store", "store"),
    "history-json": ("history", "--store", "store", "--json"),
    "calibrate": ("calibrate", "whole.jsonl"),
    "extract": ("extract", "whole.jsonl", "--format", "json"),
    "resume": ("--resume", "stopped.jsonl", "-o", "resumed.json"),
}


AS_BEFORE = {
    **{f"shown.{end}": f"whole.{end}" for end in ENDS if end not in ("json", "html")},
    **{f"shown-runs.{end}": f"runs.{end}" for end in ("json", "jsonl")},
}
"""Reports that say the same as those that the run itself wrote."""


@each("name", COMMANDS)
def test_what_commands_make_of_them(ran: dict[str, Any], name: str) -> None:
    here = ran["app"]
    command = COMMANDS[name]
    run = here.run(*command)
    compare(f"{name}.console", f"{run.code}\n{run.stdout}\n{run.stderr}")
    for file in (word for flag, word in itertools.pairwise(command) if flag == "-o"):
        text = here.anonymous((here.root / file).read_bytes())
        compare(AS_BEFORE.get(file, file), pages(text) if file.endswith(".html") else text, file not in AS_BEFORE)
