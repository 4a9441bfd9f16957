"""`no_repeated_calls`: the agent does not call the same tool with the same arguments again and again."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from runner.assertions.base import Kind
from runner.assertions.tools import calls_text, is_named
from runner.assertions.verdicts import decide

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, ToolUse, Verdict
    from runner.assertions.model import Assertion


async def no_repeated_calls(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """No call is made more often than once, or than the value allows."""
    most = 1 if assertion.value is None else assertion.value
    uses = [use for use in evidence.tools if assertion.name is None or is_named(use, assertion.name)]
    counts = Counter(map(_key, uses))
    first = {_key(use): use for use in reversed(uses)}
    repeated = [(first[key], times) for key, times in counts.items() if times > most]
    found = ", ".join(f"{calls_text([use])} {times} times" for use, times in repeated)
    return decide(
        assertion,
        not repeated,
        most,
        [{"name": use.name, "server": use.server, "arguments": use.arguments, "calls": n} for use, n in repeated],
        "to make",
        subject="the agent",
        wanted="the same call at most once" if most == 1 else f"the same call at most {most} times",
        found=found or "no such repetition",
    )


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    value = assertion.value
    if value is None or (type(value) is int and value >= 1):
        return None
    return '"no_repeated_calls" takes in "value" how often the same call may be made: a whole number from 1 up'


def _key(use: ToolUse) -> tuple[str, str, str]:
    return use.server, use.name, json.dumps(use.arguments, sort_keys=True, default=str)


ASSERTIONS = {"no_repeated_calls": Kind(check=no_repeated_calls, problem=problem, fields=("value", "name"))}
"""Types of assertions that are checked here."""
