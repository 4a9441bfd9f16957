"""Where a run is kept: its store, and the commit and branch of its code. Needs no database."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from runner.errors import ConfigurationError
from scripttest import head_of
from scripttest.values import Value

FILE = "runs.sqlite"
_MAGIC = b"SQLite format 3\0"
APPLICATION = 0x79616F54
"""`PRAGMA application_id` of our files."""
SCHEMA = 1
"""`PRAGMA user_version` of the schema in `runner.store.database`."""


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
            raise ConfigurationError(
                f"Cannot use the store {folder}: it is not a folder", "Choose a folder with --store"
            )
        if path.exists() and not path.is_file():
            raise ConfigurationError(
                f"Cannot use the store {folder}: its {FILE} is not a file", "Choose another folder with --store"
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
            f"Cannot use the store {folder}: its {FILE} was not written by yao-test",
            "Choose another folder with --store",
        )
    if version > SCHEMA:
        raise ConfigurationError(
            f"Cannot use the store {folder}: it was written by a newer yao-test"
            f" (schema {version}, this version supports {SCHEMA})",
            "Update yao-test, or choose another folder with --store; nothing in it was changed",
        )


VARIABLES = (
    "GITHUB_HEAD_REF GITHUB_REF_NAME CI_MERGE_REQUEST_SOURCE_BRANCH_NAME CI_COMMIT_BRANCH CI_COMMIT_REF_NAME"
    " SYSTEM_PULLREQUEST_SOURCEBRANCH BUILD_SOURCEBRANCHNAME CIRCLE_BRANCH BITBUCKET_BRANCH BUILDKITE_BRANCH"
    " DRONE_BRANCH CHANGE_BRANCH BRANCH_NAME"
).split()
"""What CI servers call the branch: GitHub, GitLab, Azure, CircleCI, Bitbucket, Buildkite, Drone, Jenkins; that of a
change before that which it goes into."""
_BRANCHES = "refs/heads/"


class Revision(Value):
    """The revision of the code: its branch and commit."""

    commit: str | None = None
    branch: str | None = None
    place: str | None = None
    """The place of the application; see `runner.store.places.place_of`."""


def revision_of(folder: Path, variables: Mapping[str, str]) -> Revision:
    """The revision that is checked out around a folder; with nothing known where there is no repository, or one that
    cannot be read. `variables` are those of the environment."""
    named = next((name for variable in VARIABLES if (name := variables.get(variable, "").strip())), None)
    ref, commit = head_of(str(folder))
    is_branch = ref.startswith(_BRANCHES) and ref != f"{_BRANCHES}.invalid"
    return Revision(commit=commit or None, branch=ref.removeprefix(_BRANCHES) if is_branch else named)
