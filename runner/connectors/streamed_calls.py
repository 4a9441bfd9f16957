"""Calls of tools out of the pieces in which hosts of OpenAI's chat API send them.

The API numbers calls by `index` and sends id and name once. Hosts leave the number out, give it to several calls, or
repeat ids and names, so that a number alone says nothing:

| a piece | belongs to |
| --- | --- |
| with the id of a call | that call |
| with a new id and a name | another call |
| without an id | the newest call with its index, the newest of all if it has none |
| with a name, though the arguments of its call are complete, or have begun under another name | another call |
| with a name, second in a list, for the call of the first | another call |

A name without arguments, after a whole call of that name, may repeat it or begin another one: what comes next decides.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from runner.connectors.base import ToolCall


class StreamedCalls:
    """Puts calls together."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    @property
    def are_named(self) -> bool:
        """Whether there is a call with a name."""
        return any(call.name for call in self._calls)

    def take(self, entries: Sequence[dict[str, Any]]) -> None:
        """Takes the calls, or pieces of calls, of one event."""
        touched: list[_Call] = []
        for place, entry in enumerate(entries):
            piece = _Piece(entry, place if len(entries) > 1 else None)
            call = self._call_of(piece)
            again = call in touched
            if call is None or call.is_over_at(piece, again):
                call = _Call(piece.index, before=None if again else call)
                self._calls.append(call)
            call.add(piece)
            touched.append(call)

    def finished(self) -> tuple[ToolCall, ...]:
        """The calls, in the order in which they began; each has an id of its own."""
        made: dict[str, ToolCall] = {}
        for number, call in enumerate(call for call in self._calls if not call.is_repetition):
            id = call.id if call.id and call.id not in made else f"call_{number}"
            made[id] = ToolCall(id=id, name=call.name, arguments=call.arguments)
        return tuple(made.values())

    def _call_of(self, piece: _Piece) -> _Call | None:
        """The call that a piece is of, by its id and number; None: there is none yet."""
        if same := [call for call in self._calls if piece.id and call.id == piece.id]:
            return same[-1]
        there = self._calls
        if piece.index is not None:
            there = [call for call in self._calls if call.index == piece.index]
            if not there and not piece.name:
                there = [call for call in self._calls if call.index is None]
        found = there[-1] if there else None
        if found and piece.id and piece.name and (found.id or found.name not in ("", piece.name)):
            return None
        return found


class _Piece:
    """One entry of a list of calls."""

    def __init__(self, entry: dict[str, Any], place: int | None) -> None:
        function = entry.get("function") or {}
        arguments = function.get("arguments")
        self.id = "" if entry.get("id") is None else str(entry["id"])
        self.name = function.get("name") or ""
        if not isinstance(self.name, str):
            raise TypeError(f"{self.name!r} is not a text")
        self.arguments = (
            arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False) if arguments else ""
        )
        index = entry.get("index")
        self.index: int | str | None = place if index is None else index


class _Call:
    """A call that is coming in."""

    def __init__(self, index: int | str | None, before: _Call | None) -> None:
        """`before` is the call that was over when it began."""
        self.index = index
        self._before = before
        self.id = ""
        self.name = ""
        self.arguments = ""

    def is_over_at(self, piece: _Piece, again: bool) -> bool:
        """Whether a piece for it begins another call; `again`: the same event has had one for it before."""
        if not piece.name:
            return False
        is_whole = self._is_whole
        if again and (is_whole or not self.arguments):
            return True
        if piece.name != self.name:
            return bool(self.arguments)
        return is_whole and self.arguments not in ("{}", piece.arguments)

    @property
    def is_repetition(self) -> bool:
        """Whether it only says again that there was another call."""
        before = self._before
        if before is None or self.arguments.strip():
            return False
        return self.name == before.name and self.id in ("", before.id)

    def add(self, piece: _Piece) -> None:
        """Takes a piece. A name that is repeated, and arguments that are, say nothing new."""
        self.id = self.id or piece.id
        if piece.name != self.name:
            self.name += piece.name
        if self.arguments == "{}" and piece.arguments:  # some hosts open each call with them
            self.arguments = piece.arguments
        elif not (piece.name and self._is_whole):
            self.arguments += piece.arguments

    @property
    def _is_whole(self) -> bool:
        if not self.arguments.rstrip().endswith("}"):
            return False
        try:
            json.loads(self.arguments)
        except (ValueError, RecursionError):
            return False
        return True
