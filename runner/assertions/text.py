"""`contains`, `not_contains`, `icontains`, `starts_with`: what the text of the output has in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind
from runner.assertions.differences import form_only
from runner.assertions.values import equal, json_in, text_of, within
from runner.assertions.verdicts import decide, shorten

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.differences import Holds
    from runner.assertions.model import Assertion


async def contains(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output has the value in it."""
    return on_text(assertion, evidence, assertion.value, partial(_has, evidence), "to contain")


async def not_contains(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output does not have the value in it."""
    value = assertion.value
    actual, found = compared(evidence, value)
    return decide(assertion, not _has(evidence, value, evidence.output), value, actual, "not to contain", found=found)


async def icontains(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output contains the text, in upper or lower case."""

    def holds(value: Any, output: Any) -> bool:
        wanted = value.casefold()
        return any(wanted in text.casefold() for text in (text_of(output), *_texts(output)))

    return on_text(assertion, evidence, assertion.value, holds, "to contain, in any case of letters,")


async def starts_with(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The text of the output begins with the text."""
    return on_text(
        assertion, evidence, assertion.value, lambda value, output: text_of(output).startswith(value), "to start with"
    )


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


def on_text(assertion: Assertion, evidence: Evidence, value: Any, holds: Holds, verb: str) -> Verdict:
    """The verdict on a check that looks at the text of the output."""
    output = "" if evidence.output is None else evidence.output
    actual, found = compared(evidence, value)
    return decide(
        assertion,
        holds(value, output),
        value,
        actual,
        verb,
        found=found,
        form=lambda: form_only(value, output, holds),
    )


def compared(evidence: Evidence, value: Any) -> tuple[Any, str | None]:
    """What a value is compared with, and how a message shows it: a text with the text of the output, which is compact
    JSON unless it is a text; None: it is shown like all values."""
    output = evidence.output
    if output is None or isinstance(output, str) or not isinstance(value, str):
        return output, None
    return evidence.text, shorten(evidence.text)


def _has(evidence: Evidence, value: Any, output: Any) -> bool:
    if isinstance(value, str):
        return any(value in text for text in (text_of(output), *_texts(output)))
    if isinstance(output, str):
        if text_of(value) in output:
            return True
        output = json_in(evidence.replace(output=output)) if isinstance(value, (dict, list)) else None
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
