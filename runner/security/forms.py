r"""The forms in which programs write a secret value, as regular expressions.

| form | written by |
|---|---|
| unchanged | all programs |
| `\"`, `\/`, `\u0026`, `\x26`, also with their backslashes doubled | JSON, JSON in JSON, JavaScript, Markdown |
| `%2F`, `%2f`, `%252F`, `+` for a space; `=2F` | URLs; quoted-printable |
| `&amp;`, `&#38;`, `&#x26;` | HTML and XML |
| hexadecimal digits, also as `2f:26`, `2f 26`, `0x2f, 0x26` | digests, dumps, certificates |
| `47, 38`, `"0":47,"1":38` | lists of bytes in JSON, and typed arrays |
| base64 and base64url, also of a longer text that contains the value | headers, data URLs, keys |

A search takes time in proportion to the text: patterns give back nothing that they have taken (`++`), or a little.
Which of them a text needs is known before, by the marks of a value in the text, and in what `decoded` reads in it.
`unwrapped` finds line breaks in base64 and in quoted-printable. `CutValues` finds values of which a shortened text
shows only the beginning or the end, `abc...` or `… xyz`: who shortens a text does not know the secrets, and may cut
through one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

from scripttest.values import Value

SHORTEST_BASE64 = 8
"""Fewest characters of base64 that can be distinguished from other text."""
_ENTITIES = {"&": ("&amp;",), "<": ("&lt;",), ">": ("&gt;",), '"': ("&quot;",), "'": ("&apos;",)}
_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_WRAPPED = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{32,}+(?:(?:\\++[rn]|[\r\n]|(?!))++[ \t>|]*+[A-Za-z0-9+/_=-]++|(?!))++"
)
"""Base64, or hexadecimal digits, on several lines."""
_HAS_WRAPPED = re.compile(r"[\r\n\\](?<=[A-Za-z0-9+/_-]{32}[\r\n\\])").search
_BREAK = re.compile(r"(?:\\++[rn]|[\r\n]|(?!))++[ \t>|]*+")
_BETWEEN_PAIRS = r"(?:[:. -]|, ?|,? ?0[xX]|\\++x)"
_BLANKS = r"(?:\s|\\++[nrt]|(?!))*+"
_INDEX = rf'\\*+"?+[0-9]{{1,7}}+\\*+"?+:{_BLANKS}'
_BETWEEN_BYTES = f"{_BLANKS},{_BLANKS}(?:{_INDEX}|(?!))?+"
_PAIR = "[0-9A-Fa-f]{2}"
_LETTER = "(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])"
"""The code of a letter or a digit, or nearly so."""
_HAS_PAIRS = tuple(
    (sign, re.compile(f"{between}{_PAIR}" * 5).search)
    for sign, between in ((":", ":"), (" ", " "), ("-", "-"), (".", r"\."), (" 0x", " 0[xX]"))
)
_HAS_PAIRS_IN_LIST = re.compile(f", ?(?:0[xX])?{_PAIR}" * 5).search
_HAS_BYTES = re.compile(f",{_BLANKS}[0-9]{{1,3}}{_BLANKS}" * 5).search
_HAS_INDEXED = re.compile(f",{_BLANKS}{_INDEX}[0-9]{{1,3}}{_BLANKS}" * 5).search
_NO_CODE = f"%(?!{_PAIR})"
_NO_ESCAPE = rf"\\(?!(?:x|u00){_PAIR})"
_PAIRS = f"{_PAIR}(?:{_BETWEEN_PAIRS}{_PAIR}|(?!)){{5,}}+"
_COMMAS = (",", ", ", ",0x", ", 0x", ",0X", ", 0X")
"""Between pairs in a list. Every list of bytes has to be searched for them: with a pattern for each comma this is
several times as quick as with one for all."""
_BETWEEN = dict.fromkeys(map(ord, "%=\\xX&#;:.-, "))
"""What is before the digits of a code, and between two codes."""
_BYTES = r"[0-9,\s\\nrt]{11,}+"
"""What may be a list of six bytes or more, with line breaks that are written as escapes."""
_NO_ITEM = ", \t\r\n"
_LONGEST_KEPT, _MOST_KEPT = 16, 5000
"""Characters of a text whose reading is kept, and how many are."""
LEAST = 6
"""Characters of a value that are told apart from other text."""
_MARK = r"(?:…|\.\.\.)"
_BEFORE_MARK = re.compile(rf"[\"'`]? ?{_MARK}")
_AFTER_MARK = re.compile(rf"{_MARK} ?[\"'`]?")
_AROUND = 5
"""Characters of the longest mark, with what stands between it and the text."""


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


class _Readings(dict[str, str]):
    """Text → what it says, by a function. Those of short texts are kept."""

    def __init__(self, read: Callable[[str], str]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: str) -> str:
        found = self._read(text)
        if len(text) <= _LONGEST_KEPT and len(self) < _MOST_KEPT:
            self[text] = found
        return found


class CutValues:
    """Hides values that are cut."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """`names`: value → its name."""
        self._names = names
        self._heads: dict[str, list[str]] = {}
        self._tails: dict[str, list[str]] = {}
        for value in names:
            if len(value) > LEAST:
                self._heads.setdefault(value[:LEAST], []).append(value)
                self._tails.setdefault(value[-LEAST:], []).append(value)
        self._ends = (*{**self._heads, **self._tails},)

    def hide(self, text: str) -> str:
        """The text with `***NAME***` in place of what is left of a cut value."""
        if "…" not in text and "..." not in text:
            return text
        done, pieces = 0, []
        for start, end, name in self._found(text):
            if start >= done:
                pieces += [text[done:start], f"***{name}***"]
                done = end
        return "".join([*pieces, text[done:]])

    def _found(self, text: str) -> Iterator[tuple[int, int, str]]:
        ends = [re.escape(end) for end in self._ends if end in text]
        for match in re.finditer(f"(?=({'|'.join(ends)}))", text) if ends else ():
            start, end = match.span(1)
            for value in self._heads.get(match[1], ()):
                mark = _BEFORE_MARK.search(text, end, start + len(value) + _AROUND)
                if mark and value.startswith(text[start : mark.start()]):
                    yield start, mark.start(), self._names[value]
            for value in self._tails.get(match[1], ()):
                marks = [*_AFTER_MARK.finditer(text, max(0, end - len(value) - _AROUND), start)]
                if marks and value.endswith(text[marks[-1].end() : end]):
                    yield marks[-1].end(), end, self._names[value]


def marks_of(value: str) -> Marks:
    """The marks of a value."""
    return Marks(
        plain=max(re.findall("[A-Za-z0-9]+", value), key=len, default=""), encoded=tuple(dict.fromkeys(_encoded(value)))
    )


def decoded(text: str) -> str:
    """What a text says in letters and digits that are written as escapes or as codes; empty when there are none."""
    found = []
    said = text
    for sign, search, read in _ESCAPED:
        if sign in said and search(said):
            said = read(said)
            found.append(said)
    if any(sign in text and search(text) for sign, search in _HAS_PAIRS):
        found += [_read_pairs(match[0]) for match in re.finditer(_PAIRS, text)]
    if "," in text and _HAS_PAIRS_IN_LIST(text):
        for comma in [comma for comma in _COMMAS if comma in text]:
            for match in re.finditer(f"{comma}{_PAIR}(?:{comma}{_PAIR}|(?!)){{4,}}+", text):
                first = text[max(match.start() - 2, 0) : match.start()]
                found.append(_read_pairs((first if re.fullmatch(_PAIR, first) else "00") + match[0]))
    if ":" in text and _HAS_INDEXED(text):
        text = re.sub(_INDEX, "", text)
    if _HAS_BYTES(text):
        found += [_read_list(match[0]) for match in re.finditer(_BYTES, text)]
    return "\0".join(found)


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


def _read_percents(text: str) -> str:
    """A text whose `%2F` and `%252F` are characters. The decoder of Python's escapes is the quickest one."""
    if "%25" in text:
        text = re.sub("%(?:25|(?!))++", "%", text)
    if re.search(_NO_CODE, text):
        text = re.sub(_NO_CODE, " ", text)
    return _unescaped(text.replace("\\", " ").replace("%", "\\x"))


