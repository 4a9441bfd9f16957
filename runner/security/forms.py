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

What a value has in one of these forms is first looked for in *readings* of the whole text, made by methods of bytes
that run through it at once: without the signs between pairs or between numbers, with letters in place of codes. Only
where one has it, a pattern searches the text. Both take time in proportion to the text: patterns give back nothing that
they have taken (`++`), or a little. `unwrapped` finds line breaks in base64 and in quoted-printable. `CutValues` finds
values of which a shortened text shows only the beginning or the end, `abc...` or `… xyz`: who shortens a text does not
know the secrets, and may cut through one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import chain

_AT_ONCE, _OVERLAP = 1 << 20, 1 << 16
"""Characters of a long text that are read at once, and of the next ones, since a value may lie across."""
SHORTEST_BASE64 = 8
"""Fewest characters of base64 that can be distinguished from other text."""
_ENTITIES = {"&": ("&amp;",), "<": ("&lt;",), ">": ("&gt;",), '"': ("&quot;",), "'": ("&apos;",)}
_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_WRAPPED = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{32,}+(?:(?:\\++[rn]|[\r\n]|(?!))++[ \t>|]*+[A-Za-z0-9+/_=-]++|(?!))++"
)
"""Base64, or hexadecimal digits, on several lines."""
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_ROWS = bytes.maketrans(_LETTERS + b"\r\\", b"a" * len(_LETTERS) + b"\n\n")
_ROW = b"a" * 32 + b"\n"
"""What base64 on several lines has by the table `_ROWS`."""
_BREAK = re.compile(r"(?:\\++[rn]|[\r\n]|(?!))++[ \t>|]*+")
_BETWEEN_PAIRS = r"(?:[:. -]|, ?|,? ?0[xX]|\\++x)"
_BLANKS = r"(?:\s|\\++[nrt]|(?!))*+"
_INDEX = rf'\\*+"?+[0-9]{{1,7}}+\\*+"?+:{_BLANKS}'
_BETWEEN_BYTES = f"{_BLANKS},{_BLANKS}(?:{_INDEX}|(?!))?+"
_ENTITY = {
    form % ord(letter): letter.encode()
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    for form in (b"#%d", b"#x%x", b"#x%X")
}
_ESCAPES_AS_CODES, _PERCENTS_AS_CODES, _ALL_AS_CODES = (
    bytes.maketrans(b"\r\n%=", b"  " + signs) for signs in (b"  ", b"= ", b"==")
)
"""Tables for `_decoded`; line breaks are blanks as they have a meaning after `=`."""
_NO_NUMBERS = bytes([*b' \t\r\n\v\f\x1c\x1d\x1e\x1f\\nrt"', *range(128, 256)])
"""What may stand between numbers and commas."""
_NO_COMMAS = b"0123456789:" + _NO_NUMBERS
Marks = dict[str, list[tuple[bytes, str]]]
"""Kind of forms → what shows that a reading of such forms may have a value, and the value; for numbers, a pattern."""
_QUOTES = ('"', "'", "`")
_Ends = dict[str, list[tuple[str, str]]]
LEAST = 6
"""Characters of a value that are told apart from other text."""


