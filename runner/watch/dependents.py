"""Which suites depend on a file: their fingerprints say it, as a watched run sees them in its events."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from runner.errors import ConfigurationError
from runner.execution.run import Observer
from runner.execution.stopping import Stop
from runner.parts import Dependency, dependency_in
from runner.record.events import Event, RunStart, SuiteEnd, TestEnd
from runner.security.files import CODE
from scripttest import Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.connectors.load import Connectors
    from runner.fingerprints.parts import PartDigests
    from runner.record.fold import Execution
    from runner.record.model import Suite, TestResult
    from scripttest import Processes


FOR_ALL = ("tsconfig", "jsconfig", "package.json", "app.yao", "yao-test.toml", ".env")
"""Beginnings of names of files on which everything depends."""
DEFINITIONS = (*CODE, ".yao", ".yml", ".yaml", ".jsonc")
"""Files that suites may have read which have no result yet."""
SOURCES = (*DEFINITIONS, ".json", ".jsonl", ".txt")
"""Files that suites may want which could not be loaded."""
ATTACHMENTS = "attachments"
OF_FILES = ("script", "module", ATTACHMENTS)
"""Kinds of parts that consist of several files."""
NOT_SHARED = (*OF_FILES, "env", "recording")
"""Kinds of which the digest says nothing to other runs, or which have files of their own."""

OF_MODELS = ("agent", "prompts", "model", "connector", "server")
"""Kinds that decide what a model is asked."""


class Dependents:
    """What suites depend on. Filled while tests run, on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._suites: dict[str, Suite] = {}
        self._parts: dict[str, dict[Dependency, str]] = {}
        """Suite → the parts of its results, with their digests."""
        self._files: dict[Dependency, frozenset[str]] = {}
        """Script, or attachments → its files."""
        self._broken: set[str] = set()
        """Modules that could not be loaded, and case files whose agent cannot be used."""
        self._waiting: set[str] = set()
        """Suites that have begun for the first time, and of which nothing is known yet."""
        self._sends_otherwise: set[str] = set()
        """Suites whose attachments have changed since they ran."""
        self._begun: set[str] = set()
        """Suites that have begun: what is known about them is valid until their first result."""

    def begin(self, suites: Mapping[str, Suite]) -> None:
        """Suites run from now on."""
        with self._lock:
            self._waiting |= suites.keys() - self._suites.keys()
            self._suites |= suites
            self._begun |= suites.keys()
            self._sends_otherwise -= suites.keys()

    def take(self, result: TestResult) -> None:
        """Learns from a result."""
        with self._lock:
            if result.suite in self._begun:
                self._begun.discard(result.suite)
                self._broken.discard(result.suite)
                self._parts[result.suite] = {}
            fingerprint = result.fingerprint or {}
            found = {part: digest for key, digest in fingerprint.items() if (part := dependency_in(key)) is not None}
            if ATTACHMENTS in fingerprint:
                found[Dependency(kind=ATTACHMENTS, name=fingerprint[ATTACHMENTS])] = fingerprint[ATTACHMENTS]
            self._parts[result.suite].update(found)
            if not found and result.outcome.status == Status.FAILED:
                self._broken.add(result.suite)

    def end(self, suite: str) -> None:
        """Everything that a suite depends on is known."""
        with self._lock:
            self._waiting.discard(suite)

    def learn(self, files: Mapping[Dependency, frozenset[str]]) -> None:
        """Learns of which files scripts are made."""
        with self._lock:
            for part, of in files.items():
                if (known := self._files.get(part)) is of:
                    continue
                if known is not None and part.kind == ATTACHMENTS:  # other suites send it from elsewhere
                    self._files[part] = of | known
                else:
                    self._files[part] = of

    def affected(self, changed: Collection[str], now: Callable[[], PartDigests]) -> set[str]:
        """The suites that depend on changed files; `now` makes the digests of what there is."""
        paths = set(changed)
        if any(Path(path).name.startswith(FOR_ALL) for path in paths):
            return set(self._suites)
        has_source = any(path.endswith(SOURCES) for path in paths)
        has_definition = any(path.endswith(DEFINITIONS) for path in paths)
        with self._lock:
            suites = [(id, suite, dict(self._parts.get(id, {}))) for id, suite in self._suites.items()]
            files, broken, waiting = dict(self._files), set(self._broken), set(self._waiting)
        included = frozenset[str]().union(*files.values())
        instead = {_imported_as(path) for path in paths - included if path.endswith(SOURCES)}
        found, digests = set(), None
        for id, suite, parts in suites:
            own = {*([suite.file] if suite.file else []), *self._module_files(suite, files)}
            scripts = [part for part in parts if part.kind in OF_FILES]
            if any(paths & files.get(part, set()) for part in scripts if part.kind == ATTACHMENTS):
                with self._lock:
                    self._sends_otherwise.add(id)
            if (
                paths & own
                or (has_source and id in broken)
                or (has_definition and id in waiting)
                or any(paths & files.get(part, set()) for part in scripts)
                or (instead and any(_imported_as(path) in instead for part in scripts for path in files.get(part, ())))
            ):
                found.add(id)
                continue
            others = {part: digest for part, digest in parts.items() if part.kind not in NOT_SHARED}
            if others:
                digests = digests or now()
                if any(digests.of(part) != digest for part, digest in others.items()):
                    found.add(id)
        return found

    def asks_models(self, suite: str, connectors: Connectors) -> bool:
        """Whether real models answered in a suite."""
        with self._lock:
            ids = [part.name for part in self._parts.get(suite, ()) if part.kind == "connector"]
        try:
            return any(not connectors.is_scripted(id) for id in ids)
        except ConfigurationError:
            return False

    def asks_otherwise(self, suite: str, now: PartDigests) -> bool:
        """Whether what models were asked in a suite has changed, as far as that is known before it runs."""
        with self._lock:
            parts = dict(self._parts.get(suite, {}))
            if suite in self._sends_otherwise:
                return True
        return any(now.of(part) != digest for part, digest in parts.items() if part.kind in OF_MODELS)

    def knows(self, suite: str) -> bool:
        """Whether a suite has run."""
        return suite in self._suites

    def _module_files(self, suite: Suite, files: Mapping[Dependency, frozenset[str]]) -> frozenset[str]:
        """The files of a test module, also of one without results."""
        if suite.has_cases:
            return frozenset()
        return next((of for part, of in files.items() if part.kind == "module" and suite.file in of), frozenset())


