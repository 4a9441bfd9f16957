"""The compiler with the real esbuild: what happens to sources if esbuild ends, hangs, or cannot be started."""

from __future__ import annotations

import json
import os
import select
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import scripttest.compile.esbuild as esbuild
from scripttest.compile.builds import Compiled, Source
from scripttest.compile.compiler import Compiler
from scripttest.compile.configuration import readable
from scripttest.compile.esbuild import Service
from scripttest.results import CompileError, HostError

PATIENCE = 60.0


class Loop:
    """Watches descriptors with `poll`, and keeps what was compiled."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._ready: dict[int, Callable[[], None]] = {}
        self.results: dict[str, Compiled | CompileError] = {}

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        self._ready[descriptor] = ready
        self._poll.register(descriptor, select.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        del self._ready[descriptor]

    def done(self, source: Source, result: Compiled | CompileError) -> None:
        assert source.key not in self.results, "told twice"
        self.results[source.key] = result

    def run(self, compiler: Compiler, sources: list[Source]) -> dict[str, str]:
        """What became of each source: its first line, or the message of the error."""
        give_up = time.monotonic() + PATIENCE
        while len(self.results) < len(sources) and time.monotonic() < give_up:
            for descriptor, _ in self._poll.poll(50):
                self._ready[descriptor]()
            compiler.expire()
        return {key: "compiled" if isinstance(r, Compiled) else r.message for key, r in self.results.items()}

    def cause(self, key: str) -> str:
        """The cause of the failure of a source."""
        result = self.results[key]
        assert isinstance(result, CompileError)
        return result.cause


@pytest.fixture
def loop() -> Loop:
    return Loop()


def sources_in(folder: Path, count: int) -> list[Source]:
    made = []
    for number in range(count):
        file = folder / f"m{number}_test.ts"
        file.write_text(f"export function TestA(t: any) {{ t.log({number}); }}\n")
        made.append(Source(key=f"m{number}", test=file, script=None))
    return made


def package(folder: Path) -> tuple[Source, Path]:
    """A source that imports a package, and the path of a configuration file that only esbuild finds, within it."""
    inner = folder / "node_modules/deep/lib"
    inner.mkdir(parents=True)
    (inner.parent / "package.json").write_text('{"main": "./lib/index.js"}')
    (inner / "index.js").write_text("export const x = 1;")
    file = folder / "hangs_test.ts"
    file.write_text('import { x } from "deep";\nexport function TestA() { return x; }\n')
    return Source(key="hangs", test=file, script=None), inner / "package.json"


def hanging(folder: Path) -> Source:
    """A source whose package has a pipe that esbuild waits for."""
    source, configuration = package(folder)
    os.mkfifo(configuration)
    return source


@pytest.fixture
def without_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a shell script take the place of esbuild, which could not start its shell otherwise."""
    monkeypatch.setattr(esbuild, "confine_compiler", lambda program, folders: None)


def program(folder: Path, text: str) -> Path:
    """A program that takes the place of esbuild."""
    path = folder / "esbuild"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def opened(loop: Loop) -> Iterator[list[Compiler]]:
    made: list[Compiler] = []
    yield made
    for compiler in made:
        compiler.close()


def test_an_esbuild_that_is_killed_while_it_builds_is_started_again(
    tmp_path: Path, loop: Loop, opened: list[Compiler]
) -> None:
    service = Service(readable(tmp_path))
    compiler = Compiler(tmp_path, loop, service)
    opened.append(compiler)
    sources = sources_in(tmp_path, 40)
    compiler.add(sources, loop.done)
    os.kill(service.child.pid, signal.SIGKILL)
    assert loop.run(compiler, sources) == {source.key: "compiled" for source in sources}


def test_an_esbuild_that_ends_between_two_builds_is_started_again(
    tmp_path: Path, loop: Loop, opened: list[Compiler]
) -> None:
    service = Service(readable(tmp_path))
    compiler = Compiler(tmp_path, loop, service)
    opened.append(compiler)
    first, second = sources_in(tmp_path, 2)
    compiler.add([first], loop.done)
    assert loop.run(compiler, [first]) == {"m0": "compiled"}
    os.kill(service.child.pid, signal.SIGKILL)
    compiler.add([second], loop.done)
    assert loop.run(compiler, [first, second])["m1"] == "compiled"


