"""Remembers which tests failed when they last ran: in the store of the run, or, without a store, in a small file in the
user's cache. In CI, nothing is remembered without a store."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from runner.application.application import Application, repository_of
from runner.options.options import RunOptions, absolute
from runner.record.events import Event, RunEnd, TestEnd
from scripttest import Status, kind_of
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.environment import Environment
    from runner.record.fold import Execution


STORE = ".yao-test"
_FORMAT = 1
_NAME = "last-failed.json"
_PRIME = 4_294_967_291
"""Below 2^32, so that what is left of a path has eight digits in hexadecimal notation."""


class Failures(Value):
    """The tests that failed when they last ran."""

    tests: Mapping[str, list[str]] = {}
    """Suite key → the names of its tests that failed."""
    problem: str | None = None
    """Why the failures of this run cannot be remembered."""
    is_known: bool = True
    """False: neither a store nor a file remembers failures."""


def store_of(options: RunOptions, environment: Environment, application: Application) -> Path | None:
    """The folder of the store: `--store`, else `.yao-test` where it exists, else None. Raises ConfigurationError."""
    if options.store is None and not (application.root / STORE).is_dir():
        return None
    from runner.store.places import FILE, check_store

    folder = application.root / STORE if options.store is None else absolute(options.store, environment.directory)
    check_store(folder)
    if os.path.isfile(folder / FILE):
        from runner.store.database import check_schema

        check_schema(folder)
    return folder


def known_failures(options: RunOptions, environment: Environment, application: Application) -> Failures:
    """The tests that are known to have failed. Raises ConfigurationError, and StoreError for an unreadable store."""
    root = application.root
    store = store_of(options, environment, application)
    if store is not None:
        from runner.store.store import failed_in

        found = failed_in(store, repository_of(root))
        return Failures(tests={suite_key(suite, root): names for suite, names in found.items()})
    memory = memory_of(root, environment)
    if memory is None:
        return Failures(is_known=False)
    return Failures(tests=read_failed(memory), problem=memory_problem(memory))


def memory_of(root: Path, environment: Environment) -> Path | None:
    """The file that remembers the failures of an application without a store; None when nothing is remembered."""
    variables = environment.variables
    home = variables.get("HOME")
    caches = variables.get("XDG_CACHE_HOME") or (
        home and os.path.join(home, "Library/Caches" if sys.platform == "darwin" else ".cache")
    )
    if environment.ci or not caches or not os.path.isabs(caches):
        return None
    number = int.from_bytes(os.fsencode(root), "big") % _PRIME  # hashlib would take longer to load than a test
    return Path(caches) / "yao-test" / f"{root.name}-{number:08x}" / _NAME


def kept_folder(options: RunOptions, environment: Environment, root: Path, kind: str) -> Path | None:
    """Where a run may keep things of one kind that later ones need not make again. None: nowhere, as in a run whose
    files have to be approved, since approval is for what files say."""
    if options.no_writes or options.require_trust or options.trust_from:
        return None
    memory = memory_of(root, environment)
    return None if memory is None else memory.parent / kind


def memory_problem(path: Path) -> str | None:
    """Why nothing can be remembered in a file, or None. Creates the folder of the file."""
    from runner.security.files import check_target

    try:
        check_target(path)
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"Cannot save which tests failed: {error.filename or path}: {error.strerror}"
    return None


def read_failed(path: Path) -> dict[str, list[str]]:
    """Suite key → its tests that failed; for a module that could not be loaded, with its own name."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict) or content.get("format") != _FORMAT or not isinstance(content.get("failed"), dict):
        return {}
    found = {key: names for key, names in content["failed"].items() if isinstance(names, list)}
    return {key: [name for name in names if isinstance(name, str)] for key, names in found.items()}


def write_json(path: Path, content: object) -> None:
    """Replaces a file that later runs read by another one. Raises OSError."""
    from runner.security.files import write_whole

    write_whole(path, json.dumps(content).encode())


def suite_key(id: str, root: Path) -> str:
    """A name of a suite that is the same on all machines: its id, or its path from the application's root."""
    return id.removeprefix(f"{root}/")


class FailureMemory:
    """A reporter that remembers the names of tests that failed, and forgets those that passed since."""

    def __init__(self, path: Path, root: Path) -> None:
        """`root` is the application's."""
        self._path = path
        self._root = root
        self._failed: dict[str, set[str]] = {}
        self._held: dict[str, set[str]] = {}
        """Tests that ran and did not fail."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects results, and writes them at the end of the run."""
        if isinstance(event, TestEnd):
            result = event.result
            if not result.cut_short:
                kept = self._failed if result.outcome.status == Status.FAILED else self._held
                kept.setdefault(result.suite, set()).add(result.name)
        elif isinstance(event, RunEnd) and (self._failed or self._path.exists()):
            self._write(so_far)

    def close(self) -> None:
        """Does nothing."""

    def _write(self, run: Execution) -> None:

        known = read_failed(self._path)
        failed = dict(known)
        for suite, listed in run.listed.items():
            key = suite_key(suite, self._root)
            names = set(known.get(key, ())) - self._held.get(suite, set())
            if suite in run.ended and listed.selected == listed.total:
                names = set()  # all that there is has run
            elif not run.suites[suite].has_cases:
                names = {name for name in names if kind_of(name)}  # the module could be loaded
            failed[key] = sorted(names | self._failed.get(suite, set()))
        failed = {key: names for key, names in failed.items() if names}
        if failed == known:
            return
        try:
            write_json(self._path, {"format": _FORMAT, "failed": failed})
        except OSError:  # said where a flag asks for it, see `memory_problem`
            return
