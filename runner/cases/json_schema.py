"""The JSON Schema of cases of all modes, for editors: what pydantic makes of the models, with what the models leave to
`runner.shapes.fields`, `runner.cases.checks` and `runner.cases.conversation_checks`. The fields of a case decide which
mode's schema holds for it."""

from __future__ import annotations

import ast
import inspect
from itertools import combinations
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from runner.assertions import TYPES, type_named
from runner.assertions import model as assertion_model
from runner.cases import conversations, model
from runner.cases.kinds import GRADING, RUBRICS
from runner.cases.listing import LISTS
from runner.shapes.declared import Model, fields_of, schema_of
from runner.shapes.fields import same_fields

DURATION = r"^(?!(0+(\.0+)?(ms|h|m|s))+$)(\d+(\.\d+)?(ms|h|m|s))+$"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FREE = {"^x-": {"description": "Yours: yao-test does not look at it."}}
_GIVEN = {"not": {"type": "null"}}
_ENTRIES = ("Case", "MultiTurnCase", "DynamicCase", "ConversationCase", "GradedCase")
_REFUSED = {
    "DynamicCase": ("type",),
    "ConversationCase": ("expected",),
}
"""Model → fields of a standard case that its cases do not have."""
_VARS = {
    "description": "A table of variables; each row, or combination of lists, is a case. Texts name them as {{ name }}.",
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
    return {"$schema": _DIALECT, "title": "Case of a yao-test case file", **_any_mode(), "$defs": _definitions()}


def file_schema() -> dict[str, Any]:
    """JSON Schema of a YAML or JSON case file: a case, a list of cases, or an object with the list as `tests` or
    `cases`."""
    definitions = _definitions()
    cases = {"type": "array", "items": {"$ref": "#/$defs/Entry"}, "minItems": 1}
    with_defaults = {**cases, "items": {"$ref": "#/$defs/Fields", "required": ["id"]}}
    text = {"type": ["string", "null"]}
    beside = {
        "name": {**text, "description": "What the cases are about."},
        "description": {**text, "description": "More about them."},
        "defaults": {
            "anyOf": [{"$ref": "#/$defs/Fields", "not": {"required": ["id"]}}, {"type": "null"}],
            "description": "Fields of the cases that do not give them.",
        },
    }
    listed = [
        {
            "type": "object",
            "properties": {name: {"type": "array"}, **beside},
            "required": [name],
            "if": _has("defaults", _GIVEN),
            "then": {"properties": {name: with_defaults}},
            "else": {"properties": {name: cases}},
            "patternProperties": _FREE,
            "additionalProperties": False,
        }
        for name in LISTS
    ]
    return {
        "$schema": _DIALECT,
        "title": "Case file of yao-test",
        "anyOf": [{"$ref": "#/$defs/Entry"}, cases, *listed],
        "$defs": {**definitions, "Entry": _any_mode(), "Fields": _fields(definitions)},
    }


def _fields(definitions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Fields of cases of any mode, of which none is needed."""
    shapes: dict[str, list[Any]] = {}
    for name in _ENTRIES:
        for field, rules in definitions[name]["properties"].items():
            known = shapes.setdefault(field, [])
            if rules not in known:
                known.append(rules)
    properties = {field: rules[0] if len(rules) == 1 else {"anyOf": rules} for field, rules in shapes.items()}
    return {"type": "object", "properties": properties, "patternProperties": _FREE, "additionalProperties": False}


def _any_mode() -> dict[str, Any]:
    """An entry, by the rules of `runner.cases.kinds`."""
    multi_turn = {"anyOf": [_has("turns", _GIVEN), _has("type", {"const": "multi_turn"})]}
    graded = {"anyOf": [*(_has(name, _GIVEN) for name in GRADING), *map(_graded_by, ("assert", "assertions"))]}
    rules: dict[str, Any] = {"if": graded, "then": {"$ref": "#/$defs/GradedCase"}, "else": {"$ref": "#/$defs/Case"}}
    talk = {"anyOf": [_has("simulator", _GIVEN), _has("checkpoints", _GIVEN), multi_turn]}
    graded_turn = {"anyOf": [*map(_graded_by, ("assert", "assertions"))]}
    turns = _has("turns", {"type": "array", "contains": {"type": "object", **graded_turn}})
    conversation = {"allOf": [talk, {"anyOf": [*(_has(name, _GIVEN) for name in GRADING), turns]}]}
    for condition, name in (
        (_has("simulator", _GIVEN), "MultiTurnCase"),
        (_has("checkpoints", _GIVEN), "DynamicCase"),
        (multi_turn, "MultiTurnCase"),
        (conversation, "ConversationCase"),
        (_has("mode", _GIVEN), "ConversationCase"),
    ):
        rules = {"if": condition, "then": {"$ref": f"#/$defs/{name}"}, "else": rules}
    deciding = {
        "mode": ("ConversationCase", {"enum": ["conversation", None]}),
        "turns": ("MultiTurnCase", {}),
        "simulator": ("MultiTurnCase", {}),
        "checkpoints": ("DynamicCase", {}),
    }
    properties = {
        field: {"description": _descriptions(getattr(conversations, owner))[field], **rule}
        for field, (owner, rule) in deciding.items()
    }
    return {"type": "object", "properties": properties, **rules}


def _graded_by(name: str) -> dict[str, Any]:
    """Assertions of which one is a criterion in words, or has a weight."""
    grader = {
        "anyOf": [
            {"type": "string", "pattern": r"\S\s+\S"},
            {"type": "object", **_has("type", {"const": RUBRICS})},
            *({"type": "object", **_has(field, _GIVEN)} for field in ("weight", "required")),
        ]
    }
    return _has(name, {"anyOf": [grader, {"type": "array", "contains": grader}]})


def _definitions() -> dict[str, dict[str, Any]]:
    """The schemas of all models, by name."""
    models = _models()
    schemas: Any = [(name, "validation", schema_of(models[name], named=True)) for name in _ENTRIES]
    _, made = GenerateJsonSchema().generate_definitions(schemas)
    definitions: dict[str, dict[str, Any]] = {str(name): part for name, part in made.items()}
    for name, part in definitions.items():
        _described(part, models[name])
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
        _spelt(part, models[name])
    case = definitions["Case"]
    case["anyOf"] = [{"required": [field], "properties": {field: _GIVEN}} for field in ("input", "messages")]
    one = {"if": _has("type", {"const": "single_turn"}), "then": {"properties": {"turns": {"maxItems": 1}}}}
    definitions["MultiTurnCase"]["allOf"].append(one)
    definitions["GradedCase"]["anyOf"] = case["anyOf"]
    definitions["ConversationCase"]["anyOf"] = [
        _has("turns", {"type": "array", "minItems": 1}),
        _has("simulator", _GIVEN),
        _has("interactive", {"type": "object", **_has("enabled", {"const": True})}),
    ]
    for name in ("Turn", "ConversationTurn"):
        _says_something(definitions[name])
    for name, refused in _REFUSED.items():
        for field in refused:
            del definitions[name]["properties"][field]
    definitions["Assertion"]["allOf"] = [_of_type(name) for name in TYPES]
    definitions["Grader"]["allOf"] = [
        *[_of_type(name, "weight", "required") for name in TYPES],
        _when("rubrics", _RUBRICS),
    ]
    for name in _ENTRIES:
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
    every = {field for name in _ENTRIES for field in definitions[name]["properties"]}
    for name in _ENTRIES:
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


def _models() -> dict[str, type[Model]]:
    found = [*vars(assertion_model).values(), *vars(model).values(), *vars(conversations).values()]
    return {cls.__name__: cls for cls in found if isinstance(cls, type) and issubclass(cls, Model)}


def _described(part: dict[str, Any], cls: type[Model]) -> None:
    descriptions = _descriptions(cls)
    names = {field.spellings[0]: name for name, field in fields_of(cls).items()}
    for field, rules in part["properties"].items():
        rules.pop("title", None)
        if names[field] in descriptions:
            rules["description"] = descriptions[names[field]]


def _spelt(part: dict[str, Any], cls: type[Model]) -> None:
    """Adds the other spellings of fields; an object has one of them."""
    fields, needed = part["properties"], part.get("required", [])
    for field in list(fields):
        others = same_fields(cls, field)
        for other in others:
            fields[other] = {**fields[field], "description": f"The same as `{field}`."}
        if others and part.get("additionalProperties") is False:
            every = [{"required": [name]} for name in (field, *others)]
            part["required"] = [name for name in needed if name != field]
            several = [
                {"required": list(pair), "properties": dict.fromkeys(pair, _GIVEN)}
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


def _has(field: str, rule: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"required": [field], **({"properties": {field: rule}} if rule else {})}


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


def _descriptions(cls: type[Model]) -> dict[str, str]:
    """The strings beneath the fields of a model, its base's too."""
    found: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if not owner.__module__.startswith(("runner.cases.", "runner.assertions.")):
            continue
        body = ast.parse(inspect.getsource(owner)).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                found[field.target.id] = str(text.value.value)
    return found
