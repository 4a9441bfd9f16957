"""`regex`: a pattern of Go's (RE2 syntax) is found in the text of the output."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind, NotEvaluated
from runner.assertions.differences import form_only
from runner.assertions.text import compared
from runner.assertions.values import text_of
from runner.assertions.verdicts import decide

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion

_SPACES = re.compile(r"(?:\s|\\s)[*+?]?")
"""Spaces in a pattern."""
PLAIN = re.compile(r"""(?:(?:[A-Za-z0-9 _,:;"'=<>@!%&~/-]|\\[dwsDWS.]|\.)[*+?]?){1,200}""")
"""Patterns that are certainly valid: letters, classes and their repetition."""


async def regex(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The pattern matches somewhere in the text of the output."""
    from bindings import PatternError, compile

    source = _pattern(assertion)
    try:
        held = compile(source).search(evidence.text)
    except PatternError as error:
        raise NotEvaluated(str(error)) from error

    def holds(source: Any, output: Any) -> bool:
        try:
            return compile(source).search(text_of(output))
        except PatternError:
            return False

    def form() -> str:
        return form_only(
            source, "" if evidence.output is None else evidence.output, holds, lambda pattern: _SPACES.sub("", pattern)
        )

    actual, found = compared(evidence, source)
    return decide(assertion, held, source, actual, "to match", wanted=f"`{source}`", found=found, form=form)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    if (assertion.value is None) == (assertion.pattern is None):
        return '"regex" needs either "value" or "pattern": a pattern as of Go'
    source = _pattern(assertion)
    if not isinstance(source, str):
        return f'"regex" needs a text as pattern, not {text_of(source)}'
    if PLAIN.fullmatch(source):
        return None
    from bindings import PatternError, compile

    try:
        compile(source)
    except PatternError as error:
        return f'"regex": {error}'
    return None


def _pattern(assertion: Assertion) -> Any:
    return assertion.value if assertion.pattern is None else assertion.pattern


ASSERTIONS = {
    "regex": Kind(check=regex, problem=problem, fields=("value", "pattern"), needs=("value", "pattern")),
}
"""Types of assertions that are checked here."""
