"""Measures what records cost: defining the classes at the start of a command, and making, reading and comparing records.

`python tests/bench/records.py` prints Markdown. Each figure is the median of several processes, which take turns: `Value`
(`scripttest/values.py`), frozen dataclasses with keywords only, and `NamedTuple`, which can be taken apart by position.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

from machine import Neighbours, describe, use_two_cpus
from tables import table

ROOT = Path(__file__).resolve().parents[2]
CLASSES = 60
RECORDS = 20_000
ROUNDS = 9
HEADS = {
    "Value": ("from scripttest.values import Value", "class R{}(Value):"),
    "dataclasses": ("from dataclasses import dataclass", "@dataclass(frozen=True, kw_only=True)\nclass R{}:"),
    "NamedTuple": ("from typing import NamedTuple", "class R{}(NamedTuple):"),
}
"""Kind → what is imported for it, and how a class begins."""
FIELDS = (
    "file: str",
    "line: int",
    "column: int",
    "text: str | None = None",
    "seconds: float = 0.0",
    "passed: bool = True",
)
PROGRAM = """
import json, sys, time
head, code, count = json.load(sys.stdin)
times = []
def timed(code, names):
    began = time.perf_counter()
    exec(code, names)
    times.append(time.perf_counter() - began)
names = {}
timed(compile(head, "head", "exec"), names)
timed(compile(code, "classes", "exec"), names)
timed(compile(f"made = [R0(file='a.ts', line=n, column=2, text='b') for n in range({count})]", "make", "exec"), names)
timed(compile("for one in made: one.file, one.line, one.passed", "read", "exec"), names)
timed(compile("for one in made: one == made[0]", "compare", "exec"), names)
print(json.dumps(times))
"""
ROWS = (
    ("importing what it needs", 1000, "ms"),
    (f"defining {CLASSES} classes of {len(FIELDS)} fields", 1000, "ms"),
    ("making a record", 1e6 / RECORDS, "us"),
    ("reading three fields", 1e6 / RECORDS, "us"),
    ("comparing two records", 1e6 / RECORDS, "us"),
)
"""What is measured → from seconds to its unit, and that."""


def main() -> None:
    """Measures and prints."""
    use_two_cpus()
    neighbours = Neighbours()
    times: dict[str, list[list[float]]] = {kind: [] for kind in HEADS}
    for _ in range(ROUNDS):
        for kind in HEADS:
            times[kind].append(_measure(kind))
    print(describe(), "", sep="\n")
    rows = [
        [what, *(f"{statistics.median(one[row] for one in times[kind]) * factor:.2f} {unit}" for kind in HEADS)]
        for row, (what, factor, unit) in enumerate(ROWS)
    ]
    print(table(["", *HEADS], rows))
    print("", neighbours.sentence(), sep="\n")


def _measure(kind: str) -> list[float]:
    """Seconds of each row, in a new process."""
    head, begin = HEADS[kind]
    body = "".join(f"\n    {field}" for field in FIELDS)
    code = "from __future__ import annotations\n" + "\n".join(f"{begin.format(n)}{body}" for n in range(CLASSES))
    told = json.dumps([head, code, RECORDS])
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=told, capture_output=True, text=True, check=True, cwd=ROOT
    )
    seconds: list[float] = json.loads(result.stdout)
    return seconds


if __name__ == "__main__":
    main()
