"""Fits text into a terminal: no line is longer than the terminal is wide, and right-to-left text is isolated.

| line | what happens to it |
|---|---|
| a rule | it is cut |
| the name of a suite or a test with its verdict, a place | its middle is left out |
| code with its line number | its end is left out |
| a command to type | it continues in the next line, after a backslash; no argument is split |
| anything else | it continues in the next line, with its indent |

The isolates are those of Unicode's bidirectional algorithm: without them, a name in Hebrew would move the digits around
it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import bidirectional, category

from runner.columns import letter_width, width
from runner.security.terminal import OWN

MORE = "…"
_PIECE = re.compile(f"{OWN}|.", re.DOTALL)
_CODES = re.compile(OWN)
_RULE = re.compile("[═─]+")
_NAMED = re.compile(r"\s*(?:[►✓✗○ℹ] |(?:Script Test|Script|at|called from):? )")
_CODE = re.compile(r"\s*(?:>\s*)?\d*\s+\| ")
_COMMAND = re.compile(r"(\s*Run it again: )(.*)", re.DOTALL)
_ARGUMENT = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+")
_FROM_RIGHT = ("R", "AL")
_ISOLATE, _END = "\u2068", "\u2069"


def fitted(text: str, columns: int) -> str:
    """A text of whole lines for a terminal."""
    return "\n".join(isolated(part) for line in text.split("\n") for part in _line(line, columns).split("\n"))


def isolated(text: str) -> str:
    """A line in which each run of right-to-left words is isolated from the text around it."""
    if text.isascii() or _ISOLATE in text or not any(map(_is_from_right, text)):
        return text
    return re.sub(rf"({_CODES.pattern})|[^\x1b]+", lambda match: match[1] or _isolated_words(match[0]), text)


def visible(text: str) -> str:
    """A text with blanks in place of what cannot be seen."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else " " for letter in text)


def cut(text: str, room: int) -> tuple[str, int]:
    """As much of a text as fits into this many columns, and what is left of them."""
    if text.isascii():
        return text[:room], max(0, room - len(text))
    for place, letter in enumerate(text):
        room -= letter_width(letter)
        if room < 0:
            return text[:place], 0
    return text, room


def shortened(text: str, room: int) -> str:
    """A text, perhaps in colours, that loses its middle where it has no room."""
    if width(_CODES.sub("", text)) <= room:
        return text
    pieces = _PIECE.findall(text)
    tail_room = room // 2
    head_room = room - tail_room - 1
    head = tail = 0
    while (head_room := head_room - letter_width(pieces[head])) >= 0:
        head += 1
    while (tail_room := tail_room - letter_width(pieces[-1 - tail])) >= 0:
        tail += 1
    middle = pieces[head : len(pieces) - tail]
    kept = [piece for piece in middle if _CODES.fullmatch(piece)]
    while tail and category(pieces[-tail]) in ("Mn", "Me"):  # of a character that was removed
        tail -= 1
    return "".join([*pieces[:head], MORE, *kept, *(pieces[-tail:] if tail else [])])


def _line(line: str, columns: int) -> str:
    if len(line) <= columns and line.isascii():
        return line
    plain = _CODES.sub("", line)
    if width(plain) <= columns:
        return line
    if _RULE.fullmatch(plain):
        return plain[:columns]
    if _NAMED.match(plain):
        return shortened(line, columns)
    if _CODE.match(plain):
        return cut(plain, columns - 1)[0] + MORE
    if command := _COMMAND.fullmatch(plain):
        return _command(command[1], command[2], columns)
    return _wrapped(line, columns)


def _command(head: str, command: str, columns: int) -> str:
    indent = " " * (len(head) - len(head.lstrip()) + 2)
    lines: list[str] = []
    line = head.rstrip()
    for argument in _ARGUMENT.findall(command):
        if width(f"{line} {argument} \\") > columns and line.strip():
            lines.append(f"{line} \\" if lines or line != head.rstrip() else line)
            line = indent + argument
        else:
            line = f"{line} {argument}"
    return "\n".join([*lines, line])


def _wrapped(line: str, columns: int) -> str:
    plain = _CODES.sub("", line)
    indent = " " * min(len(plain) - len(plain.lstrip(" ")) + 2, columns // 3)
    out, room = "", columns
    for blanks, word in re.findall("( *)([^ ]*)", line):
        needed = width(_CODES.sub("", word))
        if len(blanks) + needed <= room:
            out += blanks + word
            room -= len(blanks) + needed
        elif out and needed <= columns - len(indent):
            out += f"\n{indent}{word}"
            room = columns - len(indent) - needed
        else:  # longer than a line
            out += blanks[:room]
            room -= len(blanks[:room])
            for piece in _PIECE.findall(word):
                if letter_width(piece) > room:
                    out, room = f"{out}\n{indent}", columns - len(indent)
                out += piece
                room -= letter_width(piece)
    return out


@lru_cache(1000)
def _is_from_right(letter: str) -> bool:
    return bidirectional(letter) in _FROM_RIGHT and letter.isprintable()


def _isolated_words(text: str) -> str:
    words = text.split(" ")
    found = [place for place, word in enumerate(words) if any(map(_is_from_right, word))]
    for place in found:
        word = words[place]
        letters = [at for at, letter in enumerate(word) if letter.isalnum()]
        start, end = letters[0], letters[-1] + 1
        words[place] = f"{word[:start]}{_ISOLATE}{word[start:end]}{_END}{word[end:]}"
    return " ".join(words).replace(f"{_END} {_ISOLATE}", " ")
