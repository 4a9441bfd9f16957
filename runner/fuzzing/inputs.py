"""What inputs of a fuzz test are made from: its corpus, the literals in the tested code, the schemas that it gives.

The corpus is in files beside the test file, `testdata/fuzz/<function>/<name>.json`. Each has `{"args": [...]}`, the
arguments of the function after `t`. The name of an input that a search has found is a digest of its content. Literals
are there because random values would never meet a comparison with one of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.security.files import check_target, read_text
from scripttest.values import Value

FOLDER = "testdata/fuzz"
DIGITS = 16
"""The number of digits of the hash in a name."""
MOST = 2000
"""Literals of each kind that are kept."""
LONGEST = 200
"""Characters of a text that is kept."""
_LARGEST = 2**53 - 1
_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<template>`(?:[^`\\]|\\.)*`)"""
    r"""|(?<![\w$.])(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)n?(?![\w$])"""
    r"""|(?://[^\n]*|/\*[\s\S]*?\*/)"""
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.|\n))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


class Input(Value):
    """One input."""

    name: str
    args: str
    """JSON of the list of arguments."""
    problem: str = ""
    """Why there are none: what is wrong with the file."""
    is_seed: bool = False
    """Whether the test function has it, and no file."""


class Literals(Value):
    """The literals in some sources, each once."""

    numbers: tuple[float, ...] = ()
    """With their neighbours; whole ones are of type int."""
    texts: tuple[str, ...] = ()


def read_corpus(folder: Path, size: int | None, shown: str) -> list[Input]:
    """The corpus in a folder, by name; empty if the folder does not exist. Blocks. `folder`: folder of one function.
    `size`: number of arguments of the function; None if not known. `shown`: the folder as messages name it."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [_read_input(folder / name, size, f"{shown}/{name}") for name in names]


def name_of(args: list[Any]) -> str:
    """The name of an input that a search has found."""
    return sha256(_written(args).encode()).hexdigest()[:DIGITS]


def write_input(folder: Path, args: list[Any]) -> Path:
    """Adds an input to a corpus; its file, which appears as a whole. Raises OSError, also for a folder that a link
    leads out of the application."""
    path = folder / f"{name_of(args)}.json"
    check_target(path)
    folder.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        draft.write_text(_written(args), "utf-8")
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    return path


def literals_in(code: str) -> Literals:
    """The literals of JavaScript, as the compiler prints it. What looks like one in a regular expression counts too."""
    numbers: dict[float, None] = {}
    texts: dict[str, None] = {}
    for match in _TOKEN.finditer(code):
        if match["number"] is not None:
            for number in _numbers(match["number"]):
                numbers[number] = None
        elif match["text"] is not None:
            texts[_text(match["text"][1:-1])] = None
        elif match["template"] is not None:
            for piece in re.split(r"\$\{[^}]*\}", match["template"][1:-1]):
                texts[_text(piece)] = None
    kept = [text for text in texts if text and len(text) <= LONGEST]
    return Literals(numbers=tuple(numbers)[:MOST], texts=tuple(kept)[:MOST])


def schemas_of_arguments(schemas: Sequence[Any], size: int | None) -> list[Any]:
    """The schema of each argument: what `f.schema` was given, which may be one schema of the list of them all."""
    if len(schemas) == 1 and isinstance(schemas[0], dict) and size != 1:
        of_all = schemas[0]
        items = of_all.get("prefixItems")
        if items is None and isinstance(of_all.get("items"), list):
            items = of_all["items"]
        if isinstance(items, list):
            rest = {key: of_all[key] for key in ("$defs", "definitions") if key in of_all}
            return [{**rest, **item} if isinstance(item, dict) else item for item in items]
    return list(schemas)


def _read_input(path: Path, size: int | None, shown: str) -> Input:
    name = path.stem

    def bad(reason: str, hint: str = "Fix or remove the file") -> Input:
        return Input(name=name, args="", problem=f"Cannot read {shown}{reason}. {hint}")

    form = 'Write {"args": [...]} with the arguments after t'
    try:
        found = json.loads(read_text(path), parse_constant=_refuse_constant)
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
        return bad(f": it has {_arguments(len(args))}, but the function takes {size}", form)
    return Input(name=name, args=json.dumps(args))


def _written(args: list[Any]) -> str:
    return json.dumps({"args": args}, indent=2) + "\n"


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _numbers(printed: str) -> list[float]:
    value = int(printed, 16) if printed[:2].lower() == "0x" else float(printed)
    if value != int(value):
        return [value, -value]
    whole = int(value)
    return [] if whole > _LARGEST else [whole, whole + 1, whole - 1, -whole]


def _text(printed: str) -> str:
    def letter(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        if code is None:
            return "" if match[4] == "\n" else _LETTERS.get(match[4], match[4])
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else ""

    text = _ESCAPE.sub(letter, printed)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
