"""The usage of a call as its provider reports it. Texts are read as numbers; an impossible value makes all of it
unknown.

A number that is negative, not finite, or no number at all says that the others cannot be trusted either."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from runner.connectors.base import Usage

UNKNOWN = Usage(unknown=True)
MOST = 2**53
"""More than this, no call takes."""
_SHOWN = 60
"""Characters that a problem quotes of a value."""


class UsageReader:
    """Reads the figures of one usage."""

    def __init__(self, said: Any) -> None:
        """`said` is the object as it came; None when there is none."""
        self.problems: list[str] = []
        """What cannot be: `prompt_tokens is -5`."""
        self._said: dict[str, Any] = {}
        if isinstance(said, dict):
            self._said = said
        elif said is not None:
            self.problems.append(f"it is {short_json(said)}")

    def count(self, *names: str) -> int | None:
        """A number of tokens, under the first of the names that has one; None when none has. Names of inner objects
        are written with a dot."""
        found = self._number(*names)
        return None if found is None else round(found)

    def amount(self, name: str) -> float | None:
        """A number of dollars; None when it is not said."""
        found = self._number(name)
        return None if found is None else float(found)

    def usage(
        self,
        input: int | None,
        output: int | None,
        cached: int | None = None,
        cost: float | None = None,
        *,
        written: int | None = None,
        for_an_hour: int | None = None,
    ) -> Usage:
        """All of it, unknown when there is a problem. Tokens are unknown too when neither kind of them is said."""
        if self.problems:
            return UNKNOWN
        return Usage(
            input_tokens=input or 0,
            output_tokens=output or 0,
            cached_tokens=cached or 0,
            written_tokens=written or 0,
            written_for_an_hour=for_an_hour or 0,
            cost=cost,
            unknown=input is None and output is None,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to say of the problems, after the name of who said it; for when everything was read."""
        if not self.problems:
            return ()
        problems = ", ".join(dict.fromkeys(self.problems))
        return (f"reports an impossible usage: {problems}; the usage of the call is unknown",)

    def _number(self, *names: str) -> float | None:
        for name in names:
            outer, _, inner = name.partition(".")
            value = self._said.get(outer)
            if inner and value is not None:
                if not isinstance(value, dict):
                    self.problems.append(f"{outer} is {short_json(value)}")
                    return None
                value = value.get(inner)
            if value is None:
                continue
            number = _read(value)
            if number is None:
                self.problems.append(f"{name} is {short_json(value)}")
            return number
        return None


def merged(known: Any, said: Any, together: Sequence[str] = ()) -> Any:
    """A usage after a later one of the same call, which may be the sum so far, or repeat some figures. A figure that is
    missing, or lower than the known one, changes nothing. `together` are fields between which tokens may move: they
    change together, or not at all."""
    if said is None or known is None or said == known:
        return known if said is None else said
    if not isinstance(known, dict) or not isinstance(said, dict):
        before, after = _read(known), _read(said)
        lower = before is not None and after is not None and after < before
        return known if lower or (known and not said) else said
    result = {**known, **{name: merged(known.get(name), value) for name, value in said.items()}}
    moved = {name: known.get(name) if said.get(name) is None else said[name] for name in together}
    figures = [[_read(values.get(name) or 0) for name in together] for values in (known, moved)]
    if together and None not in (*figures[0], *figures[1]):
        before, after = (sum(number or 0 for number in each) for each in figures)
        result |= {name: values.get(name) for values in [moved if after >= before else known] for name in together}
    return result


def short_json(value: Any) -> str:
    """A value in short, as JSON."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _read(value: Any) -> float | None:
    """A number from 0 up; None when it is none. Whole numbers stay whole."""
    if type(value) is int:
        return value if 0 <= value <= MOST else None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, float):
        return None
    return value if 0 <= value <= MOST and math.isfinite(value) else None
