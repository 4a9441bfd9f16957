"""Writing through models, with the surprising behaviour of Yao."""

from typing import Any

import pytest
from pet_shop import PET, STAMP, Shop


@pytest.fixture
def shop() -> Shop:
    return Shop().fill()


def row(shop: Shop, id: int, table: str = "pet") -> dict[str, Any]:
    return shop.database.read(f"SELECT * FROM {table} WHERE id = ?", [id])[0]


VALUES: list[tuple[str, Any, Any, Any]] = [
    ("name", "Ida", "Ida", "Ida"),
    ("tag", 1, "1.0", "1.0"),
    ("tag", 1.5, "1.5", "1.5"),
    ("tag", True, "1", "1"),
    ("tag", {"a": 1}, '{"a":1}', '{"a":1}'),
    ("age", 3, 3, 3),
    ("age", 3.0, 3, 3),
    ("weight", 12.0, 12, 12),
    ("weight", 1.25, 1.25, 1.25),
    ("tame", True, 1, True),
    ("tame", False, 0, False),
    ("tame", 1, 1, True),
    ("traits", {"b": [1, "ü"]}, '{"b":[1,"ü"]}', {"b": [1, "ü"]}),
    ("traits", "text", '"text"', "text"),
    ("traits", None, "null", None),
    ("traits", 0, "0", 0),
    ("born", "2024-05-01", "2024-05-01 00:00:00", "2024-05-01T00:00:00Z"),
    ("born", "2024-05-01T10:11:12Z", "2024-05-01 10:11:12", "2024-05-01T10:11:12Z"),
    ("born", None, None, None),
    ("seen", "2024-05-01", "2024-05-01 00:00:00", "2024-05-01 00:00:00"),
    ("seen", "2024-05-01 10:11:12", "2024-05-01 10:11:12", "2024-05-01 10:11:12"),
    ("seen", "2024-05-01T10:11:12", "2024-05-01 10:11:12", "2024-05-01 10:11:12"),
    ("seen", "2024-05-01T10:11:12+08:00", "2024-05-01 10:11:12", "2024-05-01 10:11:12"),
    ("seen", "2024-05-01T10:11:12.345Z", "2024-05-01 10:11:12", "2024-05-01 10:11:12"),
    ("seen", "10:11:12", "0000-01-01 10:11:12", "0000-01-01 10:11:12"),
    ("kind", "dog", "dog", "dog"),
]


@pytest.mark.parametrize(("column", "given", "stored", "read"), VALUES, ids=str)
def test_a_value_in_the_table_and_back(shop: Shop, column: str, given: Any, stored: Any, read: Any) -> None:
    id = shop.call("models.pet.Create", {"name": "Ida", column: given})
    raw = shop.sql(f"SELECT CAST({column} AS BLOB) IS NULL, {column} || '' FROM pet WHERE id = ?", id)[0]
    assert raw == ((1, None) if stored is None else (0, str(stored)))
    assert shop.call("models.pet.Find", id, {})[column] == read


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"name": "x", "seen": ""}, "400: name;Name x is too short"),
    ({"name": "Ida", "seen": ""}, "500: the given value is not time format"),
    ({"name": "Ida", "seen": 5}, "500: the given value is not time format"),
    ({"name": "Ida", "seen": "soon"}, "500: the given value is not time format"),
    ({"name": "Ida", "seen": "2024-13-01"}, "500: the given value is not time format"),
    ({"name": "Ida", "kind": "cow"}, "500: CHECK constraint failed: kind"),
    ({"name": "Ida", "tag": "r"}, "500: UNIQUE constraint failed: pet.tag"),
    ({"id": 1, "name": "Ida"}, "500: UNIQUE constraint failed: pet.id"),
    ({"name": "Ida", "tame": None}, "500: NOT NULL constraint failed: pet.tame"),
    ({"name": "I"}, "400: name;Name I is too short"),
    ({"name": "A very long name"}, "400: name;name is too long"),
    ({"name": "äöüäöüä"}, "400: name;name is too long"),
    ({"name": "I", "age": -1}, "400: name;Name I is too short;age;too young"),
    ({"name": "Ida", "age": "old"}, "400: age;too young,too old"),
    ({"name": 5}, "400: name;Name 5 is too short,name is too long"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED, ids=str)
