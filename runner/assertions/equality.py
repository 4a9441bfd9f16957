"""`equals`: the output is the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind
from runner.assertions.differences import form_only
from runner.assertions.values import equal, json_in
from runner.assertions.verdicts import decide, show

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion

_LONG = 80
"""From this length on, where two texts differ is said, in characters."""
_SHOWN = 40
"""Characters of each that are shown then."""


async def equals(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output is deeply equal to the value, or to the case's `expected` when there is none. A text output is also
    compared as the JSON that it holds, when the value is not a text."""
    expected = assertion.value if "value" in assertion.model_fields_set else evidence.expected
    output = evidence.output
    held = equal(output, expected)
    compared = output
    if not held and isinstance(output, str) and not isinstance(expected, str) and expected is not None:
        inside = json_in(evidence)
        held = equal(inside, expected)
        compared = output if inside is None else inside
    found = None
    if not held and not assertion.negate and (place := _difference(expected, compared, "$")):
        found = f"{show(output)}; {place}"
    return decide(
        assertion, held, expected, output, "to equal", found=found, form=lambda: form_only(expected, compared, equal)
    )


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    if "value" not in assertion.model_fields_set:
        return '"equals" needs "value", or the case needs "expected"'
    return None


def _difference(expected: Any, actual: Any, path: str) -> str:
    """Where two values first differ; empty when that is at once clear."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in [*expected, *actual]:
            below = f"{path}.{key}"
            if key not in actual:
                return f"{below} is missing"
            if key not in expected:
                return f"{below} is not expected"
            if not equal(expected[key], actual[key]):
                return _difference(expected[key], actual[key], below) or _both(expected[key], actual[key], below)
    elif isinstance(expected, list) and isinstance(actual, list):
        for index, (wanted, found) in enumerate(zip(expected, actual, strict=False)):
            if not equal(wanted, found):
                below = f"{path}[{index}]"
                return _difference(wanted, found, below) or _both(wanted, found, below)
        return f"{path} has {len(actual)} items instead of {len(expected)}"
    elif isinstance(expected, str) and isinstance(actual, str) and len(expected) + len(actual) > _LONG:
        at = next((at for at, (a, b) in enumerate(zip(expected, actual, strict=False)) if a != b), None)
        at = min(len(expected), len(actual)) if at is None else at
        place = f"from character {at + 1}{'' if path == '$' else f' of {path}'} on"
        return f"{place} {show(_excerpt(actual, at))} instead of {show(_excerpt(expected, at))}"
    return ""


def _excerpt(text: str, at: int) -> str:
    """The text from a position on, with marks where it is cut."""
    end = at + _SHOWN
    return f"{'…' if at else ''}{text[at:end]}{'…' if end < len(text) else ''}"


def _both(expected: Any, actual: Any, path: str) -> str:
    return f"{path} is {show(actual, 100)} instead of {show(expected, 100)}"


ASSERTIONS = {
    "equals": Kind(check=equals, problem=problem, fields=("value",)),
}
"""Types of assertions that are checked here."""
