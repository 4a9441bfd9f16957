"""Files of reports: what does not change them, what removes them, and pipes in their place."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import PATIENCE, Application, MakeApplication, eventually
from faults import lines_of, results_in, with_model
from model_server import Exchange, ModelServer, echo, silence

CASES = [{"id": f"c{number}", "input": f"say {number}"} for number in range(3)]
SCRIPT = "export function TestA(t) { t.assert.True(true); }\n"
BOTH = ("-i", case_file(), "-i", "scripts.demo.some")


@pytest.fixture
def here(app: MakeApplication) -> Application:
    return app({**agent(replies="- reply: 'heard {{ input }}'", cases=CASES), "some_test.ts": SCRIPT})


def held_after_one(server: ModelServer) -> threading.Event:
    """Has a model answer one request, and the others once the event is set."""
    gate = threading.Event()

    async def hold(exchange: Exchange) -> None:
        while len(server.requests) > 1 and not gate.is_set():
            await asyncio.sleep(0.01)
        await echo()(exchange)

    server.default = hold
    return gate


# Listing


@pytest.mark.parametrize("inputs", [BOTH, BOTH[:2], BOTH[2:]], ids=["both", "cases", "script"])
@pytest.mark.parametrize("name", ["r.jsonl", "r.json", "r.html", "r.xml", "r.md"])
def test_a_dry_run_leaves_reports_alone(here: Application, inputs: tuple[str, ...], name: str) -> None:
    here.write({f"/{name}": "as it was"})
    before = here.listing()

    run = here.run(*inputs, "--dry-run", "-o", name, "-o", "new.json")

    assert run.code == 0, run
    assert here.listing() == before
    assert f"Warning: --dry-run writes no report to {name}, new.json\n" in run.stdout


# Files that go away


def removed(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    path.unlink()
    path.write_text("another")


def moved(path: Path) -> None:
    path.rename(path.with_name("moved.jsonl"))


def without_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("go", [removed, replaced, moved, without_folder])
def test_a_report_that_goes_away_is_an_error_of_the_run(app: MakeApplication, go: Callable[[Path], None]) -> None:
    with ModelServer() as server:
        here = app({**agent(package={"connector": "local"}, cases=CASES), **with_model(server)})
        path = here.home / "reports/r.jsonl"
        gate = held_after_one(server)
        with here.start("-i", case_file(), "-o", str(path)) as process:
            eventually(lambda: path.exists() and len(results_in(path)) == 1, "the first case ends")
            go(path)
            gate.set()
            run = here.finish(process)
    assert run.code == 3, run
    assert "The report <home>/reports/r.jsonl was removed, moved or replaced during the run" in (
        run.stdout + run.stderr
    )
    assert all(f"c{number}" in run.stdout for number in range(3)) and "Summary" in run.stdout


# Pipes


@pytest.mark.parametrize("before", [None, "of yesterday"])
def test_a_report_is_whole_or_not_there(here: Application, before: str | None) -> None:
    """No file may have more than half a kilobyte, as on a disk that is full."""
    names = ["r.json", "r.html", "r.xml", "r.md", "r.ctrf.json"]
    reports = here.root / "reports"
    reports.mkdir()
    if before is not None:
        for name in names:
            (reports / name).write_text(before)
    outputs = [word for name in names for word in ("-o", f"reports/{name}")]
    prefix = ("sh", "-c", 'trap "" XFSZ; export PYTHONDONTWRITEBYTECODE=1; ulimit -f 1; exec "$@"', "sh")

    with here.start(*BOTH, "-q", *outputs, prefix=prefix) as process:
        run = here.finish(process)

    assert run.code == 3, run
    for name in names:
        assert f"Cannot write <app>/reports/{name}: File too large" in run.stdout + run.stderr, run
    assert {path.name: path.read_text() for path in reports.iterdir()} == (
        dict.fromkeys(names, before) if before else {}
    )


@pytest.mark.parametrize("name", ["r.json", "r.html", "r.xml", "r.md"])
def test_a_run_that_is_killed_leaves_no_empty_report(app: MakeApplication, name: str) -> None:
    with ModelServer(default=silence()) as server:
        here = app({**agent(package={"connector": "local"}, cases=CASES), **with_model(server)})
        process = here.start("-i", "assistants", "-q", "-o", f"reports/{name}")
        assert server.arrivals.acquire(timeout=PATIENCE)
        process.kill()
        process.communicate()
    assert list((here.root / "reports").iterdir()) == []


@pytest.mark.parametrize("name", ["r.jsonl", "r.json", "r.html", "r.xml", "r.md", "r.txt"])
def test_a_pipe_that_nobody_reads_is_refused(here: Application, name: str) -> None:
    os.mkfifo(here.root / name)

    run = here.run(*BOTH, "-o", name)

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == (
        f"Error: Cannot write <app>/{name}: it is a pipe that nobody reads\n"
        "Hint: Start the reader first, or write to a file\n"
    )


@pytest.mark.parametrize("name", ["r.jsonl", "r.json", "r.html", "r.md"])
def test_a_pipe_that_is_read_gets_the_whole_report(here: Application, name: str) -> None:
    path = here.root / name
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()

    run = eventually_written(here, name)

    reader.join(PATIENCE)
    assert run == 0
    text = got[0].decode()
    if name == "r.jsonl":
        kinds = [json.loads(line)["type"] for line in text.splitlines()]
        assert kinds == ["start", *["result"] * 4, "summary"]
    else:
        assert text.endswith("</html>\n") or ("c0" in text and "TestA" in text)


def eventually_written(here: Application, name: str) -> int:
    """The exit code of a run that finds a reader: the thread may be later than the command."""
    return eventually(lambda: 5 if (run := here.run(*BOTH, "-o", name)).code == 2 else run.code + 1, "a run") - 1


def test_a_pipe_cannot_be_resumed(here: Application) -> None:
    os.mkfifo(here.root / "r.jsonl")
    run = here.run("--resume", "r.jsonl")
    assert (run.code, run.stderr) == (2, "Error: Cannot resume <app>/r.jsonl: it is not a file\n")


# Snapshots


@pytest.mark.parametrize("kind", ["script", "case"])
def test_a_kept_result_has_its_snapshot_after_a_kill(app: MakeApplication, kind: str) -> None:
    cases = [{"id": f"c{n}", "input": f"say {n}", "assert": {"type": "snapshot"}} for n in range(2)]
    script = (
        "export function TestA(t) { t.snapshot('one'); }\n"
        "export async function TestB(t) { t.snapshot('two'); await new Promise((done) => setTimeout(done, 20000)); }\n"
    )
    with ModelServer() as server:
        here = app({**agent(package={"connector": "local"}, cases=cases), **with_model(server), "some_test.ts": script})
        path = here.home / "r.jsonl"
        gate = held_after_one(server)
        inputs = BOTH[2:] if kind == "script" else BOTH[:2]
        with here.start(*inputs, "-o", str(path)) as process:
            eventually(lambda: path.exists() and len(results_in(path)) == 1, "the first ends")
            process.kill()
            process.communicate()
        gate.set()
        assert [status for _, status in results_in(path)] == ["passed"]
        here.write({"some_test.ts": script.replace("20000", "1")})
        run = here.run("--resume", str(path), env={**here.environment, "CI": "true"})
    stored = next(here.root.rglob("__snapshots__/*.snap")).read_text()
    assert ("TestA 1" if kind == "script" else "c0") in stored, (run, stored)
    assert "There is no snapshot yet" in run.stdout or kind == "script"


# What a run was made with


def test_what_a_run_may_reach_and_stores_is_taken_over(app: MakeApplication) -> None:
    script = (
        "export function TestNet(t) { const { code, message } = http.Get('http://127.0.0.1:9/'); "
        "t.assert.NotContains(String(message), 'allow-net'); }\nexport function TestB(t) { t.snapshot('new'); }\n"
    )
    here = app({"some_test.ts": script, "__snapshots__/some_test.ts.snap": '[TestB 1]\n  "old"\n'})
    path = here.home / "r.jsonl"
    whole = here.run(*BOTH[2:], "--allow-net", "127.0.0.1:9", "--update-snapshots", "-o", str(path))
    assert whole.code == 0, whole
    path.write_bytes(path.read_bytes().splitlines(True)[0])
    here.write({"__snapshots__/some_test.ts.snap": '[TestB 1]\n  "old"\n'})

    run = here.run("--resume", str(path), "--allow-net=127.0.0.1:9")

    assert run.code == 0, run
    assert '"new"' in (here.source / "__snapshots__/some_test.ts.snap").read_text()
    refused = here.run("--resume", str(path), "--allow-net", "example.com")
    assert refused.code == 2
    assert "it was made with --allow-net 127.0.0.1:9, not with --allow-net example.com" in refused.stderr


@pytest.mark.parametrize("flag", ["--record", "--record-missing"])
def test_a_resumed_run_goes_on_recording(here: Application, flag: str) -> None:
    path = here.home / "r.jsonl"
    assert here.run(*BOTH[:2], flag, "recordings", "-o", str(path)).code == 0
    recorded = sorted((here.root / "recordings").rglob("c?.json"))
    assert len(recorded) == 3
    path.write_bytes(b"".join(line for line in path.read_bytes().splitlines(True)[:-1] if b'"id": "c1"' not in line))
    for file in recorded:
        if "c1" in file.name:
            file.unlink()

    run = here.run("--resume", str(path), flag, "recordings")

    assert run.code == 0, run
    assert sorted((here.root / "recordings").rglob("c?.json")) == recorded
    assert [record["id"] for record in lines_of(path) if record["type"] == "result"] == ["c0", "c2", "c1"]


def test_the_time_of_a_test_is_taken_over(app: MakeApplication) -> None:
    script = "".join(
        f"export async function Test{n}(t) {{ await new Promise((done) => setTimeout(done, 300)); }}\n" for n in "AB"
    )
    here = app({"some_test.ts": script})
    path = here.home / "r.jsonl"
    here.run(*BOTH[2:], "--timeout", "100ms", "-o", str(path))
    path.write_bytes(b"".join(path.read_bytes().splitlines(True)[:2]))

    assert here.run("--resume", str(path)).code == 1

    assert [record.get("cause") for record in lines_of(path) if record["type"] == "result"] == ["timeout", "timeout"]
