"""What the models say about their fields, for messages about unknown ones and for those that belong to the user."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel

from runner.cases.entries import Path
from runner.cases.model import Case

FREE = "x-"
"""Fields that start so are the user's own, wherever fields are checked."""


@cache
def parts_of(model: type[BaseModel]) -> dict[str, type[BaseModel] | None]:
    """Field names, in every spelling → the model of what is in the field, if it has one."""
    return {
        spelling: _model_in(field.annotation) or next(filter(None, map(_model_in, field.metadata)), None)
        for name, field in model.model_fields.items()
        for spelling in (field.validation_alias.choices if isinstance(field.validation_alias, AliasChoices) else [name])
        if isinstance(spelling, str)
    }


def model_at(path: Path) -> type[BaseModel] | None:
    """The model of the object at a path of a case; None for free values."""
    model: type[BaseModel] | None = Case
    for part in path:
        if isinstance(part, str) and model:
            model = parts_of(model).get(part)
    return model


def without_free(value: Any, model: type[BaseModel] | None = Case) -> Any:
    """A JSON value of that model without the fields that are the user's own."""
    if model is None:
        return value
    if isinstance(value, list):
        return [without_free(element, model) for element in value]
    if not isinstance(value, dict):
        return value
    parts = parts_of(model)
    return {key: without_free(inner, parts.get(key)) for key, inner in value.items() if not key.startswith(FREE)}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)
