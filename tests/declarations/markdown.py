"""Pieces of the pages that are made from declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from declarations.reader import Declaration, Doc

SHORTER = "Without a type or link stand strings, and methods that return nothing; `object` is `Record<string, any>`, `...args` are `any[]`."
"""What `compact` leaves out."""


def compact(signature: str) -> str:
    """A signature without the types that `SHORTER` tells."""
    signature = signature.replace("Record<string, any>", "object").replace("...args: any[]", "...args")
    signature = re.sub(r"\(\s+(?=\w)", "(", re.sub(r",?\s+\)", ")", signature)).replace(" | (string & {})", " | string")
    return re.sub(r"(?<=[\w?]): string(?=[,;)]|$| })|(?<=\)): void$", "", signature, flags=re.M)


def entry(declaration: Declaration) -> Iterator[str]:
    """Signature, description, parameters and example, as paragraphs."""
    signature = declaration.signature
    if "\n" not in signature:
        yield f"`{compact(signature)}`"
    else:
        yield code(compact(signature) if declaration.kind == "function" else signature)
    yield from described(declaration.doc)


def described(doc: Doc | None) -> Iterator[str]:
    """What a doc comment says, as paragraphs."""
    if doc is None:
        return
    items = [f"- `{name}`: {text}" for name, text in doc.params.items()]
    items += [f"- Returns: {doc.returns}"] if doc.returns else []
    items += [re.sub(r"^{(.*?)}", r"- Throws `\1`:", doc.throws)] if doc.throws else []
    yield from (part for part in (doc.text, "\n".join(items), doc.example) if part)


def code(text: str, language: str = "ts") -> str:
    """A fenced block."""
    return f"```{language}\n{text}\n```"


def link(title: str, page: str = "", text: str = "") -> str:
    """A link to a section by its title."""
    return f"[`{text or title}`]({page}#{anchor(title)})"


def anchor(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table; a bar in a cell is written so that it ends no cell."""
    lines = [*(" | ".join(cell.replace("|", r"\|") for cell in row) for row in rows)]
    return "\n".join(f"| {line} |" for line in [" | ".join(head), " | ".join(["---"] * len(head)), *lines])


def page(parts: Iterable[str]) -> str:
    """A page of paragraphs."""
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"
