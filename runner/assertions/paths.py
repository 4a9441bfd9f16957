"""`json_path` and `type`: the value at a path of the output.

If there is nothing at the path, the value is null. If several values match, it is a list of them, as for
`t.assert.JSONPath`. At the end of a conversation, a path that the last output does not have is searched in the
variables that hooks and tools have set, and then in the state of the conversation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind, NotEvaluated
from runner.assertions.differences import form_only
from runner.assertions.values import KINDS, equal, json_in, kind_of, text_of
from runner.assertions.verdicts import decide, nothing_to_judge, show
from runner.errors import did_you_mean
from scripttest.values import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion

_STEP = r"""\.?\[(?:'[^']*'|"[^"]*"|-?\d+)]|\.?[^.\[\]*?(,:'"]+"""
"""A step of a plain path."""


class _Found(Value):
    value: Any
    missing: str
    """Where the path ended, if it led nowhere."""


async def json_path(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """What is at the path equals the value, or one of the values if a list is given and no list is found."""
    path, expected = assertion.path or "$", assertion.value
    root = json_in(evidence)
    if root is None and evidence.output is not None and not evidence.state:
        return _no_json(assertion, evidence, f"the path {path}")
    place = _look(root, path, evidence.state)
    actual = place.value
    one_of = isinstance(expected, list) and not isinstance(actual, list)

    def holds(expected: Any, actual: Any) -> bool:
        return equal(actual, expected) or (one_of and any(equal(actual, item) for item in expected))

    found = f"nothing there: {place.missing}" if place.missing else None
    verb = "to be one of" if one_of else "to equal"
    held = holds(expected, actual)
    return decide(
        assertion,
        held,
        expected,
        actual,
        verb,
        subject=path,
        found=found,
        form=lambda: form_only(expected, actual, holds),
    )


async def type_is(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output, or what is at the path, is of the type named. A text output is also taken as the JSON in it."""
    expected, value, subject, found = assertion.value, evidence.output, "the output", None
    kind = kind_of(value)
    if assertion.path is not None:
        root = json_in(evidence)
        if root is None and value is not None and not evidence.state:
            return _no_json(assertion, evidence, f"the path {assertion.path}")
        subject = assertion.path
        place = _look(root, subject, evidence.state)
        value, kind = place.value, kind_of(place.value)
        found = f"nothing there: {place.missing}" if place.missing else None
    elif isinstance(value, str) and expected != "string":
        inside = json_in(evidence, yaml=False)
        kind = kind if inside is None else kind_of(inside)
    found = found or f"{_named(kind)}: {show(value)}"
    wanted = _named(expected)
    return decide(assertion, kind == expected, expected, kind, "to be", subject=subject, wanted=wanted, found=found)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of these types."""
    name, value = assertion.type, assertion.value
    if name == "json_path":
        if not assertion.path:
            return '"json_path" needs "path", such as "$.status"'
        if "value" not in assertion.model_fields_set:
            return '"json_path" needs "value"; null stands for nothing at the path'
    elif not isinstance(value, str) or value not in KINDS:
        hint = did_you_mean(value, KINDS) if isinstance(value, str) else None
        wrong = f'"type" needs as "value" one of {", ".join(KINDS)}, not {text_of(value)}'
        return f"{wrong}; {hint}" if hint else wrong
    return None if assertion.path is None else path_problem(name, assertion.path)


def value_at(evidence: Evidence, path: str) -> Any:
    """What is at a path of the output; None where there is nothing. Raises NotEvaluated."""
    return _look(json_in(evidence), path, evidence.state).value


def path_problem(name: str, path: str) -> str | None:
    """What is wrong with the path of an assertion."""
    from bindings import json_path as library

    try:
        library.find(None, path)
    except library.JsonPathError as error:
        return f'"{name}": {error}'
    return None


def _no_json(assertion: Assertion, evidence: Evidence, purpose: str) -> Verdict:
    message = f"Expected the output to hold JSON for {purpose}, found {show(evidence.output)}"
    return nothing_to_judge(assertion, assertion.value, evidence.output, message)


def _look(root: Any, path: str, state: Mapping[str, Any]) -> _Found:
    from bindings import json_path as library

    try:
        for place in (root, state.get("variables"), state) if state else (root,):
            found = library.find(place, path)
            if found:
                return _Found(value=found[0] if len(found) == 1 else found, missing="")
        return _Found(value=None, missing=_way(root, path))
    except library.JsonPathError as error:
        raise NotEvaluated(str(error)) from error


def _way(root: Any, path: str) -> str:
    """Up to where a plain path leads, and what is there."""
    from bindings import json_path as library

    reached, value = "the output", root
    at = 1 if path.startswith("$") else 0
    while step := re.compile(_STEP).match(path, at):
        at = step.end()
        found = library.find(root, path[:at])
        if len(found) != 1:
            break
        reached, value = path[:at], found[0]
    return f"{reached} is {show(value)}"


def _named(kind: str) -> str:
    return kind if kind == "null" else f"{'an' if kind[0] in 'ao' else 'a'} {kind}"


ASSERTIONS = {
    "json_path": Kind(check=json_path, problem=problem, fields=("path", "value"), needs=("path",)),
    "type": Kind(check=type_is, problem=problem, fields=("path", "value"), needs=("value",)),
}
"""Types of assertions that are checked here."""
