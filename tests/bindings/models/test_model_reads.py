"""Reading through models: conditions, orders, limits, relations, pages; compared with plain SQL where SQL decides."""

from typing import Any

import pytest
from pet_shop import STAMP, Shop
from table_tests import each


@pytest.fixture(scope="module")
def shop() -> Shop:
    """Nothing here writes to it."""
    return Shop().fill()


def ids(rows: Any) -> list[int]:
    assert isinstance(rows, list), rows
    return [row["id"] for row in rows]


LIVING = "deleted_at IS NULL"
CONDITIONS: list[tuple[Any, str]] = [
    ([], LIVING),
    ([{"column": "age", "value": 3}], f"age = 3 AND {LIVING}"),
    ([{"column": "age", "op": "=", "value": 3}], f"age = 3 AND {LIVING}"),
    ([{"column": "age", "op": "eq", "value": 3}], f"age = 3 AND {LIVING}"),
    ([{"column": "age", "op": "EQ", "value": 3}], f"age = 3 AND {LIVING}"),
    ([{"column": "age", "op": "ne", "value": 3}], f"age <> 3 AND {LIVING}"),
    ([{"column": "age", "op": "<>", "value": 3}], f"age <> 3 AND {LIVING}"),
    ([{"column": "age", "op": "gt", "value": 3}], f"age > 3 AND {LIVING}"),
    ([{"column": "age", "op": ">", "value": 3}], f"age > 3 AND {LIVING}"),
    ([{"column": "age", "op": "ge", "value": 3}], f"age >= 3 AND {LIVING}"),
    ([{"column": "age", "op": ">=", "value": 3}], f"age >= 3 AND {LIVING}"),
    ([{"column": "age", "op": "lt", "value": 3}], f"age < 3 AND {LIVING}"),
    ([{"column": "age", "op": "<", "value": 3}], f"age < 3 AND {LIVING}"),
    ([{"column": "age", "op": "le", "value": 3}], f"age <= 3 AND {LIVING}"),
    ([{"column": "age", "op": "<=", "value": 3}], f"age <= 3 AND {LIVING}"),
    ([{"column": "age", "value": None}], f"age IS NULL AND {LIVING}"),
    ([{"column": "age"}], f"age IS NULL AND {LIVING}"),
    ([{"column": "age", "op": "ne", "value": None}], f"age IS NOT NULL AND {LIVING}"),
    ([{"column": "age", "op": "gt", "value": None}], f"age IS NOT NULL AND {LIVING}"),
    ([{"column": "age", "op": "le", "value": None}], f"age IS NOT NULL AND {LIVING}"),
    ([{"column": "age", "op": "null", "value": 3}], f"age IS NULL AND {LIVING}"),
    ([{"column": "age", "op": "notnull", "value": 3}], f"age IS NOT NULL AND {LIVING}"),
    ([{"column": "name", "op": "like", "value": "%a%"}], f"name LIKE '%a%' AND {LIVING}"),
    ([{"column": "name", "op": "like", "value": "M"}], f"name LIKE 'M' AND {LIVING}"),
    ([{"column": "traits", "op": "like", "value": "%loud%"}], f"traits LIKE '%loud%' AND {LIVING}"),
    ([{"column": "name", "op": "match", "value": "a"}], f"name LIKE '%a%' AND {LIVING}"),
    ([{"column": "name", "op": "match", "value": 3}], LIVING),
    ([{"column": "age", "op": "in", "value": [3, 9]}], f"age IN (3, 9) AND {LIVING}"),
    ([{"column": "name", "op": "in", "value": "Rex,Mia"}], f"name IN ('Rex', 'Mia') AND {LIVING}"),
    ([{"column": "age", "op": "in", "value": []}], "0 = 1"),
    ([{"column": "age", "op": "in", "value": 3}], "0 = 1"),
    ([{"column": "age", "op": "in", "value": None}], "0 = 1"),
    ([{"column": "age", "op": "not in", "value": [3]}], f"age = 3 AND {LIVING}"),
    ([{"column": "age", "op": "between", "value": [3, 9]}], f"age = 3 AND {LIVING}"),
    ([{"column": "age", "op": "!=", "value": 3}], f"age = 3 AND {LIVING}"),
    ([{"column": "age", "value": [9, 3]}], f"age = 9 AND {LIVING}"),
    ([{"column": "tame", "value": True}], f"tame = 1 AND {LIVING}"),
    ([{"column": "tame", "value": False}], f"tame = 0 AND {LIVING}"),
    ([{"column": "weight", "op": "gt", "value": 4}], f"weight > 4 AND {LIVING}"),
    (
        [{"column": "age", "value": 3}, {"column": "age", "value": 9, "method": "orwhere"}],
        f"age = 3 OR age = 9 AND {LIVING}",
    ),
    (
        [{"column": "age", "value": 3}, {"column": "age", "value": 9, "method": "orWhere"}],
        f"age = 3 OR age = 9 AND {LIVING}",
    ),
    (
        [{"column": "age", "value": 20}, {"column": "age", "value": 9, "method": "orwhere"}],
        f"age = 20 OR age = 9 AND {LIVING}",
    ),
    (
        [{"wheres": [{"column": "age", "value": 20}, {"column": "age", "value": 9, "method": "orwhere"}]}],
        f"(age = 20 OR age = 9) AND {LIVING}",
    ),
    (
        [
            {"column": "kind", "value": "dog"},
            {"method": "orwhere", "wheres": [{"column": "age", "value": 9}, {"column": "tame", "value": False}]},
        ],
        f"kind = 'dog' OR (age = 9 AND tame = 0) AND {LIVING}",
    ),
    ([{"column": "age", "value": 3, "method": "wherein"}], LIVING),
    ([{"column": "age", "value": 3, "method": "Where"}], f"age = 3 AND {LIVING}"),
    ([{"wheres": []}, {"column": "age", "value": 3}], f"age = 3 AND {LIVING}"),
    ([{"column": "name", "value": "x", "rel": "nobody"}], LIVING),
    (["not a condition", None, 3], LIVING),
    ("not a list", LIVING),
]


