"""How tables are made from models and blueprints, and files that cannot be read."""

from typing import Any

import pytest
from pet_shop import Shop
from table_tests import each

from bindings.errors import ErrorValue
from bindings.models.definition import TYPES, ModelFileError, read_definition
from bindings.models.tables import column_sql

DECLARED: list[tuple[dict[str, Any], str]] = [
    ({"type": "ID"}, "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"),
    ({"type": "id"}, "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"),
    ({"type": "increments", "primary": True}, "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"),
    ({"type": "string"}, "VARCHAR(200)"),
    ({"type": "string", "length": 80}, "VARCHAR(80)"),
    ({"type": "string", "length": 70000}, "VARCHAR(200)"),
    ({"type": "char"}, "CHARACTER(10)"),
    ({"type": "char", "length": 30}, "CHARACTER(30)"),
    ({"type": "text"}, "TEXT"),
    ({"type": "mediumText"}, "MEDIUMTEXT"),
    ({"type": "longText"}, "LONGTEXT"),
    ({"type": "json"}, "TEXT"),
    ({"type": "JSONB"}, "TEXT"),
    ({"type": "enum", "option": ["a", "it's"]}, "TEXT CONSTRAINT `c` CHECK(`c` IN ('a','it''s'))"),
    ({"type": "integer"}, "INTEGER"),
    ({"type": "unsignedInteger"}, "INTEGER"),
    ({"type": "tinyInteger"}, "TINYINT"),
    ({"type": "smallInteger"}, "SMALLINT"),
    ({"type": "bigInteger"}, "BIGINT"),
    ({"type": "unsignedBigInteger"}, "UNSIGNED BIG INT"),
    ({"type": "boolean"}, "BOOLEAN"),
    ({"type": "decimal"}, "DECIMAL(10,2)"),
    ({"type": "decimal", "precision": 12, "scale": 4}, "DECIMAL(12,4)"),
    ({"type": "float"}, "FLOAT(10,2)"),
    ({"type": "double"}, "DOUBLE(24,2)"),
    ({"type": "datetime"}, "DATETIME(0)"),
    ({"type": "datetime", "length": 3}, "DATETIME(3)"),
    ({"type": "timestamp", "nullable": True}, "TIMESTAMP(0)"),
    ({"type": "timestamp"}, "TIMESTAMP(0) NOT NULL DEFAULT CURRENT_TIMESTAMP"),
    ({"type": "timestamp", "nullable": True, "default": "now()"}, "TIMESTAMP(0) DEFAULT CURRENT_TIMESTAMP"),
    ({"type": "date"}, "DATE"),
    ({"type": "time"}, "TIME(0)"),
    ({"type": "binary"}, "BLOB"),
    ({"type": "uuid"}, "VARCHAR(36)"),
    ({"type": "year"}, "SMALLINT"),
    ({"type": "string", "default": "it's"}, "VARCHAR(200) NOT NULL DEFAULT 'it''s'"),
    ({"type": "string", "default": "x", "nullable": True}, "VARCHAR(200) DEFAULT 'x'"),
    ({"type": "integer", "default": 0}, "INTEGER NOT NULL DEFAULT 0"),
    ({"type": "boolean", "default": True}, "BOOLEAN NOT NULL DEFAULT 1"),
    ({"type": "boolean", "default": False}, "BOOLEAN NOT NULL DEFAULT 0"),
    ({"type": "decimal", "default": 1.5}, "DECIMAL(10,2) NOT NULL DEFAULT 1.5"),
    ({"type": "string", "default": None}, "VARCHAR(200)"),
    ({"type": "string", "default_raw": "x"}, "VARCHAR(200)"),
    ({"type": "string", "primary": True}, "VARCHAR(200) PRIMARY KEY"),
]


@each(("column", "sql"), DECLARED, ids=lambda part: str(part)[:60])
def test_a_column_is_declared_as_upstream_does(column: dict[str, Any], sql: str) -> None:
    model = read_definition("x", "x", {"columns": [{"name": "c", **column}]})
    assert column_sql(model.columns[0]) == f"`c` {sql}"


@each("type", TYPES)
def test_every_type_makes_a_table(type: str) -> None:
    columns: list[dict[str, Any]] = [{"name": "c", "type": type, "nullable": True, "primary": "ncrements" in type}]
    if type not in ("ID", "id") and "ncrements" not in type:
        columns.insert(0, {"name": "id", "type": "ID"})
    shop = Shop(documents={"x": {"name": "X", "table": {"name": "x"}, "columns": columns}})
    assert shop.call("models.x.Get", {}) == []


BROKEN: list[tuple[Any, str]] = [
    ([], "it is not an object"),
    ({"columns": [{"type": "string"}]}, "a column has no name"),
    ({"columns": ["id"]}, "a column has no name"),
    ({"columns": [{"name": "a", "type": "vector"}]}, 'column "a" has the type "vector", which does not exist'),
    ({"columns": [{"name": "a", "type": "String"}]}, 'column "a" has the type "String", which does not exist'),
]


