"""What scripts and models say cannot steer the terminal on which it is shown."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from agent_files import agent, case_file
from command import MakeApplication
from test_secret_places import on_terminal

STEERS = {
    "clears the screen": "\x1b[2J",
    "goes up": "\x1b[1A\r\x1b[2K✓ PASSED",
    "hides what follows": "\x1b[8m",
    "sets the title": "\x1b]0;x\x07",
    "writes the clipboard": "\x1b]52;c;eA==\x07",
    "begins the line again": "x\r✓ PASSED",
    "goes back": "xx\b\b",
    "is of the C1 set": "\x9b2J",
    "turns the direction": "\u202egnirts",
    "has a mark of direction": "1\u200f2",
    "ends a line in another way": "a\u2028✓ PASSED",
    "is green": "\x1b[32m✓ PASSED\x1b[0m",
    "begins with a clear line": "\r\x1b[K✓ PASSED",
    "links elsewhere": "\x1b]8;;http://example.com\x07here\x1b]8;;\x07",
}
SCRIPT = """
const said = SAID;
export function TestLog(t: any) { t.log(said); console.error(said); t.fail("told"); }
export function TestFail(t: any) { t.fail(said); }
export function TestEqual(t: any) { t.assert.Equal(said, "x", said); }
export function TestThrow(t: any) { throw new Error(said); }
export function TestSubtest(t: any) { t.run(said, (t: any) => t.fail("x")); }
export function TestSkip(t: any) { t.skip(said); }
"""
COLOURS = r"\x1b\[(?:[012]|3[1236])m"
STEERING = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e]"
LIVE = r"\x1b\[K|\x1b\[\?25[lh]|\r"


@pytest.mark.parametrize("steer", STEERS)
def test_it_is_spelled_out(app: MakeApplication, steer: str) -> None:
    said = f"<{STEERS[steer]}>"
    replies = f"- reply: {json.dumps(said)}\n"
    cases = [{"id": "a", "input": said, "assert": {"type": "equals", "value": said + "!"}}, {"id": said, "input": "x"}]
    here = app({**agent(replies=replies, cases=cases), "a_test.ts": SCRIPT.replace("SAID", json.dumps(said))})
    for run in (
        here.run("-i", case_file(), "-i", "scripts.demo.a", "-v"),
        here.run("-i", said, "-n", "demo"),
        here.run("-i", f"scripts.{said}"),
    ):
        text = run.stdout + run.stderr
        assert re.findall(STEERING, text) == []
        assert f"{ord(next(letter for letter in said if not letter.isprintable())):04x}" in text


def test_a_terminal_gets_none_of_it(app: MakeApplication) -> None:
    said = {f"<{steer}>" for steer in STEERS.values()}
    cases = [{"id": text, "input": text, "assert": {"type": "equals", "value": f"{text}!"}} for text in said]
    scripts = {f"a{at}_test.ts": SCRIPT.replace("SAID", json.dumps(text)) for at, text in enumerate(said)}
    here = app({**agent(replies="- reply: '{{ input }}'\n", cases=cases), **scripts})
    shown = on_terminal(here, "-i", case_file(), "-i", "scripts.demo", "-v")
    rest = re.sub(f"{COLOURS}|{LIVE}", "", shown)
    assert re.findall(STEERING, rest) == []
    assert [steer for steer in STEERS.values() if steer in shown] == []


def test_a_name_stays_in_its_line(app: MakeApplication) -> None:
    said = "x\n✓ PASSED\t\x1b[1m"
    case = {"id": said, "input": "x", "name": said, "tags": [said], "assert": {"type": "equals", "value": said}}
    others = [{"id": f"{said}!", "input": "x", "skip": said}, {"id": f"{said}?", "input": "x", "tags": [said]}]
    here = app(agent(replies="- reply: Hello\n", cases=[case, *others]))
    run = ("-i", case_file(), "-o", "r.jsonl", "--store", "store")
    texts = [here.run(*run, *more) for more in ((), ("-v",), ("--durations", "3"), ("--runs", "2"))]
    reports = ("show r.jsonl", "status r.jsonl", "diff r.jsonl r.jsonl", "regrade r.jsonl -o regraded.jsonl")
    stores = ("history --store store", f"history {said[0]} --store store", "store list --store store")
    texts += [here.run(*command.split()) for command in (*reports, *stores)]
    texts.append(here.run("-i", case_file(), "--dry-run"))
    for one in texts:
        assert re.findall(r"^✓ PASSED.*", one.stdout + one.stderr, re.M) == [], one
    (again,) = re.findall(r"Rerun: yao-test (.*)\n", texts[0].stdout)
    assert "Failed:  1\n" in here.run(*shlex.split(again), "-o", "again.xml").stdout
