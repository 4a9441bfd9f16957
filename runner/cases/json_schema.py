"""The JSON Schema of cases of all modes, for editors: that of the models, with what these leave to
`runner.shapes.declared`, `runner.cases.validation` and `runner.cases.turns`. The fields of a case decide which
mode's schema holds for it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from runner.assertions import TYPES
from runner.assertions.checking import type_named
from runner.cases import model
from runner.cases.entries import LISTS
from runner.cases.kinds import GIVEN, MODELS, further_models, has, named_modes
from runner.shapes.declared import Model, known_fields
from runner.shapes.json_schema import DIALECT, descriptions, schemas_of_models

DURATION = r"^(?!(0+(\.0+)?(ms|h|m|s))+$)(\d+(\.\d+)?(ms|h|m|s))+$"
_FREE = {"^x-": {"description": "For your own use: yao-test ignores it."}}
_VARS = {
    "description": "Variables; each row, or each combination of list items, makes one case. Use them as {{ name }}.",
    "anyOf": [
        {"type": "array", "items": {"type": "object"}, "minItems": 1},
        {"type": "object", "minProperties": 1},
    ],
}
_RUBRICS = {
    "propertyNames": {
        "anyOf": [
            {"enum": ["type", "criteria", "weight", "required", "options", "judge", "message"]},
            {"pattern": "^x-"},
        ]
    },
    "properties": {"criteria": {"minItems": 1, "minLength": 1, "not": {"type": "null"}}},
    "required": ["criteria"],
}


def case_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of one entry of a case file."""
    return {"$schema": DIALECT, "title": "Case of a yao-test case file", **_any_mode(), "$defs": _definitions()}


def file_schema() -> dict[str, Any]:
    """JSON Schema of a YAML or JSON case file: a case, a list of cases, or an object with the list as `tests` or
    `cases`."""
    definitions = _definitions()
    cases = {"type": "array", "items": {"$ref": "#/$defs/Entry"}, "minItems": 1}
    with_defaults = {**cases, "items": {"$ref": "#/$defs/Fields", "required": ["id"]}}
    text = {"type": ["string", "null"]}
    beside = {
        "name": {**text, "description": "Description of the cases."},
        "description": {**text, "description": "Further details."},
        "defaults": {
            "anyOf": [{"$ref": "#/$defs/Fields", "not": {"required": ["id"]}}, {"type": "null"}],
            "description": "Default fields of the cases.",
        },
    }
    listed = [
        {
            "type": "object",
            "properties": {name: {"type": "array"}, **beside},
            "required": [name],
            "if": has("defaults", GIVEN),
            "then": {"properties": {name: with_defaults}},
            "else": {"properties": {name: cases}},
            "patternProperties": _FREE,
            "additionalProperties": False,
        }
        for name in LISTS
    ]
    return {
        "$schema": DIALECT,
        "title": "Case file of yao-test",
        "anyOf": [{"$ref": "#/$defs/Entry"}, cases, *listed],
        "$defs": {**definitions, "Entry": _any_mode(), "Fields": _fields(definitions)},
    }


