"""The cases of a report as they are compared: what each asks and expects, and how its judged runs ended; and the
comparison of two reports: the verdict on the newer one, and the figures behind it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Generic, TypeVar

from runner.parts import changed
from runner.record.events import InterimLooks
from runner.record.model import ResultKey, Suite, TestResult, by_key, key_of
from runner.record.outcomes import DECIDED, Verdict
from runner.record.report import Report
from runner.record.stability import Attempt
from runner.record.votes import PASSED, SCORE, JudgesNoise, score_in
from runner.statistics.change import DetectableDifference, DifferenceInterval, MeanDifference, like_these, verdict_from
from runner.statistics.intervals import ALPHA, LOOK_LEVELS, Estimate, Interval, Ratio, variance
from scripttest.values import Value, fields_of

NO_VERDICT_SHARE = 0.2
"""A gate does not pass when at least this share of A's cases has no verdict in B."""
Figures = tuple[float, ...]
"""The value of the measure in each run of a case."""
T = TypeVar("T")
Made = TypeVar("Made")


class JudgedCase(Value):
    """A case of one report."""

    result: TestResult
    """The last of its results."""
    runs: tuple[Attempt, ...]
    """Those that passed or failed. If runs stopped when the verdict was decided, only those made in any case."""
    broken: int
    inconclusive: int
    skipped: int
    doubled: int
    """How many more results have the same name."""
    is_steady: bool
    """Whether its runs must all end the same: a script test, or a case of scripted models."""

    @property
    def key(self) -> ResultKey:
        """Its key in the report."""
        return key_of(self.result)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the case."""
        return self.result.case.tags if self.result.case is not None else ()


def judged_cases(report: Report) -> dict[ResultKey, JudgedCase]:
    """The cases of a report, in their order. Of several results with the same name, the last one counts."""
    return cases_of(report.results, {suite.id: suite for suite in report.suites})


def cases_of(results: Iterable[TestResult], suites: Mapping[str, Suite]) -> dict[ResultKey, JudgedCase]:
    """The same of results; `suites` are theirs by the names that the results have for them."""
    return {key: judged_case(made, suites[key.suite]) for key, made in by_key(results).items()}


def judged_case(results: Sequence[TestResult], suite: Suite) -> JudgedCase:
    """The case that all these results of a suite are of."""
    result = results[-1]
    made = [run for one in results for run in one.runs]
    runs = list({run.run: run for run in made}.values())
    connector = (result.case.connector if result.case is not None else "") or suite.connector
    verdicts = [run.verdict for run in runs]
    first = result.repeat.wave if result.repeat is not None else None
    return JudgedCase(
        result=result,
        runs=tuple([run for run in runs if run.verdict in DECIDED][:first]),
        broken=verdicts.count(Verdict.BROKEN),
        inconclusive=verdicts.count(Verdict.INCONCLUSIVE),
        skipped=verdicts.count(Verdict.SKIPPED),
        doubled=len(made) - len(runs),
        is_steady=not suite.has_cases or connector == "scripted",
    )


def says_the_same(one: JudgedCase, other: JudgedCase) -> bool:
    """Whether two cases are the same: by their digests, if both have one, else by their content."""
    results = (one.result, other.result)
    digests = [str((result.fingerprint or {}).get("case") or result.digest) for result in results]
    return digests[0] == digests[1] if all(digests) else _says(one.result) == _says(other.result)


def _says(result: TestResult) -> str:
    """The content of a case: what it asks and expects. Of a script test, only the name."""
    case = result.case
    if case is None:
        return ""
    checks = [[check.type, check.expected] for check in case.assertions]
    return json.dumps([case.input, case.expected, checks], sort_keys=True, default=str)


def changed_in(before: TestResult, after: TestResult) -> tuple[str, ...]:
    """The keys of the parts that differ between two results, see `changed`."""
    connectors = (result.case.connector if result.case is not None else None for result in (before, after))
    return changed(before.fingerprint, after.fingerprint, *connectors)


def measured(run: Attempt, measure: str) -> float | None:
    """The value of a measure in a run; None: it has none."""
    if measure == PASSED:
        return float(run.passed)
    return score_in(run.score) if measure == SCORE else (run.criteria or {}).get(measure)


def figures_of(runs: Sequence[Attempt], measure: str) -> Figures:
    """The values of a measure in some runs, without runs that do not have it."""
    return tuple([value for run in runs if (value := measured(run, measure)) is not None])


class BeforeAfter(Generic[T], Value):
    """Something of A, the older report, and the same of B."""

    a: T
    b: T

    @property
    def both(self) -> tuple[T, T]:
        """A's, then B's."""
        return self.a, self.b

    def each(self, make: Callable[[T], Made]) -> BeforeAfter[Made]:
        """What a function makes of A's, and of B's."""
        return BeforeAfter(a=make(self.a), b=make(self.b))


A_AND_B = BeforeAfter(a="A", b="B")


class ChangeVerdict(StrEnum):
    """The verdict of a comparison."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    CANNOT_TELL = "cannot tell"


