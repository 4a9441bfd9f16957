"""The database of one test: a copy of the run's, its own clock and warnings, removed when the test has ended."""

from __future__ import annotations

import sqlite3
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from command import PATIENCE
from pet_shop import DOCUMENTS, NOW, definition

from bindings.errors import ProcessError
from bindings.models.database import Database
from bindings.models.databases import Databases, Fixture, ModelFiles, OwnDatabase


class Files:
    """Gives the models of the pet shop, and counts how often."""

    def __init__(self, **more: Any) -> None:
        self.asked = 0
        self.more = more

    def models(self) -> ModelFiles:
        self.asked += 1
        return ModelFiles(models=tuple(definition(id, document) for id, document in DOCUMENTS.items()), **self.more)

    def document(self, file: str, source: str | None) -> tuple[str, Any, str]:
        columns = [{"name": "a", "type": "string"}]
        return f"/{file}", {"name": source or "none", "table": {"name": "loaded"}, "columns": columns}, source or ""

    def fixture(self, name: str, folder: Path) -> Fixture:
        return Fixture(file=name, lines=((f"{folder}/{name}:1", {"model": "town", "row": {"name": name}}),))


def own(databases: Databases, **more: Any) -> OwnDatabase:
    given: dict[str, Any] = {
        "folder": Path("/tests"),
        "now": lambda: NOW,
        "salt": lambda: bytes(16),
        "warn": [].append,
        **more,
    }
    return OwnDatabase(lambda: databases, **given)


def towns(database: OwnDatabase) -> list[str]:
    return [row["name"] for row in database.call("db.Rows", ["town"])]


def test_each_has_its_own_rows_and_the_files_are_read_once() -> None:
    files = Files()
    databases = Databases(files, [].append)
    first, second = own(databases), own(databases)
    assert files.asked == 0
    first.load(["Kiel"])
    second.call("models.town.Destroy", [1])
    assert (towns(first), towns(second), files.asked) == (["Bremen", "Ulm", "Kiel"], ["Ulm"], 1)


def test_models_that_one_loads_are_not_there_for_others() -> None:
    databases = Databases(Files(), [].append)
    first, second = own(databases), own(databases)
    assert first.call("models.new.Load", ["models/new.mod.yao"]) is None
    assert first.call("models.town.Exists", []) and first.call("model.Exists", ["new"])
    assert second.call("model.Exists", ["new"]) is False
    second.call("model.Unload", ["town"])
    assert first.call("model.Exists", ["town"]) is True


def test_each_has_its_own_clock_and_warnings() -> None:
    databases = Databases(Files(), [].append)
    warnings: list[list[str]] = [[], []]
    later = datetime(2030, 1, 1, tzinfo=UTC)
    pair = [
        own(databases, now=lambda when=when: when, warn=said.append)
        for when, said in zip((NOW, later), warnings, strict=True)
    ]
    for database in pair:
        database.call("models.pet.Create", [{"name": "Rex"}])
    pair[1].call("models.pet.Get", [{"wheres": [{"column": "id", "op": "odd", "value": 1}]}])
    stamps = [database.call("db.Rows", ["pet"])[0]["created_at"] for database in pair]
    assert stamps == ["2026-05-01 12:00:00", "2030-01-01 00:00:00"]
    assert [[text for text in said if "odd" in text] for said in warnings] == [
        [],
        ['models.pet: the condition on id compares with "=": unknown op "odd"'],
    ]


def test_one_that_is_opened_later_is_as_fresh_as_the_others() -> None:
    databases = Databases(Files(), [].append)
    stamps = []
    for year in (2030, 2031, 2032):
        database = own(databases, now=lambda year=year: datetime(year, 1, 1, tzinfo=UTC))
        database.call("models.pet.Create", [{"name": "Rex"}])
        [row] = database.call("db.Rows", ["pet"])
        stamps.append((row["id"], row["created_at"], towns(database)))
        database.call("models.town.DestroyWhere", [{}])
        database.close()
    assert stamps == [(1, f"{year}-01-01 00:00:00", ["Bremen", "Ulm"]) for year in (2030, 2031, 2032)]


