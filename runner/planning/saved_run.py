"""Reads the report of a run that `--resume` continues: its start line, and its complete results."""

from __future__ import annotations

import json
import os
from pathlib import Path

from runner.errors import ConfigurationError
from runner.options.options import RunOptions, absolute
from runner.results.json_text import is_utf8
from runner.results.start_problems import HINT, is_number, start_problem
from runner.security.files import read_bytes
from scripttest import TestKey
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RESUMING = "resume {}"


class Saved(Value):
    """The content of a report."""

    path: Path
    start: Record
    """Its first line as a record; empty when there is none."""
    results: list[Record]
    """Its results, the last one for each test and run."""
    is_whole: bool
    """Whether the file has only these lines."""
    subject: str
    """The beginning of errors about it: what cannot be done with it."""

    @property
    def options(self) -> Record:
        """The flags of the run, by the names of `RunOptions`; those that were not given are left out."""
        found: Record = self.start["resume"]["options"]
        return found


def read_saved(path: Path, doing: str = RESUMING) -> Saved:
    """Reads a report as far as its lines are whole. Raises ConfigurationError when there is none, which says what was
    to be done with it, as `doing` has it."""
    subject = f"Cannot {doing.format(path)}"
    try:
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"{subject}: it is not a file")
        content = read_bytes(path, None)
    except OSError as error:
        raise ConfigurationError(f"{subject}: {error.strerror}") from error
    start: Record = {}
    results: dict[TestKey, Record] = {}
    is_whole = True
    *lines, rest = content.split(b"\n")
    for line in lines:
        record = _record(line)
        if record is None or not (start or record["type"] == "start"):
            is_whole = False
            break
        if record["type"] == "start":
            start = record
        elif record["type"] == "result":
            key = TestKey(suite=record.get("suite", ""), test=record["id"], run=record.get("run", 0))
            results[key] = record
        else:
            is_whole = False
    if not start and lines and content[:8] != b'{"type":' and content.strip(b"\0\n"):
        raise ConfigurationError(f"{subject}: it is not a .jsonl report of yao-test")
    if start and not _says_origin(start):
        raise ConfigurationError(
            f"{subject}: it does not say with which flags it was made",
            "A report of merge or regrade cannot be resumed; name the reports that it was made from",
        )
    if problem := start and made_problem(start):
        raise ConfigurationError(f"{subject}: {problem}", HINT)
    return Saved(
        path=path, start=start, results=list(results.values()), is_whole=is_whole and not rest, subject=subject
    )


def key_of(options: RunOptions, directory: Path) -> str:
    """The key that values of variables are hashed with in a report: that of the resumed report, else a new one."""
    if options.resume is not None:
        start = read_saved(absolute(options.resume, directory)).start
        if start and isinstance(start["resume"].get("key"), str):
            return str(start["resume"]["key"])
    return os.urandom(8).hex()


def _record(line: bytes) -> Record | None:
    """A line as a record, if the line is complete."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return None
    if record["type"] != "result":
        return record
    from runner.results.result_problems import result_problem

    return None if result_problem(record) else record


def made_problem(start: Record) -> str | None:
    """Why the start line of a report does not say what was run, and with which options; None when it does."""
    if problem := start_problem(start):
        return problem
    origin = start.get("resume")
    options = origin.get("options", {}) if isinstance(origin, dict) else {}
    for name, value in options.items():
        if not _holds(str(RunOptions.__annotations__.get(name, "")), value):
            return f'the "{name}" of its options cannot be {json.dumps(value)[:40]}'
    return None


def _holds(kind: str, value: Any) -> bool:
    """Whether an option of this type can have a value, as the start line has it. An option of another version may have
    any."""
    if kind.startswith("tuple"):
        return isinstance(value, list) and all(isinstance(item, str) and is_utf8(item) for item in value)
    if kind.startswith("bool"):
        return isinstance(value, bool)
    if kind.startswith(("int", "float")):
        return is_number(value)
    return not kind or (isinstance(value, str) and is_utf8(value))


def _says_origin(start: Record) -> bool:
    origin = start.get("resume")
    return isinstance(origin, dict) and isinstance(origin.get("options"), dict)
