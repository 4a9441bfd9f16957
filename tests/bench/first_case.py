"""Measures the time of a run of one case with two checkouts of the project, in turn.

python tests/bench/first_case.py BEFORE [--rounds 20]

BEFORE is the root of another checkout, with everything built. Both run `assistants/keyword/tests/inputs.jsonl`, one
case of it, by this Python; the first round does not count. Prints the medians, and their ratio.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AFTER = Path(__file__).parents[2]
GOAL = 0.6
"""Of the time before."""
COMMAND = "import sys; from runner.__main__ import main; sys.exit(main())"
CASE = ["-i", "assistants/keyword/tests/inputs.jsonl", "--run", "T001"]


def seconds_of(tree: Path, folder: str) -> float:
    """How long a run in a tree takes, with its modules compiled below a folder. Raises CalledProcessError."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONPYCACHEPREFIX": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", COMMAND, *CASE, "-o", f"{folder}/report.jsonl"],
        cwd=tree,
        env=environment,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("before", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    trees = (given.before.resolve(), AFTER)
    times: dict[Path, list[float]] = {tree: [] for tree in trees}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.rounds + 1):
            for tree in trees if number % 2 else reversed(trees):
                took = seconds_of(tree, folder)
                if number:
                    times[tree].append(took)
    before, after = (statistics.median(times[tree]) * 1000 for tree in trees)
    print(f"before {before:.0f} ms, after {after:.0f} ms: {after / before:.2f} of it, goal {GOAL}")
    return int(after > GOAL * before)


if __name__ == "__main__":
    sys.exit(main())
