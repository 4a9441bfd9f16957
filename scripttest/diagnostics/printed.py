"""What the parser finds in code that esbuild printed: for failures callees, loops and throws, in the one top-level
statement that a place is in; for tools all calls, with their texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from scripttest.compile.builds import Compiled, Source
from scripttest.diagnostics.sources import SourceMap
from scripttest.results import CompileError
from scripttest.syntax.parser import UnreadableError, parser
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


MOST = 200_000
"""Characters of a statement, or of all scripts with statements that throw, that are read."""
_BEGINS = r"^[^\s})\]]"
"""How a line begins that begins a top-level statement."""
_NO_ERROR = "thrown, not an Error: "
_NULL = "null was thrown"
_UNREADABLE = "an exception that cannot be read"
_IN_TEMPLATE = r"\$\{[^{}]*\}"
_KEY = r"[{,]([A-Za-z_$][\w$]*)(?=[:,}])"
_UNDEFINED = ("undefined", "void0", "")


class Throw(Value):
    """A statement that throws, or a call that rejects."""

    script: int
    start: int
    """Its offset."""
    word: str
    """`throw` or `reject`."""
    value: str
    """What it throws, as it is written, without blanks."""
    within: tuple[int, int]
    """The top-level statement that it is in, from its offset to the next one's."""

    def is_in(self, script: int, declared: int) -> bool:
        """Whether it is in what a script declares at an offset."""
        return self.script == script and self.within[0] <= declared < self.within[1]


def asked(question: str, code: str, place: int, *given: object, to_the_end: bool = False) -> Any:
    """What the parser answers about the top-level statement that a place is in, or about the code from there on; None
    where it cannot be read. Places are offsets in the code.

    - `callees`: those of the calls that the engine may mean by the place, inner ones first. It reports no more of a
      value that was not a function than a position.
    - `loopAt`, and whether a call was running at the place: the place of the loop that was running, which is around the
      call, else around or after the place.
    - `lastReturn`: the place of the last `return` of the function that begins at the place."""
    start = max((match.start() for match in re.compile(_BEGINS, re.MULTILINE).finditer(code, 0, place + 1)), default=0)
    next = None if to_the_end else re.compile(_BEGINS, re.MULTILINE).search(code, start + 1)
    piece = code[start : next.start() if next else len(code)]
    if len(piece) > MOST:
        return None
    try:
        found = parser().ask(question, piece, *([place - start] if question != "lastReturn" else []), *given)
    except UnreadableError:
        return None
    return found + start if isinstance(found, int) else found


def is_without_stack(message: str) -> bool:
    """Whether a failure's message, as `bindings/src/errors.ts` writes it, is that of a value without a stack."""
    return message.startswith((_NO_ERROR, _NULL, _UNREADABLE))


def throws_in(codes: Sequence[str]) -> tuple[Throw, ...]:
    """The throw statements in scripts, except `throw new ...`; none if one cannot be read."""
    if sum(map(len, codes)) > MOST:
        return ()
    throws: list[Throw] = []
    for number, code in enumerate(codes):
        starts = [match.start() for match in re.finditer(_BEGINS, code, re.MULTILINE)]
        for start, end in zip(starts, [*starts[1:], len(code)], strict=True):
            piece = code[start:end]
            try:
                found = parser().ask("throwsIn", piece) if "throw" in piece or "reject" in piece else []
            except UnreadableError:
                return ()
            for one in found:
                at = one["start"] + start
                throws.append(Throw(script=number, start=at, word=one["word"], value=one["value"], within=(start, end)))
    return tuple(throws)


def throw_at(throws: Sequence[Throw], script: int, tests: Sequence[int], own: int, message: str) -> Throw | None:
    """Where a value was thrown that is not an Error and so has no stack; None if that is not certain: it is the only
    statement that throws this value or one of the same form, first in the test and then in the module; or the only one
    whose value cannot be read from the code.

    Args:
        throws: the throw statements of the scripts.
        script: the script of the tests.
        tests: the ranges of all tests in it; their throw statements are not considered.
        own: the range of the failed test, whose statements are considered.
        message: message of the failure, see `is_without_stack`."""
    in_test = [throw for throw in throws if throw.is_in(script, own)]
    elsewhere = [throw for throw in throws if not any(throw.is_in(script, test) for test in tests)]
    values = _written(message)
    exact = [{throw for throw in some if throw.value in values} for some in (in_test, elsewhere)]
    shaped = [{throw for throw in some if _is_shaped(throw.value, values[0])} for some in (in_test, elsewhere)]
    computed = {throw for throw in (*in_test, *elsewhere) if not _is_literal(throw.value)}
    found = next(filter(None, (*exact, *shaped, computed if values != ("null",) else set())), set[Throw]())
    return found.pop() if len(found) == 1 else None


