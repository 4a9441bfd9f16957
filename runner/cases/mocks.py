"""`mocks` of a case: stand-ins for what its hooks and tools call.

Replies in `mocks.http` are a text or `{status, data, headers, lines, message}`, and in `mocks.exec` a text or
`{stdout, stderr, exit_code, delay}`: as of `t.mock.http` and `t.mock.exec`."""

from __future__ import annotations

from functools import partial
from types import NoneType
from typing import Annotated, Any

from runner.shapes.declared import Field, Model, SchemaAdapter, changed, validation_error
from runner.shapes.fields import FreeObject, TimeText, milliseconds_of

UNKNOWN_PART = "unknown_part"
"""Type of the error; its `at` is where among the replies the part is."""
WRONG_REPLY = "wrong_reply"
"""Type of the error; `at` is the pattern of the reply, and `problem` says what is wrong."""
PARTS = {
    "http": ("status", "data", "headers", "lines", "message", "code"),
    "exec": ("stdout", "stderr", "exit_code", "delay"),
}
MEANT = {
    "http": {
        **dict.fromkeys(("body", "json", "text", "content", "payload"), "data"),
        **dict.fromkeys(("statusCode", "status_code"), "status"),
        **dict.fromkeys(("statusText", "error"), "message"),
        "header": "headers",
    },
    "exec": {
        **dict.fromkeys(("output", "out", "data"), "stdout"),
        **dict.fromkeys(("error", "err"), "stderr"),
        **dict.fromkeys(("code", "exitCode", "status"), "exit_code"),
        "sleep": "delay",
    },
}
"""Names that other libraries have for the parts; `bindings/src/mocks/mocked-*.ts` have the same for scripts."""


def _checked(kind: str, replies: dict[str, Any]) -> dict[str, Any]:
    for pattern, reply in replies.items():
        for part in reply if isinstance(reply, dict) else ():
            if part not in PARTS[kind]:
                raise validation_error(UNKNOWN_PART, "unknown part", {"at": (pattern, part)})
        problem = _problem_with_reply(kind, reply)
        if problem:
            raise validation_error(WRONG_REPLY, "wrong reply", {"at": (pattern,), "problem": problem})
    return replies


def _problem_with_reply(kind: str, reply: Any) -> str:
    """What is wrong with the values of a reply; empty: nothing."""
    if kind == "exec" and not isinstance(reply, (str, dict, NoneType)):
        return f"it must be a string, or an object with any of {', '.join(PARTS[kind])}"
    parts = reply if isinstance(reply, dict) else {}
    numbers, texts = (("exit_code",), ("stdout", "stderr")) if kind == "exec" else (("status", "code"), ())
    for part in numbers:
        if isinstance(parts.get(part, 0), bool) or not isinstance(parts.get(part, 0), int):
            return f"{part} must be a whole number"
    wrong = next((part for part in texts if not isinstance(parts.get(part, ""), (str, NoneType))), "")
    return f"{wrong} must be a string" if wrong else ""


def known_parts(kind: str, part: str) -> str:
    """What to write instead of an unknown part of a reply of `http` or `exec`."""
    if part in MEANT[kind]:
        return f'Did you mean "{MEANT[kind][part]}"?'
    if kind == "exec":
        return f"A reply may have {', '.join(PARTS[kind])}"
    return f'A reply may have {", ".join(PARTS[kind][:-1])}; to reply with an object, write {{"data": ...}}'


HttpReplies = Annotated[FreeObject, SchemaAdapter(lambda schema: changed(schema, partial(_checked, "http")))]
"""Method and URL, or a pattern → the reply."""
ExecReplies = Annotated[FreeObject, SchemaAdapter(lambda schema: changed(schema, partial(_checked, "exec")))]
"""Command, its first words, or a pattern → the reply."""


class SearchResults(Model):
    """What searches find, in each of the places."""

    web: list[FreeObject] | None = None
    """On the web: `{title, content, url}`."""
    kb: list[FreeObject] | None = None
    """In knowledge bases."""
    db: list[FreeObject] | None = None
    """In the database."""


class Mocks(Model):
    """Stand-ins for what hooks and tools call, for the length of the case."""

    process: FreeObject = Field(default_factory=dict)
    """Process name or pattern with `*` → its answer."""
    agent: FreeObject = Field(default_factory=dict)
    """Agent id or pattern → its answer."""
    http: HttpReplies = Field(default_factory=dict)
    """`GET https://host/path` or pattern → the response."""
    exec: ExecReplies = Field(default_factory=dict)
    """Command, its first words, `*` for anything, or `/regular expression/` → its output."""
    search: list[FreeObject] | SearchResults | None = None
    """What searches of hooks, and those before the model is asked, find: `[{title, content, url}]`, or one list for
    each place."""
    now: TimeText | None = None
    """ISO 8601: the time that scripts see."""

    @property
    def stopped_at(self) -> float | None:
        """That time in milliseconds since 1970; None: the clock goes on."""
        return None if self.now is None else milliseconds_of(self.now)
