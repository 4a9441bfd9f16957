"""A handler's text in, the same with counters out, still in the author's TypeScript. A source map in the text leads
the compiler back to the original.

What is counted is found by `src/`: TypeScript that is built into one function, with a parser, and runs in an engine of
its own.
"""

from __future__ import annotations

import _thread
import json
import os
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scripttest.errors import HostError
from scripttest.realm.engine import STACK_LIMIT, EngineError, evaluate_apart
from scripttest.values import Value

LOADERS = {
    ".ts": "ts",
    ".mts": "ts",
    ".cts": "ts",
    ".tsx": "tsx",
    ".js": "js",
    ".mjs": "js",
    ".cjs": "js",
    ".jsx": "jsx",
}
"""Extensions of scripts → esbuild's loader."""
_FUNCTION = Path(__file__).parent / "built" / "instrument.js"
_ROOM = 8 * 1024 * 1024
"""Bytes of stack that the thread has for more than what the engine may use."""


class UnreadableError(Exception):
    """The parser cannot read a file; the text says why and where, `Unexpected token (2:4)`."""


class Instrumented(Value):
    """A file with counters."""

    code: bytes
    loader: str
    table: dict[str, Any]
    """What is counted, in the shapes of Istanbul, with the numbers of counters in place of counts."""
    counters: int
    """How many there are."""


class Instrumenter:
    """Puts counters into files. Blocks while it works, and may be used from several threads. To be closed."""

    def __init__(self) -> None:
        """Starts a thread, which the engine belongs to. Raises HostError."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="coverage")
        before = _thread.stack_size(STACK_LIMIT + _ROOM)
        try:
            function = _FUNCTION.read_text("utf-8")
            self._function = self._thread.submit(evaluate_apart, function).result()
        except OSError as error:
            self.close()
            raise HostError(
                f"Cannot read {_FUNCTION} for --coverage: {error.strerror}",
                hint="Install yao-test again; in a checkout, run python bindings/build.py",
            ) from error
        finally:
            _thread.stack_size(before)

    def close(self) -> None:
        """Ends the thread."""
        self._thread.shutdown()

    def instrument(self, name: str, source: bytes, first: int) -> Instrumented | None:
        """A file with counters from number `first` on; None when there is nothing to count. Raises UnreadableError.

        Args:
            name: the file's name, without its folder.
        """
        text = source.decode("utf-8-sig", "replace")
        suffix = os.path.splitext(name)[1]
        request = json.dumps({"source": text, "suffix": suffix, "first": first})
        try:
            answer = json.loads(self._thread.submit(self._function, request).result())
        except EngineError as error:  # such as one about the stack, for expressions with thousands of brackets
            raise UnreadableError(str(error).partition("\n")[0]) from error
        if answer is None:
            return None
        if "unread" in answer:
            raise UnreadableError(answer["unread"])
        source_map = {"version": 3, "sources": [name], "names": [], "mappings": answer["mappings"]}
        address = b64encode(json.dumps(source_map).encode()).decode()
        return Instrumented(
            code=f"{answer['code']}\n//# sourceMappingURL=data:application/json;base64,{address}\n".encode(),
            loader=LOADERS[suffix],
            table=answer["table"],
            counters=answer["counters"],
        )
