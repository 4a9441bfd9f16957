"""Script host and function pool with worker processes that do not keep to the protocol, or die."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from command import eventually

from bindings import SCRIPT_GLOBALS
from scripttest import (
    AskBack,
    Broken,
    Ended,
    FunctionCall,
    FunctionError,
    FunctionPool,
    HostRecord,
    Listed,
    Module,
    ScriptHost,
    Selected,
    Services,
    Source,
    TestKey,
    start_processes,
    worker_command,
)
from scripttest.compile.configuration import readable
from scripttest.compile.esbuild import Service
from scripttest.workers.worker import Processes, Worker

PARTS = Path(__file__).parents[3] / "bindings/js"
TEST = "export function TestA(t) {}\nexport function TestB(t) {}\n"
HEAD = """\
import os, sys
sys.path.insert(0, {root!r})
from scripttest.protocol import FrameReader, encode
def send(kind, *parts): os.write(1, encode(kind, *parts))
def frames():
    reader = FrameReader()
    while data := os.read(0, 65536):
        yield from reader.feed(data)
LIST = ("tests", "TestA", "function TestA(t) {{}}", "TestB", "function TestB(t) {{}}")
OK = '{{"status":"passed","duration_ms":0,"assertions":0,"failures":[],"steps":[]}}'
"""
KEEPS_TO_IT = """
for kind, parts in frames():
    if kind == "discover": send(*LIST)
    if kind == "run":
        send("start", "0"); send("result", "0", OK, "1"); send("result", "1", OK, "")
"""


def worker_that(does: str, folder: Path) -> list[str]:
    """The command line of a program that replaces a worker."""
    file = folder / "worker.py"
    file.write_text(HEAD.format(root=str(Path(__file__).parents[3])) + does)
    return [sys.executable, "-I", "-S", str(file)]


class NoServices(Services):
    def call(self, test: TestKey, name: str, arguments: str, world: str, link: AskBack) -> str:
        return '{"ok":null}'

    def library(self, module: str, script: str) -> Path:
        raise NotImplementedError

    def selected(self, module: str, tests: Mapping[str, str]) -> Selected:
        return Selected(tests=tests)


def run(folder: Path, does: str, timeout: float = 20) -> list[HostRecord]:
    """The records of a module with two tests if the workers are such programs."""
    (folder / "a_test.ts").write_text(TEST)
    command = worker_that(does, folder)
    processes = Processes(compiler=Service(readable(folder)), workers=(Worker(command),), command=command)
    module = Module(source=Source(key="a", test=folder / "a_test.ts", script=None), context="{}")
    with ScriptHost(folder, processes, NoServices(), SCRIPT_GLOBALS, 1, timeout) as host:
        return list(host.run([module]))


def told(records: list[HostRecord]) -> list[tuple[str, str | None, str]]:
    """Name, cause and message of what was broken, and of the tests that ended."""
    found = []
    for record in records:
        if isinstance(record, Broken):
            found.append(("module", record.failure.cause, record.failure.message))
        elif isinstance(record, Ended):
            outcome = record.outcome
            failure = outcome.failures[0] if outcome.failures else None
            found.append((outcome.name, outcome.cause, failure.message if failure else outcome.status))
    return found


def test_the_program_that_stands_in_for_a_worker_is_taken_for_one(tmp_path: Path) -> None:
    assert told(run(tmp_path, KEEPS_TO_IT)) == [("TestA", None, "passed"), ("TestB", None, "passed")]


NO_MESSAGE = "The worker process sent something that is not a message: "
WHILE_LISTING = {
    "no frame": ("os.write(1, b'hello world\\n')", "a header of another form: 'hello world'"),
    "a negative length": ("os.write(1, b'tests -5 5\\n12345')", "a header of another form: 'tests -5 5'"),
    "a frame above the limit": (
        "os.write(1, b'tests 300000000\\n')",
        "a message of 300000000 bytes, and 268435456 are the most",
    ),
    "no text": ("os.write(1, b'log 4 1\\n\\xff\\xfe\\xfd\\xfc1')", "'utf-8' codec can't decode byte 0xff"),
    "a frame that nobody knows": ("send('hello')", "unexpected hello with 0 parts"),
    "names without sources": ("send('tests', 'TestA')", "a list of functions that are not pairs"),
    "a result": ("send('result', '0', OK, '')", "a result for a test that is not running"),
    "a start": ("send('start', '0')", "tests out of order"),
    "what a function returns": ("send('returned', '{\"ok\": 1}')", "unexpected returned"),
    "a record that is not an object": ("send('broken', '[]')", "a record that is not an object"),
    "a line that is a number": ("send('log', 'info', '1')", "a line that is not a string"),
    "many questions": (
        "os.write(1, b''.join(encode('call', str(n), 'x', '[]', '') for n in range(1000)))",
        "a question before the last one was answered",
    ),
}


@pytest.mark.parametrize("name", WHILE_LISTING)
def test_a_worker_that_sends_something_else_costs_its_module(tmp_path: Path, name: str) -> None:
    sends, why = WHILE_LISTING[name]
    does = f"for kind, parts in frames():\n    if kind == 'discover': {sends}\n"
    ((what, cause, message),) = told(run(tmp_path, does))
    assert (what, cause) == ("module", "crash")
    assert message.startswith(NO_MESSAGE + why)


WHILE_RUNNING = {
    "the result of another test": "send('result', '1', OK, '')",
    "a result without the next test": "send('result', '0', OK, '')",
    "the start of another test": "send('start', '1')",
    "a list of tests": "send(*LIST)",
    "an outcome without an end": "send('result', '0', OK.replace('0', '1e999', 1), '1')",
    "an outcome of text": "send('result', '0', '\"passed\"', '1')",
    "a failure that is none": "send('failed', 'TestA', '{}')",
    "an index that is none": "send('result', '-1', OK, '')",
}


@pytest.mark.parametrize("name", WHILE_RUNNING)
def test_a_worker_that_sends_something_else_costs_its_test(tmp_path: Path, name: str) -> None:
    does = f"""
