"""The database of a store: its tables, its locks, and what its errors mean.

| table | a row is |
| --- | --- |
| `runs` | a run: its first and last line as in a `.jsonl` report, and the revision of its code |
| `suites` | a suite of a run: how many tests it has, and how many were selected |
| `results` | a result line; `attempt` 0 is the verdict on a test, others are single runs of it |
| `remarks` | an error or a warning of a run, as such a line |
| `fingerprints` | the digests of what results depend on, by their digest |
| `labels` | a label of a person on an answer |

Long result lines are compressed with zlib. `seq` only increases, so that whoever follows a run can ask for newer rows.
`session` counts how often a run was resumed; rows of earlier sessions are removed when the run ends.

Locks belong to the open file, so they end with the process, however that ends."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from fcntl import LOCK_NB, LOCK_SH, flock
from functools import cache
from pathlib import Path

from runner.errors import ConfigurationError, RunnerError
from runner.security.files import check_target
from runner.security.terminal import in_line
from runner.store.places import APPLICATION, FILE, SCHEMA, check_header
from scripttest import hold

LOCK = "runs.lock"
"""The process with this lock opens or closes the database, and may change its tables."""
RUNNING = "running"
"""The folder with a file for each running run."""
PATIENCE = 60.0
"""Seconds to wait for another writer."""
TABLES = Path(__file__).with_name("schema.sql").read_text("utf-8")
"""The one schema; a database with another one is refused."""

_RULES = re.compile(r"\b(?:as|check|collate|conflict|default|generated|virtual)\b", re.IGNORECASE)
"""What a table may have as often as ours has it, and no more: it would compute, change or leave out what is written."""
_DAMAGED = "it is damaged"
_SAVE_THE_REST = "Move the folder away, and recover readable runs into a new store: yao-test store merge NEW OLD"
_MAKE_ANOTHER = "Move the folder away: the next run creates a new one"
_WHY = {
    "SQLITE_FULL": ("the disk is full", "Free some space, or put the store elsewhere with --store"),
    "SQLITE_READONLY": ("it cannot be written", "Make the folder writable, or choose another one with --store"),
    "SQLITE_CANTOPEN": ("it cannot be opened", "Make the folder accessible, or choose another one with --store"),
    "SQLITE_PERM": ("permission is denied", "Make the folder accessible, or choose another one with --store"),
    "SQLITE_BUSY": ("another process has locked it", "Try again when that process has ended"),
    "SQLITE_LOCKED": ("another process has locked it", "Try again when that process has ended"),
    "SQLITE_CORRUPT": (_DAMAGED, _SAVE_THE_REST),
    "SQLITE_NOTADB": (f"its {FILE} is not a database", "Choose another folder with --store"),
    "SQLITE_IOERR": ("writing to the disk failed", "Check the disk, or put the store elsewhere with --store"),
}


class StoreError(RunnerError):
    """A store that cannot be read or written."""


def open_for_writing(folder: Path) -> sqlite3.Connection:
    """The database of a store, made where there is none. Blocks while others do that. Raises StoreError, and
    ConfigurationError for a store of a newer version, or none."""
    path = folder / FILE
    with understood(folder):
        check_target(path)
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / LOCK):
            database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                _set_up(folder, database)
            except BaseException:
                database.close()
                raise
            return database


def close(folder: Path, database: sqlite3.Connection) -> None:
    """Closes the database of a store. The last one to do so tidies up its files, which nobody opens meanwhile. Raises
    StoreError."""
    try:
        with locked(folder / LOCK), understood(folder):
            database.close()
    except OSError:  # it could only be read
        database.close()


@contextmanager
def open_store(folder: Path) -> Iterator[sqlite3.Connection]:
    """`open_for_writing`, closed in the end; what the database raises meanwhile becomes a StoreError."""
    database = open_for_writing(folder)
    try:
        with understood(folder):
            yield database
    finally:
        close(folder, database)


def open_for_reading(folder: Path) -> sqlite3.Connection:
    """The same for reading only, without permission to write. Raises ConfigurationError without a store, StoreError."""
    path = folder / FILE
    with understood(folder):
        if folder.is_file():
            raise ConfigurationError(
                f"Cannot use the store {folder}: it is not a folder",
                f"Put the file into a folder as {FILE}, and pass that folder",
            )
        if not path.is_file():
            keeps = "Run the tests with --store DIR, or create the folder .yao-test to store every run there"
            hint = "The first stored run creates it" if folder.is_dir() else keeps
            raise ConfigurationError(f"There is no store in {folder}", hint)
        check_target(path)
    try:
        return open_for_writing(folder)
    except StoreError:
        pass
    with understood(folder):
        database = _read_only(path)
        try:
            _check(folder, database)
        except BaseException:
            database.close()
            raise
    return database


@contextmanager
def understood(folder: Path) -> Iterator[None]:
    """What a database or the system raises becomes a StoreError of one sentence."""
    try:
        yield
    except sqlite3.Error as error:
        name = str(getattr(error, "sqlite_errorname", None) or "")
        if not name and isinstance(error, sqlite3.OperationalError):
            raise damaged(folder, "it contains text that is not UTF-8") from error
        if name == "SQLITE_ERROR":  # a table or a column that is not there
            raise StoreError(f"Cannot use the store {folder}: {_DAMAGED}: {error}", _MAKE_ANOTHER) from error
        known = next((said for begin, said in _WHY.items() if name.startswith(begin)), None)
        why, hint = known or (f"{type(error).__name__}: {error}", None)
        raise StoreError(f"Cannot use the store {folder}: {why}", hint) from error
    except OSError as error:
        hint = "Make the folder accessible, or choose another one with --store"
        raise StoreError(f"Cannot use the store {folder}: {error.strerror or error}", hint) from error


@contextmanager
def parsing(folder: Path, what: str) -> Iterator[None]:
    """A stored text that cannot be parsed, which raises ValueError, becomes a StoreError; `what` it is of."""
    try:
        yield
    except ValueError as error:
        raise damaged(folder, f"{what}: {error}") from error


def damaged(folder: Path, what: str) -> StoreError:
    """The error of a store that can be opened and has something that no run wrote."""
    return StoreError(f"Cannot use the store {folder}: {_DAMAGED}: {what}", _SAVE_THE_REST)


@contextmanager
def changing(database: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing; other writers wait."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def check_schema(folder: Path) -> None:
    """Compares the schema of a store, before anything runs. Raises ConfigurationError; what cannot be read is left
    to be found when it is written."""
    with suppress(StoreError):
        close(folder, open_for_writing(folder))


def _read_only(path: Path) -> sqlite3.Connection:
    alone = "" if path.with_name(f"{FILE}-wal").exists() else "&immutable=1"
    uri = f"{path.resolve().as_uri()}?mode=ro{alone}"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE, check_same_thread=False)


def _check(folder: Path, database: sqlite3.Connection) -> bool:
    """Whether a database has our schema; False for a new one. Raises ConfigurationError if it has anything else: a
    trigger, view or index of others would change what is written and read."""
    database.execute("PRAGMA trusted_schema = OFF")
    application, version = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("application_id", "user_version")
    )
    check_header(folder, application, version)
    own = _own_schema() if version else {}
    for kind, name, sql in _schema(database):
        known = own.get((kind, name))
        computes = _RULES.findall(str(sql)) != _RULES.findall(str(known))
        is_own = (kind, name) in own and (not computes if kind == "table" else sql == known)
        if not is_own and not str(name).startswith("sqlite_stat"):
            raise ConfigurationError(
                f"Cannot use the store {folder}: the {kind} {in_line(str(name))} in its {FILE} was not made by"
                " yao-test, and could alter results",
                "Anyone with write access to the file could have added it. " + _MAKE_ANOTHER,
            )
    return bool(version)


def _schema(database: sqlite3.Connection) -> list[tuple[str, str, str | None]]:
    return database.execute("SELECT type, name, sql FROM sqlite_master").fetchall()


@cache
def _own_schema() -> dict[tuple[str, str], str | None]:
    """What a database has: kind and name → its statement; None for the indexes of keys."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(TABLES)
        return {(kind, name): sql for kind, name, sql in _schema(database)}


def _set_up(folder: Path, database: sqlite3.Connection) -> None:
    has_tables = _check(folder, database)
    for pragma in ("foreign_keys = ON", "synchronous = NORMAL"):
        database.execute(f"PRAGMA {pragma}")
    if has_tables:
        return
    database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    database.execute("PRAGMA journal_mode = WAL")
    with changing(database):
        for statement in TABLES.split(";\n"):
            if statement.strip():
                database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {SCHEMA}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Waits until no other process has locked a file, and locks it. Raises OSError."""
    descriptor = _opened(path)
    try:
        hold(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


class RunLock:
    """Marks a run as running, as long as its process lives."""

    def __init__(self, folder: Path, run: str) -> None:
        """Raises OSError."""
        self._path = folder / RUNNING / run
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = _opened(self._path)
        hold(self._descriptor)

    def release(self) -> None:
        """The run is over."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def is_under_way(folder: Path, run: str) -> bool:
    """Whether a process of this machine still writes a run."""
    try:
        descriptor = os.open(folder / RUNNING / run, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
