"""`--durations N`: the slowest tests at the end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import Application, MakeApplication
from table_tests import each

SLEEPY = "".join(
    f"export async function Test{name}(t) {{ await new Promise((done) => setTimeout(done, {ms})); }}\n"
    for name, ms in (("Quick", 1), ("Slow", 60), ("Middle", 30))
)


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            "/assistants/demo/package.yao": '{"connector": "scripted"}',
            "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
            "/assistants/demo/replies.yml": "- reply: Hi\n",
            "sleepy_test.ts": SLEEPY,
            "bad_test.ts": "export function TestBad(t) { t.fail('x'); }\n",
            "/assistants/demo/tests/slow.jsonl": '{"id": "waits", "input": "Hi"}\n',
        }
    )


def shown(output: str) -> tuple[str, list[str]]:
    """The title, and the names in their order."""
    match = re.search(r"^(Slowest .*)\n((?:  +\S+  .+\n)+)", output, re.M)
    assert match, output
    return match[1], [line.split(maxsplit=1)[1] for line in match[2].splitlines()]


def taken(report: Path) -> dict[str, int]:
    """Milliseconds of each test by its name, as a report of lines has them."""
    records = [json.loads(line) for line in report.read_text().splitlines()]
    results = [record for record in records if record["type"] == "result"]
    return {f"{record['suite']} › {record['id']}": record["duration_ms"] for record in results}


@each("limit", [1, 2, 4, 99])
@each("more", [[], ["-q"], ["-v"]], ids=["plain", "quiet", "verbose"])
def test_the_slowest_of_scripts_and_cases_come_first(here: Application, more: list[str], limit: int) -> None:
    report = here.home / "report.jsonl"
    run = here.run("--durations", str(limit), "-o", str(report), *more)
    title, names = shown(run.stdout)
    times = taken(report)

    assert run.code == 1
    assert len(times) == 5
    count = min(limit, 5)
    assert title == ("Slowest test" if count == 1 else f"Slowest {count} tests")
    assert len(set(names)) == count
    assert [times[name] for name in names] == sorted(times.values(), reverse=True)[:count]


def test_a_test_with_several_runs_is_one_test(here: Application) -> None:
    run = here.run("-i", "scripts.demo.sleepy", "--durations", "9", "--runs", "2")
    title, names = shown(run.stdout)

    assert title == "Slowest 3 tests"
    assert sorted(names) == [f"scripts.demo.sleepy › Test{name}" for name in ("Middle", "Quick", "Slow")]


def test_without_it_nothing_is_shown(here: Application) -> None:
    assert "Slowest" not in here.run("-i", "scripts.demo.sleepy").stdout
