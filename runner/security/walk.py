"""The files of an application: the one walk by which all parts of the command find them, and what their names mean.

| folder | what is not in it |
|---|---|
| `node_modules`, `dist`, `types`, `__snapshots__`, and names that begin with a dot | tests, cases and agents |
| those to which links lead, in the application | entered, after all plain folders |
| those to which links lead, out of the application | not entered |"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from scripttest.values import Value

SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js")
"""Endings of scripts and test files. Where several files have one name, the first ending wins."""
CODE = (*SUFFIXES, ".jsx", ".mjs", ".cjs")
"""Endings of all files that a script can import as code."""
DEFINING = ("agent", "assistants", "connectors", "mcps", "scripts")
"""Folders of the application whose files define agents, and how they connect."""
_CLOSED = ("node_modules", "dist", "types", "__snapshots__")
TABLES = (".csv", ".tsv")
COLLECTED = (".jsonl", ".yaml", ".yml")
CASE_FILES = (*COLLECTED, ".json", *TABLES)
"""What names of case files end in; those of `COLLECTED` are run without being named."""
_HEAD = 1 << 16
"""Bytes in which the header of a table stands."""
_REPORT = r"output-\d{14}(-\d+)?(\.calls)?\.jsonl"
_LIKE_TESTS = ("_test", ".test", "_spec", ".spec")
"""Ends of names that people give to test files."""


class Folder(Value):
    """A folder that was met."""

    path: str
    """As it was met: through links, it is not the real one."""
    real: str
    """Its real path."""
    files: list[str]
    """The names of its files, sorted, and of links to files."""
    links: list[str]
    """The names of the links in it that lead to folders, sorted."""
    outside: list[str]
    """Those of them that lead out of the application."""
    closed: list[str]
    """The names of folders in it that are not entered, sorted."""
    holds_cases: bool
    """Whether it is a folder `tests` of an agent, or in one, and in no agent there."""


def is_closed(name: str) -> bool:
    """Whether a folder of that name holds no tests and no agents."""
    return name in _CLOSED or name.startswith(".")


def is_collected(path: str) -> bool:
    """Whether a file in a folder `tests` is named like a case file, and for a table (CSV, TSV) also has a column
    `input`: other tables are data."""
    if path.lower().endswith(TABLES):
        return _has_inputs(path)
    return path.endswith(COLLECTED) and not is_report(os.path.basename(path))


def _has_inputs(table: str) -> bool:
    from runner.security.files import open_binary

    try:
        with open_binary(Path(table)) as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    lines = head.decode(encoding, "replace").replace("\0", "").splitlines() or [""]  # of UTF-16 without a mark
    names = lines[1 if lines[0].lower().startswith("sep=") and len(lines) > 1 else 0]
    return "input" in (name.strip(' "').lower() for name in re.split("[,;\t|]", names))


def is_report(name: str) -> bool:
    """Whether a file is named like a report that an earlier run wrote beside the cases."""
    return re.fullmatch(_REPORT, name) is not None


def is_test(name: str) -> bool:
    """Whether a file is named like a test file."""
    stem, suffix = os.path.splitext(name)
    return suffix in SUFFIXES and stem.endswith("_test")


def looks_like_test(name: str) -> bool:
    """Whether somebody may take a file for a test by its name: also one that is none, such as `a.test.ts`."""
    stem, suffix = os.path.splitext(name.lower())
    return suffix in CODE and stem.endswith(_LIKE_TESTS) and stem not in _LIKE_TESTS


def all_folders(_: str, _name: str) -> bool:
    """Enters every folder."""
    return True


def holds_tests(_: str, name: str) -> bool:
    """Enters the folders in which there can be tests and agents."""
    return not is_closed(name)


def walk(
    *tops: str | Path, root: str | Path, enters: Callable[[str, str], bool] = holds_tests, follows: bool = True
) -> Iterator[Folder]:
    """The folders at and below others. No agent meets a folder twice, whatever leads to it. A folder that cannot be
    read, or is none, holds nothing. `enters`: called with the path of a folder and the name of one in it; returns
    whether that is entered. `follows`: whether links to folders are followed, which lead into the application."""
    inside = tuple(os.path.realpath(place) for place in (root, *tops))
    met: set[tuple[str, bool, str]] = set()
    for top in tops:
        links = [(str(top), os.path.realpath(top), "", False)]
        for start in links:  # which grows
            waiting = [start]
            while waiting:
                path, real, agent, holds_cases = waiting.pop()
                files, found = _entries(path)
                if "package.yao" in files:
                    agent, holds_cases = real, False
                if (agent, holds_cases, real) in met:
                    continue
                met.add((agent, holds_cases, real))
                names = {name: is_link for name, is_link in found if enters(path, name)}
                below = {name: holds_cases or (name == "tests" and agent == real) for name in names}
                outside = []
                for name in [name for name, is_link in names.items() if is_link]:
                    target = os.path.realpath(f"{path}/{name}")
                    if not any(is_at_or_below(target, place) for place in inside):
                        outside.append(name)
                    elif follows and not is_at_or_below(real, target):  # not back to where it comes from
                        links.append((f"{path}/{name}", target, agent, below[name]))
                yield Folder(
                    path=path,
                    real=real,
                    files=files,
                    links=[name for name, is_link in found if is_link],
                    outside=outside,
                    closed=[name for name, _ in found if name not in names],
                    holds_cases=holds_cases,
                )
                plain = [name for name, is_link in names.items() if not is_link]
                waiting += [(f"{path}/{name}", f"{real}/{name}", agent, below[name]) for name in reversed(plain)]


def files_below(top: str | Path, *, root: str | Path, enters: Callable[[str, str], bool] = all_folders) -> list[str]:
    """The paths of all files below a folder, sorted, those of a folder together."""
    found = (f"{one.path}/{name}" for one in walk(top, root=root, enters=enters) for name in one.files)
    return sorted(found, key=lambda path: path.split("/"))


def no_packages(_: str, name: str) -> bool:
    """Enters all folders but those of packages and of Git."""
    return name not in ("node_modules", ".git")


def is_at_or_below(path: str, folder: str) -> bool:
    """Whether an absolute path is that of a folder, or in it."""
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _entries(folder: str) -> tuple[list[str], list[tuple[str, bool]]]:
    """The names of the files of a folder, and of its folders with whether they are links, sorted."""
    files, folders = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if _is_folder(entry):
                    folders.append((entry.name, entry.is_symlink()))
                else:
                    files.append(entry.name)
    except OSError:
        return [], []
    return sorted(files), sorted(folders)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False
