"""Compiles TypeScript to plain scripts with source maps, in one esbuild process for all modules of a run.

A module becomes one or two scripts, which are evaluated in the global scope, so that each top-level function is a
global, as in Yao. One is the bundle of the test file. If the test file does not import the module under test, the
bundle of that module comes before it. Bundles are flat (`format=esm`) and nothing is removed from them; `linking`
removes their export clause. A `.js` file without module syntax is not bundled: it stays a sloppy script, in which the
last declaration of a name wins, as in Yao.

What this file has to consider about esbuild:

- Bundling replaces `const`, `let` and `class` at the top level by `var`, and drops `"use strict"`; see `linking`.
- It renames what has a name twice; see `linking`.
- One bad entry point fails the whole build. So the modules of a failed batch are built again one by one.
- A build takes about 1 ms besides the time for its files. So modules are built in batches.
- With `async-await=false`, it writes `async` functions as generators. The bindings run these, and so know about
  unhandled rejections and unfinished calls."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from scripttest.compile.boundary import Boundary
from scripttest.compile.builds import Build, Compiled, KeptModules, Source
from scripttest.compile.configuration import Configuration, maps_scripts, readable
from scripttest.compile.esbuild import (
    BUNDLE_FLAGS,
    FLAGS,
    KEEP_NAMES,
    PLAIN_FLAGS,
    RUNTIME_SOURCE,
    Service,
    ServiceEndedError,
    build_request,
)
from scripttest.compile.linking import Linker, Output, has_other_names
from scripttest.compile.messages import (
    Spelling,
    compile_error,
    missing_exports,
    not_at_hand,
    plainly_named,
    problem,
    refusal,
)
from scripttest.files import CODE, RefusedFileError
from scripttest.process import Ending
from scripttest.results import Cause, CompileError, HostError, Location
from scripttest.typing_names import Protocol
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


FIRST_BATCH = 4
"""Modules in the first batch: small, so that the first tests start early."""
BATCH = 25
"""Modules in each further batch."""
IN_FLIGHT = 2
"""Batches that are built at the same time."""
BUILD_SECONDS = 30.0
"""Seconds that a build may take."""
MAX_ENDS = 5
"""How often esbuild may end before it answers a build again; then all that is left fails."""

_LOADERS = {"text": "text", "bytes": "binary", "json": "json"}
"""Type of an import → esbuild's loader; for all others the extension says it."""
_REPLACE = "Replace it with a file of the application"


Done = Callable[[Source, Compiled | CompileError], None]
"""Called with the result of a source."""


class Loaded(Value):
    """What takes the place of the text of a file."""

    code: bytes
    loader: str
    """The name of esbuild's loader."""


Instrument = Callable[[str, bytes], Loaded | None]
"""Gets the path and the text of each file before it is built, and returns a new text; None leaves it as it is."""


class Watcher(Protocol):
    """Waits for descriptors with data to read: a loop of `poll`, or an event loop."""

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        """Calls `ready` whenever there is something to read."""

    def unwatch(self, descriptor: int) -> None:
        """Forgets a descriptor, which is still open."""