def _read_quoted(text: str) -> str:
    """A text whose `=2F` are characters."""
    from binascii import a2b_qp

    return a2b_qp(text.encode("latin-1", "replace")).decode("latin-1")


def _read_numbers(text: str) -> str:
    """A text whose `&#38;` and `&#x26;` are characters."""
    pieces = re.split("&#([xX]?[0-9A-Fa-f]++);?", text)
    pieces[1::2] = map(_CHARACTERS.__getitem__, pieces[1::2])
    return "".join(pieces)


def _read_escapes(text: str) -> str:
    r"""A text whose `\x2f`, `\u002f` and `\\x2f` are characters."""
    if "\\\\" in text:
        text = re.sub(r"\\\\++", r"\\", text)
    if re.search(_NO_ESCAPE, text):
        text = re.sub(_NO_ESCAPE, " ", text)
    return _unescaped(text)


def _unescaped(text: str) -> str:
    return text.encode("latin-1", "replace").decode("unicode_escape")


def _read_number(number: str) -> str:
    """The character of `38` or `x26`; of hexadecimal digits the first two count, as no sign need end them."""
    digits = number[1:].lstrip("0") if number[0] in "xX" else ""
    code = int(digits[:2] or "0", 16) if digits else int(number) if number.isdecimal() and len(number) < 8 else 0
    return chr(code) + digits[2:] if code < 256 else ""


def _read_pairs(row: str) -> str:
    """The characters of codes of two hexadecimal digits each."""
    digits = row.replace("u00", "").replace("0x", "").replace("0X", "").translate(_BETWEEN)
    return bytes.fromhex(digits).decode("latin-1")


def _read_list(row: str) -> str:
    """The characters of numbers with commas between them, as far as these are bytes."""
    try:
        return bytes(json.loads(f"[{row.strip(_NO_ITEM)}]")).decode("latin-1")
    except ValueError:
        return "".join(map(_ITEMS.__getitem__, row.split(",")))


def _read_item(item: str) -> str:
    """The character of a byte in a list, with the blanks around it; other numbers there are none."""
    codes = [int(number) for number in re.findall("[0-9]+", item) if len(number) <= 3]
    return "\0".join(chr(code) for code in codes) or "\0"


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


_ITEMS, _CHARACTERS = _Readings(_read_item), _Readings(_read_number)
_ESCAPED = tuple(
    (sign, re.compile(pattern).search, read)
    for sign, pattern, read in (
        ("%", f"%(?:25|(?!))*+{_LETTER}", _read_percents),
        ("=", f"={_LETTER}={_LETTER}", _read_quoted),
        ("&#", r"&#[xX]?[0-9]", _read_numbers),
        ("\\", rf"\\(?:x|u00){_LETTER}", _read_escapes),
    )
)
