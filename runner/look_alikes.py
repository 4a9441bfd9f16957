"""Two values as texts that cannot be confused: what cannot be seen, or looks like something in the other text, is
written as an escape, and of long ones the part is shown in which they differ.

`bindings/src/explain/look-alikes.ts` does the same for what scripts compare; `PAIRS` is the same there."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from os.path import commonprefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PAIRS = (
    "аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝwӏlАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSԌGԚQԜWЗ3ЬbвBкkмmнHтT"
    "αaοoρpνvκkιiτtυuγyΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϲcɑaɡgıiօoսuհhոnցgլlɩiʋuƽ5ɪiǀ|"
    "‐-‑-‒-–-—-―-−-⁃-‘'’'‚'‛'′'ʼ'´'ˈ'“\"”\"„\"‟\"″\"×xꞏ·•·∙·⋅·∗*⁎*⁄/∕/∶:ː:։:ǃ!‹<›>∣|ⅼl"
)
"""Letters and signs, each before the one that it looks like; those that Unicode calls compatible are not listed."""
_SIGNS = dict(zip(PAIRS[::2], PAIRS[1::2], strict=True))
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u200e\u200f"
    "\u2028-\u202f\u205f-\u206f\u3164\ue000-\uf8ff\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_BLANK = re.compile("[\\s\u3164\u2800]")
BEFORE = 60
"""Characters before the place where two long texts differ."""


def sides(expected: Any, actual: Any, limit: int = 0) -> tuple[str, str]:
    """Two values that differ, as texts; `limit`: characters of one text that are shown, 0: all."""
    texts = (raw(expected), raw(actual))
    if _look(texts[0]).split() == _look(texts[1]).split() or any(text != text.strip() or not text for text in texts):
        texts = (_json(expected), _json(actual))
    return apart(*_windows(texts, limit))


def printed(expected: Any, actual: Any, limit: int) -> tuple[str, str]:
    """Two values that differ as JSON, of long ones the part in which they differ."""
    return apart(*_windows((_json(expected), _json(actual)), limit))


def lines_apart(expected: str, actual: str, limit: int) -> tuple[str, str]:
    """Two lines that differ; in quotes where only blanks differ, of long ones the part in which they differ."""
    texts = (expected, actual)
    if _look(expected).split() == _look(actual).split() or any(text and not text.strip() for text in texts):
        texts = (_json(expected), _json(actual))
    return apart(*_windows(texts, limit))


def apart(expected: str, actual: str) -> tuple[str, str]:
    """Two different texts, with escapes for invisible characters and for those that look like another one."""
    if expected.isascii() and actual.isascii():
        return visible(expected), visible(actual)
    own, other = Counter(_letters(expected)), Counter(_letters(actual))
    told = _told(expected, own, other, False), _told(actual, other, own, False)
    if told == (expected, actual) and _look(expected) == _look(actual):
        told = _told(expected, own, other, True), _told(actual, other, own, True)
    return visible(told[0]), visible(told[1])


def visible(text: str) -> str:
    """A text in which what cannot be seen is written as escapes."""
    return _HIDDEN.sub(lambda match: _escaped(match[0]), text)


def _told(text: str, own: Counter[str], other: Counter[str], every: bool) -> str:
    """A text with escapes for letters that look like another one of the other text, and that are more or fewer in it;
    `every`: also for those that are as many."""
    looks: dict[str, set[str]] = {}
    for letter in other:
        looks.setdefault(_look(letter), set()).add(letter)

    def confused(letter: str) -> bool:
        if letter.isascii() or (not every and own[letter] == other[letter]):
            return False
        look = _look(letter)
        return look in ("", " ") or bool(looks.get(look, set()) - {letter})

    return "".join(_escaped(letter) if confused(letter) else letter for letter in _letters(text))


def _letters(text: str) -> list[str]:
    """Letters with the marks that belong to them."""
    found: list[str] = []
    for character in text:
        if found and unicodedata.category(character).startswith("M"):
            found[-1] += character
        else:
            found.append(character)
    return found


def _look(text: str) -> str:
    plain = _IGNORABLE.sub("", unicodedata.normalize("NFKC", text))
    return "".join(" " if _BLANK.fullmatch(character) else _SIGNS.get(character, character) for character in plain)


def _escaped(text: str) -> str:
    return "".join(c if " " <= c < "\x7f" else json.dumps(c)[1:-1] if c > "\x7f" else f"\\u{ord(c):04x}" for c in text)


def raw(value: Any) -> str:
    """A text as it is, any other value as JSON."""
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _windows(texts: tuple[str, str], limit: int) -> tuple[str, str]:
    if not limit or max(map(len, texts)) <= limit:
        return texts
    at = max(0, len(commonprefix(texts)) - BEFORE)  # noqa: RUF071 - of letters, not of paths
    return _window(texts[0], at, limit), _window(texts[1], at, limit)


def _window(text: str, start: int, limit: int) -> str:
    piece = text[start : start + limit]
    rest = len(text) - start - len(piece)
    before = f"{start} characters ... " if start else ""
    return f"{before}{piece}" + (f" ... {rest} more characters" if rest > 0 else "")
