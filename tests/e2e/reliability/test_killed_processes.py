"""Processes that are killed from outside, and runs that are interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

from agent_files import agent, case_file
from command import Application, MakeApplication, eventually
from faults import children, with_model
from model_server import ModelServer, silence

PASSING = "export function TestPasses(t) { t.assert.True(true); }\n"


def gone(pid: int) -> bool:
    """Whether a process has ended; one that waits to be collected has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


HANG = 'Process("fs.data.WriteFile", "started", "yes"); time.Sleep(1e6);'


def started(here: Application) -> None:
    eventually((here.root / "data/started").exists, "the test that hangs starts")


def test_a_worker_that_is_killed_fails_its_test_and_the_rest_runs(app: MakeApplication) -> None:
    code = f"export function TestFirst(t) {{}}\nexport function TestKilled(t) {{ {HANG} }}\nexport function TestRest(t) {{}}\n"
    here = app({"/data/.keep": "", "a_test.ts": code, "b_test.ts": PASSING})
    report = here.home / "report.json"
    with here.start("-i", "scripts.demo.a", "-i", "scripts.demo.b", "--parallel", "1", "-o", str(report)) as process:
        started(here)
        (worker,) = children(process.pid, "scripttest.realm.worker")
        os.kill(worker, signal.SIGKILL)
        run = here.finish(process)
    assert (run.code, run.stderr) == (1, "")
    lines = run.stdout.splitlines()
    assert "  └─ The worker process was killed by signal 9 (SIGKILL)" in lines
    assert "     at assistants/demo/src/a_test.ts:2:17" in lines
    module, other = json.loads(report.read_text())["reports"]
    assert [(record["name"], record["status"], record.get("cause")) for record in module["results"]] == [
        ("TestFirst", "passed", None),
        ("TestKilled", "failed", "infrastructure"),
        ("TestRest", "passed", None),
    ]
    assert other["summary"]["passed"] == 1


def test_a_worker_that_is_killed_before_its_first_test_costs_nothing(app: MakeApplication) -> None:
    once = (
        'const fs = new FS("data"); if (!fs.Exists("started")) { fs.WriteFile("started", "yes"); time.Sleep(1e6); }\n'
    )
    here = app({"/data/.keep": "", "a_test.ts": once + PASSING, "b_test.ts": PASSING})
    with here.start("-i", "scripts.demo.a", "-i", "scripts.demo.b", "--parallel", "1") as process:
        started(here)
        (worker,) = children(process.pid, "scripttest.realm.worker")
        os.kill(worker, signal.SIGKILL)
        run = here.finish(process)
    assert (run.code, run.stderr) == (0, "")
    assert "Summary: 2 passed, 0 failed, 0 skipped" in run.stdout


def test_a_compiler_that_is_killed_costs_nothing_that_is_compiled(app: MakeApplication) -> None:
    wait = 'Process("fs.data.WriteFile", "started", "yes"); while (!Process("fs.data.Exists", "go")) {}'
    called = '\n  t.assert.Equal(Process("scripts.late.Add", 1, 2), 3);'
    here = app(
        {
            "/data/.keep": "",
            "/scripts/late.ts": "export function Add(a: number, b: number) { return a + b; }\n",
            "a_test.ts": f"export function TestA(t) {{ {wait}{called} }}\n",
            "b_test.ts": PASSING,
        }
    )
    with here.start("-i", "scripts.demo.a", "-i", "scripts.demo.b", "--parallel", "1") as process:
        started(here)
        (compiler,) = children(process.pid, "esbuild")
        os.kill(compiler, signal.SIGKILL)
        (here.root / "data/go").write_text("")
        run = here.finish(process)
    assert (run.code, run.stderr) == (0, "")
    assert "Summary: 2 passed, 0 failed, 0 skipped" in run.stdout


def test_no_process_waits_for_scripts_while_cases_run(app: MakeApplication) -> None:
    with ModelServer(silence()) as server:
        files = {**agent(package={"connector": "local"}, cases=[{"id": "asks", "input": "x"}]), **with_model(server)}
        here = app({**files, "a_test.ts": PASSING})
        with here.start("-i", "scripts.demo.a", "-i", case_file()) as process:
            eventually(lambda: server.requests, "the case asks its model")
            eventually(lambda: not children(process.pid, "scripttest"), "the worker and the compiler have ended")
            process.send_signal(signal.SIGINT)
            run = here.finish(process)
    assert run.code == 130 and "1 passed" in run.stdout


def test_an_interrupt_reports_what_ended_and_leaves_no_process(app: MakeApplication) -> None:
    code = f"export function TestFirst(t) {{}}\nexport function TestHangs(t) {{ {HANG} }}\nexport function TestRest(t) {{}}\n"
    here = app({"/data/.keep": "", "a_test.ts": code})
    report, lines = here.home / "report.json", here.home / "report.jsonl"
    with here.start("-i", "scripts.demo.a", "-o", str(report), "-o", str(lines)) as process:
        started(here)
        family = children(process.pid, "")
        os.killpg(process.pid, signal.SIGINT)
        run = here.finish(process)
    assert (run.code, run.stderr) == (130, "")
    assert re.search(r"^► \[TestFirst\] \.\.\.\n  ✓ PASSED \(\d+ms\)\n\n═", run.stdout, re.MULTILINE)
    assert re.search(r"  Summary: interrupted: 1 passed, 0 failed, 0 skipped \(.*\)\n", run.stdout)
    assert len(family) >= 2
    eventually(lambda: all(map(gone, family)), "all processes end")
    assert [record["name"] for record in json.loads(report.read_text())["results"]] == ["TestFirst"]
    last = json.loads(lines.read_text().splitlines()[-1])
    assert (last["type"], last["status"], last["total"]) == ("summary", "interrupted", 1)


def test_a_runner_that_is_killed_leaves_its_results_and_no_process(app: MakeApplication) -> None:
    here = app(
        {"/data/.keep": "", "a_test.ts": f"export function TestFirst(t) {{}}\nexport function TestA(t) {{ {HANG} }}\n"}
    )
    lines = here.home / "report.jsonl"
    with here.start("-i", "scripts.demo.a", "-o", str(lines)) as process:
        started(here)
        eventually(lambda: lines.read_bytes().count(b"\n") == 2, "the result of the first test is in the report")
        family = children(process.pid, "")
        process.kill()
    assert len(family) >= 2
    eventually(lambda: all(map(gone, family)), "all processes end")
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [(record["type"], record.get("id")) for record in records] == [("start", None), ("result", "TestFirst")]