class Noise(StrEnum):
    """Whether several runs of one case may differ."""

    RUNS = "runs"
    NONE = "none"


class ComparedCase(Value):
    """A case that was judged in both reports."""

    key: ResultKey
    figures: BeforeAfter[Figures]
    p: float | None = None
    """The p-value of its fall, where it is tested."""
    broke: bool = False
    is_suspect: bool = False

    @property
    def fall(self) -> float:
        """How much lower the measure is in B."""
        a, b = (math.fsum(values) / len(values) for values in self.figures.both)
        return a - b

    @property
    def fewest_runs(self) -> int:
        """The runs of the report that has fewer of them."""
        return min(map(len, self.figures.both))


class LeftOut(Value):
    """How much was left out of the comparison, and why."""

    added: tuple[ResultKey, ...]
    removed: tuple[ResultKey, ...]
    changed: tuple[ResultKey, ...]
    unjudged: tuple[ResultKey, ...]
    """Cases of both reports that have no judged run, or no value of the measure, in one of them."""
    broken: BeforeAfter[int]
    skipped: BeforeAfter[int]
    inconclusive: BeforeAfter[int]
    """How many runs have no verdict because their judges did not decide."""
    doubled: BeforeAfter[int]
    """Further results of a name that occurs several times."""
    no_score: BeforeAfter[int]
    """How many judged runs have no value of the measure."""


class ResourceChange(Value):
    """The change of `duration_ms`, `tokens` or `cost`, as the ratio of B to A."""

    name: str
    means: BeforeAfter[float]
    ratio: Ratio | None


class Breakdown(Value):
    """A change of the score, of a criterion, or of the measure in the cases with a tag; for information only."""

    kind: str
    """`score`, `criterion` or `tag`."""
    name: str
    cases: int
    rates: BeforeAfter[Estimate]
    change: MeanDifference
    stands_out: bool = False
    """Whether it is worth a look; about one in ten of these is a false alarm."""


