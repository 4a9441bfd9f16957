"""A small soak: memory stays flat over some hundred results, and the soak notices when it does not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest
from command import PATIENCE

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> Iterable[ModuleType]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    import soak

    yield soak
    for name in set(sys.modules) - before:
        if str(BENCH) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_memory_is_flat_over_a_small_soak() -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc here")
    command = [sys.executable, str(BENCH / "soak.py"), "--cases", "600", "--tests", "700", "--every", "0.05"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5 * PATIENCE)
    assert run.returncode == 0, run.stdout + run.stderr
    rows = re.findall(r"^\| (\d+ [a-z ]+) \| (command|worker) \|.*\| (yes|\*\*no\*\*) \|$", run.stdout, re.M)
    names = ("600 cases", "700 script tests")
    assert rows == [(name, role, "yes") for name in names for role in ("command", "worker")]
    for name in names:
        assert f"{name}: each result once, all passed." in run.stdout


@pytest.mark.parametrize(
    ("sizes", "grown", "is_flat"),
    [
        ([20, 50, 50, 50, 50], 0, True),
        ([20, 50, 54, 50, 50], 4, True),
        ([20, 50, 52, 54, 56], 6, False),
        ([20, 90, 98, 96, 98], 8, True),
        ([20, 90, 99, 90, 90], 9, False),
    ],
    ids=["nothing", "less than 5 MB", "more", "less than a tenth", "a tenth, for a moment"],
)
def test_growth_counts_from_the_first_quarter_on(soak: ModuleType, sizes: list[int], grown: int, is_flat: bool) -> None:
    samples = [soak.Sample(n, n * 25, size * 10**6, 0, 0) for n, size in enumerate(sizes)]
    found, slope, flat = soak.growth(samples, "command")
    assert (found, flat) == (grown * 10**6, is_flat)
    assert (slope > 0) == (sizes[-1] > sizes[1] + 1)


def test_results_that_are_missing_twice_there_or_no_pass_are_said(soak: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "r.jsonl"
    ids = [("a", "passed"), ("b", "failed"), ("a", "passed")]
    records = [{"type": "start"}, *({"type": "result", "suite": "s", "id": id, "status": status} for id, status in ids)]
    report.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert soak.problems_of(report, 3) == [
        "1 results missing",
        "1 results reported more than once",
        "1 results not passed",
    ]
    assert soak.problems_of(report, 2) == ["1 results reported more than once", "1 results not passed"]
