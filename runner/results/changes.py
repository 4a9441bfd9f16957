"""What has changed from one run to another, as values: the kinds of change, and from where on something is one."""

from __future__ import annotations

from collections import Counter

from runner.results.verdict import Verdict
from scripttest.values import Value


class Thresholds(Value):
    """From where on something has changed."""

    slower_factor: float = 2.0
    """A result that takes so many times as long is slower ..."""
    slower_by: float = 200
    """... if that is so many milliseconds longer at least. Faster is the same the other way."""
    usage_factor: float = 1.5
    """A result that takes so many times the tokens, or the money, takes more."""
    regression: float = 0.5
    """A pass rate that falls by so much, of 1, is a regression, whatever the status is."""
    score: float = 0.001
    """A score that falls by so much, of 1, is lower."""


class Kind(Value):
    """A kind of change."""

    key: str
    title: str
    """For a list of such changes."""
    badge: str
    """For one of them."""
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
"""In the order in which they are shown. A change may be of several kinds."""


class Side(Value):
    """All runs of a result in one of the two reports. Runs that broke, and those that were skipped, do not count
    while there are others."""

    verdict: Verdict
    """How its report counts it. With `--min-pass-rate` it may have passed although some of its runs failed."""
    status: str
    """The word for it: the verdict, or `flaky` where some runs passed and some failed."""
    judged: int
    """Runs that passed or failed."""
    passed: int
    milliseconds: float
    """Mean of its runs, as are the following ones; None where no run tells."""
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
    """None: it was not there."""
    after: Side | None
    """None: it is not there any more."""
    kinds: tuple[str, ...]
    """Keys of `KINDS`; empty when nothing has changed."""
    regression: bool
    """Whether it fails and did not fail, or its pass rate fell too far."""
    error: str | None = None
    """Why it does not pass now."""
    diff: tuple[str, ...] = ()
    """How its output changed, as a unified diff."""
    parts: tuple[str, ...] = ()
    """What it was made of that is not the same in both, as fingerprints name it."""

    @property
    def is_repeated(self) -> bool:
        """Whether it ran several times, before or after."""
        return any(side is not None and side.judged > 1 for side in (self.before, self.after))


class Measure(Value):
    """A mean over the results that were judged in both reports."""

    key: str
    """`pass_rate`, `score`, `duration_ms`, `tokens` or `cost`."""
    before: float
    """The pass rate and the score from 0 to 1, the cost in US dollars, all of one run."""
    after: float


class Comparison(Value):
    """Two reports beside each other."""

    changes: tuple[Change, ...]
    """Each result of either report, those of the older one first."""
    measures: tuple[Measure, ...]
    compared: int
    """Results that were judged in both reports, which the measures are of."""

    def of(self, kind: str) -> list[Change]:
        """The changes of a kind."""
        return [change for change in self.changes if kind in change.kinds]

    @property
    def regressions(self) -> list[Change]:
        """The changes that are worse than before."""
        return [change for change in self.changes if change.regression]

    @property
    def parts(self) -> dict[str, int]:
        """What results were made of that is not the same in both, and for how many results."""
        return dict(Counter(part for change in self.changes for part in change.parts).most_common())

    @property
    def all_broke(self) -> bool:
        """Whether the newer run judged nothing, because what its tests need broke."""
        verdicts = {change.after.verdict for change in self.changes if change.after is not None}
        return Verdict.BROKEN in verdicts and verdicts.isdisjoint((Verdict.PASSED, Verdict.FAILED))

    @property
    def is_worse(self) -> bool:
        """Whether a gate should stop the newer run: there are regressions, or it cannot tell that there are none."""
        return bool(self.regressions) or self.all_broke


STANDARD = Thresholds()
