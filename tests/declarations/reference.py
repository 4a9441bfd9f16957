"""Prints a page of the script API, made from the declarations:

python tests/declarations/reference.py testing > docs/script-api.md
python tests/declarations/reference.py agent > docs/script-api-context.md
python tests/declarations/reference.py yao > docs/script-api-yao.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from declarations.markdown import SHORTER, anchor, compact, described, entry, link, page
from declarations.reader import Declaration, File, load

EXPRESSIONS = {
    "testing.Snapshot": "t.snapshot",
    "testing.T": "t",
    "testing.Assert": "t.assert",
    "testing.Require": "t.require",
    "testing.Mock": "t.mock",
    "testing.Db": "t.db",
    "testing.M": "m",
    "agent.Context": "ctx",
    "agent.Memory": "ctx.memory",
    "agent.MemoryNamespace": "ctx.memory.user",
    "agent.Trace": "ctx.trace",
    "agent.MCP": "ctx.mcp",
    "agent.Agents": "ctx.agent",
    "agent.LLM": "ctx.llm",
    "agent.Search": "ctx.search",
}
"""Interface → what a script writes to get to it, where that is not a global name."""
PAGES = {
    "testing.d.ts": "script-api.md",
    "agent.d.ts": "script-api-context.md",
    "yao.d.ts": "script-api-yao.md",
    "platform.d.ts": "script-api-yao.md",
}
"""File → the page that has its names."""
TITLES = {
    "testing.d.ts": "Script API: tests",
    "agent.d.ts": "Script API: context and hooks",
    "yao.d.ts": "Script API: Yao's global names",
    "platform.d.ts": "Names known from browsers",
}
MADE = "<!-- made from bindings/types by: python tests/declarations/reference.py {} > docs/{} -->"
INTRODUCTION = """All that a [script test](script-tests.md) and the scripts it calls can use: no `fetch`, no `require`, no Node modules.
[The editor](editor.md) shows the texts in full, with examples.

