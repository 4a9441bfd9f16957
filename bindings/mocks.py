"""The mocks of a world, newest last: values that a case gives, or functions and values that its script test keeps.

What a mock of a script test answers is made in the realm of the test, which is asked for it: there its function lives,
and there its calls are recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bindings.ledger import agent_id
from scripttest.values import Value

SEARCHES = {"web": "search.Web", "kb": "search.KB", "db": "search.DB"}
"""What a search looks in → the process that it calls."""
KINDS = ("process", "agent", "http", "exec")


class Mock(Value):
    """Answers calls whose names match its pattern, in which `*` stands for any characters."""

    pattern: str
    value: Any = None
    """What it answers, a JSON value."""
    number: int | None = None
    """The number by which the realm of a script test knows its mock."""


class Mocks(Value):
    """By kind, newest last."""

    process: tuple[Mock, ...] = ()
    agent: tuple[Mock, ...] = ()
    http: tuple[Mock, ...] = ()
    exec: tuple[Mock, ...] = ()

    def find_process(self, name: str) -> Mock | None:
        """The mock of a process, in any case."""
        return _find(self.process, name, re.IGNORECASE)

    def find_agent(self, id: str) -> Mock | None:
        """The mock of an agent."""
        return _find(self.agent, id)

    def find_exec(self, command: str) -> Mock | None:
        """The mock of a command: by the whole of it, by its first words, or by a regular expression between slashes;
        `bindings/src/mocks/mocked-exec.ts` finds the same. Raises PatternError."""
        return next((mock for mock in reversed(self.exec) if _fits_command(mock.pattern, command)), None)

    def record(self) -> dict[str, Any]:
        """For realms of functions: kind → `[pattern, value, number or null]`; see `bindings/src/realm/invoke.ts`."""
        return {
            kind: [[mock.pattern, mock.value, mock.number] for mock in mocks]
            for kind in KINDS
            if (mocks := getattr(self, kind))
        }


def given_mocks(given: Mapping[str, Any]) -> Mocks:
    """The mocks of a case: kind → pattern → value. `search` is short for processes: one list for all searches, or one
    each for `web`, `kb` and `db`."""
    search = given.get("search")
    if search is not None:
        named = search if isinstance(search, dict) else dict.fromkeys(SEARCHES, search)
        processes = {SEARCHES[type]: items for type, items in named.items() if items is not None}
        given = {**given, "process": {**processes, **(given.get("process") or {})}}
    return _mocks(
        {kind: [(pattern, {"value": value}) for pattern, value in (given.get(kind) or {}).items()] for kind in KINDS}
    )


def told_mocks(told: Mapping[str, Any]) -> Mocks:
    """The mocks of a script test, as its realm sends them: kind → `[pattern, number]`. Raises ValueError."""
    return _mocks(
        {kind: [(str(pattern), {"number": int(number)}) for pattern, number in told.get(kind) or ()] for kind in KINDS}
    )


def _mocks(rows: Mapping[str, list[tuple[str, dict[str, Any]]]]) -> Mocks:
    """Mocks by kind, of their patterns and other fields."""
    return Mocks(
        **{
            kind: tuple(
                Mock(pattern=agent_id(pattern) if kind == "agent" else pattern, **fields) for pattern, fields in given
            )
            for kind, given in rows.items()
        }
    )


def _find(mocks: tuple[Mock, ...], name: str, flags: int = 0) -> Mock | None:
    for mock in reversed(mocks):
        if (flags and _fits(mock.pattern.lower(), name.lower())) or _fits(mock.pattern, name):
            return mock
    return None


def _fits(pattern: str, text: str) -> bool:
    """Whether a text is as the pattern says, in which `*` stands for any text. Each piece is looked for once."""
    first, *pieces = pattern.split("*")
    if not pieces:
        return text == first
    end = len(text) - len(pieces[-1])
    if not (text.startswith(first) and text.endswith(pieces[-1]) and len(first) <= end):
        return False
    place = len(first)
    for piece in pieces[:-1]:
        found = text.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True


def _fits_command(pattern: str, command: str) -> bool:
    expression = re.fullmatch(r"/(.+)/([a-z]*)", pattern, re.DOTALL)
    if expression is not None:
        from bindings.patterns import compile

        flags = "".join(flag for flag in expression[2] if flag in "ims")
        return bool(compile(f"(?{flags}){expression[1]}" if flags else expression[1]).search(command))
    return _fits(pattern, command) or _fits(f"{pattern} *", command)
