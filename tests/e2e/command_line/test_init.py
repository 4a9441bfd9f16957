"""`yao-test init`: what it makes passes at once, and what was there stays."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from command import COMMAND, PATIENCE, Application, make_application

AGENT = [
    f"assistants/hello/{name}"
    for name in (
        "package.yao",
        "prompts.yml",
        "replies.yml",
        "src/greeting.ts",
        "src/greeting_test.ts",
        "tests/greetings.jsonl",
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
    assert "Add this line to .gitignore: output-*.jsonl\n" in run.stdout
    assert run.stdout.endswith("Run the tests: yao-test\n")
    tests = empty.run("-q")
    assert (tests.code, tests.stderr) == (0, "")
    assert "Summary: 2 passed, 0 failed, 0 skipped" in tests.stdout
    assert files(empty) == made


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
        assert f"Left as it is {name[1:]}\n" in run.stdout or name == "/.gitignore"
    assert 'Add "types/yao-test" to "include" in tsconfig.json' in run.stdout
    assert "Add this line" not in run.stdout
    assert (
        "Not written assistants/hello/src/greeting_test.ts, since the greeting.ts that exists is another one\n"
        in run.stdout
    )
    assert (
        "Not written assistants/hello/tests/greetings.jsonl, since the replies.yml that exists is another one"
        in run.stdout
    )


def test_the_second_time_nothing_changes(empty: Application) -> None:
    empty.run("init", "--ci", "gitlab")
    before = empty.listing()
    run = empty.run("init", "--ci", "gitlab")

    assert run.code == 0
    assert empty.listing() == before
    assert "Wrote" not in run.stdout
    assert "Left as it is .gitlab-ci.yml\n" in run.stdout


def test_an_agent_of_that_name_gets_nothing_that_could_change_it(tmp_path: Path) -> None:
    app = make_application(tmp_path, {"/assistants/hello/package.yao": '{"connector": "openai"}'})
    run = app.run("init", "--ci", "none")

    assert run.code == 0
    assert files(app) & set(AGENT) == {"assistants/hello/package.yao"}
    assert run.stdout.count("since the package.yao that exists is another one") == len(AGENT) - 1
    other = app.run("init", "--ci", "none", "-n", "team.first-one")
    assert "Wrote assistants/team/first-one/package.yao\n" in other.stdout
    assert app.run("-n", "team.first-one", "-q").code == 0


def test_an_application_keeps_its_agents_and_gets_one_more(tmp_path: Path) -> None:
    app = make_application(tmp_path, {"a_test.ts": "export function TestA(t) {}\n"})
    run = app.run("init", directory="assistants/demo/src")

    assert run.code == 0
    assert files(app) >= set(AGENT)
    assert run.stdout.endswith("Run the tests, in ../../..: yao-test\n")
    assert "Summary: 3 passed, 0 failed, 0 skipped" in app.run("-q").stdout


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
    "an id that leads out": (["-n", "../out"], 'Error: Cannot make agent "../out"'),
    "an empty id": (["-n", ""], 'Error: Cannot make agent ""'),
    "an unknown CI system": (["--ci", "jenkins"], "Error: Invalid value for '--ci'"),
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
    with subprocess.Popen(
        [*COMMAND, "init"], cwd=empty.root, env=environment, stdin=follower, stdout=follower, stderr=follower
    ) as process:
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
