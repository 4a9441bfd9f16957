"""The corpus of a fuzz test: inputs in files beside its test file, `testdata/fuzz/<function>/<name>.json`.

Each has `{"args": [...]}`, the arguments of the function after `t`. The name of an input that a search has found is a
digest of its content.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.security.files import check_target, read_text
from scripttest.values import Value

FOLDER = "testdata/fuzz"
DIGITS = 16
"""The number of digits of the hash in a name."""


class Input(Value):
    """One input."""

    name: str
    args: str
    """JSON of the list of arguments."""
    problem: str = ""
    """Why there are none: what is wrong with the file."""
    is_seed: bool = False
    """Whether the test function has it, and no file."""


def read_corpus(folder: Path, size: int | None, shown: str) -> list[Input]:
    """The corpus in a folder, by name; empty if the folder does not exist. Blocks.

    Args:
        folder: folder of one function.
        size: number of arguments of the function; None if not known.
        shown: the folder as messages name it.
    """
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [_read(folder / name, size, f"{shown}/{name}") for name in names]


def _read(path: Path, size: int | None, shown: str) -> Input:
    name = path.stem

    def bad(reason: str, hint: str = "Repair or remove the file") -> Input:
        return Input(name=name, args="", problem=f"Cannot read {shown}{reason}. {hint}")

    form = 'Write {"args": [...]} with the arguments after t'
    try:
        found = json.loads(read_text(path), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        return bad(f":{error.lineno}:{error.colno}: {error.msg}")
    except UnicodeDecodeError as error:
        return bad(f": byte {error.start} is not UTF-8")
    except OSError as error:
        return bad(f": {error.strerror or error}")
    except (ValueError, RecursionError) as error:
        return bad(f": {error}")
    if not isinstance(found, dict) or not isinstance(found.get("args"), list):
        return bad(": it has no list of arguments", form)
    if unknown := sorted(found.keys() - {"args"}):
        return bad(f': unknown field "{unknown[0]}"', form)
    args = found["args"]
    if size is not None and len(args) != size:
        return bad(f": it has {_arguments(len(args))}, and the function takes {size}", form)
    return Input(name=name, args=json.dumps(args))


def name_of(args: list[Any]) -> str:
    """The name of an input that a search has found."""
    return sha256(_text(args).encode()).hexdigest()[:DIGITS]


def write_input(folder: Path, args: list[Any]) -> Path:
    """Adds an input to a corpus; its file, which appears as a whole. Raises OSError, also for a folder that a link
    leads out of the application."""
    path = folder / f"{name_of(args)}.json"
    check_target(path)
    folder.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        draft.write_text(_text(args), "utf-8")
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    return path


def _text(args: list[Any]) -> str:
    return json.dumps({"args": args}, indent=2) + "\n"


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
