"""The names that scripts see, and how agents are named."""

from __future__ import annotations

import os

SCRIPT_PARTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "js")
"""The folder of the parts."""
_NAMES_OF_PART = {
    "process": "Process Exception",
    "promise": "Promise __yaoAsync",
    "url": "URL URLSearchParams",
    "encoding": "TextEncoder TextDecoder atob btoa",
    "clone": "structuredClone",
    "console": "console log",
    "timers": "setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate",
    "fs": "FS",
    "http": "http",
    "nodes": "sandbox workspace",
    "watch": "$yaoWatch",
    "repl": "$yaoRepl",
    "yao": "Store Query Job Plan WebSocket MCP Use Eval All Any Race Authorized $L Trace time",
    "intl": "Intl",
    "locale": "toLocaleString toLocaleDateString toLocaleTimeString localeCompare toLocaleUpperCase toLocaleLowerCase",
    "zone": "Date",
    "functions": "constructor getPrototypeOf toString toStringTag",
    "early": "__yaoEarly catch then allSettled",
}

SCRIPT_GLOBALS = {name: part for part, names in _NAMES_OF_PART.items() for name in names.split()}
"""Global name → part; for `locale`, `zone` and `functions`, what names the methods of built-ins that they put in
place; for `early`, the words of which a script needs one to see an error."""


PREFIX = "agents:"
"""Says that a name is that of an agent, where it could be that of a script."""


def agent_id(name: str) -> str:
    """The id of an agent, which may be written with `agents:` before it. What cases, flags and scripts say goes through
    here once; from there on it is the id."""
    return name.removeprefix(PREFIX)