@pytest.mark.parametrize("place", [0, 2, 7])
def test_a_build_that_does_not_end_fails_alone(tmp_path: Path, loop: Loop, opened: list[Compiler], place: int) -> None:
    compiler = Compiler(tmp_path, loop, seconds=0.5)
    opened.append(compiler)
    good = sources_in(tmp_path, 8)
    compiler.add([*good[:place], hanging(tmp_path), *good[place:]], loop.done)
    told = loop.run(compiler, [*good, hanging_key()])
    assert told.pop("hangs") == "The TypeScript compiler did not finish within 0.5s"
    assert told == {source.key: "compiled" for source in good}
    assert loop.cause("hangs") == "timeout"


def hanging_key() -> Source:
    return Source(key="hangs", test=Path("/"), script=None)


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process that runs is bounded on Linux only")
def test_a_build_that_takes_all_memory_fails_alone(
    tmp_path: Path, loop: Loop, opened: list[Compiler], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(esbuild, "ADDRESS_SPACE", 3 << 29)
    compiler = Compiler(tmp_path, loop)
    opened.append(compiler)
    source, configuration = package(tmp_path)
    configuration.touch()
    os.truncate(configuration, 4 << 30)
    good = sources_in(tmp_path, 8)
    compiler.add([*good[:3], source, *good[3:]], loop.done)
    told = loop.run(compiler, [*good, source])
    assert "out of memory" in told.pop("hangs")
    assert told == {one.key: "compiled" for one in good}
    assert loop.cause("hangs") == "crash"


PLACES: dict[str, tuple[str, str]] = {
    "the source": ("a_test.ts", ""),
    "an import": ("other.ts", 'import { x } from "./other"; export const y = x;'),
    "an import in a folder": ("sub/other.ts", 'import { x } from "./sub/other"; export const y = x;'),
    "a text": ("text.txt", 'import x from "./text.txt" with { type: "text" }; export const y = x;'),
    "JSON": ("value.json", 'import x from "./value.json"; export const y = x;'),
    "a source map": ("maps.map", "export const y = 1;\n//# sourceMappingURL=maps.map"),
    "package.json above": ("package.json", "export const y = 1;"),
    "tsconfig.json above": ("tsconfig.json", "export const y = 1;"),
    "jsconfig.json above": ("jsconfig.json", "export const y = 1;"),
    "package.json of a folder": ("sub/package.json", 'import { x } from "./sub/there"; export const y = x;'),
    "package.json of a package": ("node_modules/p/package.json", 'import { x } from "p"; export const y = x;'),
    "tsconfig.json of a folder": ("sub/tsconfig.json", 'import { x } from "./sub"; export const y = x;'),
    "what tsconfig.json extends": ("base.json", "export const y = 1;"),
    "what tsconfig.json maps to": ("mapped/package.json", 'import { x } from "@m/there"; export const y = x;'),
}


@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_what_is_no_file_or_too_large_is_not_opened(tmp_path: Path, opened: list[Compiler], kind: str) -> None:
    """Each in an application of its own; without these judgements esbuild would wait, and this test with it."""
    said = {}
    for number, (what, (name, code)) in enumerate(PLACES.items()):
        root = tmp_path / str(number)
        for file, text in {
            "sub/index.ts": "export const x = 1;",
            "sub/there.ts": "export const x = 1;",
            "mapped/there.ts": "export const x = 1;",
            "node_modules/p/index.js": "export const x = 1;",
            "tsconfig.json": '{"\\u0065xtends": "./base", "compilerOptions": {"paths": {"@m/*": ["./mapped/*"]}}}',
            "a_test.ts": code,
        }.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text)
        (root / name).unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(root / name)
        elif kind == "device":
            (root / name).symlink_to("/dev/zero")
        else:
            (root / name).touch()
            os.truncate(root / name, (64 << 20) + 1)
        loop = Loop()
        compiler = Compiler(root, loop, seconds=PATIENCE)
        opened.append(compiler)
        source = Source(key=what, test=root / "a_test.ts", script=None)
        compiler.add([source], loop.done)
        said[what] = loop.run(compiler, [source])[what]
    reason = {"pipe": "it is a pipe", "device": "it is a device", "large": "it is larger than"}[kind]
    assert said.pop("a source map") == "compiled", "without the map"
    assert [(what, text) for what, text in said.items() if reason not in text] == []
    assert [what for what, text in said.items() if not (PLACES[what][0] in text or "/dev/zero" in text)] == []


