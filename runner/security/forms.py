r"""The forms in which programs write a secret value, as regular expressions.

| form | written by |
|---|---|
| unchanged | all programs |
| `\"`, `\/`, `\u0026`, `\x26`, also with their backslashes doubled | JSON, JSON in JSON, JavaScript, Markdown |
| `%2F`, `%2f`, `%252F`, `+` for a space | URLs; they differ in which characters they leave unchanged |
| `&amp;`, `&#38;`, `&#x26;` | HTML and XML |
| hexadecimal digits | digests, dumps |
| base64 and base64url, also of a longer text that contains the value | headers, data URLs, keys |

All of these leave letters and digits unchanged. `unwrapped` finds line breaks in base64.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

SHORTEST_BASE64 = 8
"""Fewest characters of base64 that can be distinguished from other text."""
_ENTITIES = {"&": ("&amp;",), "<": ("&lt;",), ">": ("&gt;",), '"': ("&quot;",), "'": ("&apos;",)}
_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_WRAPPED = re.compile(r"[A-Za-z0-9+/_-]{32,}(?:(?:\\+[rn]|[\r\n])+[ \t>|]*[A-Za-z0-9+/_=-]+)+")
"""Base64, or hexadecimal digits, on several lines."""
_BREAK = re.compile(r"(?:\\+[rn]|[\r\n])+[ \t>|]*")


def pattern_of(value: str) -> str:
    """A regular expression, without groups that capture, for a value in all its forms. Each of its alternatives begins
    with a character of its own, by which a search is quick."""
    rest = "".join(map(_any_of, value[1:]))
    found = [f"{first}{rest}" for first in _ways(value[0])]
    try:
        data = value.encode()
    except UnicodeEncodeError:
        return "|".join(found)
    plain = [data.hex(), data.hex().upper(), *_base64(data)]
    return "|".join([*found, *(re.escape(form) for form in dict.fromkeys(plain))])


def unwrapped(text: str, clean: Callable[[str], str]) -> str:
    """A text without secrets in base64 over several lines, which are joined."""

    def joined(match: re.Match[str]) -> str:
        whole = _BREAK.sub("", match[0])
        cleaned = clean(whole)
        return match[0] if cleaned == whole else cleaned

    return _WRAPPED.sub(joined, text)


def _any_of(character: str) -> str:
    ways = _ways(character)
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


def _ways(character: str) -> list[str]:
    """The ways in which a character is written; no pattern begins with a repetition."""
    if character.isascii() and character.isalnum():
        return [character]
    code = ord(character)
    written = [re.escape(character), *map(re.escape, _ENTITIES.get(character, ()))]
    written += [f"&#0*{code};", f"&#[xX]0*{_hex(f'{code:x}')};"]
    ways = [rf"\\+(?:{'|'.join(written)})", *written] if character != "\\" else [r"\\+", *written[1:]]
    units = character.encode("utf-16-be", "surrogatepass").hex()
    ways.append("".join(rf"\\+u{_hex(units[place : place + 4])}" for place in range(0, len(units), 4)))
    if code < 256:
        ways.append(rf"\\+x{_hex(f'{code:02x}')}")
    if character in _ESCAPES:
        ways.append(rf"\\+{_ESCAPES[character]}")
    if character == " ":
        ways.append(r"\+")
    if not 0xD800 <= code <= 0xDFFF:
        ways.append("".join(f"%(?:25)*{_hex(f'{byte:02x}')}" for byte in character.encode()))
    return ways


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