@each(("wheres", "where"), CONDITIONS, ids=lambda part: str(part)[:60])
def test_a_condition_chooses_what_its_sql_chooses(shop: Shop, wheres: Any, where: str) -> None:
    expected = [id for (id,) in shop.sql(f"SELECT id FROM pet WHERE {where} ORDER BY id")]
    order = [{"column": "id"}]
    assert ids(shop.call("models.pet.Get", {"wheres": wheres, "orders": order})) == expected
    assert shop.call("models.pet.Count", {"wheres": wheres}) == len(expected)
    page = shop.call("models.pet.Paginate", {"wheres": wheres, "orders": order}, 1, 2)
    assert (ids(page["data"]), page["total"]) == (expected[:2], len(expected))


DROPPED = [
    ({"column": "age", "value": 3, "method": "wherein"}, 'the condition on age is dropped: unknown method "wherein"'),
    ({"column": "age", "op": "!=", "value": 3}, 'the condition on age compares with "=": unknown op "!="'),
    ({"column": "name", "op": "match", "value": 3}, "the condition on name is dropped: its value is not a string"),
    ({"column": "name", "rel": "toys"}, 'the condition on name is dropped: "toys" is not among the relations of withs'),
]  # fmt: skip


@pytest.mark.parametrize(("where", "said"), DROPPED, ids=lambda part: str(part)[:40])
def test_a_condition_that_means_something_else_is_said(where: Any, said: str) -> None:
    shop = Shop().fill()
    shop.call("models.pet.Get", {"wheres": [where]})
    assert shop.warnings == [f"models.pet: {said}"]


def test_a_row_has_all_columns_in_their_form(shop: Shop) -> None:
    rows = shop.call("models.pet.Get", {"orders": [{"column": "id"}]})
    assert rows[0] == {
        "id": 1,
        "name": "Rex",
        "tag": "r",
        "age": 3,
        "weight": 12,
        "kind": "dog",
        "tame": True,
        "traits": {"loud": True},
        "born": None,
        "seen": None,
        "owner_id": 1,
        "created_at": STAMP,
        "updated_at": None,
        "deleted_at": None,
    }
    assert (rows[1]["born"], rows[1]["tame"], rows[1]["kind"]) == ("2017-02-03T00:00:00Z", False, "cat")
    assert (rows[2]["seen"], rows[2]["traits"], rows[3]["weight"]) == ("2026-04-30 08:09:10", ["soft"], 4.25)


