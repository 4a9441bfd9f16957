"""Replies in `mocks.http`: a text, or `{status, data, headers, lines, message}`, as of `t.mock.http`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic_core import PydanticCustomError

from runner.shapes.declared import Shaped, changed
from runner.shapes.numbers import FreeObject

UNKNOWN_PART = "unknown_part"
"""Type of the complaint; its `at` is where among the replies the part is."""
PARTS = ("status", "data", "headers", "lines", "message", "code")
MEANT = {
    **dict.fromkeys(("body", "json", "text", "content", "payload"), "data"),
    **dict.fromkeys(("statusCode", "status_code"), "status"),
    **dict.fromkeys(("statusText", "error"), "message"),
    "header": "headers",
}
"""Names that other libraries have for the parts; `bindings/src/mocks/mocked-http.ts` has the same for scripts."""


def _checked(replies: dict[str, Any]) -> dict[str, Any]:
    for pattern, reply in replies.items():
        for part in reply if isinstance(reply, dict) else ():
            if part not in PARTS:
                raise PydanticCustomError(UNKNOWN_PART, "unknown part", {"at": (pattern, part)})
    return replies


def known_parts(part: str) -> str:
    """What to write in the place of an unknown part."""
    meant = f'It is called "{MEANT[part]}". ' if part in MEANT else ""
    return f'{meant}A reply may have {", ".join(PARTS[:-1])}; an object that is the body is written {{"data": ...}}'


HttpReplies = Annotated[FreeObject, Shaped(lambda schema: changed(schema, _checked))]
"""Method and URL, or a pattern → the reply."""
