"""Which values a model takes: the rules of its columns, and what a strict database refuses."""

from typing import Any

from pet_shop import Shop
from table_tests import each

RULES: list[tuple[str, list[Any], Any, bool]] = [
    ("typeof", ["integer"], "x", True),
    ("typof", ["string"], "x", True),
    ("typof", ["string"], 5, False),
    ("typof", ["integer"], 5, False),
    ("typof", ["number"], 5, True),
    ("typof", ["datetime"], "2024-01-02 03:04:05", True),
    ("typof", ["datetime"], "soon", False),
    ("typof", ["bool"], True, True),
    ("typof", [], "x", False),
    ("nobody", [1], "x", True),
    ("pattern", ["^a+$"], "aaa", True),
    ("pattern", ["^a+$"], "b", False),
    ("pattern", ["a"], "cab", True),
    ("pattern", ["("], "x", False),
    ("pattern", ["^5$"], 5, True),
    ("pattern", [], "x", True),
    ("maxLength", [3], "abc", True),
    ("maxLength", [3], "äö", False),
    ("maxLength", [], "abc", True),
    ("minLength", [3], "äö", True),
    ("minLength", [3], "ab", False),
    ("enum", ["a", 1], "a", True),
    ("enum", ["a", 1], 1, True),
    ("enum", ["a"], "b", False),
    ("enum", [1], True, False),
    ("email", [], "a@b.de", True),
    ("email", [], "Ann <a@b.de>", True),
    ("email", [], "a.b.de", False),
    ("email", [], 5, False),
    ("mobile", [], "13800000000", True),
    ("mobile", [], "23800000000", False),
    ("mobile", ["us"], "123-456-7890", True),
    ("mobile", ["us"], "13800000000", False),
    ("min", [3], 3, True),
    ("min", [3], 2.5, False),
    ("max", [3], 3, True),
    ("max", [3], 3.5, False),
    ("max", [3], "2", False),
]


@each(("method", "args", "value", "holds"), RULES, ids=str)
def test_a_rule(method: str, args: list[Any], value: Any, holds: bool) -> None:
    rule = {"method": method, "args": args, "message": "{{ label }}/{{name}}/{{type}}/{{input}}/{{nobody}}!"}
    column = {"name": "c", "type": "json", "label": "L", "validations": [rule]}
    columns = [{"name": "id", "type": "ID"}, column]
    shop = Shop(documents={"x": {"name": "X", "table": {"name": "x"}, "columns": columns}})
    shown = {True: "true"}.get(value, value) if isinstance(value, bool) else value
    assert shop.call("models.x.Create", {"c": value}) == (1 if holds else f"400: c;L/c/json/{shown}/!")


STRICT: list[tuple[dict[str, Any], str | None]] = [
    ({"age": 2}, "Field 'name' doesn't have a default value"),
    ({"name": "Ida"}, None),
    ({"name": "Ida", "tame": None}, "Column 'tame' cannot be null"),
    ({"name": "Ida", "tag": "x" * 31}, "Data too long for column 'tag' at row 1"),
    ({"name": "Ida", "owner_id": "x"}, "Incorrect integer value: 'x' for column 'owner_id' at row 1"),
    ({"name": "Ida", "owner_id": "7"}, None),
    ({"name": "Ida", "owner_id": "1_0"}, "Incorrect integer value: '1_0' for column 'owner_id' at row 1"),
    ({"name": "Ida", "owner_id": "nan"}, "Incorrect integer value: 'nan' for column 'owner_id' at row 1"),
    ({"name": "Ida", "owner_id": 1 << 31}, "Out of range value for column 'owner_id' at row 1"),
    ({"name": "Ida", "owner_id": str(-(1 << 31) - 1)}, "Out of range value for column 'owner_id' at row 1"),
    ({"name": "Ida", "owner_id": -(1 << 31)}, None),
    ({"name": "Ida", "tame": 128}, "Out of range value for column 'tame' at row 1"),
    ({"name": "Ida", "weight": "heavy"}, "Incorrect decimal value: 'heavy' for column 'weight' at row 1"),
    ({"name": "Ida", "weight": "1.5e1 "}, None),
    ({"name": "Ida", "weight": 10_000_000}, "Out of range value for column 'weight' at row 1"),
    ({"name": "Ida", "weight": 999_999.99}, None),
]
STRICT_TYPES: list[tuple[str, Any, str]] = [
    ("unsignedTinyInteger", 255, ""),
    ("unsignedTinyInteger", 256, "Out of range value"),
    ("unsignedBigInteger", -1, "Out of range value"),
    ("unsignedDecimal", -1, "Out of range value"),
    ("smallInteger", 32768, "Out of range value"),
    ("text", "ä" * 32767, ""),
    ("text", "ä" * 32768, "Data too long"),
    ("mediumText", "ä" * 32768, ""),
    ("char", "12345678901", "Data too long"),
]


@each(("type", "value", "said"), STRICT_TYPES, ids=lambda part: str(part)[:20])
def test_a_strict_database_knows_what_types_hold(type: str, value: Any, said: str) -> None:
    document = {"table": {"name": "x"}, "columns": [{"name": "id", "type": "ID"}, {"name": "c", "type": type}]}
    answer = Shop(strict=True, documents={"x": document}).call("models.x.Create", {"c": value})
    end = " for column 'c' at row 1 (--strict-db rejects what MySQL rejects)"
    assert answer == (f"500: {said}{end}" if said else 1)


@each(("given", "said"), STRICT, ids=str)
def test_a_strict_database_refuses_what_mysql_does(given: dict[str, Any], said: str | None) -> None:
    shop = Shop(strict=True)
    expected = 1 if said is None else f"500: {said} (--strict-db rejects what MySQL rejects)"
    assert shop.call("models.pet.Create", given) == expected
    again = Shop(strict=True)
    inserted = again.call("models.pet.Insert", list(given), [list(given.values())])
    assert inserted == (None if said is None else expected)
