"""What esbuild complains about, as errors of the application: without its flags, with places, and what to do.

Also which file an import means where names differ in upper and lower case only: esbuild takes their files for one. We
name such a file with a sign behind its path, which makes it another one for esbuild. Where it has taken one for the
other is seen in its warnings, its list of imports, and its complaints about names that a file does not export."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from scripttest.compile.boundary import Boundary
from scripttest.results import Cause, CompileError, CompilerMessage, HostError, Location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Message = dict[str, Any]
    """One in esbuild's form."""

_CANNOT_IMPORT = "Cannot import: "
_NO_MODULE = "Cannot find module"
_NOT_LISTED = "Cannot read directory"
"""Esbuild's message about a folder that it may not read. The message about the import is more useful."""
_MISSING = (
    r'No matching export in "(?P<file>[^"]+)" for import "(?P<name>[^"]+)"'
    r'|Import "(?P<name2>[^"]+)" will always be undefined because the file "(?P<file2>[^"]+)" has no exports'
)
_EXPORTED = r"^export\s+(?:async\s+|abstract\s+)?(?:function\*?|const|let|var|class|enum|namespace)\s+([\w$]+)"
_OTHER = r'Use "(.+)" instead of "(.+)" to avoid issues with case-sensitive file systems'
OTHER = "?"
"""Stands behind the path of a file that esbuild would take for its twin; twice where there is a third one."""


def compile_error(test: Path, messages: list[Message], boundary: Boundary) -> CompileError:
    """The first of these messages about a test file or what it imports, with the others."""
    messages = sorted(messages, key=lambda message: message["text"].startswith(_NOT_LISTED))
    found = [_placed(message, boundary) for message in messages]
    text = found[0].text
    hint = None
    if text.startswith(_NO_MODULE):
        notes = " ".join(note["text"] for note in messages[0]["notes"])
        from scripttest.habits import habit

        named = re.search(r'Cannot find module "([^"]+)"', text)
        line = habit("import", named[1]) if named else None
        is_relative = '"./' in text or '"../' in text
        hint = f"Write: {line}" if line else _hint(notes.partition("You can mark")[0].strip(" ."), is_relative)
    elif text.startswith(_CANNOT_IMPORT):
        hint = "Scripts can import files of the application and packages in its node_modules"
    elif (missing := re.fullmatch(_MISSING, text)) and missing["name"]:
        hint = _similar_export(
            missing["name"], os.path.normpath(os.path.join(boundary.root, missing["file"])), boundary
        )
    error = CompileError(text, found[0].location or Location(file=str(test), line=0, column=0), hint)
    error.others = tuple(found[1:])
    return error


def _similar_export(name: str, file: str, boundary: Boundary) -> str | None:
    """The export of a file that somebody may mean by a name, if scripts may read the file."""
    from difflib import get_close_matches

    if boundary.refused(os.path.realpath(file)) or not os.path.isfile(file):
        return None
    exported = re.findall(_EXPORTED, Path(file).read_text("utf-8", "replace"), re.MULTILINE)
    by_lower = {one.lower(): one for one in exported}
    close = get_close_matches(name.lower(), by_lower, n=1)
    return f"Did you mean {by_lower[close[0]]}?" if close else None


def _placed(message: Message, boundary: Boundary) -> CompilerMessage:
    """A message and its place; one about a file that is not open to scripts says nothing of what is in it."""
    location = message["location"]
    if location is None:
        return CompilerMessage(text=_told(message["text"]), location=None)
    file = os.path.normpath(os.path.join(boundary.root, location["file"]))
    if reason := boundary.refused(os.path.realpath(file)):
        said = f"The compiler cannot use {file}, and its error is not shown: {reason}"
        return CompilerMessage(text=said, location=None)
    before = location["lineText"].encode()[: location["column"]].decode(errors="replace")
    place = Location(file=file, line=location["line"], column=len(before) + 1, length=location["length"])
    return CompilerMessage(text=_told(message["text"]), location=place)


def missing_exports(messages: list[Message], root: Path) -> dict[str, set[str]]:
    """File → names that an import wants and the file does not export, which a Yao script need not do."""
    missing: dict[str, set[str]] = {}
    for message in messages:
        if match := re.fullmatch(_MISSING, message["text"]):
            file = os.path.normpath(os.path.join(root, match["file"] or match["file2"]))
            missing.setdefault(file, set()).add(match["name"] or match["name2"])
    return missing


def not_at_hand(error: HostError) -> CompileError:
    """The same for each of the modules that need a compiler."""
    each = CompileError(error.message, hint=error.hint)
    each.cause = Cause.INFRASTRUCTURE
    return each


def problem(text: str) -> Message:
    """A message in esbuild's form."""
    return {"id": "", "pluginName": "yao", "text": text, "location": None, "notes": [], "detail": -1}


def refusal(reason: str) -> Message:
    """Says that a file is not open to scripts."""
    return problem(f"{_CANNOT_IMPORT}{reason}")


