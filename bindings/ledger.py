"""Records the calls of a test to agents, models and other services outside its script, and who answered them.

A call that begins is pending until its end is noted. What is pending when the test is over, stays so in reports."""

from __future__ import annotations

import _thread
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


UNANSWERED = "it was not answered before the test ended or cancelled it"
MOST = 1000
"""Different calls of one test that are kept."""
SILENT = (
    "agent.judgerequired",
    "agent.verdict",
    "agent.vote",
    "locale.translate",
    "snapshot.inline",
    "snapshot.match",
    "subtest.selects",
)
"""Processes by which the script half of the bindings asks its own host."""
INSIDE = ("world", "store", "db", "scripts", "services", "session")
"""Groups of which the world, or a script, answers."""


class AnsweredBy(StrEnum):
    """Who answered a call that left its script. Reports write the same words."""

    SERVED = "served"
    """This host: a process, an agent, a tool, a request."""
    MOCKED = "mocked"
    """A mock of the test."""
    MISSING = "missing"
    """Nobody: there is neither a mock nor anything here that can."""
    PENDING = "pending"
    """Nobody yet: the test ended, or gave the call up, before there was an answer."""


class OutsideCall(Value):
    """A call, made once or several times, that left its script."""

    name: str
    """Of the process; of what it is about too, where the process does not say that: `agent.Call expense`."""
    answered: AnsweredBy
    count: int = 1
    message: str = ""
    """Why it is missing, and what to do about that; or that it is pending."""
    __members__ = "name answered count! message"
    __keys__ = {"name": "call"}  # noqa: RUF012
    __strict__ = True

    @property
    def warning(self) -> str:
        """What to say of it when it is missing."""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"Nothing answered {self.name}{times}: {self.message}"


class Ledger:
    """The calls of one world. Threads may share it."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, AnsweredBy], OutsideCall] = {}
        self._under_way: dict[str, int] = {}
        """Name → how many calls of that name have begun and have no answer yet."""
        self._closed = False
        self._lock = _thread.allocate_lock()

    @contextmanager
    def answering(self, noted: str, name: str) -> Iterator[None]:
        """In which a call is answered, which is pending until then. It is noted as `noted`; without that only if
        nobody answers it, by its `name`."""
        try:
            with self.pending(noted):
                yield
        except Exception as error:
            if noted:
                self.note_failure(noted, error)
            elif name and getattr(error, "missing", False):
                self.note_failure(name, error)
            raise
        if noted:
            self.note(noted)

    @contextmanager
    def pending(self, name: str) -> Iterator[None]:
        """In which a call has begun, and has no answer yet. One that is cancelled stays pending."""
        self._count(name, 1)
        try:
            yield
        except Exception:
            self._count(name, -1)
            raise
        self._count(name, -1)

    def _count(self, name: str, change: int) -> None:
        with self._lock:
            if not self._closed:
                self._under_way[name] = self._under_way.get(name, 0) + change

    def close(self) -> None:
        """The test is over: what is under way stays pending, and nothing more is written down."""
        with self._lock:
            self._closed = True

    def note(self, name: str, answered: AnsweredBy = AnsweredBy.SERVED, message: str = "", count: int = 1) -> None:
        """Writes down who answered a call."""
        key = (name, answered)
        with self._lock:
            known = self._calls.get(key)
            if self._closed:
                return
            if known is not None:
                self._calls[key] = known.replace(count=known.count + count)
            elif len(self._calls) < MOST:
                self._calls[key] = OutsideCall(name=name, answered=answered, count=count, message=message)

    def note_missing(self, name: str, message: str) -> None:
        """Records a call that nothing answered, and why."""
        self.note(name, AnsweredBy.MISSING, message)

    def note_failure(self, name: str, error: object) -> None:
        """Writes down a call that failed: it was answered, unless the error has `missing`."""
        if getattr(error, "missing", False):
            self.note_missing(name, getattr(error, "message", "") + getattr(error, "advice", ""))
        else:
            self.note(name)

    @property
    def missing(self) -> tuple[OutsideCall, ...]:
        """Those that nobody answered."""
        return tuple(call for call in self.calls if call.answered is AnsweredBy.MISSING)

    @property
    def calls(self) -> tuple[OutsideCall, ...]:
        """All of them, in the order of their first answer; then those that are pending."""
        with self._lock:
            pending = [
                OutsideCall(name=name, answered=AnsweredBy.PENDING, count=count, message=UNANSWERED)
                for name, count in self._under_way.items()
                if name and count
            ]
            return (*self._calls.values(), *pending)


def called(name: str, args: Sequence[Any]) -> str:
    """What a call is noted as: `METHOD url`, `agents.<id>`, or the process and what it is for; empty for what does not
    leave the script."""
    lower = name.lower()
    group, _, rest = lower.partition(".")
    opens = group == "query" and lower.endswith(".open")
    if lower in SILENT or group in INSIDE or opens:
        return ""
    if group == "sandbox":
        command = args[0] if args and isinstance(args[0], list) else []
        return f"exec {' '.join(map(str, command))}" if lower == "sandbox.computer.exec" else ""
    texts = [value if isinstance(value, str) else "" for value in args[:2]] + ["", ""]
    if group == "http":
        method, url = texts[:2] if rest in ("send", "stream") else (rest, texts[0])
        return f"{method.upper()} {url.partition('?')[0]}"
    if lower in ("agent.call", "agent.validate"):
        order = args[0] if args and isinstance(args[0], dict) else {}
        id = order.get("assistant_id") or order.get("agent_id") or order.get("agent") or texts[0]
        return f"agents.{agent_id(str(id))}"
    if group in ("agents", "assistants", "ai"):
        id, _, method = name.partition(".")[2].rpartition(".")
        return f"agents.{id}" if method.lower() in ("stream", "call") else ""
    if group in ("llm", "mcp"):
        return " ".join([name, *filter(None, texts[: 2 if lower == "mcp.calltool" else 1])])
    return name


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
    "stack": "stack",
    "sort": "sort toSorted",
    "zone": "Date",
    "functions": "constructor getPrototypeOf toString toStringTag",
    "early": "__yaoEarly catch then allSettled",
}

SCRIPT_GLOBALS = {name: part for part, names in _NAMES_OF_PART.items() for name in names.split()}
"""Global name → part; for `locale`, `stack`, `sort`, `zone` and `functions`, what names the methods of built-ins that
they put in place; for `early`, the words of which a script needs one to see an error."""


PREFIX = "agents:"
"""Says that a name is that of an agent, where it could be that of a script."""


def agent_id(name: str) -> str:
    """The id of an agent, which may be written with `agents:` before it. What cases, flags and scripts say goes through
    here once; from there on it is the id."""
    return name.removeprefix(PREFIX)
