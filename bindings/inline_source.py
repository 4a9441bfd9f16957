"""Inline snapshots in the source of a test: the text behind the value in `t.snapshot.inline(value, text)`.

A text of one line stands as it is. One of several lines begins and ends with a line break and is indented as the code
around it is; what all its lines are indented by does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from bindings.snapshots import SnapshotError
from scripttest.values import Value

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n\r]*|/\*.*?\*/)"
    r"""|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"|(?P<word>[\w$]+)|(?P<sign>\?\.|.)",
    re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
_REGEXP = re.compile(r"/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
_ENDS_VALUE = re.compile(r"""[\w$)\]}"'`]$""")
_BEFORE_VALUE = {"return", "typeof", "case", "in", "of", "yield", "await", "void", "delete", "else", "do", "throw"}
_CLOSING = {")": "(", "]": "[", "}": "{"}
_LINE = re.compile("\r\n|[\n\r\u2028\u2029]")
_ESCAPED = re.compile(r"[\\`]|\$(?=\{)")
_UNPRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ufeff\ud800-\udfff]")
_NO_TEXT = "what it is compared with is not a plain text: write a text there, or leave it out to have it filled in"


class InlineError(SnapshotError):
    """A snapshot cannot be written into a source; the message says why."""


class Edit(Value):
    """The replacement of a part of a source text."""

    start: int
    """Offset, in characters."""
    end: int
    text: str


def agrees(expected: str, actual: str) -> bool:
    """Whether the text in a source equals a printed value."""
    return unindented(expected) == (_flush(actual) if _is_block(expected) else actual)


def unindented(text: str) -> str:
    """The text in a source without what belongs to its indentation."""
    return _flush("\n".join(text.split("\n")[1:-1])) if _is_block(text) else text


def edited(source: str, edits: list[Edit]) -> str:
    """A source with all edits, which do not overlap."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [source[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, source[at:]])


def edit_of(source: str, line: int, column: int, value: str, is_given: bool) -> Edit:
    """The edit that writes a value into the call of `inline` at a position.

    Args:
        source: content of the file.
        line: from 1.
        column: from 1, in UTF-16 units; anywhere in the call.
        value: the printed value.
        is_given: whether the call already has a text.

    Raises:
        InlineError: there is no such call, or its second argument is not a plain string.
    """
    place = _offset(source, line, column)
    found = [call for call in _calls(source) if call[0].start <= place <= call[-1].end]
    if not found:
        raise InlineError("its call cannot be found there: write it as t.snapshot.inline(value)")
    call = min(found, key=lambda call: call[-1].end - call[0].start)
    written = _literal(source, call[0].start, value)
    *arguments, _ = call[1:]
    ends_in_comma = bool(arguments) and arguments[-1].text == ","
    last = arguments[-2 if ends_in_comma else -1] if len(arguments) > ends_in_comma else None
    if last is None:
        raise InlineError("it has no value")
    if not is_given:
        end = arguments[-1].end
        return Edit(start=end, end=end, text=f"{'' if ends_in_comma else ','} {written}")
    before = arguments[arguments.index(last) - 1]
    if last.kind != "text" or before.text != ",":
        raise InlineError(_NO_TEXT)
    return Edit(start=last.start, end=last.end, text=written)


class _Token(Value):
    text: str
    start: int
    kind: str
    """`text`, `word`, `sign`, or `piece` of a template with values in it."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@lru_cache(maxsize=2)
def _calls(source: str) -> tuple[list[_Token], ...]:
    """Calls of `inline`: where each begins, and the tokens within its brackets that are in no others, with the bracket
    that closes it."""
    tokens = list(_tokens(source))
    found = []
    open_calls: list[list[_Token] | None] = []
    """For each bracket that is open, the call whose it is."""
    for index, token in enumerate(tokens):
        closes = token.text in _CLOSING or (token.kind == "piece" and token.text.startswith("}"))
        if closes and open_calls:
            done = open_calls.pop()
            if done is not None:
                found.append([*done, token])
        inner = open_calls[-1] if open_calls else None
        if inner is not None:
            inner.append(token)
        if token.text == "(" and (first := _called(tokens, index - 1)) is not None:
            open_calls.append([first])
        elif token.text in ("(", "[", "{") or (token.kind == "piece" and token.text.endswith("${")):
            open_calls.append(None)
    return tuple(found)


