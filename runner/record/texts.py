r"""Texts of reports: JSON that every reader accepts, and files named from the repository, so that the reports of two
machines agree.

| value | in reports |
| --- | --- |
| half of a surrogate pair, which UTF-8 cannot represent | the six characters `\ud800`, as on the console |
| a number that JSON cannot represent, such as `1e400` | a text: `"Infinity"` |
"""

from __future__ import annotations

import json
import os
import re
from functools import cache

from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


_LONE = "[\ud800-\udfff]"
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False)


def json_line(value: Any) -> str:
    """A JSON value in one line that every reader accepts."""
    try:
        text = _encoder.encode(value)
    except ValueError:
        return json_line(plain(value))
    return without_halves(text)


def json_pieces(value: Any) -> Iterator[str]:
    """The same in pieces, of which the longest are the texts in the value; made as they are used. Halves of surrogate
    pairs are left in. Raises ValueError for what JSON cannot represent."""
    return _encoder.iterencode(value)


def without_halves(text: str) -> str:
    """JSON text without halves of surrogate pairs, which UTF-8 cannot encode."""
    return text if text.isascii() else re.sub(_LONE, lambda half: f"\\\\u{ord(half[0]):04x}", text)


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can encode a text."""
    return text.isascii() or not re.search(_LONE, text)


def plain(value: Any) -> Any:
    """A JSON value that every reader accepts."""
    return json.loads(without_halves(json.dumps(value, ensure_ascii=False)), parse_constant=str)


def utf8(text: str) -> bytes:
    """A text in the form in which it is written to a file."""
    return text.encode("utf-8", "backslashreplace")


TEXT, TEXTS, INNER = 1, 2, 3
KEYS = {
    **dict.fromkeys("error message location stack_trace skip_reason reason note file details".split(), TEXT),
    **dict.fromkeys("errors assertion_errors".split(), TEXTS),
    **dict.fromkeys(
        """
        assertion assertions final_assertions turns steps checkpoints scores trials runs attempts tools tool_calls
        warnings failures frames outside judgements story
        """.split(),
        INNER,
    ),
}
"""Keys of texts that name files, of lists of them, and of records, or lists of records, that have such texts. The
`details` of a failure are a text, those of an assertion are records."""


def relative(record: Record, root: str) -> Record:
    """Names the files of a result from `root`, in the record itself; what was sent and answered stays as it is."""
    for key, value in record.items() if root else ():
        kind = KEYS.get(key)
        if kind is None or not value:
            continue
        if kind == TEXT and isinstance(value, str):
            record[key] = without_root(value, root)
        elif kind == TEXTS and isinstance(value, list):
            record[key] = [without_root(text, root) if isinstance(text, str) else text for text in value]
        else:
            for inner in value if isinstance(value, list) else (value,):
                if isinstance(inner, dict):
                    relative(inner, root)
    return record


def without_root(text: str, root: str) -> str:
    """A text in which files below a folder are named from there."""
    return _prefix(root).sub("", text) if root and "/" in text else text


def near(text: str, folder: str) -> str:
    """A text in which only places with a line, such as `/app/a.ts:3:5`, are named from a folder."""
    return _place(folder).sub("", text)


def path_below(root: str, file: str) -> str:
    """The path of a file from a folder; as it is where it is not below it."""
    for known, path in ((root, file), (os.path.realpath(root), os.path.realpath(file))):
        if root and path.startswith(folder := _with_slash(known)):
            return path.removeprefix(folder)
    return file


@cache
def _prefix(root: str) -> re.Pattern[str]:
    """The folder, where a path begins with it."""
    names = map(re.escape, sorted({_with_slash(root), _with_slash(os.path.realpath(root))} - {"/"}))
    patterns = (rf"{name}(?<![\w./-]{name})(?=[^\s/])" for name in names)  # literal first: it is searched fast
    return re.compile("|".join(patterns) or r"(?!)")


@cache
def _place(folder: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./-]){re.escape(_with_slash(folder))}(?=[^\s()\"']{{1,300}}?:\d)")


def _with_slash(folder: str) -> str:
    return folder if folder.endswith("/") else f"{folder}/"
