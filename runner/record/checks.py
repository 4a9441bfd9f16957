"""Finds errors in the line of a result in a saved report. It checks all fields that figures are computed from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from bindings import Answered
from runner.record.case_result import CaseResult
from runner.record.model import KINDS, TestResult
from runner.record.texts import is_utf8
from runner.shapes.codec import misfit_in
from scripttest import Status
from scripttest.typing_names import Record

STATUSES = tuple(Status)
FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": str,
    "suite": str,
    "script": str,
    "position": int,
    "run": int,
    "duration_ms": (int, float),
    "usage": dict,
    "runs": dict,
    "turns": list,
    "model_calls": int,
    "score": (int, float),
    "not_judged": int,
    "skip_reason": str,
    "warnings": list,
    "assertions": list,
}
"""What fields of a result hold that its place and its figures come from, where they are not null."""

_OF_ATTEMPT = ("tokens", "cost", "not_judged")
"""The numbers of an attempt besides its duration and its score, where they are not null."""
_TEXTS = ("type", "reason", "expected_text", "actual_text", "diff", "phase", "code_frame", "details")
"""The texts of a failure, where they are not null."""
_ANSWERED = frozenset(answered.value for answered in Answered)
_DIGITS = 7
"""A number of runs has fewer digits."""
_JUDGING = {"criteria", "voted", "votes", "verdicts", "scores"}
"""The fields of `Judging` in `runner.record.votes`."""


def result_problem(record: Record) -> str | None:
    """Why an object is not the line of a result; None when it is one."""
    if record.get("id") is None or record.get("status") not in STATUSES:
        return "a result has no id or no status"
    for name, kind in FIELDS.items():
        value = record.get(name)
        is_odd = isinstance(value, int | float) and not (_is_score(value) if name == "score" else is_number(value))
        if value is not None and (is_odd or not isinstance(value, kind)):
            return f'the "{name}" of a result cannot be {json.dumps(value)[:40]}'
    if problem := _problem_of_parts(record):
        return problem
    for cls in (TestResult, *(() if "script" in record else (CaseResult,))):
        if path := misfit_in(cls, record):
            top = re.split(r"[.\[]", path)[0]
            at = "" if path == top else f" at {path}"
            return f'the "{top}" of a result cannot be {json.dumps(_value_at(record, path))[:40]}{at}'
    figures = record.get("usage") or {}
    if not all(map(is_number, figures.values())):
        return 'the "usage" of a result does not hold numbers'
    if key := _misfit_of_outcome(record):
        return f'the "{key}" of a result are not as yao-test writes them'
    if not _all(record.get("outside"), _is_call):
        return 'the "outside" of a result are not calls'
    runs = record.get("runs") or record
    if not _are_figures(runs):
        return 'the "runs" of a result have figures that are not numbers'
    attempts = runs.get("attempts", ())
    if not isinstance(attempts, list | tuple) or not all(map(_is_attempt, attempts)):
        return 'the "runs" of a result have attempts without a status or a duration'
    return _problem_of_repeat(record)


def _misfit_of_outcome(record: Record) -> str | None:
    """The first member that says otherwise how a test, or a subtest, ended than `runner.record.outcomes` does."""
    lists: dict[str, Callable[[Any], bool]] = {
        "failures": lambda item: (
            _has_message(item) and all(isinstance(item.get(key, ""), str | None) for key in _TEXTS)
        ),
        "warnings": _has_message,
        "steps": lambda step: isinstance(step.get("name"), str) and _misfit_of_outcome(step) is None,
        "logs": lambda line: isinstance(line, str),
        "log_levels": lambda level: isinstance(level, str),
    }
    marks = (key for key in ("todo", "only") if not isinstance(record.get(key, False), bool))
    return next((key for key, fits in lists.items() if not _all(record.get(key), fits)), next(marks, None))


def _all(items: Any, fits: Callable[[Any], bool]) -> bool:
    return items is None or (isinstance(items, list | tuple) and all(map(fits, items)))


def _has_message(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("message"), str) and _all(item.get("frames"), _is_frame)


def _is_frame(item: Any) -> bool:
    kinds = {"function": str, "file": str, "line": int, "column": int}
    return isinstance(item, dict) and all(isinstance(item.get(key), kind) for key, kind in kinds.items())


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("call"), str) and item.get("answered") in _ANSWERED


def _value_at(record: Record, path: str) -> Any:
    value: Any = record
    for name in re.findall(r"[^.\[\]]+", path):
        value = value[int(name)] if isinstance(value, list | tuple) else value.get(name)
    return value


def _problem_of_repeat(record: Record) -> str | None:
    """The error in what a result has about the policy of its case, if there is one."""
    said = (record.get("runs") or {}).get("repeat")
    policy = said.get("policy") if isinstance(said, dict) else record.get("repeat")
    if said is None and policy is None:
        return None
    from runner.statistics.policies import PolicyError, read_policy

    try:
        read_policy(policy)  # type: ignore[arg-type]
    except (PolicyError, AttributeError, TypeError, ValueError):
        return 'the "repeat" of a result is not a policy'
    if said is not None and not all(isinstance(said.get(key), int) for key in ("wave", "judged", "most")):
        return 'the "repeat" of a result has no numbers'
    return None


def _problem_of_parts(record: Record) -> str | None:
    """The error in subtests, turns or trials, if one of them does not say how it ended."""
    for key in ("steps", "turns", "trials"):
        parts = record.get(key)
        if not parts:
            continue
        if not isinstance(parts, list | tuple) or not all(isinstance(part, dict) for part in parts):
            return f'the "{key}" of a result are not objects'
        for part in parts:
            if part.get("status") not in STATUSES:
                return f'the "{key}" of a result have no status'
            if problem := _problem_of_parts(part):
                return problem
    return None


def _are_figures(runs: Record) -> bool:
    """Whether what several runs have in common are numbers."""
    lists = [runs.get("confidence_interval", [])]
    for name in ("pass_at_k", "pass_hat_k"):
        by_k = runs.get(name, {})
        lists.append([*by_k.values(), *map(_number_in, by_k)] if isinstance(by_k, dict) else None)
    return all(isinstance(numbers, list | tuple) and all(map(is_number, numbers)) for numbers in lists)


def _number_in(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() and len(text) < _DIGITS else None


def _is_attempt(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("status") in STATUSES
        and is_number(value.get("run"))
        and is_number(value.get("duration_ms"))
        and all(value.get(name) is None or is_number(value[name]) for name in _OF_ATTEMPT)
        and (value.get("score") is None or _is_score(value["score"]))
        and _is_judging(value.get("judging"))
    )


def _is_score(value: Any) -> bool:
    """Whether a value can be read as a score. One that is none, such as NaN, is counted where scores are compared."""
    return isinstance(value, float) or is_number(value)


def _is_judging(value: Any) -> bool:
    """Whether a value can be the votes of judges on an attempt, or there are none."""
    return not isinstance(value, dict) or (value.keys() == _JUDGING and all(map(is_number, value.values())))


HINT = "Reports that can be read are the .jsonl and .json files that yao-test writes"
_OF_SUITE = ("label", "file", "agent", "connector")
"""What a suite has as texts."""
_NUMBERS = ("runs_per_case", "min_pass_rate")
_LARGEST = 2**53
"""No number of a report is larger: JSON readers keep the digits of numbers up to here."""


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
                return f'the "{name}" of a suite is not a text'
    for name in _NUMBERS:
        if not is_number(record.get(name, 1)):
            return f'"{name}" is not a number'
    origin = record.get("resume")
    return _problem_of_origin(origin) if isinstance(origin, dict) else None


def is_number(value: Any) -> bool:
    """Whether a value is a number of a size that reports have."""
    return isinstance(value, int | float) and abs(value) <= _LARGEST


def _problem_of_origin(origin: Record) -> str | None:
    """The error in how the run was made, as `origin_of` in `runner.planning.resume` writes it."""
    for name in ("options", "failed", "planned"):
        if not isinstance(origin.get(name, {}), dict):
            return f'the "{name}" of "resume" is not an object'
    if not _is_texts(origin.get("from_file", [])):
        return 'the "from_file" of "resume" is not a list of texts'
    if not all(map(_is_texts, origin.get("failed", {}).values())):
        return 'the "failed" of "resume" does not list tests'
    for plan in origin.get("planned", {}).values():
        if not isinstance(plan, dict) or not isinstance(plan.get("cases"), int) or not _is_texts(plan.get("ids", [])):
            return 'the "planned" of "resume" does not say how many cases there are'
    return None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
