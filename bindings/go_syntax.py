r"""Reads regular expressions in the syntax of Go, and writes them for the library `regex`.

This is our own parser of https://github.com/google/re2/wiki/Syntax. It follows Go's implementation, so that a construct
never means two things:

| Go | difference in Python |
| --- | --- |
| `$` without `(?m)`, `\z` | Python's `$` also matches before a last line break |
| `\d \w \s \b` and POSIX classes | in Go ASCII only, `\s` without vertical tab |
| `(?i)` in the middle | in Go valid until the end of its group, across `\|` |
| `(?U)`, `\Q..\E`, `\pL`, `\x{10FFFF}`, `[[:alpha:]]` | unknown or different |
| back-references, look-around, atomic groups, possessive and doubled repetition, counts over 1000 | Go refuses them |
"""

from __future__ import annotations

from typing import NoReturn

from bindings.go_characters import LAST, PERL, POSIX, literal, others, set_text
from scripttest.values import Value

MAX_LENGTH = 10_000
"""Longest pattern, in characters."""
MAX_DEPTH = 100
"""Deepest nesting of groups."""
MAX_REPEAT = 1000
"""Highest repetition count, also of nested repetitions multiplied; Go's own bound."""


class PatternError(ValueError):
    """A pattern that Go would refuse; `position` counts characters from 0."""

    def __init__(self, reason: str, pattern: str, position: int | None) -> None:
        where = "" if position is None else f" at position {position}"
        shown = pattern if len(pattern) <= 200 else pattern[:200] + "..."
        super().__init__(f"Cannot use pattern `{shown}`: {reason}{where}")
        self.reason = reason
        self.pattern = pattern
        self.position = position


def for_regex(pattern: str) -> tuple[str, dict[str, int]]:
    """A pattern as `regex` reads it, and the numbers of its named groups. Raises PatternError."""
    parser = _Parser(pattern)
    return parser.translate(), parser.names


class _Flags(Value):
    fold: bool = False
    multiline: bool = False
    dot_all: bool = False
    ungreedy: bool = False


_FLAG_NAMES = {"i": "fold", "m": "multiline", "s": "dot_all", "U": "ungreedy"}

