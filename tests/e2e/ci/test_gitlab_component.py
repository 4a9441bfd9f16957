"""The component for GitLab: its job, run as GitLab would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ci_machines import TEST, FakeRunner, GitHub, component, run_component


@pytest.mark.parametrize(("one", "code"), [("1", 0), ("2", 1)])
def test_the_component_tests_and_leaves_its_reports(tmp_path: Path, github: GitHub, one: str, code: int) -> None:
    runner = FakeRunner(tmp_path, github)
    (runner.workspace / "assistants/demo/src/sum_test.ts").write_text(TEST.replace("ONE", one))
    job, run = run_component(runner, "-i scripts.demo.sum --run 'Test.*|$(touch evil)'")
    assert run.returncode == code, run
    assert (tmp_path / "pip.log").read_text() == "['install', '-r', 'requirements-test.txt']\n"
    (kept,) = job["artifacts"]["paths"]
    assert sorted(os.listdir(runner.workspace / kept)) == ["junit.xml", "report.html", "report.jsonl"]
    assert (runner.workspace / job["artifacts"]["reports"]["junit"]).is_file()
    assert not [*tmp_path.rglob("evil")]


def test_the_words_of_the_component_import_nothing_where_they_run(tmp_path: Path) -> None:
    """Not even by a Python without `-I`."""
    _, jobs = component()
    words = jobs["yao-test"]["variables"]["YAO_TEST_WORDS"]
    for name in ("shlex", "os", "re"):
        (tmp_path / f"{name}.py").write_text("open('IMPORTED', 'a').write(__name__)")
    command = [sys.executable, "-c", words, "WORDS", "echo", "...", "end"]
    run = subprocess.run(command, cwd=tmp_path, env={**os.environ, "WORDS": "a 'b c'"}, capture_output=True, text=True)
    assert (run.stdout, (tmp_path / "IMPORTED").exists()) == ("a b c end\n", False), run
