"""The query language, and the walls around the SQL of scripts."""

import json
from pathlib import Path
from typing import Any

import pytest
from pet_shop import Shop
from table_tests import each

from bindings.models import database


@pytest.fixture(scope="module")
def shop() -> Shop:
    """Nothing here changes its rows."""
    return Shop().fill()


ALL = [1, 2, 3, 4, 5]
SELECTS: list[tuple[dict[str, Any], str]] = [
    ({"select": ["id"], "from": "pet"}, "SELECT id FROM pet"),
    ({"select": "id, name", "from": "pet"}, "SELECT id, name FROM pet"),
    ({"select": ["id"], "from": "$pet"}, "SELECT id FROM pet"),
    ({"select": [":COUNT(code) as n"], "from": "$shop.code"}, "SELECT COUNT(code) AS n FROM code"),
    ({"select": ["p.id", "p.name as title"], "from": "pet as p"}, "SELECT id, name AS title FROM pet"),
    ({"select": ["name AS title"], "from": "pet"}, "SELECT name AS title FROM pet"),
    ({"select": ["$pet.id"], "from": "$pet"}, "SELECT id FROM pet"),
    ({"select": ["*"], "from": "toy"}, "SELECT * FROM toy"),
    ({"select": ["t.*"], "from": "toy as t"}, "SELECT * FROM toy"),
    ({"select": [":COUNT(id) as n"], "from": "pet"}, "SELECT COUNT(id) AS n FROM pet"),
    ({"select": [":SUM(age) as total", ":max(age) as most"], "from": "pet"},
     "SELECT SUM(age) AS total, MAX(age) AS most FROM pet"),
    ({"select": [":COALESCE(tag, 'none') as tag"], "from": "pet"}, "SELECT COALESCE(tag, 'none') AS tag FROM pet"),
    ({"select": [":ROUND(:AVG(age), 1) as mean"], "from": "pet"}, "SELECT ROUND(AVG(age), 1) AS mean FROM pet"),
    ({"select": ["1 as one", "'a' as letter", "?:x as x"], "from": "town", "x": "given", "limit": 1},
     "SELECT 1 AS one, 'a' AS letter, 'given' AS x"),
    ({"select": ["name (string 50) "], "from": "pet"}, "SELECT name FROM pet"),
    ({"select": ["traits$.loud as loud"], "from": "pet", "wheres": [{":id": "", "=": 1}]}, "SELECT 1 AS loud"),
    ({"select": ["traits[0] as first"], "from": "pet", "wheres": [{":id": "", "=": 3}]}, "SELECT 'soft' AS first"),
    ({"select": ["id"], "from": "pet", "orders": "age desc, id"}, "SELECT id FROM pet ORDER BY age DESC, id"),
    ({"select": ["id"], "from": "pet", "orders": ["age desc", "id"]}, "SELECT id FROM pet ORDER BY age DESC, id"),
    ({"select": ["id"], "from": "pet", "orders": [{"field": "age", "sort": "desc"}]}, "SELECT id FROM pet ORDER BY age DESC"),
    ({"select": ["id"], "from": "pet", "limit": 2}, "SELECT id FROM pet LIMIT 2"),
    ({"select": ["id"], "from": "pet", "limit": 2, "offset": 1}, "SELECT id FROM pet LIMIT 2 OFFSET 1"),
    ({"select": ["id"], "from": "pet", "limit": "?:most", "most": 3}, "SELECT id FROM pet LIMIT 3"),
    ({"select": ["id"], "from": "pet", "limit": "{{most}}", "most": 3}, "SELECT id FROM pet LIMIT 3"),
    ({"select": ["kind", ":COUNT(id) as n"], "from": "pet", "groups": "kind"},
     "SELECT kind, COUNT(id) AS n FROM pet GROUP BY kind"),
    ({"select": ["kind", ":COUNT(id) as n"], "from": "pet", "groups": [{"field": "kind"}],
      "havings": [{"field": "kind", "op": "=", "value": "dog"}]},
     "SELECT kind, COUNT(id) AS n FROM pet GROUP BY kind HAVING kind = 'dog'"),
    ({"select": ["kind"], "from": "pet", "groups": "kind", "havings": [{":COUNT(id)": "how many", ">": 1}]},
     "SELECT kind FROM pet GROUP BY kind HAVING COUNT(id) > 1"),
    ({"select": ["kind"], "from": "pet", "groups": "kind", "havings": [{"field": "max(age)", "op": "<", "value": 9}]},
     "SELECT kind FROM pet GROUP BY kind HAVING MAX(age) < 9"),
    ({"select": ["kind"], "from": "pet", "groups": "kind", "havings": [{":COUNT(*)": "", ">=": 1}], "orders": "COUNT(*) desc"},
     "SELECT kind FROM pet GROUP BY kind HAVING COUNT(*) >= 1 ORDER BY COUNT(*) DESC"),
    ({"select": ["pet.name", "o.name as owner"], "from": "pet",
      "joins": [{"from": "owner as o", "key": "o.id", "foreign": "pet.owner_id"}]},
     "SELECT pet.name, o.name AS owner FROM pet JOIN owner o ON o.id = pet.owner_id"),
    ({"select": ["pet.name", "o.name as owner"], "from": "pet",
      "joins": [{"from": "owner as o", "key": "o.id", "foreign": "pet.owner_id", "left": True}]},
     "SELECT pet.name, o.name AS owner FROM pet LEFT JOIN owner o ON o.id = pet.owner_id"),
    ({"select": ["id"], "from": "owner", "unions": [{"select": ["id"], "from": "town"}]},
     "SELECT id FROM owner UNION ALL SELECT id FROM town"),
    ({"select": ["s.id"], "query": {"select": ["id"], "from": "pet", "limit": 2}, "name": "s"},
     "SELECT id FROM (SELECT id FROM pet LIMIT 2)"),
    ({"select": ["_SUB_.id"], "query": {"select": ["id"], "from": "pet"}}, "SELECT id FROM pet"),
]  # fmt: skip


