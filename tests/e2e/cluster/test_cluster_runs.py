"""`--cluster`: the same run on the workers of a Dask cluster, with a real scheduler and two real workers."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Record, eventually
from dask_cluster import DaskCluster, runners
from faults import WORKER, are_gone, below, helper_processes, with_model
from model_server import Behaviour, Exchange, ModelServer, echo, status
from span_collector import Collector, SentSpan, collecting

from runner.store.store import Store
from scripttest import system_walls

pytest.importorskip("distributed")
pytest.importorskip("opentelemetry.sdk")

MODULE = """\
import { double } from "./helper";
function TestDouble(t: testing.T) { console.log("doubling"); t.assert.Equal(double(2), 4); }
function TestWrong(t: testing.T) { t.assert.Equal(double(2), 5); }
function TestSkipped(t: testing.T) { t.skip("not today"); }
function TestThrown(t: testing.T) { throw new Error("no " + double(1)); }
function TestNested(t: testing.T) { t.run("one", t => t.assert.True(true)); t.run("two", t => t.assert.True(false)); }
"""
OTHER = """\
function TestStore(t: testing.T) { const s = new Store("a"); s.Set("k", 1); t.assert.Equal(s.Get("k"), 1); }
function TestSlow(t: testing.T) { t.assert.True(true); }
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with DaskCluster(tmp_path_factory.mktemp("cluster"), env={"WORKER_KEY": "tok-of-workers-4711"}) as cluster:
        yield cluster


def timeless(value: Any) -> Any:
    """A report without what differs from run to run."""
    if isinstance(value, dict):
        left = ("run_id", "duration", "timestamp", "started_at", "completed_at", "avg_", "min_", "max_", "std_")
        return {key: timeless(item) for key, item in value.items() if not (key.startswith(left) or key.endswith("_ms"))}
    if isinstance(value, list):
        return [timeless(item) for item in value]
    return re.sub(r"\b\d+(\.\d+)?(ms|s)\b", "TIME", value) if isinstance(value, str) else value


