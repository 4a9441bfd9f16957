"""`yao-test mcp`: calls that take long, are cancelled, are equal, or come from two clients; and how the server ends."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, PATIENCE, Application, MakeApplication
from mcp import ClientSession
from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification
from mcp_session import session, talk, text_of

SLOW = """\
export async function TestSlow(t: testing.T) {
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
  t.assert.True(true);
}
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def slow(app: MakeApplication, seconds: float) -> Application:
    return app({"slow_test.ts": SLOW.replace("SECONDS", str(seconds))})


def call(id: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def lines(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def server(app: Application) -> subprocess.Popen[bytes]:
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*COMMAND, "mcp"], cwd=app.root, env=app.environment, **pipes)


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found |= {child} | descendants(child)
    return found


def started(pid: int, least: int) -> set[int]:
    """The processes below one, when there are that many."""
    end = time.monotonic() + PATIENCE
    while len(found := descendants(pid)) < least:
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def alive(processes: set[int]) -> set[int]:
    """Those that still run after a while: what has lost its server has some seconds to end."""
    end = time.monotonic() + PATIENCE
    while left := {pid for pid in processes if Path(f"/proc/{pid}/exe").exists()}:
        if time.monotonic() > end:
            return left
        time.sleep(0.05)
    return set()


def test_progress_comes_at_once_and_counts_tests(app: MakeApplication) -> None:
    app = slow(app, 1.5)
    app.write({"quick_test.ts": "export function TestQuick(t: testing.T) { t.assert.True(false); }\n"})
    told: list[tuple[float, str]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message or ""))

    async def ask(client: ClientSession) -> Any:
        return await client.call_tool("run_tests", {}, progress_callback=hear)

    assert text_of(talk(app, ask)).startswith("1 passed, 1 failed")
    assert told[0] == (0, "begins")
    assert "1 test ended, 1 failed" in [said for _, said in told]
    assert [at for at, _ in told] == sorted({at for at, _ in told})


def test_a_call_that_is_cancelled_ends_its_run_and_the_server_goes_on(app: MakeApplication) -> None:
    app = slow(app, 60)

    async def ask() -> tuple[Any, set[int], set[int]]:
        async with session(app) as (client, pid):
            running = asyncio.ensure_future(client.call_tool("run_tests", {}))
            processes = await asyncio.to_thread(started, pid, 3)
            params = CancelledNotificationParams(requestId=1, reason="enough")
            await client.send_notification(ClientNotification(CancelledNotification(params=params)))
            with pytest.raises(Exception, match="cancelled"):
                await running
            left = await asyncio.to_thread(alive, processes)
            return await client.call_tool("list_tests", {}), processes, left

    listed, processes, left = asyncio.run(ask())
    assert (len(processes) > 2, left) == (True, set())
    assert text_of(listed) == "1 test in 1 module\nscripts.demo.slow: TestSlow"


def test_equal_calls_share_a_run_and_others_wait_also_those_of_another_server(app: MakeApplication) -> None:
    app = slow(app, 1)

    async def ask() -> list[str]:
        async with session(app) as (one, _), session(app) as (other, _):
            calls = [
                one.call_tool("run_tests", {"input": "scripts.demo"}),
                one.call_tool("run_tests", {"input": "scripts.demo"}),
                one.call_tool("run_tests", {"input": "scripts.demo.slow"}),
                other.call_tool("run_tests", {"input": "scripts.demo"}),
            ]
            return [(answer.structuredContent or {})["run"] for answer in await asyncio.gather(*calls)]

    first, again, third, other = asyncio.run(ask())
    assert first == again
    assert len({first, third, other}) == 3
    history = json.loads(app.run("history", "--json").stdout)
    begun = sorted(run["started_at"] for run in history["runs"])
    assert len(begun) == len(set(begun)) == 3  # whole seconds, and each run takes one


def test_the_server_ends_with_its_input_and_with_all_its_processes(app: MakeApplication) -> None:
    app = slow(app, 60)
    with server(app) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(lines(HELLO, READY, call(2, "run_tests")))
        process.stdin.flush()
        processes = started(process.pid, 3)
        process.stdin.close()
        begun = time.monotonic()
        assert process.wait(PATIENCE) == 0
        assert time.monotonic() - begun < 5
        assert alive(processes) == set()
        for line in process.stdout.read().splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0"


