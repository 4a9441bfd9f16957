"""Snapshots of one run: `__snapshots__/<test file>.snap` beside a test or case file, name → printed value.

A value that has no snapshot yet is stored, except in CI, where that is a failure. Files are written by `save`; they are
text that is easy to review:

    # Snapshots of card_test.ts, stored by yao-test.

    [TestCard 1]
      {
        title: "Travel",
      }

Each snapshot is its name in brackets, and below it its value, indented by two spaces. They are sorted by name; numbers
in names are sorted as numbers. Names are written as in JSON, without the quotes."""

from __future__ import annotations

import _thread
import fcntl
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scripttest import anywhere, read_file
from scripttest.typing_names import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = "__snapshots__"
SUFFIX = ".snap"
_INDENT = "  "
S = TypeVar("S")


class Snapshots:
    """The snapshots of one run. Threads may share `match`."""

    def __init__(self, files: Mapping[str, Path], update: bool, ci: bool, redact: Callable[[str], str]) -> None:
        """Reads nothing yet.

        Args:
            files: id of a suite → its test or case file.
            update: whether a snapshot that differs is replaced.
            ci: whether a missing snapshot is a failure.
            redact: removes secrets from texts before they are stored."""
        self.files = files
        """Suite id → its test or case file."""
        self.update, self.ci, self.redact = update, ci, redact
        self.before_writing: Callable[[Path, bytes], None] = lambda path, content: None
        """Called before a test file is written, with its path and its new content."""
        self._stored: dict[str, dict[str, str]] = {}
        self._new: dict[str, dict[str, str]] = {}
        """What this run stores."""
        self._unsaved: dict[str, dict[str, str]] = {}
        """Those of them that are not in a file yet."""
        self._asked: dict[str, dict[str, str]] = {}
        """What tests of this run asked for, and the first value of each."""
        self._lock = _thread.allocate_lock()
        self.written = self.updated = self.removed = 0
        """How many are stored as new, replaced, and removed because they are obsolete."""
        self.obsolete: list[str] = []
        """Names of those that nothing asks for any more, each with its file, which are still there."""

    @property
    def is_used(self) -> bool:
        """Whether anything has asked for one."""
        return bool(self._stored)

    def matcher(self, module: str) -> Callable[[str, str], dict[str, Any]]:
        """What compares texts with the snapshots of a file, which `files` names: (key, text) → `{passed, expected?,
        reason?}`. It raises ProcessError."""
        return lambda key, text: self.match(module, "", [key, text])

    def match(self, module: str, test: str, args: list[Any]) -> dict[str, Any]:
        """Provider of `snapshot.Match(key, text)`: `{passed, expected?, reason?}`. Keys of a test begin with its
        name. Raises ProcessError: the key is that of another test, or the file cannot be used."""
        from bindings.errors import ProcessError

        key, text = (self.redact(given) if isinstance(given, str) else given for given in args)
        if not isinstance(key, str) or not isinstance(text, str):
            raise ProcessError("snapshot.Match takes the key of a snapshot and a string", 400)
        own = test.partition("#")[0]
        if own and not (key == own or key.startswith((own + " ", own + "/"))):
            raise ProcessError(f'"{key}" is not a snapshot of {own}', 403)
        with self._lock:
            try:
                stored = self._load(module)
            except SnapshotFileError as error:
                raise ProcessError(str(error)) from error
            new = self._new[module]
            first = self._asked[module].setdefault(key, text)
            if first != text and (self.update or key in new):
                return {
                    "passed": False,
                    "expected": first,
                    "reason": "Not equal to the snapshot stored earlier in this run",
                }
            expected = new.get(key, stored.get(key))
            if expected == text:
                return {"passed": True}
            if expected is not None and not self.update:
                return {"passed": False, "expected": expected}
            if expected is None and self.ci and not self.update:
                reason = "There is no snapshot yet, and this run stores none: use --update-snapshots"
                return {"passed": False, "reason": reason}
            new[key] = text
            self._unsaved.setdefault(module, {})[key] = text
            return {"passed": True}

    def find_obsolete(self, module: str, is_obsolete: Callable[[str], bool]) -> None:
        """Removes or reports the snapshots of a suite that its tests did not use and `is_obsolete` accepts. Raises
        SnapshotFileError."""
        if not path_of(self.files[module]).exists():
            return
        stored, asked = self._load(module), self._asked[module]
        self._drop(path_of(self.files[module]), [key for key in stored if key not in asked and is_obsolete(key)])

    def find_left(self) -> None:
        """The same for the snapshots of test files that no longer exist, in the folders of this run."""
        for folder in sorted({path.parent / FOLDER for path in self.files.values()}):
            if folder.is_symlink() or not folder.is_dir():
                continue
            for path in sorted(folder.glob(f"*{SUFFIX}")):
                if not (folder.parent / path.name.removesuffix(SUFFIX)).exists():
                    self._drop(path, list(read(path)))

    def save(self) -> None:
        """Writes what is new or replaced since it was last called. Raises OSError and SnapshotFileError, after it has
        written what can be."""
        with self._lock:
            in_each(self._save, sorted(self._unsaved))

    def _save(self, module: str) -> None:
        test, new = self.files[module], self._unsaved[module]
        change(path_of(test), test.name, lambda snapshots: snapshots.update(new))
        replaced = sum(key in self._stored[module] for key in new)
        self.updated += replaced
        self.written += len(new) - replaced
        del self._unsaved[module]

    def _drop(self, path: Path, keys: list[str]) -> None:
        """Removes snapshots when they are to be updated, and names them when not."""
        if not keys:
            return
        if not self.update:
            self.obsolete += [f"{FOLDER}/{path.name} › {key}" for key in keys]
            return

        def without(snapshots: dict[str, str]) -> None:
            for key in keys:
                snapshots.pop(key, None)

        change(path, path.name.removesuffix(SUFFIX), without)
        self.removed += len(keys)

    def _load(self, module: str) -> dict[str, str]:
        if module not in self._stored:
            test = self.files[module]
            self._stored[module] = read(path_of(test))
            self._new[module] = {}
            self._asked[module] = {}
        return self._stored[module]


class SnapshotError(Exception):
    """A snapshot cannot be read or kept; the message says why."""


class SnapshotFileError(SnapshotError):
    """A file cannot be used; `line` counts from 1, 0: the file as a whole."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        place = f"{FOLDER}/{path.name}{f':{line}' if line else ''}"
        super().__init__(f"Cannot use the snapshots in {place}: {reason}")


def in_each(save: Callable[[S], None], of: Iterable[S]) -> None:
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
    with locked(path.parent):
        snapshots = read(path)
        changes(snapshots)
        if snapshots:
            replace(path, _written(test, snapshots).encode("utf-8"))
        else:
            path.unlink(missing_ok=True)
    if not any(path.parent.iterdir()):
        path.parent.rmdir()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """In which no other run writes snapshots into files of a folder. Waits for other runs."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace(path: Path, content: bytes) -> None:
    """Gives a file new content, which appears as a whole; its permissions stay. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.unlink(missing_ok=True)
        with temporary.open("xb") as file:  # never through a link
            file.write(content)
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


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