def test_a_row_that_is_refused(shop: Shop, given: dict[str, Any], said: str) -> None:
    before = shop.sql("SELECT COUNT(*) FROM pet")
    assert shop.call("models.pet.Create", given) == said
    if "id" not in given:
        assert shop.call("models.pet.Save", given) == said
    assert shop.sql("SELECT COUNT(*) FROM pet") == before


def test_a_missing_column_is_never_refused(shop: Shop) -> None:
    id = shop.call("models.pet.Create", {"age": 2})
    assert (row(shop, id)["name"], row(shop, id)["kind"], row(shop, id)["created_at"]) == (None, "cat", STAMP)


def test_null_on_a_column_that_may_be_null_is_not_validated(shop: Shop) -> None:
    assert shop.call("models.pet.Create", {"name": "Ida", "age": None}) == 6
    assert shop.call("models.pet.Create", {"name": None}) == "400: name;Name <nil> is too short,name is too long"


def test_unknown_keys_are_left_out_and_said(shop: Shop) -> None:
    id = shop.call("models.pet.Create", {"name": "Ida", "colour": "red", "size": 3})
    assert shop.warnings == ["models.pet: colour, size are not columns: left out"]
    assert shop.call("models.pet.Find", id, {})["name"] == "Ida"


def test_a_row_without_columns_is_the_databases_error(shop: Shop) -> None:
    assert str(shop.call("models.town.Create", {"colour": "red"})).startswith("500: near")


def test_create_stamps_over_what_is_given(shop: Shop) -> None:
    id = shop.call("models.pet.Create", {"name": "Ida", "created_at": "2000-01-01 00:00:00"})
    assert (row(shop, id)["created_at"], row(shop, id)["updated_at"]) == (STAMP, None)


def test_create_takes_a_given_id_and_answers_with_the_row_number(shop: Shop) -> None:
    assert shop.call("models.pet.Create", {"id": 50, "name": "Ida"}) == 50
    assert shop.call("models.shop.code.Create", {"code": "A1"}) == 1
    assert shop.call("models.shop.code.Find", "A1", {}) == {"code": "A1", "text": "none"}


def test_ids_are_never_used_again(shop: Shop) -> None:
    id = shop.call("models.pet.Create", {"name": "Ida"})
    shop.call("models.pet.Destroy", id)
    assert shop.call("models.pet.Create", {"name": "Eva"}) == id + 1


def test_save_of_a_new_row_drops_stamps(shop: Shop) -> None:
    given = {"name": "Ida", "updated_at": "2000-01-01 00:00:00", "deleted_at": "2000-01-01 00:00:00"}
    id = shop.call("models.pet.Save", given)
    found = row(shop, id)
    assert (found["created_at"], found["updated_at"], found["deleted_at"]) == (STAMP, None, None)


def test_save_of_a_row_with_its_key_changes_it(shop: Shop) -> None:
    shop.wait(60)
    assert shop.call("models.pet.Save", {"id": 1, "name": "Rexy", "created_at": "2000-01-01 00:00:00"}) == 1
    found = row(shop, 1)
    assert (found["name"], found["age"], found["created_at"]) == ("Rexy", 3, STAMP)
    assert found["updated_at"] == "2026-05-01 12:01:00"


def test_save_of_a_row_that_is_not_there_writes_nothing_and_says_so(shop: Shop) -> None:
    assert shop.call("models.pet.Save", {"id": 99, "name": "Ida"}) == 99
    assert shop.sql("SELECT COUNT(*) FROM pet WHERE id = 99") == [(0,)]
    assert shop.warnings == ["models.pet: Save changed nothing: there is no row with the id passed"]


def test_save_does_not_look_at_deleted_rows(shop: Shop) -> None:
    shop.call("models.pet.Save", {"id": 5, "name": "Older"})
    assert row(shop, 5)["name"] == "Older"


INSERTS: list[tuple[list[str], list[list[Any]], Any]] = [
    (["name", "age"], [["Ida", 1], ["Eva", 2]], None),
    (["name", "nobody"], [["Ida", 1]], "500: table pet has no column named nobody"),
    (["name"], [["Ida", 1]], "400: row 0 has 2 values for 1 columns"),
    (["name", "age"], [["Ida"]], "500: runtime error: index out of range [1] with length 1"),
    (["name", "age"], [["I", -1], ["Eva", 1], ["E", 2]], "400: [{0 name [Name I is too short]} {0 age [too young]}"
     " {2 name [Name E is too short]}]"),
    (["tag"], [["n1"], ["n1"]], "500: UNIQUE constraint failed: pet.tag"),
    (["name", "created_at"], [["Ida", "2000-01-01 00:00:00"]], None),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "rows", "said"), INSERTS, ids=str)
