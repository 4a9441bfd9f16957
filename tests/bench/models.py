"""Measures what models cost: a database for a test, many rows, and the tests of an application with data.

`python tests/bench/models.py` prints Markdown, and exits with 1 when a goal is missed. It opens databases of an
application with 60 models in addition to the built-in ones, writes and reads 10 000 rows as scripts do, and runs
`tests/apps/pet_clinic` by the command.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from machine import Neighbours, describe, use_two_cpus
from tables import table

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
MODELS = 60
ROWS = 10_000
PAGE = 100
ROUNDS = 200
RUNS = 30
"""Of each test and case of the application; the first does not count."""
COMMAND = [sys.executable, "-m", "runner"]
SCRIPT = f"""\
export function TestRows(t) {{
  const rows = [];
  for (let i = 0; i < {ROWS}; i++) rows.push(["name " + i, i % 7, {{ i }}]);
  Process("models.m0.Insert", ["name", "kind", "data"], rows);
  let seen = 0;
  for (let page = 1; page > 0; ) {{
    const found = Process("models.m0.Paginate", {{ orders: [{{ column: "id" }}] }}, page, {PAGE});
    seen += found.data.length;
    page = found.next;
  }}
  t.assert.Equal(seen, {ROWS});
}}
export function TestOneByOne(t) {{
  for (let i = 0; i < 2000; i++) Process("models.m0.Create", {{ name: "name " + i, kind: i % 7, data: {{ i }} }});
  t.assert.Equal(Process("models.m0.Count", {{}}), 2000);
}}
"""


def main() -> int:
    """Measures and prints; the exit code."""
    use_two_cpus()
    neighbours = Neighbours()
    rows: list[list[str]] = []
    missed = 0

    def row(what: str, milliseconds: float, goal: float | None = None) -> None:
        nonlocal missed
        missed += goal is not None and milliseconds > goal
        rows.append([what, f"{milliseconds:.2f} ms", "" if goal is None else f"{goal:g} ms"])

    with tempfile.TemporaryDirectory() as folder:
        app = Path(folder, "app")
        _write(app)
        first, copy = _openings(app)
        row(f"tables of {MODELS} models and the built-in ones, once a run", first)
        row("a database for a test, with its first query", copy, 2)
        took = _results(app, "-i", "scripts.demo.rows")
        row(f"a script test that inserts {ROWS} rows and reads them in pages of {PAGE}", took["TestRows"][0], 5000)
        row("a script test that creates 2000 rows one by one", took["TestOneByOne"][0])
        clinic = Path(folder, "clinic")
        shutil.copytree(ROOT / "tests/apps/pet_clinic", clinic)
        inputs = {"script tests": "scripts.clinic.index", "cases": "assistants/clinic/tests/visits.jsonl"}
        for what, name in inputs.items():
            for test, times in _results(clinic, "-i", name, "--runs", str(RUNS), "--parallel", "1").items():
                row(f"{what} of `pet_clinic`: {test}", statistics.median(times[1:]), 10)
    print(describe(), "", sep="\n")
    print(table(["", "median", "goal"], rows))
    print("", neighbours.sentence(), sep="\n")
    return int(bool(missed))


def _write(app: Path) -> None:
    for number in range(MODELS):
        columns = [
            {"name": "id", "type": "ID"},
            {"name": "name", "type": "string", "index": True},
            {"name": "kind", "type": "integer", "index": True},
            {"name": "data", "type": "json", "nullable": True},
            *({"name": f"c{place}", "type": "string", "nullable": True} for place in range(8)),
        ]
        document = {
            "table": {"name": f"m{number}"},
            "columns": columns,
            "option": {"timestamps": True, "soft_deletes": True},
        }
        path = app / f"models/m{number}.mod.yao"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))
    source = app / "assistants/demo/src/rows_test.ts"
    source.parent.mkdir(parents=True)
    source.write_text(SCRIPT)
    (app / "assistants/demo/package.yao").write_text("{}")


def _openings(app: Path) -> tuple[float, float]:
    """Milliseconds of the first database of a run, and the median of the others."""
    from bindings import Databases, OwnDatabase
    from runner.application.application import Application
    from runner.application.models import ApplicationData

    databases = Databases(ApplicationData(Application(app)), print)

    def one() -> None:
        own = OwnDatabase(
            lambda: databases, folder=app, now=lambda: datetime.now(UTC), salt=lambda: bytes(16), warn=print
        )
        own.call("models.m1.Get", [{}])
        own.close()

    first = _milliseconds(one)
    return first, statistics.median(_milliseconds(one) for _ in range(ROUNDS))


def _milliseconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def _results(app: Path, *arguments: str) -> dict[str, list[float]]:
    """Name → milliseconds of each run. Raises CalledProcessError when a test fails."""
    report = app / "report.jsonl"
    subprocess.run(
        [*COMMAND, *arguments, "-o", str(report)], cwd=app, check=True, capture_output=True, env=_environment()
    )
    took: dict[str, list[float]] = {}
    for line in report.read_text("utf-8").splitlines():
        record: dict[str, Any] = json.loads(line)
        name = record.get("name") or record.get("id")
        for one in record.get("attempts") or [record]:
            if isinstance(name, str) and "duration_ms" in one:
                took.setdefault(name, []).append(float(one["duration_ms"]))
    return took


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


if __name__ == "__main__":
    sys.exit(main())
