"""From what esbuild writes to scripts of a realm, which mean what the author wrote: with their declarations and their
strictness.

A bundle has a part for each file, under a comment with its path. If some of the files are strict and others are not, it
becomes several scripts, evaluated one after the other; all declarations are global, so that nothing else changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from pathlib import Path

from scripttest.compile.configuration import DIRECTIVE, Strictness
from scripttest.compile.written_names import named_first, with_written_names, words_behind, words_only
from scripttest.names import BENCHMARK, EVERY_RUN
from scripttest.values import Value

_FILE = r"\n// (.+)"
_FIRST_LINE = 2
_EXPORT_CLAUSE = "\nexport {\n"
_ASYNC = r"^var __async = \(__this, __arguments, \w+\) => \{\n  return new Promise\("
"""How esbuild's helper for `async` functions begins; it ends with the first line that begins with a bracket. The names
of its variables have a number where the script has the same at its top."""
_OWN_ASYNC = "(self, args, body) => __yaoAsync(self, args, body)"
"""The same by the bindings, which know who calls it and what has not ended."""
_GENERATORS = r"^var __(?:asyncGenerator|forAwait) = .*?;\n(?=\S)(?!\};)"
"""esbuild's helpers for asynchronous generators and `for await`."""
_COMMONJS = r"^export default (require_\w+)\(\);\s*\Z"
_VARIABLE = "\nvar "
_DECLARING = ("function ", "function* ", "async function ", "async function* ", "class ", "var ", "let ", "const ")
_CLASS = r"^class (\S+)( [^\n]*\{\n(?:(?:[^}\n][^\n]*)?\n)*\})$"
_LEXICAL = r"(?m)^(const|let) (\S+)(.*)"
_AROUND = ("BeforeAll", "BeforeEach", "AfterEach", "AfterAll")


class Script(Value):
    """One script to evaluate in global scope."""

    code: str
    source_map: bytes
    """A version 3 source map, JSON; its sources are relative to the application root."""
    first_line: int
    """The line of the realm on which it starts; line 1 is the framework's."""
    skipped: int = 0
    """Lines that the source map has before it."""


class Output(Value):
    """What esbuild wrote for one entry point."""

    code: str
    source_map: bytes
    is_bundle: bool
    """Whether it is a bundle, and not a script as it was written."""
    constants: frozenset[str]
    """Names of constants to which the scripts that are no bundles assign."""


class _File(Value):
    declared: Declared
    is_strict: bool


