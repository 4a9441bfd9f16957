"""The folders in which tests are looked for."""

from __future__ import annotations

import os
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def folders_below(*tops: Path, root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """The folders at and below others, each with its path, the names of its files, and the links in it that lead to
    folders out of the application, which are not entered. Links within the application are, after all plain folders.
    No agent meets a folder twice, whatever leads to it. There are no packages among the folders, and none whose names
    begin with a dot, such as `.git` and `.venv`."""
    inside = tuple(os.path.realpath(place) for place in (root, *tops))
    met: set[tuple[str, str]] = set()
    for top in tops:
        links = [(str(top), os.path.realpath(top), "")]
        for start in links:  # which grows
            waiting = [start]
            while waiting:
                path, real, agent = waiting.pop()
                files, folders = _entries(path)
                agent = real if "package.yao" in files else agent
                if (agent, real) in met:
                    continue
                met.add((agent, real))
                outside = []
                for name in [name for name, is_link in folders if is_link]:
                    target = os.path.realpath(f"{path}/{name}")
                    if not any(_is_at_or_below(target, place) for place in inside):
                        outside.append(f"{path}/{name}")
                    elif not _is_at_or_below(real, target):  # not back to where it comes from
                        links.append((f"{path}/{name}", target, agent))
                yield path, files, outside
                plain = [name for name, is_link in folders if not is_link]
                waiting += [(f"{path}/{name}", f"{real}/{name}", agent) for name in reversed(plain)]


def _is_at_or_below(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


def _entries(folder: str) -> tuple[list[str], list[tuple[str, bool]]]:
    """The names of the files of a folder, and of its folders with whether they are links, sorted."""
    files, folders = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not _is_folder(entry):
                    files.append(entry.name)
                elif entry.name != "node_modules" and not entry.name.startswith("."):
                    folders.append((entry.name, entry.is_symlink()))
    except OSError:
        return [], []
    return sorted(files), sorted(folders)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False
