"""Values as JSON objects, and back: the declaration of a class says which members its object has, in which order, what
they may be, and which are left out.

    class TurnUsage(Value):
        input_tokens: int
        output_tokens: int
        cost: Cost | None = None

A field without a default is always written; one with a default when it has another value, and is not empty. Texts,
numbers, booleans, enumerations, `Any`, mappings, other classes, and tuples of all these are written and read.

| declaration of the class | says |
| --- | --- |
| `__members__` | the order of the members, where it is not that of the fields: names of fields, or of properties, which are written too where they are not empty; `!` marks those that are always written |
| `__keys__` | field → name of the member, where they differ |
| `__types__` | field → its type, where the class has another one |
| `__beside__` | fields that are only read |
| `__writers__` | member → function that makes its value of the whole record; `...` leaves it out |
| `__strict__` | fields without a default have to be there; else what is missing is empty, where the type has such a value |
| `__readers__` | field → function that makes its value of the whole object |
| `__checked__` | those of these fields whose members have to be of the type of the field all the same |
| `__inline__` | fields whose members stand in the object itself |

| type | in the object |
| --- | --- |
| `Milliseconds` | a whole number, `duration_ms` |
| `Cost` | `cost`, with `cost_estimated: true` where it is an estimate |

A `JsonValue` (`runner.shapes.json_value`) that is read keeps its object, and makes a field of it when somebody asks for that.
"""  # noqa: E501

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter
from typing import Any, TypeVar

from runner.amounts import cost_in, cost_record
from scripttest.typing_names import Record
from scripttest.values import Value, names_of

AnyValue = TypeVar("AnyValue", bound=Value)
Read = Callable[[Record], Any]
Write = Callable[[Any], Any]

LARGEST = 2**53
"""No number of a report is larger: JSON readers keep the digits of numbers up to here."""
Number = float
"""A number of a size that reports have."""
_MISSING: Any = object()
_PLAIN: dict[str, tuple[tuple[type, ...], Any]] = {
    "Any": ((object,), None),
    "str": ((str,), ""),
    "int": ((int,), 0),
    "float": ((int, float), 0.0),
    "Number": ((int, float), 0),
    "Milliseconds": ((int, float), 0),
    "Cost": ((int, float), _MISSING),
    "bool": ((bool,), False),
    "dict": ((dict,), {}),
    "Mapping": ((dict,), {}),
    "Record": ((dict,), _MISSING),
}
"""Name of a type → the types of its JSON values, and the value of a field that is missing."""
_BOUNDED = frozenset(("Number", "Milliseconds", "Cost"))
"""Types whose numbers, also those that are not whole, are no larger than `LARGEST`."""
_TYPE = re.compile(r"(tuple\[)?(\w+)(?:\[[^][]*(?:\[[^][]*\][^][]*)*\])?(?:, [\w.]+\])?( \| None)?")


class Member:
    """A member of an object, and the field or property that it stands for."""

    def __init__(self, cls: type[Value], name: str, is_always: bool) -> None:
        self.name = name
        self.key: str = _declared(cls, "__keys__").get(name, name)
        annotation = _declared(cls, "__types__").get(name) or _annotation(cls, name)
        self.is_field = annotation is not None
        self.default = cls.__value_defaults__.get(name, _MISSING)
        self.is_required = self.is_field and self.default is _MISSING
        self.is_always = is_always or self.is_required
        self.write: Write | None = None
        self.writer: Write | None = _declared(cls, "__writers__").get(self.key)
        self.kind: Any = (object,)
        self.is_list = self.optional = self.is_bounded = False
        self.is_inline = name in str(getattr(cls, "__inline__", "")).split()
        self.makes: Read | None = _declared(cls, "__readers__").get(name)
        if annotation is None or (self.makes is not None and name not in str(getattr(cls, "__checked__", "")).split()):
            return
        found = _TYPE.fullmatch(annotation)
        if found is None:
            raise TypeError(f"{cls.__name__}.{name}: no JSON for {annotation}")
        self.is_list, self.optional = bool(found[1]), bool(found[3])
        self.is_bounded = found[2] in _BOUNDED
        if found[2] == "Milliseconds":
            self.key, self.write = "duration_ms", round
        plain, empty = _PLAIN.get(found[2], (None, _MISSING))
        self.kind = plain or _class_named(cls, found[2])
        if isinstance(self.kind, type) and issubclass(self.kind, Enum):
            self.words = frozenset(one.value for one in self.kind)
            self.write = None if issubclass(self.kind, str) else attrgetter("value")
        elif isinstance(self.kind, type):
            self.write = json_of
        if self.default is _MISSING:
            self.default = None if self.optional else () if self.is_list else empty

    def leaves_out(self, value: Any) -> bool:
        """Whether a value of it goes without saying."""
        if value is None or value == self.default:
            return True
        is_optional = self.is_field and self.default is None
        return not is_optional and isinstance(value, str | tuple | list | dict) and not value

    def written(self, value: Any) -> Any:
        """A value as JSON."""
        if value is None:
            return None
        if self.is_list:
            return list(value) if self.write is None else [self.write(item) for item in value]
        return value if self.write is None else self.write(value)

    def read(self, line: Record) -> Any:
        """The value in an object that `misfit_in` finds nothing wrong with."""
        if self.makes is not None:
            return self.makes(line)
        if self.is_inline:
            return value_of(self.kind, line)
        if self.key == "cost":
            return cost_in(line)
        value = line.get(self.key)
        if value is None:
            if self.default is _MISSING:
                raise KeyError(self.key)
            return None if self.optional and self.key in line else self.default
        kind = self.kind
        if isinstance(kind, tuple):
            return tuple(value) if self.is_list else value
        if issubclass(kind, Enum):
            return tuple(map(kind, value)) if self.is_list else kind(value)
        return tuple(value_of(kind, item) for item in value) if self.is_list else value_of(kind, value)

    def misfit(self, value: Any) -> str | None:
        """What in a value does not fit, as the end of a path; None when it fits."""
        if value is None:
            return None
        if not self.is_list:
            return self._misfit(value)
        if not isinstance(value, list | tuple):
            return ""
        for at, item in enumerate(value):
            if (misfit := self._misfit(item)) is not None:
                return f"[{at}]{misfit}"
        return None

    def _misfit(self, value: Any) -> str | None:
        kind = self.kind
        if isinstance(kind, tuple):
            is_sized = type(value) is int or self.is_bounded
            fits = kind[0] is object or (isinstance(value, kind) and (not is_sized or abs(value) <= LARGEST))
            return None if fits else ""
        if issubclass(kind, Enum):
            return None if isinstance(value, str) and value in self.words else ""
        misfit = misfit_in(kind, value)
        return None if misfit is None else f".{misfit}" if misfit else ""


