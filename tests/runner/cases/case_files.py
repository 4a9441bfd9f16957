"""Case files written for a test, and what is said about them."""

from __future__ import annotations

from pathlib import Path

from runner.cases.reader import CaseFile
from runner.errors import ConfigurationError


def write(folder: Path, text: str | bytes, name: str = "cases.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(folder: Path, text: str | bytes, name: str = "cases.jsonl", lenient: bool = False) -> CaseFile:
    return CaseFile.check(write(folder, text, name), lenient, name=name)


def refusal(folder: Path, text: str | bytes, name: str = "cases.jsonl") -> str:
    """The message, and the hint in brackets."""
    try:
        read(folder, text, name)
    except ConfigurationError as error:
        return error.message.replace(str(folder), "<folder>") + (f" [{error.hint}]" if error.hint else "")
    return "accepted"
