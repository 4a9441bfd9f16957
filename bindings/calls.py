"""Host calls of scripts, on behalf of one run: the host functions that answer them; JSON of their arguments, and of the
envelopes of answers; and the worlds of script tests."""

from __future__ import annotations

import _thread
import json
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from scripttest import MissingScriptError, TestKey
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings.errors import ProcessError
    from bindings.models.databases import OwnDatabase
    from bindings.policy import Policy
    from bindings.workspace import Scratch
    from bindings.world import Clock, Mocks, World

DATABASE = "database"
"""What the database of a world is opened as."""
MODEL_GROUPS = frozenset(("models", "model", "schemas", "query", "db"))
"""First words of the processes that the database of a world answers."""

SCRIPT_GROUPS = frozenset(("scripts", "services"))
"""First words of the processes that scripts answer, in a realm; what comes here has no script, or no function."""


class HostProcesses:
    """Calls host functions, and finds the scripts that processes name. Threads may share it. To be closed."""

    def __init__(
        self,
        app_root: Path,
        policy: Callable[[], Policy],
        find_script: Callable[[str], Path | None],
        open_database: Callable[[World], OwnDatabase],
    ) -> None:
        """`open_database` makes what answers `models.*` and its relatives for a world that has no database yet."""
        self.app_root = app_root
        """Absolute path of the application."""
        self._policy = policy
        self._find_script = find_script
        self._open_database = open_database
        self._scratch: Scratch | None = None
        self._scripts: dict[str, Path] = {}
        """Scripts that were found."""
        self._translations: dict[str, Mapping[str, str]] = {}
        self._lock = _thread.allocate_lock()

    def call(self, name: str, args: list[Any], context: Mapping[str, Any], world: World) -> Any:
        """Calls a host function for a script. May block. Returns a JSON value or bytes. Raises ProcessError: there
        is no such process (404), or it failed.

        Args:
            name: name of the process, such as `text.ExtractJSON`, in upper or lower case.
            args: JSON values and bytes.
            context: fields of the context of the calling script.
            world: the world of the calling test."""
        from bindings.ledger import called

        with world.ledger.answering(called(name, args), name):
            return self._called(name, args, context, world)

    def _called(self, name: str, args: list[Any], context: Mapping[str, Any], world: World) -> Any:
        if name.partition(".")[0].lower() in MODEL_GROUPS:
            return self._of_models(name, args, world)
        if name.lower() == "locale.translate":
            return self._translated(args[0], context["locale"])
        from bindings import processes
        from bindings.errors import ProcessError
        from bindings.policy import HostCall

        if name.partition(".")[0].lower() in SCRIPT_GROUPS:
            script, _, function = name.rpartition(".")
            try:
                self.library(script)
                why = f'Process "{name}" does not exist: its script has no function {function}'
            except MissingScriptError as error:
                why = error.message
            raise ProcessError(f"{why}. Or mock it with {world.mock('process', name)}", 404, missing=True)
        if not processes.knows(name):
            raise _not_available(name, world)
        surroundings = HostCall(
            app_root=self.app_root,
            policy=self._policy(),
            locale=context["locale"],
            authorized=context["authorized"],
            world=world,
            scratch=self._scratch_folder,
        )
        return processes.call(name, args, surroundings)

    def _translated(self, text: str, locale: str) -> str:
        """The answer of `$L`: the application's translation for a locale, which is read once."""
        if locale not in self._translations:
            self._translations[locale] = _translations(self.app_root, locale)
        return self._translations[locale].get(text, text)

    def _of_models(self, name: str, args: list[Any], world: World) -> Any:
        """An application without its own models must mock them, or needs another host."""
        from bindings.errors import ProcessError
        from bindings.models.store import UnknownColumnsError

        opens = name.lower().startswith("query.") and name.lower().endswith(".open")
        if opens and _has_mocked_engine(name, world):
            return None
        database = world.opened(DATABASE, self._open_database)
        before = database.changes
        try:
            value = database.call(name, args)
            world.clock.writes += database.changes != before
            return value
        except ProcessError as error:
            error.hides_code = not error.missing
            if opens and error.missing:
                mock = world.mock("process", name.rpartition(".")[0] + ".*")
                text = f"{error.message}{self._engine_file(name.split('.')[1])}; mock it with {mock}"
                raise ProcessError(text, error.code, missing=True) from error
            if isinstance(error, UnknownColumnsError):
                mocked = f"models.{error.model}.*" if name.startswith("db.") else name
                text = f"{error.message}; mock it with {world.mock('process', mocked)}"
                raise ProcessError(text, error.code, missing=True) from error
            if error.missing and error.code < 500 and not name.startswith("db."):
                if not database.has_own_models:
                    raise _not_available(name, world) from error
                way = "Add the model file, or mock" if error.code == 400 else "Mock"
                error.advice = f". {way} it with {world.mock('process', name)}"
            elif error.missing and name.lower().startswith("query."):
                mock = world.mock("process", name)
                error.advice = f". Add a model file with this table, or mock the query with {mock}"
            raise

    def _engine_file(self, engine: str) -> str:
        """What to say of an engine that the application connects to; empty: it does not."""
        files = (f"connectors/{engine}.conn.{suffix}" for suffix in ("yao", "json", "jsonc"))
        found = next((file for file in files if (self.app_root / file).is_file()), None)
        return f"; the database of {found} is not opened in tests" if found else ""

    def library(self, script: str) -> Path:
        """The file of the script that `Process("scripts.a.b.Fn")` names without its function. Raises
        MissingScriptError."""
        path = self._scripts.get(script)
        if path is None:
            path = self._find_script(script) if "/" not in script and "\0" not in script else None
            if path is None:
                raise MissingScriptError(f'Process "{script}" does not exist: there is no such script')
            self._scripts[script] = path
        return path

    def scratch(self) -> Path:
        """The scratch folder of the run: its absolute path. Raises OSError; ProcessError when the run has ended."""
        return self.app_root / "data" / self._scratch_folder()[1:]

    def close(self) -> None:
        """Removes what scripts made for a while, and what runs that were killed have left of that."""
        if self._scratch is not None or os.path.isdir(self.app_root / "data" / "tmp"):
            self._temporary().close()

    def _scratch_folder(self) -> str:
        return self._temporary().folder()

    def _temporary(self) -> Scratch:
        from bindings.workspace import Scratch

        if self._scratch is None:
            with self._lock:
                self._scratch = self._scratch or Scratch(self.app_root / "data")
        return self._scratch


