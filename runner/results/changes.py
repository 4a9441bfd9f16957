"""The changes from one run to another as values: the kinds of changes, and their thresholds."""

from __future__ import annotations

from collections import Counter

from runner.results.verdict import Verdict
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


class Kind(Value):
    """A kind of change."""

    key: str
    title: str
    """The heading of a list of such changes."""
    badge: str
    """The word for one such change."""
    tone: str
    """What it means to the user: `bad`, `warning`, `good`, `neutral` or `quiet`."""


KINDS = tuple(
    Kind(key=key, title=title, badge=badge, tone=tone)
    for key, title, badge, tone in (
        ("new_failures", "New failures", "new failure", "bad"),
        ("dropped", "Lower pass rates", "lower pass rate", "warning"),
        ("flaky", "Flaky", "flaky", "warning"),
        ("errors", "Errors", "error", "bad"),
        ("still_failing", "Still failing", "still failing", "bad"),
        ("fixed", "Fixed", "fixed", "good"),
        ("lower_scores", "Lower scores", "lower score", "warning"),
        ("slower", "Slower", "slower", "warning"),
        ("faster", "Faster", "faster", "good"),
        ("more_tokens", "More tokens", "more tokens", "warning"),
        ("higher_costs", "Higher costs", "higher cost", "warning"),
        ("changed", "Changed outputs", "changed output", "neutral"),
        ("other", "Other status", "other status", "quiet"),
        ("added", "Added", "added", "quiet"),
        ("removed", "Removed", "removed", "quiet"),
    )
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


class Change(Value):
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
    """Why it does not pass now."""
    diff: tuple[str, ...] = ()
    """How its output changed, as a unified diff."""
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

    changes: tuple[Change, ...]
    """One entry for each result in either report, those of the older one first."""
    measures: tuple[Measure, ...]
    compared: int
    """How many results were judged in both reports; the measures are means over these."""

    def of(self, kind: str) -> list[Change]:
        """The changes of one kind."""
        return [change for change in self.changes if kind in change.kinds]

    @property
    def regressions(self) -> list[Change]:
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
