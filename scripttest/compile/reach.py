"""What the compiler process may read: the wall of the system beneath `boundary`, which judges each file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from scripttest.compile.boundary import packages_outside
from scripttest.compile.configuration import CONFIGURATION_FILES
from scripttest.files import SOURCE_LIMIT, anywhere, read_file

SHIPPED = Path(__file__).parents[2] / "runner" / "shipped"
"""Scripts that come with this package."""
_EXTENDS = r'"extends"\s*:\s*(?:"((?:[^"\\\n])+)"|\[([^\]]*)\])'


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
    try:
        text = read_file(path, anywhere, SOURCE_LIMIT).decode(errors="replace")
    except OSError:
        return  # the compiler says so of one that it needs
    for one, several in re.findall(_EXTENDS, text):
        for name in [one] if one else re.findall(r'"([^"\n]+)"', several):
            base = os.path.normpath(os.path.join(os.path.dirname(path), name))
            for target in (base, f"{base}.json"):
                if name.startswith((".", "/")) and os.path.isfile(target) and target not in seen:
                    seen.add(target)
                    yield os.path.realpath(target)
                    yield from _extended(target, seen)