class CutValues:
    """Hides values that are cut."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """`names`: value → its name."""
        self._heads: _Ends = {}
        """The first characters of a value → it, and what is shown in its place."""
        self._tails: _Ends = {}
        """The same from right to left."""
        for value, name in names.items():
            if len(value) > LEAST:
                for ends, one, shown in (
                    (self._heads, value, f"***{name}***"),
                    (self._tails, value[::-1], f"***{name[::-1]}***"),
                ):
                    ends.setdefault(one[:LEAST], []).append((one, shown))

    def hide(self, text: str) -> str:
        """The text with `***NAME***` in place of what is left of a cut value."""
        if "…" not in text and "..." not in text:
            return text
        heads = [end for end in self._heads if end in text]
        tails = [end for end in self._tails if end[::-1] in text]
        if not heads and not tails:
            return text
        pieces = re.split(r"(…|\.\.\.)", text)
        if heads:
            pieces[:-1:2] = map(lru_cache(1000)(partial(_without_head, heads, self._heads)), pieces[:-1:2])
        if tails:
            clean = lru_cache(1000)(partial(_without_head, tails, self._tails))
            pieces[2::2] = [clean(piece[::-1])[::-1] for piece in pieces[2::2]]
        return "".join(pieces)


def marks_of(values: Iterable[str]) -> Marks:
    """The marks of values, in their order."""
    marks: Marks = {kind: [] for kind in "peshl"}
    for value in values:
        data = value.encode(errors="replace")
        letters = max(re.findall(rb"[A-Za-z0-9]+", data), key=len, default=b"")
        numbers = ",(?:[0-9]+:)?".join(map(str, data)).encode()
        own = {"p": letters, "s": letters, "h": data.hex().encode(), "l": numbers}
        for kind, mark in own.items():
            marks[kind].append((mark, value))
        marks["e"] += [(form.encode(), value) for form in dict.fromkeys(_base64(data))]
    return marks


def pieces_of(text: str) -> Iterator[bytes]:
    """A text in UTF-8, piece by piece, each with the beginning of the next one."""
    for start in range(0, len(text), _AT_ONCE):
        yield text[start : start + _AT_ONCE + _OVERLAP].encode(errors="replace")


def kinds_in(text: str, marks: Marks) -> dict[str, str]:
    """The values that a text may have, and in which kinds of forms."""
    found: dict[str, str] = {}
    for kind, reading in chain.from_iterable(map(readings, pieces_of(text))):
        for mark, value in marks[kind]:
            has = mark in reading if kind != "l" else re.search(mark, reading)
            if has and kind not in found.get(value, ""):
                found[value] = found.get(value, "") + kind
    return found


def readings(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """What a text in UTF-8 says, with the kind of forms that is looked for in it: the text itself; with letters in
    place of codes; hexadecimal digits without what stands between pairs; numbers without blanks. Readings
    that cannot have a value are left out."""
    yield "p", raw
    if len(raw) < SHORTEST_BASE64:
        return
    yield "e", raw
    said = raw
    if b"&#" in raw:
        said = raw.replace(b"&#X", b"&#x").replace(b"%&#", b" &#").replace(b"=&#", b" &#")  # no codes
        said = _shortened(said, b"&#", b"&#")
        said = _shortened(_shortened(said, b"&#", b"0"), b"&#x", b"0")
        pieces = said.replace(b";&#", b"&#").replace(b";", b"&").split(b"&")
        said = b"".join(map(_ENTITY.get, pieces, pieces))
        yield "s", said
    for sign, signs in ((b"\\", _ESCAPES_AS_CODES), (b"%", _PERCENTS_AS_CODES), (b"=", _ALL_AS_CODES)):
        if sign in said and len(decoded := _decoded(said, signs)) < len(said):
            yield "s", decoded
    if len(raw) >= 2 * LEAST:
        yield "h", raw.lower().replace(b"0x", b"").translate(None, b":. -,\\x")
    if b"," in raw and b",,,,," in raw.translate(None, _NO_COMMAS):
        yield "l", raw.translate(None, _NO_NUMBERS)


def pattern_of(value: str, kinds: str) -> str:
    """A regular expression, without groups that capture, for a value in the forms of these kinds: `p` with its letters
    and digits as they are, `s` with these as escapes or codes too, `e` in hexadecimal digits or base64. Each of its
    alternatives begins with a character of its own, by which a search is quick."""
    data = value.encode(errors="replace")
    found = list(map(re.escape, dict.fromkeys(_base64(data)))) if "e" in kinds else []
    is_spelled = "s" in kinds or not re.search("[A-Za-z0-9]", value)
    if is_spelled or "p" in kinds:
        pieces = re.findall(r"\\+|[^\\]", value)
        slashes = [r"\\*+" if before[0] == "\\" else r"\\++" for before in pieces]  # a row has taken them all
        rest = "".join(
            ways[0] if len(ways := _ways(*one, is_spelled)) == 1 else f"(?:{'|'.join(ways)})"
            for one in zip(pieces[1:], slashes, strict=False)
        )
        found += [f"{first}{rest}" for first in _ways(pieces[0], r"\\(?<!\\\\)\\*+", is_spelled)]
    if "h" in kinds:
        found.append(f"{_BETWEEN_PAIRS}?".join(_hex(f"{byte:02x}") for byte in data))
    if "l" in kinds:
        listed = _BETWEEN_BYTES.join(map(str, data))
        found.append(f"{listed[0]}(?<![0-9]{listed[0]}){listed[1:]}(?![0-9])")
    return "|".join(found)


def _without_head(heads: list[str], values: _Ends, piece: str) -> str:
    """A text, behind which something is cut off, without the beginning of a value at its end. A blank or a quote may
    stand behind that."""
    size = len(piece.removesuffix(" "))
    sizes = (len(piece), size, size - 1 if piece[size - 1 : size] in _QUOTES else size)
    for head in heads:
        at = piece.find(head, max(0, len(piece) - max(len(value) for value, _ in values[head]) - 2))
        while at >= 0:
            for value, shown in values[head]:
                for size in sizes:
                    if size >= at + LEAST and value.startswith(piece[at:size]):
                        return f"{piece[:at]}{shown}{piece[size:]}"
            at = piece.find(head, at + 1)
    return piece


def unwrapped(text: str, clean: Callable[[str], str], has_any: Callable[[str], object]) -> str:
    """A text without secrets in base64 and quoted-printable over several lines, which are joined. `clean` is for one
    line, and `has_any` tells whether a text may have secrets."""

    def joined(match: re.Match[str]) -> str:
        whole = _BREAK.sub("", match[0])
        cleaned = clean(whole)
        return match[0] if cleaned == whole else cleaned

    if ("=\n" in text or "=\r\n" in text) and has_any(text.replace("=\r\n", "").replace("=\n", "")):
        whole = clean(text.replace("=\r\n", "").replace("=\n", ""))
        text = whole if whole.count("***") > clean(text).count("***") else text
    if any(_ROW in piece.translate(_ROWS) for piece in pieces_of(text)):
        raw = text.encode(errors="replace").replace(b"\\n", b"").replace(b"\\r", b"")
        lines = raw.translate(None, b"\r\n\\ \t>|").decode("latin-1")
        return _WRAPPED.sub(joined, text) if has_any(lines) else text
    return text


def _decoded(raw: bytes, signs: bytes) -> bytes:
    """A text with characters in place of codes of two hexadecimal digits after a sign, which is `=` in the table
    `signs`. The decoder of quoted-printable is the quickest one."""
    from binascii import a2b_qp

    raw = raw.replace(b"==", b"  ")
    raw = (raw if signs is _ESCAPES_AS_CODES else _shortened(raw, b"%", b"25")).translate(signs)
    if b"\\" in raw:
        raw = _shortened(raw, b"\\", b"\\").replace(b"\\u00", b"=").replace(b"\\x", b"=")
    return a2b_qp(raw.replace(b"==", b" =").replace(b"==", b" ="))


def _shortened(raw: bytes, sign: bytes, more: bytes) -> bytes:
    """A text without what is repeated behind a sign. Three times are enough for nearly all."""
    for _ in range(3):
        if sign + more not in raw:
            return raw
        raw = raw.replace(sign + more, sign)
    return re.sub(b"(?<=%s)(?:%s|(?!))++" % (re.escape(sign), re.escape(more)), b"", raw)


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
