"""Finds errors in the start line of a saved report. It checks what reports are read, joined, graded and resumed by."""

from __future__ import annotations

from runner.results.json_text import is_utf8
from runner.results.suite_json import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest.typing_names import Record

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
