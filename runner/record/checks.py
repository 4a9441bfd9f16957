"""What lines of saved reports have to hold besides the fields of `TestResult` and `CaseResult`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from runner.record.case_result import CaseResult, TurnUsage
from runner.record.lines import outcome_misfit
from runner.record.model import KINDS, TestResult
from runner.record.votes import Judging
from runner.record.writing import is_utf8
from runner.shapes.codec import LARGEST, Number, misfit_in
from scripttest import Status
from scripttest.typing_names import Record
from scripttest.values import Value

STATUSES = tuple(Status)
_COUNT = "[0-9]{1,6}"
"""A number of runs."""


class _Checked(Value):
    __strict__ = True


class _Attempt(_Checked):
    run: Number
    status: Status
    duration_ms: Number
    tokens: Number | None = None
    cost: Number | None = None
    not_judged: Number | None = None
    score: float | None = None
    judging: Judging | None = None


class _State(_Checked):
    wave: int
    judged: int
    most: int


class _Runs(_Checked):
    attempts: tuple[_Attempt, ...] = ()
    confidence_interval: tuple[Number, ...] = ()
    pass_at_k: Mapping[str, Any] = {}
    pass_hat_k: Mapping[str, Any] = {}
    repeat: _State | None = None


class _Line(_Checked):
    id: str
    script: str = ""
    run: int = 0
    logs: tuple[str, ...] = ()
    log_levels: tuple[str, ...] = ()
    usage: TurnUsage | None = None
    runs: _Runs | None = None
    attempts: tuple[_Attempt, ...] = ()


class _Document(_Checked):
    metadata: Mapping[str, Any] | None = None
    summary: Mapping[str, Any] | None = None
    hints: Mapping[str, Any] | None = None
    errors: tuple[str, ...] | None = None
    warnings: tuple[str, ...] | None = None


def document_problem(record: Record) -> str | None:
    """Why a report in one piece cannot be read, apart from its parts; None when it can."""
    path = misfit_in(_Document, record)
    return f'the "{path}" of the report cannot be {json.dumps(_value_at(record, path))[:40]}' if path else None


def result_problem(record: Record) -> str | None:
    """Why an object is not the line of a result; None when it is one."""
    if record.get("id") is None or record.get("status") not in STATUSES:
        return "a result has no id or no status"
    classes = (_Line, TestResult, *(() if "script" in record else (CaseResult,)))
    for path in (outcome_misfit(record), *(misfit_in(cls, record) for cls in classes)):
        if path:
            top = re.split(r"[.\[]", path)[0]
            at = "" if path == top else f" at {path}"
            return f'the "{top}" of a result cannot be {json.dumps(_value_at(record, path))[:40]}{at}'
    runs = record.get("runs") or {}
    for name in ("pass_at_k", "pass_hat_k"):
        if not all(is_number(value) and re.fullmatch(_COUNT, k) for k, value in (runs.get(name) or {}).items()):
            return f'the "{name}" of a result are not numbers'
    return _problem_of_policy(record)


def _value_at(record: Record, path: str) -> Any:
    value: Any = record
    for name in re.findall(r"[^.\[\]]+", path):
        value = value[int(name)] if isinstance(value, list | tuple) else value.get(name)
    return value


def _problem_of_policy(record: Record) -> str | None:
    said = (record.get("runs") or {}).get("repeat")
    policy = record.get("repeat") if said is None else said.get("policy")
    if said is None and policy is None:
        return None
    from runner.statistics.policies import PolicyError, read_policy

    try:
        read_policy(policy)  # type: ignore[arg-type]
    except (PolicyError, AttributeError, TypeError, ValueError):
        return 'the "repeat" of a result is not a policy'
    return None


HINT = "Only .jsonl and .json reports of yao-test can be read"
SEVERAL = "it is made of several reports"
TO_MERGE = "yao-test merge joins reports: pass it the file of each"
_OF_SUITE = ("label", "file", "agent", "connector")
"""What a suite has as texts."""


def start_problem(record: Record) -> str | None:
    """Why an object is not the start line of a report; None when it is one."""
    suites = record.get("suites")
    if suites is not None and not isinstance(suites, list):
        return '"suites" is not a list'
    for suite in suites or ():
        if not isinstance(suite, dict) or not isinstance(suite.get("id"), str) or suite.get("kind") not in KINDS:
            return "a suite has no id or no kind"
        for name in _OF_SUITE:
            text = suite.get(name, "")
            if not isinstance(text, str) or not is_utf8(text):
                return f'the "{name}" of a suite is not a string'
    for name in ("runs_per_case", "min_pass_rate"):
        if not is_number(record.get(name, 1)):
            return f'"{name}" is not a number'
    origin = record.get("resume")
    return _problem_of_origin(origin) if isinstance(origin, dict) else None


def is_number(value: Any) -> bool:
    """Whether a value is a number of a size that reports have."""
    return isinstance(value, int | float) and abs(value) <= LARGEST


def _problem_of_origin(origin: Record) -> str | None:
    """The error in how the run was made, as `origin_of` in `runner.planning.resume` writes it."""
    for name in ("options", "failed", "planned"):
        if not isinstance(origin.get(name, {}), dict):
            return f'the "{name}" of "resume" is not an object'
    if not _is_texts(origin.get("from_file", [])):
        return 'the "from_file" of "resume" is not a list of strings'
    if not all(map(_is_texts, origin.get("failed", {}).values())):
        return 'the "failed" of "resume" does not list tests'
    plans = origin.get("planned", {}).values()
    if not all(
        isinstance(one, dict) and type(one.get("cases")) is int and _is_texts(one.get("ids", [])) for one in plans
    ):
        return 'the "planned" of "resume" does not say how many cases there are'
    return None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
