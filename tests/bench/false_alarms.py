"""How often a comparison says `regressed`: when nothing changed, and when something did.

    python -m tests.bench.false_alarms [--comparisons 2000]

30 cases of mixed difficulty pass 9 times of 10 in the mean. Each row is a number of runs on both sides; each cell is the
share of simulated comparisons that said `regressed`, with its standard error. The second table has the false alarms of
other suites.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence

from runner.statistics.exact_tests import CaseRuns
from tests.bench.tables import table
from tests.helpers.change_verdicts import verdict_of

Rates = Sequence[tuple[float, float]]
"""Pass rate of each case in A and in B."""
Suite = Callable[[random.Random], Rates]
"""Makes the cases of one comparison."""


def lower(by: float, cases: int = 30) -> Suite:
    """Cases of mixed difficulty that pass nine times of ten in the mean, all lower in B."""

    def rates(draw: random.Random) -> Rates:
        of_a = [draw.betavariate(9, 1) for _ in range(cases)]
        return [(rate, max(0.0, rate - by)) for rate in of_a]

    return rates


def broke(count: int) -> Suite:
    """Some of these cases never pass in B."""
    return lambda draw: [(a, 0.0 if place < count else a) for place, (a, _) in enumerate(lower(0)(draw))]


def alike(rates: Sequence[float]) -> Suite:
    """Nothing changed."""
    return lambda draw: [(rate, rate) for rate in rates]


CHANGES: dict[str, Suite] = {
    "nothing changed": lower(0),
    "10 points lower": lower(0.1),
    "20 lower": lower(0.2),
    "40 lower": lower(0.4),
    "3 cases broke": broke(3),
    "1 of 30 steady ones broke": lambda draw: [(1.0, 0.0), *[(0.97, 0.97)] * 29],
}
UNCHANGED: dict[str, tuple[Suite, int, int]] = {
    "5 cases, 3 runs": (lower(0, 5), 3, 3),
    "100 cases, 3 runs": (lower(0, 100), 3, 3),
    "30 coin flips, 5 runs": (alike([0.5] * 30), 5, 5),
    "30 from nearly never to nearly always, 5 runs": (alike([0.99, 0.95, 0.8, 0.5, 0.2, 0.05] * 5), 5, 5),
    "30 cases, 20 runs against 1": (lower(0), 20, 1),
    "30 cases, 20 runs against 3": (lower(0), 20, 3),
}


def share(comparisons: int, said: Callable[[random.Random], bool]) -> str:
    """Percent of the comparisons that said so, with the standard error."""
    draw = random.Random(1)
    rate = sum(said(draw) for _ in range(comparisons)) / comparisons
    return f"{100 * rate:.1f} ± {100 * (rate * (1 - rate) / comparisons) ** 0.5:.1f}"


def compared(rates: Rates, runs_a: int, runs_b: int, draw: random.Random) -> list[CaseRuns]:
    """One comparison of two runs that never were."""

    def passes(rate: float, runs: int) -> int:
        return sum(draw.random() < rate for _ in range(runs))

    return [
        CaseRuns(passed_a=passes(a, runs_a), runs_a=runs_a, passed_b=passes(b, runs_b), runs_b=runs_b) for a, b in rates
    ]


def regressed(suite: Suite, runs_a: int, runs_b: int) -> Callable[[random.Random], bool]:
    """Whether one comparison says so."""
    return lambda draw: verdict_of(compared(suite(draw), runs_a, runs_b, draw)).verdict == "regressed"


def each_failure(suite: Suite, runs: int) -> Callable[[random.Random], bool]:
    """What `--fail-on-regression` says: any case that passed always and does not any more."""
    return lambda draw: any(
        case.passed_a == case.runs_a and case.passed_b < case.runs_b for case in compared(suite(draw), runs, runs, draw)
    )


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=2000)
    count = parser.parse_args().comparisons
    print(
        table(
            ["runs each", "each new failure: nothing changed", *CHANGES],
            [
                [
                    str(runs),
                    share(count, each_failure(CHANGES["nothing changed"], runs)),
                    *(share(count, regressed(suite, runs, runs)) for suite in CHANGES.values()),
                ]
                for runs in (1, 3, 5)
            ],
        )
    )
    print(
        table(
            ["nothing changed", "says regressed, %"],
            [[name, share(count, regressed(*how))] for name, how in UNCHANGED.items()],
        )
    )


if __name__ == "__main__":
    main()
