"""What the models say about their fields, for messages about unknown ones and for those that belong to the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from runner.application.json_parts import JsonPath
from runner.shapes.declared import Model, OpenModel, fields_of, once
from scripttest.values import Value

FREE = "x-"
"""Fields that start so are the user's own, wherever fields are checked."""


class Inside(Value):
    """The values that a field accepts, as far as they are checked."""

    object: type[Model] | None = None
    """The model of an object in it."""
    element: type[Model] | None = None
    """The model of an object in a list in it."""
    null: bool = True
    """Whether null is a value in it, and does not mean that it is not given."""


_FREE_VALUE = Inside()


@once
def known_fields(model: type[Model]) -> dict[str, Inside]:
    """Field names, in every spelling → what is in the field."""
    return {
        spelling: _inside(field.annotation, issubclass(model, OpenModel))
        for field in fields_of(model).values()
        for spelling in field.spellings
    }


@once
def same_fields(model: type[Model], name: str) -> tuple[str, ...]:
    """The other spellings of a field."""
    every = [field.spellings for field in fields_of(model).values()]
    return tuple(other for names in every if name in names for other in names if other != name)


def model_at(path: JsonPath, model: type[Model]) -> type[Model] | None:
    """The model of the object at a path of a value of that model; None for free values."""
    inside = Inside(object=model)
    for part in path:
        if isinstance(part, int):
            inside = Inside(object=inside.element)
        else:
            inside = known_fields(inside.object).get(part, _FREE_VALUE) if inside.object else _FREE_VALUE
    return inside.object


def as_checked(value: Mapping[str, Any], model: type[Model]) -> dict[str, Any]:
    """A JSON object of that model without the fields that are the user's own, and those that are null because they are
    not given."""
    parts = known_fields(model)
    found = {}
    for key, inner in value.items():
        inside = parts.get(key, _FREE_VALUE)
        if not key.startswith(FREE) and (inner is not None or inside.null):
            found[key] = _as_checked(inner, inside)
    return found


def _as_checked(value: Any, inside: Inside) -> Any:
    if isinstance(value, list) and inside.element:
        return [_as_checked(element, Inside(object=inside.element)) for element in value]
    return as_checked(value, inside.object) if isinstance(value, dict) and inside.object else value


def _inside(annotation: Any, is_open: bool) -> Inside:
    shapes = list(_shapes(annotation))
    elements = [element for shape in shapes if get_origin(shape) is list for element in _shapes(get_args(shape)[0])]
    element = next(filter(_is_model, elements), None)
    null = Any in shapes or (is_open and NoneType in shapes)
    return Inside(object=next(filter(_is_model, shapes), element), element=element, null=null)


def _shapes(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _shapes(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for shape in get_args(annotation):
            yield from _shapes(shape)
    else:
        yield annotation


def _is_model(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, Model)
