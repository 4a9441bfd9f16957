"""What a store has, as records: runs, their results, labels of people."""

from __future__ import annotations

from scripttest.typing_names import Record
from scripttest.values import Value

UNDER_WAY, CUT_SHORT = "under way", "cut short"
"""States of runs without an end: their process is running, or has ended."""


class KeptRun(Value):
    """A run in a store."""

    id: str
    started_at: str
    """UTC, RFC 3339."""
    ended_at: str | None
    """None while it is running, and if it was cut short."""
    state: str
    """How it ended, as reports say it (`passed`, `failed`, `error`, `interrupted`), `under way` or `cut short`."""
    branch: str | None
    commit: str | None
    place: str | None
    """Which application on which machine it was made in; see `runner.store.places.place_of`."""
    profile: str | None
    connectors: tuple[str, ...]
    """What its tests have asked so far, in the order of their names."""
    reports: tuple[str, ...]
    """Its `.jsonl` reports, which `--resume` takes."""
    start: Record
    """The start line of its report: `suites`, `version`, `environment`, `flags`, `resume` ..."""
    summary: Record
    """The last line of it; empty while there is none."""
    session: int
    """How often it was resumed."""
    counts: dict[str, int]
    """Verdict (`passed`, `failed`, `skipped`, `broken`, `inconclusive`) → how many tests have it so far."""
    last_seq: int
    """The highest number of a result that it has; 0: none."""
    labels: int
    """How many labels people have put on its answers."""

    @property
    def is_over(self) -> bool:
        """Whether it ended by itself."""
        return self.ended_at is not None


class KeptResult(Value):
    """A result, without its transcript; that is `Store.line`."""

    seq: int
    """Rises with each result that is written."""
    run: str
    suite: str
    """What names its suite in all runs; see `runner.store.rows.key_of`."""
    position: int
    """In its suite, from 0."""
    test: str
    attempt: int
    """0: the verdict on the test; else one of its several runs, from 1."""
    verdict: str
    """`passed`, `failed`, `skipped`, `broken` or `inconclusive`."""
    cause: str | None
    """As in reports; `cut_short` where the run ended before the test did."""
    passed: int
    """Runs of it that passed ..."""
    judged: int
    """... of those that passed or failed."""
    score: float | None
    """0 to 1, the mean of its runs, as are the following ones."""
    duration_ms: float
    tokens: float | None
    cost: float | None
    """US dollars, an `Estimate` where one run has one."""
    cost_estimated: int
    """1 for an estimate."""
    connector: str | None
    made_of: str | None
    """The digest of its fingerprint; see `Store.fingerprint`."""


class KeptLabel(Value):
    """The label of a person on an answer."""

    run: str
    suite: str
    """As in `KeptResult`."""
    test: str
    attempt: int = 0
    turn: int = 0
    """The turn of a conversation, from 1; 0: the whole conversation."""
    criterion: str = ""
    """As a judge was asked; empty: of the answer as such."""
    passed: bool | None
    """None: the person has taken the label away. `Store.labels` leaves such ones out."""
    score: float | None = None
    why: str = ""
    person: str = ""
    made_at: str
    """UTC, RFC 3339."""
