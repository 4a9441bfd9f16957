"""The files of an application: the one walk by which all parts of the command find them, what their names mean, and
how the command itself reads and writes them.

| folder | what is not in it |
|---|---|
| `node_modules`, `dist`, `types`, `__snapshots__`, and names that begin with a dot | tests, cases and agents |
| those to which links lead, in the application | entered, after all plain folders |
| those to which links lead, out of the application | not entered |

Links in an application are not trusted, because they come with it. A link that leads out of it, or to a file that
commonly holds keys, is followed neither for reading nor for writing. The path itself decides which application it
belongs to; paths that the user names outside of applications are not checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from os.path import isdir, isfile, join, realpath
from pathlib import Path

from scripttest import DATA_LIMIT, RefusedFileError, belongings_of, holds_secrets, open_file, parts_below, read_file
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

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
    try:
        with open_binary(Path(table)) as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    lines = head.decode(encoding, "replace").replace("\0", "").splitlines() or [""]  # of UTF-16 without a mark
    names = lines[1 if lines[0].lower().startswith("sep=") and len(lines) > 1 else 0]
    return "input" in (name.strip(' "').lower() for name in re.split("[,;\t|]", names))


JOURNAL = ".calls.jsonl"
"""How the journal of model calls ends that stands beside a report."""


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


Judge = Callable[[str], "str | None"]


def application_of(path: Path) -> Path | None:
    """The application in which a file or folder is: the nearest folder above it with `app.yao` or `assistants/`, but
    none to which a link leads out of another one; None when there is none."""
    found: Path | None = None
    for folder in path.parents:
        name = str(folder)
        is_application = isfile(join(name, "app.yao")) or isdir(join(name, "assistants"))
        if is_application and (found is None or parts_below(realpath(found), realpath(folder)) is None):
            found = folder
    return found


def read_bytes(path: Path, limit: int | None = DATA_LIMIT) -> bytes:
    """The content of a file. Raises RefusedFileError for a link out of the application, for what is not a file, and for
    more than `limit`, in bytes; and OSError. A path that is in no application is the user's own, and taken as it is: it
    may be a pipe, which blocks."""
    judge = _judge_of(path)
    return path.read_bytes() if judge is None else read_file(str(path), judge, limit)


def reader_below(root: Path, limit: int) -> Callable[[str], bytes]:
    """Reads many files of one application, by their paths below its root. Raises as `read_bytes`."""
    real = os.path.realpath(root)
    return lambda name: read_file(f"{real}/{name}", _judge_below(real, tuple(name.split("/"))), limit)


def read_text(path: Path, errors: str = "strict") -> str:
    """The UTF-8 text of a file, its line ends as `\\n`. Raises as `read_bytes`, and UnicodeDecodeError."""
    return read_bytes(path).decode("utf-8-sig", errors).replace("\r\n", "\n").replace("\r", "\n")


def open_binary(path: Path) -> BinaryIO:
    """Opens a file that is read piece by piece, however large. Raises as `read_bytes`."""
    judge = _judge_of(path)
    return open(path if judge is None else open_file(str(path), judge, None), "rb")


def open_text(path: Path, errors: str = "strict") -> TextIO:
    """Opens a UTF-8 text that is read piece by piece, however large. Raises as `read_bytes`."""
    judge = _judge_of(path)
    return open(path if judge is None else open_file(str(path), judge, None), encoding="utf-8-sig", errors=errors)


def read_named(path: Path, folder: Path) -> bytes:
    """The content of a file that a text in an application names, such as a case. Raises as `check_named`."""
    return read_file(str(path), _judge_of_named(folder), DATA_LIMIT)


def check_named(path: Path, folder: Path) -> None:
    """Checks whether a file that a text names may be read: it must belong to the application that contains the text,
    and not commonly hold keys. Reads nothing. `path`: the file. `folder`: the folder of the text; outside of all
    applications, it is treated as one. Raises RefusedFileError: it is outside, refused, not a file, or larger than
    `DATA_LIMIT`; OSError: it does not exist, or cannot be opened."""
    os.close(open_file(str(path), _judge_of_named(folder), DATA_LIMIT))


def check_target(path: Path) -> None:
    """Looks whether a file may be written, or a folder be made, at an absolute path. Raises RefusedFileError."""
    judge = _judge_of(path)
    if judge is not None and (reason := judge(os.path.realpath(path))):
        raise RefusedFileError(reason.partition("; ")[0] + "; use the actual path", str(path))


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file, and makes the folders above it; a reader never sees half of it. Raises as `check_target`, and
    OSError."""
    check_target(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        part.write_bytes(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _judge_of(path: Path) -> Judge | None:
    """Judges where a path leads; None when it is in no application."""
    name = os.path.abspath(path)
    root = application_of(Path(name))
    return None if root is None else _judge_below(os.path.realpath(root), parts_below(name, str(root)) or ())


def _judge_below(root: str, named: tuple[str, ...]) -> Judge:
    """Judges where a path leads in an application; `root` is its real path, `named` are the parts of the path."""

    def judge(real: str) -> str | None:
        parts = parts_below(real, root)
        if parts is None:
            return f"a link leads outside the application, to {real}; replace the link with a file"
        if parts != named and holds_secrets(parts) and not holds_secrets(named):
            return f"a link leads to {'/'.join(parts)}, which may contain secrets; replace the link with a file"
        return None

    return judge


def _judge_of_named(folder: Path) -> Judge:
    start = Path(os.path.abspath(folder))
    application = application_of(start / "case")
    root = os.path.realpath(application or start)
    near = parts_below(os.path.realpath(start), root) or ()

    def judge(real: str) -> str | None:
        parts = parts_below(real, root)
        if parts is None:
            return f"it is not in {'the application' if application else start}; copy the file there"
        if application is None:
            return f"{'/'.join(parts)} may contain secrets" if holds_secrets(parts) else None
        reason = belongings_of(root).refused(parts, near=near)
        return f"{'/'.join(parts)} {reason}" if reason else None

    return judge
