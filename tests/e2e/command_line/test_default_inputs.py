"""`yao-test` without `-i`: everything at or below the working directory, or of the agent that it is inside of."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Application, MakeApplication, make_application
from table_tests import each

REPLIES = "- reply: Hi\n"
PACKAGE = '{"connector": "scripted"}'
PROMPTS = "- {role: system, content: Hi}\n"


def agent(folder: str) -> dict[str, str]:
    """An agent with one test and one case."""
    name = folder.rpartition("/")[2]
    return {
        f"/{folder}/package.yao": PACKAGE,
        f"/{folder}/prompts.yml": PROMPTS,
        f"/{folder}/replies.yml": REPLIES,
        f"/{folder}/src/a_test.ts": f"export function Test{name.title()}(t) {{}}\n",
        f"/{folder}/tests/{name}.jsonl": f'{{"id": "asks-{name}", "input": "Hi", "assert": {{"type": "contains", "value": "Hi"}}}}\n',
    }


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            **agent("assistants/one"),
            **agent("assistants/group/two"),
            **agent("assistants/group/two/inner"),
            "/scripts/a.ts": "export const a = 1;\n",
            "/.venv/lib/tests/foreign.yaml": "not: [a, case, file]\n",
            "/tests/foreign.yml": "nothing: of ours\n",
        }
    )


ONE = {"TestOne", "asks-one"}
TWO = {"TestTwo", "asks-two"}
INNER = {"TestInner", "asks-inner"}
RUNS = {
    "the root": ("", [], ONE | TWO | INNER),
    "assistants": ("assistants", [], ONE | TWO | INNER),
    "a folder of agents": ("assistants/group", [], TWO | INNER),
    "an agent": ("assistants/one", [], ONE),
    "inside an agent": ("assistants/one/src", [], ONE),
    "the cases of an agent": ("assistants/group/two/tests", [], TWO | INNER),
    "an agent in an agent": ("assistants/group/two/inner/src", [], INNER),
    "an agent that is named": ("", ["-n", "one"], ONE),
    "an application that is named": ("../home", ["-a", "../app"], ONE | TWO | INNER),
}


@each("name", RUNS)
def test_a_bare_run_has_what_is_here(here: Application, name: str) -> None:
    directory, words, tests = RUNS[name]
    before = here.listing()
    run = here.run(*words, "--dry-run", directory=directory)

    assert (run.code, run.stderr) == (0, "")
    assert {line.strip() for line in run.stdout.splitlines() if line.startswith("  ")} == tests
    assert here.listing() == before


def test_it_writes_no_report_that_was_not_asked_for(here: Application) -> None:
    before = here.listing()
    run = here.run("-q")

    assert run.code == 0, run
    assert "Summary: 6 passed, 0 failed, 0 skipped" in run.stdout
    assert here.listing() == before


def test_a_report_that_was_asked_for_can_be_resumed(here: Application, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    assert here.run("-q", "-o", str(report), directory="assistants/one").code == 0
    kept = report.read_text().splitlines()
    report.write_text("".join(f"{line}\n" for line in kept[:2]))

    run = here.run("-q", "--resume", str(report), directory="assistants/one")

    assert run.code == 0, run
    assert "1 result of" in run.stderr + run.stdout
    assert "Summary: 2 passed" in run.stdout


def test_flags_are_as_with_an_input(here: Application) -> None:
    run = here.run("--run", "^TestOne$", "-v")

    assert run.code == 0
    assert "► [TestOne]" in run.stdout
    assert "Summary: 1 passed" in run.stdout


NOTHING = {
    "a folder without agents": (
        "scripts",
        "Error: Nothing to test: <app>/scripts contains no agents and is not inside one\n"
        "Hint: Go to <app>, or pass the tests with -i\n",
    ),
    "no application": (
        "../home",
        "Error: Cannot find the application: no folder from <home> upward contains app.yao or assistants/\n"
        "Hint: Pass it with --app, or create one here with yao-test init\n",
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_where_nothing_is_to_be_tested_that_is_said(here: Application, name: str) -> None:
    directory, message = NOTHING[name]
    run = here.run(directory=directory)

    assert (run.code, run.stdout, run.stderr) == (2, "", message)


@pytest.mark.parametrize("files", [{"app.yao": "{}"}, {"app.yao": "{}", "assistants/a/package.yao": "{}"}])
def test_an_application_without_tests_says_how_to_begin(tmp_path: Path, files: dict[str, str]) -> None:
    (tmp_path / "home").mkdir()
    app = Application(tmp_path / "app", tmp_path / "home")
    app.write({f"/{name}": text for name, text in files.items()})
    run = app.run()

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith("Error: Nothing to test")
    assert "\nHint: yao-test init creates an agent with" in run.stderr


def test_what_belongs_to_another_application_is_refused(app: MakeApplication, tmp_path: Path) -> None:
    case = '{"id": "c", "input": "x", "expected": "one"}'
    agent = {"package.yao": '{"connector": "scripted"}', "prompts.yml": "- {role: system, content: x}"}
    files = {f"/assistants/demo/{name}": text for name, text in agent.items()}
    cases = {"/assistants/demo/tests/c.jsonl": case}
    here = app({**files, **cases, "/assistants/demo/replies.yml": "- reply: one"})
    (tmp_path / "other").mkdir()
    other = make_application(
        tmp_path / "other",
        {**files, **cases, "/assistants/demo/replies.yml": "- reply: two", "a_test.ts": "function TestA() {}"},
    )
    folder = other.root / "assistants/demo"
    told = f"it is in the application {other.root}, and this run is of"
    for path, more in ((folder, ()), (folder, ("-n", "demo")), (folder / "tests", ()), (folder / "tests/c.jsonl", ())):
        run = here.run("-i", "assistants", "-i", str(path), *more)
        assert run.code == 2, run
        assert told in run.stderr
    assert here.run("-i", "assistants", "-i", str(folder / "tests/c.jsonl"), "-n", "demo").code == 0
    assert here.run("-a", ".", "-i", str(folder / "tests/c.jsonl")).code == 0