SELECTED: list[tuple[Any, Any]] = [
    (["name"], {"name": "Rex"}),
    (["tame", "traits"], {"tame": True, "traits": {"loud": True}}),
    (["name", "nobody", 3], {"name": "Rex"}),
    (["name as n"], None),
    (["*"], None),
]


@each(("select", "row"), SELECTED, ids=str)
def test_select_has_names_of_columns_alone(shop: Shop, select: Any, row: Any) -> None:
    found = shop.call("models.pet.Find", 1, {"select": select})
    if row is None:  # no name is known: all columns as they are stored
        assert found["traits"] == '{"loud":true}'
        assert "__restore_data" in found
    else:
        assert found == row


@each(
    ("orders", "expected"),
    [
        ([{"column": "age"}], [4, 3, 1, 2]),
        ([{"column": "age", "option": "desc"}], [2, 1, 3, 4]),
        ([{"column": "age", "option": "DESC"}], [2, 1, 3, 4]),
        ([{"column": "kind", "option": "desc"}, {"column": "name"}], [4, 1, 3, 2]),
        ([], [1, 2, 3, 4]),
        ([{"column": "age", "option": "down"}], '500: the order of age is "down": it must be asc or desc'),
        ([{"column": "nobody"}], "500: no such column: nobody"),
    ],
    ids=str,
)
def test_orders(shop: Shop, orders: Any, expected: Any) -> None:
    found = shop.call("models.pet.Get", {"orders": orders})
    assert (found if isinstance(expected, str) else ids(found)) == expected


def test_an_unknown_column_is_the_databases_error(shop: Shop) -> None:
    assert shop.call("models.pet.Get", {"wheres": [{"column": "nobody", "value": 1}]}) == "500: no such column: nobody"


@each(("limit", "count"), [(1, 1), (3, 3), (0, 4), (-2, 4), (None, 4), ("2", 4)])
def test_limits(shop: Shop, limit: Any, count: int) -> None:
    assert len(shop.call("models.pet.Get", {"limit": limit})) == count


@pytest.mark.parametrize(("limit", "count", "warned"), [(None, 100, 1), (0, 100, 1), (150, 120, 0), (100, 100, 0)])
def test_get_without_a_limit_has_a_hundred_rows_and_says_so(limit: Any, count: int, warned: int) -> None:
    shop = Shop()
    shop.call("models.toy.Insert", ["pet_id", "label"], [[1, f"toy {number}"] for number in range(120)])
    assert len(shop.call("models.toy.Get", {"limit": limit})) == count
    assert len(shop.warnings) == warned


PAGES: list[tuple[int, int, dict[str, Any]]] = [
    (1, 2, {"ids": [1, 2], "page": 1, "pagesize": 2, "pagecnt": 2, "next": 2, "prev": -1, "total": 4}),
    (2, 2, {"ids": [3, 4], "page": 2, "pagesize": 2, "pagecnt": 2, "next": -1, "prev": 1, "total": 4}),
    (3, 2, {"ids": [], "page": 3, "pagesize": 2, "pagecnt": 2, "next": -1, "prev": 2, "total": 4}),
    (0, 0, {"ids": [1, 2, 3, 4], "page": 1, "pagesize": 15, "pagecnt": 1, "next": -1, "prev": -1, "total": 4}),
    (-1, 3, {"ids": [1, 2, 3], "page": 1, "pagesize": 3, "pagecnt": 2, "next": 2, "prev": -1, "total": 4}),
]


@each(("page", "size", "expected"), PAGES)
def test_pages(shop: Shop, page: int, size: int, expected: dict[str, Any]) -> None:
    found = shop.call("models.pet.Paginate", {"limit": 1}, page, size)
    assert {"ids": ids(found.pop("data")), **found} == expected


def test_a_page_of_nothing(shop: Shop) -> None:
    found = shop.call("models.pet.Paginate", {"wheres": [{"column": "id", "value": 99}]}, 1, 10)
    assert found == {"data": [], "page": 1, "pagesize": 10, "pagecnt": 0, "next": -1, "prev": -1, "total": 0}