@each(("dsl", "sql"), SELECTS, ids=lambda part: str(part)[:70])
def test_a_query_is_its_sql(shop: Shop, dsl: dict[str, Any], sql: str) -> None:
    expected = shop.database.read(sql)
    assert shop.call("query.default.Get", dsl) == expected
    assert expected


WHERES: list[tuple[Any, str]] = [
    ({":age": "years", "=": 3}, "age = 3"),
    ({":age": "years", ">": 3}, "age > 3"),
    ({":age": "years", ">=": 3}, "age >= 3"),
    ({":age": "years", "<": 3}, "age < 3"),
    ({":age": "years", "<=": 3}, "age <= 3"),
    ({":age": "years", "<>": 3}, "age <> 3"),
    ({":age": "years", "!=": 3}, "age IS NULL"),
    ({"field": "age", "op": "!=", "value": 3}, "age <> 3"),
    ({"field": "age", "value": 3}, "age = 3"),
    ({"field": "age", "op": "~", "value": 3}, "age = 3"),
    ({"field": "age", "op": "=", "value": None}, "age IS NULL"),
    ({":name": "", "like": "M%"}, "name LIKE 'M%'"),
    ({":name": "", "match": "a"}, "name LIKE '%a%'"),
    ({":tag": "", "is": "null"}, "tag IS NULL"),
    ({":tag": "", "is": "not null"}, "tag IS NOT NULL"),
    ({":age": "", "in": [3, 9]}, "age IN (3, 9)"),
    ({":age": "", "in": "3,9"}, "0 = 1"),
    ({":age": "", "in": []}, "0 = 1"),
    ({":id": "", "in": {"query": {"select": ["pet_id"], "from": "toy"}}}, "id IN (SELECT pet_id FROM toy)"),
    ({":id": "", "=": {"query": {"select": [":MAX(pet_id)"], "from": "toy"}}}, "id = 3"),
    ({":id": "", "=": "{pet.owner_id}"}, "id = owner_id"),
    ({":age": "", "=": "?:years"}, "age = 3"),
    ({":age": "", "=": "{{years}}"}, "age = 3"),
    ({":name": "", "=": "R{{rest}}"}, "name = 'Rex'"),
    ({":age": "", "=": "?:nobody"}, "age IS NULL"),
    ([{":age": "", "=": 3}, {"or :age": "", "=": 9}], "age = 3 OR age = 9"),
    ([{":age": "", "=": 3}, {":age": "", "=": 9, "or": True}], "age = 3 OR age = 9"),
    ([{":kind": "", "=": "dog"}, {"wheres": [{":age": "", "=": 3}, {"or :age": "", "is": "null"}]}],
     "kind = 'dog' AND (age = 3 OR age IS NULL)"),
]  # fmt: skip