{}"""
TELLING = 5
"""Words of a parameter that repeat its name."""
WORTH_TELLING = 9
"""Words of a text that tells more than a name; the editor shows shorter ones, unless they tell a `DETAIL`."""
DETAIL = re.compile(
    r"[`\d;:,(]|\b(throws?|null|unless|until|seconds|negative|order|first|last|empty|UTF-8|base64)\b", re.I
)
"""What only a text can tell."""
KNOWN = 10
"""Words of a text that is told of a function which everybody knows from browsers."""
SHORT = 13
"""Words of a text that shares its list item with its neighbours, if they are short too."""
TOGETHER = 4
"""Members in such an item."""
EMPTY = set(
    "a an and are as at be by each for from further free given how if in is it its member number of on one or other "
    "that the there they this to value whether what which with".split()
)
"""Words that add nothing to a name, in the singular."""
REST = {"testing": "Other types of tests", "agent": "Other types of hooks", "yao": "Other types of Yao"}
"""Page → the heading of its types without fields."""
GUIDES = {"testing.F": "fuzzing.md", "testing.B": "benchmarks.md"}
"""Interface → the page that has its examples."""
ASSERTIONS = "assertions.md"
"""The page that describes the members of `t.assert`."""


@dataclass
class Section:
    """A part of the page: an interface with the class or variable of its type, a function or a type."""

    main: Declaration
    variable: Declaration | None = None

    @property
    def title(self) -> str:
        """What it is called on the page."""
        return self.variable.name if self.variable else EXPRESSIONS.get(self.main.path, self.main.path)

    @property
    def is_value(self) -> bool:
        """Whether scripts write its name, and not only as a type."""
        return self.variable is not None or self.main.kind == "function" or self.main.path in EXPRESSIONS

    @property
    def statics(self) -> list[Declaration]:
        """The members of the class itself."""
        return [member for member in self.variable.members if not member.inline] if self.variable else []

    @property
    def constructor(self) -> Declaration | None:
        """How a script makes one, where it is a class."""
        return next((member for member in self.statics if member.kind == "new"), None)

    @property
    def is_line(self) -> bool:
        """Whether it is a type that a line describes."""
        return self.main.kind == "type" and not self.variable and "/**" not in self.main.signature

    @property
    def summary(self) -> str:
        """What it is, in a sentence."""
        owner = self.variable if self.variable and not self.constructor else self.main
        assert owner.doc is not None
        return owner.doc.summary


@dataclass(frozen=True)
class Line:
    """A member in a list."""

    name: str
    """Markdown, with its type."""
    text: str = ""
    """What there is to tell of it."""
    place: str = ""
    """The title of the section that tells it."""


class Reference:
    """The pages, made from the declarations of all files."""

    def __init__(self, files: dict[str, File]) -> None:
        self.files = files
        self.groups = {name: sections(files[name]) for name in TITLES}
        self.titles = {part.main.path: part.title for parts in self.groups.values() for part in parts}
        self.places = {part.title: PAGES[name] for name, parts in self.groups.items() for part in parts}
        self.lines = {part.title for parts in self.groups.values() for part in parts if part.is_line}
        self.told: dict[tuple[str, str], str] = {}
        for parts in self.groups.values():
            for part in parts:
                for member in [*part.statics, *part.main.members]:
                    if member.doc:
                        self.told.setdefault((member.name, text_of(member)), part.title)

    def page(self, name: str) -> str:
        """The page of one of the files; that of tests leads to all names."""
        file = f"{name}.d.ts"
        parts = [f"# {TITLES[file]}", MADE.format(name, PAGES[file])]
        if name == "testing":
            parts += [INTRODUCTION.format(SHORTER), "## All names", self.overview()]
        else:
            parts.append(SHORTER)
        parts += self.group(file)
        if name == "yao":
            parts += [f"## {TITLES['platform.d.ts']}", *self.platform()]
        return page(parts)

    def overview(self) -> str:
        """The names that scripts write."""
        return "\n".join(
            "- " + ", ".join(self.link(part.title) for part in parts if part.is_value)
            for name, parts in self.groups.items()
            if name != "platform.d.ts"
        )

    def link(self, title: str, text: str = "") -> str:
        """A link to a section, on whichever page it is."""
        page = self.places[title]
        if title in self.lines:
            return (
                f"[`{text or title}`]({page}#{anchor(REST[next(key for key in REST if PAGES[f'{key}.d.ts'] == page)])})"
            )
        return link(title, page, text)

    def group(self, name: str) -> Iterator[str]:
        """What belongs to one file of declarations."""
        file, parts = self.files[name], self.groups[name]
        if file.header:
            yield from described(file.header)
        for namespace in file.declarations:
            if namespace.kind == "namespace" and namespace.doc:
                yield from [namespace.doc.summary] if name != "agent.d.ts" else described(namespace.doc)
        for part in parts:
            if part.is_line:
                continue
            yield f"## `{part.title}`"
            if part.variable and part.main.kind != "interface":
                yield from described(part.variable.doc)
            yield from self.section(part) if part.main.kind == "interface" else briefly(part.main)
        if rest := [part.main for part in parts if part.is_line]:
            yield f"## {REST[name.partition('.')[0]]}"
            yield "\n".join(line_of_type(part) for part in rest)
        for module in file.declarations:
            if module.kind == "module" and module.doc:
                yield f'## `import ... from "{module.name}"`'
                yield re.sub(r"```.*?```", "", module.doc.text, flags=re.S).strip()
                values = {part.title for part in parts if part.is_value}
                names = [f"`{member.name}`" for member in module.members if not (member.doc or member.name in values)]
                others = [f"`{part.name}` ({self.alias(part)})" for part in module.members if part.doc]
                yield f"Names: all values above, {', '.join([*names, *others])}."

    def platform(self) -> Iterator[str]:
        """What scripts know from browsers: a line for each, as everybody knows them."""
        file = self.files["platform.d.ts"]
        if file.header:
            yield re.sub(r"\n*```.*?```\n*", "\n\n", file.header.text, flags=re.S)
        lines, plain = [], []
        for part in self.groups["platform.d.ts"]:
            doc, inner = part.main.doc, [member.name for member in part.main.members if member.kind == "method"]
            told = doc and (" ".join(doc.text.split()) if "browser" in doc.text else doc.summary)
            is_class = part.main.kind != "function"
            text = told if told and not is_class and len(told.split()) >= KNOWN else ""
            names = f" with {_inline([*[own.name for own in part.statics if own.kind == 'method'], *inner])}"
            if inner or text:
                lines.append(f"- `{part.title}`{names if inner else ''}{f': {text}' if text else ''}")
            else:
                plain.append(f"`{part.title}`")
        yield "\n".join([*lines, f"- {', '.join(plain)}"])

    def section(self, part: Section) -> Iterator[str]:
        """An interface with its members."""
        main, variable, constructor = part.main, part.variable, part.constructor
        if main.doc and (part.is_value or main.doc.params or len(main.doc.text.split()) >= TELLING or main.doc.throws):
            yield from described(replace(main.doc, example=""))
        if guide := GUIDES.get(main.path):
            yield f"[Examples]({guide})."
        if main.path == "testing.Assert":
            yield f"{', '.join(link(member.name, ASSERTIONS) for member in main.members)}."
            return
        if variable and not constructor:
            yield from described(variable.doc and replace(variable.doc, example=""))
        for base in main.bases:
            yield f"Extends {self.name_of(base, main)}."
        members = [*part.statics, *main.members]
        fields = [line for member in members if not is_entry(member) for line in self.fields(member, part)]
        methods = [self.method(member, part) for member in members if is_entry(member)]
        if variable and constructor and variable.doc:
            signature = _inline([compact(constructor.signature.replace("new ", f"new {part.title}", 1))])
            signature = signature.replace(f"): {part.title}`", ")`")
            told = [f"`{name}`: {text}" for name, text in variable.doc.params.items() if len(text.split()) > TELLING]
            methods.insert(0, Line(name=signature, text=" ".join([variable.doc.summary, *told])))
        yield from self.listed([*fields, *methods])

    def listed(self, members: list[Line]) -> Iterator[str]:
        """Members: what tells nothing by names alone, what stands elsewhere with its place; then those with a text."""
        for place in dict.fromkeys(member.place for member in members if not member.text):
            names = [member.name for member in members if not member.text and member.place == place]
            yield f"{f'As in {self.link(place)}: ' if place else ''}{', '.join(of_one_type(names))}."
        told = [
            (len(member.text.split()) < SHORT, f"{member.name}: {member.text}") for member in members if member.text
        ]
        if lines := [line for short, group in groupby(told, lambda item: item[0]) for line in items(short, group)]:
            yield "\n".join(lines)

    def method(self, member: Declaration, part: Section) -> Line:
        """The line of a method: in full where the editor has an example of it, else its summary."""
        own = f"{part.title}." if member in part.statics else ""
        return self.line(member, part, _inline([own + compact(member.signature)]))

    def line(self, member: Declaration, part: Section, name: str) -> Line:
        """A member with its text, if it tells something that stands nowhere else."""
        text, place = text_of(member), self.told.get((member.name, text_of(member)), part.title)
        if f"{part.title}.{member.name}" in self.places:  # a section of its own
            return Line(name=name)
        if says_nothing(member, part) or (place != part.title and not is_entry(member)):
            return Line(name=name)
        return Line(name=name, text=text) if place == part.title else Line(name=name, place=place)

    def fields(self, member: Declaration, part: Section, prefix: str = "") -> Iterator[Line]:
        """The line of a field, and those of the fields within it."""
        if member.kind == "set" or member.doc is None:
            return  # stands with its getter, or with the type that it is in
        fields = [inner for inner in member.members if not inner.inline]
        name = f"{prefix}{member.name}{'?' if member.optional else ''}"
        title = self.title_of(" ".join(member.type.split()), part.main)
        text = compact(f"{name}: {'object' if fields else self.type_of(member)}")
        if title and member.type == title.rpartition(".")[2]:
            text = name  # the link says which type
        yield self.line(member, part, self.link(title, text) if title else f"`{text}`")
        for inner in fields:
            yield from self.fields(inner, part, f"{prefix}{member.name}.")

    def type_of(self, member: Declaration) -> str:
        """The type of a field."""
        return " ".join(member.type.split())

    def alias(self, part: Declaration) -> str:
        """What another name of a type stands for."""
        name = part.type.removeprefix("globalThis.")
        return self.name_of(name, part, name)

    def name_of(self, name: str, owner: Declaration, text: str = "") -> str:
        """The name of a type as it is used in a declaration, with a link if the page describes it."""
        title = self.title_of(name, owner)
        return self.link(title, text or title) if title else f"`{text or name}`"

    def title_of(self, name: str, owner: Declaration) -> str | None:
        """The section that describes a type."""
        bare = name.removesuffix("[]").partition("<")[0]
        return self.titles.get(f"{owner.path.rpartition('.')[0]}.{bare}") or self.titles.get(bare)


def sections(file: File) -> list[Section]:
    """The parts of a file, what scripts write before the types; overloads of a function are one."""
    found: dict[str, Section] = {}
    variables = []
    for declaration in file.declarations:
        for part in declaration.members if declaration.kind == "namespace" else [declaration]:
            if part.kind == "var":
                variables.append(part)
            elif part.kind == "function" and part.path in found:
                main = found[part.path].main
                found[part.path].main = replace(main, signature=f"{main.signature}\n{part.signature}")
            elif part.kind in ("interface", "type", "function"):
                found[part.path] = Section(part)
    for variable in variables:
        found[variable.path if variable.path in found else variable.type].variable = variable
    return sorted(found.values(), key=lambda part: not part.is_value)


def text_of(member: Declaration) -> str:
    """What a line tells of a member: of a method with an example everything, else its summary."""
    doc = member.doc
    assert doc is not None
    if not is_entry(member):
        return doc.summary
    texts = [doc.summary]
    if doc.example:
        told = {name: text for name, text in doc.params.items() if len(text.split()) > TELLING}
        texts = [" ".join(doc.text.split()), *(f"`{name}`: {text}" for name, text in told.items())]
    texts += [re.sub(r"^{(.*?)} *", r"Throws \1: ", doc.throws)] if doc.throws else []
    if doc.returns and (doc.example or member.kind != "method"):
        texts.append(f"Returns {doc.returns[0].lower()}{doc.returns[1:]}")
    return " ".join(texts)


def says_nothing(member: Declaration, part: Section) -> bool:
    """Whether the text of a member only repeats its name, its type and what it belongs to."""
    text = text_of(member)
    if len(text.split()) < WORTH_TELLING and not DETAIL.search(text):
        return True
    if is_second_name(text):
        return True
    return not _words(text) - _words(f"{member.name} {member.type} {part.title} {part.summary}") - EMPTY


def is_second_name(text: str) -> bool:
    """Whether a text says that a value has a second name, which differs in capitals."""
    return re.fullmatch(r"The same (?:object )?as `[a-z_.]+`\.", text) is not None


def line_of_type(part: Declaration) -> str:
    """A type without fields in a line."""
    assert part.doc is not None
    stands_for = "" if "\n" in part.signature else f" = `{part.type}`"
    return f"- `{part.path}`{stands_for}: {' '.join(part.doc.text.split())}"


def _words(text: str) -> set[str]:
    """Words in the singular, those within names too."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)
    return {re.sub(r"(?<=[a-z]{2})s$", "", part.lower()) for part in parts}


