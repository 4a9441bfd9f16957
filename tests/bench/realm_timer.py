"""Times what workers do with the engine, step by step, in a real run.

`python realm_timer.py FILE <arguments of yao-test>` runs the command with workers that write one line for each realm to
FILE: `step:nanoseconds step:nanoseconds ...`. The steps are `context`, `core` (the first script), `load` (the others),
`jobs` (promise jobs), `destroy`, and the name of every operation of the core (`boot`, `start`, `poll`, `result`, ...).

It takes the place of the engine's context in `scripttest/realm/engine.py`, and of its bytecode.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

START = "from scripttest.realm.worker import main"
"""What the program of a worker holds."""

now = time.perf_counter_ns


class _Realm:
    """What belongs to one context. It ends when nothing refers to it any more, and times that."""

    def __init__(self, context: Any, began: int, descriptor: int) -> None:
        self.context = context
        self.drive: Any = None
        self.descriptor = descriptor
        self.steps: list[str] = []
        self.add("context", began)

    def add(self, step: str, began: int) -> None:
        self.steps.append(f"{step}:{now() - began}")

    def timed(self, step: str, function: Callable[..., Any], *arguments: Any) -> Any:
        began = now()
        try:
            return function(*arguments)
        finally:
            self.add(step, began)

    def __del__(self) -> None:
        began = now()
        self.drive = self.context = None
        self.add("destroy", began)
        os.write(self.descriptor, (" ".join(self.steps) + "\n").encode())


def install(path: str) -> None:
    """Makes every context of the worker in this process a timed one."""
    import _quickjs

    from scripttest.realm import engine, quickjs
    from scripttest.walls import confinement

    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.closerange = lambda first, last: None  # type: ignore[assignment]  # which would close that one
    confinement.FILE_SIZE = 1 << 30

    class Context:
        def __init__(self) -> None:
            began = now()
            self._realm = _Realm(_quickjs.Context(), began, descriptor)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._realm.context, name)

        def eval(self, source: str) -> Any:
            realm = self._realm
            if realm.drive is not None:
                return realm.timed("load", realm.context.eval, source)
            return self._driver(realm.timed("core", realm.context.eval, source))

        def get(self, name: str) -> Any:
            return self._driver(self._realm.context.get(name))

        def _driver(self, drive: Any) -> Callable[..., Any]:
            realm = self._realm
            realm.drive = drive
            return lambda operation, *arguments: realm.timed(operation, realm.drive, operation, *arguments)

        def execute_pending_job(self) -> Any:
            return self._realm.timed("jobs", self._realm.context.execute_pending_job)

    class TimedInterface(quickjs.Interface):
        def run(self, holder: Any, code: bytes) -> Any:
            return holder._realm.timed("core", super().run, holder._realm.context, code)

        def define(self, holder: Any, target: Any, name: bytes, code: bytes) -> None:
            super().define(holder._realm.context, target, name, code)

    class Timed:
        def __getattr__(self, name: str) -> Any:
            return Context if name == "Context" else getattr(_quickjs, name)

    engine._quickjs = Timed()  # type: ignore[assignment]
    quickjs.Interface = TimedInterface  # type: ignore[misc]


def _run_command(path: str) -> None:
    """Runs the command in this process; the workers that it starts time themselves."""
    spawn = os.posix_spawn
    here = os.path.dirname(os.path.abspath(__file__))
    timed = f"sys.path.append({here!r}); import realm_timer; realm_timer.install({path!r}); {START}"

    def posix_spawn(program: str, argv: list[str], *rest: Any, **options: Any) -> int:
        argv = [part.replace(START, timed) for part in argv]
        return spawn(program, argv, *rest, **options)

    os.posix_spawn = posix_spawn  # type: ignore[assignment]
    from runner.commands.main import main

    main()


if __name__ == "__main__":
    file = sys.argv.pop(1)
    sys.path.pop(0)
    _run_command(file)
