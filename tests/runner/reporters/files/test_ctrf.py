"""CTRF: the schema of its project, and what each test says in it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, FormatChecker
from sample_reports import GOLDEN, ODD, STREAMS, odd, report, result, written

SCHEMA = Path(__file__).parents[4] / "bindings/node_modules/ctrf/dist/ctrf-schema-0.0.json"


@pytest.fixture(scope="module")
def schema() -> Draft7Validator:
    """The schema that the npm package `ctrf` carries."""
    if not SCHEMA.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs ctrf: python bindings/build.py check")
    return Draft7Validator(json.loads(SCHEMA.read_text("utf-8")), format_checker=FormatChecker())


def problems(schema: Draft7Validator, document: bytes) -> list[tuple[str, str]]:
    """Where a document is not as the schema says, and how."""
    return [(error.json_path, error.message[:300]) for error in schema.iter_errors(json.loads(document))]


@pytest.mark.parametrize("stream", STREAMS)
def test_a_recorded_run_fits_the_schema(schema: Draft7Validator, stream: str) -> None:
    assert problems(schema, (GOLDEN / f"{stream}.ctrf.json").read_bytes()) == []


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_any_text_fits_the_schema(schema: Draft7Validator, text: str, tmp_path: Path) -> None:
    assert problems(schema, written(odd(text), tmp_path, "ctrf.json")) == []


RESULTS: dict[str, dict[str, Any]] = {
    "several runs": {"runs": {"count": 3, "passed": 2, "failed": 1, "attempts": [{"run": 1, "status": "failed", "duration_ms": 1}]}},
    "subtests": {"steps": [{"name": "T/a", "status": "failed", "duration_ms": 1, "error": "no", "steps": [{"name": "T/a/b", "status": "skipped"}]}]},
    "turns": {"mode": "multi_turn", "turns": [{"turn": 1, "status": "passed"}, {"turn": 2, "status": "skipped"}]},
    "what is no verdict": {"status": "failed", "cause": "infrastructure", "error": "HTTP 503"},
    "a score": {"mode": "conversation", "score": 0.5, "tags": ["a", "1"], "metadata": {"a": None}},
    "no line": {"line": 0, "logs": []},
}  # fmt: skip


@pytest.mark.parametrize("more", RESULTS.values(), ids=RESULTS)
def test_every_kind_of_result_fits_the_schema(schema: Draft7Validator, more: dict[str, Any], tmp_path: Path) -> None:
    assert problems(schema, written(report(result(**more)), tmp_path, "ctrf.json")) == []


def test_a_run_without_tests_fits_the_schema(schema: Draft7Validator, tmp_path: Path) -> None:
    assert problems(schema, written(report(), tmp_path, "ctrf.json")) == []
    assert problems(schema, written(report(suites=()), tmp_path, "ctrf.json")) == []


def test_the_schema_finds_what_is_wrong(schema: Draft7Validator, tmp_path: Path) -> None:
    document = json.loads(written(report(result()), tmp_path, "ctrf.json"))
    document["results"]["tests"][0]["status"] = "green"
    del document["results"]["summary"]["other"]

    assert [path for path, _ in problems(schema, json.dumps(document).encode())] == [
        "$.results.summary",
        "$.results.tests[0].status",
    ]
