"""Measures what `--coverage` costs on the example application, with pairs of runs, with and without it, in turn.

python tests/bench/coverage.py [--pairs 10]

The first pair does not count. Prints the medians and their share; more than `GOAL` is exit code 1.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
GOAL = 1.5
"""Of the time without it."""
COMMAND = [sys.executable, "-m", "runner", "-i", "assistants", "-q", "-o"]


def seconds_of(folder: str, *flags: str) -> float:
    """How long a run takes. Raises CalledProcessError."""
    begin = time.perf_counter()
    subprocess.run([*COMMAND, f"{folder}/report.jsonl", *flags], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10)
    given = parser.parse_args()
    times: dict[tuple[str, ...], list[float]] = {(): [], ("--coverage",): []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.pairs + 1):
            for flags in times if number % 2 else reversed(times):
                took = seconds_of(folder, *flags)
                if number:
                    times[flags].append(took)
    without, counting = (statistics.median(found) for found in times.values())
    shares = statistics.median(b / a for a, b in zip(*times.values(), strict=True))
    print(
        f"without {without * 1000:.0f} ms, with --coverage {counting * 1000:.0f} ms; median of pairs {shares:.2f}, goal {GOAL}"
    )
    return int(shares > GOAL)


if __name__ == "__main__":
    sys.exit(main())