def _translations(app_root: Path, locale: str) -> dict[str, str]:
    """Source text → translation, from `langs/<locale>/**/*.yml`. A locale such as `zh-cn` falls back to its language,
    `zh`. Raises ProcessError."""
    from bindings.errors import ProcessError
    from bindings.processes.formats import decode_yaml
    from scripttest import belongings_of, holds_secrets, parts_below, read_file

    root = os.path.realpath(app_root)

    def judge(real: str) -> str | None:
        parts = parts_below(real, root)
        is_own = parts is not None and parts[0] == "langs" and not holds_secrets(parts)
        is_open = is_own or (parts is not None and belongings_of(root).refused(parts) is None)
        return None if is_open else f"a link leads to {real}, which is not open to scripts"

    texts: dict[str, str] = {}
    folders = {folder.name: folder for folder in app_root.glob("langs/*")}  # a script may have chosen the locale
    for name in (locale.partition("-")[0], locale):
        for path in sorted(folders[name].rglob("*.yml")) if name in folders else ():
            try:
                value = decode_yaml(read_file(str(path), judge).decode("utf-8-sig"))
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else error
                raise ProcessError(f"Cannot read the translations in langs/{name}/{path.name}: {why}") from error
            if not isinstance(value, dict):
                raise ProcessError(f"The translations in langs/{name}/{path.name} are not a mapping of strings")
            texts |= {str(source): str(text) for source, text in value.items()}
    return texts


def is_served(name: str) -> bool:
    """Whether a host function, or a database, answers a process, be the model or the library that it needs there or
    not."""
    if name.partition(".")[0].lower() in MODEL_GROUPS:
        from bindings.models.answers import serves

        return serves(name)
    from bindings import processes

    return processes.find(name) is not None


def _has_mocked_engine(opening: str, world: World) -> bool:
    """Whether a mock of the test answers a method of the engine that `query.<engine>.Open` opens."""
    from bindings.models.answers import QUERY_METHODS

    engine = opening.rpartition(".")[0]
    return world.mocks is not None and any(
        world.mocks.find("process", f"{engine}.{method}") for method in QUERY_METHODS
    )


def _not_available(name: str, world: World) -> ProcessError:
    from bindings.errors import ProcessError

    text = f'Process "{name}" is not available here: mock it with {world.mock("process", name)}'
    return ProcessError(text, 404, missing=True)


