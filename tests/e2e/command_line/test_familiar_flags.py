"""Flags as other tools have them, the spellings of Yao, and `--max-failures`."""

from __future__ import annotations

import json
import shlex

import pytest
from command import Application, MakeApplication
from table_tests import each

PACKAGE = {
    "/assistants/demo/package.yao": '{"connector": "scripted"}',
    "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
    "/assistants/demo/replies.yml": "- reply: 'You said {{ input }}'\n",
}
FAILING = "".join(f"export function Test{name}(t) {{ t.fail('x'); }}\n" for name in "ABCDE")
ANSWERS = "".join(
    json.dumps({"id": f"case-{number}", "input": "Hi", "assert": {"type": "equals", "value": "No"}}) + "\n"
    for number in range(5)
)


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            **PACKAGE,
            "one_test.ts": "export function TestBeta(t) {}\nexport const TestBetaTwo = (t) => {};\n"
            "export function TestLocale(t, ctx) { t.log(ctx.locale); }\n",
            "more/failing_test.ts": FAILING,
            "more/env_test.ts": "export function BeforeAll(ctx, cases) { return 1; }\nexport function AfterAll(ctx) {}\n",
            "/assistants/demo/tests/bad.jsonl": ANSWERS,
            "/assistants/demo/tests/good.jsonl": '{"id": "says-hi", "input": "Hi"}\n',
        }
    )


HABITS = {
    "pytest": (["-k", "Beta"], "--run Beta"),
    "pytest, the first failure": (["-x"], "--fail-fast"),
    "pytest, some failures": (["--maxfail=2"], "--max-failures 2"),
    "xdist": (["-v", "-j", "4"], "-v --parallel 4"),
    "Playwright": (["--grep", "Beta|No one"], "--run 'Beta|No one'"),
    "Jest": (["--testNamePattern=^Test(Beta|B)$"], "--run '^Test(Beta|B)$'"),
    "Vitest": (["--bail", "3"], "--max-failures 3"),
    "Bun": (["--bail"], "--fail-fast"),
    "Go": (["-failfast"], "--fail-fast"),
    "two of them": (["-x", "-q", "-k", "Two$"], "--fail-fast -q --run 'Two$'"),
}


@each("name", HABITS)
def test_a_flag_of_another_tool_is_refused_with_the_line_to_type(here: Application, name: str) -> None:
    words, line = HABITS[name]
    run = here.run("-i", "scripts.demo.one", *words)

    assert (run.code, run.stdout) == (2, "")
    error, hint = run.stderr.splitlines()
    assert error == f"Error: Unknown flag {next(word for word in words if word not in '-v').partition('=')[0]}"
    assert hint == f"Hint: Type: yao-test -i scripts.demo.one {line}"
    assert here.run(*shlex.split(hint)[3:]).code == 0


def test_what_looks_like_such_a_flag_and_is_a_value_is_none(here: Application) -> None:
    assert here.run("-i", "scripts.demo.one", "--run=-k|Beta", "-q").code == 0
    assert "no flag" not in here.run("-i", "scripts.demo.one", "--run", "-k", "-q").stderr


TEAMS = {"a function": "TestBeta", "an arrow function": "TestBetaTwo", "a case": "says-hi"}


@pytest.mark.parametrize("name", TEAMS)
def test_a_team_that_is_the_name_of_a_test_is_pointed_out(here: Application, name: str) -> None:
    team = TEAMS[name]
    run = here.run("-i", "scripts.demo.one", "-i", "assistants/demo/tests/good.jsonl", "-t", team, "--dry-run")

    assert run.code == 0
    assert f"Warning: -t {team} sets the team of the test user; to select that test, use --run {team}\n" in run.stdout


@pytest.mark.parametrize("team", ["ops-team", "Test", "TestBet", "TestBetaThree"])
def test_any_other_team_is_not(here: Application, team: str) -> None:
    assert "Warning" not in here.run("-i", "scripts.demo.one", "-t", team, "--dry-run").stdout


def test_hooks_have_the_names_that_yao_gives_them(here: Application) -> None:
    words = ["-i", "assistants/demo/tests/good.jsonl", "--before-all", "more.env_test.BeforeAll"]
    run = here.run(*words, "--after-all", "more.env_test.Nothing", "-n", "demo", "--dry-run")

    assert run.code == 2
    assert "more.env_test.Nothing" in run.stderr
    assert here.run(*words, "--after-all", "more.env_test.AfterAll", "--dry-run").code == 0


def test_the_locale_is_that_of_the_context_and_a_context_file_wins(here: Application) -> None:
    here.write({"/ctx.json": '{"locale": "fr-fr"}'})
    shown = ["-i", "scripts.demo.one", "--run", "TestLocale", "-v"]

    assert "en-us" in here.run(*shown).stdout
    assert "de-de" in here.run(*shown, "--locale", "de-de").stdout
    assert "fr-fr" in here.run(*shown, "--locale", "de-de", "--ctx", "ctx.json").stdout


def test_an_agent_and_a_message_need_no_flags(here: Application) -> None:
    run = here.run("demo", "Hello you", "-v")

    assert run.code == 0
    assert "Agent: demo" in run.stdout
    assert "You said Hello you" in run.stdout
    near = here.run("demmo", "Hello")
    assert (near.code, near.stderr.splitlines()[1]) == (2, 'Hint: Did you mean "demo"?')


def test_a_command_keeps_its_name(here: Application, app: MakeApplication) -> None:
    mistyped = here.run("shwo", "report.json")
    assert (mistyped.code, mistyped.stderr) == (
        2,
        'Error: Cannot run "shwo": no command, agent, file or folder has that name\nHint: Did you mean "show"?\n',
    )
    own = app({"/assistants/shows/package.yao": PACKAGE["/assistants/demo/package.yao"]})
    assert "no command" not in own.run("shows", "Hello").stderr


@each(("limit", "ran"), [(1, 1), (3, 3), (5, 5), (9, 5)])
@each("input", ["scripts.demo.more.failing", "assistants/demo/tests/bad.jsonl"])
def test_a_run_stops_after_so_many_failures(here: Application, input: str, limit: int, ran: int) -> None:
    path = here.home / f"{limit}.json"
    run = here.run("-i", input, "--max-failures", str(limit), "--parallel", "1", "-o", str(path))

    assert run.code == 1
    assert json.loads(path.read_text())["summary"]["failed"] == ran
    stopped = f"Stopped: --max-failures {limit}; {5 - ran} not run\n"
    assert (stopped in run.stdout) == (ran < 5)


def test_failures_of_scripts_and_cases_are_counted_together(here: Application) -> None:
    inputs = ["-i", "scripts.demo.more.failing", "-i", "assistants/demo/tests/bad.jsonl"]
    run = here.run(*inputs, "--max-failures", "7", "--parallel", "1", "-o", str(here.home / "both.json"))

    assert run.code == 1
    assert "Summary: 0 passed, 7 failed, 0 skipped" in run.stdout
    assert "Stopped: --max-failures 7; 3 not run\n" in run.stdout
