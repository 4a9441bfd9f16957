"""Which runs begin next: of one test, of all variants of a case, and of another round with `--until-decided`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count, zip_longest

from runner.record.model import Suite, TestResult
from runner.record.stability import pass_rate
from runner.record.verdict import Verdict
from scripttest import Status
from scripttest.typing_names import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.planning.case_source import CaseSource

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
        `round`: with `--until-decided`, only the next run begins, if it belongs to this round or an earlier one."""
        if round is None and not self._begun <= self._ended:
            return []
        numbers = self._numbers
        if not numbers:
            from runner.record.repeating import needs_more

            numbers = needs_more(self.policy, {result.run: result.verdict for result in self.results})
        gone = {*self._begun, *self._ended, *known}
        due = [number for number in numbers if number not in gone]
        if round is not None:
            due = [number for number in due if number <= round][:1]
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
        runs = len(self._numbers)
        return self._has_broken or pass_rate(runs - self._failed, runs) < least

    @property
    def _verdict(self) -> Verdict | None:
        from runner.record.repeating import repeat_of

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
        """Begins the first round, or the one that a resumed run had reached, if the variants do not differ clearly."""
        ended = [_ended(source.done.get(located.case.id, {})) for source in self._sources for located in source.cases()]
        known = [rounds for rounds in ended if rounds is not None]
        self.made = min([self.planned, *known])
        if not self.made or max(known) > self.made:  # there was a look after these rounds, which did not decide
            self.made = min(self.made + 1, self.planned)
        else:
            self.goes_on()

    def goes_on(self) -> bool:
        """Decides whether another round is needed, and counts it."""
        if self.made >= self.planned or self._is_decided():
            return False
        self.made += 1
        return True

    def _is_decided(self) -> bool:
        from runner.compare.change_report import ChangeVerdict
        from runner.compare.judged_cases import cases_of
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
