"""All counts of results: of the events of a run that is under way, and of one that was saved. What reports, exit codes
and commands say in numbers comes from here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bindings import Answered
from runner.amounts import cost_in
from runner.results.criteria import Part, criteria_of, parts_in, score_in
from runner.results.events import RunStatus
from runner.results.model import Suite, TestResult
from runner.results.result_keys import key_of
from runner.results.verdict import Verdict, verdict_in, verdict_on
from runner.statistics import PassCount
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.results.judging import Judging, NoiseSum

NAMED = 10
"""At most so many cases that check nothing are named."""
DECIDED = (Verdict.PASSED, Verdict.FAILED)
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


class JudgedRun(Value):
    """What counts of one run of a case."""

    verdict: Verdict
    score: float | None


class RunCriteria(Value):
    """What counts of the criteria in one run of a case."""

    verdict: Verdict
    criteria: Mapping[str, float] | None
    """Name → 1 or 0, or its score."""


class PartFigures:
    """The verdicts and scores of the cases of a group."""

    __slots__ = ("rates", "scores")

    def __init__(self) -> None:
        self.rates: Counter[PassCount] = Counter()
        """The runs of a case → how many cases have such runs."""
        self.scores: Counter[float] = Counter()
        """The mean score of a case → how many cases have it."""


class Counts:
    """Counts results by status, and adds up their times. Everything that is counted here is counted in `whole` too."""

    __slots__ = (
        "_whole",
        "checks_nothing",
        "cost",
        "errors",
        "failed",
        "first_of_nothing",
        "input_tokens",
        "milliseconds",
        "missing_calls",
        "noise",
        "not_judged",
        "not_needed",
        "output_tokens",
        "parts",
        "passed",
        "rates",
        "repeated",
        "saved_cost",
        "scores",
        "skipped",
        "warnings",
    )

    def __init__(self, whole: Counts | None = None) -> None:
        """`whole`: the counts that these are part of; None: there are none."""
        self._whole = whole
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
        self.parts: dict[Part, PartFigures] = {}
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

    def add(self, result: TestResult, suite: Suite, place: int) -> None:
        """Counts one result of the suite at a place among the suites; what its models took is told to `take`."""
        outcome, case, attempts = result.outcome, result.case, result.attempts
        self.count(
            verdict_on(result),
            warnings=len(outcome.warnings),
            missing_calls=sum(call.count for call in result.outside if call.answered is Answered.MISSING),
            not_judged=outcome.not_judged,
            milliseconds=sum(run.duration_ms for run in attempts) if attempts else round(outcome.milliseconds),
            nothing=Unchecked(suite=place, position=result.position, name=suite.name_of(outcome.name))
            if case is not None and case.checks_nothing
            else None,
        )
        if case is not None:
            runs = [JudgedRun(verdict=run.verdict, score=run.score) for run in attempts if run.judged]
            runs = runs or [JudgedRun(verdict=verdict_on(result), score=case.score)]
            repeat = result.repeat
            if repeat is not None:
                self.count_repeat(repeat.judged, repeat.saved, case.cost)
            first = None if repeat is None else repeat.wave
            of_tags = (Part(kind=TAG, name=tag) for tag in case.tags)
            self.count_case(runs, [Part(kind=SUITE, name=suite.name), *of_tags], first)
            if case.scores or case.checkpoints:
                from runner.results.turn_json import checkpoint_record, score_record

                checkpoints = [checkpoint_record(checkpoint) for checkpoint in case.checkpoints or ()]
                record = {"scores": [score_record(score) for score in case.scores], "checkpoints": checkpoints}
                criteria = [RunCriteria(verdict=run.verdict, criteria=run.criteria) for run in attempts]
                self.count_criteria(record, criteria, verdict_on(result), first)
            from runner.results.judging import judging_of

            votes = [(run.verdict, run.judging) for run in attempts] or [(verdict_on(result), judging_of(case))]
            self.count_votes([judging for verdict, judging in votes if verdict in DECIDED][:first])

    def add_record(self, record: Mapping[str, Any], place: int) -> None:
        """Counts one result of a saved report, with what its models took; `place` is its place among them."""
        attempts = (record.get("runs") or record).get("attempts", [record])
        self.count(
            verdict_in(record),
            warnings=len(record.get("warnings") or ()),
            missing_calls=_missing_in(record),
            not_judged=record.get("not_judged") or 0,
            milliseconds=sum(attempt["duration_ms"] for attempt in attempts),
            nothing=Unchecked(suite=0, position=place, name=key_of(record).name)
            if record.get("checks_nothing")
            else None,
        )
        if "input" in record:
            judged = [run for run in attempts if run.get("judged", True)] or [record]
            repeat = (record.get("runs") or {}).get("repeat") or {}
            if repeat:
                is_decided = repeat["verdict"] in DECIDED
                saved = repeat["most"] - repeat["judged"] if is_decided else 0
                self.count_repeat(repeat["judged"], saved, cost_in(record.get("usage") or {}))
            first, tags = repeat.get("wave"), record.get("tags")
            parts = [Part(kind=SUITE, name=str(record.get("suite") or ""))]
            parts += [Part(kind=TAG, name=str(tag)) for tag in tags] if isinstance(tags, list) else []
            scored = [JudgedRun(verdict=verdict_in(run), score=run.get("score")) for run in judged]
            self.count_case(scored, parts, first)
            if record.get("scores") or record.get("checkpoints"):
                own = [run for run in attempts if run is not record]
                runs = [RunCriteria(verdict=verdict_in(run), criteria=run.get("criteria")) for run in own]
                self.count_criteria(record, runs, verdict_in(record), first)
            from runner.results.judging import judging_in

            votes = [judging_in(run) for run in attempts if verdict_in(run) in DECIDED]
            self.count_votes(votes[:first])
        if usage := record.get("usage"):
            self.take(usage.get("input_tokens") or 0, usage.get("output_tokens") or 0, cost_in(usage))

    def take(self, input_tokens: int, output_tokens: int, cost: float | None) -> None:
        """Adds the tokens and the cost of one run of a case."""
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        if cost is not None:
            self.cost = (self.cost or 0) + cost
        if self._whole is not None:
            self._whole.take(input_tokens, output_tokens, cost)

    def count_repeat(self, made: int, saved: int, cost: float | None) -> None:
        """Counts the judged runs of a case with a policy, those that were not needed, and what all made ones cost."""
        self.repeated += made
        self.not_needed += saved
        if cost is not None and made:
            self.saved_cost = (self.saved_cost or 0) + cost / made * saved
        if self._whole is not None:
            self._whole.count_repeat(made, saved, cost)

    def count_case(self, runs: Sequence[JudgedRun], parts: Sequence[Part] = (), first: int | None = None) -> None:
        """Counts the verdict and the score of each run of a case, for the pass rate and the mean score of the whole and
        of the `parts` that the case belongs to; of one whose runs stopped early, only the `first` ones, which were made
        whatever came of them."""
        judged = [run for run in runs if run.verdict in DECIDED][:first]
        if not judged:
            return
        rate = PassCount(passed=sum(run.verdict is Verdict.PASSED for run in judged), judged=len(judged))
        known = [score for run in judged if (score := score_in(run.score)) is not None]
        score = sum(known) / len(known) if known else None
        self.count_rate(rate, score)
        for part in dict.fromkeys(parts):
            self.count_part(part, rate, score)

    def count_criteria(
        self,
        record: Mapping[str, Any],
        runs: Sequence[RunCriteria],
        verdict: Verdict,
        first: int | None = None,
    ) -> None:
        """Counts the criteria and the checkpoints of a case: those of `record`, which has its `scores` and
        `checkpoints` and ended with `verdict`, or of each of its `runs`, where there are several; `first` as above."""
        made = runs or [RunCriteria(verdict=verdict, criteria=criteria_of(record))]
        judged = [run.criteria or {} for run in made if run.verdict in DECIDED][:first]
        for part in parts_in(record):
            values = [found[part.name] for found in judged if part.name in found]
            if not values:
                continue
            if all(value in (0, 1) for value in values):
                self.count_part(part, PassCount(passed=round(sum(values)), judged=len(values)), None)
            else:
                self.count_part(part, None, sum(values) / len(values))

    def count_votes(self, runs: Sequence[Judging | None]) -> None:
        """Counts the votes of judges on the judged runs of a case."""
        if self.noise is None:
            from runner.results.judging import NoiseSum

            self.noise = NoiseSum()
        self.noise.add(runs)
        if self._whole is not None:
            self._whole.count_votes(runs)

    def count_part(self, part: Part, rate: PassCount | None, score: float | None) -> None:
        """Counts a case of a part, by its runs that passed, its mean score, or both."""
        figures = self.parts.get(part)
        if figures is None:
            figures = self.parts[part] = PartFigures()
        if rate is not None:
            figures.rates[rate] += 1
        if score is not None:
            figures.scores[score] += 1
        if self._whole is not None:
            self._whole.count_part(part, rate, score)

    def count_rate(self, rate: PassCount, score: float | None) -> None:
        """Counts the runs of a case, and its mean score."""
        self.rates[rate] += 1
        if score is not None:
            self.scores[score] += 1
        if self._whole is not None:
            self._whole.count_rate(rate, score)

    def count(
        self,
        verdict: Verdict,
        *,
        warnings: int,
        missing_calls: int,
        not_judged: int,
        milliseconds: int,
        nothing: Unchecked | None,
    ) -> None:
        """Counts a verdict; `nothing` is the case, if it checks nothing."""
        name = verdict.counted
        setattr(self, name, getattr(self, name) + 1)
        self.warnings += warnings
        self.missing_calls += missing_calls
        self.not_judged += not_judged
        self.milliseconds += milliseconds
        if nothing is not None and verdict is Verdict.PASSED:
            self.checks_nothing += 1
            self.first_of_nothing = sorted([*self.first_of_nothing, nothing], key=Unchecked.order)[:NAMED]
        if self._whole is not None:
            self._whole.count(
                verdict,
                warnings=warnings,
                missing_calls=missing_calls,
                not_judged=not_judged,
                milliseconds=milliseconds,
                nothing=nothing,
            )


def _missing_in(record: Mapping[str, Any]) -> int:
    calls = record.get("outside") or ()
    return sum(call.get("count", 1) for call in calls if call.get("answered") == Answered.MISSING)


def counted(records: Iterable[Mapping[str, Any]]) -> Counts:
    """The counts of the results of a saved report, in their order."""
    counts = Counts()
    for place, record in enumerate(records):
        counts.add_record(record, place)
    return counts


def status_of(counts: Counts, has_errors: bool, may_break: bool = False) -> RunStatus:
    """The status of a run that came to its end; `has_errors`: something broke outside of its tests. With `may_break` so
    many tests may be broken as are."""
    bad = counts.failed if may_break else counts.bad
    return RunStatus.ERROR if has_errors else RunStatus.FAILED if bad else RunStatus.PASSED