for kind, parts in frames():
    if kind == "discover": send(*LIST)
    if kind == "run" and parts[0] == "0":
        send("start", "0")
        {WHILE_RUNNING[name]}
    elif kind == "run":
        send("start", "1"); send("result", "1", OK, "")
"""
    (test, cause, message), rest = told(run(tmp_path, does))
    assert (test, cause) == ("TestA", "crash")
    assert message.startswith(NO_MESSAGE)
    assert rest == ("TestB", None, "passed")


@pytest.mark.parametrize(
    ("does", "cause", "message"),
    [
        ("os._exit(7)", "crash", "The worker process exited with code 7"),
        ("os.write(2, b'no luck'); os._exit(1)", "crash", "The worker process exited with code 1: no luck"),
        ("os.kill(os.getpid(), 9)", "infrastructure", "The worker process was killed by signal 9 (SIGKILL)"),
        ("os.abort()", "crash", "The worker process was killed by signal 6 (SIGABRT)"),
    ],
)
def test_a_worker_that_dies_costs_its_test(tmp_path: Path, does: str, cause: str, message: str) -> None:
    program = f"""
for kind, parts in frames():
    if kind == "discover": send(*LIST)
    if kind == "run" and parts[0] == "0":
        send("start", "0")
        {does}
    elif kind == "run":
        send("start", "1"); send("result", "1", OK, "")
"""
    assert told(run(tmp_path, program)) == [("TestA", cause, message), ("TestB", None, "passed")]


def test_what_was_recorded_before_the_worker_died_is_kept(tmp_path: Path) -> None:
    failure = json.dumps({"kind": "error", "message": "first"})
    program = f"""
for kind, parts in frames():
    if kind == "discover": send(*LIST)
    if kind == "run":
        send("start", parts[0])
        if parts[0] == "0":
            send("failed", "TestA", {failure!r})
            os._exit(7)
        send("result", "1", OK, "")
