"""Assertions on JSON values: `equals`, `json_path`, `type` and `json_schema`.

If there is nothing at a path, the value is null. If several values match, it is a list of them, as for
`t.assert.JSONPath`. At the end of a conversation, a path that the last output does not have is searched in the
variables that hooks and tools have set, and then in the state of the conversation.

Schemas are of the draft that their `$schema` names (2020-12 without one). Most say types, properties and little more;
`is_simple_schema` knows those, so that a file of cases is checked without the library, whose loading takes longer than
all else that is done with the file."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from runner.assertions.base import NotEvaluated, assertion_kind
from runner.assertions.results import LIMIT, decide, nothing_to_judge, show
from runner.assertions.values import KINDS, equal, form_only, json_in, kind_of, value_text
from runner.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from runner.assertions.base import CheckResult, Evidence, Judges
    from runner.assertions.model import Assertion

_LONG = 80
"""From this length on, where two texts differ is said, in characters."""
_SHOWN = 40
"""Characters of each that are shown then."""
_STEP = r"""\.?\[(?:'[^']*'|"[^"]*"|-?\d+)]|\.?[^.\[\]*?(,:'"]+"""
"""A step of a plain path."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DEEPEST = 20
_OF_TEXTS = {"const", "enum", "format", "maxLength", "minLength", "pattern"}
"""Keywords without a type that are for texts, too."""
_OF_OTHERS = {"$dynamicRef", "$ref", "allOf", "anyOf", "if", "not", "oneOf"}
"""Keywords that have other schemas say it."""
BRIEF = 120
"""Characters up to which a message has the whole objects or lists that differ."""


async def equals(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
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
    wanted = found = None
    if not held and not assertion.negate and (place := _difference(expected, compared, "$")):
        found = f"{show(output)}; {place}"
        if isinstance(expected, (dict, list)) and len(show(expected)) + len(found) > BRIEF:  # a diff shows the values
            wanted, found = f"the expected {kind_of(expected)}", f"that {place}"
    form = partial(form_only, expected, compared, equal)
    return decide(assertion, held, expected, output, "to equal", wanted=wanted, found=found, form=form)


def problem_with_equals(assertion: Assertion) -> str | None:
    """What is wrong with an `equals` of a case without `expected`."""
    return None if "value" in assertion.model_fields_set else '"equals" needs "value", or the case needs "expected"'


async def json_path(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """What is at the path equals the value, or one of the values if a list is given and no list is found."""
    path, expected = assertion.path or "$", assertion.value
    root = json_in(evidence)
    if root is None and evidence.output is not None and not evidence.state:
        return _no_json(assertion, evidence, f"the path {path}")
    actual, missing = _look(root, path, evidence.state)
    one_of = isinstance(expected, list) and not isinstance(actual, list)

    def holds(expected: Any, actual: Any) -> bool:
        return equal(actual, expected) or (one_of and any(equal(actual, item) for item in expected))

    found = f"nothing there: {missing}" if missing else None
    verb = "to be one of" if one_of else "to equal"
    form = partial(form_only, expected, actual, holds)
    held = holds(expected, actual)
    return decide(assertion, held, expected, actual, verb, subject=path, found=found, form=form)


async def type_is(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The output, or what is at the path, is of the type named. A text output is also taken as the JSON in it."""
    expected, value, subject, found = assertion.value, evidence.output, "the output", None
    kind = kind_of(value)
    if assertion.path is not None:
        root = json_in(evidence)
        if root is None and value is not None and not evidence.state:
            return _no_json(assertion, evidence, f"the path {assertion.path}")
        subject = assertion.path
        value, missing = _look(root, subject, evidence.state)
        kind, found = kind_of(value), f"nothing there: {missing}" if missing else None
    elif isinstance(value, str) and expected != "string":
        inside = json_in(evidence, yaml=False)
        kind = kind if inside is None else kind_of(inside)
    found = found or f"{_named(kind)}: {show(value)}"
    wanted = _named(expected)
    return decide(assertion, kind == expected, expected, kind, "to be", subject=subject, wanted=wanted, found=found)


def problem_with_path_or_type(assertion: Assertion) -> str | None:
    """What is wrong with a `json_path` or a `type`."""
    name, value = assertion.type, assertion.value
    if name == "json_path":
        if not assertion.path:
            return '"json_path" needs "path", such as "$.status"'
        if "value" not in assertion.model_fields_set:
            return '"json_path" needs "value"; null means that the path has no value'
    elif not isinstance(value, str) or value not in KINDS:
        hint = did_you_mean(value, KINDS) if isinstance(value, str) else None
        wrong = f'"type" needs a "value" that is one of {", ".join(KINDS)}, not {value_text(value)}'
        return f"{wrong}; {hint}" if hint else wrong
    return None if assertion.path is None else problem_with_path(name, assertion.path)


def value_at(evidence: Evidence, path: str) -> Any:
    """What is at a path of the output; None where there is nothing. Raises NotEvaluated."""
    return _look(json_in(evidence), path, evidence.state)[0]


def problem_with_path(name: str, path: str) -> str | None:
    """What is wrong with the path of an assertion."""
    from bindings import patterns as library

    try:
        library.find(None, path)
    except library.JsonPathError as error:
        return f'"{name}": {error}'
    return None


async def json_schema(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The output fits the schema; a text fits it by the JSON that it holds, or as a text, if the schema says anything
    of texts: `required` fits all of them. Both come from anybody, and may take seconds: meanwhile the run goes on, and
    the case can be stopped."""
    from asyncio import to_thread

    from bindings.processes.schemas import Misfit, misfit

    schema, output = assertion.value, evidence.output

    def misfit_of(value: Any) -> Misfit | None:
        return misfit(value, schema, checked=is_simple_schema(schema), ecma=True)

    takes_text = not isinstance(output, str) or _takes_text(schema)
    wrong = await to_thread(misfit_of, output) if takes_text else None
    if isinstance(output, str) and (wrong or not takes_text):
        inside = json_in(evidence)
        if inside is not None or not takes_text:
            wrong = await to_thread(misfit_of, output if inside is None else inside)
        if inside is None and not wrong and not _speaks_of_text(schema):
            wrong = Misfit(reasons="it contains no JSON")
    if wrong and wrong.unusable:
        raise NotEvaluated(wrong.text)
    reasons = wrong.reasons if wrong else ""
    reasons = reasons if len(reasons) <= LIMIT else reasons[:LIMIT] + "…"
    found = f"{show(output)}; {reasons}" if reasons else None
    return decide(assertion, not wrong, schema, output, "to match", wanted="the JSON Schema", found=found)


def problem_with_schema(assertion: Assertion) -> str | None:
    """What is wrong with a `json_schema`."""
    if not isinstance(assertion.value, (dict, bool)):
        return '"json_schema" needs "value": a JSON Schema, which is an object'
    from bindings.processes.schemas import too_large

    if large := too_large(assertion.value):
        return f'"json_schema": {large}'
    if is_simple_schema(assertion.value):
        return None
    from bindings.processes.schemas import schema_problem

    wrong = schema_problem(assertion.value)
    return f'"json_schema": {wrong}' if wrong else None


def is_simple_schema(schema: Any, depth: int = 0) -> bool:
    """Whether a schema is a good one of draft 2020-12, and has only keywords that are known here."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict) or depth >= _DEEPEST:
        return False
    return all(key in _SIMPLE and _SIMPLE[key](value, depth) for key, value in schema.items())


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


def _no_json(assertion: Assertion, evidence: Evidence, purpose: str) -> CheckResult:
    message = f"Expected the output to contain JSON for {purpose}, found {show(evidence.output)}"
    return nothing_to_judge(assertion, assertion.value, evidence.output, message)


def _look(root: Any, path: str, state: Mapping[str, Any]) -> tuple[Any, str]:
    """What is at a path; and where it ended, if it led nowhere."""
    from bindings import patterns as library

    try:
        for place in (root, state.get("variables"), state) if state else (root,):
            found = library.find(place, path)
            if found:
                return found[0] if len(found) == 1 else found, ""
        return None, _way(root, path)
    except library.JsonPathError as error:
        raise NotEvaluated(str(error)) from error


def _way(root: Any, path: str) -> str:
    """Up to where a plain path leads, and what is there."""
    from bindings import patterns as library

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


def _takes_text(schema: Any) -> bool:
    """Whether a schema itself says which texts fit it."""
    type = schema.get("type") if isinstance(schema, dict) else None
    if type is None:
        return isinstance(schema, dict) and bool(schema.keys() & _OF_TEXTS)
    return type == "string" or (isinstance(type, list) and "string" in type)


def _speaks_of_text(schema: Any) -> bool:
    """Whether a schema, or one that it names, says which texts fit it."""
    return isinstance(schema, dict) and bool(schema.keys() & {"type", *_OF_TEXTS, *_OF_OTHERS})


def _is_type(name: Any) -> bool:
    return name == "integer" or (isinstance(name, str) and name in KINDS)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len({*value}) == len(value)


def _are_simple(schemas: Iterable[Any], depth: int) -> bool:
    return all(is_simple_schema(schema, depth + 1) for schema in schemas)


_SIMPLE: dict[str, Callable[[Any, int], bool]] = {
    **dict.fromkeys(("const", "default"), lambda value, _: True),
    **dict.fromkeys(("title", "description", "$comment"), lambda value, _: isinstance(value, str)),
    **dict.fromkeys(
        ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"),
        lambda value, _: type(value) is int and value >= 0,
    ),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), lambda value, _: type(value) in (int, float)
    ),
    **dict.fromkeys(
        ("items", "additionalProperties", "not", "contains", "propertyNames"),
        lambda value, depth: is_simple_schema(value, depth + 1),
    ),
    **dict.fromkeys(
        ("anyOf", "allOf", "oneOf"),
        lambda value, depth: isinstance(value, list) and bool(value) and _are_simple(value, depth),
    ),
    "properties": lambda value, depth: isinstance(value, dict) and _are_simple(value.values(), depth),
    "required": lambda value, _: _are_names(value),
    "enum": lambda value, _: isinstance(value, list),
    "type": lambda value, _: _is_type(value) or (_are_names(value) and bool(value) and all(map(_is_type, value))),
    "$schema": lambda value, depth: value == DIALECT and depth == 0,
}
"""Keyword of schemas → whether its value, at a depth, is good and known here."""
ASSERTIONS = {
    "equals": assertion_kind(equals, problem_with_equals, "value"),
    "json_path": assertion_kind(json_path, problem_with_path_or_type, "path value"),
    "type": assertion_kind(type_is, problem_with_path_or_type, "path value"),
    "json_schema": assertion_kind(json_schema, problem_with_schema, "value"),
}
