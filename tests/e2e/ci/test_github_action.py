"""The action for GitHub: its steps, run one by one as a runner of GitHub would, and its comment on a pull request."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ci_machines import ACTION, ROOT, TEST, FakeRunner, GitHub, Step, codes


def test_the_action_tests_and_keeps_what_it_found(tmp_path: Path, github: GitHub) -> None:
    runner = FakeRunner(tmp_path, github)
    steps = runner.run(arguments="-i scripts.demo.sum --run 'Test.*'")

    assert codes(steps) == {"Install": 0, "Run": 0, "Comment": 0, "Verdict": 0}, steps
    assert (tmp_path / "pip.log").read_text() == f"['install', '--disable-pip-version-check', '{ROOT}']\n"
    (upload,) = runner.uploads
    assert upload["name"] == "yao-test"
    assert sorted(os.listdir(upload["path"])) == ["junit.xml", "report.html", "report.jsonl", "report.md"]
    assert "TestSum - Passed" in (tmp_path / "summary.md").read_text()
    (comment,) = github.comments
    assert comment["body"].startswith("<!-- yao-test: yao-test -->\n") and "TestSum - Passed" in comment["body"]


def test_a_failure_fails_the_job_after_all_was_kept_and_the_comment_is_updated(tmp_path: Path, github: GitHub) -> None:
    someone = {"id": 90, "user": {"type": "User", "login": "mia"}, "body": "<!-- yao-test: yao-test -->\nmine"}
    github.comments += [{"id": 100 + n, "user": {"type": "User"}, "body": "so"} for n in range(110)] + [someone]
    runner = FakeRunner(tmp_path, github)
    runner.run()
    (runner.workspace / "assistants/demo/src/sum_test.ts").write_text(TEST.replace("ONE", '"@acme/all"'))
    steps = runner.run()

    assert codes(steps) == {"Install": 0, "Run": 0, "Comment": 0, "Verdict": 1}
    assert "::error file=assistants/demo/src/sum_test.ts,line=2" in steps[1].stdout
    assert [one.partition(" ")[0] for one in github.asked] == ["GET", "GET", "POST", "GET", "GET", "PATCH"]
    own = github.comments[-1]
    assert "TestOff - Failed" in own["body"] and "@acme" not in own["body"] and someone["body"].endswith("mine")
    assert len(runner.uploads) == 2


def test_inputs_are_words_and_never_code(tmp_path: Path, github: GitHub) -> None:
    runner = FakeRunner(tmp_path, github, event="push")
    evil = "$(touch evil) `touch evil` ; touch evil"
    steps = runner.run(arguments=f"-i scripts.demo.sum --run '{evil}'", package="a==1 'b c'", artifact="")
    assert codes(steps) == {"Install": 0, "Run": 0, "Verdict": 2}
    assert "['install', '--disable-pip-version-check', 'a==1', 'b c']" in (tmp_path / "pip.log").read_text()
    assert not [*tmp_path.rglob("evil")] and not runner.uploads and not github.asked


@pytest.mark.parametrize(("given", "step"), [("arguments", "Run"), ("package", "Install")])
def test_words_with_an_open_quote_are_said(tmp_path: Path, github: GitHub, given: str, step: str) -> None:
    steps = FakeRunner(tmp_path, github).run(**{given: "-i 'scripts.demo"})
    assert steps[-1] == Step(
        step, 1, f"::error title=yao-test::Cannot read the input {given}, -i 'scripts.demo: No closing quotation\n"
    )
    assert codes(steps).get("Verdict") is None


def comment_on(runner: FakeRunner, report: str) -> str:
    """What the step says that comments with a report."""
    (runner.folder / "report.md").write_text(report)
    environment = {**runner.environment, "TOKEN": "the-token", "TITLE": "t", "REPORTS": str(runner.folder)}
    command = [sys.executable, ACTION / "comment.py"]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def test_a_person_whose_token_it_is_has_one_comment_too(tmp_path: Path, github: GitHub) -> None:
    github.person = "mia"
    github.comments.append({"id": 90, "user": {"type": "User", "login": "max"}, "body": "<!-- yao-test: t -->\nhis"})
    runner = FakeRunner(tmp_path, github)
    assert comment_on(runner, "first") == comment_on(runner, "second") == ""
    assert [one["body"] for one in github.comments] == ["<!-- yao-test: t -->\nhis", "<!-- yao-test: t -->\nsecond"]


def test_a_comment_that_may_not_be_written_is_a_warning(tmp_path: Path, github: GitHub) -> None:
    github.status = 403
    said = comment_on(FakeRunner(tmp_path, github), "# Tests\n")
    assert said.startswith("::warning title=yao-test::Cannot comment on the pull request: GitHub answered 403")


def test_comments_of_nobody_are_passed_over(tmp_path: Path, github: GitHub) -> None:
    github.comments += [{"id": 1, "user": None, "body": "<!-- yao-test: t -->"}, {"id": 2, "user": None, "body": None}]
    assert comment_on(FakeRunner(tmp_path, github), "# Tests\n") == ""
    assert len(github.comments) == 3


def test_a_long_report_is_cut_and_stays_markdown(tmp_path: Path, github: GitHub) -> None:
    comment_on(FakeRunner(tmp_path, github), "# Tests\n<details>\n```text\n" + "a line\n" * 20_000)
    (comment,) = github.comments
    assert len(comment["body"]) < 65_536
    assert comment["body"].endswith("\n```\n</details>\n\nThe whole report is among the artifacts of the job.\n")
