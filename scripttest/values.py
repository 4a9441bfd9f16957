"""`Value`: the base class of records, which are made with keyword arguments and never change.

It does what frozen dataclasses do. The command has more than a hundred such classes and should start at once, and
defining one takes less than a fortieth of the time of a dataclass (`tests/bench/records.py`). A plain script test
defines some sixty, which as dataclasses would take a quarter more of its processor time."""

from __future__ import annotations

from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform(**_):
        """Tells type checkers what `Value` does."""
        return lambda cls: cls


_set = object.__setattr__


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Value:
    """A record whose fields are the annotations of its class. Two of one class are equal when their fields are. Making
    one raises TypeError for a field that is missing or unknown."""

    __value_names__: tuple[str, ...] = ()
    __value_set__: frozenset[str] = frozenset()
    __value_needed__: frozenset[str] = frozenset()
    """Those without a default."""
    __value_defaults__: dict[str, Any] = {}  # noqa: RUF012
    __value_key__: Callable[[dict[str, Any]], object] = tuple
    """Of the fields by name, what is hashed: many records are keys."""

    def __init_subclass__(cls) -> None:
        declared = cls.__dict__.get("__annotations__", ())  # noqa: RUF063 - inspect takes too long to load
        own = [name for name in declared if not name.startswith("_")]
        given = {name: cls.__dict__[name] for name in own if name in cls.__dict__}
        cls.__value_names__ = tuple(dict.fromkeys((*cls.__value_names__, *own)))
        cls.__value_set__ = frozenset(cls.__value_names__)
        if cls.__value_names__:
            cls.__value_key__ = itemgetter(*cls.__value_names__)
        cls.__value_defaults__ = cls.__value_defaults__ | given
        cls.__value_needed__ = cls.__value_set__ - cls.__value_defaults__.keys()

    def __init__(self, **fields: Any) -> None:
        if fields.keys() != self.__value_set__:
            given = fields.keys()
            fields = self.__value_defaults__ | fields
            # none is missing, and with an unknown one there would be more: quicker than to look at all
            if not given >= self.__value_needed__ or len(fields) != len(self.__value_set__):
                wrong = sorted(fields.keys() ^ self.__value_set__)
                raise TypeError(f"{type(self).__name__}: missing or unknown fields: {', '.join(wrong)}")
        _set(self, "__dict__", fields)

    def replace(self, **changes: Any) -> Self:
        """The same record with other values of some fields. Raises TypeError for one that is unknown."""
        return type(self)(**{**self.__dict__, **changes})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: replace({name}=...) makes another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} never changes")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(self.__value_key__(self.__dict__))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in fields_of(self).items())})"


def names_of(kind: type[Value]) -> tuple[str, ...]:
    """The names of the fields, in the order in which the class declares them."""
    return kind.__value_names__


def fields_of(value: Value) -> dict[str, Any]:
    """The fields by name, in the order in which the class declares them."""
    return {name: getattr(value, name) for name in names_of(type(value))}


def mapped(value: Any, leaf: Callable[[Any], Any], key: Callable[[Any], Any] | None = None) -> Any:
    """A JSON value with other leaves: what is neither an object nor a list; and other keys, if there is a function for
    these."""
    if isinstance(value, dict):
        return {key(name) if key else name: mapped(item, leaf, key) for name, item in value.items()}
    return [mapped(item, leaf, key) for item in value] if isinstance(value, list | tuple) else leaf(value)
