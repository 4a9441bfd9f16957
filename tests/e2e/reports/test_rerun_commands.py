"""The commands with which reports offer to run one test again: they are run, and have to give the same result."""

from __future__ import annotations

import json
import re
import shlex
from base64 import b64decode
from gzip import decompress
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication

from runner.record.report import Record
from runner.record.saved import load

TESTS = """\
export function TestWho(t, ctx) { t.assert.Equal(ctx.authorized.user_id, "nobody", "who"); }
export async function TestHangs(t) { await new Promise(() => {}); }
export function TestOther(t) {}
export function Test$Odd(t) { t.assert.True(false, "odd"); }
"""
RANDOM = "export function TestRandom(t) { t.fail(String(Math.random())); }\n"
ROWS = """\
export function TestRows(t) { t.assert.NoPanic(() => Process("models.pet.Create", { name: "too long" })); }
"""
PET = {
    "table": {"name": "pet"},
    "columns": [{"name": "id", "type": "ID"}, {"name": "name", "type": "string", "length": 3}],
}
HOOKS = """\
export function BeforeAll() { throw new Error("no database"); }
"""
CASES: list[Record] = [
    {"id": "plain (1)/ü", "input": "hello", "assertions": [{"type": "contains", "value": "nobody"}]},
    {"id": "waits", "turns": [{"input": "ask me"}]},
    {"id": "graded", "mode": "conversation", "turns": [
        {"input": "hello", "assertions": [{"type": "contains", "value": "Be brief"}, {"type": "contains", "value": "no", "weight": 0.3}]}]},
    {"id": "needs", "input": "hello", "depends_on": ["fine"], "assertions": [{"type": "contains", "value": "nobody"}]},
    {"id": "fine", "input": "hello"},
]  # fmt: skip
FILES = {
    "a_test.ts": TESTS,
    "env_test.ts": HOOKS,
    "broken_test.ts": "const = 1;\n",
    **agent(
        replies='- when: { input: ask }\n  reply: { text: "What?", awaiting_input: true }\n- reply: "Be brief"\n',
        cases=CASES,
    ),
    **agent("other", replies='- reply: "I am another"\n'),
    "/connectors/second.conn.yao": json.dumps({"type": "scripted", "options": {"replies": "connectors/second.yml"}}),
    "/connectors/second.yml": '- reply: "from the second"\n',
    "random_test.ts": RANDOM,
    "rows_test.ts": ROWS,
    "/models/pet.mod.yao": json.dumps(PET),
    "/ctx.json": json.dumps({"authorized": {"user_id": "of the file", "team_id": "x"}}),
}
SCRIPT, CASE = ("-i", "scripts.demo.a"), ("-i", case_file())
RUNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a script test": ("", SCRIPT),
    "another user": ("", (*SCRIPT, "-u", "ann with blank", "-t", "it's")),
    "a context": ("", (*SCRIPT, "--ctx", "ctx.json")),
    "a seed": ("", ("-i", "scripts.demo.random", "--seed", "7")),
    "a strict database": ("", ("-i", "scripts.demo.rows", "--strict-db")),
    "a timeout": ("", (*SCRIPT, "--timeout", "500ms")),
    "several runs": ("", (*SCRIPT, "--timeout", "500ms", "--runs", "2", "--min-pass-rate", "90")),
    "another folder": ("../home", ("-i", "scripts.demo.a", "-a", "../app", "--timeout", "500ms")),
    "a module that does not load": ("", ("-i", "scripts.demo.broken")),
    "cases": ("", CASE),
    "cases from another folder": ("../home", ("-i", f"../app/{case_file()}")),
    "cases from their folder": ("assistants/demo/tests", ("-i", "cases.jsonl")),
    "another agent": ("", (*CASE, "-n", "other")),
    "another connector": ("", (*CASE, "-c", "second")),
    "missing input": ("", (*CASE, "--on-missing-input", "fail")),
    "a threshold": ("", (*CASE, "--threshold", "0.75")),
    "a hook": ("", (*CASE, "--before", "env_test.BeforeAll")),
    "a message": ("", ("-i", "say 'hello' to $HOME", "-n", "demo", "-c", "second")),
    "scripts and cases": ("", (*SCRIPT, *CASE, "--timeout", "500ms")),
}


def said(record: Record) -> Record:
    """What has to be the same."""
    kept = ("suite", "id", "status", "error", "cause", "output", "score")
    return {key: record.get(key) for key in kept}


def copied(page: Path) -> dict[tuple[str, str], str]:
    """Suite and id of each result of an HTML report → its command."""
    blocks = re.findall(r'id="block-\d+">([^<]*)<', page.read_text("utf-8"))
    entries = [entry for block in blocks for entry in json.loads(decompress(b64decode(block)))]
    return {(record["suite"], record["id"]): extra["command"] for record, extra in entries}


@pytest.mark.parametrize(("folder", "arguments"), RUNS.values(), ids=RUNS)
def test_the_commands_of_a_report_give_its_results_again(
    app: MakeApplication, folder: str, arguments: tuple[str, ...]
) -> None:
    here = app(FILES)
    first = here.run(*arguments, "-o", "../first.jsonl", "-o", "../first.html", directory=folder)
    (whole,) = here.root.parent.rglob("first.jsonl")
    results = {(record["suite"], record["id"]): record for record in load(whole).lines}
    commands = copied(whole.with_suffix(".html"))
    assert commands.keys() == results.keys(), first
    printed = re.findall(r"^  Rerun: (.*)$", first.stdout, re.M)
    failed = [key for key, record in results.items() if record["status"] == "failed"]
    assert printed == [here.anonymous(commands[key].encode()) for key in failed]
    shown = here.run("show", str(whole)).stdout
    assert re.findall(r"^  Rerun: (.*)$", shown, re.M) == printed

    for key in failed or results:
        assert once(here, commands[key], folder)[key] == said(results[key]), commands[key]


def once(here: Application, command: str, folder: str) -> dict[tuple[str, str], Record]:
    """The results of a command."""
    again = here.home / "again.jsonl"
    words = shlex.split(command)
    assert words[0] == "yao-test"
    run = here.run(*words[1:], "-o", str(again), directory=folder)
    assert run.code != 2, run
    return {(record["suite"], record["id"]): said(record) for record in load(again).lines}


def test_the_flags_that_change_nothing_are_left_out(app: MakeApplication) -> None:
    here = app(FILES)

    run = here.run(*CASE, "--run", "plain", "-v", "--parallel", "2", "--no-color", "--fail-fast", "-o", "r.html")

    assert re.findall(r"^  Rerun: (.*)$", run.stdout, re.M) == [f"yao-test -i {case_file()} --run '^plain.\\(1\\).ü$'"]
