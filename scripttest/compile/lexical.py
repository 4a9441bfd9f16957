"""Declarations at the top level of scripts: `const`, `let` and `class`, which esbuild turns into `var` in bundles, are
variables again that nobody can read before their line.

Tests and functions around them stay properties of the global object, where they are looked for. So do names that two
scripts of a realm declare, of which the last one wins, as in Yao.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from scripttest.names import BENCHMARK, EVERY_RUN
from scripttest.values import Value
from scripttest.words import words_behind, words_only

_VARIABLE = "\nvar "
_DECLARING = ("function ", "function* ", "async function ", "async function* ", "class ", "var ", "let ", "const ")
_CLASS = r"^class (\S+)( [^\n]*\{\n(?:(?:[^}\n][^\n]*)?\n)*\})$"
_LEXICAL = r"(?m)^(const|let) (\S+)(.*)"
_AROUND = ("BeforeAll", "BeforeEach", "AfterEach", "AfterAll")


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
