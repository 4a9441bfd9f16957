"""A server over stdio that speaks the protocol by hand, and does what the SDK's would not; see `BEHAVIOURS`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

BEHAVIOURS = {
    "leaves": "starts another process, and ends with code 3 before it says hello",
    "mute": "reads, and never answers",
    "deaf": "does not answer calls",
    "stubborn": "goes on when its input is closed and when it gets SIGTERM",
    "noisy": "writes prose to stdout and notifications that nobody knows",
    "refusing": "answers the greeting, or calls, with an error of the code in the arguments, and its process id",
    "flooding": "writes notifications without end once it is called, to stdout and to stderr",
    "endless": "writes a line without end once it is called",
    "hostile": "has tools with schemas that ask for endless work, for what they take and for what they answer",
    "careless": "has tools that do not answer what they say",
    "wrong": "answers requests of a method with the line in the arguments, where ID is the id",
    "asking": "asks for what nobody knows, and whether the other side lives, and answers requests that nobody made, before it answers",
}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


PARTS = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
ENDLESS = {"type": "object", "allOf": [{"$ref": "#/$defs/d0"}], "$defs": {**PARTS, "d60": {}}}
SLOW = {"type": "object", "properties": {"said": {"type": "string", "pattern": "^(a|aa)+$"}}}
STRICT = {"type": "object", "properties": {"said": {"type": "integer"}}}
TOOLS = {
    "hostile": [
        {"name": "take", "inputSchema": ENDLESS},
        {"name": "give", "inputSchema": {"type": "object"}, "outputSchema": ENDLESS},
        {"name": "match", "inputSchema": {"type": "object"}, "outputSchema": SLOW},
    ],
    "careless": [
        {"name": "wrong", "inputSchema": {"type": "object"}, "outputSchema": STRICT},
        {"name": "nothing", "inputSchema": {"type": "object"}, "outputSchema": STRICT},
    ],
}
"""Behaviour → the tools of it."""


def answer(request: dict[str, Any], behaviour: str) -> dict[str, Any]:
    if request["method"] == "initialize":
        return {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "rude", "version": "1"},
        }
    if behaviour in TOOLS:
        if request["method"] == "tools/list":
            return {"tools": TOOLS[behaviour]}
        said = {"content": [{"type": "text", "text": "said"}]}
        return (
            said if request["params"]["name"] == "nothing" else {**said, "structuredContent": {"said": "a" * 60 + "!"}}
        )
    if request["method"] == "tools/list":
        schema = {"type": "object", "properties": {"code": {"type": "string", "pattern": "^(?!0)"}}}
        if "cursor" not in request.get("params", {}):
            return {"tools": [{"name": "one", "inputSchema": schema}], "nextCursor": "2"}
        return {"tools": [{"name": "two", "inputSchema": schema}]}
    return {"content": [{"type": "text", "text": json.dumps(request["params"]["arguments"])}]}


def main(behaviour: str, *arguments: str) -> None:
    if behaviour == "leaves":
        subprocess.Popen(["sleep", "600"])
        sys.stderr.write("no licence\n")
        sys.exit(3)
    if behaviour == "stubborn":
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behaviour == "noisy":
        sys.stdout.write("Welcome!\n")
    while line := sys.stdin.readline():
        request = json.loads(line)
        deaf = behaviour == "deaf" and request.get("method") == "tools/call"
        if behaviour == "mute" or deaf or "id" not in request or "method" not in request:
            continue
        called = request["method"] == "tools/call"
        if behaviour == "refusing" and request["method"] == arguments[0]:
            error = {"code": int(arguments[1]), "message": f"{arguments[2]} {os.getpid()}"}
            send({"id": request["id"], "error": error})
            continue
        if behaviour == "wrong" and request["method"] == arguments[0]:
            sys.stdout.write(arguments[1].replace("ID", str(request["id"])) + "\n")
            sys.stdout.flush()
            continue
        while behaviour == "flooding" and called:
            send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 100_000}})
            sys.stderr.write("y" * 100_000 + "\n")
        while behaviour == "endless" and called:
            sys.stdout.write("z" * 1_000_000)
        if behaviour == "asking":
            send({"id": "mine", "method": "nobody/knows"})
            wrong = json.loads(sys.stdin.readline()) if request["method"] == "tools/call" else None
            while wrong is not None and wrong.get("id") != "mine":
                wrong = json.loads(sys.stdin.readline())
            send({"id": "alive?", "method": "ping"})
            while request["method"] == "tools/call" and wrong != {"jsonrpc": "2.0", "id": "alive?", "result": {}}:
                wrong = json.loads(sys.stdin.readline())
            send({"id": "yours?", "result": {}})
            send({"id": 4711, "result": {}})
        if behaviour == "noisy":
            send({"method": "notifications/nobody/knows", "params": {"x": 1}})
        if request["method"] not in ("initialize", "tools/list", "tools/call"):
            send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
        else:
            send({"id": request["id"], "result": answer(request, behaviour)})
    if behaviour == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main(*sys.argv[1:])