def _fields(definitions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Fields of cases of any mode, of which none is needed."""
    shapes: dict[str, list[Any]] = {}
    for name in _names():
        for field, rules in definitions[name]["properties"].items():
            known = shapes.setdefault(field, [])
            if rules not in known:
                known.append(rules)
    properties = {field: rules[0] if len(rules) == 1 else {"anyOf": rules} for field, rules in shapes.items()}
    return {"type": "object", "properties": properties, "patternProperties": _FREE, "additionalProperties": False}


def _any_mode() -> dict[str, Any]:
    """An entry: which model's schema holds for it, by the rules of `runner.cases.kinds`."""
    rules: dict[str, Any] = {"$ref": "#/$defs/Case"}
    for case in reversed(further_models()):
        rules = {"if": dict(case.condition), "then": {"$ref": f"#/$defs/{case.__name__}"}, "else": rules}
    properties: dict[str, Any] = {}
    for case, names in zip(further_models(), MODELS.values(), strict=True):
        described = descriptions(case)
        properties |= {name: {"description": described[name]} for name in names}
    properties["mode"]["enum"] = [*named_modes(), None]
    return {"type": "object", "properties": properties, **rules}


def _definitions() -> dict[str, dict[str, Any]]:
    """The schemas of all models, by name."""
    schemas = schemas_of_models(*_cases())
    definitions = {cls.__name__: part for cls, part in schemas.items()}
    for cls, part in schemas.items():
        if part.get("additionalProperties") is False:
            part["patternProperties"] = _FREE
        for field, rules in part["properties"].items():
            if field == "timeout":
                next(shape for shape in _shapes(rules) if shape.get("type") == "string")["pattern"] = DURATION
            if field in ("input", "messages", "assertion"):
                for shape in _shapes(rules):
                    shape.update({"minItems": 1} if shape.get("type") == "array" else {})
            for shape in _with_bare_names(rules):
                shape["enum"] = [name for name in TYPES if not type_named(name).needs]
        _spelt(part, cls)
    for case in _cases():
        for key, rules in case.schema_rules.items():
            part = definitions[case.__name__]
            part[key] = [*part.get(key, ()), *rules]
    for name in ("Turn", "ConversationTurn"):
        _says_something(definitions[name])
    for case in _cases():
        for field in case.kind.refuses:
            del definitions[case.__name__]["properties"][field]
    definitions["Assertion"]["allOf"] = [_of_type(name) for name in TYPES]
    definitions["Grader"]["allOf"] = [
        *[_of_type(name, "weight", "required") for name in TYPES],
        _when("rubrics", _RUBRICS),
    ]
    for name in _names():
        definitions[name]["properties"]["vars"] = _VARS
    for field in ("persona", "goal"):
        rules = dict(definitions["Simulator"]["properties"][field])
        described = {"description": rules.pop("description")}
        several = {"type": "array", "items": {"type": "string"}, "minItems": 1}
        definitions["Simulator"]["properties"][field] = {**described, "anyOf": [rules, several]}
    for part in definitions.values():
        needed = part.get("required", ())
        part["properties"] = {
            field: rules if field in needed else _or_null(rules) for field, rules in part["properties"].items()
        }
    every = {field for name in _names() for field in definitions[name]["properties"]}
    for name in _names():
        foreign = sorted(every - definitions[name]["properties"].keys())
        definitions[name]["patternProperties"] = {**_FREE, f"^({'|'.join(foreign)})$": {"type": "null"}}
    return definitions


def _or_null(rules: dict[str, Any]) -> dict[str, Any]:
    """The rules of a field that may be null, which means that it is not given."""
    if not rules.keys() & {"type", "anyOf", "$ref", "enum", "const"} or {"type": "null"} in rules.get("anyOf", ()):
        return rules
    shape = {key: value for key, value in rules.items() if key not in ("description", "default")}
    said: dict[str, Any] = {key: rules[key] for key in ("description", "default") if key in rules}
    shapes = shape.get("anyOf", [shape])
    return {**said, "anyOf": [*shapes, {"type": "null"}]}


def _cases() -> tuple[type[model.Case], ...]:
    return (model.Case, *further_models())


def _names() -> list[str]:
    return [case.__name__ for case in _cases()]


def _spelt(part: dict[str, Any], cls: type[Model]) -> None:
    """Adds the other spellings of fields; an object has one of them."""
    fields, needed = part["properties"], part.get("required", [])
    for field in list(fields):
        others = [name for name in known_fields(cls)[field].spellings if name != field]
        for other in others:
            fields[other] = {**fields[field], "description": f"The same as `{field}`."}
        if others:
            every = [{"required": [name]} for name in (field, *others)]
            part["required"] = [name for name in needed if name != field]
            several = [
                {"required": list(pair), "properties": dict.fromkeys(pair, GIVEN)}
                for pair in combinations((field, *others), 2)
            ]
            rules = {"not": {"anyOf": several}, **({"anyOf": every} if field in needed else {})}
            part.setdefault("allOf", []).append(rules)


def _says_something(turn: dict[str, Any]) -> None:
    text, message, _ = turn["properties"]["input"]["anyOf"]
    text["pattern"] = r"\S"
    content = [{"type": "string", "pattern": r"\S"}, {"type": "array", "minItems": 1}, {"type": "object"}]
    said = [{"properties": {name: {"anyOf": content}}, "required": [name]} for name in ("content", "input")]
    message["allOf"] = [{"properties": {"role": {"const": "user"}}, "anyOf": said}]


def _shapes(rules: dict[str, Any]) -> list[dict[str, Any]]:
    shapes: list[dict[str, Any]] = rules.get("anyOf", [rules])
    return shapes


def _with_bare_names(rules: dict[str, Any]) -> list[dict[str, Any]]:
    """The shapes of a field that are names of assertion types standing for assertions."""
    shapes = [inner for shape in _shapes(rules) for inner in (shape, *_shapes(shape.get("items", {})))]
    return [shape for shape in shapes if "enum" in shape and {"$ref": "#/$defs/Assertion"} in shapes]


def _of_type(name: str, *more: str) -> dict[str, Any]:
    """What an assertion of a type takes, beside further fields, and what it needs."""
    kind = type_named(name)
    taken = ["type", "message", "negate", *more, *kind.fields]
    rules: dict[str, Any] = {"propertyNames": {"anyOf": [{"enum": taken}, {"pattern": "^x-"}]}}
    if kind.needs:
        rules["anyOf"] = [{"required": [field]} for field in kind.needs]
    if kind.rules:
        rules["properties"] = dict(kind.rules)
    if kind.parts:
        rules["properties"] = {"value": {"type": "array", "items": {"$ref": "#/$defs/Assertion"}}}
    return _when(name, rules)


def _when(name: str, rules: dict[str, Any]) -> dict[str, Any]:
    condition: dict[str, Any] = {"properties": {"type": {"const": name}}}
    return {"if": condition if name == "equals" else {**condition, "required": ["type"]}, "then": rules}
