"""Ctrl-C, SIGTERM and other ends of a run: the report is complete, nothing is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import sys
import termios
import threading
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import PATIENCE, Application, MakeApplication, eventually
from faults import asleep, leaves_nothing, lines_of, results_in, with_model
from model_server import Exchange, ModelServer, echo, silence

HANG = 'Process("fs.data.WriteFile", "begun", "yes"); for (;;) {}'
WAIT = """Process("fs.data.WriteFile", "begun", "yes");
  while (!Process("fs.data.Exists", "go")) await new Promise((done) => setTimeout(done, 5));"""


def scripts(body: str) -> dict[str, str]:
    names = {"First": "", "Second": body, "Third": ""}
    code = "".join(f"export async function Test{name}(t) {{ {code} }}\n" for name, code in names.items())
    return {"/data/.keep": "", "a_test.ts": code}


def begun(here: Application) -> None:
    eventually((here.root / "data/begun").exists, "the second test begins")


def summary_of(path: Path) -> dict[str, object]:
    last = lines_of(path)[-1]
    assert last["type"] == "summary"
    return {key: last.get(key) for key in ("status", "stopped", "not_run", "total")}


@pytest.mark.parametrize(
    ("sign", "code", "reason"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "the terminal was closed"),
    ],
    ids=["SIGINT", "SIGTERM", "SIGHUP"],
)
def test_a_signal_lets_the_running_test_end_and_begins_no_other(
    app: MakeApplication, sign: signal.Signals, code: int, reason: str
) -> None:
    here = app(scripts(WAIT))
    path, document = here.home / "r.jsonl", here.home / "r.json"
    with leaves_nothing(here) as sessions:  # noqa: SIM117
        with here.start("-i", "scripts.demo.a", "-o", str(path), "-o", str(document)) as process:
            sessions.append(process.pid)
            begun(here)
            process.send_signal(sign)
            eventually(lambda: asleep(process.pid), "it is heard")
            (here.root / "data/go").touch()
            run = here.finish(process)
    assert (run.code, run.stderr) == (code, "")
    assert results_in(path) == [("TestFirst", "passed"), ("TestSecond", "passed")]
    assert summary_of(path) == {"status": "interrupted", "stopped": reason, "not_run": 1, "total": 2}
    assert [record["name"] for record in json.loads(document.read_text())["results"]] == ["TestFirst", "TestSecond"]
    assert f"Stopped: {reason}; 1 not run\n" in run.stdout


def test_a_script_test_that_does_not_end_is_cut_after_the_grace_and_twice_at_once(app: MakeApplication) -> None:
    here = app(scripts(HANG))
    for signals in (1, 2):
        path = here.home / f"{signals}.jsonl"
        (here.root / "data/begun").unlink(missing_ok=True)
        with leaves_nothing(here) as sessions, here.start("-i", "scripts.demo.a", "-o", str(path)) as process:
            sessions.append(process.pid)
            begun(here)
            for _ in range(signals):
                process.send_signal(signal.SIGINT)
                eventually(lambda: asleep(process.pid), "it is heard")
            run = here.finish(process)
        assert (run.code, run.stderr) == (130, "")
        assert results_in(path) == [("TestFirst", "passed")], path.read_text()
        assert summary_of(path) == {"status": "interrupted", "stopped": "interrupted", "not_run": 2, "total": 1}


def test_fifty_slow_calls_are_given_up(app: MakeApplication) -> None:
    cases = [{"id": f"c{number}", "input": "x"} for number in range(80)]
    with ModelServer(silence()) as server:
        here = app({**agent(package={"connector": "local"}, cases=cases), **with_model(server)})
        path = here.home / "r.jsonl"
        with leaves_nothing(here) as sessions:  # noqa: SIM117
            with here.start("-i", case_file(), "--parallel", "50", "-o", str(path)) as process:
                sessions.append(process.pid)
                eventually(lambda: len(server.requests) == 50, "all calls are under way")
                process.send_signal(signal.SIGINT)
                run = here.finish(process)
        assert (run.code, run.stderr) == (130, "")
        assert summary_of(path) == {"status": "interrupted", "stopped": "interrupted", "not_run": 80, "total": 0}
        assert len(server.requests) == 50
        server.default = echo()
        assert here.run("--resume", str(path)).code == 0
        assert len(results_in(path)) == 80


def test_calls_that_end_within_the_grace_count(app: MakeApplication) -> None:
    cases = [{"id": f"c{number}", "input": "x"} for number in range(9)]
    heard = threading.Event()

    async def hold(exchange: Exchange) -> None:
        await asyncio.to_thread(heard.wait, PATIENCE)
        await echo()(exchange)

    with ModelServer(hold) as server:
        here = app({**agent(package={"connector": "local"}, cases=cases), **with_model(server)})
        path = here.home / "r.jsonl"
        with here.start("-i", case_file(), "--parallel", "3", "-o", str(path)) as process:
            eventually(lambda: len(server.requests) == 3, "the first calls are under way")
            process.send_signal(signal.SIGINT)
            eventually(lambda: asleep(process.pid), "it is heard")
            heard.set()
            assert here.finish(process).code == 130
    assert results_in(path) == [(f"c{number}", "passed") for number in range(3)]
    assert len(server.requests) == 3


SERVER = """\
import json, pathlib, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "tools/call":
        pathlib.Path(sys.argv[1]).write_text("begun")
        time.sleep(3600)
    result = {"tools": [{"name": "slow", "inputSchema": {"type": "object"}}]}
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize("signals", [1, 2])
def test_an_interrupt_during_a_tool_call_leaves_no_server(app: MakeApplication, signals: int) -> None:
    replies = "- reply: { tool_calls: [{ name: tools__slow, arguments: {} }] }"
    here = app(
        {
            **agent(package={"mcp": {"servers": ["tools"]}}, replies=replies, cases=[{"id": "a", "input": "x"}]),
            "/server.py": SERVER,
        }
    )
    definition = {
        "label": "tools",
        "transport": "stdio",
        "command": sys.executable,
        "arguments": [str(here.root / "server.py"), str(here.root / "begun")],
    }
    here.write({"/mcps/tools.mcp.yao": json.dumps(definition)})
    path = here.home / "r.jsonl"
    with leaves_nothing(here) as sessions, here.start("-i", case_file(), "-o", str(path)) as process:
        sessions.append(process.pid)
        eventually(lambda: (here.root / "begun").exists() or process.poll() is not None, "the tool is called")
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            eventually(lambda: asleep(process.pid), "it is heard")
        run = here.finish(process)
    assert (run.code, run.stderr) == (130, ""), run
    assert summary_of(path)["status"] == "interrupted"