_known: dict[type[Value], tuple[tuple[Member, ...], dict[str, Member]]] = {}
_read: dict[tuple[type[Value], str], Member] = {}


def members_of(cls: type[Value]) -> tuple[Member, ...]:
    """The members of the objects of a class, in their order."""
    return _form(cls)[0]


def _form(cls: type[Value]) -> tuple[tuple[Member, ...], dict[str, Member]]:
    found = _known.get(cls)
    if found is None:
        said = str(getattr(cls, "__members__", "")).split()
        plain = {name.rstrip("!") for name in said}
        said += [name for name in names_of(cls) if name not in plain]
        every = [Member(cls, name.rstrip("!"), name.endswith("!")) for name in said]
        beside = str(getattr(cls, "__beside__", "")).split()
        written = tuple(member for member in every if member.name not in beside)
        found = _known[cls] = written, {member.name: member for member in every if member.is_field}
    return found


def json_of(value: Value) -> Record:
    """The object of a value. One that was read has its own, with whatever else is in it; it must not be changed."""
    line = value.__dict__.get("_line")
    if line is not None:
        return line  # type: ignore[no-any-return]
    record: Record = {}
    cls, fields = type(value), value.__dict__
    for member in (_known.get(cls) or _form(cls))[0]:
        if member.writer is not None:
            found = member.writer(value)
            if found is not ...:
                record[member.key] = found
            continue
        given = fields[member.name] if member.is_field else getattr(value, member.name)
        if not member.is_always and (given is member.default or given is None or member.leaves_out(given)):
            continue
        if member.is_inline:
            record |= json_of(given)
        elif member.key == "cost":
            record |= cost_record(given)
        else:
            record[member.key] = member.written(given) if member.is_list or member.write is not None else given
    return record


def value_of(cls: type[AnyValue], line: Record) -> AnyValue:
    """The value of an object, which `misfit_in` finds nothing wrong with."""
    if hasattr(cls, "__keeps_object__"):
        return kept(cls, line)
    fields = {
        name: member.read(line)
        for name, member in _form(cls)[1].items()
        if member.key in line or member.makes is not None or member.is_inline or member.default is not _MISSING
    }
    return cls(**fields)


def fitting(cls: type[AnyValue], line: Record) -> AnyValue:
    """The value of any object; members that do not fit are as if they were missing."""
    members = (member for member in _form(cls)[1].values() if member.key in line)
    return value_of(cls, {one.key: line[one.key] for one in members if one.misfit(line[one.key]) is None})


def kept(cls: type[AnyValue], line: Record) -> AnyValue:
    """A value whose fields are read when they are asked for."""
    value = cls.__new__(cls)
    object.__setattr__(value, "__dict__", {"_line": line})
    return value


def read_field(value: Value, name: str) -> Any:
    """A field of a value that keeps its object."""
    key = (type(value), name)
    member = _read.get(key)
    if member is None:  # what the others are made of need not be loaded
        member = _read[key] = Member(*key, is_always=False)
    return member.read(value.__dict__["_line"])


def misfit_in(cls: type[Value], line: Any) -> str | None:
    """The path of the first member that no value of a class has, such as `turns[0].status`; empty for what is no
    object; None when all fit."""
    if not isinstance(line, dict):
        return ""
    is_strict = hasattr(cls, "__strict__")
    for member in members_of(cls):
        if not member.is_field:
            continue
        value = line.get(member.key)
        if member.is_inline:
            if (misfit := misfit_in(member.kind, line)) is not None:
                return misfit
        elif value is None:
            if (member.default is _MISSING or (is_strict and member.is_required)) and member.makes is None:
                return member.key
        elif (misfit := member.misfit(value)) is not None:
            return f"{member.key}{misfit}"
    return None


def _declared(cls: type[Value], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = getattr(cls, name, {})
    return found


def _annotation(cls: type[Value], name: str) -> str | None:
    for one in cls.__mro__:
        annotations = vars(one).get("__annotations__", {})
        if name in annotations:
            return str(annotations[name])
    return None


def _class_named(cls: type[Value], name: str) -> Any:
    """The class that an annotation names: one of its module, or else a value of another one, which is loaded."""
    for one in cls.__mro__:
        found = vars(sys.modules[one.__module__]).get(name)
        if found is not None:
            return found
    waiting: list[type] = [Value]
    while waiting:
        known = waiting.pop()
        if known.__name__ == name:
            return known
        waiting += known.__subclasses__()
    raise TypeError(f"{cls.__name__}: there is no {name}")
