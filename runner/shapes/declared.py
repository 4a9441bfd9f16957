"""Models as classes: annotations declare the fields, and pydantic's core checks the values.

    class Part(Model):
        type: Literal["text", "file"]
        names: Annotated[list[str], Field(spellings=("names", "name"))] = Field(default_factory=list)

Importing pydantic itself took a third of the time of a run of one case, and its core takes a tenth, which
`fast_validation` spares where all values fit. Besides its core, pydantic makes a schema from annotations. This module
does that for the annotations that case files need: texts, numbers, literals, unions, lists, other models, and
`SchemaAdapter` for all others. `runner.cases.json_schema` gives the same schemas to pydantic, which prints them.
`tests/bench/first_case.py` measures the gain; tests compare this module with pydantic's own models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from runner.shapes.fast_validation import DoubtError, Schema, fill, is_wanted

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

_MISSING: Any = object()
_BASIC = {str: "str", int: "int", float: "float", bool: "bool", Any: "any"}
_LIMITS = ("pattern", "ge", "gt", "le", "min_length", "allow_inf_nan")


Function = TypeVar("Function", bound=Callable[..., Any])


def cached(function: Function) -> Function:
    """Keeps the answers of a function of models."""
    return cast("Function", cache(function))


class SchemaAdapter:
    """Changes the schema of the type that it annotates."""

    def __init__(self, change: Callable[[Schema], Schema]) -> None:
        self.change = change


def changed(schema: Schema, change: Callable[[Any], Any]) -> Schema:
    """A schema whose values are changed after they are checked."""
    return {"type": "function-after", "function": {"type": "no-info", "function": change}, "schema": schema}


def validation_error(kind: str, text: str, said: Mapping[str, Any]) -> ValueError:
    """What a function that changes values raises for one that it refuses. pydantic passes on `kind` and what is `said`
    with the place of the value."""
    from pydantic_core import PydanticCustomError

    return PydanticCustomError(kind, text, dict(said))


def validation_errors(error: ValueError) -> list[Any]:
    """What is wrong by pydantic's ValidationError: `{type, loc, msg, ctx?}` each."""
    from pydantic_core import ValidationError

    assert isinstance(error, ValidationError)
    return list(error.errors(include_url=False, include_input=False))


def in_order(*schemas: Schema) -> Schema:
    """A schema of several shapes, of which the first that fits wins."""
    return {"type": "union", "choices": list(schemas), "mode": "left_to_right"}


class Declared:
    """What a declaration says of a field beside its type."""

    def __init__(self, **said: Any) -> None:
        self.said = said
        self.annotation: Any = None
        """Its type."""
        self.spellings: tuple[str, ...] = said.get("spellings", ())
        """All names that it has in files, the first the usual one."""
        self.open = False
        """Whether its object takes further fields."""

    def is_default(self, value: Any) -> bool:
        """Whether it has this value when it is not given."""
        if "default_factory" in self.said:
            return bool(self.said["default_factory"]() == value)
        return "default" in self.said and bool(self.said["default"] == value)

    @property
    def limits(self) -> Schema:
        """The bounds of its value, as schemas call them."""
        return {name: self.said[name] for name in _LIMITS if name in self.said}


def Field(  # noqa: N802 - as pydantic and attrs call it
    *,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | None = None,
    spellings: tuple[str, ...] | None = None,
    pattern: str | None = None,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    min_length: int | None = None,
    allow_inf_nan: bool | None = None,
    in_order: bool | None = None,
) -> Any:
    """Properties of a field besides its type. `spellings`: all its names in files, the usual one first. `pattern`: a
    regular expression that must match somewhere in the text. `in_order`: whether the first fitting shape of a union
    is used, and not the closest."""
    said = {name: value for name, value in locals().items() if value is not None or name == "default"}
    if default is _MISSING:
        del said["default"]
    return Declared(**said)


@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class Model:
    """Base: no unknown fields, no coercion between types. Making one raises pydantic's ValidationError."""

    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
    __pydantic_fields_set__: set[str]
    __pydantic_extra__: dict[str, Any] | None
    model_config: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}
    """What pydantic looks at when it prints a JSON Schema."""

    def __init__(self, **fields: Any) -> None:
        if not _filled(self, fields):
            _validator(type(self)).validate_python(fields, self_instance=self)

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        """The record of a JSON value. Raises pydantic's ValidationError."""
        record = cls.__new__(cls)
        return record if _filled(record, value) else _validator(cls).validate_python(value)

    @property
    def model_fields_set(self) -> set[str]:
        """Names of the fields that were given."""
        return self.__pydantic_fields_set__

    @property
    def model_extra(self) -> dict[str, Any] | None:
        """Further fields of an open model."""
        return self.__pydantic_extra__

    def model_dump(self, *, exclude_unset: bool = False, exclude_defaults: bool = False) -> dict[str, Any]:
        """The record as a JSON object, by the names of its fields; only those that were given, or those that are not as
        they are by default."""
        found, fields = {}, fields_of(type(self))
        names: Iterable[str] = fields
        if exclude_unset or exclude_defaults:
            given = self.__pydantic_fields_set__
            names = [name for name in fields if name in given]
        for name in names:
            if not (exclude_defaults and fields[name].is_default(self.__dict__[name])):
                found[name] = _dumped(self.__dict__[name], exclude_unset, exclude_defaults)
        further = self.__pydantic_extra__ or {}
        return found | {name: _dumped(value, exclude_unset, exclude_defaults) for name, value in further.items()}

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The record with other values of some fields, which are not checked."""
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__, **update)
        copy.__pydantic_fields_set__ = self.__pydantic_fields_set__ | update.keys()
        copy.__pydantic_extra__ = self.__pydantic_extra__
        return copy

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Model)
            and type(self) is type(other)
            and self.__dict__ == other.__dict__
            and self.__pydantic_extra__ == other.__pydantic_extra__
        )

    def __repr__(self) -> str:
        fields = {name: self.__dict__[name] for name in fields_of(type(self)) if name in self.model_fields_set}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in fields.items())})"


def _dumped(value: Any, exclude_unset: bool, exclude_defaults: bool) -> Any:
    """A value of a field as JSON, which shares nothing with it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Model):
        return value.model_dump(exclude_unset=exclude_unset, exclude_defaults=exclude_defaults)
    if isinstance(value, list):
        return [_dumped(item, exclude_unset, exclude_defaults) for item in value]
    if isinstance(value, dict):
        return {key: _dumped(item, exclude_unset, exclude_defaults) for key, item in value.items()}
    return value


