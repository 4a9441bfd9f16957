"""Which cases of a file run."""

from __future__ import annotations

from collections.abc import Callable

from runner.cases.model import Case
from runner.filters import matcher

Chosen = Callable[[Case], bool]


def chooser(pattern: str) -> Chosen:
    """Cases whose id or name the pattern of `--run` is found in. Raises ConfigurationError when it is invalid."""
    matches = matcher(pattern)
    return lambda case: matches(case.id) or (case.name is not None and matches(case.name))


def both(first: Chosen | None, second: Chosen | None) -> Chosen | None:
    """Cases that both choices select; None selects all."""
    if first is None or second is None:
        return first or second
    return lambda case: second(case) and first(case)


def skip_reason(case: Case) -> str | None:
    """Why a case is left out: the reason it gives, perhaps empty; None when it runs."""
    if isinstance(case.skip, str):
        return case.skip or None
    return "" if case.skip else None
