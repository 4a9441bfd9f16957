"""Inline snapshots of one run, which are written into the test files when their tests have ended: the text behind the
value in `t.snapshot.inline(value, text)`.

A text of one line stands as it is. One of several lines begins and ends with a line break and is indented as the code
around it is; what all its lines are indented by does not count."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bindings.errors import ProcessError
from bindings.snapshots import SnapshotError, Snapshots, in_each, locked, replace
from scripttest import Inlined, inline_calls
from scripttest.values import Value

_LINE = re.compile("\r\n|[\n\r\u2028\u2029]")
_ESCAPED = re.compile(r"[\\`]|\$(?=\{)")
_UNPRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ufeff\ud800-\udfff]")
_NO_TEXT = "its second argument is not a plain string: write a string, or leave it out to have it filled in"


class InlineSnapshots:
    """The inline snapshots of a run, which it writes into test files. Used by one thread at a time, but for `match`."""

    def __init__(self, run: Snapshots) -> None:
        """`run`: the stored snapshots of the run, with what is decided for both."""
        self._run = run
        self._sources: dict[str, _Source] = {}

    @property
    def written(self) -> int:
        """How many new snapshots are in the files."""
        return sum(source.is_new(edit) for source in self._sources.values() for edit in source.saved)

    @property
    def updated(self) -> int:
        """How many replaced snapshots are in the files."""
        return sum(not source.is_new(edit) for source in self._sources.values() for edit in source.saved)

    def match(self, args: list[Any]) -> dict[str, Any]:
        """What `snapshot.Inline(actual, expected | null)` answers: `{passed, expected?, reason?, store?}`; `store` is
        what the source is to get. Raises ProcessError."""
        if len(args) != 2 or not isinstance(args[0], str) or not isinstance(args[1], str | None):
            raise ProcessError("snapshot.Inline takes a string, and another one or null", 400)
        run = self._run
        actual, expected = run.redact(args[0]), args[1]
        if expected is not None and not expected.strip():  # a place for a text
            expected = None
        agreed = expected is not None and agrees(expected, actual)
        if agreed and not (run.update and not run.ci):
            return {"passed": True}
        if not run.ci and (expected is None or run.update):
            return {"passed": True, "store": actual}
        if expected is None:
            reason = "There is no snapshot yet, and this run writes none into sources: use --update-snapshots"
            return {"passed": False, "reason": reason}
        return {"passed": False, "expected": unindented(expected)}

    def take(self, module: str, test: str, inlined: Inlined) -> None:
        """Takes the inline snapshots of a test. Raises InlineError, which says why one cannot be written."""
        place = inlined.location
        if place is None or inlined.source is None:
            raise InlineError("the call is not in the test file: move it there, or use t.snapshot(value, name)")
        if module not in self._sources:
            self._sources[module] = _Source(self._run.files[module], inlined.source)
        source = self._sources[module]
        edit = edit_of(source.text, source.suffix, place.line, place.column, inlined.text, inlined.given is not None)
        known = source.values.setdefault((edit.start, edit.end), (inlined.text, test))
        if known[0] != inlined.text:
            source.edits = [other for other in source.edits if other.start != edit.start]
            by = "the same call" if known[1] == test else f"the same call, in {known[1]}"
            raise InlineError(f"{by} had another value before; for several values use t.snapshot(value, name)")
        if inlined.given is not None and agrees(inlined.given, inlined.text):
            return
        if edit not in source.edits:
            source.edits.append(edit)

    def save(self, module: str | None = None) -> None:
        """Writes what was taken for one module, or for all, and is not written yet. Raises OSError, and InlineError
        when a file has changed since it was compiled, after it has written what can be."""
        sources = self._sources.values() if module is None else filter(None, [self._sources.get(module)])
        in_each(lambda source: source.save(self._run.before_writing), sources)


class _Source:
    """A test file."""

    def __init__(self, path: Path, compiled: bytes) -> None:
        self._path = path
        self.suffix = path.suffix
        self._is = compiled
        """Its content, unless somebody changes it."""
        try:
            self._text = compiled.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InlineError(f"the file is not overwritten: byte {error.start} is not UTF-8") from error
        self.text = self._text.removeprefix("\ufeff")
        """As the compiler counts its lines and columns."""
        self.edits: list[Edit] = []
        self.saved: list[Edit] = []
        """Those of the edits that are in the file."""
        self.values: dict[tuple[int, int], tuple[str, str]] = {}
        """Place of a snapshot in the source → its value, and its test."""

    def is_new(self, edit: Edit) -> bool:
        """Whether an edit replaces nothing, or an empty text."""
        return not self.text[edit.start : edit.end].strip("`'\" \t\r\n")

    def save(self, before: Callable[[Path, bytes], None]) -> None:
        """Writes the edits into the file, which is replaced as a whole. Raises InlineError and OSError."""
        if self.saved == self.edits:
            return
        if self._path.is_symlink():
            raise InlineError(f"Cannot write inline snapshots into {self._path}: it is a link")
        content = (self._text[: len(self._text) - len(self.text)] + edited(self.text, self.edits)).encode("utf-8")
        with locked(self._path.parent):
            if self._path.read_bytes() != self._is:
                raise InlineError(
                    f"Cannot write inline snapshots into {self._path}: it changed after compilation; rerun the tests"
                )
            before(self._path, content)
            replace(self._path, content)
        self._is, self.saved = content, [*self.edits]


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


def edit_of(source: str, suffix: str, line: int, column: int, value: str, is_given: bool) -> Edit:
    """The edit that writes a value into the call of `inline` at a position. Raises InlineError: there is no such
    call, or its second argument is not a plain string.

    Args:
        source: content of the file.
        suffix: the end of its name, `.ts`.
        line: from 1.
        column: from 1, in UTF-16 units; anywhere in the call.
        value: the printed value.
        is_given: whether the call already has a text."""
    place = _offset(source, line, column)
    found = [call for call in inline_calls(source, suffix) if call["start"] <= place <= call["end"]]
    if not found:
        raise InlineError("its call cannot be found there: write it as t.snapshot.inline(value)")
    call = min(found, key=lambda call: call["end"] - call["start"])
    written = _literal(source, call["start"], value)
    if call["given"] is None:
        raise InlineError("it has no value")
    if not is_given:
        return Edit(start=call["given"], end=call["given"], text=f"{'' if call['hasComma'] else ','} {written}")
    if call["text"] is None:
        raise InlineError(_NO_TEXT)
    start, end = call["text"]
    return Edit(start=start, end=end, text=written)


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
