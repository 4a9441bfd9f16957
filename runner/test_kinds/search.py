"""What a fuzz test runs: the inputs of its corpus, and those of a search for one that fails.

The corpus is in files beside the test file, `testdata/fuzz/<function>/<name>.json`. Each has `{"args": [...]}`, the
arguments of the function after `t`. The name of an input that a search has found is a digest of its content. Literals
of the tested code are there because random values would never meet a comparison with one of them.

What inputs a search tries is decided by `searching`, in a process of its own: the library for it would look at all that
this process has loaded, and leave files where the command is run. Many inputs go to one realm of the test, since that
is quick; one that has failed, and what it is made smaller to, each to a realm of its own, so that what is found fails
by itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.security.files import read_text, write_whole
from scripttest import Cause, Outcome
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
    write_whole(path, _written(args).encode())
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
        number = f"{len(args)} argument{'' if len(args) == 1 else 's'}"
        return bad(f": it has {number}, but the function takes {size}", form)
    return Input(name=name, args=json.dumps(args))


def _written(args: list[Any]) -> str:
    return json.dumps({"args": args}, indent=2) + "\n"


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


InputsResult = Mapping[str, Any] | None
"""The result of inputs: `at`, the position of the first that failed, and `kind` and `message` of its first failure;
without `at` if the realm ended in one of them. None: none failed."""
_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[1:]; from runner.test_kinds.searching import main; main()"
MOST_BROKEN = 20
"""Inputs for which something else broke, after which a search is given up."""
SHOWN = 500
"""Characters that are shown of what a process said that broke."""
IN_ONE_REALM = 200
"""Inputs that share a realm at the most."""


class Request(Value):
    """Inputs to be run, one after the other, until one fails."""

    inputs: Sequence[Mapping[str, str]]
    """Each with its `name`, and its `args`: JSON of the list."""
    fresh: bool
    """Whether they are to be the first and only ones of their realm."""


class Progress:
    """How far a search has come. Its process writes it as JSON with each request."""

    def __init__(self) -> None:
        self.found: list[Any] | None = None
        """The smallest input so far that failed."""
        self.tried = 0
        """Inputs, before it began to make one smaller."""
        self.seconds = 0.0
        """What that took."""
        self.unsteady = 0
        """Inputs that failed after others, and not by themselves."""
        self.broken = 0
        """Inputs that say nothing, since what they need broke."""
        self.broke = ""
        """What broke last."""
        self.problem = ""
        """Why it could not continue, unless nearly all inputs broke."""


class Search:
    """One search, whose inputs run in several realms. To be closed."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        """Begins when the first input is asked for. `plan`: `{examples, schemas, literals, seed, seconds}`: lists of
        arguments whose shapes inputs have, else the schemas of the arguments, the fields of `Literals`, and the seed of
        random numbers."""
        self._plan = plan
        self.progress = Progress()
        self._process: subprocess.Popen[bytes] | None = None
        self._home = ""
        """The folder for what the library writes."""
        self.is_over = False
        """Whether the search has ended."""
        self._running: Request | None = None
        self._held: Request | None = None
        """What waits for the next realm."""
        self._result: InputsResult = None
        """The result of the last inputs."""
        self._ran = 0
        """Inputs that this realm has run."""
        self._lone = False
        """Whether this realm is for one input only."""

    @property
    def has_begun(self) -> bool:
        """Whether an input was asked for."""
        return self._process is not None

    def next(self, result: InputsResult) -> Request | None:
        """Takes the results of the last inputs, and returns the next ones of this realm, or None. Blocks. Raises
        OSError when the search cannot begin."""
        if self._running is not None:
            self._ran += len(self._running.inputs)
            self._running, self._result = None, result
        request, self._held = self._held or self._asked(), None
        if request is None:
            self.is_over = True
        elif self._ran and (request.fresh or self._lone or self._ran >= IN_ONE_REALM):
            request, self._held = None, request
        else:
            self._running, self._lone = request, request.fresh
        return request

    def ended(self, outcome: Outcome, silent: str) -> None:
        """A realm has ended: in an input, if one is under way, which has failed then; `silent` is what did not answer
        it, if it waited for that."""
        if self._running is not None:
            self._running = None
            steps = [step for step in outcome.steps if step.failures]
            failures = (steps[-1] if steps else outcome).failures
            cause = failures[0].cause if failures else Cause.ERROR
            message = failures[0].message if failures else "its realm has ended"
            if cause is Cause.TIMEOUT and silent:
                cause, message = Cause.INFRASTRUCTURE, silent
            self._result = {"kind": cause, "message": message}
        self._ran, self._lone = 0, False

    def close(self) -> None:
        """Ends it and its process, and removes what that has written."""
        self.is_over = True
        if self._process is None:
            return
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()
        shutil.rmtree(self._home, ignore_errors=True)

    def _asked(self) -> Request | None:
        """What its process wants to be run next, after the last result; None if the search is over."""
        if self._process is None:
            pipe = subprocess.PIPE
            command = [sys.executable, "-I", "-S", "-c", _BOOTSTRAP, *sys.path]
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
            self._process, self._home = process, tempfile.mkdtemp(prefix="yao-test-fuzz-")
            said: Any = {**self._plan, "home": self._home}
        else:
            process, said = self._process, self._result
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        with suppress(BrokenPipeError):  # its output tells why
            process.stdin.write(json.dumps(said).encode() + b"\n")
            process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            errors = process.stderr.read().decode(errors="replace")
            self.progress.problem = f"its process has ended: {errors[-SHOWN:].strip()}"
            return None
        state = json.loads(line)
        vars(self.progress).update(state["progress"])
        return None if state["over"] else Request(inputs=state["inputs"], fresh=state["fresh"])
