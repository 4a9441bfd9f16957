r"""The forms in which programs write a secret value, as regular expressions.

| form | written by |
|---|---|
| unchanged | all programs |
| `\"`, `\/`, `\u0026`, `\x26`, also with their backslashes doubled | JSON, JSON in JSON, JavaScript, Markdown |
| `%2F`, `%2f`, `%252F`, `+` for a space; `=2F` | URLs; quoted-printable |
| `&amp;`, `&#38;`, `&#x26;` | HTML and XML |
| hexadecimal digits, also as `2f:26`, `2f 26`, `0x2f, 0x26` | digests, dumps, certificates |
| `47, 38` | lists of bytes in JSON |
| base64 and base64url, also of a longer text that contains the value | headers, data URLs, keys |

A search takes time in proportion to the text: patterns give back nothing that they have taken (`++`), or a little.
Which of them a text needs is known before, by the marks of a value in the text, and in what `decoded` reads in it.
`unwrapped` finds line breaks in base64 and in quoted-printable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from scripttest.values import Value

SHORTEST_BASE64 = 8
"""Fewest characters of base64 that can be distinguished from other text."""
_ENTITIES = {"&": ("&amp;",), "<": ("&lt;",), ">": ("&gt;",), '"': ("&quot;",), "'": ("&apos;",)}
_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_WRAPPED = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{32,}+(?:(?:\\++[rn]|[\r\n])++[ \t>|]*+[A-Za-z0-9+/_=-]++)++"
)
"""Base64, or hexadecimal digits, on several lines."""
_HAS_WRAPPED = re.compile(r"[\r\n\\](?<=[A-Za-z0-9+/_-]{32}[\r\n\\])").search
_BREAK = re.compile(r"(?:\\++[rn]|[\r\n])++[ \t>|]*+")
_BETWEEN_PAIRS = r"(?:[:. -]|, ?|,? ?0[xX]|\\++x)"
_BLANKS = r"(?:\s|\\++[nrt])*+"
_BETWEEN_BYTES = f"{_BLANKS},{_BLANKS}"
_PAIR = "[0-9A-Fa-f]{2}"
_LETTER = "(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])"
"""The code of a letter or a digit, or nearly so."""
_HAS_ESCAPES = tuple(
    (sign, re.compile(pattern).search)
    for sign, pattern in (
        ("%", f"%(?:25)*+{_LETTER}"),
        ("=", f"={_LETTER}={_LETTER}"),
        ("&#", r"&#[xX]?[0-9]"),
        ("\\", rf"\\(?:x|u00){_LETTER}"),
    )
)
_ESCAPE = re.compile(r"(?:%(?:25)*+|=|\\++(?:x|u00)|&#[xX]0*+)([0-9A-Fa-f]{2});?+|&#0*+([0-9]{1,3});")
_HAS_PAIRS = tuple(
    (sign, re.compile(f"{between}{_PAIR}" * 5).search)
    for sign, between in ((":", ":"), (" ", " "), ("-", "-"), (".", r"\."), (",", ", ?(?:0[xX])?"), (" 0x", " 0[xX]"))
)
_PAIRS = re.compile(f"{_PAIR}(?:{_BETWEEN_PAIRS}{_PAIR}){{5,}}+")
_DIGITS = re.compile(f"(?<![0-9A-Fa-f]){_PAIR}(?![0-9A-Fa-f])")
_HAS_BYTES = re.compile(f",{_BLANKS}[0-9]{{1,3}}{_BLANKS}" * 5).search
_BYTES = re.compile(f"[0-9]{{1,3}}(?:{_BETWEEN_BYTES}[0-9]{{1,3}}){{5,}}+")
_NUMBER = re.compile("[0-9]+")


class Marks(Value):
    """What shows that a text may have a value."""

    plain: str
    """The longest row of letters and digits in it; empty if there is none, and each text has to be searched."""
    encoded: tuple[str, ...]
    """The value in hexadecimal digits and base64."""

    def kinds_in(self, text: str, codes: str) -> str:
        """Which forms the text may have, for `pattern_of`; `codes` is what `decoded` reads in it."""
        is_spelled = not self.plain or (bool(codes) and self.plain in codes)
        kinds = "s" if is_spelled else "p" if self.plain in text else ""
        return f"{kinds}e" if any(form in text for form in self.encoded) else kinds


def marks_of(value: str) -> Marks:
    """The marks of a value."""
    return Marks(
        plain=max(re.findall("[A-Za-z0-9]+", value), key=len, default=""), encoded=tuple(dict.fromkeys(_encoded(value)))
    )


def decoded(text: str) -> str:
    """What a text says in letters and digits that are written as escapes or as codes; empty when there are none."""
    found = []
    if any(sign in text and search(text) for sign, search in _HAS_ESCAPES):
        found.append(_ESCAPE.sub(lambda match: chr(int(match[1], 16) if match[1] else int(match[2])), text))
    if any(sign in text and search(text) for sign, search in _HAS_PAIRS):
        found += ["".join(chr(int(pair, 16)) for pair in _DIGITS.findall(row)) for row in _rows(_PAIRS, text)]
    if _HAS_BYTES(text):
        found += ["".join(chr(int(number)) for number in _NUMBER.findall(row)) for row in _rows(_BYTES, text)]
    return "\0".join(found)


def _rows(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return (match[0] for match in pattern.finditer(text))


def pattern_of(value: str, kinds: str) -> str:
    """A regular expression, without groups that capture, for a value in the forms of these kinds: `p` with its letters
    and digits as they are, `s` with these as escapes or codes too, `e` in hexadecimal digits or base64. Each of its
    alternatives begins with a character of its own, by which a search is quick."""
    found = list(map(re.escape, dict.fromkeys(_encoded(value)))) if "e" in kinds else []
    is_spelled = "s" in kinds
    if is_spelled or "p" in kinds:
        pieces = re.findall(r"\\+|[^\\]", value)
        slashes = [r"\\*+" if before[0] == "\\" else r"\\++" for before in pieces]  # a row has taken them all
        rest = "".join(
            ways[0] if len(ways := _ways(*one, is_spelled)) == 1 else f"(?:{'|'.join(ways)})"
            for one in zip(pieces[1:], slashes, strict=False)
        )
        found += [f"{first}{rest}" for first in _ways(pieces[0], r"\\(?<!\\\\)\\*+", is_spelled)]
    if is_spelled:
        data = value.encode(errors="replace")
        listed = _BETWEEN_BYTES.join(map(str, data))
        found.append(f"{_BETWEEN_PAIRS}?".join(_hex(f"{byte:02x}") for byte in data))
        found.append(f"{listed[0]}(?<![0-9]{listed[0]}){listed[1:]}(?![0-9])")
    return "|".join(found)


def unwrapped(text: str, clean: Callable[[str], str]) -> str:
    """A text without secrets in base64 and quoted-printable over several lines, which are joined."""

    def joined(match: re.Match[str]) -> str:
        whole = _BREAK.sub("", match[0])
        cleaned = clean(whole)
        return match[0] if cleaned == whole else cleaned

    if "=\n" in text or "=\r\n" in text:
        whole = clean(text.replace("=\r\n", "").replace("=\n", ""))
        text = whole if whole.count("***") > clean(text).count("***") else text
    return _WRAPPED.sub(joined, text) if _HAS_WRAPPED(text) else text


def _encoded(value: str) -> Iterator[str]:
    """The value as hexadecimal digits and as base64."""
    try:
        data = value.encode()
    except UnicodeEncodeError:
        return
    yield from (data.hex(), data.hex().upper())
    yield from _base64(data)


def _ways(piece: str, slashes: str, is_spelled: bool) -> list[str]:
    """The ways in which a character, or a row of backslashes, is written, after backslashes with this pattern."""
    if piece[0] == "\\":
        row = len(piece) - 1
        one = [rf"{slashes}(?:u005[cC]|x5[cC])", *_codes(piece[0])]
        return [rf"\\(?<!\\\\)\\{{{row},}}+", *(f"{way}(?:{'|'.join(one)}){{{row}}}" for way in one)]
    code = ord(piece)
    is_plain = piece.isascii() and piece.isalnum()
    written = [re.escape(piece), *map(re.escape, _ENTITIES.get(piece, ()))]
    if is_plain and not is_spelled:
        return written
    escapes = [] if is_plain else [*written, *_codes(piece)]
    units = piece.encode("utf-16-be", "surrogatepass").hex()
    parts = [f"u{_hex(units[place : place + 4])}" for place in range(0, len(units), 4)]
    escapes.append(parts[0] + "".join(rf"\\++{part}" for part in parts[1:]))
    if code < 256:
        escapes.append(rf"x{_hex(f'{code:02x}')}")
    if piece in _ESCAPES:
        escapes.append(_ESCAPES[piece])
    return [rf"{slashes}(?:{'|'.join(escapes)})", *written, *_codes(piece), *([r"\+"] if piece == " " else [])]


def _codes(character: str) -> list[str]:
    """A character by its number, as in HTML, in URLs and in quoted-printable."""
    code = ord(character)
    found = [f"&#0*+{code};", f"&#[xX]0*+{_hex(f'{code:x}')};"]
    if not 0xD800 <= code <= 0xDFFF:
        data = [_hex(f"{byte:02x}") for byte in character.encode()]
        found += ["".join(f"%(?:25)*{byte}" for byte in data), "".join(f"={byte}" for byte in data)]
    return found


def _hex(digits: str) -> str:
    """Hexadecimal digits, in lower and upper case."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


def _base64(data: bytes) -> Iterator[str]:
    """What stands for the data inside base64 of more than the data: the letters that depend on nothing else."""
    from base64 import b64encode, urlsafe_b64encode

    for encode in (b64encode, urlsafe_b64encode):
        for before in range(3):
            size = before + len(data)
            text = encode(bytes(before) + data).decode()[(0, 2, 3)[before] : size // 3 * 4 + (0, 1, 2)[size % 3]]
            if len(text) >= SHORTEST_BASE64:
                yield text
