"""The declarations of the script API, by name: read from the files that `yao-test types` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import bindings
from bindings import processes
from scripttest.values import Value

_FILES = ("testing.d.ts", "agent.d.ts", "yao.d.ts", "platform.d.ts")
_HEAD = (
    r"(?:export |declare |readonly |static |async )*(?:(namespace|interface|class|function|const|let|var|type|enum) )?"
    r'(?:\[?["\']?([\w$.]+)["\']?\]?)\??\s*(?=[(:<={;]|extends|$)'
)
_HOLDERS = ("namespace", "interface", "class")


class Declaration(Value):
    """Something that is declared."""

    name: str
    """With the names around it: `testing.T.mock`."""
    kind: str
    """`interface`, `function` ..., or `member`."""
    text: str
    """Its comment and its declaration."""

    @property
    def summary(self) -> str:
        """The first sentence of its comment, else the first line of its declaration."""
        comment = re.match(r"/\*\*(.*?)\*/", self.text, re.DOTALL)
        said = " ".join(re.sub(r"^\s*\* ?", "", comment[1], flags=re.MULTILINE).split()) if comment else ""
        return (re.split(r"(?<=[.:]) ", said)[0] if said else self.text.strip().split("\n")[0])[:160]


def declarations() -> list[Declaration]:
    """All that is declared, in the order of the files."""
    folder = Path(bindings.__file__).parent / "types"
    return [one for file in _FILES for one in _declared((folder / file).read_text("utf-8").split("\n"), 0, "")]


def named(name: str, known: list[Declaration]) -> list[Declaration]:
    """Those of a name: `Equal`, `t.mock`, `ctx`, `testing.T`, `utils.str.Join`; what is before the last dot chooses
    among them, if it can. With something that has members, such as `t.mock`, come these."""
    *path, last = name.lower().removesuffix("()").split(".")
    last = {"ctx": "context"}.get(last, last)
    found = [one for one in known if one.name.lower().rpartition(".")[2] == last]
    for part in reversed(path):
        found = [one for one in found if part in one.name.lower().split(".")[:-1]] or found
    types = {kind[1] for one in found if (kind := re.search(r"\w\??: (\w+);$", one.text))}
    members = [one for one in known if one.kind == "member" and one.name.split(".")[-2] in types and one not in found]
    return found + members or _processes(name, known)


def _processes(name: str, known: list[Declaration]) -> list[Declaration]:
    """The process of a name, and how processes are called."""
    hits = [one for one in processes.names() if one.lower() == name.lower()]
    called = [Declaration(name=hit, kind="process", text=f'Process("{hit}", ...)') for hit in hits]
    return called + [one for one in known if one.name == "Process" and hits]


def _declared(lines: list[str], indent: int, within: str) -> Iterator[Declaration]:
    """What lines declare that begin after so many spaces."""
    at = 0
    comment: list[str] = []
    while at < len(lines):
        line = lines[at]
        begun = at
        at += 1
        if not line.strip() or len(line) - len(line.lstrip()) != indent:
            continue
        if line.lstrip().startswith("/*"):
            while "*/" not in lines[at - 1]:
                at += 1
            comment = lines[begun:at]
            continue
        depth = _depth(line)
        while at < len(lines) and not (depth == 0 and lines[at - 1].endswith((";", "}"))):
            depth += _depth(lines[at])
            at += 1
        if head := re.match(_HEAD, line.lstrip()):
            name = f"{within}.{head[2]}" if within else head[2]
            text = [part[indent:] for part in (*comment, *lines[begun:at])]
            yield Declaration(name=name, kind=head[1] or "member", text="\n".join(text))
            if head[1] in _HOLDERS or line.endswith("{"):
                yield from _declared(lines[begun + 1 : at - 1], indent + 2, name)
        comment = []


def _depth(line: str) -> int:
    """By how many brackets more or less is open after a line of code."""
    code = "" if line.lstrip().startswith(("*", "/")) else line
    return sum((letter in "{([") - (letter in "})]") for letter in code)
