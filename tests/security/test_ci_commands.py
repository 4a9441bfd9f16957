"""No CI server takes what scripts, models and cases say for a command, and people still read it."""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication
from table_tests import each

from runner.security.secrets import Secrets
from runner.security.terminal import RedactedStream, own_commands

COMMANDS = {
    "GitHub": "::add-mask::abc",
    "GitHub, with blanks": " \t::set-output name=x::abc",
    "GitHub, of old": "x ##[add-path]/evil",
    "Azure": "x ##vso[task.prependpath]/evil",
    "Azure, in capitals": "##VSO[task.setvariable]x",
    "TeamCity": "##teamcity[buildStatus text='x']",
    "attachments": "x [[ATTACHMENT|/etc/passwd]]",
}
TAKEN = re.compile(
    r"^\s*::(?!stop-commands|error |warning |notice |\w{32}::)[\w-]+.*?::|##\[|##vso\[|##teamcity\[|\[\[ATTACHMENT\|",
    re.MULTILINE | re.IGNORECASE,
)
"""What these servers take for a command; annotations of ours are not."""
HARMLESS = "## Heading\nstd::vector ::\n:: x\n[[wiki]] #[x] # [y]\na::b::c\n"
SCRIPT = """
const said = SAID;
export function TestLog(t: any) { t.log(said); console.error(said); t.fail("told"); }
export function TestThrow(t: any) { throw new Error(said); }
export function TestSubtest(t: any) { t.run(said, (t: any) => t.fail(said)); }
export function TestSkip(t: any) { t.skip(said); }
"""


@pytest.fixture(scope="module")
def here(shared_app: Any) -> Application:
    text = "\n".join(COMMANDS.values())
    cases = [
        {"id": said.strip(), "input": said, "name": said, "tags": [said], "assert": {"type": "equals", "value": "y"}}
        for said in COMMANDS.values()
    ]
    files = {
        **agent(replies=f"- reply: {json.dumps(text)}\n", cases=cases),
        "a_test.ts": SCRIPT.replace("SAID", json.dumps(text)),
    }
    return shared_app(files)


@each("command", COMMANDS)
def test_each_is_a_command_without_the_wall(command: str) -> None:
    assert TAKEN.search(COMMANDS[command])


def test_no_command_prints_one(here: Application) -> None:
    both = ("-i", case_file(), "-i", "scripts.demo.a")
    on_github = {**here.environment, "GITHUB_ACTIONS": "true", "TF_BUILD": "True"}
    ran = here.run(*both, "-v", "-o", "r.jsonl", "-o", "r.xml", "--store", "store", env=on_github)
    assert ran.code == 1
    said = "task.prependpath]/evil", "add-mask::abc", "/etc/passwd", "buildStatus"
    assert all(part in ran.stdout for part in said)
    assert "\n::error " in ran.stdout
    others = (
        "show r.jsonl", "show run:latest --store store", "status r.jsonl", "diff r.jsonl r.jsonl",
        "regrade r.jsonl -o again.jsonl", "history --store store", "store list --store store",
        f"-i {case_file()} --dry-run", "-i scripts.demo.a --json", f"-i {case_file()} -q", "-i ::add-mask::abc",
    )  # fmt: skip
    for run in (ran, *(here.run(*words.split(), env=on_github) for words in others)):
        assert TAKEN.findall(run.stdout + run.stderr) == [], run


def test_json_and_reports_have_what_was_said(here: Application) -> None:
    run = here.run("-i", case_file(), "--json", "-o", "r.jsonl", "-o", "r.xml")
    assert "##vso[task.prependpath]/evil" in json.dumps(json.loads(run.stdout)["results"])
    kept = (here.root / "r.jsonl").read_text()
    assert all(json.dumps(text)[1:-1] in kept for text in COMMANDS.values())
    document = (here.root / "r.xml").read_text()
    assert "[[ATTACHMENT|" not in document
    assert "/etc/passwd]]" in document


def test_texts_that_look_nearly_so_stay(app: MakeApplication) -> None:
    here = app({"a_test.ts": f"export function TestA(t: any) {{ console.log({json.dumps(HARMLESS)}); }}"})
    shown = here.run("-i", "scripts.demo.a", "-v").stdout
    assert [line for line in HARMLESS.splitlines() if line not in shown] == []


@each("command", COMMANDS)
@each("size", [1, 2, 3, 100])
def test_a_stream_breaks_them_however_they_are_written(command: str, size: int) -> None:
    text = f"{HARMLESS}{COMMANDS[command]}\nend ##vs\no[x] "
    inner = StringIO()
    stream: Any = RedactedStream(inner, Secrets({}))
    for at in range(0, len(text), size):
        stream.write(text[at : at + size])
    stream.write("\n" + own_commands("::error file=a.ts::of ours\n"))
    shown = inner.getvalue()
    assert TAKEN.findall(shown) == []
    assert shown.endswith("\nend ##vs\no[x] \n::error file=a.ts::of ours\n")
