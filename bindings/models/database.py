"""One database: where the models of a test lie. Scripts reach it through statements that are confined."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial

from bindings.errors import failed
from bindings.models.sql_bounds import MOST_EXPANSIONS, Words, bound, expansions, words
from scripttest.typing_names import Json

Row = dict[str, Json]

APPLICATION_ID = 0x59414F54
"""In the header of the file, so that a database of tests is known as one."""
MAX_ROWS = 100_000
"""Rows of one answer."""
MAX_BYTES = 64 << 20
"""Characters and bytes of one answer, and of one value."""
PAGE = 1024
"""Bytes of a page, of which each table and each index has one of its own: an empty database is copied for each test."""
MAX_PAGES = (512 << 20) // PAGE
"""The largest size of the database in pages: 512 MB."""
SECONDS = 10.0
"""The time limit of one statement."""
_FULL = "database or disk is full"
"""How SQLite says that."""
_CHECKED_EVERY = 10_000
"""Instructions of SQLite between two looks at the clock."""
_OFTEN = 1_000
"""The same for statements of scripts that use functions."""
_WIDEST = 16 << 20
"""Characters and bytes of all values on which a statement of a script works in one go, at most, each of its functions
on its share: SQLite looks at no clock within a function, or between those of a row."""
_NARROWEST = 256 << 10
"""Characters and bytes of a value in statements with many columns."""
_SHARE = 64 << 10
"""The same in statements with many functions."""
_MOST = 2000
"""Functions, or operators `||`, of a statement of a script."""
_HEAVY = 32
"""How many functions count as one that goes over a text several times."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 << 20,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 400,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
}

_REFUSED = {
    sqlite3.SQLITE_ATTACH: "ATTACH",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_CREATE_VTABLE: "CREATE VIRTUAL TABLE",
    sqlite3.SQLITE_DROP_VTABLE: "DROP of a virtual table",
}
_CREATING = {
    sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_TEMP_TABLE, sqlite3.SQLITE_CREATE_VIEW,
    sqlite3.SQLITE_CREATE_TEMP_VIEW,
}  # fmt: skip
"""Statements for which SQLite itself reads the number of a row in the schema table, and nothing else of it."""
_CHANGING = {
    sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_DROP_TEMP_TABLE, sqlite3.SQLITE_DROP_INDEX,
    sqlite3.SQLITE_DROP_TEMP_INDEX, sqlite3.SQLITE_DROP_VIEW, sqlite3.SQLITE_DROP_TEMP_VIEW,
    sqlite3.SQLITE_DROP_TRIGGER, sqlite3.SQLITE_DROP_TEMP_TRIGGER, sqlite3.SQLITE_ALTER_TABLE,
}  # fmt: skip
"""Statements for which SQLite itself reads the schema table. They hold no SELECT."""
_MAKING = {
    sqlite3.SQLITE_CREATE_TRIGGER: "trigger", sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "trigger",
    sqlite3.SQLITE_CREATE_VIEW: "view", sqlite3.SQLITE_CREATE_TEMP_VIEW: "view",
}  # fmt: skip
_ASKING_PRAGMAS = {
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
    "collation_list", "compile_options",
}  # fmt: skip
"""PRAGMA statements that answer, whatever they are given."""
_STATE_PRAGMAS = {"foreign_keys", "user_version", "page_count", "encoding"}
"""Pragmas that change the state when they are given a value."""
_TIMES = ("date", "time", "datetime", "julianday", "strftime", "unixepoch")
"""Functions of SQLite that know what time it is."""
_ZONES = ("localtime", "utc")
_REFUSED_FUNCTIONS = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}
_SCHEMA_TABLES = {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"}

_OF_MYSQL = re.compile(r"\s*(truncate|show|describe|desc|set|lock|unlock|use|optimize|rename|call)\b", re.IGNORECASE)

for _declared, _convert in (
    ("BOOLEAN", lambda value: value not in (b"0", b"")),
    ("DATE", lambda value: _day(value.decode())),
    ("TIMESTAMP", lambda value: value.decode()),
):
    sqlite3.register_converter(_declared, _convert)


def _day(text: str) -> str:
    return f"{text[:10]}T{text[11:] or '00:00:00'}Z"


class Database:
    """A SQLite database. Threads may share it; their statements follow one another. To be closed."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Opens it. `now` says what time it is, in UTC. Raises sqlite3.Error."""
        self.now = now
        self._lock = threading.RLock()
        self._ends = 0.0
        self._given_up = ""
        self._asked = 0
        self._refused = ""
        self._creates = self._changes = False
        """Whether the statement that runs does what `_CREATING` and `_CHANGING` have."""
        self._weight = self._functions = 0
        """Of the functions that the statement uses, and their number."""
        self._widest = _WIDEST
        self._sql = ""
        """The statement of a script that ran last."""
        self._views: dict[str, Words] = {}
        """Views of scripts, and what they name."""
        self._has_triggers = False
        """Whether a script has made one."""
        self._beside: sqlite3.Connection | None = None
        """Evaluates single functions."""
        self._connection = connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, detect_types=sqlite3.PARSE_DECLTYPES
        )
        connection.execute(f"PRAGMA page_size = {PAGE}")
        self._bound()
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.create_function("current_timestamp", 0, self.timestamp)
        connection.create_function("now", 0, self.timestamp)
        connection.create_function("current_date", 0, lambda: self.timestamp()[:10])
        connection.create_function("current_time", 0, lambda: self.timestamp()[11:])
        for name in _TIMES:
            connection.create_function(name, -1, partial(self._time, name))
        bound(connection, self._evaluate)
        connection.set_progress_handler(self._is_late, _CHECKED_EVERY)

    @property
    def changes(self) -> int:
        """How many rows were written since it was opened."""
        return self._connection.total_changes

    def timestamp(self) -> str:
        """The time in the format of columns, in UTC."""
        return self.now().strftime("%Y-%m-%d %H:%M:%S")

    def nanoseconds(self) -> int:
        """Since 1970, another number each time, also if the clock is stopped."""
        self._asked += 1
        return int(self.now().timestamp() * 1_000_000) * 1000 + self._asked % 1000

    def dump(self) -> bytes:
        """All of it, as a file of SQLite has it."""
        with self._lock:
            return self._connection.serialize()

    def load(self, dump: bytes) -> None:
        """Becomes what was dumped; it must be in memory."""
        with self._lock:
            self._connection.deserialize(dump)
            self._bound()
            made = self._connection.execute(
                "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"
            )
            for kind, name, sql in made.fetchall():
                self._made(kind, name, sql)

    def _bound(self) -> None:
        self._connection.execute(f"PRAGMA max_page_count = {MAX_PAGES}")

    def write(self, sql: str, parameters: Sequence[Json] = ()) -> sqlite3.Cursor:
        """Runs a statement of ours. Raises ProcessError with the text of SQLite."""
        with self._statement():
            return self._connection.execute(sql, parameters)

    def write_many(self, sql: str, rows: Sequence[Sequence[Json]]) -> None:
        """Runs a statement for each row; all of them or none are written."""
        with self._statement():
            self._connection.execute("SAVEPOINT many")
            try:
                self._connection.executemany(sql, rows)
            except BaseException:
                self._connection.execute("ROLLBACK TO many")
                raise
            finally:
                self._connection.execute("RELEASE many")

    def read(self, sql: str, parameters: Sequence[Json] = ()) -> list[Row]:
        """The rows of a statement of ours. Raises ProcessError, also when there are too many."""
        with self._statement():
            return self._rows(self._connection.execute(sql, parameters))

    def run_foreign(self, sql: str, parameters: Sequence[Json] = ()) -> list[Row]:
        """Runs a statement that a script has written, confined. Raises ProcessError."""
        with self._statement(sql):
            if sql.count("||") > _MOST:
                raise failed(f"the statement has more than {_MOST} operators ||")
            self._sql = sql
            if expansions(sql, self._views) > MOST_EXPANSIONS:
                raise failed(
                    f"the statement uses its own views and tables more than {MOST_EXPANSIONS} times,"
                    " with what they name"
                )
            try:
                return self._rows(self._connection.execute(sql, parameters))
            except sqlite3.DatabaseError as error:
                said = str(error)
                is_foreign = said.startswith("no such function") or (said.startswith("near") and _OF_MYSQL.match(sql))
                if is_foreign and not self._refused:
                    raise failed(f"{error} (the database of tests is SQLite)") from error
                raise

    def give_up(self, reason: str) -> None:
        """Stops the statement that runs, and those that come, with an error. Any thread may do that."""
        self._given_up = reason
        self._connection.interrupt()

    def close(self) -> None:
        """Closes it. A database in memory is lost."""
        with self._lock:
            self._connection.close()
            if self._beside is not None:
                self._beside.close()

    @contextmanager
    def _statement(self, foreign: str | None = None) -> Iterator[None]:
        with self._lock, self._ruled(foreign):
            if self._given_up:
                raise failed(self._given_up)
            self._ends = time.monotonic() + SECONDS
            try:
                yield
            except (sqlite3.Error, sqlite3.Warning) as error:
                if self._given_up:
                    raise failed(self._given_up) from error
                if self._refused:
                    raise failed(f"{self._refused} is not allowed here") from error
                if str(error) == "interrupted":
                    raise failed(f"the statement took more than {SECONDS:g} s") from error
                if str(error) == _FULL:
                    text = f"{_FULL}: the database of a test has at most {MAX_PAGES * PAGE >> 20} MB"
                    raise failed(text) from error
                raise failed(str(error)) from error
            except OverflowError as error:
                raise failed("a number is too large for the database") from error
            except UnicodeEncodeError as error:
                raise failed("a string contains a lone surrogate") from error

    @contextmanager
    def _ruled(self, foreign: str | None) -> Iterator[None]:
        """Confines a statement of a script, and what triggers and views of scripts do in one of ours."""
        self._refused, self._creates, self._changes = "", False, False
        self._weight = self._functions = 0
        self._widest = _WIDEST
        if foreign is None and not self._views and not self._has_triggers:
            yield
            return
        connection = self._connection
        if foreign is not None:
            parts = foreign.count("||") + (foreign.count(",") if "select" in foreign.lower() else 0)
            self._widest = min(_WIDEST, max(_NARROWEST, MAX_BYTES // (1 + parts)))
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._widest)
        connection.set_authorizer(self._authorize_within if foreign is None else self._authorize)
        try:
            yield
        finally:
            connection.set_authorizer(None)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
            if self._weight:
                connection.set_progress_handler(self._is_late, _CHECKED_EVERY)

    def _rows(self, cursor: sqlite3.Cursor) -> list[Row]:
        if cursor.description is None:
            return []
        names = [column[0] for column in cursor.description]
        rows: list[Row] = []
        size = 0
        for values in cursor:
            rows.append(dict(zip(names, values, strict=True)))
            size += sum(len(value) for value in values if isinstance(value, (str, bytes)))
            if len(rows) > MAX_ROWS or size > MAX_BYTES:
                cursor.close()
                raise failed(f"the result has more than {MAX_ROWS} rows or {MAX_BYTES >> 20} MB: ask for fewer")
        return rows

    def _time(self, name: str, *given: Json) -> Json:
        """A function of time of SQLite, by the clock of the test; all places are in UTC."""
        place = 1 if name == "strftime" else 0
        values = [value for value in given if not isinstance(value, str) or value.strip().lower() not in _ZONES]
        if len(values) <= place:
            values += ["now"] * (place + 1 - len(values))
        if isinstance(values[place], str) and values[place].strip().lower() == "now":
            values[place] = self.now().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        return self._evaluate(name, *values)

    def _evaluate(self, name: str, *given: Json) -> Json:
        if self._beside is None:
            self._beside = sqlite3.connect(":memory:", check_same_thread=False)
            self._beside.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _WIDEST)
        try:
            return self._beside.execute(f"SELECT {name}({', '.join('?' * len(given))})", given).fetchone()[0]
        except sqlite3.DataError as error:
            raise OverflowError from error

    def _is_late(self) -> bool:
        return bool(self._given_up) or time.monotonic() > self._ends

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: str | None, within: str | None
    ) -> int:
        """Rules what a statement of a script does, and the triggers and views that it uses; `within` names these."""
        self._creates = self._creates or action in _CREATING
        self._changes = self._changes or action in _CHANGING
        if action in _REFUSED:
            return self._refuse(_REFUSED[action])
        name = (first or "").lower()
        if action == sqlite3.SQLITE_PRAGMA and name not in _ASKING_PRAGMAS and (second or name not in _STATE_PRAGMAS):
            return self._refuse(f"PRAGMA {first}")
        if action == sqlite3.SQLITE_FUNCTION:
            return self._authorize_function((second or "").lower())
        if kind := _MAKING.get(action):
            self._made(kind, name, self._sql)
        is_own = not within and (self._changes or (self._creates and second == "ROWID"))
        if action == sqlite3.SQLITE_READ and name in _SCHEMA_TABLES and not is_own:
            return self._refuse(f"the table {first}")
        return sqlite3.SQLITE_OK

    def _authorize_within(
        self, action: int, first: str | None, second: str | None, database: str | None, within: str | None
    ) -> int:
        """Rules what triggers do in a statement of ours, which uses no view."""
        for name in (first, within):
            if name and name.lower() in self._views and action != sqlite3.SQLITE_FUNCTION:
                return self._refuse(f"the view {name} in place of a table")
        return self._authorize(action, first, second, database, within) if within else sqlite3.SQLITE_OK

    def _authorize_function(self, name: str) -> int:
        if name in _REFUSED_FUNCTIONS:
            return self._refuse(f"the function {name}")
        self._functions += 1
        if self._functions > _MOST:
            return self._refuse(f"a statement with more than {_MOST} functions")
        self._weight += _HEAVY if name in ("like", "glob") or name.startswith("json") else 1
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(self._widest, max(_SHARE, _WIDEST // self._weight)))
        if self._functions == 1:
            self._connection.set_progress_handler(self._is_late, _OFTEN)
        return sqlite3.SQLITE_OK

    def _made(self, kind: str, name: str, sql: str) -> None:
        """Takes note of a trigger or a view of a script."""
        if kind == "view":
            self._views[name.lower()] = words(sql, expansions(sql, {}))
        else:
            self._has_triggers = True

    def _refuse(self, what: str) -> int:
        self._refused = what
        return sqlite3.SQLITE_DENY
