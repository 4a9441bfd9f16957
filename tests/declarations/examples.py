"""The examples of the declarations, as files of an application."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from declarations.reader import File


class Example(NamedTuple):
    """A TypeScript block of a doc comment."""

    id: str
    """The declaration that it belongs to, numbered where that has several."""
    code: str

    @property
    def is_file(self) -> bool:
        """Whether it is a whole file, not the body of a test."""
        return re.search(r"^(export|import) ", self.code, re.MULTILINE) is not None

    @property
    def path(self) -> str:
        """Its file: the one that its first line names, or one of its own."""
        named = re.match(r"// (assistants/\S+\.ts)\n", self.code)
        own = re.sub(r"\W", "_", self.id)
        return named[1] if named else f"assistants/examples/src/{own}_test.ts"

    @property
    def text(self) -> str:
        """The text of that file."""
        if self.is_file:
            return self.code
        return f"export async function TestExample(t: testing.T, ctx: agent.Context) {{\n{self.code}}}\n"

    @property
    def module(self) -> str:
        """The test module that runs it: a handler is run by the tests beside it."""
        match = re.fullmatch(r"assistants/(\w+)/src/(\w+?)(_test)?\.ts", self.path)
        assert match is not None, self.path
        return f"scripts.{match[1]}.{match[2]}"


def examples(files: Iterable[File]) -> Iterator[Example]:
    """The examples of all doc comments, in their order."""
    for file in files:
        for name, doc in [(file.name, file.header), *((part.path, part.doc) for part in file.walk())]:
            blocks = doc.blocks if doc else []
            for number, block in enumerate(blocks, 1):
                yield Example(id=f"{name} {number}" if len(blocks) > 1 else name, code=block)
