"""The compiler with the real esbuild: what becomes of sources when esbuild ends, hangs, or cannot be started."""

from __future__ import annotations

import os
import select
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import scripttest.compile.esbuild as esbuild
from scripttest.compile.compiler import Compiled, Compiler, Source
from scripttest.compile.esbuild import Service
from scripttest.compile.reach import readable
from scripttest.errors import CompileError, HostError

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
        """Who is to blame for a source that failed."""
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


def hanging(folder: Path) -> Source:
    """A source that imports a pipe, which esbuild waits for."""
    os.mkfifo(folder / "pipe.ts")
    file = folder / "hangs_test.ts"
    file.write_text('import { x } from "./pipe";\nexport function TestA() { return x; }\n')
    return Source(key="hangs", test=file, script=None)


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


def test_a_source_that_is_a_pipe_itself_fails(tmp_path: Path, loop: Loop, opened: list[Compiler]) -> None:
    compiler = Compiler(tmp_path, loop, seconds=0.5)
    opened.append(compiler)
    os.mkfifo(tmp_path / "a_test.ts")
    source = Source(key="pipe", test=tmp_path / "a_test.ts", script=None)
    compiler.add([source], loop.done)
    assert loop.run(compiler, [source]) == {"pipe": "The TypeScript compiler did not finish within 0.5s"}


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