def briefly(part: Declaration) -> Iterator[str]:
    """Signature and description, without what repeats a name, and without the example that the editor has."""
    doc = part.doc and replace(
        part.doc,
        params={name: text for name, text in part.doc.params.items() if len(text.split()) > TELLING},
        example="",
    )
    return entry(replace(part, doc=doc))


def items(short: bool, group: Iterable[tuple[bool, str]]) -> list[str]:
    """List items for members with their texts: one for each, or one for several short ones."""
    texts = [text for _, text in group]
    if short:
        texts = [" ".join(texts[start : start + TOGETHER]) for start in range(0, len(texts), TOGETHER)]
    return [f"- {text}" for text in texts]


def of_one_type(names: list[str]) -> list[str]:
    """Names of members, the fields of one simple type behind one another: `a?, b?: string`."""
    found: dict[str, list[str]] = {}
    for name in names:
        field = re.fullmatch(r"`([\w.?]+)(: [\w\[\]]+)?`", name)
        found.setdefault((field[2] or "") if field else name, []).append(field[1] if field else "")
    return [f"`{', '.join(fields)}{key}`" if fields[0] else key for key, fields in found.items()]


def is_entry(member: Declaration) -> bool:
    """Whether a member is described in an entry of its own; the others are rows of a table."""
    return member.kind == "method" or bool(member.doc and (member.doc.params or member.doc.example))


def _inline(signatures: list[str]) -> str:
    return ", ".join(f"`{' '.join(signature.split())}`" for signature in signatures)


if __name__ == "__main__":
    sys.stdout.write(Reference(load()).page(sys.argv[1]))