class OpenModel(Model):
    """Base of what goes to the agent as it is, further fields included."""

    __slots__ = ()
    model_config: ClassVar[Mapping[str, Any]] = {"extra": "allow"}
    further: ClassVar[Any] = Any
    """The type of further fields."""


@cached
def fields_of(model: type[Model]) -> dict[str, Declared]:
    """The fields of a model by name, those of its bases first."""
    found = {}
    for name, annotation in get_type_hints(model, include_extras=True).items():
        if name.startswith("__") or get_origin(annotation) is ClassVar:
            continue
        given = getattr(model, name, _MISSING)
        field = Declared(**(given.said if isinstance(given, Declared) else {}))
        if given is not _MISSING and not isinstance(given, Declared):
            field.said["default"] = given
        field.annotation, notes = _noted(annotation)
        field.spellings = next(
            (note.spellings for note in notes if isinstance(note, Declared) and note.spellings), (name,)
        )
        field.said["schema"] = annotation
        found[name] = field
    return found


def _noted(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without what annotates it, and that."""
    if get_origin(annotation) is Annotated:
        return annotation.__origin__, annotation.__metadata__
    return annotation, ()


@cached
def schema_of(annotation: Any, named: bool = False) -> Schema:
    """The schema of a type; models have names in it when it is `named`, for those who print it."""
    plain, notes = _noted(annotation)
    schema = _schema_of(plain, named)
    for note in notes:
        schema = note.change(schema) if isinstance(note, SchemaAdapter) else _limited(schema, note)
    return schema


def _schema_of(plain: Any, named: bool) -> Schema:
    origin, inner = get_origin(plain), get_args(plain)
    if origin is Literal:
        return {"type": "literal", "expected": list(inner)}
    if origin is list:
        return {"type": "list", "items_schema": schema_of(inner[0], named)}
    if origin is dict:
        return {"type": "dict", "keys_schema": schema_of(inner[0], named), "values_schema": schema_of(inner[1], named)}
    if origin in (Union, UnionType):
        shapes = [schema_of(shape, named) for shape in inner if shape is not NoneType]
        schema: Schema = shapes[0] if len(shapes) == 1 else {"type": "union", "choices": shapes}
        return {"type": "nullable", "schema": schema} if NoneType in inner else schema
    basic = next((_BASIC[base] for base in plain.__mro__ if base in _BASIC), None)
    return {"type": basic} if basic else _model(plain, named)


def _limited(schema: Schema, field: Declared) -> Schema:
    """A schema with the bounds that a field has, which are those of what it holds when it is not null."""
    if schema["type"] == "nullable":
        return {**schema, "schema": _limited(schema["schema"], field)}
    if field.said.get("in_order"):
        schema = {**schema, "mode": "left_to_right"}
    return {**schema, **field.limits}


def _model(model: type[Model], named: bool) -> Schema:
    fields = {}
    for name, field in fields_of(model).items():
        schema = _limited(schema_of(field.said["schema"], named), field)
        for key in ("default", "default_factory"):
            if key in field.said:
                given = field.said[key]
                given = str(given) if named and isinstance(given, str) else given  # printed without its class
                schema = {"type": "default", "schema": schema, key: given}
        aliases = (
            {} if field.spellings == (name,) else {"validation_alias": [[spelling] for spelling in field.spellings]}
        )
        fields[name] = {"type": "model-field", "schema": schema, **aliases}
    is_open = issubclass(model, OpenModel)
    inner: Schema = {"type": "model-fields", "fields": fields, "model_name": model.__name__}
    if is_open:
        inner["extras_schema"] = schema_of(model.further, named)  # type: ignore[attr-defined]
    config = {
        "strict": True,
        "extra_fields_behavior": "allow" if is_open else "forbid",
        "validate_by_name": True,
        "validate_by_alias": True,
    }
    ref = {"ref": f"{model.__module__}.{model.__qualname__}"} if named else {}
    return {"type": "model", "cls": model, "schema": inner, "config": config, **ref}


def validator_of(schema: Any) -> SchemaValidator:
    """What checks values, by a schema."""
    from pydantic_core import SchemaValidator

    return SchemaValidator(schema)


def _filled(record: Model, value: Any) -> bool:
    """Whether a record could be filled without pydantic."""
    if not is_wanted():
        return False
    try:
        fill(record, schema_of(type(record)), value)
    except DoubtError:
        return False
    return True


@cached
def _validator(model: type[Model]) -> SchemaValidator:
    return validator_of(schema_of(model))
