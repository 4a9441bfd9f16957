"""200 faults over one run: every test is reported once, none passes that should not, nothing is left behind.

The seed is 1; `YAO_TEST_FAULT_SEED` takes another, and `random` draws one, which is shown on failure. With `-s` the faults are
printed as the table of `docs/reliability.md`.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from command import PATIENCE, Application, MakeApplication, Record, Run, eventually
from faults import leaves_nothing, lines_of
from injected_faults import RETRIES, Host, Killer, Plan, answer_to, draw
from model_server import ModelServer

VARIABLE = "YAO_TEST_FAULT_SEED"
LOST = [f"disk/r{end}" for end in (".json", ".html", ".md", ".xml", ".ctrf.json")]
"""Reports on a disk that goes away."""
PIPE = "pipe.jsonl"
"""A report whose reader goes away."""
BROKEN_REPORT = re.compile(r"^Error: Cannot write .*/home/(.*): (?:Broken pipe|No such file or directory)$", re.M)
KILLED = re.compile(r"worker process was killed by signal 9 \(SIGKILL\)")


def connectors(server: ModelServer) -> dict[str, str]:
    options = {"host": server.url, "model": "m", "key": "sk-local", "retries": RETRIES, "max_concurrency": 64}
    definition = json.dumps({"type": "openai", "options": options})
    return {f"/connectors/{name}.conn.yao": definition for name in ("local", "limited")}


def run_under_fire(here: Application, killer: Killer, path: Path) -> Run:
    """Runs everything, while workers are killed and the places of reports go away."""
    pipe, console = here.home / PIPE, here.home / "console"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    outputs = [word for name in (path.name, PIPE, *LOST) for word in ("-o", str(here.home / name))]
    with (
        leaves_nothing(here) as sessions,
        console.open("wb") as output,
        here.start("-i", "assistants", *outputs, "--parallel", "40", stdout=output, stderr=output) as process,
    ):
        sessions.append(process.pid)
        eventually(lambda: path.exists() and path.stat().st_size, "the run begins")
        shutil.rmtree(here.home / "disk")
        os.close(reading)
        killer.run(process, PATIENCE)
        process.kill()
    return Run(code=process.returncode, stdout=console.read_text(), stderr="")


def results_of(path: Path) -> dict[str, Record]:
    """The results by id; one that was reported twice fails here."""
    records = [record for record in lines_of(path) if record["type"] == "result"]
    assert [id for id, count in Counter(record["id"] for record in records).items() if count > 1] == []
    return {record["id"]: record for record in records}


def end_of(record: Record) -> str:
    """How a test ended: `passed`, the cause of its failure, or `killed`."""
    if record["status"] == "passed":
        return "passed"
    assert record["status"] == "failed", record
    if KILLED.search(record["error"]):
        assert record["cause"] == "infrastructure", record
        return "killed"
    return str(record["cause"])


def counts_of(run: Run) -> tuple[int, ...]:
    """Passed, failed, and errors, as the console counts them."""
    found = re.search(r"Summary: (\d+) passed, (\d+) failed, 0 skipped(?:, (\d+) errors)?", run.stdout)
    assert found, run.stdout
    return tuple(int(count or 0) for count in found.groups())


def counts_in(results: dict[str, Record]) -> tuple[int, ...]:
    """The same of a report."""
    passed = sum(record["status"] == "passed" for record in results.values())
    errors = sum(record.get("cause") == "infrastructure" for record in results.values())
    return passed, len(results) - passed - errors, errors


def assert_as_planned(results: dict[str, Record], expected: dict[str, str], taken: set[str]) -> None:
    """Compares how each test ended; those of `taken` were running in a worker that was killed for another one."""
    assert {id: end_of(record) for id, record in results.items()} == {**expected, **dict.fromkeys(taken, "killed")}
    outputs = {
        id: record["output"] for id, record in results.items() if "output" in record and end_of(record) == "passed"
    }
    assert outputs == {id: answer_to(id) for id in outputs}


def test_200_faults_over_a_run_cost_nothing_but_the_tests_that_they_hit(app: MakeApplication) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("no /proc here")
    wanted = os.environ.get(VARIABLE, "1")
    seed = random.SystemRandom().randrange(1_000_000) if wanted == "random" else int(wanted)
    print(f"{VARIABLE}={seed}")  # noqa: T201
    plan: Plan = draw(seed)
    host = Host(plan.faults)
    with ModelServer(host) as server:
        here = app({**plan.files, **connectors(server)})
        path = here.home / "r.jsonl"
        killer = Killer(random.Random(seed), here.root / "data/marks", path)

        run = run_under_fire(here, killer, path)

        print(run.stdout)  # noqa: T201
        results = results_of(path)
        taken = {id for id in plan.in_workers & results.keys() if end_of(results[id]) == "killed"}
        assert_as_planned(results, plan.expected, taken)
        kinds = [record["type"] for record in lines_of(path)]
        assert kinds[kinds.index("summary") :] == ["summary"] + ["error"] * len(LOST)
        assert (run.code, counts_of(run)) == (3, counts_in(results))
        assert host.happened == plan.kinds
        assert len(taken) <= killer.kills
        broken = BROKEN_REPORT.findall(run.stdout)
        assert broken == [PIPE, *LOST]
        faults = {**host.happened, "worker killed": killer.kills, "report lost": len(broken)}
        print("".join(f"| {kind} | {count} |\n" for kind, count in sorted(faults.items())))  # noqa: T201
        print(f"{sum(faults.values())} faults, {len(results)} tests, {counts_in(results)}")  # noqa: T201
        assert sum(faults.values()) >= 200

        host.is_healthy = True
        for id in plan.expected:
            (here.root / "data/marks" / id).touch()  # so that nothing spins any more
        again = here.run("--resume", str(path), "--parallel", "40")

        resumed = results_of(path)
        lasting = {id: end for id, end in plan.expected.items() if end not in ("infrastructure", "killed")}
        ends = {**plan.verdicts, **{id: end for id, end in lasting.items() if id not in taken}}
        assert_as_planned(resumed, ends, set())
        assert (again.code, counts_of(again)) == (1, counts_in(resumed))
