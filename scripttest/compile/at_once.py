"""Scripts compiled outside of a run, by one who waits for all of them, and their code without comments: for those who
compare versions of a script.

Of comments, esbuild keeps those inside of expressions: two versions of a script that differ in nothing else run the
same. They are taken off by a reader of code as esbuild prints it. Where it finds what it does not understand, it says
so, and nothing is taken off."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path

from scripttest.compile.builds import Compiled, Source
from scripttest.compile.compiler import Compiler
from scripttest.process import PollLoop
from scripttest.results import CompileError

_NEXT = re.compile(r"""["'`/{}]""")
_STRING = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_COMMENT = re.compile(r"[ \t]*(?://[^\n]*|/\*.*?\*/)", re.DOTALL)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/\w*")
_IN_TEMPLATE = re.compile(r"\\.|`|\$\{", re.DOTALL)
_BEFORE_REGEX = re.compile(
    r"(?:^|[(,=:\[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do|yield|await))\s*\Z"
)
_LOOK_BACK = 40
"""Letters before a slash that show what it is."""


def compile_all(root: Path, sources: Iterable[Source]) -> dict[Source, Compiled | CompileError]:
    """What each of the sources is compiled to, or why it cannot be; blocks. Raises HostError when there is no
    compiler."""
    wanted = list(sources)
    results: dict[Source, Compiled | CompileError] = {}
    if not wanted:
        return results
    loop = PollLoop()
    compiler = Compiler(root, loop)
    try:
        compiler.add(wanted, results.__setitem__)
        while len(results) < len(wanted):
            deadline = compiler.deadline
            loop.wait(None if deadline is None else deadline - time.monotonic())
            compiler.expire()
    finally:
        compiler.close()
    return results


class _UnknownError(Exception):
    """The code is not as esbuild prints it."""


def without_comments(code: str) -> str:
    """The code without comments; as it is where it cannot be read."""
    if "/*" not in code and "//" not in code:
        return code
    try:
        kept: list[str] = []
        _code(code, 0, False, kept)
        return "".join(kept)
    except (_UnknownError, RecursionError):
        return code


def _code(code: str, start: int, in_template: bool, kept: list[str]) -> int:
    """Reads code to its end, or to the bracket that ends it in a template; where that is."""
    depth, at = 0, start
    while match := _NEXT.search(code, at):
        place, letter = match.start(), match[0]
        if letter in "\"'":
            end = _matched(_STRING, code, place)
        elif letter == "`":
            kept.append(code[start : place + 1])
            start = end = _template(code, place + 1, kept)
        elif letter == "/" and code[place + 1 : place + 2] in ("/", "*"):
            kept.append(code[start:place].rstrip(" \t"))
            start = end = _matched(_COMMENT, code, place)
        elif letter == "/":
            is_regex = _BEFORE_REGEX.search(code, max(0, place - _LOOK_BACK), place)
            end = _matched(_REGEX, code, place) if is_regex else place + 1
        else:
            depth += 1 if letter == "{" else -1
            end = place + 1
            if depth < 0:
                if not in_template:
                    raise _UnknownError
                kept.append(code[start:end])
                return end
        at = end
    if in_template or depth:
        raise _UnknownError
    kept.append(code[start:])
    return len(code)


def _template(code: str, at: int, kept: list[str]) -> int:
    """Reads a template from behind its first quote; where the code behind it begins."""
    start = at
    while match := _IN_TEMPLATE.search(code, at):
        at = match.end()
        if match[0] == "`":
            kept.append(code[start:at])
            return at
        if match[0] == "${":
            kept.append(code[start:at])
            start = at = _code(code, at, True, kept)
    raise _UnknownError


def _matched(pattern: re.Pattern[str], code: str, place: int) -> int:
    match = pattern.match(code, place)
    if match is None:
        raise _UnknownError
    return match.end()