class KeptCall(Value):
    """A host call that has its answer."""

    name: str
    arguments: str
    """JSON."""
    envelope: str
    asked: tuple[tuple[str, str], ...] = ()
    """What the host asked the realm before it answered: names of questions, and JSON of arguments."""


def arguments_text(args: list[Any]) -> str:
    """JSON of the arguments of a call: a list, or `{args, kinds}`; what `revived` reads."""
    kinds = {place: "bytes" for place, value in enumerate(args) if isinstance(value, bytes)}
    if not kinds:
        return json.dumps(args)
    from base64 import b64encode

    texts = [b64encode(value).decode() if isinstance(value, bytes) else value for value in args]
    return json.dumps({"args": texts, "kinds": kinds})


def answered_value(envelope: dict[str, Any]) -> Any:
    """The value in an envelope. Raises ProcessError for an error, LookupError and the like for something else."""
    from bindings.errors import ProcessError

    if "error" in envelope:
        error = envelope["error"]
        code = error.get("code")
        failure = ProcessError(str(error["message"]), code if isinstance(code, int) else 500)
        failure.hides_code = error.get("hides_code") is True
        raise failure
    if "bytes" in envelope:
        from base64 import b64decode

        return b64decode(envelope["bytes"])
    return envelope["ok"]


def revived(arguments: str) -> list[Any]:
    """The arguments of a host call from their JSON: a list, or `{args, kinds}` with the kinds of some by their places.
    Of errors, the host gets the messages; undefined is None."""
    given: Any = json.loads(arguments)
    if isinstance(given, list):
        return given
    from base64 import b64decode

    args: list[Any] = given["args"]
    for place, kind in given["kinds"].items():
        if kind == "bytes":
            args[int(place)] = b64decode(args[int(place)])
    return args


def envelope(value: Any, clock: Clock, mocks: Mocks | None = None) -> str:
    """The envelope of a result; with the time, in milliseconds, where the clock is stopped, and with `mocks` that have
    changed during the call."""
    from bindings.errors import ErrorValue

    if isinstance(value, ErrorValue):
        return _told({"returned": {"message": value.message}}, clock, mocks)
    if isinstance(value, bytes):
        from base64 import b64encode

        return _told({"bytes": b64encode(value).decode()}, clock, mocks)
    return _told({"ok": value}, clock, mocks)


def failure_envelope(error: ProcessError, clock: Clock, mocks: Mocks | None = None) -> str:
    """The envelope of an error; with the time and mocks as `envelope`."""
    said: dict[str, Any] = {"message": error.message, "code": error.code}
    if error.infrastructure:
        said["broke"] = True
    if error.hides_code:
        said["hides_code"] = True
    return _told({"error": said}, clock, mocks)


def _told(record: dict[str, Any], clock: Clock, mocks: Mocks | None) -> str:
    record |= clock.told
    if mocks is not None:
        record["mocks"] = mocks.record()
    return json.dumps(record)


class Worlds:
    """The worlds of the running script tests. Threads may share it. The owner must close it."""

    def __init__(self, seed: int | None = None) -> None:
        """`seed`: of `--seed`. The random numbers of a test are seeded with it and the name of the test."""
        self._seed = seed
        self._worlds: dict[TestKey, World] = {}

    def of(self, test: TestKey) -> World:
        """The world of a run of a test."""
        found = self._worlds.get(test)
        if found is None:
            from bindings.world import World  # most tests ask for nothing

            seed = "" if self._seed is None else f"{self._seed} {test.test}"
            found = World(suite=test.suite, test=test.test, run=test.run, seed=seed, of_case=False)
            found.key = test
            found = self._worlds.setdefault(test, found)
        return found

    def known(self, test: TestKey) -> World | None:
        """The world of a run of a test; None when that has asked for nothing."""
        return self._worlds.get(test)

    def end(self, test: TestKey) -> World | None:
        """Closes the world of a run that has ended, and forgets it; None when it has asked for nothing."""
        world = self._worlds.pop(test, None) if self._worlds else None
        if world is not None:
            world.close()
        return world

    def forget(self, module: str, tests: Collection[str] | None) -> None:
        """Closes the worlds of tests of a module, by name, because they run again; None: of all its tests."""
        for key in list(self._worlds):
            if key.suite == module and (tests is None or key.test in tests):
                self.end(key)

    def close(self) -> None:
        """Closes all that are left."""
        while self._worlds:
            self._worlds.popitem()[1].close()
