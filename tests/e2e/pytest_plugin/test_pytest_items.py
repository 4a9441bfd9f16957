"""One item is one test: its time, its order, its progress and its end are those of pytest and its plugins."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from command import Application, MakeApplication
from pytest_command import ended, run, start, verdicts

SLEEPS = "await new Promise<void>((done) => setTimeout(done, %d));"
NOTES = "new FS('data').AppendFile('ran', '%s ');"


def noting(name: str, body: str = "") -> str:
    """A test that notes that it has begun."""
    return f"export async function Test{name}(t) {{ {NOTES % name} {body} }}\n"


def ran(here: Application) -> list[str]:
    return (here.root / "data/ran").read_text().split()


AGENT = {
    "/data/.keep": "",
    "/assistants/demo/package.yao": '{"connector": "scripted"}',
    "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
    "/assistants/demo/replies.yml": "- reply: Hello\n",
    "/assistants/demo/src/index.ts": "function Create(ctx, messages) { new FS('data').AppendFile('ran', `${messages[0].content} `); }\n",
}
HOOKS = """\
export function Before() { new FS('data').AppendFile('ran', 'before '); }
export function After() { new FS('data').AppendFile('ran', 'after '); }
"""
NO = '"assert": {"type": "equals", "value": "No"}'
CASES = f"""\
{{"id": "needs", "input": "needs", "depends_on": ["wrong"]}}
{{"id": "right", "input": "right"}}
{{"id": "wrong", "input": "wrong", {NO}, "depends_on": ["first"]}}
{{"id": "left", "input": "left", "skip": true}}
{{"id": "first", "input": "first"}}
"""


def test_a_time_limit_is_one_of_each_test(app: MakeApplication) -> None:
    """It fails the test that is over it, by name, also one that never gives way, and no other one."""
    pytest.importorskip("pytest_timeout")
    here = app(
        {
            **AGENT,
            "a_test.ts": noting("One", SLEEPS % 400)
            + noting("Two", SLEEPS % 400)
            + noting("Loops", "for (;;);")
            + noting("Waits", SLEEPS % 60_000)
            + noting("Five", SLEEPS % 400),
        }
    )
    with start(here, "-p", "pytest_timeout", "--timeout", "2", "-rA", "assistants/demo/src/a_test.ts") as process:
        output = b"".join(part for part in process.communicate() if part is not None).decode()
    found = dict(re.findall(r"^(?:PASSED|FAILED) \S+::Test(\w+)(.*)", output, re.M))
    assert {name for name, said in found.items() if "Timeout (>2.0s)" in said} == {"Loops", "Waits"}, output
    assert "2 failed, 3 passed in" in output
    assert ran(here) == ["One", "Two", "Loops", "Waits", "Five"]


def test_each_test_has_its_own_time(app: MakeApplication) -> None:
    here = app({"a_test.ts": "".join(noting(name, SLEEPS % 300).replace(NOTES % name, "") for name in "ABC")})
    output = run(here, "--durations=0", "assistants")[1]
    seconds = {name: float(found) for found, name in re.findall(r"([\d.]+)s call +\S+::(\w+)", output)}
    assert seconds.keys() == {"TestA", "TestB", "TestC"}
    assert all(0.29 <= one < 5 for one in seconds.values()), output


@pytest.mark.parametrize(("flag", "begun"), [("-x", 2), ("--maxfail=2", 4)])
def test_nothing_begins_after_enough_failures(app: MakeApplication, flag: str, begun: int) -> None:
    fails = "t.fail('no');"
    tests = noting("A") + noting("B", fails) + noting("C") + noting("D", fails) + noting("E")
    cases = "".join(
        f'{{"id": "{id}", "input": "{id}"{f", {NO}" if id in "bd" else ""}}}\n' for id in ("a", "b", "c", "d", "e")
    )
    here = app({**AGENT, "a_test.ts": tests, "/assistants/demo/tests/cases.jsonl": cases})
    run(here, flag, "assistants/demo/src/a_test.ts")
    assert ran(here) == list("ABCDE"[:begun])
    (here.root / "data/ran").unlink()
    run(here, flag, "assistants/demo/tests")
    assert ran(here) == list("abcde"[:begun])


def test_progress_is_told_while_tests_run(app: MakeApplication) -> None:
    waits = "while (!new FS('data').Exists('go'));"
    here = app({"/data/.keep": "", "a_test.ts": noting("A") + noting("B", waits) + noting("C")})
    with start(here, "-v", "assistants") as process:
        assert process.stdout is not None
        while b"TestA PASSED" not in (line := process.stdout.readline()):
            assert line
        assert not (here.root / "data/go").exists()
        (here.root / "data/go").touch()
        assert "3 passed in" in ended(process)[1]


ORDERS = {
    "pytest": [],
    "xdist": ["-n", "2"],
    "xdist by file, and timeout on a thread": [
        *("-n", "2", "--dist", "loadfile", "-p", "pytest_timeout", "--timeout", "60", "--timeout-method", "thread")
    ],
    "randomly, rerunfailures and timeout": [
        *("-p", "pytest_randomly", "--randomly-seed", "3", "-p", "pytest_rerunfailures", "--reruns", "1"),
        *("-p", "pytest_timeout", "--timeout", "60"),
    ],
}


@pytest.mark.parametrize("name", ORDERS)
def test_plugins_leave_the_verdicts_of_the_command(app: MakeApplication, name: str) -> None:
    words = ORDERS[name]
    for plugin in (word for word in words if word.startswith("pytest_")):
        pytest.importorskip(plugin)
    tests = noting("Good") + noting("Bad", "t.assert.Equal(1, 2);") + noting("Skips", "t.skip('not today');")
    here = app(
        {
            **AGENT,
            "a_test.ts": tests,
            "b_test.ts": "export const x = 1;\n" + noting("Other") + noting("Throws", "null.x;"),
            "/assistants/demo/tests/cases.jsonl": CASES,
        }
    )
    command = here.report("-i", "assistants", code=1)
    results = [result for report in command["reports"] for result in report["results"]]
    expected = {result.get("id") or result["name"]: result["status"] for result in results}
    assert Counter(expected.values()) == {"passed": 4, "failed": 3, "skipped": 3}
    assert verdicts(here, *words, "assistants") == expected


def test_cases_follow_the_order_of_pytest_within_one_run(app: MakeApplication) -> None:
    """A case that others depend on runs before them, once; hooks around all cases run once."""
    toml = 'before = "demo.hooks_test.Before"\nafter = "demo.hooks_test.After"\n'
    files = {"/assistants/demo/tests/cases.jsonl": CASES, "hooks_test.ts": HOOKS, "/yao-test.toml": toml}
    here = app({**AGENT, **files})
    cases = [f"assistants/demo/tests/cases.jsonl::{id}" for id in ("right", "needs", "left", "first", "wrong")]
    code, output = run(here, "-v", *cases)
    assert re.findall(r"::(\w+) (\w+)", output)[:5] == [
        ("right", "PASSED"),
        ("needs", "SKIPPED"),
        ("left", "SKIPPED"),
        ("first", "PASSED"),
        ("wrong", "FAILED"),
    ]
    assert (code, ran(here)) == (1, ["before", "right", "first", "wrong", "after"]), output


def test_what_failed_runs_again_alone(app: MakeApplication) -> None:
    """Also a case whose id looks like that of a parameter."""
    tests = noting("A") + noting("B", "if (!new FS('data').Exists('ok')) t.fail('no');") + noting("C")
    case = f'{{"id": "D[1]", "input": "D", {NO}}}'
    here = app({**AGENT, "a_test.ts": tests, "/assistants/demo/tests/cases.jsonl": case})
    assert "2 failed, 2 passed in" in run(here, "assistants")[1]
    (here.root / "data/ok").touch()
    assert "1 failed, 1 passed" in run(here, "assistants", "--lf")[1]
    assert ran(here) == ["A", "B", "C", "D", "B", "D"]


def test_a_test_runs_again_until_it_passes(app: MakeApplication) -> None:
    pytest.importorskip("pytest_rerunfailures")
    flaky = "const data = new FS('data'); if (!data.Exists('seen')) { data.WriteFile('seen', ''); t.fail('no'); }"
    here = app({**AGENT, "a_test.ts": noting("A") + noting("B", flaky) + noting("C")})
    assert "3 passed, 1 rerun in" in run(here, "-p", "pytest_rerunfailures", "--reruns", "2", "assistants")[1]
    assert ran(here) == ["A", "B", "B", "C"]


def test_what_breaks_outside_of_tests_is_an_error_after_the_last_one(app: MakeApplication) -> None:
    """As a snapshot that cannot be written, since something takes its folder away meanwhile."""
    takes = "def pytest_runtest_makereport(call):\n    if call.when == 'call': open('assistants/demo/src/__snapshots__', 'w').close()\n"
    here = app({**AGENT, "a_test.ts": noting("A", "t.snapshot('x');") + noting("B"), "/conftest.py": takes})
    code, output = run(here, "assistants")
    assert (code, "2 passed, 1 error in" in output) == (1, True), output
    assert "ERROR at teardown of TestB" in output and "__snapshots__" in output and ".py:" not in output, output


def test_only_and_todo_hold_as_in_a_run_and_what_they_leave_out_is_said(app: MakeApplication) -> None:
    here = app(
        {
            **AGENT,
            "a_test.ts": noting("Beside")
            + "export function TestAlone(t) { t.only(); t.run('sub', (t) => t.assert.True(true)); }\n"
            + "export function TestLater(t) { t.only(); t.todo('yen'); t.assert.True(false); }\n",
        }
    )
    code, printed = run(here, "-rs", "assistants/demo/src/a_test.ts")
    assert code == 0 and "1 passed, 1 skipped, 1 warning" in printed and "todo: yen" in printed
    assert "t.only in assistants/demo/src/a_test.ts: 1 other test does not run" in printed
    assert not (here.root / "data/ran").exists()
