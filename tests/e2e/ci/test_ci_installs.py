"""What a job of CI installs: of a pull request what its base names, and nothing that the change itself brings. Of the action,
of the component, and of the pipelines that `init` writes and the page on CI shows."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from ci_machines import ROOT, FakeRunner, GitHub, clone_of_a_pull_request, codes, run_component
from ruamel.yaml import YAML

from runner.commands.init import ci_text


@pytest.mark.parametrize("shallow", [False, True])
@pytest.mark.parametrize("known", ["commit", "branch"])
def test_a_pull_request_installs_what_its_base_names(tmp_path: Path, github: GitHub, shallow: bool, known: str) -> None:
    runner = FakeRunner(tmp_path, github)
    base = clone_of_a_pull_request(runner, shallow)
    named = {"sha": base} if known == "commit" else {"ref": "main"}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7, "base": named}}))
    steps = runner.run(package="-r requirements-test.txt ./wheels/own.whl", arguments="-i scripts.demo.sum")
    assert codes(steps) == {"Install": 0, "Run": 0, "Comment": 0, "Verdict": 0}, steps
    said = (tmp_path / "pip.log").read_text().splitlines()
    assert said[0].endswith("'-r', 'requirements-test.txt', './wheels/own.whl']")
    assert said[1:] == ["the base", "the wheel of the base"]
    assert not (runner.workspace / "IMPORTED").exists()


def test_a_push_installs_what_its_commit_names(tmp_path: Path, github: GitHub) -> None:
    runner = FakeRunner(tmp_path, github, event="push")
    clone_of_a_pull_request(runner, shallow=False)
    (tmp_path / "event.json").write_text("{}")
    runner.run(package="-r requirements-test.txt", arguments="-i scripts.demo.sum")
    assert (tmp_path / "pip.log").read_text().splitlines()[1:] == ["of a stranger", "of a stranger"]
    assert not (runner.workspace / "IMPORTED").exists(), "not even then"


def test_a_base_that_cannot_be_had_is_said(tmp_path: Path, github: GitHub) -> None:
    runner = FakeRunner(tmp_path, github)
    (tmp_path / "event.json").write_text(
        json.dumps({"pull_request": {"number": 7, "base": {"sha": "0" * 40, "ref": "x"}}})
    )
    steps = runner.run(package="-r requirements-test.txt")
    assert codes(steps) == {"Install": 1}
    assert "::error title=yao-test::Cannot install what the base of the pull request names: " in steps[0].stdout
    assert not (tmp_path / "pip.log").exists()


@pytest.mark.parametrize("is_request", [False, True])
def test_a_merge_request_installs_what_its_target_names(tmp_path: Path, github: GitHub, is_request: bool) -> None:
    runner = FakeRunner(tmp_path, github)
    clone_of_a_pull_request(runner, shallow=True)
    target = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"} if is_request else {}
    job, run = run_component(runner, "-i scripts.demo.sum", **target)
    assert run.returncode == 0, run
    said = (tmp_path / "pip.log").read_text().splitlines()
    assert said[1] == ("the base" if is_request else "of a stranger")
    assert not (runner.workspace / "IMPORTED").exists()
    assert not job["variables"]["PIP_CACHE_DIR"].startswith("$CI_PROJECT_DIR")


def written_by_hand(place: str) -> str:
    """How a pipeline of GitLab that nobody has made of the component installs the tool."""
    if place == "init":
        job = YAML(typ="safe").load(ci_text("gitlab", ""))["yao-test"]
        return next(line for line in job["script"] if "pip install" in line)
    text = (ROOT / "docs/ci.md").read_text("utf-8")
    (pipeline,) = (
        block for block in re.findall(r"```yaml\n(.*?)```", text, re.S) if block.startswith("# .gitlab-ci.yml")
    )
    return "\n".join(YAML(typ="safe").load(pipeline)["default"]["before_script"])


@pytest.mark.parametrize("place", ["init", "docs"])
@pytest.mark.parametrize("is_request", [False, True])
def test_pipelines_by_hand_install_what_the_target_names(
    tmp_path: Path, github: GitHub, place: str, is_request: bool
) -> None:
    runner = FakeRunner(tmp_path, github)
    clone_of_a_pull_request(runner, shallow=True)
    pip = tmp_path / "bin/pip"
    pip.write_text(f'#!/bin/sh\nexec {tmp_path}/venv/bin/python -I -m pip "$@"\n')
    pip.chmod(0o755)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=runner.workspace, check=True, capture_output=True, text=True
    )
    environment = {**runner.environment, "CI_COMMIT_SHA": head.stdout.strip()}
    if is_request:
        environment["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] = "main"
    command = ["bash", "-eo", "pipefail", "-c", written_by_hand(place).replace("/tmp/", f"{tmp_path}/temp/")]
    subprocess.run(command, cwd=runner.workspace, env=environment, check=True, capture_output=True)
    said = (tmp_path / "pip.log").read_text().splitlines()
    assert said[1] == ("the base" if is_request else "of a stranger")
    assert not (runner.workspace / "IMPORTED").exists()


@pytest.mark.parametrize("place", ["init", "docs"])
def test_workflows_by_hand_install_before_the_pull_request_is_there(place: str) -> None:
    if place == "init":
        text = ci_text("github", "")
    else:
        page = (ROOT / "docs/ci.md").read_text("utf-8")
        (text,) = (
            block for block in re.findall(r"```yaml\n(.*?)```", page, re.S) if "agents.yml" in block.split("\n")[0]
        )
    (steps,) = (
        job["steps"] for name, job in YAML(typ="safe").load(text)["jobs"].items() if name in ("replay", "yao-test")
    )
    kinds = [step.get("uses", step.get("run", "")) for step in steps]
    first, second = (number for number, kind in enumerate(kinds) if kind.startswith("actions/checkout"))
    assert steps[first]["with"] == {"ref": "${{ github.base_ref }}"} and "with" not in steps[second]
    assert first < kinds.index("pip install -r requirements-test.txt") < second
