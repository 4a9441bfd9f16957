"""`--brief`: failures with short stories alone, also where a coding agent runs the command."""

from __future__ import annotations

import pytest
from command import Application, MakeApplication, Run
from table_tests import each

TEST = """\
export function TestGood(t: testing.T) { console.log("quiet"); }
export function TestBad(t: testing.T) {
  const all = [];
  let sum = 0;
"""
TEST += "".join(f"  sum += {number};\n  all.push(sum);\n" for number in range(1, 9))
TEST += "  t.assert.Equal(sum, 37);\n}\n"


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app({"sums_test.ts": TEST})


def run(here: Application, *words: str, **variables: str) -> Run:
    return here.run("-i", "scripts.demo.sums", *words, env={**here.environment, **variables})


def test_failures_and_short_stories_alone(here: Application) -> None:
    done = run(here, "--brief")

    assert done.code == 1
    assert "TestGood" not in done.stdout
    assert "quiet" not in done.stdout
    assert "TestBad" in done.stdout
    story = done.stdout.partition("What happened before it failed:\n")[2]
    assert "sum is 36" in story or "sum = 36" in story
    assert 5 < sum(line.startswith("    sums_test.ts:") for line in story.splitlines()) <= 10
    assert "1 passed, 1 failed" in done.stdout


@each("variable", ["CLAUDECODE", "CURSOR_AGENT", "GEMINI_CLI", "CODEX_THREAD_ID", "AI_AGENT"])
def test_a_coding_agent_gets_that_by_itself(here: Application, variable: str) -> None:
    brief = run(here, **{variable: "1"}).stdout
    assert ("TestGood" in brief, "What happened before it failed:" in brief) == (False, True)


def test_what_is_asked_for_wins(here: Application) -> None:
    assert "TestGood" in run(here).stdout
    assert "TestGood" in run(here, "-v", CLAUDECODE="1").stdout
    assert "TestGood" in run(here, CLAUDECODE="1", CI="true").stdout
    assert '"TestGood"' in run(here, "--json", CLAUDECODE="1").stdout
    assert "What happened before it failed:" not in run(here, "--story=off", CLAUDECODE="1").stdout
