"""Reads TypeScript declarations, as far as those of `bindings/types` need. It refuses what it does not know, so that
nothing is left out without a word.

    read(text) → the declarations of one file, each with its doc comment and its members
    load()     → those of all files, by file name

Types are kept as they are written; only type literals in them are read, since their fields are members too.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TYPES = Path(__file__).resolve().parents[2] / "bindings" / "types"

_TOKEN = re.compile(
    r"""
      (?P<doc>/\*\*.*?\*/)
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<space>\s+)
    | (?P<string>"[^"\n]*"|'[^'\n]*')
    | (?P<name>[A-Za-z_$][\w$]*|\d+)
    | (?P<sign>=>|\.\.\.|[-{}()\[\]<>;:,?=|&.*])
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING = {"{": "}", "(": ")", "[": "]", "<": ">"}


class DeclarationError(Exception):
    """A declaration or a doc comment that the reader does not know."""


@dataclass(frozen=True)
class Doc:
    """A doc comment."""

    text: str
    """What stands before the tags, Markdown."""
    params: dict[str, str] = field(default_factory=dict)
    """Parameter → what it is, in their order."""
    returns: str = ""
    throws: str = ""
    example: str = ""
    """Markdown below `@example`."""

    @property
    def summary(self) -> str:
        """The first sentence, on one line."""
        first = " ".join(self.text.split("\n\n")[0].split())
        return re.split(r"(?<=[.])\s+(?=[A-Z`\"])", first, maxsplit=1)[0]

    @property
    def blocks(self) -> list[str]:
        """The TypeScript in it."""
        return code_blocks(f"{self.text}\n{self.example}")


@dataclass(frozen=True)
class Declaration:
    """A declaration or a member of one."""

    kind: str
    """namespace, module, interface, type, var, function, import; of members method, field, get, set, new, index."""
    name: str
    path: str
    """Its name with those of what it is in: `agent.Context.Send`."""
    line: int
    """From 1."""
    signature: str
    """Its text without `declare`, without body and without the last semicolon."""
    doc: Doc | None
    members: tuple[Declaration, ...] = ()
    params: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    optional: bool = False
    inline: bool = False
    """Whether it is part of a type literal on one line."""

    @property
    def type(self) -> str:
        """The type of a field or variable, or what a type stands for, as it is written."""
        return self.signature.partition({"index": "]:", "type": "="}.get(self.kind, ":"))[2].strip()

    def walk(self) -> Iterator[Declaration]:
        """It and everything in it."""
        yield self
        for member in self.members:
            yield from member.walk()


@dataclass(frozen=True)
class File:
    """One file of declarations."""

    name: str
    header: Doc | None
    """The comment that opens it, unless that belongs to a declaration."""
    declarations: tuple[Declaration, ...]

    def walk(self) -> Iterator[Declaration]:
        """All declarations and members."""
        for declaration in self.declarations:
            yield from declaration.walk()


def load() -> dict[str, File]:
    """The shipped declarations by file name, in the order in which `index.d.ts` names them; that file last."""
    index = (TYPES / "index.d.ts").read_text("utf-8")
    names = [*re.findall(r'^/// <reference path="\./([\w.]+)" />$', index, re.MULTILINE), "index.d.ts"]
    if sorted(names) != sorted(path.name for path in TYPES.glob("*.d.ts")):
        raise DeclarationError(f"index.d.ts does not name every file beside it: {names}")
    return {name: read((TYPES / name).read_text("utf-8"), name) for name in names}


def code_blocks(markdown: str) -> list[str]:
    """The TypeScript blocks of a Markdown text."""
    return re.findall(r"^```ts\n(.*?)^```$", markdown, re.MULTILINE | re.DOTALL)


def read(text: str, name: str = "input.d.ts") -> File:
    """Reads the text of a file. Raises DeclarationError."""
    return _Reader(text, name).file()


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


