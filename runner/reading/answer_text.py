"""What a model says in a text: what it says apart from what it thinks, and the JSON value in it.

Open models write `<think>...</think>`, also `<thinking>`, `<thought>` and `<reasoning>`, in any case of letters, with a
prefix (`<seed:think>`), attributes or blanks in the tags.

| in the text | thinking |
| --- | --- |
| both tags | what is between them; tags nest |
| only the opening tag | all that follows |
| only the closing tag | all before it |
| a tag in a whole JSON value, or in backticks | none: it is spoken of |

A closing tag of another name than the last opening one closes nothing: rather is an answer taken for thinking than
thinking for an answer. JSON is found as by `text.ExtractJSON` of Yao, and then, beyond Yao, in the middle of prose."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


_TAG = re.compile(
    r"""(?xi) (?<!`)<\s*+(?P<closes>/?)\s*+(?P<name>(?:\w+:)?(?:think|thinking|thought|reasoning))(?=[\s/>])
    (?: (?:[^<>"']|"[^"]*"|'[^']*'|(?!))*+ > | [^<>]*> )"""
)
_TAG_OR_VALUE = re.compile(rf"{_TAG.pattern}|[{{\[]")
_FENCED_VALUE = re.compile(r"```(?:json)?\s*(?=[{\[])")
MAX_VALUES = 200
"""Most brackets that are tried as the beginning of a JSON value with a tag, or a fence, in it."""
MAX_TEXT = 1_000_000
"""Longest text in which JSON is looked for that is not the whole of it, in characters."""
MAX_YAML = 20_000
"""Longest text that may be YAML without a fence, in characters: reading it takes long."""
MAX_STARTS = 200
"""Most brackets of a prose text that are tried as the beginning of a value."""
MAX_REPAIRS = 3
"""Most of them that are tried to repair."""

_OPENING = r"[{\[]"
_REPAIRABLE = r"\{|\[\s*[\[{\"]"
_TOKEN = r'(?s)"(?:[^"\\]|\\.)*+"|[{}\[\]]'


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
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def extract_json(text: str, *, yaml: bool = True) -> Any | None:
    """The JSON value in a text, or None.

    The first that is there: the whole text as JSON; a fenced block of JSON or YAML; the whole text as broken JSON, or
    as YAML if `yaml`; the first object or array in prose, repaired if need be. What a model thinks is not read."""
    text = behind_thinking(text).strip()
    found = _whole(text)
    if found is None and len(text) <= MAX_TEXT:
        found = _block(text, yaml)
        found = _in_prose(text) if found is None else found
    return found


def _whole(text: str) -> Any | None:
    from bindings.processes.formats import decode_json

    try:
        return decode_json(text)
    except (ValueError, RecursionError):
        return None


def _block(text: str, yaml: bool) -> Any | None:
    from bindings.processes.text import extract, guess

    if (holding := _holding_fences(text)) is not None:
        return holding
    unfenced = "```" not in text and guess(text) == "yaml"
    if unfenced and (not yaml or len(text) > MAX_YAML):
        return None
    data = next((block["data"] for block in extract(text) if "data" in block), None)
    return None if unfenced and is_sentence(data) else data


def _holding_fences(text: str) -> Any | None:
    """The JSON value of the first fenced block whose strings hold fences themselves, at which it would seem to end."""
    for opening in islice(_FENCED_VALUE.finditer(text), MAX_VALUES):
        end = _end_of_value(text, opening.end())
        if end and "```" in text[opening.end() : end]:
            return _whole(text[opening.end() : end])
    return None


def is_sentence(data: Any) -> bool:
    """Whether what was read as YAML is rather prose with a colon, like `Here it is: [1, 2]`."""
    return not isinstance(data, (dict, list)) or (isinstance(data, dict) and len(data) == 1 and " " in next(iter(data)))


def _in_prose(text: str) -> Any | None:
    """The first object or array in a text. Numbers in brackets may be footnotes, and count when there is nothing
    else."""
    footnote = None
    for value in values_in(text):
        if isinstance(value, dict) or any(isinstance(item, (dict, list, str)) for item in value):
            return value
        footnote = value if footnote is None else footnote
    return footnote


def values_in(text: str) -> Iterator[Any]:
    """The objects and arrays in a text, in order; broken ones are repaired."""
    from bindings.processes.formats import strict_decoder

    decoder = strict_decoder()
    at = repairs = 0
    for _ in range(MAX_STARTS):
        opening = re.compile(_OPENING).search(text, at)
        if opening is None:
            return
        at = opening.start()
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
            if repairs < MAX_REPAIRS and re.compile(_REPAIRABLE).match(text, at):
                repairs += 1
                value, end = _repaired(text, at)
            at = end
        if value is not None:
            yield value


def _repaired(text: str, start: int) -> tuple[Any | None, int]:
    """The value of the broken JSON at a position, and where it ends; None and the next position if it is none."""
    from bindings.processes.formats import parse

    end = closing(text, start)
    last = max(text.rfind("}"), text.rfind("]")) + 1
    for stop in [end] if end else [last, len(text)]:
        try:
            value = parse(text[start:stop], "json")
        except (ValueError, RecursionError):
            continue
        if value and isinstance(value, (dict, list)):
            return value, stop
    return None, start + 1


def closing(text: str, start: int) -> int | None:
    """The end of the bracket at a position, brackets in strings left aside; None if it stays open."""
    depth = 0
    for token in re.compile(_TOKEN).finditer(text, start):
        if not token[0].startswith('"'):
            depth += 1 if token[0] in "{[" else -1
            if depth == 0:
                return token.end()
    return None
