"""The behaviour of Yao's models in unusual cases, one test for each fact."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pet_shop import DOCUMENTS, PET, Shop
from table_tests import each


@pytest.fixture
def shop() -> Shop:
    return Shop().fill()


@pytest.mark.parametrize("process", ["models.Shop.None.Get", "models.SHOP.none.Find", "models.shop.none.Create"])
def test_a_model_that_is_not_there_is_named_in_small_letters(shop: Shop, process: str) -> None:
    assert shop.call(process, {}, {}) == "400: Model:shop.none; not found"


def test_insert_without_rows_adds_a_row_of_defaults(shop: Shop) -> None:
    before = shop.sql("SELECT COUNT(*) FROM pet")[0][0]
    assert shop.call("models.pet.Insert", ["name", "kind"], []) is None
    assert shop.sql("SELECT COUNT(*) FROM pet") == [(before + 1,)]
    assert shop.sql("SELECT name, kind, tame, created_at FROM pet ORDER BY id DESC LIMIT 1") == [
        (None, "cat", True, None)
    ]
    assert shop.warnings == ["models.pet: Insert without rows inserts one row of defaults"]


@pytest.mark.parametrize(
    ("given", "answered"), [(7, 7), (2147483647, 2147483647), (2147483648, -2147483648), (4294967296, 0)]
)
def test_a_number_that_is_all_of_an_answer_has_32_bits(shop: Shop, given: int, answered: int) -> None:
    assert shop.call("models.pet.Create", {"id": given, "name": "Ida"}) == answered
    assert shop.call("models.pet.Find", given, {})["id"] == given
    assert shop.call("models.pet.Save", {"id": given, "name": "Ida"}) == given


HAVINGS: list[tuple[dict[str, Any], str]] = [
    ({":kind": "", "in": ["dog"]}, "in"),
    ({"field": "kind", "op": "in", "value": ["dog"]}, "in"),
    ({":kind": "", "is": "not null"}, "is"),
    ({"field": "kind", "op": "is", "value": "null"}, "is"),
    ({"wheres": [{":kind": "", "=": "dog"}]}, "wheres"),
]


@pytest.mark.parametrize(("having", "refused"), HAVINGS, ids=str)
def test_havings_refuse_what_upstream_refuses(shop: Shop, having: dict[str, Any], refused: str) -> None:
    dsl = {"select": ["kind", ":COUNT(id) as n"], "from": "pet", "groups": "kind", "havings": [having]}
    assert shop.call("query.default.Get", dsl) == f"400: Query: Exception|400: havings cannot have {refused}"


def test_rules_that_never_run_are_said_once_for_each_model() -> None:
    rules = [{"method": "typeof", "args": ["integer"]}, {"method": "unheard", "args": []}]
    document = {
        "name": "X",
        "table": {"name": "x"},
        "columns": [{"name": "a", "type": "string", "validations": rules}, {"name": "b", "type": "string", "validations": rules[:1]}],
    }  # fmt: skip
    shop = Shop(documents={"x": document, "y": {**document, "table": {"name": "y"}}})
    for _ in range(2):
        assert shop.call("models.x.Create", {"a": "text"}) > 0
        assert shop.call("models.y.Insert", ["a"], [["text"]]) is None
    assert shop.warnings == [
        f"models.{id}: the validation {method} never runs, because Yao skips it"
        for id in ("x", "y")
        for method in ("typeof of a, b", "unheard of a")
    ]


@each(
    ("args", "value", "holds"),
    [([1, 2], 2, True), ([1.0], 1, True), ([1], 1.5, False), ([1], True, False), ([True], 1, False), (["1"], 1, False)],
)
def test_the_rule_enum_compares_as_javascript_does(args: list[Any], value: Any, holds: bool) -> None:
    rules = [{"method": "enum", "args": args, "message": "other"}]
    column = {"name": "a", "type": "json", "validations": rules}
    shop = Shop(documents={"x": {"table": {"name": "x"}, "columns": [{"name": "id", "type": "ID"}, column]}})
    assert shop.call("models.x.Create", {"a": value}) == (1 if holds else "400: a;other")


TRAPS: list[tuple[dict[str, Any], str]] = [
    ({"wheres": {"column": "id", "value": 1}}, "wheres is dropped: it must be a list of conditions"),
    ({"wheres": ["id = 1"]}, "a condition is dropped: it must be an object"),
    ({"wheres": [{"column": "id", "value": [1, 2]}]},
     "the condition on id only compares with the first value of its list: use op in for all"),
    ({"wheres": [{"column": "id", "op": "ne", "value": [1, 2]}]},
     "the condition on id only compares with the first value of its list: use op in for all"),
    ({"orders": "id desc"}, "orders is dropped: it must be a list of objects with column and option"),
    ({"orders": ["id desc"]}, "an order is dropped: it must be an object with column and option"),
    ({"select": ["id", "nickname", "age as years"]}, "select: nickname, age as years left out: no column of pet"),
    ({"withs": {"owner": {"query": {"select": ["nick"]}}}}, "select: nick left out: no column of owner"),
]  # fmt: skip


@pytest.mark.parametrize(("param", "said"), TRAPS, ids=lambda part: str(part)[:50])
def test_what_is_dropped_from_a_query_is_said(shop: Shop, param: dict[str, Any], said: str) -> None:
    assert isinstance(shop.call("models.pet.Get", param), list)
    assert shop.warnings == [f"models.pet: {said}"]


@pytest.mark.parametrize(
    "param",
    [
        {"wheres": [{"column": "id", "op": "in", "value": [1, 2]}]},
        {"select": ["*"]},
        {"orders": [{"column": "id"}]},
        {},
    ],
    ids=str,
)
def test_nothing_is_said_of_a_query_that_means_what_it_says(shop: Shop, param: dict[str, Any]) -> None:
    assert shop.call("models.pet.Get", param)
    assert shop.warnings == []


def test_run_says_that_it_leaves_the_rows_of_a_select_out(shop: Shop) -> None:
    assert shop.call("query.default.Run", {"sql": {"stmt": "select id from pet"}}) == {}
    assert shop.warnings == ["Query: Run returns no rows of a SELECT: use Get"]
    shop.call("query.default.Run", {"sql": {"stmt": "delete from toy"}})
    assert len(shop.warnings) == 1


NOW: list[tuple[str, Any]] = [
    ("datetime('now')", "2026-05-01 12:00:00"),
    ("datetime('now', 'localtime')", "2026-05-01 12:00:00"),
    ("datetime()", "2026-05-01 12:00:00"),
    ("date('NOW', '+1 day')", "2026-05-02"),
    ("time('now')", "12:00:00"),
    ("strftime('%Y/%m', 'now')", "2026/05"),
    ("strftime('%H:%M', '2026-01-01 07:08:09', 'utc')", "07:08"),
    ("julianday('2026-05-02') - julianday('now')", 0.5),
    ("unixepoch('now')", 1777636800),
    ("date('2024-02-28', '+1 day')", "2024-02-29"),
    ("date(NULL)", None),
    ("CURRENT_TIMESTAMP", "2026-05-01 12:00:00"),
]


@pytest.mark.parametrize(("expression", "value"), NOW)
def test_functions_of_time_follow_the_clock_in_utc(shop: Shop, expression: str, value: Any) -> None:
    assert shop.call("query.default.Get", {"sql": {"stmt": f"select {expression} as t"}}) == [{"t": value}]
    assert datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp() == 1777636800


@pytest.mark.parametrize("word", ["date", "time", "CURRENT_DATE", "CURRENT_TIME"])
def test_no_function_tells_the_real_time(shop: Shop, word: str) -> None:
    stmt = f"select {word} as t" if word.isupper() else f"select {word}('now') as t"
    found = shop.call("query.default.Get", {"sql": {"stmt": stmt}})
    assert found in ([{"t": "2026-05-01"}], [{"t": "12:00:00"}])


@pytest.mark.parametrize(
    "stmt", ["truncate table pet", "SHOW TABLES", " desc pet", "select DATE_FORMAT(name, 'x') from pet"]
)
def test_what_only_mysql_knows_says_which_database_this_is(shop: Shop, stmt: str) -> None:
    found = shop.call("query.default.Get", {"sql": {"stmt": stmt}})
    assert found.startswith("500: Query: ") and found.endswith(" (the database of tests is SQLite)")


def test_a_mistake_in_sql_is_told_as_sqlite_tells_it(shop: Shop) -> None:
    found = shop.call("query.default.Get", {"sql": {"stmt": "selec id from pet"}})
    assert found == '500: Query: near "selec": syntax error'


def test_metadata_has_what_upstream_adds(shop: Shop) -> None:
    found = shop.call("models.pet.Metadata")
    assert found["table"] == {
        "collation": "", "charset": "", "primarykeys": None, "name": "pet", "comment": "All pets"
    }  # fmt: skip
    assert (found["mtime"], found["ctime"]) == ("0001-01-01T00:00:00Z",) * 2
    listed = next(one for one in shop.call("model.List", {"metadata": True}) if one["id"] == "pet")
    assert listed["metadata"] == found
    assert listed["table"] == {"name": "pet", "comment": "All pets"}


def test_a_has_many_of_a_related_row_stands_beside_the_row() -> None:
    """Nested relations of a hasOne land at the top, under their own name."""
    pet = {**PET, "relations": {"owner": {"type": "hasOne", "model": "owner", "key": "id", "foreign": "owner_id"}}}
    owner = {
        **DOCUMENTS["owner"],
        "relations": {"pets": {"type": "hasMany", "model": "pet", "key": "owner_id", "foreign": "id"}},
    }
    shop = Shop(documents={**DOCUMENTS, "pet": pet, "owner": owner}).fill()
    rows = shop.call(
        "models.pet.Get",
        {"select": ["name"], "withs": {"owner": {"query": {"select": ["name"], "withs": {"pets": {}}}}}, "limit": 1},
    )
    assert [pet["name"] for pet in rows[0].pop("pets")] == ["Rex"]
    assert rows == [{"name": "Rex", "owner": {"name": "Ann", "id": 1}}]


def test_what_a_soft_delete_appends_is_of_the_clock_and_never_the_same() -> None:
    """A run with a stopped clock writes the same rows each time."""

    def tags() -> list[str]:
        shop = Shop().fill()
        for tag in ("a", "a", "b"):
            shop.call("models.pet.Delete", shop.call("models.pet.Create", {"name": "Ida", "tag": tag}))
        return [
            tag for (tag,) in shop.sql("SELECT tag FROM pet WHERE deleted_at IS NOT NULL AND name = 'Ida' ORDER BY id")
        ]

    assert tags() == ["a_1777636800000000002_0", "a_1777636800000000003_0", "b_1777636800000000004_0"] == tags()
