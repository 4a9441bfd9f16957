"""What esbuild complains about, as errors of the application: without its flags, with places, and what to do."""

from __future__ import annotations

import os
import re
from pathlib import Path

from scripttest.compile.boundary import Boundary
from scripttest.errors import Cause, CompileError, CompilerMessage, HostError, Location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Message = dict[str, Any]
    """One in esbuild's form."""

_CANNOT_IMPORT = "Cannot import: "
_NOT_LISTED = "Cannot read directory"
"""Esbuild's message about a folder that it may not read. The message about the import is more useful."""
_MISSING = (
    r'No matching export in "(?P<file>[^"]+)" for import "(?P<name>[^"]+)"'
    r'|Import "(?P<name2>[^"]+)" will always be undefined because the file "(?P<file2>[^"]+)" has no exports'
)


def compile_error(test: Path, messages: list[Message], boundary: Boundary) -> CompileError:
    """The first of these messages about a test file or what it imports, with the others."""
    messages = sorted(messages, key=lambda message: message["text"].startswith(_NOT_LISTED))
    found = [_placed(message, boundary) for message in messages]
    text = found[0].text
    hint = None
    if text.startswith("Could not resolve"):
        notes = " ".join(note["text"] for note in messages[0]["notes"])
        hint = _hint(notes.partition("You can mark")[0].strip(" ."), relative='"./' in text or '"../' in text)
    elif text.startswith(_CANNOT_IMPORT):
        hint = "Scripts import files of the application and packages in node_modules"
    error = CompileError(text, found[0].location or Location(file=str(test), line=0, column=0), hint)
    error.others = tuple(found[1:])
    return error


def _placed(message: Message, boundary: Boundary) -> CompilerMessage:
    """A message and its place; one about a file that is not open to scripts says nothing of what is in it."""
    location = message["location"]
    if location is None:
        return CompilerMessage(text=_told(message["text"]), location=None)
    file = os.path.normpath(os.path.join(boundary.root, location["file"]))
    if reason := boundary.refused(os.path.realpath(file)):
        said = f"The compiler cannot use {file}, and what is wrong in it is not shown: {reason}"
        return CompilerMessage(text=said, location=None)
    before = location["lineText"].encode()[: location["column"]].decode(errors="replace")
    place = Location(
        file=file,
        line=location["line"],
        column=len(before) + 1,
        length=location["length"],
    )
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
    """A message of esbuild without its flags."""
    return text.partition(" in the configured target environment")[0]


def _hint(notes: str, relative: bool) -> str | None:
    """What to do about an import that cannot be resolved, from esbuild's notes without its flags."""
    if "built into node" in notes:
        return "It is a module of Node.js, which scripts do not have"
    if notes or relative:
        return notes or None
    return "A package must be in a node_modules folder of the application"
