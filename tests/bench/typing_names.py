"""Measures what a run of three tests would take longer if its modules loaded `typing`, see `scripttest/typing_names.py`.

`python tests/bench/typing_names.py [--rounds 40]` prints Markdown: medians of runs in turn, with and without it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from commands import Job, adopt_orphans, prepare
from machine import Neighbours, describe, use_two_cpus
from tables import table
from tools import all_tools
from workloads import Workload

MAIN = "import sys; from runner.__main__ import main; sys.exit(main())"
PROGRAMS = {"as it is": MAIN, "with `typing`": f"import typing; {MAIN}"}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    use_two_cpus()
    adopt_orphans()
    neighbours = Neighbours()
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    with tempfile.TemporaryDirectory() as folder:
        jobs = _jobs(Path(folder))
        for job in jobs.values():
            job.run()
        for number in range(rounds):
            for name in PROGRAMS if number % 2 else reversed(PROGRAMS):
                times[name].append(jobs[name].run() * 1000)
    plain, loaded = times.values()
    ratio = statistics.median(more / less for less, more in zip(plain, loaded, strict=True))
    print(describe(), "", sep="\n")
    print(
        table(
            ["a run of three tests", "median"], [[name, f"{statistics.median(times[name]):.1f} ms"] for name in times]
        )
    )
    print(
        "", f"In the median pair, `typing` makes it {100 * (ratio - 1):.1f} % longer.", neighbours.sentence(), sep="\n"
    )


def _jobs(folder: Path) -> dict[str, Job]:
    job = prepare(all_tools()["yao-test"], Workload(modules=1, tests=3), folder)
    return {
        name: job._replace(command=[sys.executable, "-c", code, *job.command[1:]]) for name, code in PROGRAMS.items()
    }


if __name__ == "__main__":
    main()