FINDS: list[tuple[Any, Any, Any]] = [
    (1, {"select": ["name"]}, {"name": "Rex"}),
    ("1", {"select": ["name"]}, {"name": "Rex"}),
    (1, {"select": ["name"], "wheres": [{"column": "id", "value": 2}]}, {"name": "Rex"}),
    (99, {}, "500: ID=99的数据不存在"),
    (5, {}, "500: ID=5的数据不存在"),
    (None, {}, "500: ID=None的数据不存在"),
]


@each(("id", "param", "expected"), FINDS)
def test_find(shop: Shop, id: Any, param: Any, expected: Any) -> None:
    assert shop.call("models.pet.Find", id, param) == expected


def test_a_query_of_find_that_is_no_object_counts_as_empty(shop: Shop) -> None:
    assert shop.call("models.pet.Find", 1, "all")["name"] == "Rex"


def test_has_one_is_nested_and_all_null_without_a_match(shop: Shop) -> None:
    rows = shop.call("models.pet.Get", {"select": ["id"], "withs": {"owner": {"query": {"select": ["name"]}}}})
    names = {"Rex": "Ann", "Mia": "Bob"}
    assert names
    assert rows == [
        {"id": 1, "owner": {"name": "Ann"}},
        {"id": 2, "owner": {"name": None}},
        {"id": 3, "owner": {"name": "Bob"}},
        {"id": 4, "owner": {"name": None}},
    ]


def test_a_condition_and_an_order_on_a_relation(shop: Shop) -> None:
    param = {
        "withs": {"owner": {}},
        "wheres": [{"column": "name", "rel": "owner", "op": "notnull"}],
        "orders": [{"column": "name", "rel": "owner", "option": "desc"}],
    }
    assert ids(shop.call("models.pet.Get", param)) == [3, 1]


def test_wheres_of_has_one_keep_the_parents(shop: Shop) -> None:
    wheres = [{"column": "name", "value": "Ann"}]
    rows = shop.call("models.pet.Get", {"withs": {"owner": {"query": {"wheres": wheres}}}})
    assert [row["owner"]["name"] for row in rows] == ["Ann", None, None, None]


def test_withs_of_has_one_stand_at_the_top(shop: Shop) -> None:
    rows = shop.call("models.pet.Get", {"withs": {"owner": {"query": {"withs": {"town": {}}}}}, "limit": 1})
    assert rows[0]["owner"]["name"] == "Ann"
    assert rows[0]["town"] == {"id": 1, "name": "Bremen"}


def test_has_one_through_nests_the_middle(shop: Shop) -> None:
    rows = shop.call("models.pet.Get", {"select": ["id"], "withs": {"home": {}}, "limit": 1})
    assert rows[0]["home"]["name"] == "Bremen"
    assert rows[0]["home"]["owner"]["name"] == "Ann"


def test_a_deleted_target_of_has_one_takes_its_parent_along() -> None:
    shop = Shop().fill()
    shop.call("models.owner.Delete", 1)
    assert ids(shop.call("models.pet.Get", {"withs": {"owner": {}}})) == [2, 3, 4]
    assert ids(shop.call("models.pet.Get", {})) == [1, 2, 3, 4]


def test_has_many_is_a_list_and_no_key_without_children(shop: Shop) -> None:
    rows = shop.call("models.pet.Get", {"select": ["name"], "withs": {"toys": {"query": {"select": ["label"]}}}})
    assert rows == [
        {
            "name": "Rex",
            "id": 1,
            "toys": [{"label": "ball", "pet_id": 1}, {"label": "bone", "pet_id": 1}],
        },
        {"name": "Tom", "id": 2},
        {"name": "Mia", "id": 3, "toys": [{"label": "mouse", "pet_id": 3}]},
        {"name": "Max", "id": 4},
    ]


