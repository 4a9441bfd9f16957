"""An application with MCP servers, written for a test, and what its processes were called with."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from bindings import ProcessError
from runner.agents.mcp.servers import Servers

T = TypeVar("T")
Value = Any
SERVERS = Path(__file__).parent / "servers"
MARK = "YAO_TEST_MCP_MARK"


def write(root: Path, files: Mapping[str, Value]) -> None:
    """Writes files: texts as they are, anything else as JSON."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))


class Processes:
    """Stands for the run: answers processes, and keeps what they were called with."""

    def __init__(self, answers: Mapping[str, Value]) -> None:
        self.answers = answers
        self.calls: list[tuple[str, list[Value], Value]] = []

    async def call(self, name: str, arguments: list[Value], context: Value) -> Value:
        self.calls.append((name, arguments, context))
        await asyncio.sleep(0)
        answer = self.answers[name]
        if isinstance(answer, ProcessError):
            raise answer
        return answer


def use(
    root: Path,
    action: Callable[[Servers], Awaitable[T]],
    processes: Processes | None = None,
    variables: Mapping[str, str] | None = None,
) -> T:
    """Does something with the servers of an application and closes them."""

    async def main() -> T:
        servers = Servers(root, variables or {}, (processes or Processes({})).call)
        try:
            return await action(servers)
        finally:
            await servers.close()

    return asyncio.run(main())


def program(name: str, *arguments: str, mark: str = "") -> dict[str, Value]:
    """The definition of a server over stdio that is one of the programs in `servers/`."""
    return {
        "transport": "stdio",
        "command": sys.executable,
        "arguments": [str(SERVERS / f"{name}.py"), *arguments],
        "env": {MARK: mark, "GREETING": "$ENV.GREETING"} if mark == "greeting" else {MARK: mark},
    }


def marked(mark: str) -> list[str]:
    """Commands of the processes whose environment has the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found