"""
    outcomes = [record.outcome for record in run(tmp_path, program) if isinstance(record, Ended)]
    assert [failure.message for failure in outcomes[0].failures] == ["first", "The worker process exited with code 7"]


# Functions


class FunctionServices:
    async def answer(self, owner: object, name: str, arguments: str, world: str) -> str:
        return json.dumps({"ok": [owner, name, json.loads(arguments)]})

    def returned(self, owner: object, world: str, mocked: tuple[tuple[str, int], ...]) -> None:
        assert (world, mocked) == ("", ())

    def library(self, module: str, script: str) -> Path:
        raise NotImplementedError


def call(folder: Path, command: list[str], code: str, function: str = "Run", arguments: str = "[]") -> object:
    """Calls a function of a script in a pool of such workers."""
    file = folder / "f.ts"
    file.write_text(code)

    async def work() -> object:
        pool = FunctionPool(folder, command, FunctionServices(), SCRIPT_GLOBALS, 1)
        try:
            wanted = FunctionCall(script=file, function=function, arguments=arguments, context="{}")
            return (await pool.call(wanted, "owner")).value
        finally:
            await pool.close()

    return asyncio.run(work())


def test_a_function_is_called_and_asks_the_host(tmp_path: Path) -> None:
    code = 'export function Run(a) { return Process("models.x.Find", a + 1); }\n'
    assert call(tmp_path, worker_command(PARTS), code, arguments="[1]") == ["owner", "models.x.Find", [2]]


@pytest.mark.parametrize(
    ("sends", "why"),
    [
        ("os.write(1, b'returned -1\\n')", "a header of another form"),
        ("send('returned', '[]')", "a record that is not an object"),
        ("send('returned', '{}')", "an outcome of another kind"),
        ("send('returned', '{\"ok\": NaN}')", "NaN, which is not JSON"),
        ("send('log', 'info', 'x')", "Expecting value"),
        ("send('tests', 'a', 'b')", "unexpected tests"),
        ("send('result', '0', OK, '')", "unexpected result"),
        ("os.write(1, b'returned 999999999999\\n')", "a message of 999999999999 bytes"),
    ],
)
def test_a_worker_that_sends_something_else_fails_the_call(tmp_path: Path, sends: str, why: str) -> None:
    does = f"for kind, parts in frames():\n    if kind == 'invoke': {sends}\n"
    with pytest.raises(FunctionError) as caught:
        call(tmp_path, worker_that(does, tmp_path), "export function Run() {}\n")
    assert caught.value.message.startswith(NO_MESSAGE + why)
    assert not caught.value.infrastructure


@pytest.mark.parametrize(("does", "infrastructure"), [("os._exit(7)", False), ("os.kill(os.getpid(), 9)", True)])
def test_a_worker_that_dies_fails_the_call(tmp_path: Path, does: str, infrastructure: bool) -> None:
    program = f"for kind, parts in frames():\n    if kind == 'invoke': send('start'); {does}\n"
    with pytest.raises(FunctionError, match="The worker process") as caught:
        call(tmp_path, worker_that(program, tmp_path), "export function Run() {}\n")
    assert caught.value.infrastructure is infrastructure


def test_functions_that_wait_for_the_host_leave_their_place_to_others(tmp_path: Path) -> None:
    file = tmp_path / "f.ts"
    file.write_text('export function Run(a) { return Process("models.x.Find", a); }\n')
    waiting = 0
    all_wait = asyncio.Event()

    class Together(FunctionServices):
        async def answer(self, owner: object, name: str, arguments: str, world: str) -> str:
            nonlocal waiting
            waiting += 1
            if waiting == 5:
                all_wait.set()
            await all_wait.wait()
            return await super().answer(owner, name, arguments, world)

    async def work() -> list[object]:
        pool = FunctionPool(tmp_path, worker_command(PARTS), Together(), SCRIPT_GLOBALS, 1)
        wanted = [
            FunctionCall(script=file, function="Run", arguments=f"[{number}]", context="{}") for number in range(5)
        ]
        try:
            return [returned.value for returned in await asyncio.gather(*(pool.call(call, "o") for call in wanted))]
        finally:
            await pool.close()

    assert asyncio.run(work()) == [["o", "models.x.Find", [number]] for number in range(5)]


SPOILS = """\
let calls = 0;
export function Spoil(ctx) {
  calls++;
  globalThis.left = ctx.mark = true;
  JSON.stringify = () => "spoilt";
  Array.prototype[Symbol.iterator] = Object.assign = Reflect.apply = () => { throw new Error("spoilt"); };
  throw new Error("over");
}
export function Look(ctx) {
  return [++calls, "left" in globalThis, "mark" in ctx, "ready" in globalThis, JSON.stringify([...[1]]), Object.keys(ctx).length > 0];
}
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_no_function_sees_what_another_one_has_left(tmp_path: Path, workers: int) -> None:
    """The same worker runs them all, or two in turn, in realms that were made ahead: from text first, then from
    bytecode."""
    file = tmp_path / "f.ts"
    file.write_text(SPOILS)

    async def work() -> list[object]:
        pool = FunctionPool(tmp_path, worker_command(PARTS), FunctionServices(), SCRIPT_GLOBALS, workers)
        spoil, look = (
            FunctionCall(script=file, function=name, arguments="[null]", context="{}", context_at=0)
            for name in ("Spoil", "Look")
        )
        seen = []
        try:
            for _ in range(10):
                with pytest.raises(FunctionError, match="over"):
                    await pool.call(spoil, "o")
                seen.append((await pool.call(look, "o")).value)
        finally:
            await pool.close()
        return seen

    assert asyncio.run(work()) == [[1, False, False, False, "[1]", True]] * 10