def test_what_is_wrong_with_files_is_raised_each_time_and_said_once() -> None:
    said: list[str] = []
    databases = Databases(Files(broken=("a is broken", "b is broken")), said.append)
    for _ in range(2):
        with pytest.raises(ProcessError, match="a is broken\nb is broken"):
            own(databases).call("models.town.Get", [{}])
    assert said == ["a is broken", "b is broken"]


def test_a_refused_model_is_named_where_it_is_used() -> None:
    said: list[str] = []
    databases = Databases(Files(refused={"agents.a.X": "x is broken"}), said.append)
    database = own(databases)
    assert towns(database) == ["Bremen", "Ulm"]
    with pytest.raises(ProcessError, match="x is broken"):
        database.call("models.agents.a.x.Get", [{}])
    assert said == ["x is broken"]


def test_it_is_kept_when_the_test_ends_and_answers_no_more(tmp_path: Path) -> None:
    kept: list[bytes] = []
    unused = own(Databases(Files(), [].append), keep=kept.append)
    unused.close()
    database = own(Databases(Files(), [].append), keep=kept.append)
    database.load(["Kiel"])
    database.close()
    database.close()
    with pytest.raises(ProcessError, match="the test has ended"):
        towns(database)
    [dump] = kept
    (tmp_path / "kept.db").write_bytes(dump)
    with sqlite3.connect(tmp_path / "kept.db") as connection:
        assert connection.execute("SELECT name FROM town").fetchall() == [("Bremen",), ("Ulm",), ("Kiel",)]


def test_closing_does_not_wait_for_a_statement_that_runs() -> None:
    database = own(Databases(Files(), [].append))
    towns(database)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    told: list[str] = []
    began = threading.Event()

    def ask() -> None:
        began.set()
        try:
            database.call("query.default.Get", [{"sql": {"stmt": endless}}])
        except ProcessError as error:
            told.append(error.message)

    thread = threading.Thread(target=ask)
    thread.start()
    began.wait()
    database.close()
    thread.join(PATIENCE)
    assert told in (["Query: the test has ended"], ["the test has ended"])


def test_a_statement_that_has_not_begun_when_it_is_given_up_does_not_go_on() -> None:
    """SQLite forgets an interrupt that comes before the first step, such as while parameters are bound."""
    asked: list[int] = []
    database = Database(now=lambda: asked.append(1) or NOW)  # type: ignore[func-returns-value]

    class Late(list[int]):
        def __getitem__(self, index: Any) -> Any:
            database.give_up("the test has ended")
            return super().__getitem__(index)

    long = "WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < 99999) SELECT COUNT(now()) FROM n"
    with pytest.raises(ProcessError, match="the test has ended"):
        database.read(long, Late([1]))
    assert len(asked) < 10_000


def test_threads_share_it() -> None:
    database = own(Databases(Files(), [].append))
    threads = [
        threading.Thread(target=lambda: [database.call("models.town.Create", [{"name": "x"}]) for _ in range(50)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(towns(database)) == 202


def test_passwords_are_hashed_with_the_salt_of_the_test() -> None:
    import bcrypt

    hashes = []
    for salt in (bytes(16), bytes(16), b"\xff" * 16):
        database = own(Databases(Files(), [].append), salt=lambda salt=salt: salt)
        database.call("models.owner.Create", [{"name": "Ann", "password": "Ünsafe"}])
        database.call("models.owner.Insert", [["name", "password"], [["Bob", "Ünsafe"]]])
        hashes += [row["password"] for row in database.call("db.Rows", ["owner"])]
    assert all(bcrypt.checkpw("Ünsafe".encode(), hash.encode()) for hash in hashes)
    assert hashes[0].startswith("$2b$04$......................")
    assert [hashes.index(hash) for hash in hashes] == [0, 0, 0, 0, 4, 4]
