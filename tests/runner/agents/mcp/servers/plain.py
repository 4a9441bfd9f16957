"""A server over stdio with some tools of `tools.py`, for tests that end it, or need what every server has. It speaks the
protocol by hand: the SDK takes half a second of the processor to start."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

NAMES = ("add", "refuse", "die", "environment")


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a tool answers; `die` ends the server in the middle of the call."""
    if name == "die":
        sys.stderr.write("disk full\n")
        sys.stderr.flush()
        os._exit(arguments["code"])
    if name == "refuse":
        return {"content": [{"type": "text", "text": arguments["reason"]}], "isError": True}
    said = arguments["a"] + arguments["b"] if name == "add" else os.environ.get(arguments["name"], "")
    return {"content": [{"type": "text", "text": str(said)}]}


def answer(method: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    if method == "initialize":
        about = {"name": "plain", "version": "1"}
        return {"protocolVersion": asked["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]}
    return call(asked["name"], asked["arguments"])


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)  # noqa: T201
