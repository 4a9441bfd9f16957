"""Prints a page of the script API, made from the declarations:

python tests/declarations/reference.py testing > docs/script-api.md
python tests/declarations/reference.py agent > docs/script-api-context.md
python tests/declarations/reference.py yao > docs/script-api-yao.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from declarations.markdown import described, entry, link, page
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
INTRODUCTION = """[Writing script tests](script-tests.md) says how. This is everything that a script test and the scripts it calls can use. There is nothing else: no `fetch`, no `require`,
no Node modules. [The editor](editor.md) shows the same texts, in full. Examples are the body of a test with
`t` and `ctx`, or a whole file; the editor has one for nearly everything."""
TELLING = 3
"""Words of a parameter that repeat its name."""
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
    def summary(self) -> str:
        """What it is, in a sentence."""
        owner = self.variable if self.variable and not self.constructor else self.main
        assert owner.doc is not None
        return owner.doc.summary


class Reference:
    """The pages, made from the declarations of all files."""

    def __init__(self, files: dict[str, File]) -> None:
        self.files = files
        self.groups = {name: sections(files[name]) for name in TITLES}
        self.titles = {part.main.path: part.title for parts in self.groups.values() for part in parts}
        self.places = {part.title: PAGES[name] for name, parts in self.groups.items() for part in parts}

    def page(self, name: str) -> str:
        """The page of one of the files; that of tests leads to all names."""
        file = f"{name}.d.ts"
        parts = [f"# {TITLES[file]}", MADE.format(name, PAGES[file])]
        if name == "testing":
            parts += [INTRODUCTION, "## All names", self.overview()]
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
        return link(title, self.places[title], text)

    def group(self, name: str) -> Iterator[str]:
        """What belongs to one file of declarations."""
        file, parts = self.files[name], self.groups[name]
        if file.header:
            yield from described(file.header)
        for namespace in file.declarations:
            if namespace.kind == "namespace" and namespace.doc:
                yield from [namespace.doc.summary] if name == "testing.d.ts" else described(namespace.doc)
        for part in parts:
            yield f"## `{part.title}`"
            if part.variable and part.main.kind != "interface":
                yield from described(part.variable.doc)
            yield from self.section(part) if part.main.kind == "interface" else briefly(part.main)
        for module in file.declarations:
            if module.kind == "module" and module.doc:
                yield f'## `import ... from "{module.name}"`'
                yield from described(module.doc)
                yield f"Names: {', '.join(f'`{member.name}`' for member in module.members if not member.doc)}."
                yield "\n".join(
                    f"- `{part.name}`, {self.alias(part)}: {part.doc.summary}" for part in module.members if part.doc
                )

    def platform(self) -> Iterator[str]:
        """What scripts know from browsers: a line for each, as everybody knows them."""
        file = self.files["platform.d.ts"]
        if file.header:
            yield from described(file.header)
        lines = []
        for part in self.groups["platform.d.ts"]:
            inner = [member for member in [*part.statics, *part.main.members] if member.kind in ("method", "new")]
            names = part.main.signature.splitlines() if part.main.kind == "function" else [part.title]
            lines.append(f"- {_inline(names)}: {part.summary}")
            lines += [f"  - {_inline([member.signature])}: {member.doc.summary}" for member in inner if member.doc]
        yield "\n".join(lines)

    def section(self, part: Section) -> Iterator[str]:
        """An interface with its members."""
        main, variable, constructor = part.main, part.variable, part.constructor
        yield from described(main.doc)
        if main.path == "testing.Assert":
            yield f"{', '.join(link(member.name, ASSERTIONS) for member in main.members)}."
            return
        if variable and not constructor:
            yield from described(variable.doc)
        for base in main.bases:
            yield f"Has the members of {self.name_of(base, main)} too."
        entries = [member for member in [*part.statics, *main.members] if is_entry(member)]
        lines = [line for member in main.members if not is_entry(member) for line in self.fields(member, main)]
        if lines:
            yield "\n".join(lines)
        if variable and constructor:
            yield f"### `new {part.title}`"
            signature = constructor.signature.replace("new ", f"new {part.title}", 1)
            yield from briefly(replace(variable, signature=signature))
        if entries:
            yield "\n".join(self.method(member, part) for member in entries)

    def method(self, member: Declaration, part: Section) -> str:
        """The line of a method: in full where the editor has an example of it, else its summary."""
        doc = member.doc
        assert doc is not None
        own = f"{part.title}." if member in part.statics else ""
        texts = [f"- {_inline([own + member.signature])}: {doc.summary}"]
        if doc.example:
            told = {name: text for name, text in doc.params.items() if len(text.split()) > TELLING}
            texts = [f"- {_inline([own + member.signature])}: {' '.join(doc.text.split())}"]
            texts += [f"`{name}`: {text}" for name, text in told.items()]
        texts += [re.sub(r"^{(.*?)} *", r"Throws \1: ", doc.throws)] if doc.throws else []
        texts += (
            [f"Returns {doc.returns[0].lower()}{doc.returns[1:]}"]
            if doc.returns and (doc.example or member.kind != "method")
            else []
        )
        return " ".join(texts)

    def fields(self, member: Declaration, owner: Declaration, prefix: str = "") -> Iterator[str]:
        """The line of a field, and those of the fields within it."""
        if member.kind == "set":
            return  # stands with its getter
        fields = [inner for inner in member.members if not inner.inline]
        assert member.doc is not None
        name = f"{prefix}{member.name}{'?' if member.optional else ''}"
        title = self.title_of(" ".join(member.type.split()), owner)
        text = f"{name}: {'object' if fields else self.type_of(member)}"
        yield f"- {self.link(title, text) if title else f'`{text}`'}: {member.doc.summary}"
        for inner in fields:
            yield from self.fields(inner, owner, f"{prefix}{member.name}.")

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


def briefly(part: Declaration) -> Iterator[str]:
    """Signature and description, without what repeats a name, and without the example that the editor has."""
    doc = part.doc and replace(
        part.doc,
        params={name: text for name, text in part.doc.params.items() if len(text.split()) > TELLING},
        example="",
    )
    return entry(replace(part, doc=doc))


def is_entry(member: Declaration) -> bool:
    """Whether a member is described in an entry of its own; the others are rows of a table."""
    return member.kind == "method" or bool(member.doc and (member.doc.params or member.doc.example))


def _inline(signatures: list[str]) -> str:
    return ", ".join(f"`{' '.join(signature.split())}`" for signature in signatures)


if __name__ == "__main__":
    sys.stdout.write(Reference(load()).page(sys.argv[1]))