@each(("wheres", "sql"), WHERES, ids=str)
def test_a_where_of_a_query(shop: Shop, wheres: Any, sql: str) -> None:
    given = wheres if isinstance(wheres, list) else [wheres]
    dsl = {"select": ["id"], "from": "pet", "wheres": given, "years": 3, "rest": "ex"}
    assert shop.call("query.default.Get", dsl) == shop.database.read(f"SELECT id FROM pet WHERE {sql}")


ERRORS: list[tuple[Any, str]] = [
    ({"from": "pet"}, "400: Query: Exception|400: select is missing"),
    ({"select": ["id"]}, "400: Query: Exception|400: from is missing"),
    ({"select": ["id"], "from": "$pet2"}, "the name of the model pet2 may have letters and dots only"),
    ({"select": ["id"], "from": "$nobody"}, "400: Model:nobody; not found"),
    ({"select": ["nobody"], "from": "pet"}, "500: Query: no such column: nobody"),
    ({"select": ["id"], "from": "nobody"}, "500: Query: no such table: nobody"),
    ({"select": ["id ("], "from": "pet"}, "400: Query: Exception|400: the expression id ( cannot be read"),
    ({"select": ["kind"], "from": "pet", "groups": "age"}, "400: Query: Exception|400: age 不在 SELECT 列表中"),
    ({"select": ["kind"], "from": "pet", "groups": "kind rollup All"}, "rollup is not available on SQLite"),
    ({"select": ["id"], "from": "pet", "orders": "id DESC"}, "the order of id is DESC: it must be asc or desc"),
    ({"select": ["id"], "from": "pet", "wheres": [{"=": 3}]}, "400: Query: Exception|400: a condition names no field"),
    ({"select": ["id"], "from": "pet", "limit": "many"}, "400: Query: Exception|400: limit must be a number"),
    (
        {"select": ["mobile*"], "from": "owner"},
        "500: Query: no such function: AES_DECRYPT (the database of tests is SQLite)",
    ),
    ({"sql": {"stmt": 5}}, "400: Query: Exception|400: sql.stmt must be a string"),
]


@each(("dsl", "said"), ERRORS, ids=lambda part: str(part)[:60])
def test_a_query_that_cannot_be(shop: Shop, dsl: Any, said: str) -> None:
    found = str(shop.call("query.default.Get", dsl))
    assert found == said if said[:3].isdigit() else said in found


def test_no_conversions_but_those_that_are_asked_for(shop: Shop) -> None:
    where = [{":id": "", "in": [1, 3]}]
    plain = shop.call("query.default.Get", {"select": ["traits", "tame"], "from": "pet", "wheres": where})
    assert plain == [{"traits": '{"loud":true}', "tame": True}, {"traits": '["soft"]', "tame": True}]
    parsed = shop.call("query.default.Get", {"select": ["traits$ as t"], "from": "pet", "wheres": where})
    assert parsed == [{"t": {"loud": True}}, {"t": ["soft"]}]
    days = shop.call("query.default.Get", {"select": ["born"], "from": "pet", "wheres": [{":id": "", "=": 2}]})
    assert days == [{"born": "2017-02-03T00:00:00Z"}]


