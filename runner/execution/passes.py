"""Runs again what broke: `--retry-errors N`.

If a pass is left, a test that breaks gets no result yet, and cases that depend on it wait. When nothing else is left,
the run waits, and the broken tests run again, fewer at a time, because the usual cause is a host that is down or
overloaded. What breaks in the last pass is broken.

| pass | waits before it | at a time |
| --- | --- | --- |
| 1 | | `--parallel` |
| 2 | 10 s | a quarter of it, at least 1 |
| 3 | 30 s | the same |
| 4 | 90 s | the same |
| 5 and later | 5 minutes | the same |
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from runner.durations import in_words
from runner.results.events import Event, Warned
from runner.results.model import TestResult
from runner.results.test_place import TestPlace
from runner.results.verdict import Verdict, verdict_on
from scripttest import ResultWarning
from scripttest.typing_names import Generic, TypeVar
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.execution.stopping import Stop

T = TypeVar("T")
FIRST_PAUSE = 10.0
"""Seconds."""
GROWTH = 3
LONGEST_PAUSE = 300.0
SHARE = 4
"""Later passes run at a time the number of tests of the first pass, divided by this."""
LOOK = 0.1
"""Seconds between checks whether the run has to stop."""


class Held(Value, Generic[T]):
    """A test, or a run of one, that broke and waits for the next pass."""

    item: T
    """What is needed to run it again."""
    result: TestResult
    """The result that it has in the end, if it does not run again."""


class Passes(Generic[T]):
    """The passes over the tests of one kind, and the results that are held back for the next pass; `T` is what is
    needed to run a test again."""

    def __init__(self, more: int, send: Callable[[Event], None], stop: Stop | None) -> None:
        """`more` is the number of passes that may follow the first."""
        self.number = 1
        """Number of the current pass."""
        self._last = more + 1
        self._send = send
        self._stop = stop
        self._held: dict[TestPlace, Held[T]] = {}
        self._errors: dict[TestPlace, tuple[str, ...]] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether tests wait to run again."""
        return bool(self._held)

    def holds(self, result: TestResult) -> bool:
        """Whether to hold back a result because its test will run again."""
        return self.number < self._last and not self._stops() and verdict_on(result) is Verdict.BROKEN

    def hold(self, item: T, result: TestResult) -> None:
        """Holds back a result."""
        self._held[result.place] = Held(item=item, result=result)

    def is_again(self, place: TestPlace) -> bool:
        """Whether a test has broken in an earlier pass."""
        return bool(self._errors) and place in self._errors

    def told(self, result: TestResult) -> TestResult:
        """A result, completed with the errors of its test in earlier passes."""
        errors = self._errors.get(result.place) if self._errors else None
        if not errors:
            return result
        said = "; ".join(f"pass {number} broke: {error}" for number, error in enumerate(errors, 1))
        warning = ResultWarning(kind="retried", message=f"This is the result of pass {len(errors) + 1}; {said}")
        outcome = result.outcome
        return result.replace(earlier_errors=errors, outcome=outcome.replace(warnings=(*outcome.warnings, warning)))

    def take(self) -> list[Held[T]]:
        """Removes and returns everything that is held back."""
        held, self._held = list(self._held.values()), {}
        return held

    def begin(self) -> list[Held[T]]:
        """Begins the next pass, and returns what runs in it."""
        self.number += 1
        held = self.take()
        for result in (one.result for one in held):
            self._errors[result.place] = (*self._errors.get(result.place, ()), _error_of(result))
        return held

    def pauses(self) -> Iterable[float]:
        """Announces a further pass, and yields the waits in seconds until it may begin; it ends early when the run has
        to stop."""
        pause = min(FIRST_PAUSE * GROWTH ** (self.number - 1), LONGEST_PAUSE)
        count = len(self._held)
        which = "1 test that broke runs" if count == 1 else f"{count} tests that broke run"
        self._send(Warned(message=f"Pass {self.number + 1} of {self._last}, after {in_words(pause)}: {which} again"))
        end = time.monotonic() + pause
        while (left := end - time.monotonic()) > 0 and not self._stops():
            yield min(LOOK, left)

    def goes_on(self) -> bool:
        """Whether there is another pass."""
        return self.is_waiting and not self._stops()

    def _stops(self) -> bool:
        return self._stop is not None and self._stop.reason is not None


def at_a_time(parallel: int, number: int) -> int:
    """How many tests run at the same time in a pass."""
    return parallel if number == 1 else max(1, parallel // SHARE)


def _error_of(result: TestResult) -> str:
    return result.outcome.failures[0].message.partition("\n")[0]
