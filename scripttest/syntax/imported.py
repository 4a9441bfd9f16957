"""The files that a script imports, also through others, for the types that they declare.

They are found as the compiler finds them: by relative paths, by the `paths` of the nearest `tsconfig.json`, and below
`@scripts/`. Packages are left out, and so are files that declare nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripttest.compile.boundary import Boundary
from scripttest.compile.boundary import read as read_source
from scripttest.compile.configuration import options_of

MOST = 100
"""At most this many files are read for one script."""
_FROM = re.compile(r"""\b(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"'\n]+)["']""")
_DECLARES = re.compile(r"\b(?:type|interface|enum)\s+[\w$]|\bexport\b[^;]*?\bfrom\b|\bas\s+const\b")
_ENDINGS = ("", ".ts", ".tsx", ".mts", ".cts", ".d.ts", "/index.ts", "/index.d.ts")
_TYPED = (".ts", ".tsx", ".mts", ".cts")


class ImportedTypes:
    """The imports of the scripts of one application, each read once."""

    def __init__(self, root: str) -> None:
        """Reads nothing yet."""
        self._root = root
        self._boundary = Boundary(Path(root))
        self._files: dict[str, dict[str, Any] | None] = {}
        self._paths: dict[str, list[tuple[str, list[str]]]] = {}

    def of(self, path: str, text: str) -> dict[str, Any]:
        """`{imports, files}`: what a script imports, `{specifier: path}`, and by their paths the files that these lead
        to, `{text, suffix, imports}`."""
        imports = self._imports(path, text)
        found: dict[str, Any] = {}
        waiting = list(imports.values())
        while waiting and len(found) < MOST:
            target = waiting.pop(0)
            file = self._file(target) if target not in found else None
            if file is not None:
                found[target] = file
                waiting += file["imports"].values()
        return {"imports": imports, "files": found}

    def _file(self, path: str) -> dict[str, Any] | None:
        if path not in self._files:
            try:
                text = read_source(path, self._boundary, None).decode("utf-8-sig", "replace")
            except OSError:
                text = ""
            record = {"text": text, "suffix": os.path.splitext(path)[1], "imports": self._imports(path, text)}
            self._files[path] = record if _DECLARES.search(text) else None
        return self._files[path]

    def _imports(self, path: str, text: str) -> dict[str, str]:
        named = dict.fromkeys(_FROM.findall(text))
        return {one: target for one in named if (target := self._target(one, os.path.dirname(path))) is not None}

    def _target(self, specifier: str, folder: str) -> str | None:
        for place in self._places(specifier, folder):
            bare = re.sub(r"\.([mc]?)js$", r".\1ts", place)
            for path in (f"{bare}{ending}" for ending in _ENDINGS):
                if path.endswith(_TYPED) and os.path.isfile(path):
                    return path
        return None

    def _places(self, specifier: str, folder: str) -> Iterator[str]:
        if specifier.startswith("."):
            yield os.path.normpath(os.path.join(folder, specifier))
            return
        for pattern, targets in self._mapped(folder):
            before, star, behind = pattern.partition("*")
            rest = specifier[len(before) : len(specifier) - len(behind)]
            if specifier == f"{before}{rest}{behind}" and (star or not rest):
                yield from (target.replace("*", rest, 1) for target in targets)
        if specifier.startswith("@scripts/"):
            yield f"{self._root}/scripts/{specifier.removeprefix('@scripts/')}"

    def _mapped(self, folder: str) -> list[tuple[str, list[str]]]:
        """The `paths` that count in a folder, with absolute targets."""
        if folder not in self._paths:
            parent = os.path.dirname(folder)
            if os.path.isfile(f"{folder}/tsconfig.json"):
                options = options_of(f"{folder}/tsconfig.json")
                paths, base = options.get("paths"), os.path.join(folder, str(options.get("baseUrl", ".")))
                self._paths[folder] = [
                    (pattern, [os.path.normpath(os.path.join(base, one)) for one in targets if isinstance(one, str)])
                    for pattern, targets in (paths.items() if isinstance(paths, dict) else ())
                    if isinstance(targets, list)
                ]
            else:
                self._paths[folder] = self._mapped(parent) if parent != folder else []
        return self._paths[folder]