def test_insert_writes_all_rows_or_none(shop: Shop, columns: list[str], rows: list[list[Any]], said: Any) -> None:
    before = shop.sql("SELECT COUNT(*) FROM pet")[0][0]
    assert shop.call("models.pet.Insert", columns, rows) == said
    assert shop.sql("SELECT COUNT(*) FROM pet")[0][0] == before + (len(rows) if said is None else 0)
    if said is None:
        assert shop.sql("SELECT DISTINCT created_at FROM pet") == [(STAMP,)]


def test_insert_of_no_rows_adds_one(shop: Shop) -> None:
    shop.call("models.toy.Insert", ["label"], [])
    assert shop.sql("SELECT label FROM toy ORDER BY id DESC LIMIT 1") == [(None,)]


def test_update(shop: Shop) -> None:
    assert shop.call("models.pet.Update", 1, {"age": 4}) is None
    assert (row(shop, 1)["age"], row(shop, 1)["updated_at"]) == (4, STAMP)
    assert shop.call("models.pet.Update", 99, {"age": 4}) == "500: 没有数据被更新"
    assert shop.call("models.pet.Update", 5, {"age": 21}) is None
    assert shop.call("models.pet.Update", 1, {"age": 99}) == "400: age;too old"


def test_update_where_skips_deleted_rows_and_counts(shop: Shop) -> None:
    assert shop.call("models.pet.UpdateWhere", {"wheres": [{"column": "age", "op": "ge", "value": 3}]}, {"age": 5}) == 2
    assert shop.sql("SELECT id FROM pet WHERE age = 5 ORDER BY id") == [(1,), (2,)]
    assert shop.call("models.pet.UpdateWhere", {"limit": 1}, {"age": 6}) == 1


def test_delete_marks_a_row_and_frees_its_unique_texts(shop: Shop) -> None:
    assert shop.call("models.pet.Delete", 1) is None
    found = row(shop, 1)
    assert found["deleted_at"] == STAMP
    assert str(found["tag"]).startswith("r_1777636800")
    assert str(found["tag"]).endswith("_0")
    assert len(found["tag"]) <= 30
    assert shop.call("models.pet.Create", {"name": "Ida", "tag": "r"}) == 6
    assert shop.call("models.pet.Delete", 99) is None


def test_delete_leaves_null_null_and_cuts_long_texts(shop: Shop) -> None:
    shop.call("models.pet.Delete", 3)
    assert row(shop, 3)["tag"] is None
    shop.call("models.pet.Update", 2, {"tag": "x" * 30})
    shop.call("models.pet.Delete", 2)
    assert len(row(shop, 2)["tag"]) == 30


DELETES: list[tuple[str, str, dict[str, Any], int, list[int]]] = [
    ("DeleteWhere", "pet", {"wheres": [{"column": "kind", "value": "dog"}]}, 2, [2, 3]),
    ("DeleteWhere", "pet", {}, 4, []),
    ("DeleteWhere", "pet", {"limit": 1}, 1, [2, 3, 4]),
    ("DestroyWhere", "pet", {"wheres": [{"column": "kind", "value": "dog"}]}, 2, [2, 3]),
    ("DestroyWhere", "pet", {"limit": 1}, 5, []),
    ("DestroyWhere", "pet", {"wheres": [{"column": "age", "value": 20}]}, 1, [1, 2, 3, 4]),
    ("DeleteWhere", "toy", {"wheres": [{"column": "pet_id", "value": 1}], "limit": 1}, 2, [3]),
]


@pytest.mark.parametrize(("method", "model", "param", "count", "left"), DELETES, ids=str)
def test_rows_that_go(shop: Shop, method: str, model: str, param: Any, count: int, left: list[int]) -> None:
    assert shop.call(f"models.{model}.{method}", param) == count
    assert [found["id"] for found in shop.call(f"models.{model}.Get", {})] == left


def test_what_is_destroyed_is_gone(shop: Shop) -> None:
    assert shop.call("models.pet.Destroy", 1) is None
    assert shop.call("models.pet.Destroy", 99) is None
    assert shop.sql("SELECT id FROM pet ORDER BY id") == [(2,), (3,), (4,), (5,)]


