"""Converts the text of the engine's stacks into frames of the original sources.

A realm evaluates all code under one file name, so the line decides where a frame belongs: line 1 is the framework, and
each script has its own range of lines. In frames of a script that was called with `Process`, the file name is the name
of that script. Frames of the framework, and frames that no source map knows (helpers of the compiler), are left out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from scripttest.compile.boundary import Boundary
from scripttest.compile.builds import Compiled
from scripttest.compile.linking import Script
from scripttest.diagnostics.sources import SourceMap, lines_of
from scripttest.results import Location, StackFrame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FRAME = r"^[ \t]*at (?:(?P<name>.*?) \()?\(?<(?P<script>[^<>\n]+)>:(?P<line>\d{1,9}):(?P<column>\d{1,9})\)?$"
_NO_FUNCTION = "TypeError: not a function"
_TOO_EARLY = r"ReferenceError: ([\w$]+) is not (initialized|defined)"
"""What the engine says of a `const`, `let` or class that is read before its line."""
_SAID_EARLY = r"ReferenceError: Cannot access '.*?' before initialization"
"""The same where a script could catch it; then the stack ends with the name that stands in the code."""
_NAMED_EARLY = r"^([\w$]+) is not (initialized)$"
_WITHOUT_SUPER = (
    "ReferenceError: Must call super constructor in derived class before accessing 'this' or returning from derived"
    " constructor"
)
_AWAITED = "async "
"""Before the name of a function that awaited what failed."""
_ASYNC = "__async"
"""The helper that runs the body of an asynchronous function; its frame is before that of the function."""
_MADE = "anonymous"
"""The engine's name of what `new Function` makes."""
_GENERIC_NAMES = {"<anonymous>", "<eval>", "next", "apply", "call", ""}

MAX_FRAMES = 20
CALL_LINES = 50
"""How many lines an assertion may take."""
MOST_READ = 200_000
"""Characters of a statement that are read."""
_BEGINS = r"^[^\s})\]]"
"""How a line begins that begins a top-level statement."""


