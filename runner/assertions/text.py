"""What the text of the output has in it: `contains`, `not_contains`, `icontains`, `starts_with`, and `regex`, a pattern
of Go (RE2 syntax)."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from runner.assertions.base import NotEvaluated, assertion_kind
from runner.assertions.results import decide, shorten
from runner.assertions.values import equal, form_only, json_in, value_text, within

if TYPE_CHECKING:
    from runner.assertions.base import CheckResult, Evidence, Judges
    from runner.assertions.model import Assertion
    from runner.assertions.values import Holds

_SPACES = re.compile(r"(?:\s|\\s)[*+?]?")
"""Spaces in a pattern."""
PLAIN = re.compile(r"""(?:(?:[A-Za-z0-9 _,:;"'=<>@!%&~/-]|\\[dwsDWS.]|\.)[*+?]?){1,200}""")
"""Patterns that are certainly valid: letters, classes and their repetition."""


async def contains(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The output has the value in it."""
    return _on_text(assertion, evidence, partial(_has, evidence), "to contain")


async def not_contains(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The output does not have the value in it."""
    value = assertion.value
    actual, found = _compared(evidence, value)
    return decide(assertion, not _has(evidence, value, evidence.output), value, actual, "not to contain", found=found)


async def icontains(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The output contains the text, in upper or lower case."""

    def holds(value: Any, output: Any) -> bool:
        wanted = value.casefold()
        return any(wanted in text.casefold() for text in (value_text(output), *_texts(output)))

    return _on_text(assertion, evidence, holds, "to contain, ignoring case,")


async def starts_with(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The text of the output begins with the text."""
    return _on_text(assertion, evidence, lambda value, output: value_text(output).startswith(value), "to start with")


def problem_with_text(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of these types, but for `regex`."""
    name, value = assertion.type, assertion.value
    if value is None:
        return f'"{name}" needs "value": what to look for in the output'
    if not isinstance(value, str) and name in ("icontains", "starts_with"):
        return f'"{name}" needs a string as "value", not {value_text(value)}'
    if value == "":
        return f'"{name}" needs a "value" that is not empty'
    excludes = (name == "not_contains") is not assertion.negate
    if excludes and isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        each = json.dumps([{"type": "contains", "value": item} for item in value], ensure_ascii=False)
        wanted = f'{{"type": "any_of", "negate": true, "value": {each}}}'
        return f'"{name}" excludes only the list as a whole. To exclude each string, write {wanted}'
    return None


async def regex(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The pattern matches somewhere in the text of the output."""
    from bindings import PatternError, compile

    source = _pattern(assertion)
    try:
        held = compile(source).search(evidence.text)
    except PatternError as error:
        raise NotEvaluated(str(error)) from error

    def holds(source: Any, output: Any) -> bool:
        try:
            return compile(source).search(value_text(output))
        except PatternError:
            return False

    output = "" if evidence.output is None else evidence.output
    form = partial(form_only, source, output, holds, partial(_SPACES.sub, ""))
    actual, found = _compared(evidence, source)
    return decide(assertion, held, source, actual, "to match", wanted=f"`{source}`", found=found, form=form)


def problem_with_regex(assertion: Assertion) -> str | None:
    """What is wrong with a `regex`."""
    if (assertion.value is None) == (assertion.pattern is None):
        return '"regex" needs either "value" or "pattern": a Go (RE2) regular expression'
    source = _pattern(assertion)
    if not isinstance(source, str):
        return f'"regex" needs a string as its pattern, not {value_text(source)}'
    if not source:
        return '"regex" needs a pattern that is not empty'
    if PLAIN.fullmatch(source):
        return None
    from bindings import PatternError, compile

    try:
        compile(source)
    except PatternError as error:
        return f'"regex": {error}'
    return None


def _on_text(assertion: Assertion, evidence: Evidence, holds: Holds, verb: str) -> CheckResult:
    """The result of a check that looks at the text of the output."""
    value, output = assertion.value, "" if evidence.output is None else evidence.output
    actual, found = _compared(evidence, value)
    form = partial(form_only, value, output, holds)
    return decide(assertion, holds(value, output), value, actual, verb, found=found, form=form)


def _compared(evidence: Evidence, value: Any) -> tuple[Any, str | None]:
    """What a value is compared with, and how a message shows it: a text with the text of the output, which is compact
    JSON unless it is a text; None: it is shown like all values."""
    output = evidence.output
    if output is None or isinstance(output, str) or not isinstance(value, str):
        return output, None
    return evidence.text, shorten(evidence.text)


def _has(evidence: Evidence, value: Any, output: Any) -> bool:
    if isinstance(value, str):
        return any(value in text for text in (value_text(output), *_texts(output)))
    if isinstance(output, str):
        if value_text(value) in output:
            return True
        output = json_in(evidence.replace(output=output)) if isinstance(value, (dict, list)) else None
    return output is not None and any(equal(item, value) for item in within(output))


def _texts(output: Any) -> list[str]:
    """The strings in a value: its JSON text has them escaped."""
    return [] if isinstance(output, str) else [item for item in within(output) if isinstance(item, str)]


def _pattern(assertion: Assertion) -> Any:
    return assertion.value if assertion.pattern is None else assertion.pattern


ASSERTIONS = {
    "contains": assertion_kind(contains, problem_with_text, "value"),
    "not_contains": assertion_kind(not_contains, problem_with_text, "value"),
    "icontains": assertion_kind(icontains, problem_with_text, "value"),
    "starts_with": assertion_kind(starts_with, problem_with_text, "value"),
    "regex": assertion_kind(regex, problem_with_regex, "value pattern"),
}
