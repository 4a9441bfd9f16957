"""What the compiler reads by itself: `package.json`, `tsconfig.json` and the like, in every folder of what it compiles
and above it. They are judged before it comes to a folder, since it would wait for a pipe, and never end with a device.

Also what else its process may read, the wall of the system beneath `boundary`, which judges each file; and which files
are strict: those with `"use strict"`, and TypeScript for which a `tsconfig.json` says so."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from scripttest.compile.boundary import Boundary, packages_outside
from scripttest.files import SOURCE_LIMIT, anywhere, check_kind, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


CONFIGURATION_FILES = ("package.json", "tsconfig.json", "jsconfig.json", ".pnp.cjs", ".pnp.js", ".pnp.data.json")
_TEXT = r'"(?:[^"\\\n]|\\.)*"'
_ENDINGS = (".ts", ".js", ".json", "/index.ts", "/index.js")
"""What an import may leave out."""
_SCHEMES = ("data", "http", "https", "file", "blob")
"""Schemes of addresses."""
_SHOWN = 60
"""Characters of an address that are shown."""
FOLDERS = r"^[^.]|^\.\.|^\./.*/|^\./[^.]*$"
"""Import paths that may lead to another folder than that of the file in which they are."""
SHIPPED = Path(__file__).parents[2] / "runner" / "shipped"
"""Scripts that come with this package."""
DIRECTIVE = '"use strict";'
_SPACE = rb"(?:\s|//[^\n]*|/\*(?:[^*]|\*(?!/)|(?!))*+\*/|(?!))*+"
_QUOTED = rb"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')"
_START = rb"(?:\xef\xbb\xbf)?(?:#![^\n]*)?" + _SPACE
_GOES_ON = _SPACE + rb"[.,?:=&|+\-*%<>()\[`^]"
_DIRECTIVE = rb"(" + _QUOTED + rb")(?:[ \t]*+;|(?=[ \t]*+(?://|/\*|\r?\n|\Z)(?!" + _GOES_ON + rb")))" + _SPACE
_TYPED = (".ts", ".tsx", ".mts", ".cts")
_TOKEN = r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[\]}])'
"""A text of JSON, a comment, or a comma before a closing bracket."""


class Configuration:
    """The configuration files of one application, as far as they were asked for."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        self._known: dict[str, str | None] = {}
        self._real = cache(os.path.realpath)

    def problem_of_import(self, path: str, folder: str) -> str | None:
        """Why the compiler must not resolve an import, as a text for people; None if it may. `path`: the path in the
        import. `folder`: absolute path of the folder of the importing file."""
        if path.startswith((".", "/")):
            target = os.path.normpath(os.path.join(folder, path))
            return self._refused_target(target) or self._problem_of_target(target)
        while (parent := os.path.dirname(folder)) != folder:
            packages = f"{folder}/node_modules"
            target = os.path.join(packages, path)
            if os.path.isdir(packages) and (problem := self._closed(target) or self._problem_of_target(target)):
                return problem
            folder = parent
        return None

    @staticmethod
    def problem_of_address(path: str) -> str | None:
        """Why an import that names an address has no sense; None for one that names a file or a package."""
        scheme, colon, _ = path.partition(":")
        if not (colon and scheme.lower() in _SCHEMES) and not path.startswith("//"):
            return None
        shown = path if len(path) <= _SHOWN else f"{path[:_SHOWN]}…"
        return f'"{shown}" is a URL, but only files can be imported; save the module as a file'

    def problem(self, folder: str) -> str | None:
        """Why the compiler must not read what is in a folder or above it, for people; None when it may."""
        if folder not in self._known:
            self._known[folder] = None  # for a configuration that maps imports to its own folder
            parent = os.path.dirname(folder)
            above = self.problem(parent) if parent != folder else None
            self._known[folder] = above or self._problem_in(folder)
        return self._known[folder]

    def _refused_target(self, target: str) -> str | None:
        """Why a file outside of the application cannot be imported. The compiler, which may not look there, would say
        no more than that."""
        if self._boundary.holds(target):
            return None
        plain = re.split("[?#]", target, maxsplit=1)[0]
        files = (target, plain, *(plain + ending for ending in _ENDINGS))
        return next((problem for file in files if not os.path.isdir(file) and (problem := self._closed(file))), None)

    def _closed(self, path: str) -> str | None:
        """Why a file or folder that exists is not open to scripts, for people."""
        if not os.path.lexists(path):
            return None
        reason = self._boundary.refused(os.path.realpath(path), by_name=os.path.isdir(path))
        return f"{os.path.relpath(path, self._boundary.root)}: {reason}" if reason else None

    def _problem_of_target(self, path: str) -> str | None:
        if os.path.islink(path) or os.path.isdir(path):
            real = os.path.realpath(path)
            return self.problem(real if os.path.isdir(real) else os.path.dirname(real))
        return self.problem(self._real(os.path.dirname(path)))

    def _problem_in(self, folder: str) -> str | None:
        for name in CONFIGURATION_FILES:
            if problem := self._problem_of_file(f"{folder}/{name}", set()):
                return problem
        return None

    def _problem_of_file(self, path: str, seen: set[str]) -> str | None:
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return None
        if path in seen or stat.S_ISDIR(found.st_mode):
            return None
        seen.add(path)
        try:
            check_kind(found, path, SOURCE_LIMIT)
            real = os.path.realpath(path)
            is_own_link = os.path.islink(path) and self._boundary.holds(path)
            is_judged = is_own_link or self._boundary.holds(real)
            if is_judged and (reason := self._boundary.refused(real, by_name=True)):
                return f"{path}: {reason}"
            if path.endswith("config.json"):
                return self._problem_of_extended(path, seen)
        except OSError as error:
            return f"{path}: {error.strerror}"
        return None

    def _problem_of_extended(self, path: str, seen: set[str]) -> str | None:
        """The same for all that a `tsconfig.json` may extend, and folders to which it maps imports: for whatever its
        texts name."""
        for name in names_in(path):
            target = os.path.normpath(os.path.join(os.path.dirname(path), name.partition("*")[0] or "."))
            if os.path.isdir(target) and "*" in name:
                problem = self._problem_of_target(target)
            else:
                problem = self._problem_of_file(target, seen) or self._problem_of_file(f"{target}.json", seen)
            if problem:
                return problem
        return None


