"""`JsonValue`: the base class of values that are JSON objects in reports. `codec` beside it reads and writes them."""

from __future__ import annotations

from scripttest.values import Value, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self


class JsonValue(Value):
    """A record that is made with keyword arguments, or read from a JSON object: then it keeps the object, and makes a
    field of it when somebody asks for that."""

    __keeps_object__ = True
    """For `runner.shapes.codec`, which knows no more of it."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in cls.__value_set__ & cls.__dict__.keys():
            delattr(cls, name)  # a default, which would be found before a field that was not made yet

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in self.__value_set__ or "_line" not in self.__dict__:
                return object.__getattribute__(self, name)  # raises what a property has raised
            from runner.shapes.codec import read_field

            found = self.__dict__[name] = read_field(self, name)
            return found

    def replace(self, **changes: Any) -> Self:
        """The same record with other values of some fields. Raises TypeError for one that is unknown."""
        return type(self)(**{**fields_of(self), **changes})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonValue) and type(self) is type(other) and fields_of(self) == fields_of(other)

    def __hash__(self) -> int:
        return hash(self.__value_key__(fields_of(self)))
