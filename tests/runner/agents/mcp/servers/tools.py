"""A real MCP server, made with the SDK: `tools.py stdio`, or `tools.py http|sse <descriptor of a listening socket>`."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

from mcp.server.fastmcp import FastMCP

server = FastMCP("tools", log_level="ERROR")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def order(id: int) -> dict[str, object]:
    """An order."""
    return {"id": id, "paid": True}


@server.tool()
def refuse(reason: str) -> str:
    """Fails."""
    raise ValueError(reason)


@server.tool()
def die(code: int) -> str:
    """Ends the server in the middle of a call."""
    sys.stderr.write("disk full\n")
    sys.stderr.flush()
    os._exit(code)


@server.tool()
async def wait_for_file(path: str, started: str) -> str:
    """Answers when a file exists; removes the file `started` when it is cancelled."""
    Path(started).touch()
    try:
        while not Path(path).exists():
            await asyncio.sleep(0.01)
    except asyncio.CancelledError:
        Path(started).unlink()
        raise
    return "there"


@server.tool()
def environment(name: str) -> str:
    """An environment variable of the server."""
    return os.environ.get(name, "")


@server.resource("orders://{id}")
def read_order(id: str) -> str:
    """An order as text."""
    return f"order {id}"


@server.resource("about://shop", mime_type="text/markdown")
def about() -> str:
    """What this is."""
    return "# Shop"


@server.prompt()
def greet(name: str) -> str:
    """Greets someone."""
    return f"Greet {name}"


def main() -> None:
    transport, *rest = sys.argv[1:]
    if transport == "stdio":
        server.run()
        return
    import uvicorn

    app = server.streamable_http_app() if transport == "http" else server.sse_app()
    listening = socket.socket(fileno=int(rest[0]))
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


if __name__ == "__main__":
    main()
