"""A failure is told in full once, with one unified diff: the same lines on the console, in Markdown, HTML, JUnit and
annotations; a long run names those that failed once more at its end."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from gzip import decompress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from agent_files import agent, case_file
from command import MakeApplication

LINES = "const lines = (text) => Array.from({ length: 40 }, (_, i) => ({ sku: i, text: i === 20 ? text : 'plain' }));\n"
DIFFERENT = {
    "an object": ("{ name: 'Ine', zip: 1 }", "{ name: 'Ine', zip: 2 }", ["-   zip: 2,", "+   zip: 1,"]),
    "a long list": ("lines('red')", "lines('blue')", ['-     text: "blue",', '+     text: "red",']),
    "lines of a text": ("'a\\nb\\nc'", "'a\\nx\\nc'", ["- x", "+ b"]),
    "a short text": ("'paid'", "'open'", ['- "open"', '+ "paid"']),
}


@pytest.mark.parametrize(("actual", "expected", "changed"), DIFFERENT.values(), ids=DIFFERENT)
def test_each_format_has_the_same_difference(
    app: MakeApplication, actual: str, expected: str, changed: list[str]
) -> None:
    test = f"export function TestOne(t) {{\n  t.assert.Equal({actual}, {expected});\n}}\n"
    here = app({"a_test.ts": LINES + test})
    github = here.environment | {"GITHUB_ACTIONS": "true"}
    run = here.run("-i", "scripts.demo.a", "-o", "r.md", "-o", "r.xml", "-o", "r.html", env=github)

    console = [line[7:] for line in run.stdout.splitlines() if line.startswith("       ")]
    start = console.index("- expected + actual")
    told = console[start : next(at for at, line in enumerate(console) if line.startswith("at "))]
    assert [line for line in told[1:] if line[0] in "+-"] == changed
    assert len(told) <= 11, "three lines around what differs, and nothing else"
    text = "\n".join(told)
    assert f"```diff\n{text}\n```" in (here.root / "r.md").read_text()
    (failure,) = ElementTree.parse(here.root / "r.xml").getroot().iter("failure")
    assert text in (failure.text or "")
    assert diffs_in(here.root / "r.html") == {"failures.0": "\n".join(told[1:])}
    annotation = next(line for line in run.stdout.splitlines() if line.startswith("::error "))
    assert text.replace("\n", "%0A") in annotation
    assert run.stdout.partition("::error")[0].count("- expected + actual") == 1


def diffs_in(page: Path) -> dict[str, str]:
    """The diffs that the page shows of its only result, by the paths of their checks."""
    block = re.search(r'id="block-0">(.*?)</script>', page.read_text())
    assert block is not None
    ((_, extra),) = json.loads(decompress(b64decode(block[1])))
    return dict(extra["diffs"])


def test_a_case_has_the_difference_of_the_values_and_a_short_message(app: MakeApplication) -> None:
    reply = '{"state":"paid","lines":["tea","milk","rice"],"buyer":{"name":"Ine","zip":5003}}'
    wanted = {"state": "open", "lines": ["tea", "milk", "rice"], "buyer": {"name": "Ine", "zip": 5003}}
    here = app(agent(replies=f"- reply: '{reply}'\n", cases=[{"id": "order", "input": "x", "expected": wanted}]))
    shown = here.run("-i", case_file(), "-o", "r.html").stdout

    ((path, diff),) = diffs_in(here.root / "r.html").items()
    assert path == "assertions.0" and "\n".join(f"     {line}" for line in diff.split("\n")) in shown
    assert 'to equal the expected object, found that $.state is "paid" instead of "open"\n' in shown
    assert '     -   "state": "open",\n     +   "state": "paid",\n' in shown


@pytest.mark.parametrize(("failing", "named_again"), [(3, False), (11, True)])
def test_many_failures_are_named_once_more_at_the_end(app: MakeApplication, failing: int, named_again: bool) -> None:
    code = "".join(f"export function Test{at}(t) {{ t.assert.Equal({at}, -1); }}\n" for at in range(failing))
    shown = app({"a_test.ts": code}).run("-i", "scripts.demo.a").stdout

    assert shown.count("Not equal") == failing
    named = re.findall(r"(?m)^✗ scripts\.demo\.a › Test\d+ \(assistants/demo/src/a_test\.ts:\d+:\d+\)$", shown)
    assert len(named) == (failing if named_again else 0)


def test_a_failure_far_above_is_named_at_the_end(app: MakeApplication) -> None:
    passing = "".join(f"export function TestP{at}() {{}}\n" for at in range(40))
    fails = "export function TestFails(t) { t.fail('no'); }\n"
    shown = app({"a_test.ts": fails + passing}).run("-i", "scripts.demo.a").stdout

    assert "  Failed tests\n" in shown and shown.count("└─ no") + shown.count("failed: no") == 1
