"""Words that people bring from other test tools, and what to write for them here: the one table, in `habits.txt`.

| place | words | what to write has |
|---|---|---|
| `name` | globals that scripts do not have: `expect`, `vi.fn` | arguments: `<0>`, `<1>`; `<name>`, of the first |
| `matcher` | what follows `expect(...)`, methods of other libraries | `<0>`: what is looked at, `<1>`: what is wanted |
| `import` | packages | |
| `type`, `field` | types of assertions, and fields, of case files | `<value>`: the value in the file, as JSON |
| `flag` | flags | `<value>`, if it takes one; after a bar, for a number |
| `reporter` | values of `--reporter` | |
| `command` | first words of command lines | |

Below each line to write are the words for it. What stands in brackets at its end is a reason, and may stand alone. A
word that ends in `:`, `/` or `.` stands for all that begin so. Who asks has found that a word means nothing else."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path


def habit(place: str, word: str, **given: str) -> str | None:
    """What to write for a word of another tool, with its reason in parentheses; None for a word without a row.
    `place`: a heading of the table. `given`: what stands for `<...>`; `_0` for `<0>`. The rest becomes `...`."""
    row = row_of(place, word)
    if row is None:
        return None
    line, reason = filled(row[0], **given), row[1]
    return f"{line} ({reason})" if line and reason else line or reason


def filled(line: str, **given: str) -> str:
    """A line of the table with what stands for `<...>`."""
    return re.sub(r"<(\w+)>", lambda match: given.get(f"_{match[1]}", given.get(match[1], "...")), line)


def row_of(place: str, word: str) -> tuple[str, str] | None:
    """The line and the reason for a word, or for the longest beginning of it that stands for all that begin so."""
    words = table()[place]
    beginnings = (word[:end] for end in range(len(word) - 1, 0, -1) if word[end - 1] in ":/.")
    return words.get(word) or next((words[one] for one in beginnings if one in words), None)


@cache
def table() -> dict[str, dict[str, tuple[str, str]]]:
    """Place → word → the line and the reason."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    place, row = "", ("", "")
    for line in Path(__file__).with_name("habits.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            place = line[2:]
        elif line.startswith(" "):
            for word in line.split():
                found.setdefault(place, {}).setdefault(word, row)
        elif line:
            text, _, reason = line.partition("[") if re.search(r"(^| )\[[\w-][^\]\"]*\]$", line) else (line, "", "")
            row = text.strip(), reason.rstrip("]")
    return found
