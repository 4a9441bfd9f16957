"""The names of functions and classes, which esbuild changes where two things of a bundle have the same, or a class
names itself.

What a bundle needs is seen in its code: names with a number at the end, of which the source map has the original, and
names that the compiler makes up. Such a bundle is built again with `--keep-names`, which puts a call of a helper behind
each function; here all go that give a function the name that it has.
"""

from __future__ import annotations

import re

_VALUES = ("async ", "function", "class", "(")
"""How a value begins that may be a function or a class; there are brackets around the parameters of all arrows."""
_VALUE = rf"(?:{'|'.join(map(re.escape, _VALUES))})"
_MADE_UP = rf"_default\d* = {_VALUE}|function\*? \w+_default\d*\(| = class _"
_NAMES = b'"names": ['
"""How the last member of a source map of esbuild begins."""
_HELPER = "var __name = "
_STATEMENT = r'^( *)__name\(([\w$]+), "([^"\n]*)"\);$'
_AT_TOP = r'^__name\([\w$]+, "[^"\n]*"\);$'
_CLASS = r'(?<=\n)( *)(.*\{)\n( +)static \{\n +__name\(this, "([^"\n]*)"\);\n\3\}$'
_ASSIGNED = r'^var ([\w$]+) = /\* @__PURE__ \*/ __name\(([^\n]*\{\n(?:(?: [^\n]*)?\n)*\}[^\n]*), "\1"\);$'
"""A function that is a value at the top level; in its first line is nothing that could fail."""
_NO_WORD = r"[^\w$]"
_LETTERS = "".join(chr(code) if chr(code).isalnum() or chr(code) in "_$" else " " for code in range(128))
"""A translation table that replaces each ASCII character that is not part of a word."""
_BYTES = _LETTERS.encode() + bytes(range(128, 256))
"""The same for UTF-8."""


def has_other_names(code: str, source_map: bytes) -> bool:
    """Whether a function or a class of a script may have another name than it was given."""
    if ("_default" in code or " = class _" in code) and re.search(_MADE_UP, code):
        return True
    start = source_map.rfind(_NAMES) + len(_NAMES)
    names = set(source_map[start : source_map.find(b"]", start)].decode().replace('"', "").split(", "))
    if names == {""}:
        return False
    numbered = {word for word in words_only(code).split() if word[-1].isdigit() and _without_number(word) & names}
    return any(_is_function(name, code) for name in numbered)


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
    code = re.sub(_CLASS, _class, code, flags=re.MULTILINE)
    code = re.sub(_STATEMENT, lambda match: "" if match[2] == match[3] else match[0], code, flags=re.MULTILINE)
    return _first_in_their_blocks(code)


def named_first(script: str) -> str:
    """A script, or a part of one, that names its functions at its beginning, since they can be called before their
    line."""
    early: list[str] = []

    def move(match: re.Match[str]) -> str:
        early.append(match[0])
        return ""

    if "\n__name(" not in script:
        return script
    script = re.sub(_AT_TOP, move, script, flags=re.MULTILINE)
    helper = script.find(_HELPER)
    at = script.index("\n", helper) if helper >= 0 else 0
    return f"{script[:at]}{''.join(early)}{script[at:]}"


def _class(match: re.Match[str]) -> str:
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
    return code.translate(_LETTERS) if code.isascii() else re.sub(_NO_WORD, " ", code)


def words_behind(keyword: bytes, code: bytes) -> frozenset[str]:
    """The words that follow a keyword in code, each cut at 1000 bytes; `""` where something else follows it."""
    rests = (rest[:1000] for rest in code.split(keyword)[1:])
    return frozenset(
        rest.lstrip().translate(_BYTES).partition(b" ")[0].decode(errors="replace")
        for rest in rests
        if rest[:1].translate(_BYTES) == b" "
    )