@pytest.mark.parametrize(("workers", "calls", "started"), [(2, 2, 1), (2, 100, 2), (1, 100, 1)])
def test_a_second_worker_makes_ready_while_the_first_one_works(
    tmp_path: Path, workers: int, calls: int, started: int
) -> None:
    """Where many functions are called, each right after the other, and there is a processor for it."""
    file = tmp_path / "f.ts"
    file.write_text("export function Run(a) { return a; }\n")
    command = ["/bin/sh", "-c", 'echo >> "$0"; exec "$@"', str(tmp_path / "started"), *worker_command(PARTS)]

    async def work() -> list[object]:
        pool = FunctionPool(tmp_path, command, FunctionServices(), SCRIPT_GLOBALS, workers)
        wanted = (
            FunctionCall(script=file, function="Run", arguments=f"[{number}]", context="{}") for number in range(calls)
        )
        try:
            return [(await pool.call(call, "o")).value for call in wanted]
        finally:
            eventually(lambda: (tmp_path / "started").read_text().count("\n") >= started, "the workers")
            await pool.close()

    assert asyncio.run(work()) == list(range(calls))
    assert (tmp_path / "started").read_text() == "\n" * started


def test_a_host_with_real_workers_runs_a_module(tmp_path: Path) -> None:
    (tmp_path / "a_test.ts").write_text(TEST)
    module = Module(source=Source(key="a", test=tmp_path / "a_test.ts", script=None), context="{}")
    with ScriptHost(tmp_path, start_processes(PARTS, tmp_path), NoServices(), SCRIPT_GLOBALS, 1, 20) as host:
        records = list(host.run([module]))
    assert [record.tests for record in records if isinstance(record, Listed)] == [("TestA", "TestB")]
    assert told(records) == [("TestA", None, "passed"), ("TestB", None, "passed")]


LARGE = """
export function Test%s(t) {
  globalThis.held = new Uint8Array(30e6).fill(1);
  t.assert.True(globalThis.seen === undefined);
  globalThis.seen = true;
}
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say what a process uses")
def test_realms_that_hold_much_are_freed_between_tests(tmp_path: Path) -> None:
    """An idle worker frees the realms of its tests, and sooner where they are large."""
    (tmp_path / "a_test.ts").write_text("".join(LARGE % number for number in range(12)))
    module = Module(source=Source(key="a", test=tmp_path / "a_test.ts", script=None), context="{}")
    processes = start_processes(PARTS, tmp_path)
    for number in range(3):
        with ScriptHost(tmp_path, processes, NoServices(), SCRIPT_GLOBALS, 1, 20) as host:
            seen = told(list(host.run([module])))
            if number == 2:
                pid = processes.workers[0].child.pid
                peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
            processes = host.release()
        processes.prepare()
    processes.close()
    assert seen == [(f"Test{number}", None, "passed") for number in range(12)]
    assert peak is not None and int(peak[1]) < 220_000
