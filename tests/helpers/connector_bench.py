"""A connector file written for the test, the server that it points to, and clocks that do not wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
from command import PATIENCE
from model_server import ModelServer

from runner.connectors.base import Completion, ConnectorError, ModelRequest
from runner.connectors.load import Connectors
from runner.connectors.usage import Timing

T = TypeVar("T")
KEY = "sk-secret-0123456789"


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.now = 1000.0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds
        await asyncio.sleep(0)

    def timing(self) -> Timing:
        return Timing(sleep=self.sleep, monotonic=lambda: self.now, wall=lambda: self.now, random=lambda: 0.5)


class Bench:
    """One connector file, `connectors/test.conn.yao`, that points to the server."""

    def __init__(self, root: Path, server: ModelServer) -> None:
        self.root = root
        self.server = server
        self.clock = Clock()
        self.type = "openai"

    def write(self, **options: Any) -> None:
        content = {"type": self.type, "options": {"host": self.server.url, "model": "m", "key": "$ENV.KEY", **options}}
        path = self.root / "connectors/test.conn.yao"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))

    def run(self, work: Callable[[Connectors], Awaitable[T]], variables: Mapping[str, str] | None = None) -> T:
        async def session() -> T:
            connectors = Connectors(self.root, {"KEY": KEY, **(variables or {})}, self.clock.timing())
            try:
                async with asyncio.timeout(PATIENCE):
                    return await work(connectors)
            finally:
                await connectors.close()

        return asyncio.run(session())

    def ask(self, request: ModelRequest | str = "hi", **options: Any) -> Completion:
        """What the connector answers; `options` go into its file."""
        self.write(**options)
        wanted = asks(request) if isinstance(request, str) else request
        return self.run(lambda connectors: connectors.get("test").complete(wanted))

    def fail(self, request: ModelRequest | str = "hi", **options: Any) -> ConnectorError:
        """How the connector fails."""
        with pytest.raises(ConnectorError) as caught:
            self.ask(request, **options)
        return caught.value

    def sent(self, request: ModelRequest, **options: Any) -> Any:
        """The body of the request that goes out."""
        self.ask(request, **options)
        return self.server.requests[-1].body


def asks(text: str, **fields: Any) -> ModelRequest:
    return ModelRequest(messages=[{"role": "user", "content": text}], **fields)