def names_in(path: str) -> Iterator[str]:
    """The texts in a `tsconfig.json`, of which each may name a file or folder. Raises OSError."""
    for text in re.findall(_TEXT, read_file(path, anywhere, SOURCE_LIMIT).decode(errors="replace")):
        with suppress(ValueError):
            yield json.loads(text, strict=False)


def readable(root: Path) -> list[str]:
    """Folders and files, by their real paths: the application and what its `tsconfig.json` extends, `node_modules`
    above it, the packages to which links in any of these `node_modules` lead, as `npm link` and workspaces make them,
    and the scripts of this package."""
    real = os.path.realpath(root)
    packages = packages_outside(tuple(dict.fromkeys((str(root), real))))
    outside = [*_extended(f"{root}/tsconfig.json", set()), *(one.folder for one in packages if one.is_open)]
    found = [real, str(SHIPPED), *outside, *_configurations(real, outside)]
    return [path for path in dict.fromkeys(found) if os.path.isdir(path) or os.path.isfile(path)]


def _configurations(root: str, outside: list[str]) -> Iterator[str]:
    """Configuration files above an application, in the folders that the compiler goes through to what is outside."""
    tops = [folder for path in outside if root.startswith(f"{(folder := os.path.dirname(path))}/")]
    folder = root
    while tops and folder != min(tops, key=len):
        folder = os.path.dirname(folder)
        yield from (f"{folder}/{name}" for name in CONFIGURATION_FILES)


def _extended(path: str, seen: set[str]) -> Iterator[str]:
    """The files that a `tsconfig.json` extends by a path, and those that these extend."""
    for name in extends_of(path):
        base = os.path.normpath(os.path.join(os.path.dirname(path), name))
        for target in (base, f"{base}.json"):
            if name.startswith((".", "/")) and os.path.isfile(target) and target not in seen:
                seen.add(target)
                yield os.path.realpath(target)
                yield from _extended(target, seen)


class CompilerOptions:
    """What the `tsconfig.json` of an application say, each read once."""

    def __init__(self) -> None:
        self.of = cache(self._of)
        """Folder → that of the `tsconfig.json` that counts in it, and its compiler options."""

    def is_strict(self, path: str, content: bytes) -> bool:
        """Whether a file, by its absolute path, is strict throughout."""
        if b"use strict" in content and b"use strict" in (text[1:-1] for text in _directives(content)):
            return True
        if not path.endswith(_TYPED) or "/node_modules/" in path:
            return False
        _, options = self.of(os.path.dirname(path))
        return options.get("alwaysStrict", options.get("strict")) is True

    def _of(self, folder: str) -> tuple[str, dict[str, Any]]:
        above = os.path.dirname(folder)
        if above == folder or os.path.isfile(f"{folder}/tsconfig.json"):
            return folder, options_of(f"{folder}/tsconfig.json")
        return self.of(above)


def _directives(content: bytes) -> Iterator[bytes]:
    """The texts at the beginning of a script, with their quotes."""
    match = re.match(_START, content)
    while match is not None:
        match = re.compile(_DIRECTIVE).match(content, match.end())
        if match is not None:
            yield match[1]


def options_of(path: str, seen: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The compiler options of a `tsconfig.json`, with those of the files that it extends."""
    seen |= {path}
    document = _document(path)
    options: dict[str, Any] = {}
    for name in _extends(document):
        target = next((file for file in _places(name, os.path.dirname(path)) if os.path.isfile(file)), None)
        if target is not None and target not in seen:
            options |= options_of(target, seen)
    own = document.get("compilerOptions")
    return options | own if isinstance(own, dict) else options


def _document(path: str) -> dict[str, Any]:
    """A `tsconfig.json`, which may have comments and commas at the end; empty when it cannot be read, of which the
    compiler has more to say."""
    try:
        text = read_file(path, anywhere, SOURCE_LIMIT).decode("utf-8-sig", "replace")
        document = json.loads(re.sub(_TOKEN, lambda found: found[1] or "", text, flags=re.DOTALL), strict=False)
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def extends_of(path: str) -> list[str]:
    """What a `tsconfig.json` says that it extends."""
    return _extends(_document(path))


def _extends(document: dict[str, Any]) -> list[str]:
    named = document.get("extends", [])
    named = [named] if isinstance(named, str) else named
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def _places(name: str, folder: str) -> Iterator[str]:
    """Where a file may be that a `tsconfig.json` extends: by a path, or in a package."""
    if name.startswith((".", "/")):
        bases = [os.path.normpath(os.path.join(folder, name))]
    else:
        parts = folder.split("/")
        bases = [f"{'/'.join(parts[:end])}/node_modules/{name}" for end in range(len(parts), 0, -1)]
    for base in bases:
        yield from (base, f"{base}.json", f"{base}/tsconfig.json")


def maps_scripts(root: Path) -> bool:
    """Whether the application's own tsconfig says where `@scripts/*` is."""
    try:
        return b'"@scripts/' in read_file(f"{root}/tsconfig.json", anywhere, SOURCE_LIMIT)
    except OSError:
        return False