def _told(text: str) -> str:
    """A message of esbuild without its flags, in our words."""
    return text.partition(" in the configured target environment")[0].replace("Could not resolve", _NO_MODULE)


def _hint(notes: str, relative: bool) -> str | None:
    """What to do about an import that cannot be resolved, from esbuild's notes without its flags."""
    if "built into node" in notes:
        return "It is a Node.js module, and scripts have no Node.js"
    if notes or relative:
        return notes or None
    return "Install it in the application's node_modules"


class Spelling:
    """Which files have twins, as far as builds have shown it."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._others: dict[str, str] = {}
        """A file that esbuild takes for its twin → what stands behind its path, so that it does not."""
        self._meant: dict[tuple[str, str], str] = {}
        """The importing file, and the path in an import that is no path of files → the file."""

    @property
    def matters(self) -> bool:
        """Whether there are such files."""
        return bool(self._others)

    def answer(self, request: dict[str, Any]) -> dict[str, str]:
        """The file that an import or an entry point means, in esbuild's words, if it would take another one."""
        file = self._file(request)
        return {} if file is None else {"path": file, "namespace": "file", "suffix": self._others[file]}

    def _file(self, request: dict[str, Any]) -> str | None:
        path: str = request["path"]
        if request["kind"] == "entry-point":
            return path if path in self._others else None
        if path.startswith("."):
            path = os.path.normpath(os.path.join(request["resolveDir"], path))
            stems = (path, os.path.splitext(path)[0])
            return next((file for file in self._others if file == path or os.path.splitext(file)[0] in stems), None)
        return self._meant.get((request["importer"], path))

    def learn(self, answer: dict[str, Any], lacking: dict[str, set[str]]) -> tuple[bool, list[dict[str, Any]]]:
        """Learns from the answer to a build. `lacking`: files, by their absolute paths, that lack what an import
        wants. Returns whether it is to be done again; and errors about imports of files that are there in another
        spelling only."""
        known, errors = len(self._others) + len(self._meant), []
        for warning in answer["warnings"]:
            if match := re.fullmatch(_OTHER, warning["text"]):
                taken, meant = match.groups()
                if not self._add(taken, meant) and not os.path.exists(os.path.join(self._root, meant)):
                    text = f'Cannot find module "{meant}": upper and lower case count, and there is only "{taken}"'
                    errors.append({**warning, "text": text})
        for importer, content in answer["metafile"]["inputs"].items():
            for one in content["imports"]:
                written, taken = one.get("original", ""), one["path"]
                if os.path.splitext(written.lstrip("./"))[0] not in taken:
                    meant = _meant(written, taken)
                    if meant != taken and self._add(taken, meant):
                        place = os.path.join(self._root, importer.rstrip(OTHER))
                        self._meant[place, written] = os.path.join(self._root, meant)
        for file in lacking:
            for twin in _twins(self._root, os.path.relpath(file, self._root).split("/")):
                self._add(file, twin)
        return len(self._others) + len(self._meant) > known, errors

    def _add(self, taken: str, meant: str) -> bool:
        """Takes note of a file, if it is there and another one than the one that was taken."""
        taken, meant = os.path.join(self._root, taken), os.path.join(self._root, meant)
        if taken in self._others or not os.path.isfile(meant) or os.path.samefile(taken, meant):
            return False
        twins = [file for file in self._others if file.lower() == meant.lower()]
        if meant not in twins:
            self._others[meant] = OTHER * (len(twins) + 1)
        return True


def plainly_named(files: dict[str, bytes], outputs: dict[str, Any]) -> None:
    """Takes the sign behind paths out of what was built: the content of outputs, and esbuild's records of them."""
    for name, output in outputs.items():
        for path in [path for path in output["inputs"] if path.endswith(OTHER)]:
            plain = path.rstrip(OTHER)
            output["inputs"][plain] = output["inputs"].pop(path)
            files[name] = files[name].replace(f"// {path}\n".encode(), f"// {plain}\n".encode())


def _meant(written: str, taken: str) -> str:
    """The path of the file that the path in an import means: that of the taken file, in the spelling of the import."""
    parts = taken.split("/")
    stem, ending = os.path.splitext(parts[-1])
    parts[-1] = stem
    names = [name for name in written.split("/") if name not in ("", ".", "..")]
    if names and names[-1].lower() != stem.lower():
        names[-1] = os.path.splitext(names[-1])[0]
    for at in range(1, min(len(names), len(parts)) + 1):
        if names[-at].lower() != parts[-at].lower():
            break
        parts[-at] = names[-at]
    return "/".join(parts) + ending


def _twins(folder: str, parts: list[str]) -> Iterator[str]:
    """The paths that differ from a path in case only, and itself."""
    if not parts:
        yield folder
        return
    try:
        names = [name for name in os.listdir(folder) if name.lower() == parts[0].lower()]
    except OSError:
        return
    for name in names:
        yield from _twins(f"{folder}/{name}", parts[1:])
