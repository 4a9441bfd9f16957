"""What a report that is resumed takes over is shown, and another application is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import agent
from command import Application, MakeApplication

CASES = "assistants/demo/tests/cases.jsonl"


@pytest.fixture
def here(app: MakeApplication) -> Application:
    hooks = "export function BeforeAll() {}\nexport function AfterAll() {}\n"
    made = app({**agent(cases=[{"id": "a", "input": "x"}]), "env_test.ts": hooks})
    made.write({"/conf/me.json": '{"locale": "de-de"}'})
    return made


def begun(here: Application, *flags: str) -> Path:
    """A report with no results, as a run that was killed leaves it."""
    path = here.home / "r.jsonl"
    assert here.run("-i", CASES, *flags, "-o", str(path)).code == 0
    path.write_text(path.read_text().splitlines(True)[0])
    return path


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        ((), f"-i {CASES}"),
        (("--before", "env_test.BeforeAll"), "--before env_test.BeforeAll"),
        (("--ctx", "conf/me.json", "-u", "somebody else"), "--ctx conf/me.json"),
        (("--run", "a|b", "--runs", "2", "--strict"), "--run 'a|b' --runs 2"),
    ],
)
def test_what_a_report_takes_over_is_shown(here: Application, flags: tuple[str, ...], shown: str) -> None:
    path = begun(here, *flags)
    run = here.run("--resume", str(path))
    assert run.code == 0, run
    (line,) = [line for line in run.stdout.splitlines() if "flags taken from" in line]
    assert shown in line
    assert f"-i {CASES}" in line


def test_a_report_of_another_application_is_refused(here: Application) -> None:
    path = begun(here)
    other = here.home / "other"
    (other / "assistants").mkdir(parents=True)
    start = json.loads(path.read_text())
    start["resume"]["options"]["app"] = str(other)
    path.write_text(json.dumps(start) + "\n")
    before = path.read_bytes()

    run = here.run("--resume", str(path))
    stands = here.run("status", str(path))

    assert run.code == 2, run
    assert "was made in the application <home>/other, but this is <app>" in run.stderr
    assert "--app" in run.stderr
    assert (stands.code, stands.stderr) == (
        2,
        f"Error: Cannot show the status of <home>/{path.name}: it was made in the application <home>/other, but this is "
        "<app>\nHint: Run the command in that application's folder\n",
    )
    assert path.read_bytes() == before


def test_a_report_of_another_application_is_refused_outside_of_applications(here: Application) -> None:
    path = begun(here, "--app", str(here.root))
    run = here.run("--resume", str(path), directory="../home")
    assert run.code == 2
    assert "was made in the application <app>" in run.stderr


def test_an_application_that_is_named_is_resumed(here: Application) -> None:
    path = begun(here, "--app", str(here.root))
    assert here.run("--resume", str(path), "--app", str(here.root)).code == 0


def test_an_application_below_the_working_folder_is_resumed(here: Application) -> None:
    path = here.home / "r.jsonl"
    made = here.run("-a", "app", "-i", f"app/{CASES}", "-o", str(path), directory="..")
    assert made.code == 0, made
    path.write_text(path.read_text().splitlines(True)[0])
    run = here.run("--resume", str(path), directory="..")
    assert run.code == 0, run
    assert "app" in run.stdout


def test_a_report_of_another_application_is_not_graded_again(here: Application) -> None:
    path = here.home / "r.jsonl"
    assert here.run("-i", CASES, "-o", str(path), "-u", "somebody").code == 0
    run = here.run("regrade", str(path))
    assert (run.code, run.stderr) == (
        0,
        f"Warning: flags taken from {path}: --user somebody\n".replace(str(here.home), "<home>"),
    )
    other = here.home / "other"
    (other / "assistants").mkdir(parents=True)
    start, *rest = path.read_text().splitlines(True)
    content = json.loads(start)
    content["resume"]["options"]["app"] = str(other)
    path.write_text(json.dumps(content) + "\n" + "".join(rest))

    run = here.run("regrade", str(path))

    assert run.code == 2, run
    assert "it was made in the application <home>/other, but this is <app>" in run.stderr
    assert here.run("regrade", str(path), "--app", str(here.root)).code == 0