class ChangeReport(Value):
    """The comparison of a report with an older one."""

    measure: str
    cases: tuple[ComparedCase, ...]
    runs: BeforeAfter[int]
    rates: BeforeAfter[Estimate]
    """The measure, with intervals, from 0 to 1."""
    change: MeanDifference
    reach: DetectableDifference | None
    left_out: LeftOut
    too_many_broke: bool
    noise: Noise
    margin: float
    beside: tuple[ResourceChange, ...]
    parts: tuple[Breakdown, ...]
    cases_of_a: int
    is_same_report: bool = False
    judges_noise: JudgesNoise | None
    """How far the difference would be off if the judges voted again; None: there are too few votes to say."""
    is_judges_noise: bool = False
    """Whether both are grades of the same answers, so that only the judges can differ."""
    mean_cost: float | None
    """Of one run of a case, in US dollars."""
    has_scores: bool
    """Whether the cases have scores, which see smaller differences than verdicts."""
    looks: InterimLooks
    """Which of the planned looks at the runs this is, and how many are planned."""
    variants: tuple[str, ...] = ()

    @property
    def verdict(self) -> ChangeVerdict:
        """The word for the change. Too many broken runs hide a fall, and never one that was seen."""
        broke, looks = bool(self.broke), self.looks
        if self.noise is Noise.RUNS:
            alpha = LOOK_LEVELS[looks.planned - 1] / 2 if looks.planned > 1 else ALPHA
            found = ChangeVerdict(
                verdict_from(self.change, broke=broke, suspect=bool(self.suspects), margin=self.margin, alpha=alpha)
            )
        elif broke or not self.cases:
            found = ChangeVerdict.REGRESSED if broke else ChangeVerdict.CANNOT_TELL
        else:
            is_better = any(case.fall < -1e-12 for case in self.cases)
            found = ChangeVerdict.IMPROVED if is_better else ChangeVerdict.UNCHANGED
        return ChangeVerdict.CANNOT_TELL if self.too_many_broke and found is not ChangeVerdict.REGRESSED else found

    @property
    def like_these(self) -> DifferenceInterval:
        """What the differences say of other cases like these."""
        return like_these([-case.fall for case in self.cases])

    @property
    def cases_limit(self) -> bool:
        """Whether cases differ more from each other than runs of one case do, so that more cases would help more."""
        error, number = self.change.standard_error, len(self.cases)
        if error is None or number < 2:
            return False
        return error * error < variance([-case.fall for case in self.cases]) / number / 2

    @property
    def cost_of_reach(self) -> float | None:
        """US dollars of the further runs that would decide; None: unknown."""
        if self.reach is None or self.mean_cost is None:
            return None
        fewest = min(case.fewest_runs for case in self.cases)
        return self.mean_cost * len(self.cases) * 2 * max(0, self.reach.runs_each - fewest)

    @property
    def broke(self) -> list[ComparedCase]:
        """The cases that broke."""
        return [case for case in self.cases if case.broke]

    @property
    def suspects(self) -> list[ComparedCase]:
        """The cases whose measure fell by half or more."""
        return [case for case in self.cases if case.is_suspect]

    @property
    def fell(self) -> list[ComparedCase]:
        """The cases whose measure is lower in B."""
        return [case for case in self.cases if case.fall > 1e-12]

    @property
    def lacks_verdicts(self) -> bool:
        """Whether too many of A's cases have no verdict in B, so that a gate must not pass."""
        return bool(self.cases_of_a) and 1 - len(self.cases) / self.cases_of_a > NO_VERDICT_SHARE + 1e-12

    def fails(self, *, on_unsure: bool) -> bool:
        """Whether a gate rejects B."""
        if self.verdict is ChangeVerdict.CANNOT_TELL and (on_unsure or self.too_many_broke):
            return True
        return self.verdict is ChangeVerdict.REGRESSED or self.lacks_verdicts


def verdict_record(found: ChangeReport) -> dict[str, object]:
    """The verdict as JSON; rates and intervals are from 0 to 1."""
    change, reach, noise, like = found.change, found.reach, found.judges_noise, found.like_these
    return {
        "verdict": found.verdict.replace(" ", "_"),
        "measure": found.measure,
        "cases": len(found.cases),
        "runs": _plain(found.runs),
        "rates": _values(found.rates),
        "rate_intervals": _plain(found.rates.each(lambda rate: rate.interval)),
        **_some(change, "difference interval worse better worse_exact better_exact"),
        "broke": [case.key.name for case in found.broke],
        "suspects": [case.key.name for case in found.suspects],
        "margin": found.margin,
        "level": 0.95,
        "detectable": _plain(reach.detectable) if reach else None,
        "runs_needed": {
            "target": found.margin,
            "each": reach.runs_each,
            "of_b": reach.runs_of_b,
            "cost": _plain(found.cost_of_reach),
        }
        if reach
        else None,
        "like_these": _some(like, "interval worse"),
        "left_out": _plain(found.left_out),
        "beside": {
            one.name: {**_plain(one.means), **(_some(one.ratio, "ratio interval") if one.ratio else _NO_RATIO)}
            for one in found.beside
        },
        "parts": [
            {
                **_some(part, "kind name cases"),
                "rates": _values(part.rates),
                **_some(part.change, "difference interval"),
                "look_at": part.stands_out,
            }
            for part in found.parts
        ],
        "judges_noise": {"answers": noise.answers, "interval": _plain(noise.of(found.measure))} if noise else None,
        "noise": str(found.noise),
        "looks": found.looks.made,
    }


_NO_RATIO = {"ratio": None, "interval": None}


def _values(rates: BeforeAfter[Estimate]) -> Any:
    return _plain(rates.each(lambda rate: rate.value))


def _some(value: Value, names: str) -> Mapping[str, Any]:
    return {name: _plain(getattr(value, name)) for name in names.split()}


def _plain(value: Any) -> Any:
    """A value as JSON: an interval is `[low, high]`, and a key is its record; numbers have six digits."""
    if isinstance(value, float):
        return round(value, 6) + 0.0
    if isinstance(value, tuple):
        return list(map(_plain, value))
    if isinstance(value, Interval):
        return [_plain(value.low), _plain(value.high)]
    if isinstance(value, ResultKey):
        return value.record
    return {name: _plain(inner) for name, inner in fields_of(value).items()} if isinstance(value, Value) else value
