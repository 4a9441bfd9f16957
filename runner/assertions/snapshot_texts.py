"""Outputs of agents as texts for snapshots, and what differs between two."""

from __future__ import annotations

import json
import operator
import re
from difflib import unified_diff
from typing import Any

from runner.assertions.differences import form_only
from runner.look_alikes import apart, visible

LINES = 80
"""Lines of a difference that are shown."""
WIDTH = 300
"""Characters of one of them."""


def printed(value: Any, indent: str = "") -> str:
    """A JSON value over several lines, keys in order; texts of several lines are lines between `\"\"\"`."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        items = [f"{json.dumps(key, ensure_ascii=False)}: {printed(value[key], inner)}" for key in sorted(value)]
        return _between("{", items, "}", indent)
    if isinstance(value, list) and value:
        return _between("[", [printed(item, inner) for item in value], "]", indent)
    if isinstance(value, str) and "\n" in value:
        lines = (_line(line) for line in value.split("\n"))
        return "\n".join(['"""', *(f"{indent}{line}" if line else "" for line in lines), f'{indent}"""'])
    return visible(json.dumps(value, ensure_ascii=False))


def difference(expected: str, actual: str) -> str:
    """Lines that start with `-` (stored), `+` (now) or a blank, around what differs."""
    diff = list(unified_diff(expected.split("\n"), actual.split("\n"), "stored", "now", lineterm="", n=2))[2:]
    for at in range(len(diff) - 1):
        if diff[at].startswith("-") and diff[at + 1].startswith("+"):
            diff[at], diff[at + 1] = _apart(diff[at][1:], diff[at + 1][1:])
    more = [f"... {len(diff) - LINES} more lines"] if len(diff) > LINES else []
    if form := form_only(_text_in(expected), _text_in(actual), operator.eq):
        more.append(form)
    return "\n".join([*(f"{line[:WIDTH]}..." if len(line) > WIDTH else line for line in diff[:LINES]), *more])


def _text_in(printed: str) -> str:
    """The text of one line that is printed as JSON; all else as it is printed."""
    return str(json.loads(printed)) if re.fullmatch(r'"(?:[^"\\]|\\.)*"', printed) else printed


def _apart(stored: str, now: str) -> tuple[str, str]:
    """Two lines, of which long ones begin before what differs."""
    if max(len(stored), len(now)) > WIDTH:
        shorter = min(len(stored), len(now))
        at = next((at for at in range(shorter) if stored[at] != now[at]), shorter)
        if at > WIDTH // 2:
            stored, now = f"...{stored[at - 60 :]}", f"...{now[at - 60 :]}"
    stored, now = apart(stored, now)
    return f"-{stored}", f"+{now}"


def _between(start: str, items: list[str], end: str, indent: str) -> str:
    return "\n".join([start, *(f"{indent}  {item}," for item in items), f"{indent}{end}"])


def _line(line: str) -> str:
    text = json.dumps(line, ensure_ascii=False)[1:-1].replace('\\"', '"').replace('"""', '\\"""')
    return visible(f"{text[:-1]}\\u0020" if text.endswith(" ") else text)