def _imported_as(path: str) -> str:
    """What an import writes for a script: its path without the extension, or the folder of an `index`."""
    name = os.path.splitext(path)[0]
    return os.path.dirname(name) if os.path.basename(name) == "index" else name


class ObservedRun(Observer):
    """One run that `--watch` has started."""

    with_fingerprints = keeps = True

    def __init__(
        self,
        dependents: Dependents,
        processes: Processes | None,
        expect: Callable[[Path, bytes], None],
        held_back: Callable[[str], str | None] | None,
        begun: Callable[[], None],
    ) -> None:
        """`expect` is told what the run writes; `begun` is called when `open` is known."""
        super().__init__(Stop(), processes)
        self._begun = begun
        self._expect = expect
        self.held_back = held_back
        self.is_given_up = False
        """Whether a key stopped it."""
        self.open: frozenset[str] = frozenset()
        """Suites that have not ended."""
        self.kept: dict[str, dict[str, str]] = {}
        """Suite → its tests and how they ended."""
        self._dependents = dependents
        self._parts: PartDigests | None = None
        self._learned = 0
        """Of how many scripts the files are known."""

    def begin(self, parts: PartDigests) -> None:
        """See `Observer`."""
        self._parts = parts

    def learn(self) -> None:
        """Learns of which files the scripts are made that are compiled by now. From any thread."""
        if self._parts is not None:
            files = dict(self._parts.files)
            self._learned = len(files)
            self._dependents.learn(files)

    def writes(self, path: Path, content: bytes) -> None:
        """See `Observer`."""
        self._expect(path, content)

    def on_event(self, event: Event, so_far: Execution) -> None:
        """See `Observer`."""
        assert self._parts is not None
        if isinstance(event, RunStart):
            self.open = frozenset(so_far.suites)
            self._dependents.begin(so_far.suites)
            self._begun()
        elif isinstance(event, TestEnd):
            if len(self._parts.files) != self._learned:
                self.learn()
            self._dependents.take(event.result)
            self.kept.setdefault(event.result.suite, {})[event.result.name] = event.result.outcome.status
        elif isinstance(event, SuiteEnd):
            self.learn()
            self._dependents.end(event.suite)
            self.open = self.open - {event.suite}  # other threads read it
