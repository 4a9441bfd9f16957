"""The test that `yao-test repl` adds to a script: it asks for inputs, see `bindings/src/realm/repl.ts`."""

from __future__ import annotations

import os

from scripttest.compile.compiler import Loaded
from scripttest.compile.esbuild import Service
from scripttest.syntax.coverage import LOADERS
from scripttest.syntax.parser import parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROMPT_TEST = "TestPrompt"
"""Its name."""
_ENTRY = f"\nasync function {PROMPT_TEST}(t, ctx) {{ await $yaoRepl(t, ctx); }}\n"


class PromptCode:
    """Adds the test to a script."""

    def __init__(self, script: str) -> None:
        """`script` is an absolute path."""
        self._script = os.path.realpath(script)

    def instrument(self, path: str, source: bytes) -> Loaded | None:
        """The text of the script with the test; None for another file."""
        if os.path.realpath(path) != self._script:
            return None
        return Loaded(code=source + _ENTRY.encode(), loader=LOADERS[os.path.splitext(path)[1]])


class PromptInputs:
    """Reads what is typed at the prompt."""

    _service: Service | None = None

    def read(self, typed: str) -> dict[str, Any]:
        """As `src/repl.ts` says; blocks for some milliseconds. Raises UnreadableError, and HostError where there is no
        parser or compiler."""
        found: dict[str, Any] = parser().ask("replInput", typed, True)
        if "typescript" in found:
            self._service = self._service or Service([])
            found = parser().ask("replInput", self._service.javascript(found["typescript"]), False)
        return found