class Linker:
    """Knows the files of an application that were compiled."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._strictness = Strictness()
        self._files: dict[str, _File] = {}

    def note(self, path: str, content: bytes) -> None:
        """Reads in a file, by its absolute path, what its scripts must keep."""
        name = path.removeprefix(f"{self._root}/")
        self._files[name] = _File(declared=declared_in(content), is_strict=self._strictness.is_strict(path, content))

    def scripts(self, outputs: Sequence[Output]) -> tuple[tuple[Script, ...], dict[str, str]]:
        """The scripts of a realm, and what the last of them exports: exported name → global name."""
        codes, exports = [], dict[str, str]()
        for output in outputs:
            code, exports = without_exports(with_own_async(without_interpreter(with_written_names(output.code))))
            codes.append(code)
        twice = set.intersection(*map(names_at_top, codes)) if len(codes) > 1 else set[str]()
        tests = {local for name, local in exports.items() if is_found_by_name(name)}
        scripts, line = [], _FIRST_LINE
        for output, code in zip(outputs, codes, strict=True):
            is_global = _among(tests | twice)
            if output.is_bundle:
                pieces = self._pieces(code, is_global)
            else:
                pieces = [named_first(with_globals(code, output.constants, is_global))]
            skipped = 0
            for piece in pieces:
                scripts.append(Script(code=piece, source_map=output.source_map, first_line=line, skipped=skipped))
                lines = piece.count("\n") + (piece is pieces[-1])
                skipped, line = skipped + lines, line + lines
        return tuple(scripts), exports

    def _pieces(self, code: str, is_global: Callable[[str], bool]) -> list[str]:
        """A bundle, cut where its files begin or end to be strict."""
        text = f"\n{code}"  # so that a place in it is the end of a line before the comment
        found = [(match.start(), file) for match in re.finditer(_FILE, text) if (file := self._files.get(match[1]))]
        if not found:
            return [named_first(code)]
        pieces: list[str] = []
        strict: list[bool] = []
        head = code[: found[0][0]]
        is_strict: bool | None = None
        for (start, file), (end, _) in pairwise([*found, (len(code), found[-1][1])]):
            part = with_lexical(code[start:end], file.declared, is_global, plain)
            if file.is_strict == is_strict:
                pieces[-1] += part
            else:
                pieces.append(f"{head}{part}")
                strict.append(file.is_strict)
            is_strict, head = file.is_strict, ""
        return [
            f"{DIRECTIVE if first else ''}{named_first(piece)}" for piece, first in zip(pieces, strict, strict=True)
        ]


def _among(names: set[str]) -> Callable[[str], bool]:
    return lambda name: name in names or is_found_by_name(name)


def without_interpreter(code: str) -> str:
    """A script whose line `#!...`, which stands before other scripts of its realm, is a comment of the same length."""
    return f"//{code[2:]}" if code.startswith("#!") else code


def with_own_async(code: str) -> str:
    """A bundle whose `async` functions are those of the bindings; its lines stay where they are."""
    if "\nvar __forAwait = " in code or "\nvar __asyncGenerator = " in code:
        code = re.sub(_GENERATORS, _own_generators, code, flags=re.MULTILINE | re.DOTALL)
    match = re.search(_ASYNC, code, re.MULTILINE) if "__async = " in code else None
    end = code.find("\n};", match.end()) if match else -1
    if match is None or end < 0:
        return code
    lines = "\n" * code.count("\n", match.start(), end + 1)
    return f"{code[: match.start()]}var __async = {_OWN_ASYNC};{lines}{code[end + 3 :]}"


def _own_generators(helper: re.Match[str]) -> str:
    text = helper[0].replace("Promise.resolve(", "__yaoAsync.wait(")
    if text.startswith("var __forAwait"):
        return text
    text = text.replace("new Promise(", "__yaoAsync.next(")
    return re.sub(r"\b(it\d*) = \{\};", r"\1 = __yaoAsync.iterator();", text)


def without_exports(code: str) -> tuple[str, dict[str, str]]:
    """A flat bundle as a script, and its exports. What a CommonJS entry point exports becomes global."""
    start = code.rfind(_EXPORT_CLAUSE)
    end = code.find("\n};", start)
    if start >= 0 and not code[end + 3 :].strip():
        exports = {}
        for clause in code[start + len(_EXPORT_CLAUSE) : end].split(",\n"):
            local, _, name = clause.strip().partition(" as ")
            exports[plain(name or local)] = plain(local)
        return code[: start + 1], exports
    if match := re.search(_COMMONJS, code, re.MULTILINE):
        return f"{code[: match.start()]}Object.assign(globalThis, {match[1]}());\n", {}
    return code, {}


def plain(identifier: str) -> str:
    """An identifier without the escapes that esbuild writes for characters outside ASCII."""
    if "\\" not in identifier:
        return identifier
    return re.sub(r"\\u\{?([0-9A-Fa-f]+)\}?", lambda match: chr(int(match[1], 16)), identifier)


class Declared(Value):
    """The names in the text of a file that are declared somewhere in it."""

    lexical: frozenset[str]
    variables: frozenset[str]
    """By `var`; `""` stands for a pattern."""


def declared_in(text: bytes) -> Declared:
    """What a file declares, by its text. The text of comments and literals counts, too."""
    lexical = frozenset().union(*(words_behind(word, text) for word in (b"const", b"let", b"class")))
    return Declared(lexical=lexical - {""}, variables=words_behind(b"var", text))


def names_at_top(code: str) -> set[str]:
    """The names that a script, printed by esbuild, declares at its top level, and some words of its patterns."""
    names: set[str] = set()
    for line in code.split("\n"):
        if line.startswith(_DECLARING):
            rest = line.removeprefix("async ").partition(" ")[2]
            words = words_only(rest).split()
            names.update(words if rest.startswith(("{", "[")) else words[:1])
    return names


def is_found_by_name(name: str) -> bool:
    """Whether something is looked for among the properties of the global object."""
    return name.startswith((*EVERY_RUN, BENCHMARK)) or name in _AROUND


def with_lexical(code: str, declared: Declared, is_global: Callable[[str], bool], plain: Callable[[str], str]) -> str:
    """The part of a bundle that comes from one file, with `let` for what was lexical there. No column changes.

    Args:
        is_global: whether a name must stay a property of the global object.
        plain: gives an identifier without escapes.
    """

    def keyword(rest: str) -> str:
        """The one that a declaration gets, by what is behind `var`."""
        if rest.startswith(("{", "[")):
            line = rest.partition("\n")[0]
            is_global_pattern = any(map(is_global, names_at_top(f"var {line}")))
            return _VARIABLE if declared.variables or is_global_pattern else "\nlet "
        printed = rest.split(None, 1)[0]
        name = plain(printed.rstrip(",;"))
        stem = name.rstrip("0123456789")
        is_default = stem.endswith("_default") and rest.startswith(" = ", len(printed))
        is_lexical = is_default or name in declared.lexical or stem in declared.lexical
        is_variable = name in declared.variables or stem in declared.variables or is_global(name)
        return "\nlet " if is_lexical and not is_variable else _VARIABLE

    first, *others = code.split(_VARIABLE)
    return first + "".join(keyword(rest) + rest for rest in others)


def with_globals(code: str, constants: Collection[str], is_global: Callable[[str], bool]) -> str:
    """A script that is not a bundle, with `var` for what must be a property of the global object. Columns change in
    lines of classes only.

    Args:
        code: printed by esbuild, without template literals, so that every line that is not indented begins a statement.
        constants: names that the code assigns to. They stay `const`, because assigning to them must be an error.
    """

    def as_variable(match: re.Match[str]) -> str:
        names = names_at_top(match[0])
        if not any(map(is_global, names)) or names & set(constants):
            return match[0]
        keyword, first, rest = match.groups()
        return f"var {first}{'  ' if keyword == 'const' else ''}{rest}"

    code = re.sub(
        _CLASS,
        lambda found: f"var {found[1]} = class {found[1]}{found[2]};" if is_global(found[1]) else found[0],
        code,
        flags=re.MULTILINE,
    )
    return re.sub(_LEXICAL, as_variable, code)
