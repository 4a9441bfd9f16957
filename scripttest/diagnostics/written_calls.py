"""Finds the calls in scripts, by reading their compiled code: what is called, with which texts, and where.

Nothing runs. A text that is built at run time has `*` where it is not known.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from scripttest.compile.at_once import compile_all
from scripttest.compile.builds import Source
from scripttest.compile.compiler import Compiled
from scripttest.diagnostics.callees import Token, tokens
from scripttest.diagnostics.sourcemap import SourceMap
from scripttest.errors import CompileError
from scripttest.values import Value

MOST_ARGUMENTS = 4
"""Arguments of a call that are read."""
_IN_TEMPLATE = re.compile(r"\$\{((?:[^{}`]|`[^`]*`|\{[^{}]*\})*)\}")
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_DECLARES = ("var", "let", "const")


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
        wanted = list(dict.fromkeys(scripts))
        new = [Source(key=str(path), test=path, script=None) for path in wanted if path not in self._read]
        for one in compile_all(self._root, new):
            script, result = one.source.test, one.result
            if isinstance(result, CompileError):
                self._read[script] = result
            else:
                self._read[script] = tuple(_calls(result))
                self._declared[script] = result.declared
        return {script: self._read[script] for script in wanted}

    def declared(self, script: Path) -> frozenset[str] | None:
        """The names that a script exports or declares at its top level; None when it cannot be compiled. Blocks. Raises
        HostError when there is no compiler."""
        self.of([script])
        return self._declared.get(script)


def _calls(compiled: Compiled) -> Iterator[WrittenCall]:
    for script in compiled.scripts:
        source_map = SourceMap(script.source_map)
        lines = [0, *(match.end() for match in re.finditer("\n", script.code))]
        for found in written(script.code):
            line = bisect_right(lines, found.start)
            place = source_map.find(line + script.skipped, found.start - lines[line - 1] + 1)
            if place is not None:
                yield WrittenCall(
                    callee=found.callee,
                    arguments=found.arguments,
                    file=place.source,
                    line=place.line,
                    within=found.within,
                    beside=found.beside,
                )


class Found(Value):
    """A call, or a property that is given a text, in compiled code; see `WrittenCall`."""

    callee: str
    arguments: tuple[str | None, ...]
    within: str
    start: int
    """Its offset."""
    beside: frozenset[str] = frozenset()


def written(code: str) -> Iterator[Found]:
    """The calls in code that esbuild printed."""
    found = list(_tokens(code, 0))
    constants = _constants(found)
    names, declared = _names_of_process(found)
    around: list[_Bracket] = []
    for at, token in enumerate(found):
        follows = found[at + 1].text if at + 1 < len(found) else ""
        within = next((bracket.callee for bracket in reversed(around) if bracket.callee), "")
        if token.kind == "name" and follows == "(":
            callee, arguments = _callee(found, at), tuple(_arguments(found, at + 2, constants))
            callee = "Process" if callee in names else callee
            if callee == "Use" and at + 2 < len(found) and found[at + 2].kind == "name":
                callee, arguments = f"new {found[at + 2].text}", arguments[1:]
            yield Found(callee=callee, arguments=arguments, within=within, start=token.start)
        elif at in declared:
            continue
        elif token.kind == "name" and _is_passed(found, at, names):
            yield Found(callee="Process", arguments=(None,), within=within, start=token.start)
        elif token.kind in ("name", "literal") and (follows == ":" or _is_shorthand(found, at, around)):
            text = _text(_expression(found, at + 2)[0] if follows == ":" else [token], constants)
            if text is not None:
                name = token.text.strip("\"'")
                beside = frozenset(_properties(found, around[-1].at) if around else ())
                yield Found(callee=f"{name}:", arguments=(text,), within=within, start=token.start, beside=beside)
        elif token.kind == "sign" and token.text in _OPENING:
            called = token.text == "(" and at and found[at - 1].kind == "name"
            around.append(_Bracket(callee=_callee(found, at - 1) if called else "", at=at))
        elif token.kind == "sign" and token.text in _CLOSING and around:
            around.pop()


def _names_of_process(found: list[Token]) -> tuple[frozenset[str], frozenset[int]]:
    """The names that a script has for `Process`, each declared once, as in `const call = Process` and `const { Process:
    call } = globalThis`; and the places of the tokens that declare the other names."""
    assigned = Counter(found[at].text for at in range(len(found) - 1) if found[at + 1].text == "=")
    names, places = {"Process"}, set()
    for at, token in enumerate(found):
        if token.text != "Process" or token.kind != "name":
            continue
        after = [one.text for one in found[at + 1 : at + 3]]
        of_global = [one.text for one in found[max(0, at - 2) : at]] == ["globalThis", "."]
        first = at - 2 if of_global else at
        named = found[first - 2] if first > 1 and found[first - 1].text == "=" else None
        if named is not None and named.kind == "name" and after[:1] and after[0] in (";", ",", *_DECLARES):
            if assigned[named.text] == 1:
                names.add(named.text)
                places |= {first - 2, at}
        elif after[:1] == [":"] and _is_taken_of_global(found, at):
            names.add(after[1])
            places |= {at, at + 2}
        elif after[:1] and after[0] in (",", "}") and _is_taken_of_global(found, at):
            places.add(at)
    return frozenset(names), frozenset(places)


def _is_taken_of_global(found: list[Token], at: int) -> bool:
    """Whether a token stands in the braces of `{ ... } = globalThis`."""
    end = next((place for place in range(at, len(found)) if found[place].text == "}"), len(found))
    return [one.text for one in found[end + 1 : end + 3]] == ["=", "globalThis"]


def _is_passed(found: list[Token], at: int, names: Collection[str]) -> bool:
    """Whether a name of `Process` is used in another way than to call it, so that others may call it."""
    before, after = found[at - 1].text if at else "", found[at + 1].text if at + 1 < len(found) else ""
    if found[at].text == "Process":
        return after != ":" and before != "typeof"
    return found[at].text in names and after not in (":", "=") and before not in ("typeof", ".", "?.")


class _Bracket(Value):
    """A bracket that is open."""

    callee: str
    """Whose arguments stand in it; empty: they are none."""
    at: int
    """Its place among the tokens."""


def _is_shorthand(found: list[Token], at: int, around: list[_Bracket]) -> bool:
    """Whether a token is a property that has the name of its value."""
    inside = bool(around) and found[around[-1].at].text == "{"
    return (
        inside
        and found[at].kind == "name"
        and found[at - 1].text in ("{", ",")
        and at + 1 < len(found)
        and found[at + 1].text in (",", "}")
    )


def _properties(found: list[Token], opening: int) -> dict[str, str]:
    """The properties of an object, by the place of its bracket: name → its value, where that is a literal text."""
    properties: dict[str, str] = {}
    depth = 0
    for at in range(opening + 1, len(found)):
        token = found[at]
        if token.kind == "sign" and token.text in _CLOSING:
            depth -= 1
            if depth < 0:
                break
        elif token.kind == "sign" and token.text in _OPENING:
            depth += 1
        elif not depth and token.kind in ("name", "literal") and found[at - 1].text in ("{", ","):
            value = found[at + 2 : at + 4]
            is_text = found[at + 1].text == ":" and _is_text(value[0]) and value[-1].text in (",", "}")
            properties[token.text.strip("\"'")] = _unquoted(value[0].text) if is_text else ""
    return properties


def _tokens(code: str, start: int) -> Iterator[Token]:
    """All tokens; behind a template those in it."""
    for token in tokens(code, start):
        yield token
        if token.kind == "template":
            for match in _IN_TEMPLATE.finditer(token.text):
                yield Token(text=";", start=token.start + match.start(), kind="sign")
                for inner in _tokens(match[1], 0):
                    yield inner.replace(start=inner.start + token.start + match.start(1))
                yield Token(text=";", start=token.start + match.end(), kind="sign")


def _callee(found: list[Token], at: int) -> str:
    names = [found[at].text]
    while at > 1 and found[at - 1].text in (".", "?.") and found[at - 2].kind == "name":
        at -= 2
        names.insert(0, found[at].text)
    return ("new " if at and found[at - 1].text == "new" else "") + ".".join(names)


def _arguments(found: list[Token], at: int, constants: Mapping[str, str]) -> Iterator[str | None]:
    for _ in range(MOST_ARGUMENTS):
        expression, at = _expression(found, at)
        if not expression:
            return
        yield _text(expression, constants)
        if at >= len(found) or found[at].text != ",":
            return
        at += 1


def _expression(found: list[Token], at: int) -> tuple[list[Token], int]:
    """The tokens up to the next comma or closing bracket, and where that is."""
    start, depth = at, 0
    while at < len(found):
        text = found[at].text if found[at].kind == "sign" else ""
        if not depth and (text in (",", ";") or text in _CLOSING):
            break
        depth += (text in _OPENING) - (text in _CLOSING)
        at += 1
        if found[at - 1].kind == "template" and at < len(found) and found[at].text == ";":
            at = _behind_template(found, at)
    return found[start:at], at


def _behind_template(found: list[Token], at: int) -> int:
    end = found[at - 1].start + len(found[at - 1].text)
    while at < len(found) and found[at].start < end:
        at += 1
    return at


def _constants(found: list[Token]) -> dict[str, str]:
    """The values of names that are declared once, and as a text; with `name.property` for the texts in an object."""
    assigned: Counter[str] = Counter()
    texts: dict[str, str] = {}
    objects: dict[str, dict[str, str]] = {}
    for at, token in enumerate(found[:-3]):
        if token.kind != "name" or found[at + 1].text != "=":
            continue
        name = _callee(found, at)
        assigned[name] += 1
        if found[at + 2].text == "{":
            objects[name] = _properties(found, at + 2)
        elif _is_text(found[at + 2]) and found[at + 3].text in (";", ",", *_DECLARES):
            texts[name] = _unquoted(found[at + 2].text)
    known = {name: text for name, text in texts.items() if "." not in name and assigned[name] == 1}
    for name, properties in objects.items():
        paths = ((f"{name}.{property}", text) for property, text in properties.items() if assigned[name] == 1)
        known |= {path: text for path, text in paths if text and not assigned[path]}
    return known


def _is_text(token: Token) -> bool:
    return token.kind == "literal" and token.text[0] in "\"'`"


def _text(expression: list[Token], constants: Mapping[str, str]) -> str | None:
    """What an expression is as a text; None when no part of it is written out. The texts of a list stand with blanks
    between them, as the words of a command do."""
    if expression and (expression[0].text, expression[-1].text) == ("[", "]"):
        words = [text or "*" for text in _arguments(expression, 1, constants)]
        return " ".join(words) if words and words[0] != "*" else None
    parts: list[str] = []
    for operand in _operands(expression):
        part = _operand(operand, constants)
        if part != "*" or parts[-1:] != ["*"]:
            parts.append(part)
    return "".join(parts) if any(part != "*" for part in parts) else None


def _operands(expression: list[Token]) -> list[list[Token]]:
    """What is added in an expression, without what stands in templates; nothing where it is more than a sum."""
    operands: list[list[Token]] = [[]]
    end = depth = 0
    for token in expression:
        if token.start < end:
            continue
        if token.kind == "template":
            end = token.start + len(token.text)
        sign = token.text if token.kind == "sign" else ""
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if depth or sign in (".", "?.", "", *_CLOSING):
            operands[-1].append(token)
        elif sign == "+":
            operands.append([])
        else:
            return []
    return operands


def _operand(operand: list[Token], constants: Mapping[str, str]) -> str:
    if len(operand) == 1 and _is_text(operand[0]):
        return _unquoted(operand[0].text)
    if len(operand) == 1 and operand[0].kind == "template":
        return _of_template(operand[0].text, constants)
    if operand and (operand[0].text, operand[-1].text) == ("(", ")"):
        return _text(operand[1:-1], constants) or "*"
    return constants.get("".join(token.text for token in operand).replace("?.", "."), "*")


def _of_template(text: str, constants: Mapping[str, str]) -> str:
    text = _IN_TEMPLATE.sub(lambda match: constants.get(match[1].strip(), "*"), text)
    return _unquoted(text)


def _unquoted(text: str) -> str:
    def letter(match: re.Match[str]) -> str:
        number = match[1] or match[2] or match[3]
        return chr(int(number, 16)) if number else _LETTERS.get(match[4], match[4])

    return _ESCAPED.sub(letter, text[1:-1])