def test_delete_without_soft_deletes_destroys(shop: Shop) -> None:
    shop.call("models.toy.Delete", 1)
    assert shop.sql("SELECT id FROM toy") == [(2,), (3,)]


def test_upsert_takes_every_column_and_says_so(shop: Shop) -> None:
    assert shop.call("models.pet.Upsert", {"tag": "r", "name": "Roy"}, "tag") == 1
    found = shop.sql("SELECT id, name, age, kind, created_at, updated_at FROM pet WHERE tag = 'r'")
    assert found == [(6, "Roy", None, "cat", None, STAMP)]
    assert len(shop.warnings) == 1


def test_upsert_of_some_columns(shop: Shop) -> None:
    assert shop.call("models.pet.Upsert", {"tag": "r", "name": "Roy", "age": 7}, ["tag"], ["name"]) == 1
    assert shop.sql("SELECT id, name, age FROM pet WHERE tag = 'r'") == [(1, "Roy", 3)]
    assert shop.call("models.pet.Upsert", {"tag": "new", "name": "Roy"}, ["tag"], ["name"]) == 1
    assert shop.warnings == []


@pytest.mark.parametrize("by", [None, "", [], 3])
def test_upsert_needs_columns_that_are_unique(shop: Shop, by: Any) -> None:
    assert str(shop.call("models.pet.Upsert", {"tag": "r"}, by)).startswith("400: models.pet.Upsert: uniqueBy")
    said = shop.call("models.pet.Upsert", {"name": "Rex"}, "name")
    assert said == "500: ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint"


def test_each_save(shop: Shop) -> None:
    given = [{"name": "Ida"}, {"id": 1, "name": "Rexy"}, {"id": 77, "name": "New"}]
    assert shop.call("models.pet.EachSave", given, {"age": "$index", "kind": "dog"}) == [6, 1, 77]
    assert shop.sql("SELECT id, age, kind FROM pet WHERE id IN (1, 6, 77) ORDER BY id") == [
        (1, 1, "dog"),
        (6, 0, "dog"),
        (77, 2, "dog"),
    ]


def test_each_save_writes_what_it_can(shop: Shop) -> None:
    given = [{"name": "Ida"}, {"name": "Eva", "tag": "r"}, {"name": "Eve"}]
    said = shop.call("models.pet.EachSave", given)
    assert said == "500: [rows[1]: UNIQUE constraint failed: pet.tag]"
    assert shop.sql("SELECT name FROM pet WHERE id > 5") == [("Ida",), ("Eve",)]
    assert shop.call("models.pet.EachSave", [{"name": "Ada"}, {"name": "E"}]) == "400: name;Name E is too short"
    assert shop.call("models.pet.EachSave", ["x"]) == "400: rows[0] must be an object"


def test_each_save_after_delete(shop: Shop) -> None:
    assert shop.call("models.pet.EachSaveAfterDelete", [1, 2], [{"name": "Ida"}], {"age": 1}) == [6]
    assert [found["id"] for found in shop.call("models.pet.Get", {})] == [3, 4, 6]
    assert shop.call("models.pet.EachSaveAfterDelete", [], [{"name": "Eva"}]) == [7]


def test_passwords_are_hashed_at_each_write_and_skip_null(shop: Shop) -> None:
    import bcrypt

    id = shop.call("models.owner.Create", {"name": "Cat", "password": "secret"})
    first = row(shop, id, "owner")["password"]
    assert bcrypt.checkpw(b"secret", first.encode())
    assert first.startswith("$2b$04$")
    assert shop.call("models.owner.Find", id, {})["password"] == first
    shop.call("models.owner.Save", {"id": id, "password": first})
    assert row(shop, id, "owner")["password"] != first
    shop.call("models.owner.Save", {"id": id, "password": None})
    assert row(shop, id, "owner")["password"] is None
    assert shop.call("models.owner.Create", {"password": 5}) == "400: password数值格式不是字符型"


def test_aes_is_plain_text(shop: Shop) -> None:
    id = shop.call("models.owner.Create", {"name": "Cat", "mobile": "13800000000"})
    assert row(shop, id, "owner")["mobile"] == "13800000000"


def test_migrate_makes_tables_with_their_first_rows(shop: Shop) -> None:
    assert shop.sql("SELECT name FROM town") == [("Bremen",), ("Ulm",)]
    shop.call("models.town.Create", {"name": "Kiel"})
    assert shop.call("models.town.Migrate") is None
    assert shop.sql("SELECT COUNT(*) FROM town") == [(3,)]
    assert shop.call("models.town.Migrate", True) is None
    assert shop.sql("SELECT COUNT(*) FROM town") == [(2,)]


