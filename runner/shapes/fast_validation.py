"""Takes values that fit a schema beyond doubt, without pydantic's core: to load it takes a tenth of a run of one case
(`tests/bench/first_case.py`).

This goes through the same schemas in plain Python, and refuses nothing. Where a value does not fit, or there is more to
consider, `DoubtError` is raised and pydantic decides. For thousands of values pydantic is quicker, but takes five
megabytes; once it is loaded it takes all."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, NoReturn

Schema = dict[str, Any]
"""A schema of pydantic's core."""
LONGEST = 100_000
"""Characters of JSON that are read here at the most."""
_DEEPEST = 200
"""Brackets that are nested deeper may be so more deeply than pydantic allows."""
_LARGE = 200_000
"""Bytes from which on pydantic is quicker."""
_EXACT = 1 << 53
"""Whole numbers up to here are floats without loss."""


class DoubtError(Exception):
    """It is for pydantic to decide."""


def is_wanted() -> bool:
    """Whether pydantic's core is not loaded yet."""
    return "pydantic_core" not in sys.modules


def expect(size: int) -> None:
    """Loads pydantic for JSON of so many bytes, if it is worth that."""
    if size > _LARGE:
        import pydantic_core  # noqa: F401


def json_of(text: str) -> Any:
    """The value of a JSON text without NaN and Infinity. Raises ValueError, with what pydantic says."""
    if is_wanted():
        try:
            return plain_json(text)
        except (DoubtError, ValueError, RecursionError):
            pass
    from pydantic_core import from_json

    return from_json(text, allow_inf_nan=False)


def plain_json(text: str) -> Any:
    """The same for a short text that has nothing unusual in it. Raises DoubtError, ValueError and RecursionError."""
    if len(text) > LONGEST or (text.count("[") + text.count("{") > _DEEPEST and _depth(text) > _DEEPEST):
        raise DoubtError
    if "\\ud" in text.lower() or not _is_unicode(text):
        raise DoubtError
    return json.loads(text, parse_constant=_doubtful)


