"""Command lines and what they plan to run: nothing of it runs, and a mistake is said before anything does."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command import make_application

from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.execution.services import RunServices
from runner.options.options import options_from, texts_in
from runner.planning.inputs import resolve_application
from runner.planning.plan import RunPlan, RunRequest
from runner.planning.planner import make_plan, with_contexts
from runner.security.secrets import Secrets

CASES = "assistants/demo/tests/cases.jsonl"
FILES = {
    "a_test.ts": "export function TestA(t) {}\n",
    "b_test.ts": "export function TestB(t) {}\n",
    f"/{CASES}": "".join(json.dumps({"id": f"c{number}", "input": "hi"}) + "\n" for number in range(20)),
}


def planned(folder: Path, line: str, files: Mapping[str, str] = FILES) -> RunPlan:
    """What a command line plans in an application."""
    root = make_application(folder, files).root
    values = texts_in(line.split())
    assert values is not None
    options = options_from(values)
    stream = io.StringIO()
    environment = Environment(directory=root, variables={}, stdout=stream, stderr=stream, cpus=2, secrets=Secrets())
    application = resolve_application(options, root)
    request = with_contexts(RunRequest(options=options, environment=environment, application=application))
    with RunServices(request) as services:
        return make_plan(request, agents=services.agents, fingerprints=services.fingerprints)


def cases_of(plan: RunPlan) -> list[str]:
    return [located.case.id for source in plan.sources for located in source.cases()]


@pytest.mark.parametrize(
    ("line", "suites", "cases"),
    [
        ("-i scripts.demo.a", ["demo/src/a_test.ts"], None),
        ("-i scripts.demo.b -i scripts.demo.a -i scripts.demo.b", ["demo/src/b_test.ts", "demo/src/a_test.ts"], None),
        ("-i assistants", ["demo/src/a_test.ts", "demo/src/b_test.ts", CASES], None),
        (f"-i {CASES}", [CASES], 20),
        (f"-i {CASES} --run c1$", [CASES], 1),
        (f"-i {CASES} --run ^c1", [CASES], 11),
        ("-i hello -n demo", ['"hello"'], 1),
    ],
)
def test_a_command_line_plans_its_suites_in_their_order(
    tmp_path: Path, line: str, suites: list[str], cases: int | None
) -> None:
    plan = planned(tmp_path, line)
    assert [suite.label for suite in plan.suites] == suites
    assert plan.total_cases == cases
    assert plan.matched
    assert cases is None or len(cases_of(plan)) == cases


def test_shards_have_every_case_and_module_once(tmp_path: Path) -> None:
    plans = [planned(tmp_path, f"-i assistants --shard {number}/3") for number in (1, 2, 3)]
    assert sorted(id for plan in plans for id in cases_of(plan)) == sorted(f"c{number}" for number in range(20))
    assert sorted(module.id for plan in plans for module in plan.modules) == ["scripts.demo.a", "scripts.demo.b"]
    assert not any(plan.is_whole for plan in plans)
    assert [str(plan.options.shard) for plan in plans] == ["1/3", "2/3", "3/3"]


def test_what_run_matches_in_modules_is_left_to_them(tmp_path: Path) -> None:
    assert not planned(tmp_path, "-i scripts.demo.a --run Nothing").matched
    assert planned(tmp_path, "-i assistants --run c1$").matched


@pytest.mark.parametrize(
    ("line", "resumable"),
    [
        (f"-i {CASES}", True),
        (f"-i {CASES} -o r.jsonl", True),
        (f"-i {CASES} -o r.json", False),
        (f"-i {CASES} --dry-run", False),
        ("-i scripts.demo.a", False),
        ("-i scripts.demo.a -o r.JSONL", True),
    ],
)
def test_a_run_with_a_line_report_can_be_resumed(tmp_path: Path, line: str, resumable: bool) -> None:
    plan = planned(tmp_path, line)
    assert plan.resumable is resumable
    assert (plan.origin is not None) is resumable
    assert plan.retained_tests("scripts.demo.a") == {}


def test_times_and_threshold_are_seconds_and_numbers_with_their_defaults(tmp_path: Path) -> None:
    def limits(line: str) -> tuple[Any, ...]:
        options = planned(tmp_path, f"-i scripts.demo.a {line}").options
        return options.script_timeout, options.case_timeout, options.score_threshold

    assert limits("") == (30.0, 300.0, 0.8)
    assert limits("--timeout 1m30s --threshold 0") == (90.0, 90.0, 0.0)


def test_a_plan_never_changes_and_runs_nothing(tmp_path: Path) -> None:
    plan = planned(tmp_path, "-i assistants --dry-run")
    with pytest.raises(AttributeError):
        plan.modules = ()  # type: ignore[misc]
    assert sorted(path.name for path in (tmp_path / "app").rglob("*") if path.is_file()) == [
        "a_test.ts",
        "b_test.ts",
        "cases.jsonl",
        "package.yao",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-i scripts.demo.c", "scripts.demo.c"),
        ("-i nowhere.jsonl", "there is no such file"),
        (f"-i {CASES} --run Nothing", "No test or case matches --run Nothing"),
        (f"-i {CASES} -n nobody", "nobody"),
        (f"-i {CASES} --before gone_test.Before", "gone_test"),
        (f"-i {CASES} -c gone", "gone"),
        (f"-i {CASES} --ctx gone.json", "gone.json"),
        ("-i scripts.demo.a --shard 3/2", "Cannot read --shard"),
        ("-i scripts.demo.a --timeout soon", "Cannot read --timeout"),
    ],
)
def test_a_mistake_is_said_before_anything_runs(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        planned(tmp_path, line)


def test_a_generator_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"scripts:tests\.gone\.make"):
        planned(tmp_path, "-i scripts:tests.gone.make -n demo --dry-run")
