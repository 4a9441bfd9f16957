"""Tells what a model says from what it thinks, where it writes its thinking into its text.

Open models write `<think>...</think>`, also `<thinking>` and `<reasoning>`, in any case of letters, with attributes or
blanks in the tags.

| in the text | thinking |
| --- | --- |
| both tags | what is between them; tags nest |
| only the opening tag | all that follows |
| only the closing tag | all before it |
| a tag in a whole JSON value, or in backticks | none: it is spoken of |

A closing tag of another name than the last opening one closes nothing: rather is an answer taken for thinking than
thinking for an answer.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TAG = re.compile(
    r"""(?xi) (?<!`)<\s*+(?P<closes>/?)\s*+(?P<name>think|thinking|reasoning)(?=[\s/>])
    (?: (?:[^<>"']|"[^"]*"|'[^']*')*+ > | [^<>]*> )"""
)
_TAG_OR_VALUE = re.compile(rf"{_TAG.pattern}|[{{\[]")
MAX_VALUES = 200
"""Most brackets that are tried as the beginning of a JSON value with a tag in it."""


def behind_thinking(text: str) -> str:
    """What a model says: its text without its thinking. One without thinking comes back as it is."""
    return _apart(text)[0]


def thinking_in(text: str) -> str:
    """What a model thinks in its text, without tags; empty where it says nothing of what it thinks."""
    return _apart(text)[1].strip()


@lru_cache(maxsize=8)
def _apart(text: str) -> tuple[str, str]:
    """What is said in a text, and what is thought."""
    whole = text.strip()
    if _TAG.search(text) is None or _end_of_value(whole, 0) == len(whole):
        return text, ""
    said: list[str] = []
    thought: list[str] = []
    open_tags: list[str] = []
    start = at = values = 0
    while found := (_TAG if open_tags or values == MAX_VALUES else _TAG_OR_VALUE).search(text, at):
        at = found.end()
        if found["name"] is None:
            values += 1
            at = _end_of_value(text, found.start()) or at
            continue
        name = found["name"].lower()
        (thought if open_tags else said).append(text[start : found.start()])
        start = at
        if found["closes"]:
            if not open_tags:
                thought += said
                said.clear()
            elif open_tags[-1] == name:
                open_tags.pop()
        elif not found[0].endswith("/>"):
            open_tags.append(name)
    (thought if open_tags else said).append(text[start:])
    return "".join(said), "\n".join(thought)


def _end_of_value(text: str, start: int) -> int | None:
    import json

    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None
