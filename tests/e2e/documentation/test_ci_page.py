"""The workflows on `docs/ci.md`: each command in them is run, in the application of the page."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import Application
from faults import lines_of
from test_pages import ROOT, Reader, blocks_of

PAGE = ROOT / "docs/ci.md"
SHIM = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m runner "$@"\n'
SHARDS = ("1", "2")


@pytest.fixture
def page(tmp_path: Path) -> Application:
    """The application of the page, with recordings, and `yao-test` on its path."""
    (tmp_path / "home").mkdir()
    application = Application(tmp_path / "app", tmp_path / "home")
    reader = Reader(PAGE, application)
    for block in reader.blocks:
        if block.path is not None:
            reader.write(block.path, block.text)
    application.write({"/../bin/yao-test": SHIM})
    (tmp_path / "bin/yao-test").chmod(0o755)
    assert application.run("-i", "assistants", "--record", "recordings").code == 0
    return application


def workflow(name: str) -> dict[str, Any]:
    (text,) = [block.text for block in blocks_of(PAGE) if block.text.startswith(f"# {name}\n")]
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def shell(page: Application, script: str, variables: Mapping[str, str] = {}) -> None:
    """Runs a step as the CI system would; one that installs is left out."""
    if "pip install" in script:
        return
    path = f"{page.root.parent / 'bin'}:{os.defpath}"
    command = ["bash", "-e", "-o", "pipefail", "-c", script]
    environment = {**page.environment, "PATH": path, "CI": "true", **variables}
    run = subprocess.run(command, cwd=page.root, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, (script, run.stdout, run.stderr)


def job(page: Application, steps: list[dict[str, Any]], shard: str = "") -> None:
    """Runs the steps of a job on GitHub."""
    for step in steps:
        if "run" in step:
            shell(page, step["run"].replace("${{ matrix.shard }}", shard), {"GITHUB_ACTIONS": "true"})


def results_of(path: Path) -> Counter[tuple[str, int]]:
    return Counter((record["id"], record["run"]) for record in lines_of(path) if record["type"] == "result")


def wanted() -> dict[tuple[str, int], int]:
    return {(id, run): 1 for id in ("small", "large", "unclear") for run in (1, 2, 3)}


def test_the_workflow_of_github_does_what_the_page_says(page: Application) -> None:
    jobs = workflow(".github/workflows/agents.yml")["jobs"]
    job(page, jobs["replay"]["steps"])
    assert {path.name for path in page.root.glob("report.*")} == {"report.jsonl", "report.html"}
    assert jobs["live"]["strategy"]["matrix"]["shard"] == [1, 2]
    for shard in SHARDS:
        job(page, jobs["live"]["steps"], shard)
    parts = [page.root / f"part-{shard}.jsonl" for shard in SHARDS]
    assert results_of(parts[0]) + results_of(parts[1]) == wanted()
    fullest = max(parts, key=lambda part: part.stat().st_size)
    fullest.write_bytes(b"".join(fullest.read_bytes().splitlines(True)[:3]))
    for shard in SHARDS:
        job(page, jobs["live"]["steps"], shard)
    assert results_of(parts[0]) + results_of(parts[1]) == wanted()
    job(page, jobs["report"]["steps"])
    merged = [record["id"] for record in lines_of(page.root / "whole.jsonl") if record["type"] == "result"]
    assert sorted(merged) == ["large", "small", "unclear"]


def test_the_pipeline_of_gitlab_does_what_the_page_says(page: Application) -> None:
    jobs = workflow(".gitlab-ci.yml")
    for script in jobs["replay"]["script"]:
        shell(page, script)
    assert (page.root / "junit.xml").exists()
    for _ in range(2):
        for shard in SHARDS:
            for script in jobs["live"]["script"]:
                shell(page, script, {"CI_NODE_INDEX": shard, "CI_NODE_TOTAL": str(jobs["live"]["parallel"])})
    parts = [results_of(page.root / f"part-{shard}.jsonl") for shard in SHARDS]
    assert parts[0] + parts[1] == wanted()
    for script in jobs["report"]["script"]:
        shell(page, script)
    assert (page.root / "whole.html").exists()
