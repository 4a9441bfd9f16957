"""Places in files, as reports name them: from the folder of the repository, so that the reports of two machines agree
and a CI server finds the line."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

Record = dict[str, Any]

TEXTS = frozenset("error message location stack_trace skip_reason reason note file details".split())
"""Keys of texts that name files."""
LISTS = frozenset("errors assertion_errors".split())
"""Keys of lists of such texts."""
INNER = frozenset(
    """
    assertion assertions final_assertions details turns steps checkpoints scores trials runs attempts tools tool_calls
    warnings failures frames
    """.split()
)
"""Keys of records, and of lists of records, that have such texts."""


def relative(record: Record, root: str) -> Record:
    """Makes the places of a result those below `root`, in the record itself. What was sent, answered and expected stays
    as it is."""
    for key, value in record.items():
        if key in TEXTS and isinstance(value, str):
            if value:
                record[key] = without_root(value, root)
        elif key in INNER:
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, dict):
                    relative(inner, root)
        elif key in LISTS and isinstance(value, list):
            record[key] = [without_root(text, root) if isinstance(text, str) else text for text in value]
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
        if root and path.startswith(_with_slash(known)):
            return path[len(_with_slash(known)) :]
    return file


@cache
def _prefix(root: str) -> re.Pattern[str]:
    """The folder, where a path begins with it."""
    names = sorted({_with_slash(root), _with_slash(os.path.realpath(root))} - {"/"})
    return re.compile("|".join(rf"(?<![\w./-]){re.escape(name)}(?=[^\s/])" for name in names) or r"(?!)")


@cache
def _place(folder: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./-]){re.escape(_with_slash(folder))}(?=[^\s()\"']+:\d)")


def _with_slash(folder: str) -> str:
    return folder if folder.endswith("/") else f"{folder}/"
