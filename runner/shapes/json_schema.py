"""The JSON Schema of JSON objects, from the declarations of their classes: of those that this program writes
(`runner.shapes.codec`), and of those that people write (`runner.shapes.declared`)."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from typing import Any

from runner.shapes.codec import Member, members_of
from runner.shapes.declared import Model, fields_of, shape_of
from runner.shapes.shape import Shape
from scripttest.values import Value

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_CUT = {"type": "string", "description": "Text in place of items that are left out."}
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}


class Definitions:
    """Schemas of classes, which name each other."""

    def __init__(self) -> None:
        self.found: dict[str, Schema] = {}
        """`$defs` of a document, by the names of the classes."""

    def of(self, cls: type[Value]) -> Schema:
        """The schema of the objects of a class."""
        name = cls.__name__
        if name not in self.found:
            self.found[name] = {}  # it may have objects of its own class
            about = " ".join((inspect.getdoc(cls) or "").split())
            self.found[name] = {"type": "object", "description": about, "properties": self.properties(cls)}
        return {"$ref": f"#/$defs/{name}"}

    def properties(self, cls: type[Value], *names: str) -> dict[str, Schema]:
        """The schemas of the members of such an object, by key; of all, or of those of some names."""
        said, found = descriptions(cls), {}
        for member in members_of(cls):
            if names and member.name not in names:
                continue
            about = said.get(member.name) or inspect.getdoc(getattr(cls, member.name, None)) or ""
            about = about if member.name in said or not member.is_field else ""
            found[member.key] = {**self._of(member), **({"description": " ".join(about.split())} if about else {})}
            if member.key == "cost":
                found["cost_estimated"] = {"type": "boolean"}
        return found

    def _of(self, member: Member) -> Schema:
        if not isinstance(member.kind, tuple):
            words = getattr(member, "words", None)
            one = self.of(member.kind) if words is None else {"enum": sorted(words)}
        else:
            named = _TYPES.get(member.kind[-1])
            one = {"type": "integer" if member.key == "duration_ms" else named} if named else {}
        if member.is_list:
            is_text = one.get("type") == "string"
            one = {"type": "array", "items": {"anyOf": [one, _CUT]} if one and not is_text else one}
        return {"anyOf": [one, {"type": "null"}]} if one and (member.optional or member.default is None) else one


def schemas_of_models(*models: type[Model]) -> dict[type[Model], Schema]:
    """The schemas of some models and of those in their fields, by name of the model; fields have their usual names."""
    found: dict[type[Model], Schema] = {}
    pending: list[Shape | None] = list(map(shape_of, models))
    while pending:
        shape = pending.pop()
        pending += [shape.items] if shape else []
        if shape and shape.model and shape.model not in found:
            found[shape.model] = _schema_of(shape.model)
            pending += [field.shape for field in fields_of(shape.model).values()]
    return dict(sorted(found.items(), key=lambda item: item[0].__name__))


def _schema_of(model: type[Model]) -> Schema:
    fields, said = fields_of(model).values(), descriptions(model)
    properties = {}
    for field in fields:
        default = {"default": field.said["default"]} if "default" in field.said else {}
        about = {"description": said[field.name]} if field.name in said else {}
        properties[field.spellings[0]] = dict(sorted({**field.shape.schema, **default}.items())) | about
    required = [field.spellings[0] for field in fields if field.is_required]
    return {
        "additionalProperties": False if model.further is None else shape_of(model.further).schema,
        "description": inspect.getdoc(model),
        "properties": properties,
        **({"required": required} if required else {}),
        "title": model.__name__,
        "type": "object",
    }


def descriptions(cls: type) -> dict[str, str]:
    """The strings beneath the fields of a class, and of its bases."""
    return {name: text for owner in reversed(cls.__mro__[:-1]) for name, text in _written(owner).items()}


@cache
def _written(owner: type) -> dict[str, str]:
    """The strings beneath the fields that a class itself declares."""
    body = ast.parse(inspect.getsource(owner)).body[0]
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: str(text.value.value)
        for field, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }
