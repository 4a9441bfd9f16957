"""What is known of the columns of a store: all of them are, as only those are copied into another store."""

from __future__ import annotations

from pathlib import Path

from runner.store.database import open_store
from runner.store.stored import FINGERPRINTS, LABELS, RUNS
from runner.store.upkeep import OF_RUNS


def test_each_column_of_each_table_is_known(tmp_path: Path) -> None:
    known = {"runs": RUNS, "labels": LABELS, "fingerprints": FINGERPRINTS, **OF_RUNS}
    with open_store(tmp_path) as database:
        rows = database.execute(
            "SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns"
            " WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'"
        ).fetchall()
    assert set(rows) == {(table, column) for table, columns in known.items() for column in columns}
