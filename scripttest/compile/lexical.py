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

_LEXICAL_WORDS = [word + rb"\s+([\w$\x80-\xff]+)" for word in (b"const", b"let", b"class")]
_VARIABLE_WORD = rb"var\b\s*([\w$\x80-\xff]*)"
"""None begins with `\\b`: what begins with a letter is found ten times faster, and few words end like these."""
_VARIABLE = r"\nvar (?:((?:[\w$]|\\u\{?\w+\}?)+)(?=( = |;$|, ))|(?=[{\[]))"
_DECLARED = r"^(?:(?:async )?function\*? ?|class |(?:var|let|const) )(?:([\w$]+)|([{\[].*))"
_CLASS = r"^class (\S+)( [^\n]*\{\n(?:(?:[^}\n][^\n]*)?\n)*\})$"
_LEXICAL = r"(?m)^(const|let) (\S+)(.*)"
_AROUND = ("BeforeAll", "BeforeEach", "AfterEach", "AfterAll")


class Declared(Value):
    """The names in the text of a file that are declared somewhere in it."""

    lexical: frozenset[str]
    variables: frozenset[str]
    """By `var`, or by nothing but a pattern."""
    has_variables: bool


def declared_in(text: bytes) -> Declared:
    """What a file declares, by its text. The text of comments and literals counts, too."""
    lexical = {name for word in _LEXICAL_WORDS for name in re.findall(word, text)}
    variables = set(re.findall(_VARIABLE_WORD, text)) if b"var" in text else set()
    return Declared(lexical=_decoded(lexical), variables=_decoded(variables), has_variables=bool(variables))


def _decoded(names: set[bytes]) -> frozenset[str]:
    return frozenset([name.decode(errors="replace") for name in names])


def names_at_top(code: str) -> set[str]:
    """The names that a script, printed by esbuild, declares at its top level, and some words of its patterns."""
    names: set[str] = set()
    for name, pattern in re.findall(_DECLARED, code, re.MULTILINE):
        names.update([name] if name else re.findall(r"[\w$]+", pattern))
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

    def put(match: re.Match[str]) -> str:
        name = plain(match[1] or "")
        written = {name, name.rstrip("0123456789")}
        if not name:
            is_lexical = not declared.has_variables and not any(map(is_global, names_at_top(_line(match))))
        else:
            is_default = name.rstrip("0123456789").endswith("_default") and match[2] == " = "
            is_lexical = (not declared.lexical.isdisjoint(written) or is_default) and not is_global(name)
        return f"\nlet{match[0][4:]}" if is_lexical and declared.variables.isdisjoint(written) else match[0]

    return re.sub(_VARIABLE, put, code, flags=re.MULTILINE)


def _line(match: re.Match[str]) -> str:
    end = match.string.find("\n", match.end())
    return match.string[match.start() + 1 : end if end >= 0 else None]


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