def test_a_source_map_that_may_be_read_is_used(tmp_path: Path, loop: Loop, opened: list[Compiler]) -> None:
    (tmp_path / "m0.map").write_text('{"version": 3, "sources": ["first.ts"], "names": [], "mappings": "AAAA"}')
    (source,) = sources_in(tmp_path, 1)
    source.test.write_text(source.test.read_text() + "//# sourceMappingURL=%6d0.map\n")
    compiler = Compiler(tmp_path, loop)
    opened.append(compiler)
    compiler.add([source], loop.done)
    loop.run(compiler, [source])
    compiled = loop.results["m0"]
    assert isinstance(compiled, Compiled)
    assert b"first.ts" in compiled.scripts[-1].source_map


@pytest.mark.parametrize(
    "name", ["a\0b.map", "a%00b.map", "%ff.map", "loop.map", "m0_test.ts/a.map", "a" * 5000, "file:///\0"]
)
def test_a_source_map_that_no_file_can_be_is_not_there(
    tmp_path: Path, loop: Loop, opened: list[Compiler], name: str
) -> None:
    (tmp_path / "loop.map").symlink_to("loop.map")
    (source,) = sources_in(tmp_path, 1)
    source.test.write_text(f"{source.test.read_text()}//# sourceMappingURL={name}\n")
    compiler = Compiler(tmp_path, loop)
    opened.append(compiler)
    compiler.add([source], loop.done)
    assert loop.run(compiler, [source]) == {"m0": "compiled"}


def test_a_type_of_import_that_is_unknown_is_said(tmp_path: Path, loop: Loop, opened: list[Compiler]) -> None:
    (source,) = sources_in(tmp_path, 1)
    source.test.write_text('import x from "./m0_test" with { type: "css" };\nexport const y = x;\n')
    compiler = Compiler(tmp_path, loop)
    opened.append(compiler)
    compiler.add([source], loop.done)
    assert loop.run(compiler, [source]) == {"m0": 'Importing with a type attribute of "css" is not supported'}


def test_code_that_is_about_source_maps_stays_as_it_is(tmp_path: Path, loop: Loop, opened: list[Compiler]) -> None:
    texts = ["//# sourceMappingURL=", "//# sourceMappingURL=data:x", "//# sourceMappingURL=none.js.map"]
    (source,) = sources_in(tmp_path, 1)
    source.test.write_text(f"export const texts = {json.dumps(texts)};\n")
    compiler = Compiler(tmp_path, loop)
    opened.append(compiler)
    compiler.add([source], loop.done)
    loop.run(compiler, [source])
    compiled = loop.results["m0"]
    assert isinstance(compiled, Compiled)
    assert all(text in compiled.scripts[-1].code for text in texts)


@pytest.mark.usefixtures("without_walls")
@pytest.mark.parametrize(
    ("text", "said", "cause"),
    [
        ("exit 3", "exited with code 3", "crash"),
        ("echo out of luck >&2; exit 1", "exited with code 1: out of luck", "crash"),
        ("kill -9 $$", "was killed by signal 9 (SIGKILL)", "infrastructure"),
    ],
)
def test_an_esbuild_that_always_ends_fails_every_source(
    tmp_path: Path,
    loop: Loop,
    opened: list[Compiler],
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    said: str,
    cause: str,
) -> None:
    monkeypatch.setattr(esbuild, "BINARY", program(tmp_path, text))
    compiler = Compiler(tmp_path, loop)
    opened.append(compiler)
    sources = sources_in(tmp_path, 60)
    compiler.add(sources, loop.done)
    assert loop.run(compiler, sources) == {source.key: f"The TypeScript compiler {said}" for source in sources}
    assert {loop.cause(source.key) for source in sources} == {cause}