class Compiler:
    """Compiles sources in batches, on the thread of its watcher, and survives the end of esbuild.

    When the process ends, or a build takes too long, a new one is started and the sources that were being built are
    built again, each alone. A source with which that happens once more fails; the others go on."""

    def __init__(
        self,
        root: Path,
        watcher: Watcher,
        service: Service | None = None,
        seconds: float = BUILD_SECONDS,
        instrument: Instrument | None = None,
        kept: str | None = None,
    ) -> None:
        """Makes a compiler for the application at `root`.

        Args:
            watcher: the thread that waits for the answers of esbuild.
            service: a running esbuild process, which `close` ends. None: one is started for the first source.
            seconds: time limit of a build.
            instrument: changes the compiled code of files, to measure coverage.
            kept: the folder of what earlier runs have compiled; unused with `instrument`."""
        self._instrument = instrument
        self._root = root
        self._watcher = watcher
        self._seconds = seconds
        self._boundary = Boundary(root)
        self._configuration = Configuration(self._boundary)
        self._linker = Linker(root)
        self._kept = KeptModules(kept, root, self._boundary) if kept is not None and instrument is None else None
        self._spelling = Spelling(root)
        self._service = service
        self._unseen: list[Source] = []
        """What is to be looked for among what was kept."""
        self._queue: list[list[Source]] = []
        self._alone: list[Source] = []
        """What was being built when esbuild ended."""
        self._again: set[str] = set()
        """Keys of the sources that have been in `_alone`."""
        self._ends = 0
        """How often esbuild ended since it last answered a build."""
        self._done: dict[str, Done] = {}
        self._building: dict[int, Build] = {}
        flags = [*FLAGS, f"--outdir={root}"]
        self._plain_flags = [*PLAIN_FLAGS, *flags]
        self._bundle_flags = [*BUNDLE_FLAGS, *flags]
        if not maps_scripts(root):
            self._bundle_flags.append(f"--alias:@scripts={root / 'scripts'}")
        if service is not None:
            watcher.watch(service.child.stdout, self._answered)

    @property
    def deadline(self) -> float | None:
        """Monotonic time at which `expire` is to be called, unless this has changed by then; None: nothing is being
        built."""
        return min((build.deadline for build in self._building.values()), default=None)

    def add(self, sources: list[Source], done: Done) -> None:
        """Asks for sources, in the order in which they are wanted; what must not be compiled is told at once. Raises
        HostError when esbuild cannot be started."""
        asked, sources = sources, []
        for source in asked:
            self._done[source.key] = done
            self._boundary.admit(source.test)
            unreadable = self._configuration.problem(str(source.test.parent))
            if unreadable is None:
                sources.append(source)
            else:
                place = Location(file=str(source.test), line=0, column=0)
                self._tell(source, CompileError(f"The compiler cannot read {unreadable}", place, _REPLACE))
        self._unseen += sources
        self.look(FIRST_BATCH if self._kept is not None else len(sources))

    def look(self, most: int = BATCH) -> bool:
        """Tells what earlier runs have kept of the next sources, and has the others built. Returns whether it shall be
        called again. Raises HostError as `add`."""
        taken, self._unseen = self._unseen[:most], self._unseen[most:]
        known = {source: self._kept.find(source) for source in taken} if self._kept is not None else {}
        others = [source for source in taken if known.get(source) is None]
        first = 0 if self._queue or self._alone or self._building else FIRST_BATCH
        batches = [others[:first], *(others[at : at + BATCH] for at in range(first, len(others), BATCH))]
        self._queue += [batch for batch in batches if batch]
        for source, compiled in known.items():
            if compiled is not None:
                self._tell(source, compiled)
        if taken:
            self._feed()
        return bool(self._unseen)

    def expire(self) -> None:
        """Ends a build whose time is up, and esbuild with it."""
        if self.deadline is None or self.deadline > time.monotonic():
            return
        error = CompileError(
            f"The TypeScript compiler did not finish within {self._seconds:g}s",
            hint="An import that is a pipe or a device instead of a file may have blocked it",
        )
        error.cause = Cause.TIMEOUT
        self.close()
        self._ended(error)

    def kill(self) -> None:
        """Kills esbuild; `close` waits for its end."""
        if self._service is not None:
            self._service.child.kill()

    def release(self) -> Service | None:
        """The process for another compiler; None if it has ended, or is busy."""
        service, self._service = (None, self._service) if self._building else (self._service, None)
        if service is not None:
            self._watcher.unwatch(service.child.stdout)
        return service

    def close(self) -> Ending | None:
        """Ends esbuild, and says how it ended; None: it did not run."""
        if self._service is None:
            return None
        child = self._service.child
        self._service = None
        self._watcher.unwatch(child.stdout)
        return child.end()

    def _answered(self) -> None:
        service = self._service
        assert service is not None
        try:
            packets = list(service.read())
            service.respond([(id, self._plugin(value)) for id, is_request, value in packets if is_request])
            for id, is_request, value in packets:
                if not is_request:
                    build = self._building.pop(id)
                    self._ends = 0
                    for source, result in self._finish(build, value):
                        self._tell(source, result)
        except ServiceEndedError:
            ending = self.close()
            assert ending is not None
            error = CompileError(f"The TypeScript compiler {ending.text}")
            error.cause = Cause.INFRASTRUCTURE if ending.was_killed else Cause.CRASH
            self._ended(error)
            return
        except HostError as broken:
            self.close()
            self._ends = MAX_ENDS
            self._ended(not_at_hand(broken))
            return
        self._feed()

    def _ended(self, error: CompileError) -> None:
        """Called when esbuild has ended: what was being built is built again, or fails."""
        self._ends += 1
        sources = [source for build in self._building.values() for source in build.sources]
        self._building.clear()
        failed = [source for source in sources if source.key in self._again]
        self._alone += [source for source in sources if source.key not in self._again]
        self._again |= {source.key for source in sources}
        if self._ends >= MAX_ENDS:
            failed += [*self._alone, *(source for group in self._queue for source in group)]
            self._alone.clear()
            self._queue.clear()
        for source in failed:
            located = CompileError(error.message, Location(file=str(source.test), line=0, column=0), error.hint)
            located.cause = error.cause
            self._tell(source, located)
        try:
            self._feed()
        except HostError as broken:
            self._ends = MAX_ENDS
            self._ended(not_at_hand(broken))

    def _tell(self, source: Source, result: Compiled | CompileError) -> None:
        self._done.pop(source.key)(source, result)

    def _feed(self) -> None:
        while (self._alone or self._queue) and len(self._building) < (1 if self._alone else IN_FLIGHT):
            if self._service is None:
                self._service = Service(readable(self._root))
                self._watcher.watch(self._service.child.stdout, self._answered)
            self._build(Build([self._alone.pop(0)] if self._alone else self._queue.pop(0), self._boundary, {}, None))

    def _build(self, build: Build) -> None:
        entries = build.entries()
        service = self._service
        assert service is not None
        build.deadline = time.monotonic() + self._seconds
        flags = self._plain_flags if build.is_plain else self._bundle_flags
        flags = [*flags, KEEP_NAMES] if build.keeps_names else flags
        id = service.request(build_request(service.next_id, entries, flags, self._root, self._spelling.matters))
        self._building[id] = build

    def _plugin(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["command"] == "on-resolve" and 0 not in request["ids"]:
            path, is_statement = request["path"], request["kind"] == "import-statement"  # `import()` may be in a `try`
            problem = self._configuration.problem_of_address(path) if is_statement else None
            problem = problem or self._configuration.problem_of_import(path, request["resolveDir"])
            if problem:
                return {"id": 3, "errors": [refusal(problem)]}
            return {"id": 3, **found} if (found := self._spelling.answer(request)) else {}
        if request["command"] == "on-resolve":
            return {"id": 0, "path": request["path"], "namespace": "yao-runtime"}
        if request["command"] == "on-load" and request["namespace"] == "yao-runtime":
            return {"id": 1, "contents": RUNTIME_SOURCE.encode(), "loader": "js"}
        if request["command"] == "on-load":
            return {"id": 2, **self._loaded(request["path"], request["with"], self._building[request["key"]])}
        return {"errors": [], "warnings": []}

    def _loaded(self, path: str, attributes: dict[str, str], build: Build) -> dict[str, Any]:
        """The content of a file that is imported, or why it is not: esbuild opens none of them itself."""
        try:
            content = build.contents.get(path) if not attributes else None
            if content is None:
                content = self._boundary.source(path, attributes.get("type"))
        except OSError as error:
            name = _relative(Path(path), self._root)
            refused = isinstance(error, RefusedFileError)
            text = f"{name}: {error.strerror}" if refused else f'Cannot read file "{name}": {error.strerror}'
            return {"errors": [refusal(text) if refused else problem(text)]}
        if attributes and attributes.get("type") not in _LOADERS:
            return {}  # esbuild says which it does not know
        loader = _LOADERS.get(attributes.get("type", ""), "default")
        if not attributes and path.endswith(CODE):
            self._linker.note(path, content)
            build.contents[path] = content
        if self._instrument is not None and not attributes and (loaded := self._instrument(path, content)) is not None:
            content, loader = loaded.code, loaded.loader
        if path in build.overlay:
            content += f"\nexport {{ {', '.join(sorted(build.overlay[path]))} }};".encode()
        return {"contents": content, "loader": loader}

    def _finish(self, build: Build, answer: dict[str, Any]) -> Iterator[tuple[Source, Compiled | CompileError]]:
        said = answer["errors"] + answer["warnings"]
        answer["metafile"] = json.loads(answer.get("metafile") or '{"inputs": {}, "outputs": {}}')
        again, misspelt = self._spelling.learn(answer, missing_exports(said, self._root))
        if again:
            self._queue.insert(0, build.sources)
            return
        errors = misspelt + answer["errors"]
        if errors and len(build.sources) > 1:
            self._queue[:0] = [[source] for source in build.sources]
            return
        if said := errors + answer["warnings"]:
            missing = missing_exports(said, self._root)
            if missing and build.refused is None:
                for source in build.sources:
                    refused = compile_error(source.test, said, self._boundary)
                    self._build(Build([source], self._boundary, missing, refused))
                return
            if errors:
                source = build.sources[0]
                yield source, build.refused or compile_error(source.test, errors, self._boundary)
                return
        if build.add(answer):
            if self._spelling.matters:
                plainly_named(build.files, build.outputs)
            yield from self._outputs(build)
        else:
            self._build(build)

    def _outputs(self, build: Build) -> Iterator[tuple[Source, Compiled | CompileError]]:
        outputs = build.outputs
        late, renamed = [], []
        for number, source in enumerate(build.sources):
            names = [f"{number}.test.js"]
            if source.script is not None:
                entry = outputs[f"{number}.test.js"]["inputs"]
                imported = _relative(source.script, self._root) in entry
                if not imported and source.key not in build.alongside:
                    late.append(source)
                    continue
                if not imported:
                    names.insert(0, f"{number}.script.js")
            parts = [build.output(name) for name in names]
            if not build.keeps_names and any(has_other_names(part.code, part.source_map) for part in parts):
                renamed.append(source)
                continue
            inputs = dict.fromkeys(path for name in names for path in outputs[name]["inputs"])
            compiled = self._compiled(source, parts).replace(inputs=tuple(inputs), text=build.inline.get(source.key))
            if self._kept is not None and not self._spelling.matters:
                self._kept.keep(compiled, build)
            yield source, compiled
        for again, has_scripts, keeps_names in ((late, True, build.keeps_names), (renamed, build.with_scripts, True)):
            if again:
                self._build(Build(again, self._boundary, build.overlay, build.refused, has_scripts, keeps_names))

    def _compiled(self, source: Source, parts: list[Output]) -> Compiled:
        scripts, exports = self._linker.scripts(parts)
        start = scripts[-1].code.rfind(f"\n// {_relative(source.test, self._root)}\n")
        return Compiled(source=source, scripts=scripts, entry_start=max(start, 0), exports=exports)


def _relative(path: Path, root: Path) -> str:
    return str(path).removeprefix(f"{root}/")