def test_conditions_orders_and_limits_of_has_many_are_for_all_parents(shop: Shop) -> None:
    query = {"orders": [{"column": "id", "option": "desc"}], "limit": 2}
    rows = shop.call("models.pet.Get", {"withs": {"toys": {"query": query}}})
    assert [(row["name"], [toy["label"] for toy in row.get("toys", [])]) for row in rows] == [
        ("Rex", ["bone"]),
        ("Tom", []),
        ("Mia", ["mouse"]),
        ("Max", []),
    ]
    query = {"wheres": [{"column": "label", "value": "ball"}, {"column": "label", "value": "x", "method": "orwhere"}]}
    rows = shop.call("models.pet.Get", {"withs": {"toys": {"query": query}}})
    assert [row["name"] for row in rows if "toys" in row] == ["Rex"]


def test_has_one_and_has_many_together_and_in_pages(shop: Shop) -> None:
    page = shop.call("models.pet.Paginate", {"withs": {"owner": {}, "toys": {}}}, 1, 1)
    assert (page["data"][0]["owner"]["name"], len(page["data"][0]["toys"])) == ("Ann", 2)
    found = shop.call("models.pet.Find", 3, {"withs": {"owner": {}, "toys": {}}})
    assert (found["owner"]["name"], found["toys"][0]["label"]) == ("Bob", "mouse")


@pytest.mark.parametrize("name", ["nobody", "friends"])
def test_a_relation_that_does_nothing_is_said(name: str) -> None:
    shop = Shop().fill()
    rows = shop.call("models.pet.Get", {"withs": {name: {}}})
    assert name not in rows[0]
    assert len(shop.warnings) == 1
    assert f'"{name}" is left out' in shop.warnings[0]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], [{"name": "Rex", "id": 1}, {"name": "Tom", "id": 2}, {"name": "Mia", "id": 3}, {"name": "Max", "id": 4}]),
        (["a"], [{"name": "Mia", "id": 3}, {"name": "Max", "id": 4}]),
        (["", "tag", "name", 1], [{"name": "r", "id": "Rex"}]),
    ],
)
def test_select_option(shop: Shop, args: list[Any], expected: Any) -> None:
    assert shop.call("models.pet.SelectOption", *args) == expected


WRONG = [
    ("models.pet.Get", [], "400: models.pet.Get Missing parameters, 1 parameters are required"),
    ("models.pet.Find", [1], "400: models.pet.Find Missing parameters, 2 parameters are required"),
    ("models.pet.Paginate", [{}], "400: models.pet.Paginate Missing parameters, 3 parameters are required"),
    ("models.pet.Get", ["all"], "400: models.pet.Get: argument 1 must be an object"),
    ("models.pet.Paginate", [{}, "inf", 5], "400: models.pet.Paginate: argument 2 must be a number"),
    ("models.pet.Insert", [["name"], [5]], "400: models.pet.Insert: argument 2 must be an array of arrays"),
    ("schemas.default.IndexAdd", ["pet", 5], "400: schemas.default.IndexAdd: argument 2 must be an object"),
    ("models.nobody.Get", [{}], "400: Model:nobody; not found"),
    ("models.pet.Search", [{}], "404: models.pet.Search Handler -> models.Search not found"),
]


@each(("process", "args", "expected"), WRONG)
def test_what_is_wrong_is_said_as_upstream_says_it(shop: Shop, process: str, args: list[Any], expected: str) -> None:
    assert shop.call(process, *args) == expected


@pytest.mark.parametrize("process", ["models.Pet.Get", "models.PET.get", "models.pet.GET", "models.pet.gEt"])
def test_ids_and_methods_match_in_any_case(shop: Shop, process: str) -> None:
    assert len(shop.call(process, {})) == 4


def test_a_dotted_column_is_a_nested_object() -> None:
    columns = [{"name": "id", "type": "ID"}, {"name": "a.b", "type": "string"}, {"name": "a.c", "type": "json"}]
    shop = Shop(documents={"x": {"name": "X", "table": {"name": "x"}, "columns": columns}})
    shop.call("models.x.Create", {"a.b": "one", "a.c": [1]})
    assert shop.call("models.x.Get", {}) == [{"id": 1, "a": {"b": "one", "c": [1]}}]


def test_json_that_is_none_is_an_error_of_the_caller() -> None:
    shop = Shop().fill()
    shop.sql("UPDATE pet SET traits = 'loud' WHERE id = 1")
    assert shop.call("models.pet.Find", 1, {}) == "400: the value of traits is not JSON"
