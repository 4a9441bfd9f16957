"""Takes values that fit a schema beyond doubt, without pydantic's core: to load it takes a tenth of a run of one case
(`tests/bench/first_case.py`).

This goes through the same schemas in plain Python, and refuses nothing. Where a value does not fit, or there is more to
consider, `DoubtError` is raised and pydantic decides. For more than a few values pydantic is quicker, and once it is
loaded it takes all."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, NoReturn

Schema = dict[str, Any]
"""A schema of pydantic's core."""
LONGEST = 20_000
"""Characters of JSON that are read here at the most."""
_DEEPEST = 200
"""More brackets may be nested deeper than pydantic allows."""
_EXACT = 1 << 53
"""Whole numbers up to here are floats without loss."""


class DoubtError(Exception):
    """It is for pydantic to decide."""


def is_wanted() -> bool:
    """Whether pydantic's core is not loaded yet."""
    return "pydantic_core" not in sys.modules


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
    if len(text) > LONGEST or text.count("[") + text.count("{") > _DEEPEST:
        raise DoubtError
    if "\\ud" in text.lower() or not _is_unicode(text):
        raise DoubtError
    return json.loads(text, parse_constant=_doubtful)


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


def fill(record: Any, schema: Schema, value: Any) -> None:
    """Fills a record of the model of a schema from a JSON object. Raises DoubtError, and leaves it as it was then."""
    if type(value) is not dict:
        raise DoubtError
    inner = schema["schema"]
    left, found, given = dict(value), {}, set()
    for name, field in inner["fields"].items():
        spellings = dict.fromkeys((*(path[0] for path in field.get("validation_alias", ())), name))
        present = [spelling for spelling in spellings if spelling in left]
        if len(present) > 1:
            raise DoubtError
        if present:
            found[name] = fitted(field["schema"], left.pop(present[0]))
            given.add(name)
        else:
            found[name] = _default_of(field["schema"])
    is_open = schema["config"]["extra_fields_behavior"] == "allow"
    if left and not is_open:
        raise DoubtError
    further = {name: fitted(inner["extras_schema"], item) for name, item in left.items()} if is_open else None
    record.__dict__.update(found)
    record.__pydantic_fields_set__ = given | left.keys()
    record.__pydantic_extra__ = further
    record.__pydantic_private__ = None


def _default_of(schema: Schema) -> Any:
    if schema["type"] != "default":
        raise DoubtError
    return schema["default_factory"]() if "default_factory" in schema else schema["default"]


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


def _nullable(schema: Schema, value: Any) -> Any:
    return None if value is None else fitted(schema["schema"], value)


def _changed(schema: Schema, value: Any) -> Any:
    before = fitted(schema["schema"], value)
    try:
        return schema["function"]["function"](before)
    except ValueError as error:
        raise DoubtError from error


def _union(schema: Schema, value: Any) -> Any:
    fitting = [choice for choice in schema["choices"] if (types := _types_of(choice)) is None or type(value) in types]
    if not fitting or (len(fitting) > 1 and schema.get("mode") != "left_to_right"):
        raise DoubtError
    return fitted(fitting[0], value)


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
        ("nullable", _nullable, "schema"),
        ("default", lambda schema, value: fitted(schema["schema"], value), "schema default default_factory"),
        ("function-after", _changed, "schema function"),
        ("union", _union, "choices mode metadata"),
        ("model", _model, "schema cls config"),
    )
}
"""Type of a schema → what takes its values, and the keys that it understands."""