def _called(tokens: list[_Token], index: int) -> _Token | None:
    """Where `t.snapshot.inline` or `t.snapshot["inline"]` begins, if the bracket after an index calls it, also with
    type arguments, `?.` and `!`. None where something else is called, or a function of that name is declared."""
    if index > 0 and tokens[index].text == ">":
        index = _before_types(tokens, index)
    while index > 0 and tokens[index].text in ("!", "?."):
        index -= 1
    if index > 1 and tokens[index].text == "]" and tokens[index - 1].kind == "text":
        if tokens[index - 1].text[1:-1] != "inline" or tokens[index - 2].text != "[":
            return None
        index -= 2
    elif index < 0 or tokens[index].text != "inline" or (index > 0 and tokens[index - 1].text == "function"):
        return None
    while index > 0:
        before = tokens[index - 1]
        if before.text in (".", "?.", "!") or (before.kind == "word" and tokens[index].text in (".", "?.", "!", "[")):
            index -= 1
        elif before.text == "]" and index > 2 and tokens[index - 3].text == "[":
            index -= 3
        else:
            break
    return tokens[index]


def _before_types(tokens: list[_Token], index: int) -> int:
    """The index before type arguments, which end with the `>` at an index; -1 where they are none."""
    depth = 0
    while index >= 0:
        if tokens[index].text == ">" and tokens[index - 1].text != "=":  # no arrow
            depth += 1
        elif tokens[index].text == "<":
            depth -= 1
        elif tokens[index].text == ";" and tokens[index].kind == "sign" and depth == 0:
            return -1
        index -= 1
        if depth == 0:
            return index
    return -1


def _tokens(source: str) -> Iterator[_Token]:
    """The tokens of TypeScript, as far as they tell brackets from texts."""
    at, before = 0, ""
    braces: list[bool] = []
    """Whether each brace that is open is that of a value in a template."""
    while at < len(source):
        letter = source[at]
        ends_value = bool(_ENDS_VALUE.search(before)) and before not in _BEFORE_VALUE
        regexp = _REGEXP.match(source, at) if letter == "/" and not ends_value else None
        in_template = letter == "}" and bool(braces) and braces[-1]
        if regexp:
            token = _Token(text=regexp[0], start=at, kind="regexp")
        elif letter == "`" or in_template:
            match = _TEMPLATE.match(source, at + 1)
            if match is None:
                return
            is_whole = letter == "`" and match[0].endswith("`")
            token = _Token(text=letter + match[0], start=at, kind="text" if is_whole else "piece")
            if in_template:
                braces.pop()
            if match[0].endswith("${"):
                braces.append(True)
        else:
            found = _TOKEN.match(source, at)
            assert found is not None
            token = _Token(text=found[0], start=at, kind=found.lastgroup or "sign")
            if letter == "{":
                braces.append(False)
            elif letter == "}" and braces:
                braces.pop()
        at = token.end
        if token.kind != "blank":
            before = token.text
            yield token


def _offset(source: str, line: int, column: int) -> int:
    starts = [0, *(match.end() for match in _LINE.finditer(source))]
    if line > len(starts):
        raise InlineError("there is no such line")
    start = starts[line - 1]
    units = source[start : start + column].encode("utf-16-le", "surrogatepass")[: 2 * (column - 1)]
    return start + len(units.decode("utf-16-le", "replace"))


def _literal(source: str, at: int, value: str) -> str:
    """A value as a template at an offset."""
    text = _UNPRINTED.sub(lambda match: f"\\u{ord(match[0]):04x}", _ESCAPED.sub(r"\\\g<0>", value))
    if "\n" not in text:
        return f"`{text}`"
    first = _LINE.search(source)
    end = first[0] if first and first[0] in ("\r\n", "\r") else "\n"
    begin = max((match.end() for match in _LINE.finditer(source, 0, at)), default=0)
    around = re.compile(r"[ \t]*").match(source, begin)
    indent = around[0] if around else ""
    unit = "\t" if "\t" in indent or (not indent and re.search(r"^\t", source, re.MULTILINE)) else "  "
    lines = [f"{indent}{unit}{line}" if line else "" for line in text.split("\n")]
    return "`" + end.join(["", *lines, f"{indent}`"])


def _is_block(text: str) -> bool:
    first, _, rest = text.partition("\n")
    _, found, last = rest.rpartition("\n")
    return bool(found) and not first.strip() and not last.strip()


def _flush(text: str) -> str:
    """A text without what all its lines are indented by."""
    lines = [line if line.strip() else "" for line in text.split("\n")]
    filled = [line for line in lines if line]
    indent = re.match(r"[ \t]*", min(filled, default=""))
    width = len(indent[0]) if indent else 0
    while not all(line.startswith(filled[0][:width]) for line in filled):
        width -= 1
    return "\n".join(line[width:] for line in lines)
