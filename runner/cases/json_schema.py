"""The JSON Schema of a case, for editors: what pydantic makes of the models, with what the models leave to
`runner.cases.fields` and `runner.cases.checks`."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from runner.assertions import TYPES
from runner.cases import model

DURATION = r"^(?!(0+(\.0+)?(ms|h|m|s))+$)(\d+(\.\d+)?(ms|h|m|s))+$"
NEEDED = {
    **dict.fromkeys(
        ("contains", "not_contains", "icontains", "starts_with", "type", "json_schema", "tool_result"), ("value",)
    ),
    **dict.fromkeys(("tool_sequence", "any_of", "all_of", "latency_ms", "tokens", "cost"), ("value",)),
    "regex": ("value", "pattern"),
    "json_path": ("path",),
    "tool_called": ("name", "value"),
    "script": ("script", "use"),
    "agent": ("use",),
}
"""Assertion type → the fields of which it needs one."""
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FREE = {"^x-": {"description": "Yours: yao-test does not look at it."}}
_GIVEN = {"not": {"type": "null"}}


def case_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of one entry of a case file."""
    schema = model.Case.model_json_schema(mode="validation")
    definitions = schema.setdefault("$defs", {})
    for name, part in [("Case", schema), *definitions.items()]:
        descriptions = _descriptions(name)
        for field, rules in part.get("properties", {}).items():
            rules.pop("title", None)
            if field in descriptions:
                rules["description"] = descriptions[field]
        if part.get("additionalProperties") is False:
            part["patternProperties"] = _FREE
    fields = schema["properties"]
    fields["assert"]["description"] = _descriptions("Case")["assertions"]
    fields["assertions"] = {**fields["assert"], "description": "The same as `assert`."}
    fields["timeout"]["anyOf"][0]["pattern"] = DURATION
    for field in ("input", "messages"):
        lists = [shape for shape in fields[field]["anyOf"] if shape.get("type") == "array"]
        lists[0]["minItems"] = 1
    schema["not"] = {"required": ["assert", "assertions"]}
    definitions["Assertion"]["allOf"] = [_of_type(name) for name in TYPES]
    many, _, bare, _ = fields["assert"]["anyOf"]
    bare["enum"] = many["items"]["anyOf"][1]["enum"] = [name for name in TYPES if name not in NEEDED]
    schema["anyOf"] = [{"required": [field], "properties": {field: _GIVEN}} for field in ("input", "messages")]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Case of a yao-test case file",
    }


def file_schema() -> dict[str, Any]:
    """JSON Schema of a YAML or JSON case file: a case, a list of cases, or the list below `tests` or `cases`."""
    case = case_schema()
    definitions = {**case.pop("$defs"), "Case": {key: value for key, value in case.items() if key != "$schema"}}
    cases = {"type": "array", "items": {"$ref": "#/$defs/Case"}, "minItems": 1}
    listed = [
        {
            "type": "object",
            "properties": {name: cases},
            "required": [name],
            "patternProperties": _FREE,
            "additionalProperties": False,
        }
        for name in ("tests", "cases")
    ]
    return {
        "$schema": case["$schema"],
        "title": "Case file of yao-test",
        "description": inspect.getdoc(model.Case),
        "anyOf": [{"$ref": "#/$defs/Case"}, cases, *listed],
        "$defs": definitions,
    }


def _of_type(name: str) -> dict[str, Any]:
    """What an assertion of a type takes and needs."""
    taken = ["type", "message", "negate", *TYPES[name].fields]
    rules: dict[str, Any] = {"propertyNames": {"anyOf": [{"enum": taken}, {"pattern": "^x-"}]}}
    if name in NEEDED:
        rules["anyOf"] = [{"required": [field]} for field in NEEDED[name]]
    if name == "agent":
        rules["properties"] = {"use": {"pattern": "^agents:."}}
    if name in ("any_of", "all_of"):
        rules["properties"] = {"value": {"type": "array", "items": {"$ref": "#/$defs/Assertion"}}}
    condition: dict[str, Any] = {"properties": {"type": {"const": name}}}
    return {"if": condition if name == "equals" else {**condition, "required": ["type"]}, "then": rules}


def _descriptions(name: str) -> dict[str, str]:
    """The strings beneath the fields of a model."""
    cls = getattr(model, name, None)
    if cls is None:
        return {}
    body = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: text.value.value
        for field, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