def lines_of(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def scripts(app: MakeApplication) -> Application:
    return app(
        {
            "helper.ts": "export function double(n: number) { return 2 * n; }",
            "first_test.ts": MODULE,
            "second_test.ts": OTHER,
            "broken_test.ts": "function TestX( {",
        }
    )


def test_script_tests_have_the_same_results_as_without_it(app: MakeApplication, cluster: DaskCluster) -> None:
    here = scripts(app)
    alone = here.report("-i", "scripts.demo", code=1)
    there = here.report("-i", "scripts.demo", "--cluster", cluster.address, "--store", "store", code=1)
    assert timeless(there) == timeless(alone)
    with Store(here.root / "store") as store:
        (run,) = store.runs()
        kept = store.report(run.id)
    assert sorted(one["id"] for one in kept.lines) == sorted(
        one.get("name") or one["id"] for part in there["reports"] for one in part["results"]
    )
    assert (run.state, kept.summary["failed"]) == ("failed", there["summary"]["failed"])


def test_a_local_cluster_has_the_application_where_it_is(app: MakeApplication) -> None:
    here = scripts(app)
    hidden = here.root / "assistants/demo/src/.own"
    hidden.mkdir()
    (hidden / "helper.ts").write_text("export const three = 3;\n")
    (hidden.parent / "own_test.ts").write_text(
        'import { three } from "./.own/helper";\nfunction TestThree(t: testing.T) { t.assert.Equal(three, 3); }\n'
    )
    alone = here.report("-i", "scripts.demo", code=1)
    there = here.report("-i", "scripts.demo", "--cluster", "local:2", code=1)
    assert timeless(there) == timeless(alone)


@pytest.mark.parametrize(
    "flags",
    [
        ("--run", "Nested/one"),
        ("--runs", "2", "--min-pass-rate", "50", "--shuffle", "7", "--parallel", "2"),
    ],
    ids=" ".join,
)
def test_flags_mean_the_same(app: MakeApplication, cluster: DaskCluster, flags: tuple[str, ...]) -> None:
    here = scripts(app)
    alone = here.report("-i", "scripts.demo.first", "-i", "scripts.demo.second", *flags)
    there = here.report("-i", "scripts.demo.first", "-i", "scripts.demo.second", *flags, "--cluster", cluster.address)
    assert timeless(there) == timeless(alone)


@pytest.mark.parametrize("name", ["TestNobody", "TestNested/nobody"])
def test_a_name_that_fits_nothing_is_said(app: MakeApplication, cluster: DaskCluster, name: str) -> None:
    here = scripts(app)
    flags = ("-i", "scripts.demo.first", "-i", "scripts.demo.second", "--run", name, "-o", "r.jsonl")
    alone = here.run(*flags)
    there = here.run(*flags, "--cluster", cluster.address)
    assert there == alone
    assert alone.code == 2
    assert not (here.root / "r.jsonl").exists()


def talks(app: MakeApplication) -> Application:
    cases = [
        {"id": "first", "input": "one", "assert": {"type": "contains", "value": "one"}},
        {"id": "second", "input": "two", "depends_on": ["first"], "assert": {"type": "contains", "value": "no"}},
        {"id": "third", "input": "three", "depends_on": ["second"]},
        {"id": "fourth", "turns": [{"input": "a"}, {"input": "b"}], "tags": ["long"]},
        {"id": "fifth", "input": "five", "skip": "later"},
        *({"id": f"more-{n}", "input": f"number {n}"} for n in range(20)),
    ]
    return app(agent(cases=cases))


def test_cases_have_the_same_results_as_without_it(app: MakeApplication, cluster: DaskCluster) -> None:
    here, flags = talks(app), ("--parallel", "3", "--runs", "2")
    alone = here.report("-i", case_file(), *flags)
    there = here.report("-i", case_file(), *flags, "--cluster", cluster.address)
    assert timeless(there) == timeless(alone)


@pytest.mark.parametrize("flags", [("--runs", "2", "--parallel", "2"), ("--until-decided",)], ids=" ".join)
def test_variants_have_the_same_results_as_without_it(
    app: MakeApplication, cluster: DaskCluster, flags: tuple[str, ...]
) -> None:
    said = {"type": "contains", "value": "Be brief." if len(flags) == 1 else "x"}
    cases = [{"id": f"c{n}", "input": "x", "assert": said, "depends_on": ["c0"] if n == 1 else []} for n in range(7)]
    skipped = {"id": "later", "input": "x", "skip": "later"}
    prompts = "- { role: system, content: Be long. }"
    here = app({**agent(cases=[*cases, skipped]), "/assistants/demo/new.yml": prompts})
    flags = ("-i", case_file(), "--variant", "old=", "--variant", "new=prompts:new.yml", *flags)
    alone = here.report(*flags)
    there = here.report(*flags, "--cluster", cluster.address)
    for report in (alone, there):  # the parts are in the order in which their first runs ended
        report["summary"]["parts"].sort(key=lambda part: part["name"])
    assert timeless(there) == timeless(alone)
    assert alone["summary"]["total"] == 16


def test_a_resumed_round_holds_cases_back_whose_dependency_failed(app: MakeApplication, cluster: DaskCluster) -> None:
    cases = [
        {"id": "first", "input": "x", "assert": {"type": "contains", "value": "no"}},
        {"id": "second", "input": "x", "depends_on": ["first"]},
        {"id": "third", "input": "x"},
    ]
    prompts = "- { role: system, content: Be long. }"
    here = app({**agent(cases=cases), "/assistants/demo/new.yml": prompts})
    variants = ("--variant", "old=", "--variant", "new=prompts:new.yml")
    here.run("-i", case_file(), *variants, "--until-decided", "-o", "r.jsonl")
    report = here.root / "r.jsonl"
    kept = [
        line
        for line in lines_of(report)
        if line["type"] == "start" or (line["type"] == "result" and line["id"] != "second")
    ]
    report.write_text("".join(json.dumps(line) + "\n" for line in kept))

    here.run("--resume", "r.jsonl", "--cluster", cluster.address)

    held = [line for line in lines_of(report) if line["type"] == "result" and line["id"] == "second"]
    assert [line["skip_reason"] for line in held] == ['depends on "first", which failed'] * 2


def model_talks(app: MakeApplication, server: ModelServer, count: int, turns: int = 0, **options: Any) -> Application:
    """Cases that a real model answers, with `options` in the file of its connector."""

    def case(number: int) -> Record:
        said = f"case {number}"
        if not turns:
            return {"id": f"c{number}", "input": said, "assert": {"type": "contains", "value": said}}
        return {"id": f"c{number}", "turns": [{"input": f"{said} turn {turn}"} for turn in range(turns)]}

    files = agent(package={"connector": "local"}, cases=[case(number) for number in range(count)])
    return app({**files, **with_model(server, **{"key": "$ENV.WORKER_KEY", **options})})


def results_of(report: Path) -> dict[str, str]:
    """Id → status; each result is there once."""
    records = [record for record in lines_of(report) if record["type"] == "result"]
    assert len({record["id"] for record in records}) == len(records)
    return {record["id"]: record["status"] for record in records}


def spans(collector: Collector) -> list[Any]:
    """Names, parents, statuses and what is said, without what differs from run to run."""

    def said(span: SentSpan) -> dict[str, Any]:
        return {name: value for name, value in timeless(dict(span.attributes)).items() if name != "yao_test.run_id"}

    found = [(collector.path_of(span), span.status, span.why, said(span)) for span in collector.spans]
    return sorted(found, key=repr)


def test_spans_are_the_same_with_what_was_said(app: MakeApplication, cluster: DaskCluster) -> None:
    asks = 'function TestAsks(t: testing.T) { t.assert.Equal(Process("agents.demo.Stream", "hello").content, "no"); }'
    cases = [{"id": "talk", "turns": [{"input": "a"}, {"input": "b"}]}, {"id": "plain", "input": "one"}]
    here = app({**agent(cases=cases), "asks_test.ts": asks})
    variables = {**here.environment, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
    sent = []
    for flags in ((), ("--cluster", cluster.address)):
        with collecting() as collector:
            inputs = ("-i", case_file(), "-i", "scripts.demo")
            run = here.run(*inputs, "--otlp", collector.url, *flags, env=variables)
        assert run.code == 1, run
        sent.append(spans(collector))
    alone, there = sent
    assert there == alone
    assert "hello" in repr(alone)


class Gate:
    """Answers as `echo` does, but what names one of some words, which waits until it is opened; counts what is under
    way."""

    def __init__(self, *words: str, delay: float = 0.0) -> None:
        self._words, self._answer = words, echo(delay)
        self.is_open = False
        self.under_way = self.most = 0

    def behaviour(self) -> Behaviour:
        async def behave(exchange: Exchange) -> None:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            try:
                while not self.is_open and any(word in exchange.request.last_text for word in self._words):
                    await asyncio.sleep(0.01)
                await self._answer(exchange)
            finally:
                self.under_way -= 1

        return behave


def test_results_come_while_a_piece_still_runs(app: MakeApplication, cluster: DaskCluster) -> None:
    gate = Gate("case 5")
    with ModelServer(gate.behaviour()) as server:
        here = model_talks(app, server, 6)
        report = here.root / "r.jsonl"
        flags = ("-i", case_file(), "--cluster", cluster.address, "-o", "r.jsonl")
        with here.start(*flags, "--parallel", "6") as process:  # one piece for each worker at most
            eventually(lambda: report.exists() and len(lines_of(report)) == 6, "the results of all others")
            assert gate.under_way == 1
            gate.is_open = True
            assert here.finish(process).code == 0
        assert results_of(report) == {f"c{number}": "passed" for number in range(6)}


def test_bounds_of_a_connector_hold_for_all_workers(app: MakeApplication, cluster: DaskCluster) -> None:
    gate = Gate(delay=0.03)
    with ModelServer(gate.behaviour()) as server:
        here = model_talks(app, server, 12, max_concurrency=2)
        here.report("-i", case_file(), "-c", "local", "--cluster", cluster.address, "--parallel", "3", code=0)
    assert len(server.requests) == 12
    assert gate.most == 2


def test_requests_of_all_workers_are_spread_over_the_minute(app: MakeApplication, cluster: DaskCluster) -> None:
    with ModelServer() as server:
        here = model_talks(app, server, 7, requests_per_minute=600)
        report = here.report("-i", case_file(), "--cluster", cluster.address, "--parallel", "4", code=0)
    assert report["summary"]["duration_ms"] >= 600  # six gaps of a tenth of a second


def test_a_budget_counts_what_all_workers_take(app: MakeApplication, cluster: DaskCluster) -> None:
    with ModelServer(echo(0.02)) as server:
        here = model_talks(app, server, 40)
        run = here.run("-i", case_file(), "--cluster", cluster.address, "--max-tokens", "60", "-o", "r.jsonl")
    assert run.code == 1
    assert "Stopped: --max-tokens 60 is used up" in run.stdout
    results = results_of(here.root / "r.jsonl")
    assert 0 < len(results) < 40
    assert len(server.requests) < 40


def test_fail_fast_stops_all_workers(app: MakeApplication, cluster: DaskCluster) -> None:
    cases = [{"id": f"c{number}", "input": "x", "assert": {"type": "equals", "value": number}} for number in range(60)]
    here = app(agent(cases=cases))
    report = here.report("-i", case_file(), "--cluster", cluster.address, "--fail-fast", code=1)
    assert report["summary"]["failed"] == 1
    assert report["summary"]["not_run"] == 59


def test_what_broke_runs_again_in_a_later_pass(
    app: MakeApplication, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.execution.repetition.FIRST_PAUSE", 0.1)
    with ModelServer() as server:
        server.plan(status(500, "not today"), status(500, "not today"))
        here = model_talks(app, server, 4, retries=0)
        report = here.report("-i", case_file(), "--cluster", cluster.address, "--retry-errors", "1", code=0)
    assert len(server.requests) == 6
    assert [len(one.get("earlier_errors", ())) for one in report["results"]].count(1) == 2


def test_runs_of_a_case_that_broke_are_each_made_once_more(
    app: MakeApplication, cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.execution.repetition.FIRST_PAUSE", 0.1)
    with ModelServer(echo(0.2)) as server:
        server.plan(*[status(500, "not today")] * 3)
        here = model_talks(app, server, 1, retries=0)
        flags = ("--cluster", cluster.address, "--runs", "3", "--retry-errors", "1")
        run = here.run("-i", case_file(), *flags)
    assert run.code == 0, run
    assert len(server.requests) == 6


def test_recordings_come_home_and_travel(app: MakeApplication, cluster: DaskCluster) -> None:
    with ModelServer() as server:
        here = model_talks(app, server, 5, turns=2)
        flags = ("-i", case_file(), "--cluster", cluster.address)
        here.report(*flags, "--record", "recordings", code=0)
        assert len(server.requests) == 10
        recorded = sorted(path.name for path in here.root.glob("recordings/**/*") if path.is_file())
        alone = {**here.environment, "WORKER_KEY": "tok-of-workers-4711"}
        assert here.run("-i", case_file(), "--record", "alone", env=alone).code == 0
        assert recorded == sorted(path.name for path in here.root.glob("alone/**/*") if path.is_file())
    here.report(*flags, "--replay", "recordings", code=0)
    here.report("-i", case_file(), "--replay", "recordings", code=0)


def test_a_run_goes_on_with_resume(app: MakeApplication, cluster: DaskCluster) -> None:
    here = talks(app)
    flags = ("--cluster", cluster.address)
    here.run("-i", case_file(), *flags, "-o", "r.jsonl", "--runs", "2")
    whole = lines_of(here.root / "r.jsonl")
    kept = [record for record in whole if record["type"] != "summary"]
    (here.root / "r.jsonl").write_text("".join(json.dumps(record) + "\n" for record in kept[: len(kept) // 2]))
    run = here.run("--resume", "r.jsonl", *flags)
    count = sum(record["type"] == "result" for record in kept[: len(kept) // 2])
    assert f"{count} results of r.jsonl are kept" in run.stdout

    def results(records: list[Record]) -> list[Any]:
        found = [timeless(record) for record in records if record["type"] == "result"]
        return sorted(found, key=lambda record: (record["id"], record.get("run", 0)))

    assert results(lines_of(here.root / "r.jsonl")) == results(whole)


def test_kept_results_of_a_module_count_once(app: MakeApplication, cluster: DaskCluster) -> None:
    here = scripts(app)
    whole = here.run("-i", "scripts.demo", "-o", "r.jsonl").stdout
    lines = (here.root / "r.jsonl").read_text().splitlines(keepends=True)
    (here.root / "r.jsonl").write_text("".join(line for line in lines if '"TestWrong"' not in line))
    resumed = here.run("--resume", "r.jsonl", "--cluster", cluster.address).stdout
    said = re.compile(r"Summary: \d+ passed, \d+ failed, \d+ skipped")
    assert said.findall(resumed) == said.findall(whole) != []


def test_what_workers_lack_is_said_before_the_first_test(app: MakeApplication, cluster: DaskCluster) -> None:
    prompts = "- { role: system, content: 'Region $ENV.REGION, office $ENV.OFFICE' }"
    own = '{"type": "openai", "options": {"model": "m", "key": "$ENV.OWN_KEY"}}'
    files = agent(prompts=prompts, cases=[{"id": "a", "input": "x"}])
    here = app({**files, "/.env": "OFFICE=Oslo\nUNUSED=1\n", "/connectors/own.conn.yao": own})
    variables = {**here.environment, "REGION": "north", "OWN_KEY": "sk-of-the-command-4711"}
    run = here.run("-i", case_file(), "--cluster", cluster.address, "-v", env=variables)
    assert run.code == 0
    prompts_file, connector = "assistants/demo/prompts.yml", "connectors/own.conn.yao"
    first = run.stdout.index("[a]")
    for name, file in {"REGION": prompts_file, "OFFICE": prompts_file, "OWN_KEY": connector}.items():
        warned = run.stdout.index(f"Warning: {name}, which {file} names, is set here but not on ")
        assert warned < first
    assert "UNUSED" not in run.stdout
    assert "sk-of-the-command-4711" not in run.stdout


def test_the_application_travels_once_and_without_what_holds_keys(app: MakeApplication, cluster: DaskCluster) -> None:
    here = app({"first_test.ts": OTHER, "/.env": "A=1", "/data/own.pem": "x", "/data/kept.txt": "x"})
    (here.root / "data/link").symlink_to("/etc/hostname")
    (here.root / os.fsdecode(b"data/not-\xff.txt")).write_text("x")
    places = Path(cluster.folder)
    before = set(places.glob("**/yao-test/*"))
    for _ in range(2):
        here.report("-i", "scripts.demo", "--cluster", cluster.address, code=0)
    folders = set(places.glob("**/yao-test/*")) - before
    assert len(folders) == 2  # one for each worker
    for folder in folders:
        assert {path.name for path in folder.iterdir()} == {"assistants", "data"}
        assert [path.name for path in (folder / "data").iterdir()] == ["kept.txt"]


def test_workers_open_what_git_tracks_here(app: MakeApplication, cluster: DaskCluster) -> None:
    code = """
    function read(name: string) { try { return new FS("app").ReadFile(name); } catch { return "closed"; } }
    export function TestRead(t: any) { t.log(read("out/tracked.json"), read("out/left.json"), read("assistants/demo/own.json")); }
    """
    texts = {"/out/tracked.json": "1", "/out/left.json": "2", "/assistants/demo/own.json": "3"}
    here = app({"read_test.ts": code, "/app.yao": "{}", **texts})
    subprocess.run(["git", "init", "-q"], cwd=here.root, check=True)
    subprocess.run(["git", "add", "out/tracked.json"], cwd=here.root, check=True)
    for flags in ([], ["--cluster", cluster.address]):
        (record,) = here.results("-i", "scripts.demo.read", *flags, code=0).values()
        assert record["logs"] == ["1 closed 3"]


def test_reports_in_the_application_do_not_travel(app: MakeApplication, cluster: DaskCluster) -> None:
    here = app(agent(cases=[{"id": "a", "input": "reports"}]))
    (here.root / "data").mkdir()
    before = set(cluster.folder.glob("**/yao-test/*"))
    flags = ("--cluster", cluster.address)
    for outputs in ((), (), ("-o", "r.jsonl", "-o", "data/r.html"), ("-o", "r.jsonl", "-o", "data/r.html")):
        assert here.run("-i", case_file(), *flags, *outputs).code == 0
    assert here.run("--resume", "r.jsonl", *flags, "-o", "data/r.html").code == 0
    reports = [path for path in here.root.glob("**/*") if path.name.startswith(("r.", "output-"))]
    assert len(reports) == 4
    folders = set(cluster.folder.glob("**/yao-test/*")) - before
    assert len(folders) == 2  # one for each worker
    sent = {path.name for folder in folders for path in folder.glob("**/*")}
    assert "cases.jsonl" in sent
    assert not sent & {path.name for path in reports}


@pytest.mark.parametrize("hangs", [False, True], ids=["", "hangs"])
def test_ctrl_c_cancels_and_leaves_nothing(app: MakeApplication, cluster: DaskCluster, hangs: bool) -> None:
    with ModelServer(echo(30)) as server:
        here = model_talks(app, server, 20)
        with here.start("-i", case_file(), "--cluster", cluster.address, "-o", "r.jsonl") as command:
            eventually(lambda: len(server.requests) == 2, "a call on each worker", 40)
            started = runners(cluster)
            if hangs:
                os.kill(cluster.workers[0].pid, signal.SIGSTOP)
            try:
                command.send_signal(signal.SIGINT)
                run = here.finish(command)
            finally:
                os.kill(cluster.workers[0].pid, signal.SIGCONT)
        assert run.code == 130
        assert "Stopped: interrupted; 20 not run" in run.stdout
    assert started
    eventually(lambda: are_gone(started), "nothing goes on running")


def test_scripts_have_the_walls_that_they_have_on_one_machine(app: MakeApplication, cluster: DaskCluster) -> None:
    outside = 'function TestOutside(t: testing.T) { t.log(Process("fs.system.ReadFile", "../../../../etc/hostname")); }'
    here = app({"outside_test.ts": outside})
    require = () if any(wall.missing for wall in system_walls()) else ("--sandbox=require",)
    alone = here.report("-i", "scripts.demo", *require, code=1)
    there = here.report("-i", "scripts.demo", *require, "--cluster", cluster.address, code=1)
    assert timeless(there) == timeless(alone)
    if any(wall.missing for wall in system_walls() if wall.name == "system calls"):
        pytest.skip("this system has no filter of system calls")
    here.write({"outside_test.ts": "function TestLoop() { while (true); }"})

    def filtered() -> bool:
        workers = below(*runners(cluster)) & {pid for pid, _ in helper_processes(WORKER)}
        try:
            said = [Path(f"/proc/{pid}/status").read_text() for pid in workers]
        except OSError:  # of an earlier run, and has ended
            return False
        return bool(said) and all("\nSeccomp:\t2\n" in one for one in said)

    with here.start("-i", "scripts.demo", "--cluster", cluster.address) as command:
        try:
            eventually(filtered, "the worker of a script has a filter of system calls", 40)
        finally:
            command.kill()
