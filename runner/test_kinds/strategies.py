"""What inputs of a search look like, as strategies of Hypothesis: by the shapes of examples, with literals of the
source among the values, and by the keywords of JSON Schema, draft 2020-12, as far as values are made by them; what they
leave open, the validator decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import ceil, floor, inf, nextafter
from typing import Any

from hypothesis import strategies as st

from bindings.processes.schemas import misfit, schema_problem
from runner.errors import RunnerError
from runner.test_kinds.search import Literals

LARGEST = 2**53 - 1
"""The largest integer that JavaScript represents exactly."""
_EDGES = tuple(dict.fromkeys(sign * (2**bits + more) for bits in range(54) for more in (0, -1, 1) for sign in (1, -1)))
_EDGES = tuple(number for number in _EDGES if abs(number) <= LARGEST)
_ODD = "\u0301\u05d0\u0939\u200b\u200d\u202e\u2028\u3042\u4e2d\uac00\ufb01\ufeff\uffff\U0001f600\U0001f1e9"
LETTERS = "".join(map(chr, range(0x250))) + _ODD
"""The characters of texts: all of Latin, and some of each sort that code trips over."""
_SHORT = 8
"""Characters between literals."""
Strategy = st.SearchStrategy[Any]
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_WORDS = {
    "integer": {"multipleOf"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "string": {"minLength", "maxLength", "pattern", "format"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"},
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties", "propertyNames"},
}
"""Type → keywords that are of no other type; a schema without `type` is of those whose keywords it has."""
_MORE = 6
"""Items of a list beyond the fewest."""
_FORMATS: dict[str, Strategy] = {
    "date": st.dates().map(lambda date: date.isoformat()),
    "date-time": st.datetimes().map(lambda time: f"{time.isoformat()}Z"),
    "time": st.times().map(lambda time: f"{time.isoformat()}Z"),
    "email": st.emails(),
    "uuid": st.uuids().map(str),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
}


class Shapes:
    """Makes strategies of values."""

    def __init__(self, literals: Literals) -> None:
        self._whole = [number for number in literals.numbers if isinstance(number, int)]
        self._numbers = list(literals.numbers)
        self._texts = [*literals.texts, *(f"{number:.17g}" for number in literals.numbers)]

    def arguments(self, examples: Sequence[Sequence[Any]]) -> Strategy:
        """Lists of arguments of the shapes of some."""
        return st.tuples(*map(self.like, zip(*examples, strict=True))).map(list)

    def like(self, examples: Iterable[Any]) -> Strategy:
        """Values of the shapes of some; of any, when there are none."""
        values = list(examples)
        numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        texts: list[Any] = [value for value in values if isinstance(value, str)]
        lists: list[Any] = [value for value in values if isinstance(value, list)]
        objects: list[Any] = [value for value in values if isinstance(value, dict)]
        choices: list[Strategy] = [st.none()] if None in values else []
        if any(isinstance(value, bool) for value in values):
            choices.append(st.booleans())
        if numbers:
            is_whole = all(isinstance(value, int) for value in numbers)
            choices.append(self.whole_numbers() if is_whole else self.numbers())
        if texts:
            choices.append(self.texts(texts))
        if lists:
            choices.append(st.lists(self.like(chain(*lists))))
        if objects:
            choices.append(self._object(objects))
        return st.one_of(choices) if choices else self.anything()

    def whole_numbers(self, least: int = -LARGEST, most: int = LARGEST) -> Strategy:
        """Whole numbers within bounds."""
        known = [number for number in self._whole if least <= number <= most]
        edges = [number for number in _EDGES if least <= number <= most]
        return st.one_of(st.integers(least, most), *_some(known), *_some(edges))

    def numbers(self, least: float | None = None, most: float | None = None) -> Strategy:
        """Numbers within bounds, whole ones among them."""
        low = -float(LARGEST) if least is None else least
        high = float(LARGEST) if most is None else most
        known = [number for number in self._numbers if low <= number <= high]
        return st.one_of(st.floats(least, most, allow_nan=False, allow_infinity=False), *_some(known))

    def texts(self, examples: Iterable[str] = ()) -> Strategy:
        """Texts: any, of the characters of examples, and made from literals."""
        own = list(dict.fromkeys(examples))
        known = list(dict.fromkeys([*own, *self._texts]))
        if not known:
            return st.text(LETTERS)
        letters = sorted({letter for text in own for letter in text})
        pieces = st.one_of(st.text(LETTERS, max_size=_SHORT), st.sampled_from(known))
        choices = [st.text(LETTERS), st.sampled_from(known), st.lists(pieces, max_size=4).map("".join)]
        if letters:
            choices.append(st.text(st.sampled_from(letters)))
        return st.one_of(choices)

    def anything(self) -> Strategy:
        """Any JSON value, a small one."""
        plain = st.one_of(st.none(), st.booleans(), self.whole_numbers(), self.texts())
        return st.recursive(
            plain, lambda inner: st.one_of(st.lists(inner), st.dictionaries(self.texts(), inner)), max_leaves=5
        )

    def objects(self, keys: dict[str, Strategy], needed: Iterable[str] = ()) -> Strategy:
        """Objects with some of the keys, most with all of them."""
        needs = set(needed)
        whole = st.fixed_dictionaries(keys)
        if needs >= keys.keys():
            return whole
        required = {key: value for key, value in keys.items() if key in needs}
        optional = {key: value for key, value in keys.items() if key not in needs}
        return st.one_of(st.fixed_dictionaries(required, optional=optional), whole)

    def _object(self, values: list[dict[str, Any]]) -> Strategy:
        keys = dict.fromkeys(key for value in values for key in value)
        if not keys:
            return st.dictionaries(self.texts(), self.anything(), max_size=3)
        return self.objects({key: self.like(value[key] for value in values if key in value) for key in keys})


class UnusableSchemaError(RunnerError):
    """No values can be made by a schema."""


class _Schema:
    """One schema with what its references lead to."""

    def __init__(self, schema: Any, shapes: Shapes) -> None:
        if problem := schema_problem(schema):
            raise UnusableSchemaError(f"Cannot use the schema: {problem}")
        self._schema = schema
        self._shapes = shapes
        self._referred: dict[str, Strategy] = {}

    def values(self) -> Strategy:
        """Values that it accepts."""
        return self._made(self._schema).filter(lambda value: not misfit(value, self._schema, checked=True))

    def _made(self, schema: Any) -> Strategy:
        if schema is True or schema == {}:
            return self._shapes.anything()
        if schema is False:
            return st.nothing()
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        if "$ref" in schema:
            return self._reference(schema["$ref"])
        if "allOf" in schema:
            return self._made(self._together(schema))
        for word in ("anyOf", "oneOf"):
            if word in schema:
                rest = {key: value for key, value in schema.items() if key != word}
                return st.one_of([self._made(_merged(rest, self._resolved(choice))) for choice in schema[word]])
        return st.one_of([getattr(self, f"_{type}")(schema) for type in _types(schema)])

    def _reference(self, reference: str) -> Strategy:
        if reference not in self._referred:
            found = self._target(reference)
            self._referred[reference] = st.deferred(lambda: self._made(found))
        return self._referred[reference]

    def _target(self, reference: str) -> Any:
        found = self._schema
        if reference.startswith("#"):
            try:
                for step in reference[1:].split("/")[1:]:
                    key = step.replace("~1", "/").replace("~0", "~")
                    found = found[int(key)] if isinstance(found, list) else found[key]
                return found
            except (LookupError, ValueError, TypeError):
                pass
        raise UnusableSchemaError(f'Cannot follow "$ref": "{reference}": only #/... within the schema is supported')

    def _resolved(self, schema: Any) -> Any:
        return self._target(schema["$ref"]) if isinstance(schema, dict) and "$ref" in schema else schema

    def _together(self, schema: Mapping[str, Any]) -> Any:
        merged: Any = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"]:
            merged = _merged(merged, self._resolved(part))
        return merged

    def _null(self, schema: Mapping[str, Any]) -> Strategy:
        return st.none()

    def _boolean(self, schema: Mapping[str, Any]) -> Strategy:
        return st.booleans()

    def _integer(self, schema: Mapping[str, Any]) -> Strategy:
        least, most = _bounds(schema)
        step = schema.get("multipleOf")
        low, high = ceil(max(least, -LARGEST)), floor(min(most, LARGEST))
        if isinstance(step, int):
            if floor(high / step) < ceil(low / step):
                return st.nothing()
            return self._shapes.whole_numbers(ceil(low / step), floor(high / step)).map(lambda number: number * step)
        return self._shapes.whole_numbers(low, high) if low <= high else st.nothing()

    def _number(self, schema: Mapping[str, Any]) -> Strategy:
        least, most = _bounds(schema)
        step = schema.get("multipleOf")
        if step:
            low, high = max(least / step, -LARGEST), min(most / step, LARGEST)
            return self._shapes.whole_numbers(ceil(low), floor(high)).map(lambda number: number * step)
        if least > most:
            return st.nothing()
        whole = self._integer(schema)
        fractions = self._shapes.numbers(least if least > -inf else None, most if most < inf else None)
        return st.one_of(whole, fractions)

    def _string(self, schema: Mapping[str, Any]) -> Strategy:
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        if "pattern" in schema:
            try:
                return st.from_regex(re.compile(schema["pattern"]))
            except re.error as error:
                raise UnusableSchemaError(f'Cannot use "pattern": "{schema["pattern"]}": {error}') from error
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        fitting = st.text(LETTERS, min_size=least, max_size=most)
        if least > _MORE:
            return fitting
        return st.one_of(fitting, self._shapes.texts().filter(lambda text: least <= len(text) <= (most or inf)))

    def _array(self, schema: Mapping[str, Any]) -> Strategy:
        first = [self._made(item) for item in schema.get("prefixItems", ())]
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        items = schema.get("items", True)
        room = inf if most is None else most - len(first)
        if items is False or room <= 0:
            return st.tuples(*first[: most if most is not None else None]).map(list)
        fewest = max(0, least - len(first))
        many = st.lists(self._made(items), min_size=fewest, max_size=int(min(room, fewest + _MORE)))
        return st.tuples(st.tuples(*first), many).map(lambda parts: [*parts[0], *parts[1]])

    def _object(self, schema: Mapping[str, Any]) -> Strategy:
        known = schema.get("properties", {})
        needed = schema.get("required", ())
        more = schema.get("additionalProperties", True)
        keys = {key: self._made(value) for key, value in known.items()}
        for key in needed:
            if key not in keys:
                keys[key] = self._made(more)
        fixed = self._shapes.objects(keys, needed)
        if more is False or (more is True and known):
            return fixed
        names = self._made({"type": "string", **schema.get("propertyNames", {})})
        fewest = max(0, schema.get("minProperties", 0) - len(needed))
        most = schema.get("maxProperties", fewest + _MORE)
        others = st.dictionaries(names, self._made(more), min_size=fewest, max_size=max(fewest, most))
        return st.tuples(others, fixed).map(lambda parts: {**parts[0], **parts[1]})


def by_schemas(schemas: Sequence[Any], shapes: Shapes) -> Strategy:
    """Lists of arguments, each by its schema. Raises UnusableSchemaError."""
    return st.tuples(*(_Schema(schema, shapes).values() for schema in schemas)).map(list)


def _some(values: list[Any]) -> list[Strategy]:
    return [st.sampled_from(values)] if values else []


def _types(schema: Mapping[str, Any]) -> Sequence[str]:
    given = schema.get("type")
    if given is not None:
        return [given] if isinstance(given, str) else given
    return [type for type in _TYPES if _WORDS.get(type, set()) & schema.keys()] or _TYPES


def _bounds(schema: Mapping[str, Any]) -> tuple[float, float]:
    least, most = schema.get("minimum", -inf), schema.get("maximum", inf)
    if "exclusiveMinimum" in schema:
        edge = schema["exclusiveMinimum"]
        least = max(
            least, edge + 1 if schema.get("type") == "integer" and isinstance(edge, int) else nextafter(edge, inf)
        )
    if "exclusiveMaximum" in schema:
        edge = schema["exclusiveMaximum"]
        most = min(
            most, edge - 1 if schema.get("type") == "integer" and isinstance(edge, int) else nextafter(edge, -inf)
        )
    return least, most


def _merged(one: Any, other: Any) -> Any:
    """A schema of what both accept, or more: the validator takes out the rest."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other if one is True or one == {} else one if other is True else False
    merged = {**one, **other}
    if "properties" in one and "properties" in other:
        shared = {key: _merged(value, other["properties"].get(key, True)) for key, value in one["properties"].items()}
        merged["properties"] = {**other["properties"], **shared}
    if "required" in one and "required" in other:
        merged["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    for word, choose in (("minimum", max), ("maximum", min), ("minLength", max), ("maxLength", min)):
        if word in one and word in other:
            merged[word] = choose(one[word], other[word])
    if "allOf" in one and "allOf" in other:
        merged["allOf"] = [*one["allOf"], *other["allOf"]]
    return merged
