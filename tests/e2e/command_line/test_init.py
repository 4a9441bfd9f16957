"""`yao-test init`: what it makes passes at once, and what was there stays."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from command import PATIENCE, Application, make_application, on_terminal

AGENT = [
    f"assistants/hello/{name}"
    for name in (
        "package.yao",
        "mcps/hours.mcp.yao",
        "mcps/mapping/hours/schemes/opening_hours.in.yao",
        "prompts.yml",
        "replies.yml",
        "src/greeting.ts",
        "src/greeting_test.ts",
        "src/hours.ts",
        "src/index.ts",
        "tests/greetings.jsonl",
        "tests/visit.yaml",
    )
]


@pytest.fixture
def empty(tmp_path: Path) -> Application:
    (tmp_path / "home").mkdir()
    (tmp_path / "app").mkdir()
    return Application(tmp_path / "app", tmp_path / "home")


def files(app: Application) -> set[str]:
    return {path.relative_to(app.root).as_posix() for path in app.root.rglob("*") if path.is_file()}


def test_what_it_made_in_an_empty_folder_passes_at_once(empty: Application) -> None:
    run = empty.run("init")

    assert (run.code, run.stderr) == (0, "")
    made = files(empty)
    assert made >= {*AGENT, "tsconfig.json", "types/yao-test/testing.d.ts", ".github/workflows/yao-test.yml"}
    assert {line.removeprefix("Wrote ") for line in run.stdout.splitlines() if line.startswith("Wrote ")} == made
    assert (empty.root / ".gitignore").read_text() == "output-*.jsonl\n.yao-test/\n"
    assert "Created .yao-test/, where runs are stored for history and view\n" in run.stdout
    assert run.stdout.endswith("Run the tests: yao-test\n")
    tests = empty.run("-q")
    assert (tests.code, tests.stderr) == (0, "")
    assert "Summary: 3 passed, 0 failed, 0 skipped" in tests.stdout
    assert files(empty) - made == {".yao-test/runs.lock", ".yao-test/runs.sqlite"}


def test_what_exists_is_left_byte_for_byte_and_named(tmp_path: Path) -> None:
    mine = {
        "/assistants/hello/src/greeting.ts": "export const Greeting = () => 'mine';\r\n",
        "/assistants/hello/replies.yml": b"- reply: \xff\n",
        "/tsconfig.json": "{}",
        "/types/yao-test/testing.d.ts": "",
        "/.github/workflows/yao-test.yml": "on: push\n",
        "/.gitignore": "# mine\n/.yao-test\noutput-*.jsonl",
    }
    app = make_application(tmp_path, mine)
    run = app.run("init")

    assert run.code == 0
    for name, content in mine.items():
        assert (app.root / name[1:]).read_bytes() == (content.encode() if isinstance(content, str) else content)
        assert f"Kept {name[1:]}\n" in run.stdout or name == "/.gitignore"
    assert 'Add "types/yao-test" to "include" in tsconfig.json' in run.stdout
    assert "Add this line" not in run.stdout
    assert "Not written assistants/hello/src/greeting_test.ts, because there is another greeting.ts\n" in run.stdout
    assert "Not written assistants/hello/tests/greetings.jsonl, because there is another replies.yml" in run.stdout


def test_the_second_time_nothing_changes(empty: Application) -> None:
    empty.run("init", "--ci", "gitlab")
    before = empty.listing()
    run = empty.run("init", "--ci", "gitlab")

    assert run.code == 0
    assert empty.listing() == before
    assert "Wrote" not in run.stdout
    assert "Kept .gitlab-ci.yml\n" in run.stdout


def test_an_agent_of_that_name_gets_nothing_that_could_change_it(tmp_path: Path) -> None:
    app = make_application(tmp_path, {"/assistants/hello/package.yao": '{"connector": "openai"}'})
    run = app.run("init", "--ci", "none")

    assert run.code == 0
    assert files(app) & set(AGENT) == {"assistants/hello/package.yao"}
    assert run.stdout.count("because there is another package.yao") == len(AGENT) - 1
    other = app.run("init", "--ci", "none", "-n", "team.first-one")
    assert "Wrote assistants/team/first-one/package.yao\n" in other.stdout
    assert app.run("-n", "team.first-one", "-q").code == 0


def test_an_application_keeps_its_agents_and_gets_one_more(tmp_path: Path) -> None:
    app = make_application(tmp_path, {"a_test.ts": "export function TestA(t) {}\n"})
    run = app.run("init", directory="assistants/demo/src")

    assert run.code == 0
    assert files(app) >= set(AGENT)
    assert run.stdout.endswith("Run the tests in ../../..: yao-test\n")
    assert "Summary: 4 passed, 0 failed, 0 skipped" in app.run("-q").stdout


def test_an_application_within_another_one_is_said_to_be_one(tmp_path: Path) -> None:
    here = make_application(tmp_path, {})
    run = here.run("init", "refunds")
    line = f"refunds is a separate application inside {here.root.name}; to add an agent to {here.root.name} instead: "
    assert f"\n{line}yao-test init -n refunds\n" in run.stdout
    assert (here.root / "refunds/assistants/hello").is_dir()
    assert "separate application" not in here.run("init", "-n", "refunds").stdout


def test_a_folder_that_is_named_is_made(empty: Application) -> None:
    run = empty.run("init", "new/app", "--ci", "none")

    assert run.code == 0
    assert empty.run("-q", directory="new/app").code == 0
    assert files(empty) >= {f"new/app/{name}" for name in AGENT}


@pytest.mark.parametrize("system", ["github", "gitlab"])
def test_the_ci_file_stands_where_the_system_reads_it_and_its_command_runs(empty: Application, system: str) -> None:
    (empty.root / ".git").mkdir()
    run = empty.run("init", "agents one", "--ci", system)

    assert run.code == 0
    if system == "github":
        job = yaml.safe_load((empty.root / ".github/workflows/yao-test.yml").read_text())["jobs"]["yao-test"]
        folder = job["defaults"]["run"]["working-directory"]
        commands = [step["run"] for step in job["steps"] if "run" in step]
        report = job["steps"][-1]["with"]["path"]
    else:
        job = yaml.safe_load((empty.root / ".gitlab-ci.yml").read_text())["yao-test"]
        inside, *commands = job["script"]
        folder = shlex.split(inside)[1]
        report = job["artifacts"]["paths"][0]
    assert folder == "agents one"
    assert "pip install -r requirements-test.txt" in commands[0]
    assert "requirements-test.txt so that CI can install it" in run.stdout
    assert empty.run(*commands[1].split()[1:], directory=folder).code == 0
    assert (empty.root / report).is_file()


REFUSED = {
    "a file": (["notes.txt"], "Error: Cannot write <app>/notes.txt: File exists"),
    "an id that leads out": (["-n", "../out"], 'Error: Invalid agent id "../out"'),
    "an empty id": (["-n", ""], "Error: Cannot use --name: it is empty"),
    "an unknown CI system": (["--ci", "jenkins"], 'Error: Invalid --ci "jenkins"'),
    "a link out of the application": ([], "Error: Cannot write <app>/types/yao-test/agent.d.ts: a link leads out"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_made_is_said(tmp_path: Path, name: str) -> None:
    words, message = REFUSED[name]
    app = make_application(tmp_path, {"/notes.txt": "mine"})
    (tmp_path / "elsewhere").mkdir()
    if "link" in name:
        (app.root / "types").symlink_to(tmp_path / "elsewhere")
    run = app.run("init", *words)

    assert run.code == 2
    assert run.stderr.startswith(message), run
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (app.root / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("answer", "written"),
    [(b"gitlab\n", {".gitlab-ci.yml"}), (b"\n", {".github/workflows/yao-test.yml"}), (b"none\n", set())],
    ids=["gitlab", "enter", "none"],
)
def test_a_person_is_asked_for_the_ci_system(empty: Application, answer: bytes, written: set[str]) -> None:
    leader, follower = pty.openpty()
    environment = {**empty.environment, "TERM": "xterm"}
    terminal = {"stdin": follower, "stdout": follower, "stderr": follower}
    with empty.start("init", env=environment, **terminal) as process:
        os.close(follower)
        os.write(leader, answer)
        output = b""
        with suppress(OSError):
            while piece := os.read(leader, 65536):
                output += piece
        assert process.wait(PATIENCE) == 0, output
    os.close(leader)
    assert b"CI file for (github, gitlab, none) [github]:" in output
    assert {name for name in files(empty) if name.endswith("yml") and not name.startswith("assistants")} == written


def test_what_is_ignored_is_added_once_to_a_file_of_ones_own(tmp_path: Path) -> None:
    app = make_application(tmp_path, {"/.gitignore": b"# mine \xff\n.yao-test"})
    run = app.run("init", "--ci", "none")
    app.run("init", "--ci", "none")

    assert "Added to .gitignore: output-*.jsonl\n" in run.stdout
    assert (app.root / ".gitignore").read_bytes() == b"# mine \xff\n.yao-test\noutput-*.jsonl\n"


@pytest.mark.parametrize(("example", "tests"), [("support-desk", 12), ("rag", 10), ("sandbox", 6)])
def test_an_example_passes_at_once_and_lacks_nothing(empty: Application, example: str, tests: int) -> None:
    made = empty.run("init", "--example", example, "--ci", "none")
    run = empty.run("-q", "--strict")

    assert made.code == 0
    assert f"Summary: {tests} passed, 0 failed, 0 skipped" in run.stdout, run
    assert empty.run("doctor", "--strict").code == 0
    assert "Wrote" not in empty.run("init", "--example", example, "--ci", "none").stdout
    refused = empty.run("init", "--example", example, "-n", "desk")
    assert (refused.code, refused.stderr.splitlines()[0]) == (2, "Error: -n and --example cannot be used together")


def test_a_broken_example_would_be_seen(empty: Application) -> None:
    empty.run("init", "--example", "rag", "--ci", "none")
    search = empty.root / "assistants/handbook/src/search.ts"
    search.write_text(search.read_text().replace("b.score - a.score", "a.score - b.score"))

    assert empty.run("-q").code == 1


def test_the_tasks_of_vscode_find_the_places_of_failures(empty: Application) -> None:
    empty.run("init", "--vscode", "--ci", "none")
    tasks = json.loads((empty.root / ".vscode/tasks.json").read_text())["tasks"]
    hours = empty.root / "assistants/hello/src/hours.ts"
    hours.write_text(hours.read_text().replace("16 : 18", "17 : 18"))
    greeting = empty.root / "assistants/hello/src/greeting.ts"
    greeting.write_text(greeting.read_text().replace("Good", "Bad"))
    pattern = re.compile(tasks[0]["problemMatcher"]["pattern"]["regexp"])
    shown = empty.run("-q").stdout.splitlines()
    places = {(found[1], int(found[2])) for line in shown if (found := pattern.search(line))}

    assert [task["label"] for task in tasks] == ["yao-test", "yao-test: this file", "yao-test: watch"]
    assert places == {
        ("assistants/hello/src/greeting_test.ts", 6),
        ("assistants/hello/src/greeting_test.ts", 7),
        ("assistants/hello/tests/visit.yaml", 2),
    }


def at_a_terminal(app: Application, *words: str, ci: str = "") -> str:
    """What a person sees."""
    return on_terminal(app, *words, CI=ci, COLUMNS="100")[1]


def test_the_first_run_and_the_first_failure_have_a_line_of_advice_once(empty: Application) -> None:
    empty.run("init", "--ci", "none")
    silent = [
        empty.run().stdout,
        at_a_terminal(empty, "-q"),
        at_a_terminal(empty, "--json"),
        at_a_terminal(empty, ci="1"),
    ]
    first, second = at_a_terminal(empty), at_a_terminal(empty)
    greeting = empty.root / "assistants/hello/src/greeting.ts"
    greeting.write_text(greeting.read_text().replace("Good", "Bad"))
    failed, again = at_a_terminal(empty), at_a_terminal(empty)

    assert ["Next: " in text for text in (*silent, first, second, failed, again)] == [False] * 4 + [True, False] * 2
    assert "Next: yao-test watch" in first
    assert "Next: yao-test --last-failed" in failed


def test_coding_agents_get_ten_lines_unless_there_are_others(tmp_path: Path) -> None:
    app = make_application(tmp_path, {})
    assert "Wrote AGENTS.md\n" in app.run("init").stdout
    text = (app.root / "AGENTS.md").read_text()
    assert text.count("\n") == 10
    assert {"run_tests", "explain_failure", "last_failed"} <= {*text.split("`")}
    (app.root / "AGENTS.md").write_text("Ours\n")
    assert "Kept AGENTS.md\n" in app.run("init").stdout
