"""Records the runs that the golden tests show in every format: real runs of the command, with paths, times and durations
replaced.

    PYTHONPATH=tests/helpers python tests/runner/reporters/files/record.py           records, and writes what each format makes
    PYTHONPATH=tests/helpers python tests/runner/reporters/files/record.py --formats the formats only, from what is recorded

Whoever runs it reads the difference before it is committed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from agent_files import agent, lines, server
from command import Application, Record, make_application

GOLDEN = Path(__file__).parent / "golden"
FORMATS = ("md", "xml", "ctrf.json", "json", "txt")
ROOT = "/app"

SCRIPTS = {
    "setup_test.ts": """\
export function TestPasses(t) { t.assert.Equal(1, 1); console.log("ready"); }
export function TestFails(t) {
  console.log("a | b `c` <b>bold</b> \\u0000 \\u001b[31mred");
  console.error("bad", { a: 1 });
  t.assert.Equal({ id: 1, tags: ["`x`"] }, { id: 2, tags: ["|"] }, "should | be *equal*");
  t.assert.True(false, "second <script>alert(1)</script>");
}
export function TestThrows(t) { throw new TypeError("no\\nway ]]> & \\"so\\""); }
export function TestSkips(t) { t.skip("later | <i>"); }
export function TestSteps(t) {
  t.run("a", (t) => {});
  t.run("b/c d", (t) => t.assert.Nil(1));
  t.run("e", (t) => t.skip("x"));
}
""",
    "slow_test.ts": "export async function TestHangs(t) { await new Promise(() => {}); }\n",
    "broken_test.ts": "const = 1;\n",
}
REPLIES = """\
- when: { tool.name: book }
  reply: One moment.
- when: { input: confirm }
  reply: { tool_calls: [{ name: book, arguments: { amount: 3500 } }] }
- when: { input: euros }
  reply: Shall I book it?
- when: { input: broken }
  reply: { error: { status: 400, message: the prompt is too long } }
- when: { input: json }
  reply: { json: { keywords: [ai, "a|b"], note: "```" } }
- reply: "What type of trip is it? <b>train</b> or `bus`\\n# plane"
"""
PLAY = """\
export function Simulate(asked) {
  const last = asked.conversation.at(-1)?.content ?? "";
  if (/type/.test(last)) return { input: "By train, 3500 euros", goal_achieved: false };
  if (/book/.test(last)) return { message: "I confirm", goal_achieved: false };
  return { input: "A trip, please", goal_achieved: false };
}
"""
BOOK = "function Book(args) { return { message: 'Trip submitted', id: 7, amount: args.amount }; }"
CASES: list[Record] = [
    {"id": "T001", "name": "A trip", "input": "Hello", "assertions": [{"type": "contains", "value": "trip"}], "tags": ["smoke"]},
    {"id": "T|2 `id` <b>", "name": "Odd *name*", "input": "json\n```\n| x |", "assertions": [
        {"type": "json_path", "path": "$.keywords[0]", "value": "ai"},
        {"type": "contains", "value": "</details>|`none`"},
    ]},
    {"id": "T003", "input": "broken"},
    {"id": "T004", "input": "later", "skip": True},
    {"id": "turns", "turns": [
        {"input": "A trip", "assertions": [{"type": "contains", "value": "type"}]},
        {"input": "3500 euros", "assertions": [{"type": "contains", "value": "never said"}]},
    ]},
    {"id": "dynamic", "input": "A trip, please", "simulator": {"use": "scripts:play"}, "max_turns": 6, "checkpoints": [
        {"id": "type", "description": "Asks for the | type", "assertion": {"type": "contains", "value": "type"}},
        {"id": "book", "assertion": {"type": "tool_called", "name": "book"}},
        {"id": "thanks", "required": False, "assertion": {"type": "contains", "value": "thanks"}},
    ]},
    {"id": "👩‍🚀 مرحبا", "input": "Right to left: שלום", "assertions": [{"type": "contains", "value": "type"}]},
]  # fmt: skip


def application(folder: Path) -> Application:
    """What is run."""
    files = agent(replies=REPLIES, cases=CASES, package={"mcp": {"servers": ["trips"]}})
    files |= {**server("trips", {"book": "scripts.demo.book.Book"}), "book.ts": BOOK, "play.ts": PLAY}
    return make_application(folder, {**SCRIPTS, **files})


RUNS = {
    "scripts": ("-i", "scripts.demo.setup"),
    "cases": ("-i", "assistants/demo/tests/cases.jsonl"),
    "mixed": ("-i", "scripts.demo", "-i", "assistants/demo/tests/cases.jsonl", "--timeout", "300ms"),
}
"""Name of a stream → how it is made."""


def record() -> None:
    """Runs the command."""
    with tempfile.TemporaryDirectory() as folder:
        app = application(Path(folder))
        for name, arguments in RUNS.items():
            run = app.run(*arguments, "-o", f"{name}.jsonl", "--parallel", "1")
            assert run.code == 1, run
            text = (app.root / f"{name}.jsonl").read_text("utf-8").replace(str(app.root), ROOT)
            records = [steady(json.loads(line), number) for number, line in enumerate(text.splitlines())]
            (GOLDEN / f"{name}.jsonl").write_text(lines(*records), "utf-8")


def steady(value: Record, number: int) -> Record:
    """A line without the time and the version of the day; durations tell the line and the order within it."""
    fixed = {"timestamp": "2024-12-17T10:00:00Z", "completed_at": "2024-12-17T10:00:12Z", "version": "0.10.5"}
    value |= {key: text for key, text in fixed.items() if key in value}
    durations = iter(range(number * 100 + 34, 10**9))
    return _timed(value, durations)


def _timed(value, durations):  # type: ignore[no-untyped-def]
    if isinstance(value, dict):
        return {
            key: next(durations) if key == "duration_ms" else _timed(item, durations) for key, item in value.items()
        }
    return [_timed(item, durations) for item in value] if isinstance(value, list) else value


def write_formats() -> None:
    """Writes what each format makes of each stream."""
    from runner.record.saved import load
    from runner.reporters import maker_for_file

    for name in RUNS:
        for extension in FORMATS:
            path = GOLDEN / f"{name}.{extension}"
            maker_for_file(path)().write(load(GOLDEN / f"{name}.jsonl"))


if __name__ == "__main__":
    if "--formats" not in sys.argv:
        record()
    write_formats()
