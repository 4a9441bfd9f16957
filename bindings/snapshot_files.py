"""Snapshot files: text that is easy to review.

    # Snapshots of card_test.ts, stored by yao-test.

    [TestCard 1]
      {
        title: "Travel",
      }

Each snapshot is its name in brackets, and below it its value, indented by two spaces. They are sorted by name; numbers
in names are sorted as numbers. Names are written as in JSON, without the quotes.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from scripttest import anywhere, read_file
from scripttest.typing_names import TypeVar

FOLDER = "__snapshots__"
SUFFIX = ".snap"
_INDENT = "  "
T = TypeVar("T")


class SnapshotError(Exception):
    """A snapshot cannot be read or kept; the message says why."""


class SnapshotFileError(SnapshotError):
    """A file cannot be used; `line` counts from 1, 0: the file as a whole."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        place = f"{FOLDER}/{path.name}{f':{line}' if line else ''}"
        super().__init__(f"Cannot use the snapshots in {place}: {reason}")


def in_each(save: Callable[[T], None], of: Iterable[T]) -> None:
    """Saves each of several, also after one that cannot be saved. Raises what the first of these raised."""
    errors: list[OSError | SnapshotError] = []
    for one in of:
        try:
            save(one)
        except (OSError, SnapshotError) as error:
            errors.append(error)
    if errors:
        raise errors[0]


def path_of(test: Path) -> Path:
    """The snapshot file of a test or case file."""
    return test.parent / FOLDER / f"{test.name}{SUFFIX}"


def read(path: Path) -> dict[str, str]:
    """The snapshots of a file by their names; none when there is no file. Raises SnapshotFileError."""
    if path.is_symlink() or path.parent.is_symlink():
        raise SnapshotFileError(path, 0, "it is a link, or in one")
    try:
        text = read_file(str(path), anywhere).decode("utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise SnapshotFileError(path, 0, f"byte {error.start} is not UTF-8") from error
    except OSError as error:
        raise SnapshotFileError(path, 0, error.strerror or str(error)) from error
    return _parsed(path, text)


def _parsed(path: Path, text: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if line.startswith("[") and line.endswith("]"):
            try:
                name = json.loads(f'"{line[1:-1]}"')
            except ValueError as error:
                raise SnapshotFileError(path, number, "the name of a snapshot is not written as in JSON") from error
            if name in found:
                raise SnapshotFileError(path, number, f'there are two snapshots "{name}"')
            lines = found[name] = []
        elif not line.strip():
            if lines is not None:
                lines.append("")
        elif lines is not None and line.startswith(_INDENT):
            lines.append(line[len(_INDENT) :])
        elif not (lines is None and line.startswith("#")):
            raise SnapshotFileError(
                path,
                number,
                "the line is neither the name of a snapshot in brackets, nor indented by two blanks. Repair it, or take"
                " the file from version control; it is not overwritten",
            )
    return {name: "\n".join(lines).rstrip("\n") for name, lines in found.items()}


def change(path: Path, test: str, changes: Callable[[dict[str, str]], None]) -> None:
    """Changes the current content of a file, which another run may just have written. It is replaced, or removed
    with its last snapshot. Waits for other runs. Raises SnapshotFileError and OSError."""
    path.parent.mkdir(exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        snapshots = read(path)
        changes(snapshots)
        if snapshots:
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
            try:
                temporary.unlink(missing_ok=True)
                with temporary.open("xb") as file:  # never through a link
                    file.write(_written(test, snapshots).encode("utf-8"))
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)
        else:
            path.unlink(missing_ok=True)
    finally:
        os.close(folder)
    if not any(path.parent.iterdir()):
        path.parent.rmdir()


def _written(test: str, snapshots: dict[str, str]) -> str:
    text = f"# Snapshots of {test}, stored by yao-test.\n"
    for name in sorted(snapshots, key=_natural):
        quoted = json.dumps(name, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")
        text += f"\n[{quoted[1:-1]}]\n"
        text += "".join(f"{_INDENT}{line}\n" if line else "\n" for line in snapshots[name].split("\n"))
    return text


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts `Test 2` before `Test 10`."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]
