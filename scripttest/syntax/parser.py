"""Reads scripts: Babel's parser, and what is asked of its trees, are TypeScript in `src/`, built into one function, and
another one that plants mutants.

It runs in an engine of its own, in this process: it only reads texts. To evaluate the function takes some 35 ms, and to
read a text 4 to 5 ms for each KB, so it is asked only where something is to be told of a failure, by `doctor`, for new
inline snapshots, for coverage and for `t.only`."""

from __future__ import annotations

import _thread
import json
from functools import lru_cache, partial
from pathlib import Path
from queue import SimpleQueue

from scripttest.realm.engine import STACK_LIMIT, EngineError, evaluate_apart
from scripttest.results import HostError
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BUILT = Path(__file__).parent / "built"
_ROOM = 8 * 1024 * 1024
"""Bytes of stack that the thread has for more than what the engine may use."""


class UnreadableError(Exception):
    """The parser cannot read a text; the message says why and where, `Unexpected token at 2:5`."""


class Parser:
    """The engine with the function, and the thread that it belongs to. May be used from several threads."""

    def __init__(self, name: str = "read", *more: str) -> None:
        """With the function `name`, which may call others, `more`: these are evaluated when it first does so. Raises
        HostError."""
        function, *called = map(_text, (name, *more))
        self._lock = _thread.allocate_lock()
        self._requests = SimpleQueue[str]()
        self._answers = SimpleQueue[str | EngineError]()
        before = _thread.stack_size(STACK_LIMIT + _ROOM)
        try:
            _thread.start_new_thread(self._serve, (function, dict(zip(more, called, strict=True))))
        finally:
            _thread.stack_size(before)

    def ask(self, question: str, *given: object) -> Any:
        """What a function of `src/main.ts` answers. Blocks. Raises UnreadableError."""
        with self._lock:
            self._requests.put(json.dumps({"question": question, "given": given}))
            found = self._answers.get()
        if isinstance(found, EngineError):  # such as one about the stack, for expressions with thousands of brackets
            raise UnreadableError(str(found).partition("\n")[0])
        answer = json.loads(found)
        if "unread" in answer:
            raise UnreadableError(answer["unread"])
        return answer["answer"]

    def _serve(self, function: str, called: dict[str, str]) -> None:
        read = evaluate_apart(function, **{name: _when_called(text) for name, text in called.items()})
        while True:
            request = self._requests.get()
            try:
                self._answers.put(read(request))
            except EngineError as error:
                self._answers.put(error)


def _text(name: str) -> str:
    file = _BUILT / f"{name}.js"
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise HostError(
            f"Cannot read {file}, which parses scripts: {error.strerror}",
            hint="Install yao-test again; in a checkout, run python bindings/build.py",
        ) from error


def _when_called(text: str) -> Callable[[str], str]:
    """The function of a text, which is evaluated for the first call."""
    made = lru_cache(1)(partial(evaluate_apart, text))
    return lambda request: made()(request)


@lru_cache(1)
def parser() -> Parser:
    """The parser of this process. Raises HostError."""
    return Parser()


@lru_cache(1)
def planter() -> Parser:
    """What plants mutants in this process: `src/mutate.ts`. Raises HostError."""
    return Parser("mutate", "regex")


class Focus(Value):
    """Where a function calls `t.only`, as `src/focus.ts` reads it."""

    only: bool = False
    """Whether it does so itself, in one of its own statements."""
    focused: bool = False
    """Whether a subtest that is written in it does."""
    names: tuple[str, ...] = ()
    """Functions declared elsewhere that are subtests in it."""


@lru_cache(1000)
def focus_of(source: str) -> Focus:
    """Where a function of a compiled script calls `t.only`, by its source; nowhere where that cannot be read. Raises
    HostError."""
    if ".only(" not in source and ".run(" not in source and ".each(" not in source:
        return Focus()
    try:
        found = parser().ask("focusOf", source)
    except UnreadableError:
        return Focus()
    return Focus(only=found["only"], focused=found["focused"], names=tuple(found["names"]))


@lru_cache(2)
def inline_calls(source: str, suffix: str) -> tuple[dict[str, Any], ...]:
    """The calls of `t.snapshot.inline` in the source of a test, as `src/inline.ts` describes them; none where it cannot
    be read. `suffix` is the end of the file's name, `.ts`. Raises HostError."""
    try:
        return tuple(parser().ask("inlineCalls", source, suffix))
    except UnreadableError:
        return ()