@each(("document", "said"), BROKEN, ids=str)
def test_a_file_that_cannot_be_used_is_named(document: Any, said: str) -> None:
    with pytest.raises(ModelFileError) as raised:
        read_definition("x", "/models/x.mod.yao", document)
    assert raised.value.message == f"Cannot read model /models/x.mod.yao: {said}"
    assert raised.value.hint


def test_a_misspelt_type_is_told_the_right_one() -> None:
    with pytest.raises(ModelFileError) as raised:
        read_definition("x", "x", {"columns": [{"name": "a", "type": "String"}]})
    assert raised.value.hint == 'Did you mean "string"?'


def test_options_add_columns_with_their_indexes() -> None:
    document = {
        "name": "X",
        "table": {"name": "x"},
        "columns": [{"name": "id", "type": "ID"}],
        "option": {"timestamps": True, "soft_deletes": True, "permission": True},
    }
    shop = Shop(documents={"x": document})
    assert [row[1] for row in shop.sql("PRAGMA table_info(x)")] == [
        "id",
        "created_at",
        "updated_at",
        "deleted_at",
        "__restore_data",
        "__yao_created_by",
        "__yao_updated_by",
        "__yao_team_id",
        "__yao_tenant_id",
    ]
    indexed = {row[1] for row in shop.sql("PRAGMA index_list(x)")}
    assert indexed == {
        "x_created_at_index",
        "x_updated_at_index",
        "x_deleted_at_index",
        "x___yao_created_by_index",
        "x___yao_team_id_index",
        "x___yao_tenant_id_index",
    }


@each(
    ("index", "made"),
    [
        ({"name": "i", "columns": ["a", "b"], "type": "index"}, [("x_i", 0)]),
        ({"name": "i", "columns": ["a", "b"], "type": "unique"}, [("x_i", 1)]),
        ({"name": "i", "columns": ["a"], "type": "fulltext"}, []),
        ({"name": "i", "columns": ["a"]}, []),
        ({"columns": ["a"], "type": "index"}, []),
    ],
    ids=str,
)
def test_indexes(index: dict[str, Any], made: list[Any]) -> None:
    columns = [{"name": "id", "type": "ID"}, {"name": "a", "type": "string"}, {"name": "b", "type": "string"}]
    shop = Shop(documents={"x": {"name": "X", "table": {"name": "x"}, "columns": columns, "indexes": [index]}})
    assert [(row[1], row[2]) for row in shop.sql("PRAGMA index_list(x)")] == made


def test_an_index_that_is_not_made_is_said() -> None:
    columns = [{"name": "id", "type": "ID"}, {"name": "a", "type": "string"}]
    types = ["index", "unique", "primary", "fulltext", "uniqe", ""]
    indexes = [{"name": f"i{place}", "columns": ["a"], "type": type} for place, type in enumerate(types)]
    shop = Shop(documents={"x": {"table": {"name": "x"}, "columns": columns, "indexes": indexes}})
    assert shop.warnings == [
        "/models/x.mod.yao: the index i4 is left out: its type is uniqe, and must be index, unique, primary or fulltext",
        "/models/x.mod.yao: the index i5 is left out: it has no type, which must be index, unique, primary or fulltext",
    ]


def test_a_changed_model_adds_and_renames_columns() -> None:
    first = {
        "name": "X",
        "table": {"name": "x"},
        "columns": [{"name": "id", "type": "ID"}, {"name": "a", "type": "text"}],
    }
    shop = Shop(documents={"x": first})
    shop.call("models.x.Create", {"a": "kept"})
    columns = [{"name": "id", "type": "ID"}, {"name": "b", "type": "integer", "default": 7, "index": True}]
    shop.store.load = lambda file, source: (file, {**first, "columns": columns}, "")
    assert shop.call("models.x.Load", "x") is None
    assert shop.call("models.x.Migrate") is None
    assert shop.sql("SELECT id, b, __DEL__a FROM x") == [(1, 7, "kept")]
    assert shop.call("models.x.Migrate") is None


def test_what_counts_by_itself_is_the_primary_key() -> None:
    columns = [{"name": "code", "type": "string", "primary": True}, {"name": "n", "type": "increments"}]
    assert read_definition("x", "/models/x.mod.yao", {"columns": columns}).primary == "code"
    said = str(Shop().call("schemas.default.TableCreate", "x", {"columns": columns}))
    assert said.startswith(
        '500: column "n" of type increments is auto-incremented, which only a primary key can be: add'
    )


def test_a_model_without_a_table_says_so() -> None:
    shop = Shop(documents={"x": {"name": "X", "columns": [{"name": "id", "type": "ID"}]}})
    assert shop.call("models.x.Migrate") == ErrorValue(message="missing table name")