class StackMapper:
    """Maps stacks of one compiled module."""

    def __init__(self, compiled: Compiled, root: Path, called: Callable[[str], Compiled | None]) -> None:
        """`called` knows the scripts that were called by `Process`, such as `scripts.demo.orders`."""
        self._scripts = compiled.scripts
        self._root = root
        self._boundary = Boundary(root)
        self._boundary.admit(compiled.source.test)
        self._maps: dict[int, SourceMap] = {}
        """First line of a script → its map."""
        self._files: dict[str, str | None] = {}
        """Source as a map has it → its real path; None: no frame names it."""
        self._called = called
        self._others: dict[str, StackMapper] = {}
        self._named: dict[tuple[int, int], list[str]] = {}

    def frames(self, stack: str) -> list[StackFrame]:
        """The user's frames, innermost first. A stack that scripts have tampered with may give none."""
        frames: list[StackFrame] = []
        is_header = False
        for match in self._written(stack):
            frame = None if is_header else self._frame_of(match)
            is_header = bool(frames) and match["name"] == _ASYNC
            if frame is None:
                continue
            if (match["name"] or "").startswith(_AWAITED) and any(known.location == frame.location for known in frames):
                continue  # it was called there before anything was awaited
            frames.append(frame)
            if len(frames) == MAX_FRAMES:
                break
        return frames

    def error(self, message: str, stack: str, misspelt: str = "") -> tuple[str, tuple[StackFrame, ...]]:
        """The message of an error, with what was not a function or not there yet where the engine does not say it, and
        its frames. `misspelt` is the assertion that there is not, if the test asked for one."""
        frames = self.frames(stack)
        if "ReferenceError: " in message:
            top = next(self._written(stack), None)
            if top and (mapper := self._mapper_of(top["script"])):
                named = re.search(_NAMED_EARLY, stack, re.MULTILINE)
                pattern, said = (_SAID_EARLY, named) if named else (_TOO_EARLY, re.search(_TOO_EARLY, message))
                if not frames and said and (place := mapper.mention(said[1])):
                    frames = [StackFrame(function="", location=place)]
                too_early = partial(mapper.too_early, frames)
                message = re.sub(pattern, lambda found: too_early(named or found), message)
        match = next(self._written(stack), None) if message == _NO_FUNCTION else None
        match = match if match and match.start() == 0 else None
        mapper = self._mapper_of(match["script"]) if match else None
        names = mapper._callees(int(match["line"]), int(match["column"])) if match and mapper else []
        names = [name for name in names if _may_be_missing(name, misspelt)] or names
        if not names or "TypeError" in names:  # the script threw it
            return message, tuple(frames)
        if len(names) == 1 and (member := re.search(r"[\w$]+$", names[0])):
            frames[0] = StackFrame(function=frames[0].function, location=at_call(frames[0].location, member[0]))
        return f"TypeError: {' or '.join(names)} is not a function", tuple(frames)

    def written(self, arguments: str) -> str:
        """The answer to a script that reads `stack` of an error: the frames below the message, as V8 writes them."""
        lines = []
        for frame in self.frames(str(json.loads(arguments)[0])):
            at = frame.location
            place = f"{os.path.relpath(at.file, self._root)}:{at.line}:{at.column}"
            lines.append(f"\n    at {frame.function} ({place})" if frame.function else f"\n    at {place}")
        return json.dumps({"ok": "".join(lines)})

    def stopped(self, stack: str) -> tuple[StackFrame, ...]:
        """The frames of code that was stopped while it ran, the first of them at the loop that it was in."""
        own = re.search(r"^[ \t]*at .*$", stack, re.MULTILINE)
        top = re.compile(_FRAME, re.MULTILINE).match(own[0]) if own else None
        frames = self.frames(stack)
        written = next(self._written(stack), None)
        if own and top and (written is None or written.start() != own.start()):  # it ran what eval or new Function made
            return tuple(frames)
        if top and top["name"] == "<eval>" and top["line"] == "1":  # top-level code, before anything was noted
            loops = (self._loop(script.first_line, 1, is_call=False, top_level=True) for script in self._scripts)
            return tuple(StackFrame(function="", location=loop) for loop in loops if loop)[:1]
        if not top or not frames or self._frame_of(top) != frames[0]:  # the framework's, or a function of the engine
            return tuple(frames)
        functions: list[str] = []
        for number, match in enumerate(re.finditer(_FRAME, stack, re.MULTILINE)):
            name = match["name"] or ""
            if name in functions and name not in _GENERIC_NAMES:  # it calls itself
                break
            functions.append(name)
            mapper = self._mapper_of(match["script"])
            if loop := mapper and mapper._loop(
                int(match["line"]), int(match["column"]), is_call=number > 0, top_level=name == "<eval>"
            ):
                found = self._frame_of(match)
                rest = frames[frames.index(found) + 1 :] if found and found in frames else []
                return (StackFrame(function=found.function if found else "", location=loop), *rest)
        return tuple(frames)

    def _written(self, stack: str) -> Iterator[re.Match[str]]:
        """The frames of code that is in a file: what `eval` and `new Function` make has lines of its own, which say
        nothing of those of the files."""
        matches = list(re.finditer(_FRAME, stack, re.MULTILINE))
        for number, match in enumerate(matches):
            if match["name"] is None:  # of a SyntaxError
                continue
            if match["name"] == _MADE and not any(_MADE in script.code for script in self._scripts):
                continue
            outer = matches[number + 1 :] if match["name"] == "<eval>" else ()
            functions = (after for after in outer if after["name"] != "<eval>" and after["script"] == match["script"])
            if not any(self._frame_of(function) for function in functions):
                yield match

    def _frame_of(self, match: re.Match[str]) -> StackFrame | None:
        mapper = self._mapper_of(match["script"])
        location = mapper._locate(int(match["line"]), int(match["column"])) if mapper else None
        name = (match["name"] or "").removeprefix(_AWAITED)
        if location is None:
            return None
        return StackFrame(function="" if name in _GENERIC_NAMES else name, location=location)

    def _loop(self, line: int, column: int, is_call: bool, top_level: bool) -> Location | None:
        """The loop that code at a place was in."""
        script = self._script_at(line)
        if script is None:
            return None
        at = asked("loopAt", script.code, _offset(script, line, column), is_call, to_the_end=top_level)
        if at is None:
            return None
        word = re.compile(r"\w+").match(script.code, at)
        return self._located(script, at, len(word[0]) if word else 1)

    def _callees(self, line: int, column: int) -> list[str]:
        """What the engine may call no function at a place; nothing where that is not the user's code."""
        if (line, column) not in self._named:
            location, script = self._locate(line, column), self._script_at(line)
            found = []
            if location and script:
                at = _offset(script, line, column)
                found = [_as_written(name, location) for name in asked("callees", script.code, at) or ()]
            self._named[line, column] = found
        return self._named[line, column]

    def _declared_at(self, name: str, *, later: bool) -> Location | None:
        """Where a script declares a `const`, `let` or class at its top level; `later`: a script that may not have begun
        when another one ran."""
        own = rf"({re.escape(name)})(?![\w$])"
        listed = rf"(?:\S.*, )?{own} = |\(?[{{[].*(?<![\w$.]){own}.* = "
        imported = rf"^    (?:{listed})"  # in a module that `import()` loads
        for pattern in (rf"^(?:let|const|class) {own}", rf"^(?:let|const) (?:{listed})", imported):
            for script in self._scripts[later:]:
                if found := re.search(pattern, script.code, re.MULTILINE):
                    return self._located(
                        script, max(found.span(group)[0] for group in range(1, 1 + len(found.groups())))
                    )
        return None

    def mention(self, name: str) -> Location | None:
        """Where a script first reads a name that it declares at its top level: the engine has no place for some
        reads."""
        for script in self._scripts:
            if found := re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", script.code):
                return self._located(script, found.start())
        return None

    def too_early(self, frames: Sequence[StackFrame], said: re.Match[str]) -> str:
        """The error of what is read before it is there as other engines say it, with the files of a cycle of
        imports."""
        name, is_unknown = said[1], said[2] == "defined"
        if name == "this":
            return _WITHOUT_SUPER
        place = self._declared_at(name, later=is_unknown)
        if is_unknown and place is None:
            return said[0]
        at = place or (frames[0].location if frames else None)
        text = f"ReferenceError: Cannot access '{_original_name(name, at)}' before initialization"
        if place is None or not frames or place.file == frames[0].location.file:
            return text
        reader, other = (os.path.relpath(file, self._root) for file in (frames[0].location.file, place.file))
        return f"{text} (an import cycle: {reader} reads it before {other} has reached line {place.line})"

    def _mapper_of(self, script: str) -> StackMapper | None:
        """What maps the frames of a file that the engine names: this one, or that of a script that was called."""
        if "." not in script:
            return self
        if script not in self._others and (compiled := self._called(script)):
            self._others[script] = StackMapper(compiled, self._root, self._called)
        return self._others.get(script)

    def declaration(self, offset: int, name: str) -> Location | None:
        """Where the last script declares a name, at or after an offset."""
        from scripttest.shortcuts.slicing import as_printed

        script = self._scripts[-1]
        return self._located(script, max(offset, script.code.find(as_printed(name), offset)), len(name))

    def last_return(self, offset: int) -> Location | None:
        """Where the function that the last script declares at an offset returns, at its end."""
        script = self._scripts[-1]
        at = asked("lastReturn", script.code, offset)
        return None if at is None else self._located(script, at, len("return"))

    def _located(self, script: Script, at: int, length: int = 0) -> Location | None:
        before = script.code.count("\n", 0, at)
        location = self._locate(script.first_line + before, at - script.code.rfind("\n", 0, at))
        return location and location.replace(length=length)

    def _script_at(self, line: int) -> Script | None:
        return next((script for script in reversed(self._scripts) if line >= script.first_line), None)

    def _locate(self, line: int, column: int) -> Location | None:
        script = self._script_at(line)
        if script is None:
            return None
        if script.first_line not in self._maps:
            self._maps[script.first_line] = SourceMap(script.source_map)
        place = self._maps[script.first_line].find(line - script.first_line + 1 + script.skipped, column)
        if place is None or place.file.startswith("yao-runtime:"):
            return None
        if place.file not in self._files:
            self._files[place.file] = self._file_of(place.file)
        file = self._files[place.file]
        return None if file is None else place.replace(file=file)

    def _file_of(self, source: str) -> str | None:
        if "%" in source:  # esbuild writes sources as addresses
            from urllib.parse import unquote

            source = unquote(source)
        file = str((self._root / source).resolve())
        return None if self._boundary.refused(file) else file  # a map in a comment of the script can name any file