def _written(message: str) -> tuple[str, ...]:
    """How the thrown value may be written in the code."""
    if message.startswith(_NULL):
        return ("null",)
    value = "".join(message.removeprefix(_NO_ERROR).split())
    return _UNDEFINED if value == "undefined" else (value,)


def _is_shaped(written: str, value: str) -> bool:
    """Whether a template or an object, without blanks, may be a value: its fixed texts, or its keys, are the same."""
    if written.startswith("`") and written.endswith("`") and re.sub(_IN_TEMPLATE, "", written) != "``":
        texts = (re.escape(text) for text in re.split(_IN_TEMPLATE, written[1:-1]))
        return re.fullmatch(f'"{".*".join(texts)}"', value) is not None
    keys = re.findall(_KEY, written)
    return bool(keys) and written.startswith("{") and value.startswith("{") and keys == re.findall(_KEY, value)


def _is_literal(value: str) -> bool:
    return (
        value in (*_UNDEFINED, "null", "true", "false")
        or re.fullmatch(r"\"[^\"]*\"|'[^']*'|-?[\d.]+", value) is not None
    )


class WrittenCall(Value):
    """A call, or a property that is given a text."""

    callee: str
    """As it is written, such as `Process`, `ctx.agent.Call` or `new Query`; of a property its name and a colon, such as
    `process:`."""
    arguments: tuple[str | None, ...]
    """The first ones: texts, with `*` for what is made at run time; None for what is not a text."""
    file: str
    """Below the application."""
    line: int
    """From 1."""
    within: str = ""
    """The callee among whose arguments it stands, the innermost."""
    beside: frozenset[str] = frozenset()
    """Of a property: the names of all properties of its object."""


class WrittenCalls:
    """Compiles scripts of an application, each once, and reads them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[Path, tuple[WrittenCall, ...] | CompileError] = {}
        self._declared: dict[Path, frozenset[str]] = {}

    def of(self, scripts: Iterable[Path]) -> Mapping[Path, tuple[WrittenCall, ...] | CompileError]:
        """The calls in each script and in what it imports, or why it cannot be compiled. Blocks. Raises HostError when
        there is no compiler."""
        from scripttest.compile.at_once import compile_all

        wanted = list(dict.fromkeys(scripts))
        new = [Source(key=str(path), test=path, script=None) for path in wanted if path not in self._read]
        for source, result in compile_all(self._root, new).items():
            if isinstance(result, CompileError):
                self._read[source.test] = result
            else:
                self._read[source.test] = tuple(_calls(result))
                self._declared[source.test] = result.declared
        return {script: self._read[script] for script in wanted}

    def declared(self, script: Path) -> frozenset[str] | None:
        """The names that a script exports or declares at its top level; None when it cannot be compiled. Blocks. Raises
        HostError when there is no compiler."""
        self.of([script])
        return self._declared.get(script)


def _calls(compiled: Compiled) -> Iterator[WrittenCall]:
    """The calls in a script; none in code that the parser cannot read."""
    for script in compiled.scripts:
        source_map = SourceMap(script.source_map)
        lines = [0, *(match.end() for match in re.finditer("\n", script.code))]
        try:
            calls = parser().ask("callsIn", script.code)
        except UnreadableError:
            continue
        for found in calls:
            line = bisect_right(lines, found["start"])
            place = source_map.find(line + script.skipped, found["start"] - lines[line - 1] + 1)
            if place is not None:
                yield WrittenCall(
                    callee=found["callee"],
                    arguments=tuple(found["arguments"]),
                    file=place.file,
                    line=place.line,
                    within=found["within"],
                    beside=frozenset(found["beside"]),
                )