BLUEPRINT = {
    "columns": [
        {"name": "id", "type": "ID"},
        {"name": "name", "type": "string", "length": 50, "unique": True, "default": "x"},
        {"name": "price", "type": "decimal", "precision": 6, "scale": 3, "nullable": True, "index": True},
        {"name": "kind", "type": "enum", "option": ["a", "b"], "nullable": True},
        {"name": "doc", "type": "json", "nullable": True},
    ],
    "indexes": [{"name": "both", "columns": ["name", "price"], "type": "index"}],
    "option": {"timestamps": True, "soft_deletes": True},
}


def test_a_blueprint_there_and_back() -> None:
    shop = Shop()
    assert shop.call("schemas.default.TableCreate", "shelf", BLUEPRINT) is None
    assert shop.call("schemas.default.TableGet", "shelf") == {
        "columns": [
            {"name": "id", "label": "ID", "type": "ID", "primary": True},
            {"name": "name", "label": "NAME", "type": "string", "length": 50, "default": "x", "unique": True},
            {"name": "price", "label": "PRICE", "type": "decimal", "precision": 6, "scale": 3, "nullable": True,
             "index": True},
            {"name": "kind", "label": "KIND", "type": "enum", "option": ["a", "b"], "nullable": True},
            {"name": "doc", "label": "DOC", "type": "text", "nullable": True},
        ],
        "indexes": [{"name": "both", "columns": ["name", "price"], "type": "index"}],
        "option": {"timestamps": True, "soft_deletes": True},
    }  # fmt: skip


def test_tables_of_scripts() -> None:
    shop = Shop()
    call = shop.call
    assert call("schemas.default.TableGet", "shelf") == "500: the table shelf does not exists"
    assert call("schemas.default.TableExists", "shelf") is False
    assert call("schemas.mysql.TableCreate", "shelf", {"columns": [{"name": "id", "type": "ID"}]}) is None
    assert call("schemas.default.TableExists", "shelf") is True
    assert [column["name"] for column in call("schemas.default.TableGet", "shelf")["columns"]] == ["id", "created_at"]
    assert "shelf" in call("schemas.default.Tables")
    assert "sqlite_sequence" in call("schemas.default.Tables")
    assert call("schemas.default.Tables", "she") == ["shelf"]
    assert call("schemas.default.ColumnAdd", "shelf", {"name": "a", "type": "string"}) is None
    assert call("schemas.default.ColumnAlt", "shelf", {"name": "a", "type": "string", "index": True}) is None
    assert call("schemas.default.TableGet", "shelf")["columns"][-1] == {
        "name": "a", "label": "A", "type": "string", "length": 200, "nullable": True, "index": True
    }  # fmt: skip
    assert call("schemas.default.ColumnAlt", "shelf", {"name": "a", "type": "integer", "unique": True}) is None
    assert call("schemas.default.TableGet", "shelf")["columns"][-1] == {
        "name": "a", "label": "A", "type": "string", "length": 200, "nullable": True, "unique": True
    }  # fmt: skip
    assert call("schemas.default.IndexAdd", "shelf", {"name": "two", "columns": ["id", "a"], "type": "unique"}) is None
    assert call("schemas.default.TableGet", "shelf")["indexes"] == [
        {"name": "two", "columns": ["id", "a"], "type": "unique"}
    ]
    assert call("schemas.default.IndexDel", "shelf", "two") is None
    assert call("schemas.default.IndexDel", "shelf", "two") == "500: no such index: shelf_two"
    assert call("schemas.default.ColumnDel", "shelf", "a") is None
    assert call("schemas.default.TableGet", "shelf")["columns"][-1]["name"] == "__DEL__a"
    assert call("schemas.default.TableRename", "shelf", "rack") is None
    assert call("schemas.default.TableDrop", "rack") is None
    assert call("schemas.default.TableExists", "rack") is False
    assert call("schemas.default.Create") is None
    assert str(call("schemas.default.Nothing")).startswith("404: ")


def test_a_saved_table_is_changed_and_two_are_compared() -> None:
    shop = Shop()
    one = {"columns": [{"name": "id", "type": "ID"}, {"name": "a", "type": "text"}]}
    other = {
        "columns": [{"name": "id", "type": "ID"}, {"name": "b", "type": "integer"}],
        "option": {"timestamps": True},
    }
    shop.call("schemas.default.TableSave", "one", one)
    shop.call("schemas.default.TableSave", "other", other)
    found = shop.call("schemas.default.TableDiff", "one", "other")
    assert [column["name"] for column in found["Columns"]["Add"]] == ["b"]
    assert {column["name"] for column in found["Columns"]["Del"]} == {"created_at", "a"}
    assert found["Option"] == {"timestamps": True}
    shop.call("schemas.default.TableSave", "one", other)
    assert [column["name"] for column in shop.call("schemas.default.TableGet", "one")["columns"]][-1] == "b"
