"""The process of a search: Hypothesis makes inputs, and gets their results. The first line that it reads is the plan.
Then it writes inputs and reads their results, again and again, each as a line of JSON.

Many inputs run at a time: Hypothesis is told that each has passed before it has run. If one fails, Hypothesis makes the
same inputs again, up to the failed one, which need not run again; then it makes that input smaller."""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import NoSuchExample, Unsatisfiable

from runner.errors import RunnerError
from runner.test_kinds.search import MOST_BROKEN, Literals, Progress, name_of
from runner.test_kinds.strategies import Shapes, Strategy

SHRINKING = 20.0
"""Seconds that a search takes beyond its time to make what it found smaller."""
MOST_AT_ONCE = 100
"""Inputs that are run at a time."""
AT_ONCE = 0.1
"""Seconds that these should take."""
_NEVER = 10**9


def main() -> None:
    """Searches, as standard input says. Removes its folder, which nobody else does if the command was killed."""
    plan = json.loads(sys.stdin.readline())
    set_hypothesis_home_dir(plan["home"])
    try:
        _Searching(plan).run()
    finally:
        shutil.rmtree(plan["home"], ignore_errors=True)


class _Searching:
    def __init__(self, plan: dict[str, Any]) -> None:
        self._plan = plan
        self._progress = Progress()
        self._began = self._until = 0.0
        self._waiting: list[list[Any]] = []
        """Inputs that were made and have not run."""
        self._at_once = 1
        self._alone = 0
        """How many of the next inputs run by themselves, since the realm of these has ended in one of them."""
        self._again = 0
        """Which of the inputs failed, counted from 1."""

    def run(self) -> None:
        """Until there is nothing more to try, or the time is up."""
        try:
            self._look()
        except _EndError:
            pass
        except RunnerError as error:
            self._progress.problem = error.message
        except Exception as error:  # of the library: what was found until then counts
            self._progress.problem = "" if self._progress.found is not None else f"{type(error).__name__}: {error}"
        self._write(over=True)

    def _look(self) -> None:
        strategy = self._strategy()  # which loads what it needs
        self._began = time.monotonic()
        self._until = self._began + self._plan["seconds"]
        try:
            self._find(strategy, self._passes)
            self._try_waiting()
        except _FoundError:
            count = 0

            def fails(args: list[Any]) -> bool:
                nonlocal count
                count += 1
                if count < self._again:
                    return False
                return args == self._progress.found if count == self._again else self._is_smaller(args)

            self._find(strategy, fails)
        finally:
            self._progress.seconds = self._progress.seconds or time.monotonic() - self._began

    def _find(self, strategy: Strategy, fails: Any) -> None:
        chosen = settings(
            max_examples=_NEVER,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        try:
            find(strategy, fails, settings=chosen, random=random.Random(self._plan["seed"]))
        except NoSuchExample:
            return  # there are no more inputs
        except Unsatisfiable:
            self._progress.problem = "no value could be generated that matches the schema"

    def _strategy(self) -> Strategy:
        plan = self._plan
        shapes = Shapes(Literals(**plan["literals"]))
        if not plan["schemas"]:
            return shapes.arguments(plan["examples"])
        from runner.test_kinds.strategies import by_schemas

        return by_schemas(plan["schemas"], shapes)

    def _passes(self, args: list[Any]) -> bool:
        """Takes an input for one that passes, until enough of them are there to be run."""
        self._waiting.append(args)
        is_late = time.monotonic() >= self._until
        if is_late or len(self._waiting) >= self._at_once:
            self._try_waiting()
        if is_late:
            raise _EndError
        return False

    def _try_waiting(self) -> None:
        """Runs inputs that wait. Raises _FoundError when one of them fails."""
        waiting, self._waiting = self._waiting, []
        while waiting:
            began = time.monotonic()
            given = waiting[: 1 if self._alone else self._at_once]
            result = self._ask(given, fresh=self._alone > 0)
            seconds = time.monotonic() - began
            if result is not None and result.get("at") is None and not self._alone:
                self._alone = len(given)
                continue
            ran = len(given) if result is None else result.get("at", 0) + 1
            self._progress.tried += ran
            if result is not None and self._is_find(waiting[ran - 1], result):
                self._again = self._progress.tried
                raise _FoundError
            del waiting[:ran]
            self._alone = max(self._alone - ran, 0)
            if seconds < AT_ONCE:
                self._at_once = min(2 * self._at_once, MOST_AT_ONCE)
            else:
                self._at_once = max(self._at_once // 2, 1)

    def _is_find(self, args: list[Any], result: dict[str, Any]) -> bool:
        """Whether an input that has failed after others fails by itself."""
        if result["kind"] == "infrastructure":
            self._progress.broken += 1
            self._progress.broke = result["message"]
            if self._progress.broken == MOST_BROKEN:
                raise _EndError
            return False
        if not self._alone and not self._fails_alone(args):
            self._progress.unsteady += 1
            return False
        self._progress.found = args
        now = time.monotonic()
        self._progress.seconds, self._until = now - self._began, now + SHRINKING
        return True

    def _is_smaller(self, args: list[Any]) -> bool:
        """Whether an input to which the found one was made smaller fails too."""
        if time.monotonic() >= self._until:
            raise _EndError
        fails = self._fails_alone(args)
        if fails and _size(args) < _size(self._progress.found):
            self._progress.found = args
        return fails

    def _fails_alone(self, args: list[Any]) -> bool:
        result = self._ask([args], fresh=True)
        return result is not None and result["kind"] != "infrastructure"

    def _ask(self, inputs: list[list[Any]], fresh: bool) -> dict[str, Any] | None:
        """The result of inputs; see `InputsResult` in `search`."""
        self._write(inputs=[{"name": name_of(args), "args": json.dumps(args)} for args in inputs], fresh=fresh)
        line = sys.stdin.readline()
        if not line:
            raise _EndError
        result: dict[str, Any] | None = json.loads(line)
        return result

    def _write(self, over: bool = False, **request: Any) -> None:
        sys.stdout.write(json.dumps({"over": over, "progress": vars(self._progress), **request}) + "\n")
        sys.stdout.flush()


class _FoundError(BaseException):
    """An input fails; no library takes it for a failure."""


class _EndError(BaseException):
    """The time is up."""


def _size(args: Any) -> tuple[int, str]:
    text = json.dumps(args)
    return len(text), text