_ESCAPES = {"a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_WORD = "[0-9A-Za-z_]"
_EMPTY = {
    "A": r"(?:\A)",
    "z": r"(?:\Z)",
    "b": f"(?-i:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    "B": f"(?-i:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
_REFUSED_GROUPS = {
    "=": "look-ahead `(?=` is not supported",
    "!": "look-ahead `(?!` is not supported",
    "<=": "look-behind `(?<=` is not supported",
    "<!": "look-behind `(?<!` is not supported",
    ">": "atomic groups `(?>` are not supported",
    "#": "comments `(?#` are not supported",
    "(": "conditional groups are not supported",
    "|": "branch reset `(?|` is not supported",
    "P=": "back-references are not supported",
    "P>": "recursion is not supported",
    "R": "recursion is not supported",
    "&": "recursion is not supported",
}


class _Parser:
    """Reads one Go pattern and writes it for `regex`."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0
        self.captures = 0
        self.names: dict[str, int] = {}

    def translate(self) -> str:
        if len(self.pattern) > MAX_LENGTH:
            raise PatternError(f"it is longer than {MAX_LENGTH} characters", self.pattern, None)
        text, _ = self.group(_Flags())
        if self.at < len(self.pattern):
            self.fail("unexpected `)`", self.at)
        return text

    def fail(self, reason: str, position: int) -> NoReturn:
        raise PatternError(reason, self.pattern, position)

    def peek(self, length: int = 1) -> str:
        return self.pattern[self.at : self.at + length]

    def group(self, flags: _Flags) -> tuple[str, int]:
        """Everything up to the end of the group, and the highest product of nested repetition counts in it."""
        parts: list[str] = []
        weights: list[int] = []
        repeatable = False
        while (character := self.peek()) and character != ")":
            start = self.at
            bounds = self.repetition()
            if bounds is not None:
                if not repeatable:
                    self.fail(f"nothing to repeat before `{self.pattern[start : self.at]}`", start)
                weights[-1] = self.repeat(parts, weights[-1], bounds, flags, start)
                repeatable = False
            elif character == "|":
                self.at += 1
                parts.append("|")
                weights.append(1)
                repeatable = False
            elif character == "(":
                text, weight, flags = self.parenthesis(flags)
                repeatable = text is not None
                if text is not None:
                    parts.append(text)
                    weights.append(weight)
            elif self.peek(2) == r"\Q":
                quoted = self.quoted(flags)
                parts += quoted
                weights += [1] * len(quoted)
                repeatable = repeatable or bool(quoted)
            else:
                parts.append(self.atom(flags))
                weights.append(1)
                repeatable = True
        return "".join(parts), max(weights, default=1)

    def repeat(self, parts: list[str], weight: int, bounds: tuple[int, int | None], flags: _Flags, start: int) -> int:
        low, high = bounds
        lazy = self.peek() == "?"
        self.at += lazy
        if self.repetition() is not None:
            doubled = self.pattern[start : self.at]
            kind = "possessive repetition" if doubled.endswith("+") else "a repetition of a repetition"
            self.fail(f"{kind} `{doubled}` is not supported", start)
        if high is not None and high < low:
            self.fail(f"invalid repetition count `{self.pattern[start : self.at]}`", start)
        weight *= max(low if high is None else high, 1)
        if weight > MAX_REPEAT:
            self.fail(f"a repetition count over {MAX_REPEAT}", start)
        mark = "?" if lazy != flags.ungreedy else ""
        parts[-1] = f"{parts[-1]}{{{low},{'' if high is None else high}}}{mark}"
        return weight

    def repetition(self) -> tuple[int, int | None] | None:
        """Bounds of the repetition operator at this place, which is then behind us; None: there is none."""
        simple = _SIMPLE.get(self.peek())
        if simple is not None:
            self.at += 1
            return simple
        if self.peek() != "{":
            return None
        end = self.pattern.find("}", self.at)
        low, comma, high = self.pattern[self.at + 1 : end].partition(",") if end > 0 else ("", "", "")
        if not _is_count(low) or not (_is_count(high) or not high):
            return None
        self.at = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def parenthesis(self, flags: _Flags) -> tuple[str | None, int, _Flags]:
        """A group, or flags for the rest of the surrounding group (no text)."""
        start = self.at
        inner = flags
        opening = "("
        self.at += 1
        if self.peek() != "?":
            self.captures += 1
        else:
            self.at += 1
            for mark in (self.peek(2), self.peek(1)):
                if mark in _REFUSED_GROUPS:
                    self.fail(_REFUSED_GROUPS[mark], start)
            if self.peek(2) == "P<" or self.peek() == "<":
                self.captures += 1
                self.group_name(start)
            else:
                opening = "(?:"
                inner = self.flags(flags, start)
                if self.peek() == ")":
                    self.at += 1
                    return None, 1, inner
                self.at += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"groups are nested deeper than {MAX_DEPTH}", start)
        text, weight = self.group(inner)
        self.depth -= 1
        if self.peek() != ")":
            self.fail("missing `)` for the group", start)
        self.at += 1
        return f"{opening}{text})", weight, flags

    def group_name(self, start: int) -> None:
        self.at = self.pattern.index("<", self.at) + 1
        end = self.pattern.find(">", self.at)
        name = self.pattern[self.at : end] if end > 0 else ""
        if not name or not name.isascii() or not name.replace("_", "a").isalnum():
            self.fail("invalid group name", start)
        if name in self.names:
            self.fail(f'group name "{name}" is used twice', start)
        self.names[name] = self.captures
        self.at = end + 1

    def flags(self, flags: _Flags, start: int) -> _Flags:
        """Flags up to `:` or `)`, which is not consumed."""
        value, seen = True, False
        while (character := self.peek()) not in (":", ")"):
            if character in _FLAG_NAMES:
                flags = flags.replace(**{_FLAG_NAMES[character]: value})
                seen = True
            elif character == "-" and value:
                value, seen = False, False
            else:
                self.fail("unknown group or flag", start)
            self.at += 1
        if not seen and (not value or self.peek() == ")"):
            self.fail("missing flag", start)
        return flags

    def quoted(self, flags: _Flags) -> list[str]:
        end = self.pattern.find(r"\E", self.at)
        text = self.pattern[self.at + 2 : end if end >= 0 else len(self.pattern)]
        self.at = end + 2 if end >= 0 else len(self.pattern)
        return [_folded(literal(ord(character)), flags) for character in text]

    def atom(self, flags: _Flags) -> str:
        character = self.peek()
        if character == "[":
            return self.character_class(flags)
        if character == "\\":
            return self.escaped_atom(flags)
        self.at += 1
        if character == ".":
            return r"(?s:.)" if flags.dot_all else r"[^\n]"
        if character == "^":
            return r"(?:\A|(?<=\n))" if flags.multiline else r"(?:\A)"
        if character == "$":
            return r"(?:\Z|(?=\n))" if flags.multiline else r"(?:\Z)"
        return _folded(literal(ord(character)), flags)

    def escaped_atom(self, flags: _Flags) -> str:
        start = self.at
        kind = self.pattern[start + 1 : start + 2]
        if kind in _EMPTY:
            self.at += 2
            return _EMPTY[kind]
        if kind and kind in "dswDSW":
            self.at += 2
            negation = "^" if kind.isupper() else ""
            return _folded(f"[{negation}{set_text(PERL[kind.lower()])}]", flags)
        if kind and kind in "pP":
            return _folded(self.property(), flags)
        return _folded(literal(self.escape()), flags)

    def escape(self) -> int:
        """The character of the escape sequence at this place."""
        start = self.at
        character = self.pattern[start + 1 : start + 2]
        self.at += 2
        if not character:
            self.fail(r"a single `\` at the end", start)
        if character in "123456789" and not (character < "8" and self.peek() in tuple("01234567")):
            self.fail(f"back-reference `\\{character}` is not supported", start)
        if character in "01234567":
            digits = character
            while len(digits) < 3 and self.peek() in tuple("01234567"):
                digits += self.peek()
                self.at += 1
            return int(digits, 8)
        if character == "x":
            return self.hexadecimal(start)
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character.isascii() and not character.isalnum():
            return ord(character)
        self.fail(f"unknown escape `\\{character}`", start)

    def hexadecimal(self, start: int) -> int:
        if self.peek() == "{":
            end = self.pattern.find("}", self.at)
            digits = self.pattern[self.at + 1 : end] if end > 0 else ""
            self.at = end + 1
        else:
            digits = self.peek(2)
            self.at += 2
            digits = digits if len(digits) == 2 else ""
        if not digits or any(digit not in "0123456789abcdefABCDEF" for digit in digits) or int(digits, 16) > LAST:
            self.fail("invalid hexadecimal escape", start)
        return int(digits, 16)

    def property(self) -> str:
        r"""`\pL`, `\p{Greek}`, `\P{^Lu}` for `regex`, whose names are the same."""
        import regex

        start = self.at
        negated = self.pattern[start + 1] == "P"
        self.at += 2
        name = self.peek()
        self.at += 1
        if name == "{":
            end = self.pattern.find("}", self.at)
            name = self.pattern[self.at : end] if end > 0 else ""
            self.at = end + 1
        if name.startswith("^"):
            negated, name = not negated, name[1:]
        text = f"\\{'P' if negated else 'p'}{{{name}}}"
        if not name.isascii() or not name.replace("_", "a").isalnum():
            self.fail("invalid character class", start)
        try:
            regex.compile(text)
        except regex.error:
            self.fail(f'unknown character class "{name}"', start)
        return text

    def character_class(self, flags: _Flags) -> str:
        start = self.at
        self.at += 1
        negated = self.peek() == "^"
        self.at += negated
        items: list[str] = []
        first = True
        while first or self.peek() != "]":
            if not self.peek():
                self.fail("missing `]` for the character class", start)
            first = False
            items.append(self.class_item(flags))
        self.at += 1
        return _folded(f"[{'^' if negated else ''}{''.join(items)}]", flags)

    def class_item(self, flags: _Flags) -> str:
        start = self.at
        if self.peek(2) == "[:" and (end := self.pattern.find(":]", self.at)) > 0:
            name = self.pattern[self.at + 2 : end]
            ranges = POSIX.get(name.removeprefix("^"))
            if ranges is None:
                self.fail(f"unknown character class `[:{name}:]`", start)
            self.at = end + 2
            return set_text(others(ranges, flags.fold) if name.startswith("^") else ranges)
        if self.peek() == "\\" and self.pattern[start + 1 : start + 2] in tuple("dswDSW"):
            kind = self.pattern[start + 1]
            self.at += 2
            ranges = PERL[kind.lower()]
            return set_text(others(ranges, flags.fold) if kind.isupper() else ranges)
        if self.peek(2) in (r"\p", r"\P"):
            return self.property()
        low = high = self.class_character()
        if self.peek() == "-" and self.peek(2) not in ("-", "-]"):
            self.at += 1
            high = self.class_character()
            if high < low:
                self.fail(f"invalid range `{self.pattern[start : self.at]}`", start)
        return set_text([(low, high)])

    def class_character(self) -> int:
        if self.peek() == "\\":
            return self.escape()
        self.at += 1
        return ord(self.pattern[self.at - 1])


_SIMPLE: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and (text == "0" or text[0] != "0")


def _folded(text: str, flags: _Flags) -> str:
    return f"(?i:{text})" if flags.fold else text