@pytest.mark.usefixtures("without_walls")
def test_an_esbuild_of_another_version_fails_every_source(
    tmp_path: Path, loop: Loop, opened: list[Compiler], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(esbuild, "BINARY", program(tmp_path, r"printf '\005\000\000\0000.0.1'; cat > /dev/null"))
    compiler = Compiler(tmp_path, loop)
    opened.append(compiler)
    sources = sources_in(tmp_path, 3)
    compiler.add(sources, loop.done)
    needed = f"The TypeScript compiler is version 0.0.1, this package needs {esbuild.VERSION}"
    assert loop.run(compiler, sources) == {source.key: needed for source in sources}


def test_a_missing_esbuild_is_an_error_of_the_host(tmp_path: Path, loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(esbuild, "BINARY", tmp_path / "nothing")
    with pytest.raises(HostError, match="Cannot start the TypeScript compiler"):
        Compiler(tmp_path, loop).add(sources_in(tmp_path, 1), loop.done)


ADDRESSES = [
    "data:text/javascript,export default 1",
    "DATA:text/plain,hi",
    "data:text/javascript;base64," + "ZXhwb3J0" * 20,
    "http://127.0.0.1:1/x.js",
    "https://example.com/x.js",
    "//example.com/x.js",
    "file:///etc/passwd",
    "blob:https://a/b",
]
OTHER_SCHEMES = ["node:fs", "bun:sqlite", "npm:left-pad", "yao-runtime:/etc/passwd", "javascript:1", "#internal", ""]


def test_an_import_names_a_file_and_no_address(tmp_path: Path, loop: Loop, opened: list[Compiler]) -> None:
    compiler = Compiler(tmp_path, loop)
    opened.append(compiler)
    sources = []
    for number, name in enumerate([*ADDRESSES, *OTHER_SCHEMES]):
        file = tmp_path / f"m{number}_test.ts"
        file.write_text(f'import x from "{name}";\nexport function TestA() {{ return x; }}\n')
        sources.append(Source(key=name, test=file, script=None))
    late = tmp_path / "late_test.ts"
    late.write_text('export async function TestA() { try { await import("https://a/b.js"); } catch {} }\n')
    compiler.add([*sources, Source(key="late", test=late, script=None)], loop.done)
    told = loop.run(compiler, [*sources, Source(key="late", test=late, script=None)])
    assert told.pop("late") == "compiled"
    assert {name for name in ADDRESSES if not told[name].startswith(f'Cannot import: "{name[:60]}')} == set()
    assert {name for name in ADDRESSES if "is a URL, but only files can be imported" not in told[name]} == set()
    assert {name for name in OTHER_SCHEMES if not told[name].startswith(f'Cannot find module "{name}"')} == set()


def test_a_compiler_that_has_used_its_time_of_the_processor_is_replaced(
    tmp_path: Path, loop: Loop, opened: list[Compiler], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(esbuild, "PROCESSOR_SECONDS", 1)
    compiler = Compiler(tmp_path, loop)
    opened.append(compiler)
    source = Source(key="long", test=tmp_path / "long_test.ts", script=None)
    for name in ("b", "c"):
        (tmp_path / f"{name}.ts").write_text(
            "export const x = [" + "((a) => { return a?.b ?? a; })," * 390_000 + "];\n"
        )
    source.test.write_text('export * as b from "./b";\nexport * as c from "./c";\n')
    good = sources_in(tmp_path, 3)
    compiler.add([*good[:2], source, good[2]], loop.done)
    told = loop.run(compiler, [*good, source])
    assert "was killed by signal" in told.pop("long")
    assert told == {one.key: "compiled" for one in good}
