"""Runs that record and replay model calls."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from connector_bench import Bench, asks

from runner.answers.recording import Mode, Recording, check_folder
from runner.connectors.base import Completion, ConnectorError, ModelRequest, Origin
from runner.connectors.load import Connectors

T = TypeVar("T")
CASE = Origin(suite="suite", case="case")
OTHER = Origin(suite="suite", case="other")
FILE = "suite/case.json"


def state_of(path: Path) -> tuple[int, int, int]:
    """What a write changes of a file."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


class Recorded:
    """Runs that share a folder of recordings."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.bench = bench
        self.folder = folder

    def run(
        self,
        mode: Mode,
        work: Callable[[Session], Awaitable[T]],
        redact: Callable[[str], str] = str,
        options: dict[str, Any] | None = None,
        variables: dict[str, str] | None = None,
    ) -> T:
        """One run: what `work` does in it, then the end of it."""
        self.bench.write(**(options or {}))
        check_folder("rec", self.folder, mode)
        recording = Recording(self.folder, "rec", mode, self.bench.root, redact)
        return self.bench.run(lambda connectors: work(Session(recording, connectors)), variables)

    def record(self, *texts: str | ModelRequest, origin: Origin = CASE, mode: Mode = "record") -> list[str]:
        """What one case is answered."""

        async def work(session: Session) -> list[str]:
            answers = [(await session.ask(text, origin)).content for text in texts]
            session.end(origin)
            return answers

        return self.run(mode, work)

    def fails(self, text: str | ModelRequest, **more: Any) -> str:
        """How a replay of one request fails."""

        async def work(session: Session) -> str:
            with pytest.raises(ConnectorError) as caught:
                await session.ask(text)
            assert session.recording.misses(CASE.key) == [caught.value.message]
            return caught.value.message

        return self.run("replay", work, **more)

    @property
    def files(self) -> list[str]:
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())

    def content(self, name: str = FILE) -> Any:
        return json.loads((self.folder / name).read_text())

    def answers(self, name: str = FILE) -> list[str]:
        return [call["completion"]["content"] for call in self.content(name)["calls"]]


class Session:
    """One run."""

    def __init__(self, recording: Recording, connectors: Connectors) -> None:
        self.recording = recording
        self.connectors = connectors

    async def ask(self, request: str | ModelRequest, origin: Origin = CASE) -> Completion:
        wanted = asks(request) if isinstance(request, str) else request
        return (await self.recording.complete(origin, "test", wanted, self.connectors)).completion

    def end(self, origin: Origin = CASE, status: str = "passed") -> None:
        self.recording.end(origin.suite, origin.case, status)
