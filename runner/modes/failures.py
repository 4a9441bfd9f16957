"""Makes the failure of a test from a failed assertion."""

from __future__ import annotations

import json
from typing import Any

from runner.assertions.base import AssertionResult
from runner.assertions.values import COMPARED, comparable, difference
from scripttest import Cause, Failure

VALUE_LIMIT = 4000
"""Characters of an expected or actual value that are kept as text."""


def _cause_of(result: AssertionResult) -> Cause:
    if result.infrastructure:
        return Cause.INFRASTRUCTURE
    if result.inconclusive:
        return Cause.INCONCLUSIVE
    return Cause.ERROR if result.error else Cause.ASSERTION


def failure_of(result: AssertionResult) -> Failure:
    """The failure of a failed assertion."""
    values = comparable(result.expected, result.actual) if result.type in COMPARED else None
    return Failure(
        cause=_cause_of(result),
        message=result.message or f"{result.type} does not hold",
        type=None if result.inconclusive else result.type,
        expected=result.expected,
        actual=result.actual,
        expected_text=_text(values[0] if values else result.expected),
        actual_text=_text(values[1] if values else result.actual),
        diff=difference(result.expected, result.actual) if values else None,
    )


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_LIMIT else f"{text[:VALUE_LIMIT]}... ({len(text)} characters)"
