"""Measures comparisons of two large runs: wall time, CPU time and peak memory of `yao-test diff`, by output format.

    python -m tests.bench.comparisons [--cases 10000] [--rounds 3]

Goals for 10 000 cases of one run: 3 s and 200 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench.tables import table

COMMAND = Path(sys.executable).with_name("yao-test")
SUITE = {"id": "c.jsonl", "kind": "agent_test", "label": "c.jsonl", "file": "", "agent": "a", "connector": "gpt"}
OUTPUTS = {"console": (), ".json": ("-o", "d.json"), ".md": ("-o", "d.md"), ".html": ("-o", "d.html")}


def write(path: Path, cases: int, rate: float, seed: int) -> None:
    """A report of one run of each case, with scores, a checkpoint, tags and usage."""
    draw = random.Random(seed)
    lines: list[object] = [
        {"type": "start", "timestamp": f"2026-11-20T10:00:{seed:02}Z", "version": "1", "suites": [SUITE]}
    ]
    for at in range(cases):
        passed = draw.random() < rate
        lines.append(
            {
                "type": "result",
                "suite": "c.jsonl",
                "position": at,
                "id": f"case-{at}",
                "status": "passed" if passed else "failed",
                "duration_ms": int(1000 * draw.lognormvariate(0, 0.3)),
                "input": f"question {at}",
                "digest": f"d{at}",
                "score": round(draw.betavariate(8, 2), 3),
                "checkpoints": [
                    {"id": "polite", "passed": draw.random() < 0.9, "required": True, "reached_at_turn": 1}
                ],
                "tags": [f"topic-{at % 5}"],
                "usage": {"input_tokens": 100, "output_tokens": draw.randrange(20, 60), "cost": 0.002},
            }
        )
    lines.append({"type": "summary", "duration_ms": 1000, "status": "failed"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def measured(folder: Path, output: tuple[str, ...]) -> tuple[float, float, float]:
    """Seconds, seconds of CPU time and megabytes of one comparison."""
    start = time.perf_counter()
    child = os.fork()
    if not child:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(COMMAND, [str(COMMAND), "diff", "a.jsonl", "b.jsonl", *output])
    _, status, usage = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    took = time.perf_counter() - start
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "a.jsonl", options.cases, 0.9, 1)
        write(folder / "b.jsonl", options.cases, 0.88, 2)
        rows = []
        for shown, output in OUTPUTS.items():
            rounds = [measured(folder, output) for _ in range(options.rounds)]
            wall, cpu, held = zip(*rounds, strict=True)
            rows.append([shown, f"{median(wall):.2f} s", f"{median(cpu):.2f} s", f"{max(held):.0f} MB"])
    print(table(["also written", "wall time", "CPU time", "peak memory"], rows))


if __name__ == "__main__":
    main()
