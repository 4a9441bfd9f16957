"""`contains`, `not_contains`, `icontains`, `starts_with`: what the text of the output has in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind
from runner.assertions.values import equal, json_of, text_of, within
from runner.assertions.verdicts import decide

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion


async def contains(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output has the value in it."""
    value, output = assertion.value, evidence.output
    return decide(assertion, _has(evidence, value), value, output, "to contain")


async def not_contains(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output does not have the value in it."""
    value, output = assertion.value, evidence.output
    return decide(assertion, not _has(evidence, value), value, output, "not to contain")


async def icontains(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output contains the text, in upper or lower case."""
    value = assertion.value
    wanted = value.casefold()
    held = wanted in evidence.text.casefold() or any(wanted in text.casefold() for text in _texts(evidence.output))
    return decide(assertion, held, value, evidence.output, "to contain, in any case of letters,")


async def starts_with(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The text of the output begins with the text."""
    value = assertion.value
    return decide(assertion, evidence.text.startswith(value), value, evidence.output, "to start with")


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of these types."""
    name, value = assertion.type, assertion.value
    if value is None:
        return f'"{name}" needs "value": what to look for in the output'
    if not isinstance(value, str) and name in ("icontains", "starts_with"):
        return f'"{name}" needs a text as "value", not {text_of(value)}'
    if value == "":
        return f'"{name}" needs a "value" that is not empty'
    return None


def _has(evidence: Evidence, value: Any) -> bool:
    output = evidence.output
    if isinstance(value, str):
        return value in evidence.text or any(value in text for text in _texts(output))
    if isinstance(output, str):
        if text_of(value) in output:
            return True
        output = json_of(output) if isinstance(value, (dict, list)) else None
    return output is not None and any(equal(item, value) for item in within(output))


def _texts(output: Any) -> list[str]:
    """The strings in a value: its JSON text has them escaped."""
    return [] if isinstance(output, str) else [item for item in within(output) if isinstance(item, str)]


ASSERTIONS = {
    "contains": Kind(check=contains, problem=problem, fields=("value",), needs=("value",)),
    "not_contains": Kind(check=not_contains, problem=problem, fields=("value",), needs=("value",)),
    "icontains": Kind(check=icontains, problem=problem, fields=("value",), needs=("value",)),
    "starts_with": Kind(check=starts_with, problem=problem, fields=("value",), needs=("value",)),
}
"""Types of assertions that are checked here."""
