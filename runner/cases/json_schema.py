"""The JSON Schema of case files, for editors: the fields of all modes with their values, from the models. Which of them
go together, and what an assertion of a type needs, the reader says."""

from __future__ import annotations

from typing import Any

from runner.cases import model
from runner.cases.entries import LISTS
from runner.cases.kinds import further_models
from runner.shapes.declared import Model, known_fields
from runner.shapes.json_schema import DIALECT, schemas_of_models

_FREE = {"^x-": {"description": "For your own use: yao-test ignores it."}}
_NULL = {"type": "null"}
_VARS = {
    "description": "Variables; each row, or each combination of list items, makes one case. Use them as {{ name }}.",
    "anyOf": [
        {"type": "array", "items": {"type": "object"}, "minItems": 1},
        {"type": "object", "minProperties": 1},
        _NULL,
    ],
}


def case_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of one entry of a case file."""
    definitions = _definitions()
    title = "Case of a yao-test case file"
    return {"$schema": DIALECT, "title": title, **_fields(definitions), "required": ["id"], "$defs": definitions}


def file_schema() -> dict[str, Any]:
    """JSON Schema of a YAML or JSON case file: a case, a list of cases, or an object with the list as `tests` or
    `cases`."""
    definitions = _definitions()
    case = {"$ref": "#/$defs/Fields", "required": ["id"]}
    cases = {"type": "array", "items": case, "minItems": 1}
    text = {"type": ["string", "null"]}
    beside = {
        "name": {**text, "description": "Description of the cases."},
        "description": {**text, "description": "Further details."},
        "defaults": {
            "anyOf": [{"$ref": "#/$defs/Fields", "not": {"required": ["id"]}}, _NULL],
            "description": "Default fields of the cases.",
        },
    }
    listed = [_object({name: cases, **beside}, [name]) for name in LISTS]
    return {
        "$schema": DIALECT,
        "title": "Case file of yao-test",
        "anyOf": [case, cases, *listed],
        "$defs": {**definitions, "Fields": _fields(definitions)},
    }


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    rules = {"type": "object", "properties": properties, "patternProperties": _FREE, "additionalProperties": False}
    return {**rules, **({"required": required} if required else {})}


def _fields(definitions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Fields of cases of any mode, of which none is needed."""
    shapes: dict[str, list[Any]] = {}
    for case in _cases():
        for field, rules in definitions[case.__name__]["properties"].items():
            known = shapes.setdefault(field, [])
            if rules not in known:
                known.append(rules)
    several = {
        field: rules[0] if len(rules) == 1 else {"description": rules[0]["description"], "anyOf": rules}
        for field, rules in shapes.items()
    }
    return _object(several, [])


def _definitions() -> dict[str, dict[str, Any]]:
    """The schemas of all models, by name."""
    definitions = {}
    for cls, part in schemas_of_models(*_cases()).items():
        definitions[cls.__name__] = part
        if part.get("additionalProperties") is False:
            part["patternProperties"] = _FREE
        needed = part.pop("required", [])
        fields = {field: rules if field in needed else _or_null(rules) for field, rules in part["properties"].items()}
        part["properties"] = _spelt(fields, cls)
        if required := [field for field in needed if len(known_fields(cls)[field].spellings) == 1]:
            part["required"] = required
    for case in _cases():
        definitions[case.__name__]["properties"]["vars"] = _VARS
    several = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    for field in ("persona", "goal"):
        definitions["Simulator"]["properties"][field]["anyOf"].append(several)
    return definitions


def _or_null(rules: dict[str, Any]) -> dict[str, Any]:
    """The rules of a field that may be null, which means that it is not given."""
    said: dict[str, Any] = {key: rules[key] for key in ("description", "default") if key in rules}
    shape = {key: value for key, value in rules.items() if key not in said}
    return {**said, "anyOf": [shape, _NULL]}


def _spelt(fields: dict[str, Any], cls: type[Model]) -> dict[str, Any]:
    """The fields, also by their other spellings."""
    found = dict(fields)
    for field, rules in fields.items():
        for other in known_fields(cls)[field].spellings:
            if other != field:
                found[other] = {**rules, "description": f"The same as `{field}`."}
    return found


def _cases() -> tuple[type[model.Case], ...]:
    return (model.Case, *further_models())