def test_a_session_in_one_piece_gets_its_answers(app: MakeApplication) -> None:
    app = app({"ok_test.ts": "console.log('top');\nexport function TestOk(t: testing.T) { console.log('in'); }\n"})
    with server(app) as process:
        said, complained = process.communicate(lines(HELLO, READY, call(2, "run_tests"), call(3, "nothing")), PATIENCE)
    answers = {message["id"]: message["result"] for message in map(json.loads, said.splitlines())}
    assert (process.returncode, complained, answers.keys()) == (0, b"", {1, 2, 3})
    assert answers[1]["serverInfo"]["name"] == "yao-test"
    assert answers[1]["capabilities"].keys() >= {"tools", "resources", "prompts"}
    assert answers[2]["content"][0]["text"].startswith("1 passed, 0 failed")
    assert answers[3]["isError"] is True


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_signal_ends_the_server_with_all_its_processes(number: int, code: int, app: MakeApplication) -> None:
    app = slow(app, 60)
    with server(app) as process:
        assert process.stdin is not None
        process.stdin.write(lines(HELLO, READY, call(2, "run_tests")))
        process.stdin.flush()
        processes = started(process.pid, 3)
        process.send_signal(number)
        assert process.wait(PATIENCE) == code
        assert alive(processes) == set()


def test_what_has_many_bytes_is_cut_and_its_end_comes_first(app: MakeApplication) -> None:
    long = "界" * 3000
    lines = "\n".join(f'  seen = "{number} {"字" * 100}";' for number in range(150))
    app = app(
        {
            "wide.ts": f"export function Wide(text: string) {{\n  let seen = text;\n{lines}\n  return seen;\n}}\n",
            "wide_test.ts": 'import { Wide } from "./wide";\nexport function TestWide(t: testing.T) {\n'
            f'  console.log("{long}");\n  t.assert.Equal([Wide("{long}"), "{long}"], ["{long}a", "b{long}"]);\n}}\n',
        }
    )

    async def ask(client: ClientSession) -> list[Any]:
        answers = [
            await client.call_tool("run_tests", {}),
            await client.call_tool("explain_failure", {"test": "TestWide"}),
        ]
        while cursor := (answers[-1].structuredContent or {}).get("cursor"):
            answers.append(await client.call_tool("explain_failure", {"test": "TestWide", "cursor": cursor}))
        return answers

    answers = talk(app, ask)
    sizes = [len(answer.model_dump_json(by_alias=True, exclude_none=True).encode()) for answer in answers]
    assert max(sizes) < 20_000
    stories = [answer.structuredContent["story"] for answer in answers[1:]]
    assert len(stories) > 1 and stories[0][-1]["file"].endswith("wide_test.ts")
    assert all(story for story in stories)


def test_long_answers_come_in_parts_that_together_have_all(app: MakeApplication) -> None:
    text = "é" * 150
    tests = "".join(
        f"export function Test{n}(t: testing.T) {{ t.assert.Equal('{text}{n}', '{text}'); }}\n" for n in range(60)
    )
    app = app({"many_test.ts": tests})

    async def ask(client: ClientSession) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for name, key, first in (
            ("run_tests", "tests", {}),
            ("list_tests", "inputs", {}),
            ("read_result", "json", {"test": "Test7"}),
            ("describe_api", "found", {}),
        ):
            arguments: dict[str, Any] = first
            while True:
                answer = await client.call_tool(name, arguments)
                assert answer.structuredContent is not None, text_of(answer)
                assert len(answer.model_dump_json(by_alias=True, exclude_none=True).encode()) < 20_000
                found.setdefault(name, []).append(answer.structuredContent[key])
                cursor = answer.structuredContent.get("cursor")
                if cursor is None:
                    break
                assert f'cursor "{cursor}"' in text_of(answer)
                arguments = {**first, "cursor": cursor}
        return found

    found = talk(app, ask)
    names = [one["test"] for part in found["run_tests"] for one in part]
    assert (len(names), {*names}) == (60, {f"Test{n}" for n in range(60)})
    assert [name for part in found["list_tests"] for one in part for name in one["tests"]] == [
        f"Test{n}" for n in range(60)
    ]
    assert json.loads("".join(found["read_result"]))["id"] == "Test7"
    assert {"testing.T.assert", "Process"} <= {one["name"] for part in found["describe_api"] for one in part}
    assert len(found["run_tests"]) > 1 and len(found["describe_api"]) > 1