def _depth(text: str) -> int:
    """How deep the brackets of a JSON text are nested."""
    depth = deepest = 0
    for bracket in re.findall(r"[][{}]", re.sub(r'"[^"\\]*(?:\\.[^"\\]*)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(depth, deepest)
    return deepest


def fitted_json(schema: Schema, text: str) -> Any | None:
    """What pydantic makes of a JSON text that fits; None when pydantic is to be asked, or is loaded anyway."""
    if not is_wanted():
        return None
    try:
        return fitted(schema, plain_json(text))
    except (DoubtError, ValueError, RecursionError):
        return None


def fitted(schema: Schema, value: Any) -> Any:
    """What pydantic makes of a JSON value that fits. Raises DoubtError."""
    known = _KINDS.get(schema["type"])
    if known is None or not schema.keys() <= known[1]:
        raise DoubtError
    return known[0](schema, value)


class _Plan:
    """What `fill` needs to know of the schema of a model."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.inner = schema["schema"]
        self.is_open = schema["config"]["extra_fields_behavior"] == "allow"
        self.fields: dict[str, tuple[str, Schema]] = {}
        """Spelling → the name of its field, and the schema of that."""
        self.defaults: dict[str, Any] = {}
        """All fields in their order, with the values that they have by default, where these are not made."""
        self.made: list[tuple[str, Callable[[], Any]]] = []
        """Fields whose default values are made."""
        self.required: set[str] = set()
        for name, field in self.inner["fields"].items():
            inner = field["schema"]
            spellings = (*(path[0] for path in field.get("validation_alias", ())), name)
            self.fields |= dict.fromkeys(spellings, (name, inner))
            self.defaults[name] = inner.get("default")
            if inner["type"] != "default":
                self.required.add(name)
            elif "default_factory" in inner:
                self.made.append((name, inner["default_factory"]))


_plans: dict[int, _Plan] = {}
"""By the identity of their schemas, which they keep."""


def fill(record: Any, schema: Schema, value: Any) -> None:
    """Fills a record of the model of a schema from a JSON object. Raises DoubtError, and leaves it as it was then."""
    if type(value) is not dict:
        raise DoubtError
    plan = _plans.get(id(schema))
    if plan is None:
        plan = _plans[id(schema)] = _Plan(schema)
    found, given = plan.defaults.copy(), set[str]()
    further: dict[str, Any] | None = {} if plan.is_open else None
    for key, item in value.items():
        name, inner = plan.fields.get(key, ("", schema))
        if name in given or (not name and further is None):
            raise DoubtError
        if name:
            given.add(name)
            found[name] = fitted(inner, item)
        elif further is not None:
            further[key] = fitted(plan.inner["extras_schema"], item)
    if not plan.required <= given:
        raise DoubtError
    for name, make in plan.made:
        if name not in given:
            found[name] = make()
    record.__dict__.update(found)
    record.__pydantic_fields_set__ = given | further.keys() if further else given
    record.__pydantic_extra__ = further
    record.__pydantic_private__ = None


def _doubtful(*_: Any) -> NoReturn:
    raise DoubtError


def _text(schema: Schema, value: Any) -> str:
    if type(value) is not str:
        raise DoubtError
    pattern = schema.get("pattern")
    if (pattern is not None and not re.search(pattern, value)) or not _is_unicode(value):
        raise DoubtError
    return value


def _is_unicode(text: str) -> bool:
    """Whether a text has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _literal(schema: Schema, value: Any) -> str:
    return value if type(value) is str and value in schema["expected"] else _doubtful()


def _whole(schema: Schema, value: Any) -> int:
    return value if type(value) is int and _is_within(schema, value) else _doubtful()


def _number(schema: Schema, value: Any) -> float:
    fits = type(value) in (int, float) and -_EXACT <= value <= _EXACT and _is_within(schema, value)
    return float(value) if fits else _doubtful()


def _is_within(schema: Schema, value: float) -> bool:
    least, above, most = schema.get("ge"), schema.get("gt"), schema.get("le")
    return (least is None or value >= least) and (above is None or value > above) and (most is None or value <= most)


def _list(schema: Schema, value: Any) -> list[Any]:
    if type(value) is not list or len(value) < schema.get("min_length", 0):
        raise DoubtError
    return [fitted(schema["items_schema"], item) for item in value]


def _dict(schema: Schema, value: Any) -> dict[Any, Any]:
    if type(value) is not dict:
        raise DoubtError
    keys, values = schema["keys_schema"], schema["values_schema"]
    return {fitted(keys, key): fitted(values, item) for key, item in value.items()}


def _changed(schema: Schema, value: Any) -> Any:
    before = fitted(schema["schema"], value)
    try:
        return schema["function"]["function"](before)
    except ValueError as error:
        raise DoubtError from error


_chosen: dict[tuple[int, type], tuple[Schema, Schema | None]] = {}
"""Identity of a union and the type of a value → the union, and the choice for the value; None: it is in doubt."""


def _union(schema: Schema, value: Any) -> Any:
    key = (id(schema), type(value))
    if key not in _chosen:
        fitting = [one for one in schema["choices"] if (types := _types_of(one)) is None or type(value) in types]
        is_clear = len(fitting) == 1 or (fitting and schema.get("mode") == "left_to_right")
        _chosen[key] = schema, fitting[0] if is_clear else None
    choice = _chosen[key][1]
    if choice is None:
        raise DoubtError
    return fitted(choice, value)


def _model(schema: Schema, value: Any) -> Any:
    record = schema["cls"].__new__(schema["cls"])
    fill(record, schema, value)
    return record


def _types_of(schema: Schema) -> frozenset[type] | None:
    """The types of JSON values that may fit; None when all may."""
    kind = schema["type"]
    if kind in _TYPES:
        return _TYPES[kind]
    if kind == "union":
        inner = [_types_of(choice) for choice in schema["choices"]]
        return None if None in inner else frozenset[type]().union(*filter(None, inner))
    if kind not in ("nullable", "default", "function-after"):
        return None
    types = _types_of(schema["schema"])
    return types | {NoneType} if types is not None and kind == "nullable" else types


_TYPES: Mapping[str, frozenset[type]] = {
    "str": frozenset((str,)),
    "literal": frozenset((str,)),
    "bool": frozenset((bool,)),
    "int": frozenset((int,)),
    "float": frozenset((int, float)),
    "list": frozenset((list,)),
    "dict": frozenset((dict,)),
    "model": frozenset((dict,)),
}
_KINDS: Mapping[str, tuple[Callable[[Schema, Any], Any], frozenset[str]]] = {
    kind: (take, frozenset(("type", *keys.split())))
    for kind, take, keys in (
        ("any", lambda schema, value: value, ""),
        ("str", _text, "strict pattern"),
        ("literal", _literal, "expected"),
        ("bool", lambda schema, value: value if type(value) is bool else _doubtful(), ""),
        ("int", _whole, "ge gt le"),
        ("float", _number, "ge gt le allow_inf_nan"),
        ("list", _list, "items_schema min_length"),
        ("dict", _dict, "keys_schema values_schema"),
        ("nullable", lambda schema, value: None if value is None else fitted(schema["schema"], value), "schema"),
        ("default", lambda schema, value: fitted(schema["schema"], value), "schema default default_factory"),
        ("function-after", _changed, "schema function"),
        ("union", _union, "choices mode metadata"),
        ("model", _model, "schema cls config"),
    )
}
"""Type of a schema → what takes its values, and the keys that it understands."""