def test_deleted_rows_are_there(shop: Shop) -> None:
    assert [row["id"] for row in shop.call("query.default.Get", {"select": ["id"], "from": "pet"})] == ALL


def test_first_run_and_what_is_no_object(shop: Shop) -> None:
    dsl = {"select": ["name"], "from": "pet", "orders": "id"}
    assert shop.call("query.default.First", dsl) == {"name": "Rex"}
    assert shop.call("query.default.First", {**dsl, "wheres": [{":id": "", "=": 99}]}) is None
    assert shop.call("query.default.Run", {**dsl, "first": True}) == {"name": "Rex"}
    assert len(shop.call("query.default.Run", dsl)) == 5
    assert shop.call("query.default.Run", {**dsl, "page": 2, "pagesize": 2})["items"] == [
        {"name": "Mia"},
        {"name": "Max"},
    ]
    for method in ("Get", "First", "Run", "Paginate"):
        assert shop.call(f"query.default.{method}", "pet") is None


PAGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"total": 5, "page": 1, "pagesize": 20, "pagecnt": 1, "next": -1, "prev": -1}),
    ({"page": 1, "pagesize": 2}, {"total": 5, "page": 1, "pagesize": 2, "pagecnt": 3, "next": 2, "prev": -1}),
    ({"page": 3, "pagesize": 2}, {"total": 5, "page": 3, "pagesize": 2, "pagecnt": 3, "next": -1, "prev": 2}),
    ({"wheres": [{":id": "", "=": 99}]},
     {"total": 0, "page": 1, "pagesize": 20, "pagecnt": -1, "next": 2, "prev": -1}),
]  # fmt: skip


@pytest.mark.parametrize(("how", "expected"), PAGES, ids=str)
def test_pages_of_a_query(shop: Shop, how: dict[str, Any], expected: dict[str, Any]) -> None:
    found = shop.call("query.default.Paginate", {"select": ["id"], "from": "pet", **how})
    found.pop("items")
    assert found == expected


def test_the_first_hundred_rows_are_said() -> None:
    shop = Shop()
    shop.call("models.toy.Insert", ["label"], [[str(number)] for number in range(120)])
    assert len(shop.call("query.default.Get", {"select": ["id"], "from": "toy"})) == 100
    assert len(shop.warnings) == 1
    assert len(shop.call("query.default.Get", {"sql": {"stmt": "select id from toy"}})) == 120


SQL: list[tuple[dict[str, Any], Any]] = [
    ({"stmt": "select name from pet where id = ?", "args": [1]}, [{"name": "Rex"}]),
    ({"stmt": "select name from pet where id = ?", "args": ["?:id"]}, [{"name": "Tom"}]),
    ({"stmt": "select count(*) from pet"}, [{"count(*)": 5}]),
    ({"stmt": "  SELECT 1 AS one ; "}, [{"one": 1}]),
    ({"stmt": "select 'limit' as word"}, [{"word": "limit"}]),
    ({"stmt": "PRAGMA table_info(town)"}, 2),
    ({"stmt": "truncate toy"}, '500: Query: near "truncate": syntax error'),
    ({"stmt": "select 1; select 2"}, "500: Query: You can only execute one statement at a time."),
    ({"stmt": "select ?", "args": []}, "500: Query: Incorrect number of bindings supplied"),
]


@each(("sql", "expected"), SQL, ids=str)
def test_sql_of_a_script(shop: Shop, sql: dict[str, Any], expected: Any) -> None:
    found = shop.call("query.default.Get", {"sql": sql, "id": 2})
    if isinstance(expected, int):
        assert len(found) == expected
    else:
        assert found == expected or str(found).startswith(str(expected))


def test_sql_that_writes_answers_nothing_useful_and_writes() -> None:
    shop = Shop().fill()
    assert shop.call("query.default.Run", {"sql": {"stmt": "delete from toy"}}) == {}
    assert shop.sql("SELECT COUNT(*) FROM toy") == [(0,)]


