"""Models as classes: annotations declare the fields of JSON objects that people write, and what may be in them.

    class Part(Model):
        type: Literal["text", "file"]
        names: Annotated[list[str], Field(spellings=("names", "name"))] = Field(default_factory=list)

An annotation becomes a `Shape`, which functions beside it in `Annotated` may change: for each type of JSON values that
fits, what takes such a value and returns the value of the field. A union has the takes of its parts, so no two of them
may be for one type: which part is meant is always clear, and what is wrong is said of that part alone. A field that is
null is not given, unless null is a value of it. `codec` beside it does the same for what this program writes itself,
where nothing is said to people.

The JSON Schema of a model comes from the same shapes (`runner.shapes.json_schema`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter
from types import NoneType, UnionType
from typing import (
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

from runner.shapes.shape import (
    ANY,
    BASIC,
    LIMITS,
    Complaint,
    Misfit,
    Shape,
    Take,
    as_it_is,
    limited,
    list_of,
    union,
    words,
)

Function = TypeVar("Function", bound=Callable[..., Any])
FREE = "x-"
"""Fields that start so are the user's own, in the objects of all models."""
_MISSING: Any = object()
Place = tuple[int, str, Mapping[type, Take], Take | None, bool]
"""The number of a field, its name, its `takes`, what takes all else, and whether null says that it is not given."""


def cached(function: Function) -> Function:
    """Keeps the answers of a function of models."""
    return cast("Function", cache(function))


class Declared:
    """What a declaration says of a field."""

    def __init__(self, **said: Any) -> None:
        self.said = said
        self.name = ""
        self.shape = ANY
        self.spellings: tuple[str, ...] = said.get("spellings", ())
        """All names that it has in files, the first the usual one."""

    @property
    def is_required(self) -> bool:
        """Whether it has no default."""
        return not self.said.keys() & {"default", "default_factory"}

    def is_default(self, value: Any) -> bool:
        """Whether it has this value when it is not given."""
        return not self.is_required and bool(self.default() == value)

    def default(self) -> Any:
        """Its value when it is not given."""
        return self.said["default_factory"]() if "default_factory" in self.said else self.said["default"]


def Field(**said: Any) -> Any:  # noqa: N802 - as pydantic and attrs call it
    """Properties of a field besides its type: `default`, or `default_factory`, a function that makes it; `spellings`,
    all its names in files, the usual one first; `pattern`, a regular expression that must match somewhere in the
    text; `ge`, `gt`, `le`, bounds of a number; `min_length`, that of a list."""
    if unknown := said.keys() - {"default", "default_factory", "spellings"} - LIMITS.keys():
        raise TypeError(f"a field has no {', '.join(sorted(unknown))}")
    return Declared(**said)


