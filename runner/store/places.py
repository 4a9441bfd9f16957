"""Where a store keeps a run, and checks of that place that need no database."""

from __future__ import annotations

import os
from pathlib import Path

from runner.errors import ConfigurationError
from scripttest.values import Value

FILE = "runs.sqlite"
_MAGIC = b"SQLite format 3\0"
APPLICATION = 0x79616F54
"""`PRAGMA application_id` of our files."""
SCHEMA = 5
"""`PRAGMA user_version` that this version writes: how many migrations `runner.store.schema` has."""


class StorePlace(Value):
    """Where one run is kept."""

    folder: Path
    run: str
    """Its id."""


def place_of(application: Path) -> str:
    """A digest that identifies the runs of an application on this machine, and reveals nothing about them."""
    from hashlib import blake2b

    return blake2b(f"{os.uname().nodename}\0{os.path.realpath(application)}".encode(), digest_size=8).hexdigest()


def check_store(folder: Path) -> None:
    """Looks whether a store can be used, before anything runs. Raises ConfigurationError for what is no store, or one
    of a newer version; what cannot be read is left to be found when it is written."""
    path = folder / FILE
    try:
        if folder.exists() and not folder.is_dir():
            raise ConfigurationError(f"Cannot use the store {folder}: it is not a folder", "Name a folder with --store")
        if path.exists() and not path.is_file():
            raise ConfigurationError(
                f"Cannot use the store {folder}: its {FILE} is not a file", "Name another folder with --store"
            )
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        return
    if not head:
        return
    application, version = (int.from_bytes(head[at : at + 4], "big") for at in (68, 60))
    check_header(folder, application if head.startswith(_MAGIC) else -1, version)


def check_header(folder: Path, application: int, version: int) -> None:
    """The same, for the version in a database. Raises ConfigurationError."""
    if application not in (0, APPLICATION) or (application == 0 and version):
        raise ConfigurationError(
            f"Cannot use the store {folder}: its {FILE} was not written by yao-test", "Name another folder with --store"
        )
    if version > SCHEMA:
        raise ConfigurationError(
            f"Cannot use the store {folder}: a newer yao-test has written it"
            f" (schema {version}, this one knows {SCHEMA})",
            "Update yao-test, or name another folder with --store; nothing in it was changed",
        )