SENDER = """\
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["SEND_AT"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize(
    "module",
    ["gc", "runner.execution.stopping", "runner.commands.main", "runner.options.flags", "runner.options.options", "scripttest.workers.worker", "runner.execution.session", "runner.planning.inputs"],
)  # fmt: skip
def test_an_interrupt_while_the_command_loads_is_silent(app: MakeApplication, module: str) -> None:
    here = app({**scripts(""), "/site/sitecustomize.py": SENDER})
    environment = {**here.environment, "PYTHONPATH": f"{here.root / 'site'}:{os.getcwd()}", "SEND_AT": module}
    with leaves_nothing(here) as sessions, here.start("-i", "scripts.demo.a", env=environment) as process:
        sessions.append(process.pid)
        run = here.finish(process)
    assert (run.code, run.stdout, run.stderr) == (130, "", "")


def test_the_terminal_is_as_it_was(app: MakeApplication) -> None:
    here = app(scripts(HANG))
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    environment = {**here.environment, "TERM": "xterm"}
    with here.start("-i", "scripts.demo.a", stdout=theirs, env=environment) as process:
        os.close(theirs)
        begun(here)
        said = b""
        while b"\x1b[K" not in said:
            said += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        try:
            while part := os.read(ours, 4096):
                said += part
        except OSError:  # the other end is closed
            pass
        process.wait()
    after = termios.tcgetattr(ours)
    os.close(ours)
    why = {130: b"interrupted", 143: b"terminated"}[process.returncode]  # either may come first
    assert after == before
    assert b"\x1b[?25l" not in said  # the cursor was never hidden
    summary = said.rpartition(b"Stopped: " + why)
    assert summary[1]
    assert b"\x1b[K" not in summary[2].rstrip(b"\x1b[K\r")  # the live line is gone


def test_a_run_whose_output_is_closed_ends_and_leaves_nothing(app: MakeApplication) -> None:
    cases = [{"id": f"c{number}", "input": "x"} for number in range(200)]
    here = app(agent(cases=cases))
    path = here.home / "r.jsonl"
    reading, writing = os.pipe()
    with leaves_nothing(here) as sessions:  # noqa: SIM117
        with here.start("-i", case_file(), "-v", "-o", str(path), stdout=writing) as process:
            os.close(writing)
            sessions.append(process.pid)
            os.read(reading, 100)
            os.close(reading)
            run = here.finish(process)
    assert run.code == 3
    assert "Traceback" not in run.stderr
    assert len(results_in(path)) == 200
    assert lines_of(path)[-1]["type"] == "summary"


def test_a_report_for_which_the_disk_has_no_room_is_said_and_can_be_resumed(app: MakeApplication) -> None:
    here = app(agent(cases=[{"id": f"c{number}", "input": "x" * 500} for number in range(20)]))
    path = here.home / "r.jsonl"
    # Python would cut off the bytecode that it keeps, and every later command would fail to read that.
    limited = ("/bin/sh", "-c", 'ulimit -f 8; PYTHONDONTWRITEBYTECODE=1 exec "$@"', "sh")
    with leaves_nothing(here) as sessions, here.start("-i", case_file(), "-o", str(path), prefix=limited) as process:
        sessions.append(process.pid)
        run = here.finish(process)
    assert (run.code, run.stderr) == (3, "")
    assert run.stdout.count("Error: Cannot write <home>/r.jsonl: File too large\n") == 1
    assert 0 < len(results_in(path)) < 20

    assert here.run("--resume", str(path)).code == 0
    assert results_in(path) == sorted((f"c{number}", "passed") for number in range(20))
