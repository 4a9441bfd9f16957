"""Runs of a test become one result: attempts are collected as they end, the next ones begin, also those of all variants
of a case and of another round with `--until-decided`, and the result is sent after the last one. And what broke runs
again, with `--retry-errors N`.

If a pass is left, a test that breaks gets no result yet, and cases that depend on it wait. When nothing else is left,
the run waits, and the broken tests run again, fewer at a time, because the usual cause is a host that is down or
overloaded. What breaks in the last pass is broken.

| pass | waits before it | at a time |
| --- | --- | --- |
| 1 | | `--parallel` |
| 2 | 10 s | a quarter of it, at least 1 |
| 3 | 30 s | the same |
| 4 | 90 s | the same |
| 5 and later | 5 minutes | the same |"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count, zip_longest

from runner.amounts import in_words
from runner.record.events import AttemptEnd, Event, TestEnd, Warned
from runner.record.model import Suite, TestPlace, TestResult
from runner.record.outcomes import Verdict
from scripttest import ResultWarning, Status
from scripttest.typing_names import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.execution.stopping import Stop
    from runner.options.options import RunOptions
    from runner.planning.plan import CaseSource


FIRST_PAUSE = 10.0
"""Seconds."""
GROWTH = 3
LONGEST_PAUSE = 300.0
SHARE = 4
"""Later passes run at a time the number of tests of the first pass, divided by this."""
LOOK = 0.1
"""Seconds between checks whether the run has to stop."""


class Repetition:
    """Sends the ends of attempts and of tests; for a test that runs once, only the end of the test."""

    rounds: Rounds | None = None
    """`--until-decided`; None: each case makes all its runs at once."""

    def __init__(
        self,
        send: Callable[[Event], None],
        options: RunOptions,
        checked: Callable[[TestResult], TestResult] = lambda result: result,
    ) -> None:
        """`checked` gives the result of an attempt as it is to count."""
        self.send = send
        self._options = options
        self._checked = checked
        self._failed: set[TestPlace] = set()
        """Tests that have failed, or can no longer pass."""
        self._open: dict[TestPlace, Tally] = {}

    @property
    def has_failed_enough(self) -> bool:
        """Whether so many tests have failed or broken, or can no longer pass, that no further one shall begin."""
        limit = self._options.failure_limit
        return limit is not None and len(self._failed) >= limit

    def end(self, result: TestResult) -> TestResult | None:
        """Sends the end of an attempt, or of a test without attempts (`result.run` is 0). Returns the result of the
        test if it is complete with that, else None."""
        result = self._checked(result)
        if self._options.strict:
            from runner.record.model import strict

            result = strict(result)
        if not result.run:
            return self._ended(result)
        result = self._decided(result)
        test = result.place.of_test
        tally = self.tally(test, result.policy)
        result = result.replace(policy=tally.policy)
        self.send(AttemptEnd(result=result))
        tally.add(result)
        if tally.has_failed(self._options.min_pass_rate):
            self._failed.add(test)
        return self._together(test) if tally.is_over else None

    def tally(self, test: TestPlace, policy: Any = None, numbers: Sequence[int] = ()) -> Tally:
        """The runs of a test. When they are asked for first: those with the given `numbers`, or as many as a `policy`
        needs, or as many as every test makes."""
        if test not in self._open:
            all_runs = range(1, self._options.runs + 1)
            self._open[test] = Tally(numbers or (() if policy is not None else all_runs), policy)
        return self._open[test]

    def runs_of(self, test: TestPlace) -> dict[int, Status]:
        """How those runs of a test ended that have, while others have not."""
        tally = self._open.get(test)
        return {result.run: result.status for result in tally.results} if tally is not None else {}

    def open_results(self) -> list[TestResult]:
        """The runs that have ended of tests that may make more runs."""
        return [result for tally in self._open.values() for result in tally.results]

    def cut(self, suite: str) -> None:
        """Ends the tests of a suite whose runs have not all ended, with the results that they have."""
        for test in [test for test, tally in self._open.items() if test.suite == suite and tally.results]:
            self._together(test)

    def _together(self, test: TestPlace) -> TestResult:
        from runner.record.combining import of_runs

        results = sorted(self._open.pop(test).results, key=lambda result: result.run)
        return self._ended(of_runs(results, self._options.min_pass_rate))

    def _decided(self, result: TestResult) -> TestResult:
        if self._options.on_inconclusive is None:
            return result
        from runner.record.combining import apply_inconclusive_policy

        return apply_inconclusive_policy(result, self._options.on_inconclusive)

    def _ended(self, result: TestResult) -> TestResult:
        result = self._decided(result)
        if result.outcome.status == Status.FAILED:
            self._failed.add(result.place.of_test)
        self.send(TestEnd(result=result))
        return result


class RetryPasses:
    """The passes over tests, and the results that are held back for the next pass."""

    def __init__(self, more: int, send: Callable[[Event], None], stop: Stop) -> None:
        """`more` is the number of passes that may follow the first."""
        self.number = 1
        self._last = more + 1
        self._send = send
        self._stop = stop
        self.held: dict[TestPlace, tuple[TestResult, Any]] = {}
        """Tests, or runs of them, that broke → the result that they have in the end, if they do not run again, and what
        their scheduler runs again."""
        self._errors: dict[TestPlace, tuple[str, ...]] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether tests wait to run again."""
        return bool(self.held)

    def holds(self, result: TestResult, again: Any = None) -> bool:
        """Holds back a result if its test will run again, and says whether it does; `again` is what runs then."""
        if self.number == self._last or self._stop.reason is not None or result.verdict is not Verdict.BROKEN:
            return False
        self.held[result.place] = result, again
        return True

    def is_again(self, place: TestPlace) -> bool:
        """Whether a test has broken in an earlier pass."""
        return bool(self._errors) and place in self._errors

    def with_earlier_errors(self, result: TestResult) -> TestResult:
        """A result, completed with the errors of its test in earlier passes."""
        errors = self._errors.get(result.place) if self._errors else None
        if not errors:
            return result
        said = "; ".join(f"pass {number} ended with an error: {error}" for number, error in enumerate(errors, 1))
        warning = ResultWarning(kind="retried", message=f"This result is from pass {len(errors) + 1}; {said}")
        outcome = result.outcome
        return result.replace(earlier_errors=errors, outcome=outcome.replace(warnings=(*outcome.warnings, warning)))

    def take(self) -> list[TestResult]:
        """The results that are held back, for tests that do not run again."""
        held, self.held = self.held, {}
        return [self.with_earlier_errors(result) for result, _ in held.values()]

    def begin(self) -> list[tuple[TestResult, Any]]:
        """Begins the next pass: what was held back, see `holds`."""
        self.number += 1
        held, self.held = self.held, {}
        for place, (result, _) in held.items():
            error = result.outcome.failures[0].message.partition("\n")[0]
            self._errors[place] = (*self._errors.get(place, ()), error)
        return list(held.values())

    def pauses(self) -> Iterable[float]:
        """Announces a further pass, and yields the waits in seconds until it may begin or the run has to stop."""
        pause = min(FIRST_PAUSE * GROWTH ** (self.number - 1), LONGEST_PAUSE)
        count = len(self.held)
        which = "1 test with an error runs" if count == 1 else f"{count} tests with errors run"
        self._send(Warned(message=f"Pass {self.number + 1} of {self._last}, after {in_words(pause)}: {which} again"))
        end = time.monotonic() + pause
        while (left := end - time.monotonic()) > 0 and self.continues:
            yield min(LOOK, left)

    def wait(self) -> bool:
        """Waits until the next pass may begin; False: there is none. Blocks."""
        if self.continues:
            for pause in self.pauses():
                time.sleep(pause)
        return self.continues

    @property
    def continues(self) -> bool:
        """Whether there is another pass."""
        return self.is_waiting and self._stop.reason is None

    def at_a_time(self, parallel: int) -> int:
        """How many tests run at the same time in this pass."""
        return parallel if self.number == 1 else max(1, parallel // SHARE)


T = TypeVar("T")


class Tally:
    """Counts the runs of one test: a fixed number, or as many as a policy needs."""

    def __init__(self, numbers: Sequence[int], policy: Any) -> None:
        """`numbers` are those of the runs to make; empty: as many runs as the policy needs. `policy` is as its file has
        it; None: the test has none."""
        self.policy = policy
        self.results: list[TestResult] = []
        self._failed = 0
        self._has_broken = False
        self._numbers = numbers
        self._begun: set[int] = set()
        self._ended: set[int] = set()
        """The runs that have results, also those of an earlier run."""

    def add(self, result: TestResult) -> None:
        """Adds a run that has ended."""
        self.results.append(result)
        self._ended.add(result.run)
        self._failed += result.outcome.status == Status.FAILED
        self._has_broken |= result.verdict is Verdict.BROKEN

    def due(self, known: Collection[int] = (), round: int | None = None) -> list[int]:
        """Returns the numbers of the runs that begin now, and marks them as begun; `known` runs already have results.
        `round`: with `--until-decided`, only those of this round and, in a resumed run, of earlier ones begin."""
        if round is None and not self._begun <= self._ended:
            return []
        numbers = self._numbers
        if not numbers:
            from runner.record.stability import needs_more

            numbers = needs_more(self.policy, {result.run: result.verdict for result in self.results})
        gone = {*self._begun, *self._ended, *known}
        due = [number for number in numbers if number not in gone]
        if round is not None:
            due = [number for number in due if number <= round]
        self._begun.update(due)
        return due

    @property
    def is_over(self) -> bool:
        """Whether all runs that are needed have ended."""
        if self._numbers:
            return len(self.results) == len(self._numbers)
        return self._begun <= self._ended and self._verdict is not None

    def has_failed(self, least: float) -> bool:
        """Whether the test has failed or broken, or can no longer pass; `least` is the pass rate in percent that it
        needs."""
        if self.policy is not None:
            return self._verdict in (Verdict.FAILED, Verdict.BROKEN)
        from runner.record.stability import pass_rate

        runs = len(self._numbers)
        return self._has_broken or pass_rate(runs - self._failed, runs) < least

    @property
    def _verdict(self) -> Verdict | None:
        from runner.record.stability import repeat_of

        ordered = sorted(self.results, key=lambda result: result.run)
        return repeat_of(self.policy, [result.verdict for result in ordered]).verdict


class Rounds:
    """`--until-decided`: runs each case once in each variant, in rounds, until the variants differ clearly."""

    def __init__(
        self, planned: int, sources: Sequence[CaseSource], results: Callable[[], Iterable[TestResult]]
    ) -> None:
        """`results` returns the results of all runs that have ended."""
        self.planned = planned
        self.made = 0
        self._sources = sources
        self._suites = {source.suite.id: source.suite for source in sources}
        self._results = results

    def begin(self) -> None:
        """Begins the first round, or the one that a resumed run had reached; if that is complete, the next one, where
        the variants do not differ clearly."""
        ended = [_ended(source.done.get(located.case.id, {})) for source in self._sources for located in source.cases()]
        known = [rounds for rounds in ended if rounds is not None] or [0]
        self.made = min(self.planned, max(1, *known))
        if min(known) >= self.made:
            self.goes_on()

    def goes_on(self) -> bool:
        """Decides whether another round is needed, and counts it."""
        if self.made >= self.planned or self._is_decided():
            return False
        self.made += 1
        return True

    def _is_decided(self) -> bool:
        from runner.compare.change_report import ChangeVerdict, cases_of
        from runner.compare.variants import verdicts_between
        from runner.errors import ConfigurationError
        from runner.record.events import InterimLooks

        suites: dict[str, dict[str, Suite]] = {}
        for suite in self._suites.values():
            suites.setdefault(suite.variant, {})[suite.label] = suite
        made: dict[str, list[TestResult]] = {variant: [] for variant in suites}
        for result in self._results():
            suite = self._suites[result.suite]
            made[suite.variant].append(result.replace(suite=suite.label, variant=""))
        cases = {variant: cases_of(results, suites[variant]) for variant, results in made.items()}
        try:
            verdicts = verdicts_between(cases, InterimLooks(made=self.made, planned=self.planned))
        except ConfigurationError:  # nothing has a verdict yet
            return False
        return all(found.verdict is not ChangeVerdict.CANNOT_TELL for found in verdicts)


def _ended(done: Mapping[int, Status]) -> int | None:
    """In how many rounds a case has a result; None: it has no runs, because it is skipped."""
    return None if 0 in done else next(number for number in count() if number + 1 not in done)


def interleave(lists: Sequence[Sequence[T]], seed: str) -> list[T]:
    """The first item of each list, then the second of each, and so on; each round is in a random order, which depends
    on the seed. So a slow hour of a model host affects all variants."""
    if len(lists) == 1:
        return list(lists[0])
    from random import Random

    draw = Random(seed)
    found: list[T] = []
    for taken in zip_longest(*lists):
        present = [item for item in taken if item is not None]
        draw.shuffle(present)
        found += present
    return found
