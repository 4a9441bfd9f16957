"""Names for annotations: `Json` is a JSON value, `Record` a JSON object; the others are those of `typing`.

Only type checkers see them so. A run gets names that do nothing, because loading `typing` takes a twentieth of a run of
three tests (`tests/bench/typing_names.py`)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generic, Protocol, TypeVar

    Json = Any
    Record = dict[str, Any]
else:
    Json = object
    Record = dict

    class Generic:
        """A class with parameters."""

        def __class_getitem__(cls, _):
            return cls

    class Protocol(Generic):
        """What a class implements."""

    class TypeVar:
        """A parameter."""

        def __init__(self, name, bound=None):
            pass


__all__ = ("Generic", "Json", "Protocol", "Record", "TypeVar")
