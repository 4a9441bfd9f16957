"""One realm from its making to its result: boot, scripts, the test or call, and the event loop.

The loop ends in one of three ways: the work settled; it threw; or nothing is queued, no timer is set, and it has not
settled, which is a deadlock and is said at once.
"""

from __future__ import annotations

import time

from scripttest.engine import Engine, EngineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripttest.engine import Door
    from scripttest.parts import Parts

DEADLOCK = "deadlock: the test waits for a promise that nothing can settle any more"


class Realm:
    """A fresh engine with a module's scripts evaluated in it."""

    def __init__(self, parts: Parts, door: Door) -> None:
        self._engine = Engine(parts, door)
        self.drive = self._engine.drive
        self.part = self._engine.part

    def load(self, scripts: list[str]) -> None:
        """Evaluates scripts in order. Raises EngineError."""
        for script in scripts:
            self._engine.eval(script)

    def settle(self) -> None:
        """Runs jobs and timers until the work has ended; blocks."""
        while True:
            self._run_jobs()
            try:
                wait = self.drive("poll")
            except EngineError as error:
                self.drive("uncaught", str(error))
                continue
            if not isinstance(wait, int | float):
                return
            if wait != wait:
                self.drive("abandon", DEADLOCK)
            elif wait < 0:
                return
            elif wait > 0:
                time.sleep(wait / 1000)

    def _run_jobs(self) -> bool:
        """Runs promise jobs until none is queued; whether there was any."""
        failed = False
        while True:
            try:
                return self._engine.drain() or failed
            except EngineError as error:
                self.drive("uncaught", str(error))
                failed = True

    def test(self, plan: str) -> str:
        """Runs one test; JSON of its outcome."""
        outcome = self.drive("start", plan)
        if isinstance(outcome, str) and not self._run_jobs():
            return outcome
        self.settle()
        return str(self.drive("result"))

    def call(self, process: str, arguments: str) -> str:
        """Calls the function of the loaded scripts that a process names; JSON envelope of what it returns."""
        self.drive("call", process, arguments)
        self.settle()
        return str(self.drive("answer"))

    def invoke(self, function: str, arguments: str) -> str:
        """Calls a function of the loaded scripts for the host; JSON of what came of it."""
        self.drive("invoke", function, arguments)
        self.settle()
        return str(self.drive("invoked"))