@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class Model:
    """Base: no unknown fields, no coercion between types. Making one raises Misfit."""

    __slots__ = ("__dict__", "model_extra", "model_fields_set")
    model_fields_set: set[str]
    """Names of the fields that were given."""
    model_extra: dict[str, Any]
    """Further fields of an open model."""
    further: ClassVar[Any] = None
    """The type of further fields; None: there are none."""

    def __init__(self, **fields: Any) -> None:
        _filler(type(self))(self, fields)

    @classmethod
    def model_validate(cls, value: Any) -> Self:
        """The record of a JSON value. Raises Misfit."""
        record: Self = shape_of(cls).take(value)
        return record

    def model_dump(self, *, exclude_unset: bool = False, exclude_defaults: bool = False) -> dict[str, Any]:
        """The record as a JSON object, by the names of its fields; only those that were given, or those that are not as
        they are by default."""
        is_part = exclude_unset or exclude_defaults
        fields, given = fields_of(type(self)), self.model_fields_set
        found = {
            name: _dumped(self.__dict__[name], exclude_unset, exclude_defaults)
            for name in ([name for name in fields if name in given] if is_part else fields)
            if not (exclude_defaults and fields[name].is_default(self.__dict__[name]))
        }
        further = self.model_extra.items()
        return found | {name: _dumped(value, exclude_unset, exclude_defaults) for name, value in further}

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The record with other values of some fields, which are not checked."""
        copy = type(self).__new__(type(self))
        copy.__dict__ = {**self.__dict__, **update}
        copy.model_fields_set, copy.model_extra = self.model_fields_set | update.keys(), self.model_extra
        return copy

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Model)
            and type(self) is type(other)
            and self.__dict__ == other.__dict__
            and self.model_extra == other.model_extra
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


@cached
def fields_of(model: type[Model]) -> dict[str, Declared]:
    """The fields of a model by name, those of its bases first."""
    found = {}
    for name, annotation in get_type_hints(model, include_extras=True).items():
        if name in Model.__annotations__ or get_origin(annotation) is ClassVar:
            continue
        given = getattr(model, name, _MISSING)
        field = Declared(**(given.said if isinstance(given, Declared) else {}))
        if given is not _MISSING and not isinstance(given, Declared):
            field.said["default"] = given
        notes = getattr(annotation, "__metadata__", ())
        spellings = (note.spellings for note in notes if isinstance(note, Declared) and note.spellings)
        field.name, field.spellings = name, next(spellings, (name,))
        field.shape = limited(shape_of(annotation), field.said)
        found[name] = field
    return found


@cached
def known_fields(model: type[Model]) -> dict[str, Declared]:
    """The fields of a model by all their names in files."""
    return {spelling: field for field in fields_of(model).values() for spelling in field.spellings}


@cached
def shape_of(annotation: Any) -> Shape:
    """The shape of a type."""
    if get_origin(annotation) is not Annotated:
        return _shape_of(annotation)
    shape = shape_of(annotation.__origin__)
    for note in annotation.__metadata__:
        shape = limited(shape, note.said) if isinstance(note, Declared) else note(shape)
    return shape


def _shape_of(plain: Any) -> Shape:
    origin, inner = get_origin(plain), get_args(plain)
    if origin is Literal:
        return words(inner)
    if origin is list:
        return list_of(shape_of(inner[0]))
    if origin is dict:
        return Shape({dict: dict}, "an object", schemas=[{"type": "object", "additionalProperties": True}])
    if origin in (Union, UnionType):
        return union(*(shape_of(one) for one in sorted(inner, key=lambda one: one is NoneType)))
    basic = next((BASIC[base] for base in getattr(plain, "__mro__", (plain,)) if base in BASIC), None)
    return basic or _shape_of_model(plain)


def _shape_of_model(model: type[Model]) -> Shape:
    fill = _filler(model)

    def take(value: dict[str, Any]) -> Model:
        record = model.__new__(model)
        fill(record, value)
        return record

    reference = {"$ref": f"#/$defs/{model.__name__}"}
    return Shape({dict: take, model: as_it_is}, "an object", schemas=[reference], model=model)


@cached
def _filler(model: type[Model]) -> Callable[[Model, dict[str, Any]], None]:
    """What fills a record of a model from a JSON object, or raises Misfit."""
    fields = fields_of(model).values()
    places: dict[str, Place] = {
        spelling: (at, field.name, field.shape.takes, field.shape.take, not _takes_null(model, field))
        for at, field in enumerate(fields)
        for spelling in (*field.spellings, field.name)
    }
    spelled = [*places]
    required = {
        field.name: (at, Complaint(kind="missing", path=(field.spellings[0],)))
        for at, field in enumerate(fields)
        if field.is_required
    }
    made = [(field.name, field.said["default_factory"]) for field in fields if "default_factory" in field.said]
    defaults = {field.name: field.said.get("default") for field in fields}
    further = None if model.further is None else shape_of(model.further).take
    beyond: Place = (len(places), "", {}, further, False)

    def fill(record: Model, value: dict[str, Any]) -> None:
        found, given, more = defaults.copy(), dict[str, str](), dict[str, Any]()
        wrong: list[tuple[int, Complaint]] = []
        for key, item in value.items():
            at, name, takes, take, refuses_null = places.get(key, beyond)
            if (item is None and refuses_null) or (not name and key.startswith(FREE)):
                continue
            if take is None or name in given:
                twice = max(key, given[name], key=spelled.index) if name else key
                wrong.append((len(places), Complaint(kind="unknown", path=(twice,))))
                continue
            try:
                taken = takes.get(type(item), take)(item)
            except Misfit as error:
                wrong += [(at, one.replace(path=(key, *one.path))) for one in error.complaints]
                taken = None
            if name:
                found[name], given[name] = taken, key
            else:
                more[key] = taken
        if wrong or not required.keys() <= given.keys():
            wrong += [missing for name, missing in required.items() if name not in given]
            raise Misfit(*(one for _, one in sorted(wrong, key=itemgetter(0))))
        for name, make in made:
            if name not in given:
                found[name] = make()
        record.__dict__ = found
        record.model_fields_set, record.model_extra = set(given), more

    return fill


def _takes_null(model: type[Model], field: Declared) -> bool:
    """Whether null is a value of a field, and does not mean that it is not given."""
    return object in field.shape.takes or (model.further is not None and NoneType in field.shape.takes)