def asked(question: str, code: str, place: int, *given: object, to_the_end: bool = False) -> Any:
    """What the parser answers about the top-level statement that a place is in, or about the code from there on; None
    where it cannot be read. Places are offsets in the code.

    - `callees`: those of the calls that the engine may mean by the place, inner ones first. It reports no more of a
      value that was not a function than a position.
    - `loopAt`, and whether a call was running at the place: the place of the loop that was running, which is around the
      call, else around or after the place.
    - `lastReturn`: the place of the last `return` of the function that begins at the place."""
    from scripttest.syntax.parser import UnreadableError, parser

    start = max((match.start() for match in re.compile(_BEGINS, re.MULTILINE).finditer(code, 0, place + 1)), default=0)
    next = None if to_the_end else re.compile(_BEGINS, re.MULTILINE).search(code, start + 1)
    piece = code[start : next.start() if next else len(code)]
    if len(piece) > MOST_READ:
        return None
    try:
        found = parser().ask(question, piece, *([place - start] if question != "lastReturn" else []), *given)
    except UnreadableError:
        return None
    return found + start if isinstance(found, int) else found


def _offset(script: Script, line: int, column: int) -> int:
    """A place of the realm as an offset in a script; its end, for a place that it does not have."""
    at = 0
    for _ in range(line - script.first_line):
        at = script.code.find("\n", at) + 1
        if not at:
            return len(script.code)
    return min(at + column - 1, len(script.code))


