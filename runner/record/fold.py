"""The fold: what the events of a run that is under way add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from bindings import AnsweredBy
from runner.record.events import (
    AttemptEnd,
    Event,
    RunEnd,
    RunError,
    RunStart,
    RunStatus,
    SuiteEnd,
    SuiteStart,
    TestEnd,
    TestStart,
    TurnStart,
)
from runner.record.keys import TestPlace
from runner.record.model import Suite, TestResult, key_of
from runner.record.verdict import DECIDED, Verdict
from runner.record.votes import Group, groups_of, score_in
from runner.statistics import PassCount
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.record.case_result import CaseResult
    from runner.record.stability import Attempt
    from runner.record.votes import Judging, NoiseSum
    from scripttest import Outcome


class Execution:
    """The state of a run, computed from its events."""

    def __init__(self, clean: Callable[[str], str] = str) -> None:
        """`clean` removes secrets from texts that reporters read besides the events."""
        self.clean = clean
        self.start: RunStart | None = None
        self.suites: dict[str, Suite] = {}
        self.counts = Counts()
        self.counts_by_suite: dict[str, Counts] = {}
        self._places: dict[str, tuple[int, str, str]] = {}
        """Of each suite its place, its name, and what follows the names of its tests."""
        self._attempted: set[TestPlace] = set()
        """Tests of which some run has ended: what that took is counted, and not once more when they end."""
        self.listed: dict[str, SuiteStart] = {}
        self.running: dict[TestPlace, str] = {}
        """Names of the tests under way, or of their runs."""
        self.turns: dict[TestPlace, int] = {}
        """The turn that each test under way is in, if it has turns."""
        self.ended: set[str] = set()
        """Suites that have ended."""
        self.cut = 0
        """Cases that were cut short, which also count as skipped."""
        self.errors: list[RunError] = []
        self.end: RunEnd | None = None
        self.root = ""
        """The folder from which reports name files."""

    def line(self, result: TestResult) -> Record:
        """The line of a result."""
        from runner.record.lines import line_of

        return line_of(result, self.suites[result.suite])

    def add(self, event: Event) -> None:
        """Processes one event."""
        if isinstance(event, TestEnd):
            result = event.result
            place, suite = result.place, result.suite
            attempted = bool(self._attempted) and place in self._attempted
            self._ended(result, place, is_counted=not attempted)
            if attempted:
                self._attempted.discard(place)
            order, named, suffix = self._places[suite]
            self.counts_by_suite[suite].add(result, named, result.name + suffix, order)
            self.cut += result.cut_short
        elif isinstance(event, TestStart):
            self.running[event.place] = event.name
        elif isinstance(event, TurnStart):
            self.turns[event.place] = event.turn
        elif isinstance(event, AttemptEnd):
            place = event.result.place
            self._ended(event.result, place, is_counted=True)
            self._attempted.add(place.of_test)
        elif isinstance(event, SuiteStart):
            self.listed[event.suite] = event
        elif isinstance(event, SuiteEnd):
            self.ended.add(event.suite)
        elif isinstance(event, RunStart):
            self.start = event
            self.suites = {suite.id: suite for suite in event.suites}
            self.counts_by_suite = {suite.id: Counts(self.counts) for suite in event.suites}
            self.counts.expect(suite.name for suite in event.suites)
            self._places = {one.id: (place, one.name, one.name_of("")) for place, one in enumerate(event.suites)}
            self.root = event.suites[0].root if event.suites else ""
        elif isinstance(event, RunError):
            self.errors.append(event)
        elif isinstance(event, RunEnd):
            self.end = event

    def _ended(self, result: TestResult, place: TestPlace, is_counted: bool) -> None:
        self.running.pop(place, None)
        if self.turns:
            self.turns.pop(place, None)
        if is_counted and result.case is not None:
            self.counts_by_suite[result.suite].take_case(result.case)


NAMED = 10
"""At most so many cases that check nothing, or tests that call `t.only`, are named."""
SUITE, TAG = "suite", "tag"


class Unchecked(Value):
    """A case that checks nothing."""

    suite: int
    """Position of its suite in the run."""
    position: int
    """Position in the suite."""
    name: str
    """Its id, with its variant."""

    def order(self) -> tuple[int, int, str]:
        """What cases are sorted by."""
        return self.suite, self.position, self.name


class GroupCounts:
    """The verdicts and scores of the cases of a group."""

    __slots__ = ("rates", "scores")

    def __init__(self) -> None:
        self.rates: Counter[PassCount] = Counter()
        """The runs of a case → how many cases have such runs."""
        self.scores: Counter[float] = Counter()
        """The mean score of a case → how many cases have it."""


class Counts:
    """Counts results by status, and adds up their times. Everything that is counted here is counted in `whole` too."""

    def __init__(self, whole: Counts | None = None) -> None:
        """`whole`: the counts that these are part of; None: there are none."""
        self.within: tuple[Counts, ...] = (self, *(whole.within if whole is not None else ()))
        """These counts, and those that they are part of."""
        self.passed = self.failed = self.skipped = 0
        self.errors = 0
        """Results without a verdict because something that the test needs broke; they are in none of the
        other counts."""
        self.warnings = 0
        """Warnings of results with any status."""
        self.missing_calls = 0
        """Calls that neither a mock nor this host answered."""
        self.milliseconds = 0
        """Sum over all runs, in whole milliseconds, as in reports."""
        self.not_judged = 0
        """Criteria that no judge could judge."""
        self.todo = 0
        """Tests that are skipped because they are marked as unfinished."""
        self.only: list[str] = []
        """Names of the first tests and subtests that called `t.only`, so that those beside them did not run."""
        self.checks_nothing = 0
        """Cases that passed and check nothing."""
        self.first_of_nothing: list[Unchecked] = []
        """The first of these cases."""
        self.rates: Counter[PassCount] = Counter()
        """The runs of a case → how many cases have such runs."""
        self.scores: Counter[float] = Counter()
        """The mean score of a case → how many cases have it."""
        self.noise: NoiseSum | None = None
        """The noise of judges, by their votes; None: no case was judged."""
        self.groups: dict[Group, GroupCounts] = {}
        """The counts of each suite, tag, criterion and checkpoint."""
        self.input_tokens = self.output_tokens = 0
        """Input tokens of all runs of cases that have ended."""
        self.cost: float | None = None
        """US dollars; None while no price is known."""
        self.repeated = self.not_needed = 0
        """Judged runs of cases with a policy, and runs that such cases did not need."""
        self.saved_cost: float | None = None
        """The approximate cost of those that were not needed, in US dollars."""

    @property
    def total(self) -> int:
        """The number of all results."""
        return self.passed + self.failed + self.skipped + self.errors

    @property
    def bad(self) -> int:
        """The number of results with which a run does not pass."""
        return self.failed + self.errors

    @property
    def tokens(self) -> int:
        """Tokens of all runs of cases that have ended."""
        return self.input_tokens + self.output_tokens

    @property
    def checks_nothing_first(self) -> list[str]:
        """Names of the first cases that check nothing, in the order of the suites and their cases."""
        return [case.name for case in self.first_of_nothing]

    def add(self, result: TestResult, suite: str, name: str, order: int) -> None:
        """Counts one result, but for the tokens of its models, which `take_case` adds; `suite` and `name` are how
        reports call its suite, which is at the place `order` of all, and itself."""
        outcome, case, attempts = result.outcome, result.case, result.attempts
        counted = result.verdict.counted
        missing = 0
        if result.outside:
            missing = sum([call.count for call in result.outside if call.answered is AnsweredBy.MISSING])
        milliseconds = sum(run.duration_ms for run in attempts) if attempts else round(outcome.milliseconds)
        only = [f"{suite} › {name}" for name in _only_in(outcome)] if outcome.only or outcome.steps else ()
        for counts in self.within:
            setattr(counts, counted, getattr(counts, counted) + 1)
            counts.warnings += len(outcome.warnings)
            counts.missing_calls += missing
            counts.not_judged += outcome.not_judged
            counts.todo += outcome.todo
            if only:
                counts.only = [*counts.only, *only][:NAMED]
            counts.milliseconds += milliseconds
            if case is not None and case.checks_nothing and result.verdict is Verdict.PASSED:
                counts.checks_nothing += 1
                empty = Unchecked(suite=order, position=result.position, name=name)
                counts.first_of_nothing = sorted([*counts.first_of_nothing, empty], key=Unchecked.order)[:NAMED]
        if case is None:
            return
        first = None
        if (repeat := result.repeat) is not None:
            self.count_repeat(repeat.judged, repeat.saved, case.cost)
            first = repeat.wave  # the runs that were made whatever came of them
        runs = attempts or (result.as_run,)
        judged = [run for run in runs if run.judged] or [result.as_run if attempts else runs[0]]
        tags = (Group(kind=TAG, name=tag) for tag in case.tags)
        self.count_case(_decided(judged)[:first], [Group(kind=SUITE, name=suite), *tags])
        decided = _decided(runs)[:first]
        if case.scores or case.checkpoints:
            self.count_criteria(case, decided)
        self.count_votes([run.judging for run in decided])

    def take_case(self, case: CaseResult | None) -> None:
        """Adds the tokens and the cost of a case."""
        if case is None:
            return
        for counts in self.within:
            counts.input_tokens += case.input_tokens
            counts.output_tokens += case.output_tokens
            if case.cost is not None:
                counts.cost = (counts.cost or 0) + case.cost

    def count_repeat(self, made: int, saved: int, cost: float | None) -> None:
        """Counts the judged runs of a case with a policy, those that were not needed, and what all made ones cost."""
        for counts in self.within:
            counts.repeated += made
            counts.not_needed += saved
            if cost is not None and made:
                counts.saved_cost = (counts.saved_cost or 0) + cost / made * saved

    def expect(self, suites: Iterable[str]) -> None:
        """Puts the groups of suites in this order, whichever has the first result."""
        self.groups = {Group(kind=SUITE, name=suite): GroupCounts() for suite in suites}

    def count_case(self, judged: Sequence[Attempt], groups: Sequence[Group] = ()) -> None:
        """Counts the verdict and the score of each judged run of a case, for the pass rate and the mean score of the
        whole and of the groups that the case belongs to."""
        if not judged:
            return
        rate = PassCount(passed=sum(run.verdict is Verdict.PASSED for run in judged), judged=len(judged))
        known = [score for run in judged if (score := score_in(run.score)) is not None]
        score = sum(known) / len(known) if known else None
        for counts in self.within:
            counts.rates[rate] += 1
            if score is not None:
                counts.scores[score] += 1
        for group in dict.fromkeys(groups):
            self.count_group(group, rate, score)

    def count_criteria(self, case: CaseResult, judged: Sequence[Attempt]) -> None:
        """Counts the criteria and the checkpoints of a case, by its judged runs."""
        for group in groups_of(case):
            values = [run.criteria[group.name] for run in judged if run.criteria and group.name in run.criteria]
            if not values:
                continue
            if all(value in (0, 1) for value in values):
                self.count_group(group, PassCount(passed=round(sum(values)), judged=len(values)), None)
            else:
                self.count_group(group, None, sum(values) / len(values))

    def count_votes(self, runs: Sequence[Judging | None]) -> None:
        """Counts the votes of judges on the judged runs of a case."""
        from runner.record.votes import NoiseSum

        for counts in self.within:
            counts.noise = counts.noise or NoiseSum()
            counts.noise.add(runs)

    def count_group(self, group: Group, rate: PassCount | None, score: float | None) -> None:
        """Counts a case of a group, by its runs that passed, its mean score, or both."""
        for counts in self.within:
            figures = counts.groups.setdefault(group, GroupCounts())
            if rate is not None:
                figures.rates[rate] += 1
            if score is not None:
                figures.scores[score] += 1


def counted(results: Iterable[TestResult], suites: Iterable[Suite] = ()) -> Counts:
    """The counts of the results of a report, in their order; groups of `suites` in that of these."""
    counts = Counts()
    counts.expect(suite.id for suite in suites)
    for order, result in enumerate(results):
        counts.add(result, result.suite, key_of(result).name, order)
        counts.take_case(result.case)
    return counts


def _only_in(outcome: Outcome) -> Iterator[str]:
    """Names of the test and those of its subtests that called `t.only`."""
    if outcome.only:
        yield outcome.name
    for step in outcome.steps:
        yield from _only_in(step)


def _decided(runs: Sequence[Attempt]) -> list[Attempt]:
    return [run for run in runs if run.verdict in DECIDED]


def status_of(counts: Counts, has_errors: bool, may_break: bool = False) -> RunStatus:
    """The status of a run that came to its end; `has_errors`: something broke outside of its tests. With `may_break` so
    many tests may be broken as are."""
    bad = counts.failed if may_break else counts.bad
    return RunStatus.ERROR if has_errors else RunStatus.FAILED if bad else RunStatus.PASSED