def test_transactions_as_scripts_write_them() -> None:
    shop = Shop().fill()
    for stmt in ("START TRANSACTION;", "delete from toy", "ROLLBACK;"):
        assert shop.call("query.default.Run", {"sql": {"stmt": stmt}}) == {}
    assert shop.sql("SELECT COUNT(*) FROM toy") == [(3,)]
    for stmt in ("start transaction", "delete from toy", "commit"):
        assert shop.call("query.default.Run", {"sql": {"stmt": stmt}}) == {}
    assert shop.sql("SELECT COUNT(*) FROM toy") == [(0,)]


def test_other_engines_and_methods_are_refused(shop: Shop) -> None:
    assert str(shop.call("query.mysql.Get", {})).startswith("400: Query Engine mysql does not loaded")
    assert str(shop.call("query.default.Drop", {})).startswith("404: ")


def test_lint_validate_and_schema(shop: Shop) -> None:
    good, bad = {"select": ["id"], "from": "pet"}, {"from": "pet"}
    assert shop.call("query.default.Validate", good) == {"valid": True}
    assert shop.call("query.default.Validate", bad)["valid"] is False
    assert shop.call("query.default.Lint", json.dumps(good)) == {"valid": True, "diagnostics": [], "dsl": good}
    for text in ("{", json.dumps(bad)):
        found = shop.call("query.default.Lint", text)
        assert (found["valid"], len(found["diagnostics"])) == (False, 1)
    assert json.loads(shop.call("query.default.Schema", "json")) == shop.call("query.default.Schema")


REFUSED = [
    ("ATTACH DATABASE 'FILE' AS other", "ATTACH"),
    ("attach 'FILE' as other", "ATTACH"),
    ("DETACH DATABASE main", "DETACH"),
    ("VACUUM INTO 'FILE'", "ATTACH"),
    ("PRAGMA writable_schema = 1", "PRAGMA writable_schema"),
    ("PRAGMA journal_mode = DELETE", "PRAGMA journal_mode"),
    ("PRAGMA user_version = 5", "PRAGMA user_version"),
    ("PRAGMA max_page_count = 4294967294", "PRAGMA max_page_count"),
    ("PRAGMA temp_store_directory = '/tmp'", "PRAGMA temp_store_directory"),
    ("SELECT load_extension('FILE')", "the function load_extension"),
    ("SELECT * FROM sqlite_master", "the table sqlite_master"),
    ("SELECT * FROM sqlite_schema", "the table sqlite_master"),
    ("SELECT * FROM sqlite_temp_master", "the table sqlite_temp_master"),
    ("CREATE TABLE mine AS SELECT * FROM sqlite_master", "the table sqlite_master"),
    ("CREATE TABLE mine AS SELECT count(*) FROM sqlite_master", "the table sqlite_master"),
    ("CREATE TEMP TABLE mine AS SELECT sql FROM sqlite_schema", "the table sqlite_master"),
    ("WITH m AS (SELECT sql FROM sqlite_master) SELECT * FROM m", "the table sqlite_master"),
    ("CREATE VIRTUAL TABLE v USING fts5(a)", "CREATE VIRTUAL TABLE"),
]


@pytest.mark.parametrize(("stmt", "what"), REFUSED)
def test_sql_that_would_leave_its_database(tmp_path: Path, stmt: str, what: str) -> None:
    shop = Shop()
    file = tmp_path / "outside.db"
    said = shop.call("query.default.Run", {"sql": {"stmt": stmt.replace("FILE", str(file))}})
    assert said == f"500: Query: {what} is not allowed here"
    assert not file.exists()


def test_the_walls_are_what_refuses(tmp_path: Path) -> None:
    """The same statements of ours work: the tests above see the wall and nothing else."""
    shop = Shop()
    assert shop.database.read("SELECT name FROM sqlite_master")
    shop.database.write("PRAGMA user_version = 5")
    assert shop.sql("PRAGMA user_version") == [(5,)]


def test_the_schema_table_cannot_be_written() -> None:
    shop = Shop()
    said = shop.call("query.default.Run", {"sql": {"stmt": "UPDATE sqlite_master SET sql = ''"}})
    assert str(said).startswith("500: Query: ")
    assert shop.call("models.town.Count", {}) == 2