def at_call(location: Location, name: str) -> Location:
    """Where a call of `name` begins whose arguments end at a place: the engine puts a call at its last inner call."""
    lines = lines_of(location.file)
    text = lines[location.line - 1][: location.column + len(name)] if location.line <= len(lines) else ""
    for line in range(location.line, max(0, location.line - CALL_LINES), -1):
        found = list(re.finditer(rf"\b{re.escape(name)}(?=\s*(\(|$))", text))
        if found:
            return Location(file=location.file, line=line, column=found[-1].start() + 1, length=len(name))
        text = lines[line - 2] if line > 1 else ""
    return location


def _may_be_missing(callee: str, misspelt: str) -> bool:
    """Whether a callee may be no function: of assertions only the misspelt one, and then nothing else."""
    if misspelt:
        return re.search(r"[\w$]+$", callee) is not None and callee.rpartition(".")[2] == misspelt
    return re.search(r"\b(?:assert|require)\.\w+$", callee) is None


def _original_name(name: str, location: Location | None) -> str:
    """A name as it is in a file, to which the compiler has put a number or a line, or which it has made up."""
    text = "\n".join(lines_of(location.file)) if location else ""
    plain = name.rstrip("0123456789")
    candidates = (name, plain, name.removeprefix("_"), plain.removeprefix("_"))
    known = (one for one in candidates if one and re.search(rf"(?<![\w$]){re.escape(one)}(?![\w$])", text))
    return next(known, "default" if plain.endswith("_default") else name)


def _as_written(code: str, location: Location) -> str:
    """Code without the numbers that the compiler adds to names which it found twice."""
    text = "\n".join(lines_of(location.file))

    def written(match: re.Match[str]) -> str:
        known = re.search(rf"\b{re.escape(match[0])}\b", text)
        return match[0] if known else match[1]

    return re.sub(r"\b([A-Za-z_$][\w$]*?)\d+\b", written, code)