class _Reader:
    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.tokens = self.tokenize()
        self.at = 0
        self.header: Doc | None = None

    def tokenize(self) -> list[_Token]:
        tokens, position = [], 0
        while position < len(self.text):
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise self.error("no token of a declaration", position)
            kind = match.lastgroup or ""
            if kind not in ("space", "comment"):
                tokens.append(_Token(kind, match[0], position, match.end()))
            position = match.end()
        return [*tokens, _Token("end", "", position, position)]

    def line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    def error(self, problem: str, position: int | None = None) -> DeclarationError:
        start = self.tokens[self.at].start if position is None else position
        rest = self.text[start:].split("\n", 1)[0]
        return DeclarationError(f"{self.name}:{self.line(start)}: {problem}: {rest}")

    @property
    def next(self) -> str:
        return self.tokens[self.at].text

    def take(self, *expected: str) -> str:
        token = self.tokens[self.at]
        if expected and token.text not in expected:
            raise self.error(f"expected {' or '.join(expected)}")
        self.at += 1
        return token.text

    def accept(self, text: str) -> bool:
        if self.next == text:
            self.at += 1
            return True
        return False

    def word(self) -> str:
        if self.tokens[self.at].kind not in ("name", "string"):
            raise self.error("expected a name")
        return self.take()

    def file(self) -> File:
        declarations = tuple(self.statements("", ""))
        return File(self.name, self.header, declarations)

    def comment(self) -> Doc | None:
        """The doc comments before a declaration; two of them are there only at the top of a file."""
        docs = []
        while self.tokens[self.at].kind == "doc":
            docs.append(self.doc(self.tokens[self.at]))
            self.at += 1
        if len(docs) == 2 and self.tokens[0].kind == "doc" and self.at == 2:
            self.header = docs.pop(0)
        if len(docs) > 1:
            raise self.error("more than one doc comment before")
        return docs[0] if docs else None

    def statements(self, path: str, end: str) -> Iterator[Declaration]:
        while True:
            doc = self.comment()
            if self.next == end:
                if doc and end:
                    raise self.error("a doc comment of nothing before")
                self.header = self.header or doc
                self.at += 1
                return
            yield self.statement(path, doc)

    def statement(self, path: str, doc: Doc | None) -> Declaration:
        line = self.line(self.tokens[self.at].start)
        for modifier in ("export", "declare"):
            self.accept(modifier)
        start = self.tokens[self.at].start
        kind = self.take("namespace", "module", "interface", "type", "var", "function", "import", "*")
        if kind == "*":
            self.take("from")
            kind, name = "import", self.word()
        else:
            name = self.word()
        name = name.strip('"')
        inner = f"{path}.{name}" if path else name
        bases: tuple[str, ...] = ()
        params: tuple[str, ...] = ()
        members: list[Declaration] = []
        if kind in ("namespace", "module"):
            signature = self.source(start)
            self.take("{")
            members += self.statements(inner, "}")
        elif kind == "interface":
            self.type_parameters()
            if self.accept("extends"):
                bases = tuple(self.bases())
            signature = self.source(start)
            self.take("{")
            members += self.members(inner)
        else:
            if kind == "function":
                self.type_parameters()
                params = self.parameters()
            members += self.rest(inner)
            signature = self.source(start)
            self.take(";")
        return Declaration(kind, name, inner, line, signature, doc, tuple(members), params, bases)

    def bases(self) -> Iterator[str]:
        while True:
            name = self.word()
            while self.accept("."):
                name += f".{self.word()}"
            self.type_parameters()
            yield name
            if not self.accept(","):
                return

    def members(self, path: str) -> Iterator[Declaration]:
        """Members up to the closing brace, which is taken too."""
        opened = self.line(self.tokens[self.at - 1].start)
        while True:
            doc = self.comment()
            if self.accept("}"):
                if doc:
                    raise self.error("a doc comment of nothing before")
                return
            yield self.member(path, doc, opened)

    def member(self, path: str, doc: Doc | None, opened: int) -> Declaration:
        start = self.tokens[self.at].start
        kind = "field"
        params: tuple[str, ...] = ()
        after = self.tokens[self.at + 1].text
        if self.next in ("readonly", "get", "set") and after not in (":", "?", "("):
            kind = {"readonly": "field"}.get(self.next, self.next)
            self.at += 1
        if self.accept("["):
            if self.next == "Symbol":
                name = f"[{self.take()}{self.take('.')}{self.word()}]"
                self.take("]")
            else:
                kind, name = "index", f"[{self.word()}]"
                self.skip_to("]")
        elif self.next == "new":
            kind, name = self.take(), "new"
        else:
            name = self.word().strip('"')
        optional = self.accept("?")
        if self.next in ("<", "("):
            kind = "method" if kind == "field" else kind
            self.type_parameters()
            params = self.parameters()
        elif self.next != ":":
            raise self.error("expected a type")
        inner = f"{path}.{name}"
        members = tuple(self.rest(inner))
        signature = self.source(start)
        if self.next != "}":
            self.take(";")
        line = self.line(start)
        return Declaration(
            kind, name, inner, line, signature, doc, members, params, (), optional, inline=line == opened
        )

    def type_parameters(self) -> None:
        if self.accept("<"):
            self.skip_to(">")

    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of a signature; their types are skipped."""
        self.take("(")
        names = []
        while not self.accept(")"):
            self.accept("...")
            names.append(self.word())
            self.accept("?")
            while self.next not in (",", ")"):
                self.skip()
            self.accept(",")
        return tuple(names)

    def rest(self, path: str) -> Iterator[Declaration]:
        """The rest of a declaration; gives the members of the type literals in it, but not of those of parameters."""
        while self.next not in (";", "}"):
            if self.accept("{"):
                yield from self.members(path)
            else:
                self.skip()

    def skip(self) -> None:
        """Takes one token, or all between a pair of brackets."""
        token = self.take()
        if token in _OPENING:
            self.skip_to(_OPENING[token])
        elif token in _OPENING.values() or not token:
            self.at -= 1
            raise self.error("a bracket is missing")

    def skip_to(self, end: str) -> None:
        while not self.accept(end):
            self.skip()

    def source(self, start: int) -> str:
        """The text from a position to the next token, with its first line's indentation removed from all."""
        text = self.text[start : self.tokens[self.at - 1].end]
        column = start - (self.text.rfind("\n", 0, start) + 1)
        return textwrap.dedent(" " * column + text)

    def doc(self, token: _Token) -> Doc:
        lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in token.text[3:-2].split("\n")]
        sections: list[tuple[str, list[str]]] = [("", [])]
        fenced = False
        for line in lines:
            tag = None if fenced else re.match(r"@(\w+)(?: |$)", line)
            fenced ^= line.startswith("```")
            if tag:
                sections.append((tag[1], [line[tag.end() :]]))
            else:
                sections[-1][1].append(line)
        if fenced:
            raise self.error("a code block without end", token.start)
        found: dict[str, str] = {"text": "", "returns": "", "throws": "", "example": ""}
        params: dict[str, str] = {}
        for name, body in sections:
            text = textwrap.dedent("\n".join(body)).strip()
            if not text:
                raise self.error(f"nothing said by @{name}" if name else "an empty doc comment", token.start)
            if name == "param":
                param, _, text = text.partition(" ")
                params[param] = " ".join(text.split())
            elif name in ("", "example"):
                key = name or "text"
                if found[key]:
                    raise self.error(f"a second @{name}", token.start)
                found[key] = text
            elif name in found:
                found[name] = " ".join(text.split())
            else:
                raise self.error(f"unknown tag @{name}", token.start)
        return Doc(params=params, **found)
