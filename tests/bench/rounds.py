"""How often `--until-decided` says that equal variants differ, and after how many rounds.

python -m tests.bench.rounds [--trials 1000]
"""

from __future__ import annotations

import argparse
import random

from runner.statistics import change
from runner.statistics.exact_tests import CaseRuns, broken_cases, suspects_of
from runner.statistics.intervals import LOOK_LEVELS
from tests.bench.tables import table

CASES, ROUNDS = 30, 5


def trial(draw: random.Random, drop: float) -> tuple[str, int]:
    """The verdict on cases that pass 9 times of 10, or `drop` less, and after how many rounds it came."""
    rates = [draw.betavariate(9, 1) for _ in range(CASES)]
    passed = [[0, 0] for _ in rates]
    word = "cannot tell"
    for made in range(1, ROUNDS + 1):
        for case, rate in zip(passed, rates, strict=True):
            case[0] += draw.random() < rate
            case[1] += draw.random() < rate - drop
        cases = [CaseRuns(passed_a=a, runs_a=made, passed_b=b, runs_b=made) for a, b in passed]
        word = change.verdict_from(
            change.change_of(cases),
            broke=made == ROUNDS and bool(broken_cases(cases)),
            suspect=bool(suspects_of(cases)),
            alpha=LOOK_LEVELS[ROUNDS - 1] / 2,
        )
        if word != "cannot tell":
            return word, made
    return word, ROUNDS


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    trials = parser.parse_args().trials
    rows = []
    for shown, drop in (("nothing changed", 0.0), ("10 points lower", 0.1), ("20 lower", 0.2)):
        draw = random.Random(1)
        found = [trial(draw, drop) for _ in range(trials)]
        shares = [100 * sum(word == wanted for word, _ in found) / trials for wanted in ("regressed", "improved")]
        rounds = sum(made for _, made in found) / trials
        rows.append([shown, *(f"{share:.1f}" for share in shares), f"{rounds:.1f}"])
    print(table(["", "says regressed, %", "says improved, %", "rounds"], rows))


if __name__ == "__main__":
    main()
