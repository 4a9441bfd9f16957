"""Which file an import means where names differ in upper and lower case only: esbuild takes them for one file.

It warns of each import whose file it found in another spelling, and there we tell it the file.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

_OTHER = r'Use "(.+)" instead of "(.+)" to avoid issues with case-sensitive file systems'


OTHER = "?"
"""Stands behind the path of a file that esbuild would take for its twin."""


def plainly_named(files: dict[str, bytes], outputs: dict[str, Any]) -> None:
    """Takes the sign behind paths out of what was built: the content of outputs, and esbuild's records of them."""
    for name, output in outputs.items():
        for path in [path for path in output["inputs"] if path.endswith(OTHER)]:
            plain = path.removesuffix(OTHER)
            output["inputs"][plain] = output["inputs"].pop(path)
            files[name] = files[name].replace(f"// {path}\n".encode(), f"// {plain}\n".encode())


class Spelling:
    """Which files have twins, as far as esbuild has said so."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._others: set[str] = set()
        """Files that esbuild takes for their twins."""
        self._meant: dict[tuple[str, str], str] = {}
        """The importing file, and the path in the import → the file."""

    @property
    def matters(self) -> bool:
        """Whether there are such files."""
        return bool(self._others)

    def file(self, request: dict[str, Any]) -> str | None:
        """The file that an import or an entry point means, if esbuild would take another one; it asks for it."""
        if request["kind"] == "entry-point":
            return request["path"] if request["path"] in self._others else None
        return self._meant.get((request["importer"], request["path"]))

    def learn(self, warnings: list[dict[str, Any]]) -> tuple[bool, list[dict[str, Any]]]:
        """Learns from the warnings of a build: returns whether it is to be done again, and errors about imports
        of files that there are only in another spelling."""
        known, errors = len(self._meant) + len(self._others), []
        for warning in warnings:
            match = re.fullmatch(_OTHER, warning["text"])
            if match is None:
                continue
            found, wanted = (os.path.join(self._root, name) for name in match.groups())
            place = warning["location"]
            if not os.path.exists(wanted):
                text = f'Could not resolve "{match[2]}": upper and lower case count, and there is only "{match[1]}"'
                errors.append({**warning, "text": text})
            elif not os.path.samefile(found, wanted):
                self._others.add(wanted)
                if place is not None:
                    line = place["lineText"].encode()
                    written = line[place["column"] : place["column"] + place["length"]].decode(errors="replace")
                    importer = os.path.normpath(os.path.join(self._root, place["file"].removesuffix(OTHER)))
                    self._meant[importer, written.strip("\"'`")] = wanted
        return len(self._meant) + len(self._others) > known, errors
