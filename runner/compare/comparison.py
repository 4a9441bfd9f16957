"""What has changed from one run to another: the one comparison that the console, Markdown, JSON and the HTML page show.

Results are matched by suite and id. Everything is decided here, by the thresholds of `Thresholds`; what shows a
comparison decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from runner.amounts import mean, mean_known
from runner.assertions.values import difference, equal, line_difference
from runner.compare.change_report import changed_in
from runner.record.model import ResultKey, TestResult, by_key
from runner.record.outcomes import Verdict
from runner.record.report import Report
from runner.record.result_texts import as_text, as_value, errors_of
from runner.record.stability import judged_of
from runner.record.votes import score_in
from scripttest import Status
from scripttest.values import Value


class Thresholds(Value):
    """How large a difference must be to count as a change."""

    slower_factor: float = 2.0
    """A result is slower when it takes so many times as long ..."""
    slower_by: float = 200
    """... and at least this many milliseconds longer. In the reverse case, it is faster."""
    usage_factor: float = 1.5
    """A result takes more when it uses so many times the tokens or the money."""
    regression: float = 0.5
    """A pass rate that falls by at least this much, of 1, is a regression, whatever the status is."""
    score: float = 0.001
    """A score that falls by at least this much, of 1, is lower."""

    def is_slower(self, before: float, after: float) -> bool:
        """Whether a result takes so much longer, in milliseconds."""
        return after >= max(before * self.slower_factor, before + self.slower_by)

    def takes_more(self, before: float, after: float) -> bool:
        """Whether it uses so many more tokens, or so much more money."""
        return after >= before * self.usage_factor


class Kind(Value):
    """A kind of change."""

    key: str
    title: str
    badge: str
    tone: str
    """What it means to the user: `bad`, `warning`, `good`, `neutral` or `quiet`."""


KINDS = (
    Kind(key="new_failures", title="New failures", badge="new failure", tone="bad"),
    Kind(key="dropped", title="Lower pass rates", badge="lower pass rate", tone="warning"),
    Kind(key="flaky", title="Flaky", badge="flaky", tone="warning"),
    Kind(key="errors", title="Errors", badge="error", tone="bad"),
    Kind(key="still_failing", title="Still failing", badge="still failing", tone="bad"),
    Kind(key="fixed", title="Fixed", badge="fixed", tone="good"),
    Kind(key="lower_scores", title="Lower scores", badge="lower score", tone="warning"),
    Kind(key="slower", title="Slower", badge="slower", tone="warning"),
    Kind(key="faster", title="Faster", badge="faster", tone="good"),
    Kind(key="more_tokens", title="More tokens", badge="more tokens", tone="warning"),
    Kind(key="higher_costs", title="Higher costs", badge="higher cost", tone="warning"),
    Kind(key="changed", title="Changed outputs", badge="changed output", tone="neutral"),
    Kind(key="other", title="Other status", badge="other status", tone="quiet"),
    Kind(key="added", title="Added", badge="added", tone="quiet"),
    Kind(key="removed", title="Removed", badge="removed", tone="quiet"),
)
"""All kinds, in the order in which they are shown. A change may have several kinds."""


class Side(Value):
    """All runs of a result in one of the two reports. Broken and skipped runs count only if there are no others."""

    verdict: Verdict
    """The verdict in its report. With `--min-pass-rate`, it may be passed although some runs failed."""
    status: str
    """The verdict as a word, or `flaky` when some runs passed and some failed."""
    judged: int
    """How many runs passed or failed."""
    passed: int
    milliseconds: float
    """Mean of its runs, like the fields after it; None when no run has a value."""
    score: float | None = None
    """0 to 1."""
    tokens: float | None = None
    cost: float | None = None
    """US dollars."""

    @property
    def rate(self) -> float | None:
        """Share of the runs that passed, 0 to 1; None when none was judged."""
        return self.passed / self.judged if self.judged else None


class ResultChange(Value):
    """One result in both reports, or in one of them."""

    suite: str
    id: str
    before: Side | None
    """The older side; None: the result is new."""
    after: Side | None
    """The newer side; None: the result was removed."""
    kinds: tuple[str, ...]
    """Keys of `KINDS`; empty when nothing has changed."""
    regression: bool
    """Whether it fails now and did not before, or its pass rate fell too far."""
    error: str | None = None
    diff: tuple[str, ...] = ()
    """How its output changed: the lines of `output_difference`, `DIFF_LINES` at most."""
    parts: tuple[str, ...] = ()
    """The parts of its fingerprint that differ."""

    @property
    def is_repeated(self) -> bool:
        """Whether it ran several times, before or after."""
        return any(side is not None and side.judged > 1 for side in (self.before, self.after))


class Measure(Value):
    """A mean over the results that were judged in both reports."""

    key: str
    """`pass_rate`, `score`, `duration_ms`, `tokens` or `cost`."""
    before: float
    """The pass rate and the score are from 0 to 1, the cost is in US dollars; all are per run."""
    after: float


class Comparison(Value):
    """The comparison of two reports."""

    changes: tuple[ResultChange, ...]
    """One entry for each result in either report, those of the older one first."""
    measures: tuple[Measure, ...]
    compared: int
    """How many results were judged in both reports; the measures are means over these."""

    def of(self, kind: str) -> list[ResultChange]:
        """The changes of one kind."""
        return [change for change in self.changes if kind in change.kinds]

    @property
    def regressions(self) -> list[ResultChange]:
        """The regressions."""
        return [change for change in self.changes if change.regression]

    @property
    def parts(self) -> dict[str, int]:
        """The parts that results depend on and that differ between the reports, each with the number of results."""
        return dict(Counter(part for change in self.changes for part in change.parts).most_common())

    @property
    def all_broke(self) -> bool:
        """Whether the newer run has no verdict at all, because everything that its tests need broke."""
        verdicts = {change.after.verdict for change in self.changes if change.after is not None}
        return Verdict.BROKEN in verdicts and verdicts.isdisjoint((Verdict.PASSED, Verdict.FAILED))

    @property
    def is_worse(self) -> bool:
        """Whether a gate should reject the newer run: it has regressions, or nothing was judged."""
        return bool(self.regressions) or self.all_broke


STANDARD = Thresholds()
DIFF_LINES = 40
"""At most this many lines of the difference of two outputs are kept."""
DECIDING = (Verdict.FAILED, Verdict.BROKEN, Verdict.INCONCLUSIVE, Verdict.PASSED, Verdict.SKIPPED)
"""The order in which verdicts of several results with the same name decide: the first one that occurs counts."""
_FIGURES: dict[str, Callable[[Side], float | None]] = {
    "pass_rate": lambda side: side.rate,
    "score": lambda side: side.score,
    "duration_ms": lambda side: side.milliseconds,
    "tokens": lambda side: side.tokens,
    "cost": lambda side: side.cost,
}


def compare(before: Report, after: Report, thresholds: Thresholds = STANDARD) -> Comparison:
    """Compares two reports, the older one first."""
    old, new = by_key(before.results), by_key(after.results)
    changes = tuple(_change(key, old.get(key, []), new.get(key, []), thresholds) for key in {**old, **new})
    sides = [(change.before, change.after) for change in changes]
    both = [(was, now) for was, now in sides if was is not None and now is not None and was.judged and now.judged]
    measures = []
    for key, of in _FIGURES.items():
        pairs = [(a, b) for a, b in ((of(was), of(now)) for was, now in both) if a is not None and b is not None]
        if pairs:
            measures.append(Measure(key=key, before=mean([a for a, _ in pairs]), after=mean([b for _, b in pairs])))
    return Comparison(changes=changes, measures=tuple(measures), compared=len(both))


def _change(key: ResultKey, before: list[TestResult], after: list[TestResult], thresholds: Thresholds) -> ResultChange:
    was, now = (_side(results) if results else None for results in (before, after))
    kinds = list(_kinds(was, now, thresholds))
    is_new_failure = now is not None and now.verdict == Verdict.FAILED and not (was and was.verdict == Verdict.FAILED)
    falls = was is not None and now is not None and _fall(was.rate, now.rate) >= thresholds.regression
    diff: list[str] = []
    error = None
    if now is not None and now.status not in (Status.PASSED, Status.SKIPPED):
        error = next(iter(errors_of(_shown(after))), None)
    if was is not None and now is not None and was.verdict == now.verdict == Verdict.PASSED:
        diff = output_difference(_shown(before), _shown(after)).splitlines()
        if len(diff) > DIFF_LINES:
            diff[DIFF_LINES:] = [f"  ... {len(diff) - DIFF_LINES} more lines"]
        kinds += ["changed"] if diff else []
    return ResultChange(
        suite=key.suite,
        id=key.id,
        before=was,
        after=now,
        kinds=tuple(kinds),
        regression=is_new_failure or falls,
        error=error,
        diff=tuple(diff),
        parts=changed_in(_shown(before), _shown(after)) if before and after else (),
    )


def _kinds(was: Side | None, now: Side | None, thresholds: Thresholds) -> Iterator[str]:
    """All kinds of a change, except `changed`."""
    if now is None:
        yield "removed"
        return
    if was is None:
        yield "added"
    earlier = was.verdict if was is not None else None
    if now.verdict.is_none:
        yield "errors"
    elif now.status == Verdict.FAILED:
        yield "still_failing" if earlier == Verdict.FAILED else "new_failures"
    if was is not None and "flaky" in (was.status, now.status) and _fall(was.rate, now.rate) > 0:
        yield "dropped"
    if "flaky" in (now.status, was.status if was is not None else ""):
        yield "flaky"
    if was is None:
        return
    if now.verdict == Verdict.PASSED and earlier == Verdict.FAILED:
        yield "fixed"
    elif now.verdict in (Verdict.PASSED, Verdict.SKIPPED) and now.verdict != earlier:
        yield "other"
    if _fall(was.score, now.score) >= thresholds.score:
        yield "lower_scores"
    if now.verdict == earlier == Verdict.PASSED:
        for kind, less, more in (("slower", was, now), ("faster", now, was)):
            if thresholds.is_slower(less.milliseconds, more.milliseconds):
                yield kind
    for kind, some, more_used in (("more_tokens", was.tokens, now.tokens), ("higher_costs", was.cost, now.cost)):
        if some is not None and more_used is not None and some < more_used and thresholds.takes_more(some, more_used):
            yield kind


def _fall(was: float | None, now: float | None) -> float:
    """How far a figure has fallen; 0 when one of them is not known."""
    return round(was - now, 9) if was is not None and now is not None else 0


def _side(results: list[TestResult]) -> Side:
    """All results of one name, of which there are several when it occurs twice."""
    runs = [run for result in results for run in result.runs]
    judged = judged_of(runs)
    passed = sum(run.passed for run in judged)
    verdict = min((result.verdict for result in results), key=DECIDING.index)
    shown = judged or runs
    return Side(
        verdict=verdict,
        status="flaky" if 0 < passed < len(judged) else verdict.value,
        judged=len(judged),
        passed=passed,
        milliseconds=sum(run.duration_ms for run in shown) / len(shown),
        score=mean_known(score_in(run.score) for run in shown),
        tokens=mean_known(run.tokens or None for run in shown),
        cost=mean_known(run.cost for run in shown),
    )


def _shown(results: list[TestResult]) -> TestResult:
    """The first result that failed, else the first."""
    return next((result for result in results if result.status == Status.FAILED), results[0])


def output_difference(before: TestResult, after: TestResult) -> str:
    """How the output of a case differs, in lines with `- `, `+ ` or two blanks; empty when it is the same."""
    if before.case is None or after.case is None:
        return ""
    old, new = as_value(before.as_run.output), as_value(after.as_run.output)
    if equal(old, new):
        return ""
    lines = difference(old, new) or line_difference(*(as_text(each, 2, in_order=True) for each in (old, new)))
    return lines or "the values have different types"
