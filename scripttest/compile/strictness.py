"""Which files are strict: those with `"use strict"`, and TypeScript for which a `tsconfig.json` says so."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from scripttest.files import SOURCE_LIMIT, anywhere, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DIRECTIVE = '"use strict";'
_SPACE = rb"(?:\s|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)*+"
_TEXT = rb"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')"
_START = rb"(?:\xef\xbb\xbf)?(?:#![^\n]*)?" + _SPACE
_GOES_ON = _SPACE + rb"[.,?:=&|+\-*%<>()\[`^]"
_DIRECTIVE = rb"(" + _TEXT + rb")(?:[ \t]*+;|(?=[ \t]*+(?://|/\*|\r?\n|\Z)(?!" + _GOES_ON + rb")))" + _SPACE
_TYPED = (".ts", ".tsx", ".mts", ".cts")
_TOKEN = r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[\]}])'
"""A text of JSON, a comment, or a comma before a closing bracket."""


class Strictness:
    """What the `tsconfig.json` of an application say, each read once."""

    def __init__(self) -> None:
        self._of_folder: dict[str, bool] = {}

    def is_strict(self, path: str, content: bytes) -> bool:
        """Whether a file, by its absolute path, is strict throughout."""
        if b"use strict" in content and b"use strict" in (text[1:-1] for text in _directives(content)):
            return True
        return path.endswith(_TYPED) and "/node_modules/" not in path and self._by_folder(os.path.dirname(path))

    def _by_folder(self, folder: str) -> bool:
        if folder not in self._of_folder:
            name = f"{folder}/tsconfig.json"
            above = os.path.dirname(folder)
            if os.path.isfile(name):
                options = _options(name, set())
                found = options.get("alwaysStrict", options.get("strict")) is True
            else:
                found = above != folder and self._by_folder(above)
            self._of_folder[folder] = found
        return self._of_folder[folder]


def _directives(content: bytes) -> Iterator[bytes]:
    """The texts at the beginning of a script, with their quotes."""
    match = re.match(_START, content)
    while match is not None:
        match = re.compile(_DIRECTIVE).match(content, match.end())
        if match is not None:
            yield match[1]


def _options(path: str, seen: set[str]) -> dict[str, Any]:
    """The compiler options of a `tsconfig.json`, with those of the files that it extends; what cannot be read says
    nothing, of which the compiler has more to say."""
    import json

    seen.add(path)
    try:
        text = read_file(path, anywhere, SOURCE_LIMIT).decode("utf-8-sig", "replace")
        document = json.loads(re.sub(_TOKEN, lambda found: found[1] or "", text, flags=re.DOTALL), strict=False)
        extended = document.get("extends", [])
        own: dict[str, Any] = document.get("compilerOptions", {})
    except (OSError, ValueError, AttributeError):
        return {}
    options: dict[str, Any] = {}
    for name in [extended] if isinstance(extended, str) else extended:
        target = next((file for file in _places(name, os.path.dirname(path)) if os.path.isfile(file)), None)
        if target is not None and target not in seen:
            options |= _options(target, seen)
    return options | own


def _places(name: str, folder: str) -> Iterator[str]:
    """Where a file may be that a `tsconfig.json` extends: by a path, or in a package."""
    if name.startswith((".", "/")):
        bases = [os.path.normpath(os.path.join(folder, name))]
    else:
        parts = folder.split("/")
        bases = [f"{'/'.join(parts[:end])}/node_modules/{name}" for end in range(len(parts), 0, -1)]
    for base in bases:
        yield from (base, f"{base}.json", f"{base}/tsconfig.json")
