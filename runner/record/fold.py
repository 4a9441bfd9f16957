"""The fold: what the events of a run that is under way add up to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from bindings import AnsweredBy
from runner.record import events
from runner.record.events import Event, RunEnd, RunError, RunStart, RunStatus, SuiteStart
from runner.record.model import Suite, TestResult, key_of
from runner.record.outcomes import DECIDED, Verdict
from runner.record.votes import SUITE, TAG, Group, NoiseSum, groups_of, score_in
from runner.statistics import PassCount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.record.case_result import CaseResult
    from runner.record.stability import Attempt
    from scripttest import Outcome

    Figures = tuple[Group, PassCount | None, float | None]
    Place = tuple[str, int, int]
    """The fields of a `TestPlace`, which takes longer to make and to find than all that is done here with it."""


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
        self._attempted: set[Place] = set()
        """Tests of which some run has ended: what that took is counted, and not once more when they end."""
        self.listed: dict[str, SuiteStart] = {}
        self.running: dict[Place, str] = {}
        """Names of the tests under way, or of their runs."""
        self.turns: dict[Place, int] = {}
        """The turn that each test under way is in, if it has turns."""
        self.ended: set[str] = set()
        self.cut = 0
        """Cases that were cut short, which also count as skipped."""
        self.errors: list[RunError] = []
        self.end: RunEnd | None = None
        self.root = ""
        """The folder from which reports name files."""

    def add(self, event: Event) -> None:
        """Processes one event."""
        if isinstance(event, events.TestEnd):
            result = event.result
            place, into = _place(result), (self.counts, self.counts_by_suite[result.suite])
            attempted = bool(self._attempted) and place in self._attempted
            self._ended(result, place, is_counted=not attempted)
            if attempted:
                self._attempted.discard(place)
            order, suite, suffix = self._places[result.suite]
            count_result(result, suite, result.name + suffix, order, *into)
            self.cut += result.cut_short
        elif isinstance(event, events.TestStart):
            self.running[_place(event)] = event.name
        elif isinstance(event, events.TurnStart):
            self.turns[_place(event)] = event.turn
        elif isinstance(event, events.AttemptEnd):
            suite, position, _ = place = _place(event.result)
            self._ended(event.result, place, is_counted=True)
            self._attempted.add((suite, position, 0))
        elif isinstance(event, SuiteStart):
            self.listed[event.suite] = event
        elif isinstance(event, events.SuiteEnd):
            self.ended.add(event.suite)
        elif isinstance(event, RunStart):
            self.start = event
            self.suites = {suite.id: suite for suite in event.suites}
            self.counts = Counts(suite.name for suite in event.suites)
            self.counts_by_suite = {suite.id: Counts() for suite in event.suites}
            self._places = {one.id: (place, one.name, one.name_of("")) for place, one in enumerate(event.suites)}
            self.root = event.suites[0].root if event.suites else ""
        elif isinstance(event, RunError):
            self.errors.append(event)
        elif isinstance(event, RunEnd):
            self.end = event

    def _ended(self, result: TestResult, place: Place, is_counted: bool) -> None:
        self.running.pop(place, None)
        if self.turns:
            self.turns.pop(place, None)
        if is_counted and result.case is not None:
            add_usage(result.case, self.counts, self.counts_by_suite[result.suite])


def _place(of: TestResult | events.TestStart | events.TurnStart) -> Place:
    return of.suite, of.position, of.run


NAMED = 10
"""At most so many cases that check nothing, or tests that call `t.only`, are named."""


class GroupCounts:
    """The verdicts and scores of the cases of a group."""

    def __init__(self) -> None:
        self.rates: Counter[PassCount] = Counter()
        """The runs of a case → how many cases have such runs."""
        self.scores: Counter[float] = Counter()
        """The mean score of a case → how many cases have it."""

    def take(self, rate: PassCount | None, score: float | None) -> None:
        """Counts a case by its runs that passed, its mean score, or both."""
        if rate is not None:
            self.rates[rate] += 1
        if score is not None:
            self.scores[score] += 1


class Counts(GroupCounts):
    """Counts results by status, and adds up their times."""

    def __init__(self, suites: Iterable[str] = ()) -> None:
        """The groups of `suites` are in this order, whichever has the first result."""
        super().__init__()
        self.passed = self.failed = self.skipped = 0
        self.errors = 0
        """Results without a verdict, which are in none of the other counts."""
        self.warnings = 0
        self.missing_calls = 0
        """Calls that neither a mock nor this host answered."""
        self.milliseconds = 0
        """Sum over all runs, in whole milliseconds, as in reports."""
        self.not_judged = 0
        self.todo = 0
        """Tests that are skipped because they are marked as unfinished."""
        self.only: list[str] = []
        """Names of the first tests and subtests that called `t.only`, so that those beside them did not run."""
        self.checks_nothing = 0
        self.first_of_nothing: list[tuple[int, int, str]] = []
        """The first of these: the place of the suite, the position in it, and the name."""
        self.noise: NoiseSum | None = None
        """The noise of judges, by their votes; None: no case was judged."""
        self.groups = defaultdict(GroupCounts, {Group(kind=SUITE, name=suite): GroupCounts() for suite in suites})
        self.input_tokens = self.output_tokens = 0
        """Tokens of all runs of cases that have ended."""
        self.cost: float | None = None
        """US dollars; None while no price is known."""
        self.repeated = self.not_needed = 0
        """Judged runs of cases with a policy, and runs that such cases did not need."""
        self.saved_cost: float | None = None
        """About what those that were not needed would have cost, in US dollars."""

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
        return [name for _, _, name in self.first_of_nothing]


def count_result(result: TestResult, suite: str, name: str, order: int, *into: Counts) -> None:
    """Counts a result, but for the tokens of its models, which `add_usage` adds; `suite` and `name` are how reports
    call its suite, which is at the place `order` of all, and itself."""
    outcome, case, attempts, verdict = result.outcome, result.case, result.attempts, result.verdict
    counted = verdict.counted
    missing = 0
    if result.outside:
        missing = sum([call.count for call in result.outside if call.answered is AnsweredBy.MISSING])
    milliseconds = sum(run.duration_ms for run in attempts) if attempts else round(outcome.milliseconds)
    only = [f"{suite} › {name}" for name in _only_in(outcome)] if outcome.only or outcome.steps else ()
    is_empty = case is not None and case.checks_nothing and verdict is Verdict.PASSED
    for counts in into:
        setattr(counts, counted, getattr(counts, counted) + 1)
        counts.warnings += len(outcome.warnings)
        counts.missing_calls += missing
        counts.not_judged += outcome.not_judged
        counts.todo += outcome.todo
        if only:
            counts.only = [*counts.only, *only][:NAMED]
        counts.milliseconds += milliseconds
        if is_empty:
            counts.checks_nothing += 1
            counts.first_of_nothing = sorted([*counts.first_of_nothing, (order, result.position, name)])[:NAMED]
    if case is not None:
        _count_case(result, case, suite, into)


def _count_case(result: TestResult, case: CaseResult, suite: str, into: Iterable[Counts]) -> None:
    from runner.record.votes import NoiseSum

    repeat, runs = result.repeat, result.runs
    first = repeat.wave if repeat is not None else None  # the runs that were made whatever came of them
    judged = [run for run in runs if run.judged] or [result.as_run if result.attempts else runs[0]]
    whole = _figures_of(_decided(judged)[:first])
    decided = _decided(runs)[:first]
    figures = list(_criteria(case, decided)) if case.scores or case.checkpoints else []
    if whole is not None:
        groups = [_group(SUITE, suite), *(_group(TAG, tag) for tag in dict.fromkeys(case.tags))]
        figures = [*((group, *whole) for group in groups), *figures]
    votes = [run.judging for run in decided]
    for counts in into:
        if whole is not None:
            counts.take(*whole)
        for group, rate, score in figures:
            counts.groups[group].take(rate, score)
        if repeat is not None:
            counts.repeated += repeat.judged
            counts.not_needed += repeat.saved
            if case.cost is not None and repeat.judged:
                counts.saved_cost = (counts.saved_cost or 0) + case.cost / repeat.judged * repeat.saved
        counts.noise = counts.noise or NoiseSum()
        counts.noise.add(votes)


@cache
def _rate_of(passed: int, judged: int) -> PassCount:
    """The same one at each call, which tables find at once."""
    return PassCount(passed=passed, judged=judged)


@cache
def _group(kind: str, name: str) -> Group:
    return Group(kind=kind, name=name)


def _figures_of(judged: list[Attempt]) -> tuple[PassCount, float | None] | None:
    """The runs of a case that passed, and its mean score; None: none was judged."""
    scores = [score for run in judged if (score := score_in(run.score)) is not None]
    rate = _rate_of(sum([run.passed for run in judged]), len(judged))
    return (rate, sum(scores) / len(scores) if scores else None) if judged else None


def _criteria(case: CaseResult, judged: list[Attempt]) -> Iterator[Figures]:
    for group in groups_of(case):
        values = [run.criteria[group.name] for run in judged if run.criteria and group.name in run.criteria]
        if values and all(value in (0, 1) for value in values):
            yield group, PassCount(passed=round(sum(values)), judged=len(values)), None
        elif values:
            yield group, None, sum(values) / len(values)


def add_usage(case: CaseResult | None, *into: Counts) -> None:
    """Adds the tokens and the cost of a case."""
    if case is None:
        return
    for counts in into:
        counts.input_tokens += case.input_tokens
        counts.output_tokens += case.output_tokens
        if case.cost is not None:
            counts.cost = (counts.cost or 0) + case.cost


def counted(results: Iterable[TestResult], suites: Iterable[Suite] = ()) -> Counts:
    """The counts of the results of a report, in their order; groups of `suites` in that of these."""
    counts = Counts(suite.id for suite in suites)
    for order, result in enumerate(results):
        count_result(result, result.suite, key_of(result).name, order, counts)
        add_usage(result.case, counts)
    return counts


def _only_in(outcome: Outcome) -> Iterator[str]:
    if outcome.only:
        yield outcome.name
    for step in outcome.steps:
        yield from _only_in(step)


def _decided(runs: Iterable[Attempt]) -> list[Attempt]:
    return [run for run in runs if run.verdict in DECIDED]


def status_of(counts: Counts, has_errors: bool, may_break: bool = False) -> RunStatus:
    """The status of a run that ended. `has_errors`: outside of tests; `may_break`: broken tests do not count."""
    bad = counts.failed if may_break else counts.bad
    return RunStatus.ERROR if has_errors else RunStatus.FAILED if bad else RunStatus.PASSED