def test_snapshots_of_a_table(shop: Shop) -> None:
    name = shop.call("models.toy.TakeSnapshot", False)
    assert name == "toy_snapshot_20260501120000_000"
    assert shop.call("models.toy.SnapshotExists", name) is True
    shop.call("models.toy.DestroyWhere", {})
    assert shop.call("models.toy.RestoreSnapshot", name) is None
    assert shop.sql("SELECT COUNT(*) FROM toy") == [(3,)]
    assert shop.call("models.toy.DropSnapshot", name) is None
    assert shop.call("models.toy.SnapshotExists", name) is False
    assert shop.call("models.toy.RestoreSnapshot", name) == f"500: the snapshot {name} does not exist"
    assert shop.call("models.toy.DropSnapshot", "pet").startswith("500: the snapshot pet")


def test_a_model_can_be_loaded_listed_and_forgotten(shop: Shop) -> None:
    shop.store.load = lambda file, source: (f"/{file}", {**PET, "table": {"name": "pet2"}}, "")
    assert shop.call("models.pet.two.Load", "models/pet2.mod.yao") is None
    assert shop.call("models.pet.two.Exists") is True
    assert shop.call("models.pet.two.Migrate") is None
    assert shop.call("models.pet.two.Create", {"name": "Ida"}) == 1
    assert shop.call("model.Unload", "pet.two") is None
    assert shop.call("model.Exists", "pet.two") is False


def test_model_takes_ids_as_they_are_written(shop: Shop) -> None:
    shop.store.load = lambda file, source: (f"/{file}", {**PET, "table": {"name": source}}, "")
    assert shop.call("model.Load", "User.Pet", "user_pet") is None
    assert shop.call("models.user.pet.Exists") and shop.call("models.USER.pet.Migrate") is None
    assert [shop.call("model.Exists", id) for id in ("User.Pet", "user.pet", "PET")] == [True, False, False]
    assert shop.call("model.DSL", "user.pet") == "400: Model:user.pet; not found"
    assert shop.call("model.Migrate", "Pet") == "400: Model:Pet; not found"
    shop.call("model.Unload", "USER.PET")
    assert shop.call("model.DSL", "User.Pet")["table"] == {"name": "user_pet"}
    said = "model.DSL: there is no model user.pet; it is User.Pet, and model.DSL takes ids as they are written"
    assert said in shop.warnings


def test_all_or_one_model_as_scripts_see_it(shop: Shop) -> None:
    listed = shop.call("model.List", {})
    ids = [model["id"] for model in listed]
    assert ids == sorted(ids)
    assert {"pet", "shop.code", "__yao.role", "__yao.kb.document"} <= set(ids)
    found = shop.call("model.DSL", "pet", {"metadata": True, "columns": True})
    assert {name: found[name] for name in ("id", "name", "description", "file", "primary")} == {
        "id": "pet",
        "name": "Pet",
        "description": "All pets",
        "file": "/models/pet.mod.yao",
        "primary": "id",
    }
    assert list(found["columns"])[-4:] == ["created_at", "updated_at", "deleted_at", "__restore_data"]
    assert found["metadata"]["option"] == {"timestamps": True, "soft_deletes": True}
    assert shop.call("model.DSL", "nobody") == "400: Model:nobody; not found"
    assert shop.warnings == []
    assert shop.call("model.Read", "pet") == "400: Model:; not found"


def test_the_models_that_yao_brings(shop: Shop) -> None:
    id = shop.call("models.__yao.role.Create", {"role_id": "r1", "name": "Admin", "permissions": ["all"]})
    found = shop.call("models.__yao.role.Find", id, {})
    assert (found["permissions"], found["is_active"], found["level"], found["__yao_team_id"]) == (
        ["all"],
        True,
        0,
        None,
    )
    assert (
        shop.call("models.__yao.user.Save", {"user_id": "u", "status": "gone"})
        == "500: CHECK constraint failed: status"
    )
    shop.call("models.__yao.member.Save", {"member_id": "m", "team_id": "t", "user_id": "u", "role_id": "r1"})
    said = shop.call("models.__yao.member.Save", {"member_id": "m2", "team_id": "t", "user_id": "u", "role_id": "r1"})
    assert said == "500: UNIQUE constraint failed: yao_member.team_id, yao_member.user_id"
