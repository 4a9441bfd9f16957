"""A small application of models, on a database of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from bindings.errors import ProcessError
from bindings.models import query, schemas
from bindings.models.answers import call_listing, call_model
from bindings.models.database import Database
from bindings.models.definition import Model, read_definition
from bindings.models.store import Catalog, Store, built_in_models
from bindings.models.writes import migrate_all

NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)
STAMP = "2026-05-01 12:00:00"

PET = {
    "name": "Pet",
    "table": {"name": "pet", "comment": "All pets"},
    "columns": [
        {"name": "id", "type": "ID", "label": "ID"},
        {
            "name": "name",
            "type": "string",
            "length": 20,
            "label": "Name",
            "validations": [
                {"method": "typeof", "args": ["integer"], "message": "never"},
                {"method": "minLength", "args": [2], "message": "{{label}} {{input}} is too short"},
                {"method": "maxLength", "args": [12], "message": "{{name}} is too long"},
            ],
        },
        {"name": "tag", "type": "string", "length": 30, "nullable": True, "unique": True},
        {"name": "age", "type": "integer", "nullable": True, "validations": [
            {"method": "min", "args": [0], "message": "too young"}, {"method": "max", "args": [40], "message": "too old"}
        ]},
        {"name": "weight", "type": "decimal", "precision": 8, "scale": 2, "nullable": True},
        {"name": "kind", "type": "enum", "option": ["cat", "dog"], "default": "cat"},
        {"name": "tame", "type": "boolean", "default": True},
        {"name": "traits", "type": "json", "nullable": True},
        {"name": "born", "type": "date", "nullable": True},
        {"name": "seen", "type": "datetime", "nullable": True},
        {"name": "owner_id", "type": "integer", "nullable": True, "index": True},
    ],
    "option": {"timestamps": True, "soft_deletes": True},
    "indexes": [{"name": "by_kind", "columns": ["kind", "age"], "type": "index"}],
    "relations": {
        "owner": {"type": "hasOne", "model": "owner", "key": "id", "foreign": "owner_id"},
        "toys": {"type": "hasMany", "model": "toy", "key": "pet_id", "foreign": "id"},
        "home": {
            "type": "hasOneThrough",
            "links": [
                {"type": "hasOne", "model": "owner", "key": "id", "foreign": "owner_id"},
                {"type": "hasOne", "model": "town", "key": "id", "foreign": "town_id"},
            ],
        },
        "friends": {"type": "belongsTo", "model": "owner", "key": "id", "foreign": "owner_id"},
    },
}  # fmt: skip
OWNER = {
    "name": "Owner",
    "table": {"name": "owner"},
    "columns": [
        {"name": "id", "type": "ID"},
        {"name": "name", "type": "string"},
        {"name": "password", "type": "string", "crypt": "PASSWORD", "nullable": True},
        {"name": "mobile", "type": "string", "crypt": "AES", "nullable": True},
        {"name": "town_id", "type": "integer", "nullable": True},
    ],
    "option": {"soft_deletes": True},
    "relations": {"town": {"type": "hasOne", "model": "town", "key": "id", "foreign": "town_id"}},
}
TOWN = {
    "name": "Town",
    "table": {"name": "town"},
    "columns": [{"name": "id", "type": "ID"}, {"name": "name", "type": "string"}],
    "values": [{"name": "Bremen"}, {"name": "Ulm"}],
}
TOY = {
    "name": "Toy",
    "table": {"name": "toy"},
    "columns": [
        {"name": "id", "type": "ID"},
        {"name": "pet_id", "type": "integer"},
        {"name": "label", "type": "string"},
    ],
}
CODE = {
    "name": "Code",
    "table": {"name": "code"},
    "columns": [
        {"name": "code", "type": "string", "length": 10, "primary": True},
        {"name": "text", "type": "string", "nullable": True, "default": "none"},
    ],
}
DOCUMENTS = {"pet": PET, "owner": OWNER, "town": TOWN, "toy": TOY, "shop.code": CODE}


def definition(id: str, document: Any) -> Model:
    """The model of a document."""
    return read_definition(id, f"/models/{id.replace('.', '/')}.mod.yao", document)


class Shop:
    """The models with their tables; nothing is in them but the values of `town`. Two pets are added by `fill`."""

    def __init__(self, *, strict: bool = False, documents: dict[str, Any] | None = None) -> None:
        self.time = NOW
        self.warnings: list[str] = []
        models = [definition(id, document) for id, document in (documents or DOCUMENTS).items()]
        catalog = Catalog({model.id: model for model in [*models, *built_in_models()]})
        self.database = Database(now=lambda: self.time)
        self.store = Store(catalog, self.database, self.warnings.append, strict=strict)
        migrate_all(self.store)

    def fill(self) -> Shop:
        """Adds rows that the tables of cases are about."""
        self.call("models.owner.Insert", ["name", "town_id"], [["Ann", 1], ["Bob", 2]])
        rows = [
            {"name": "Rex", "tag": "r", "age": 3, "kind": "dog", "owner_id": 1, "traits": {"loud": True}, "weight": 12},
            {"name": "Tom", "tag": "t", "age": 9, "born": "2017-02-03", "tame": False},
            {"name": "Mia", "age": 1, "owner_id": 2, "traits": ["soft"], "seen": "2026-04-30T08:09:10Z"},
            {"name": "Max", "tag": "m", "kind": "dog", "weight": 4.25},
            {"name": "Old", "tag": "o", "age": 20},
        ]
        for row in rows:
            self.call("models.pet.Create", row)
        self.call("models.pet.Delete", 5)
        self.call("models.toy.Insert", ["pet_id", "label"], [[1, "ball"], [1, "bone"], [3, "mouse"]])
        self.warnings.clear()
        return self

    def call(self, process: str, *values: Any) -> Any:
        """What a process answers; the message of an error, with its code, when it raises one."""
        answers = {"models": call_model, "model": call_listing, "schemas": schemas.call, "query": query.call}
        try:
            return answers[process.partition(".")[0]](self.store, process, list(values))
        except ProcessError as error:
            return f"{error.code}: {error.message}"

    def sql(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Rows of plain SQL."""
        return [tuple(row.values()) for row in self.database.read(statement, parameters)]

    def wait(self, seconds: float) -> None:
        """Moves the clock."""
        self.time += timedelta(seconds=seconds)