def test_scripts_may_make_tables_of_their_own() -> None:
    shop = Shop()
    for stmt in (
        "CREATE TABLE mine (a BOOLEAN)",
        "INSERT INTO mine VALUES (1)",
        "CREATE INDEX i ON mine (a)",
        "CREATE TABLE copy AS SELECT * FROM mine",
        "CREATE VIEW seen AS SELECT * FROM mine",
        "CREATE TRIGGER later AFTER INSERT ON copy BEGIN DELETE FROM mine; END",
        "ALTER TABLE copy RENAME TO other",
        "ALTER TABLE other ADD COLUMN b",
        "ALTER TABLE other RENAME COLUMN b TO c",
        "ANALYZE",
        "DROP VIEW seen",
        "DROP TRIGGER later",
        "DROP INDEX i",
    ):
        assert shop.call("query.default.Run", {"sql": {"stmt": stmt}}) == {}, stmt
    assert shop.call("query.default.Get", {"sql": {"stmt": "SELECT * FROM mine"}}) == [{"a": True}]
    assert shop.call("query.default.Run", {"sql": {"stmt": "DROP TABLE mine"}}) == {}


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT "


def test_a_statement_has_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SECONDS", 0.2)
    shop = Shop()
    said = shop.call("query.default.Get", {"sql": {"stmt": f"{ENDLESS} count(*) FROM r"}})
    assert said == "500: Query: the statement took more than 0.2 s"
    assert shop.call("models.town.Count", {}) == 2


def test_an_answer_has_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop()
    monkeypatch.setattr(database, "MAX_ROWS", 1000)
    said = shop.call("query.default.Get", {"sql": {"stmt": f"{ENDLESS} x FROM r"}})
    assert said.startswith("500: Query: the result has more than 1000 rows")
    monkeypatch.setattr(database, "MAX_BYTES", 1 << 20)
    said = shop.call("query.default.Get", {"sql": {"stmt": f"{ENDLESS} hex(zeroblob(100000)) FROM r"}})
    assert said.startswith("500: Query: the result has more than 1000 rows or 1 MB")


def test_a_value_has_bounds() -> None:
    shop = Shop()
    said = shop.call("query.default.Get", {"sql": {"stmt": "SELECT length(zeroblob(1000000000))"}})
    assert said == "500: Query: string or blob too big"


def test_a_database_has_a_bound_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MAX_PAGES", (1 << 20) // database.PAGE)
    shop = Shop()
    said = shop.call("query.default.Run", {"sql": {"stmt": "CREATE TABLE big AS SELECT zeroblob(2000000)"}})
    assert said == "500: Query: database or disk is full: the database of a test has at most 1 MB"


def test_odd_values_are_errors_and_no_crash() -> None:
    shop = Shop()
    stmt = {"stmt": "select ? as x"}
    assert shop.call("query.default.Get", {"sql": {**stmt, "args": [1 << 70]}}) == (
        "500: Query: a number is too large for the database"
    )
    assert shop.call("query.default.Get", {"sql": {**stmt, "args": ["\ud800"]}}) == (
        "500: Query: a string contains a lone surrogate"
    )
    assert shop.call("query.default.Get", {"sql": {"stmt": "select '\0'"}}).startswith("500: Query: ")


def test_the_clock_of_the_test_is_the_clock_of_the_database() -> None:
    shop = Shop()
    assert shop.call("query.default.Get", {"sql": {"stmt": "SELECT CURRENT_TIMESTAMP AS t"}}) == [
        {"t": "2026-05-01 12:00:00"}
    ]


def test_copies_do_not_share_rows() -> None:
    shop, other = Shop().fill(), Shop()
    other.database.load(shop.database.dump())
    other.call("models.pet.DestroyWhere", {})
    assert (shop.sql("SELECT COUNT(*) FROM pet"), other.sql("SELECT COUNT(*) FROM pet")) == ([(5,)], [(0,)])
