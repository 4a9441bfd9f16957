"""From what esbuild writes to scripts of a realm, which mean what the author wrote: with their declarations and their
strictness.

A bundle has a part for each file, under a comment with its path. If some of the files are strict and others are not, it
becomes several scripts, evaluated one after the other; all declarations are global, so that nothing else changes.

`const`, `let` and `class` at the top, which esbuild turns into `var`, are variables again that nobody can read before
their line; in modules that run when `import()` loads them, the bindings see to that (`realm/early.ts`). Tests and
functions around them stay properties of the global object, where they are looked for. So do names that two scripts of a
realm declare, of which the last one wins, as in Yao.

esbuild also changes names of functions and classes where two things of a bundle have the same, or a class names itself.
Such a bundle shows it: by names with a number at the end, of which the source map has the original, and names that the
compiler makes up. It is built again with `--keep-names`, which puts a call of a helper behind each function; here all
go that give a function the name that it has.

Code is read by lines and words here, in every run: the parser of `syntax` takes longer than all the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence, Set
from itertools import pairwise
from pathlib import Path

from scripttest.compile.configuration import DIRECTIVE, CompilerOptions
from scripttest.compile.esbuild import plain, with_own_async, with_plain_require, without_exports
from scripttest.results import BENCHMARK, EVERY_RUN
from scripttest.values import Value

_FILE = r"\n// (.+)"
_FIRST_LINE = 2
_LATER = r"^var ([^\n=]+);(?=\nvar init_\S+ = __esm\(\{$)"
"""The variables of a module that runs when it is first imported, before the function that runs it."""
_LET = rb"\s((?:,\s*\n|[^;\n]|(?!))*+)"
"""What follows `let`, to the end of the line or behind a comma there."""
_UNSET = rb"(?:^|,)\s*+([\w$]++)\s*+(?::[^=,]*+|(?!))?+(?!=(?![=>]))"
"""A variable without a value in what follows `let`."""
_VARIABLE = "\nvar "
_DECLARING = ("function ", "function* ", "async function ", "async function* ", "class ", "var ", "let ", "const ")
_CLASS = r"^class (\S+)( [^\n]*\{\n(?:(?:[^}\n][^\n]*)?\n)*\})$"
_LEXICAL = r"(?m)^(const|let) (\S+)(.*)"
_AROUND = ("BeforeAll", "BeforeEach", "AfterEach", "AfterAll")
_VALUES = ("async ", "function", "class", "(")
"""How a value begins that may be a function or a class; there are brackets around the parameters of all arrows."""
_VALUE = rf"(?:{'|'.join(map(re.escape, _VALUES))})"
_MADE_UP = rf"_default\d* = {_VALUE}|function\*? \w+_default\d*\(| = class _"
_NAMES = b'"names": ['
"""How the last member of a source map of esbuild begins."""
_HELPER = "var __name = "
_STATEMENT = r'^( *)__name\(([\w$]+), "([^"\n]*)"\);$'
_AT_TOP = r'^__name\(([\w$]+), "[^"\n]*"\);$'
_FUNCTION = r"^function\*? ([\w$]+)\("
_NAMED_CLASS = r'(?<=\n)( *)(.*\{)\n( +)static \{\n +__name\(this, "([^"\n]*)"\);\n\3\}$'
_ASSIGNED = r'^var ([\w$]+) = /\* @__PURE__ \*/ __name\(([^\n]*\{\n(?:(?: [^\n]*)?\n)*\}[^\n]*), "\1"\);$'
"""A function that is a value at the top level; in its first line is nothing that could fail."""
_NO_WORD = r"[^\w$]"
_BLANKS = bytes(code if code >= 128 or chr(code).isalnum() or chr(code) in "_$" else 32 for code in range(256))
"""A translation table that replaces each byte that is not part of a word in UTF-8."""
_LONGEST = 1000
"""Bytes of blanks and the word behind a keyword, as far as is looked."""


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
        self._options = CompilerOptions()
        self._files: dict[str, _File] = {}

    def note(self, path: str, content: bytes) -> None:
        """Reads in a file, by its absolute path, what its scripts must keep."""
        name = path.removeprefix(f"{self._root}/")
        self._files[name] = _File(declared=declared_in(content), is_strict=self._options.is_strict(path, content))

    def scripts(self, outputs: Sequence[Output]) -> tuple[tuple[Script, ...], dict[str, str]]:
        """The scripts of a realm, and what the last of them exports: exported name → global name."""
        codes, exports = [], dict[str, str]()
        for output in outputs:
            code, exports = without_exports(
                with_own_async(with_plain_require(without_interpreter(with_written_names(output.code))))
            )
            codes.append(code)
        twice = set.intersection(*map(names_at_top, codes)) if len(codes) > 1 else set[str]()
        tests = {local for name, local in exports.items() if is_found_by_name(name)}
        scripts, line = [], _FIRST_LINE
        is_caught = any("catch" in code for code in codes)
        for output, code in zip(outputs, codes, strict=True):
            is_global = _among(tests | twice)
            if output.is_bundle:
                renamed = numbered(code, output.source_map) if is_caught else set[str]()
                pieces = self._pieces(code, is_global, renamed)
            else:
                pieces = [named_first(with_globals(code, output.constants, is_global))]
            skipped = 0
            for piece in pieces:
                scripts.append(Script(code=piece, source_map=output.source_map, first_line=line, skipped=skipped))
                lines = piece.count("\n") + (piece is pieces[-1])
                skipped, line = skipped + lines, line + lines
        return tuple(scripts), exports

    def _pieces(self, code: str, is_global: Callable[[str], bool], renamed: set[str]) -> list[str]:
        """A bundle, cut where its files begin or end to be strict. `renamed`: names that may have got a number."""
        text = f"\n{code}"  # so that a place in it is the end of a line before the comment
        found = [(match.start(), file) for match in re.finditer(_FILE, text) if (file := self._files.get(match[1]))]
        if not found:
            return [named_first(code)]
        pieces: list[str] = []
        strict: list[bool] = []
        head = code[: found[0][0]]
        is_strict: bool | None = None
        for (start, file), (end, _) in pairwise([*found, (len(code), found[-1][1])]):
            part = with_early(code[start:end], file.declared, is_global)
            part = with_lexical(part, file.declared, is_global, plain)
            if file.is_strict == is_strict:
                pieces[-1] += part
            else:
                pieces.append(f"{head}{part}")
                strict.append(file.is_strict)
            is_strict, head = file.is_strict, ""
        starts = [DIRECTIVE if first else "" for first in strict]
        known = set[str]().union(*(file.declared.lexical for _, file in found)) if renamed else set[str]()
        if given := {name: _written(name, known) for name in sorted(renamed - known)}:
            starts[0] += f"var __yaoWritten = {{ ...__yaoWritten, ...{json.dumps(given)} }};"
        return [f"{start}{named_first(piece)}" for start, piece in zip(starts, pieces, strict=True)]


def _among(names: set[str]) -> Callable[[str], bool]:
    return lambda name: name in names or is_found_by_name(name)


def without_interpreter(code: str) -> str:
    """A script whose line `#!...`, which stands before other scripts of its realm, is a comment of the same length."""
    return f"//{code[2:]}" if code.startswith("#!") else code


class Declared(Value):
    """The names in the text of a file that are declared somewhere in it."""

    lexical: frozenset[str]
    variables: frozenset[str]
    """By `var`; `""` stands for a pattern."""
    unset: frozenset[str]
    """Those that may be read before anything is assigned to them: enums, namespaces, and variables without a value."""


def declared_in(text: bytes) -> Declared:
    """What a file declares, by its text. The text of comments and literals counts, too."""
    lexical = frozenset().union(*(words_behind(word, text) for word in (b"const", b"let", b"class")))
    unset = set[str]().union(*(words_behind(word, text) for word in (b"enum", b"namespace", b"module")))
    for rest in text.split(b"let")[1:]:
        line, value, more = rest.partition(b"\n")[0].partition(b";")[0].partition(b"=")
        if value and b"/" not in line and b"," not in line + more and not more.startswith((b"=", b">")):
            continue  # the only one has a value
        if found := re.match(_LET, rest[:1000]):
            unset.update(name.decode(errors="replace") for name in re.findall(_UNSET, found[1]))
    return Declared(lexical=lexical - {""}, variables=words_behind(b"var", text), unset=frozenset(unset))


def names_at_top(code: str) -> set[str]:
    """The names that a script, printed by esbuild, declares at its top level, and some words of its patterns."""
    names: set[str] = set()
    for line in code.split("\n"):
        if line.startswith(_DECLARING):
            rest = line.removeprefix("async ").partition(" ")[2]
            words = words_only(rest).split()
            is_list = rest.startswith(("{", "[")) or (", " in rest and "=" not in rest)
            names.update(words if is_list else words[:1])
    return names


def is_found_by_name(name: str) -> bool:
    """Whether something is looked for among the properties of the global object."""
    return name.startswith((*EVERY_RUN, BENCHMARK)) or name in _AROUND


def with_lexical(code: str, declared: Declared, is_global: Callable[[str], bool], plain: Callable[[str], str]) -> str:
    """The part of a bundle that comes from one file, with `let` for what was lexical there. No column changes.
    `is_global`: whether a name must stay a property of the global object. `plain`: gives an identifier without
    escapes."""

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


def with_early(code: str, declared: Declared, is_global: Callable[[str], bool]) -> str:
    """The part of a bundle that comes from one file, where nothing can be read before its line: for a module that runs
    when it is first imported."""
    found = re.search(_LATER, code, re.MULTILINE) if " = __esm({" in code else None
    if found is None:
        return code
    early, names = dict[str, str](), found[1].split(", ")
    for printed in names:
        name = plain(printed)
        known = {name, name.rstrip("0123456789")}
        is_made_up = name.startswith(("import_", "_")) and not known & declared.lexical
        if is_made_up or is_global(name) or known & (declared.variables | declared.unset):
            continue
        at = re.escape(printed)
        if re.search(rf"^    (?:(?:\S.*, )?{at} = |\(?[{{[].*(?<![\w$.]){at}[^\w$].* = )", code, re.MULTILINE):
            early[printed] = _written(name, declared.lexical)
    left = ", ".join(name for name in names if name not in early)
    lines = f"{f'var {left};' if left else ''}__yaoEarly({json.dumps(early)});" if early else found[0]
    return f"{code[: found.start()]}{lines}{code[found.end() :]}"


def _written(name: str, known: Set[str]) -> str:
    """A name as an author wrote it, to which the compiler may have put a number, or which it may have made up."""
    stem = name.rstrip("0123456789")
    return "default" if stem.endswith("_default") and not known & {name, stem} else name if name in known else stem


def with_globals(code: str, constants: Collection[str], is_global: Callable[[str], bool]) -> str:
    """A script that is not a bundle, with `var` for what must be a property of the global object. Columns change in
    lines of classes only. `code`: printed by esbuild, without template literals, so that every line that is not
    indented begins a statement. `constants`: names that the code assigns to. They stay `const`, because assigning to
    them must be an error."""

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


def has_other_names(code: str, source_map: bytes) -> bool:
    """Whether a function or a class of a script may have another name than it was given."""
    if ("_default" in code or " = class _" in code) and re.search(_MADE_UP, code):
        return True
    return any(_is_function(name, code) for name in numbered(code, source_map))


def numbered(code: str, source_map: bytes) -> set[str]:
    """The names in a script that may have got a number from the compiler."""
    start = source_map.rfind(_NAMES) + len(_NAMES)
    names = set(source_map[start : source_map.find(b"]", start)].decode().replace('"', "").split(", "))
    if names == {""}:
        return set()
    return {word for word in words_only(code).split() if word[-1].isdigit() and _without_number(word) & names}


def _is_function(name: str, code: str) -> bool:
    """Whether a function or a class is declared with a name, or a value of the name or of a member of it."""
    if any(f"{declared} {name}" in code for declared in ("function", "function*", "class")):
        return True
    for rest in code.split(name)[1:]:
        member, is_assigned, value = rest[:200].partition(" = ")
        if is_assigned and member.count(".") <= 1 and " " not in member and value.startswith(_VALUES):
            return True
    return False


def _without_number(word: str) -> set[str]:
    """What a name may have been to which the compiler put a number."""
    return {word[:end] for end in range(len(word.rstrip("0123456789")), len(word))}


def with_written_names(code: str) -> str:
    """A script that was built with `--keep-names`, without the calls that change nothing. All lines stay where they
    are."""
    if _HELPER not in code:
        return code
    code = re.sub(_ASSIGNED, lambda match: f"var {match[1]} = {match[2]};", code, flags=re.MULTILINE)
    code = re.sub(_NAMED_CLASS, _named_class, code, flags=re.MULTILINE)
    code = re.sub(_STATEMENT, lambda match: "" if match[2] == match[3] else match[0], code, flags=re.MULTILINE)
    return _first_in_their_blocks(code)


def named_first(script: str) -> str:
    """A script, or a part of one, that names its functions at its beginning, since they can be called before their
    line."""
    early: list[str] = []
    if "\n__name(" not in script:
        return script
    functions = set(re.findall(_FUNCTION, script, re.MULTILINE))

    def move(match: re.Match[str]) -> str:
        if match[1] not in functions:  # a class with decorators, which gets its name at the end
            return match[0]
        early.append(match[0])
        return ""

    script = re.sub(_AT_TOP, move, script, flags=re.MULTILINE)
    helper = script.find(_HELPER)
    at = script.index("\n", helper) if helper >= 0 else 0
    return f"{script[:at]}{''.join(early)}{script[at:]}"


def _named_class(match: re.Match[str]) -> str:
    """A class that has its name without the helper: as a declaration, or as the value of a variable."""
    indent, head, _, name = match.groups()
    own = re.search(r"\bclass (?!extends )([\w$]+) ", head)
    assigned = own or re.search(r"(?<![\w$.])([\w$]+)(?: =|:) class ", head)
    has_name = assigned is not None and assigned[1] == name
    return f"{indent}{head}\n\n\n" if has_name else match[0]


def _first_in_their_blocks(code: str) -> str:
    """The same for functions within blocks."""
    lines: list[str] | None = None
    for match in re.finditer(_STATEMENT, code, re.MULTILINE):
        if not match[1]:
            continue
        lines = lines or code.split("\n")
        number = code.count("\n", 0, match.start())
        size = len(match[1])
        start = number - 1
        while start >= 0 and (not lines[start].strip() or len(lines[start]) - len(lines[start].lstrip(" ")) >= size):
            start -= 1
        has_directive = lines[start + 1].lstrip().startswith(('"', "'"))
        is_block = start >= 0 and lines[start].endswith("{") and not has_directive
        declared = (f"{match[1]}function {match[2]}(", f"{match[1]}function* {match[2]}(")
        is_declared = any(line.startswith(declared) for line in lines[start:number])
        if is_block and is_declared and not any("`" in line for line in lines[start:number]):
            lines[start] += lines[number].strip()
            lines[number] = ""
    return code if lines is None else "\n".join(lines)


def words_only(code: str) -> str:
    """The code with a space in place of each character that is not part of a name or word."""
    if not code.isascii():
        return re.sub(_NO_WORD, " ", code)
    return code.encode().translate(_BLANKS).decode()  # of bytes it takes a fraction of the time


def words_behind(keyword: bytes, code: bytes) -> frozenset[str]:
    """The words that follow a keyword in code, each cut at 1000 bytes; `""` where something else follows it."""
    words, at = set(), code.find(keyword)
    while at >= 0:
        at += len(keyword)
        rest = code[at : at + _LONGEST]
        if rest[:1].translate(_BLANKS) == b" ":
            rest = rest.lstrip()
            words.add(rest.translate(_BLANKS).partition(b" ")[0].decode(errors="replace"))
        at = code.find(keyword, at)
    return frozenset(words)
