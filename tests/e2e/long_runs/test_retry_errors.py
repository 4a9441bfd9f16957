"""`--retry-errors` and `--max-errors`: runs that finish by themselves, and the gate for tests that broke in every pass."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Record, eventually
from faults import lines_of, with_model, worker_pids
from model_server import Behaviour, Exchange, ModelServer, echo, says, status

QUICK = "import os, runner.execution.repetition as passes; passes.FIRST_PAUSE = 0.05; from runner.commands.main import main; os._exit(main())"
"""The command, with shorter pauses."""


def start(here: Application, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", QUICK, *arguments],
        cwd=here.root,
        env={**here.environment, "PYTHONPATH": os.getcwd()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for commands in this process."""
    monkeypatch.setattr("runner.execution.repetition.FIRST_PAUSE", 0.05)


def breaking(times: int, which: str = "") -> Behaviour:
    """Refuses the first calls of each case whose input has a word in it."""
    seen: Counter[str] = Counter()

    async def behave(exchange: Exchange) -> None:
        text = exchange.request.last_text
        seen[text] += 1
        if which in text and seen[text] <= times:
            return await status(401, f"no key {seen[text]}")(exchange)
        await echo()(exchange)

    return behave


def asking(app: MakeApplication, server: ModelServer, cases: list[Record], **more: Any) -> Application:
    return app({**agent(package={"connector": "local"}, cases=cases, **more), **with_model(server, retries=0)})


def results(here: Application) -> dict[str, Record]:
    return {record["id"]: record for record in lines_of(here.home / "r.jsonl") if record["type"] == "result"}


def reports(here: Application) -> tuple[str, ...]:
    return ("-o", str(here.home / "r.jsonl"), "-o", str(here.home / "r.xml"), "-o", str(here.home / "r.md"))


def test_each_round_of_variants_runs_again_what_broke_in_it(app: MakeApplication) -> None:
    calls = iter(range(1, 100))

    async def behave(exchange: Exchange) -> None:
        broken = next(calls) in (1, 4)  # the first call of each round
        await (status(401, "no key") if broken else echo())(exchange)

    with ModelServer(behave) as server:
        here = asking(app, server, [{"id": "a", "input": "hello"}])
        rounds = ("--variant", "x=", "--variant", "y=", "--until-decided", "--runs", "2")
        done = here.run("-i", case_file(), *rounds, "--retry-errors", "1", *reports(here))

    assert done.stdout.count("Pass 2 of 2") == 2, done
    assert done.code == 0, done


def test_what_broke_runs_again_and_what_depends_on_it_then(app: MakeApplication) -> None:
    cases = [
        {"id": "good", "input": "good"},
        {"id": "login", "input": "bad login"},
        {"id": "order", "input": "order", "depends_on": ["login"]},
        {"id": "wrong", "input": "wrong", "expected": "nothing of the kind"},
    ]
    with ModelServer(breaking(2, "bad")) as server:
        here = asking(app, server, cases)
        done = here.run("-i", case_file(), "--retry-errors", "3", *reports(here))

        assert done.code == 1, done
        found = results(here)
        assert {id: record["status"] for id, record in found.items()} == {
            "good": "passed",
            "login": "passed",
            "order": "passed",
            "wrong": "failed",
        }
        assert (found["login"]["pass"], len(found["login"]["earlier_errors"])) == (3, 2)
        assert "no key 1" in found["login"]["earlier_errors"][0]
        assert "no key 2" in found["login"]["earlier_errors"][1]
        assert "pass" not in found["good"]
        assert Counter(request.last_text for request in server.requests) == {
            "good": 1,
            "bad login": 3,
            "order": 1,
            "wrong": 1,
        }
        assert "Pass 2 of 4, after 50ms: 1 test with an error runs again" in done.stdout
        for text in (done.stdout, (here.home / "r.xml").read_text(), (here.home / "r.md").read_text()):
            assert "This result is from pass 3" in text
            assert "no key 2" in text
        shown = here.run("show", str(here.home / "r.jsonl"))
        assert "This result is from pass 3" in shown.stdout


def test_what_breaks_in_the_last_pass_is_broken_and_skips_what_depends_on_it(app: MakeApplication) -> None:
    cases = [{"id": "login", "input": "bad"}, {"id": "order", "input": "order", "depends_on": ["login"]}]
    with ModelServer(breaking(9, "bad")) as server:
        here = asking(app, server, cases)
        done = here.run("-i", case_file(), "--retry-errors", "1", "--strict", *reports(here))

        assert done.code == 1
        found = results(here)
        assert (found["login"]["cause"], found["login"]["pass"]) == ("infrastructure", 2)
        assert "no key 2" in found["login"]["error"]
        assert "no key 1" in found["login"]["earlier_errors"][0]
        assert found["order"]["status"] == "skipped"
        (summary,) = [line for line in lines_of(here.home / "r.jsonl") if line["type"] == "summary"]
        assert (summary["errors"], summary["failed"], summary["skipped"]) == (1, 0, 1)


def test_later_passes_run_a_quarter_at_a_time(app: MakeApplication) -> None:
    under_way, most, again = 0, 0, 0
    seen: set[str] = set()

    async def behave(exchange: Exchange) -> None:
        nonlocal under_way, most, again
        text = exchange.request.last_text
        if text not in seen:
            seen.add(text)
            return await status(401, "no")(exchange)
        under_way, again = under_way + 1, again + 1
        most = max(most, under_way)
        while most < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)  # for a third one that should not come
        under_way -= 1
        await echo()(exchange)

    with ModelServer(behave) as server:
        here = asking(app, server, [{"id": f"c{number}", "input": f"c{number}"} for number in range(12)])

        done = here.run("-i", case_file(), "--retry-errors", "2", "--parallel", "8", *reports(here))

        assert done.code == 0, done
        assert (most, again) == (2, 12)


def test_a_run_that_is_stopped_between_passes_reports_what_broke(app: MakeApplication) -> None:
    with ModelServer(breaking(1, "bad")) as server:
        here = asking(app, server, [{"id": "a", "input": "bad"}, {"id": "b", "input": "good"}])
        with here.start("-i", case_file(), "--retry-errors", "2", *reports(here)) as process:
            eventually(lambda: len(server.requests) == 2 and "b" in results(here), "the first pass")
            time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            done = here.finish(process)

        assert done.code == 143
        assert {id: record["status"] for id, record in results(here).items()} == {"a": "failed", "b": "passed"}
        again = here.run("--resume", str(here.home / "r.jsonl"))
        assert again.code == 0, again


def test_each_run_of_a_case_runs_again_by_itself(app: MakeApplication) -> None:
    count = 0

    async def behave(exchange: Exchange) -> None:
        nonlocal count
        count += 1
        await (status(401, "no") if count == 2 else echo())(exchange)

    with ModelServer(behave) as server:
        here = asking(app, server, [{"id": "a", "input": "x"}])

        done = here.run("-i", case_file(), "--runs", "3", "--retry-errors", "1", *reports(here))

        assert done.code == 0, done
        records = [record for record in lines_of(here.home / "r.jsonl") if record["type"] == "result"]
        assert sorted((record["run"], record.get("pass")) for record in records) == [(1, None), (2, 2), (3, None)]
        assert count == 4


def test_a_recording_has_the_calls_of_the_last_pass_alone(app: MakeApplication) -> None:
    case = {"id": "a", "mode": "conversation", "turns": [{"input": "x"}, {"input": "bad"}]}
    with ModelServer(breaking(1, "bad")) as server:
        here = asking(app, server, [case])
        folder = here.home / "rec"

        done = here.run("-i", case_file(), "--retry-errors", "1", "--record", str(folder), *reports(here))

        assert done.code == 0, done
        (file,) = folder.rglob("a.json")
        assert len(json.loads(file.read_text())["calls"]) == 2
        assert [request.last_text for request in server.requests] == ["x", "bad", "bad"]
        assert here.run("-i", case_file(), "--replay", str(folder)).code == 0


def test_a_hook_before_all_cases_runs_again_when_it_broke(app: MakeApplication) -> None:
    env = """\
export function BeforeAll() {
  const files = new FS("data");
  if (files.Exists("/begun")) return "ready";
  files.WriteFile("/begun", "x");
  for (;;) {}
}
"""
    here = app(agent(cases=[{"id": "a", "input": "x"}, {"id": "b", "input": "y"}]))
    here.write({"env_test.ts": env, "/data/.keep": ""})
    arguments = ("-i", case_file(), "--before", "env_test.BeforeAll", "--retry-errors", "1", *reports(here))
    with start(here, *arguments) as process:
        eventually((here.root / "data/begun").exists, "the hook begins")
        for pid in worker_pids(process.pid):
            os.kill(pid, signal.SIGKILL)
        done = here.finish(process)

    assert done.code == 0, done
    assert {id: (record["status"], record["pass"]) for id, record in results(here).items()} == {
        "a": ("passed", 2),
        "b": ("passed", 2),
    }


SLOW = """\
export function TestSlow(t) {
  const files = new FS("data");
  if (files.Exists("/slow")) return t.assert.True(true);
  files.WriteFile("/slow", "x");
  for (;;) {}
}
"""
"""Ends when it runs for the second time."""
QUICK_TEST = "export function TestQuick(t) { t.assert.True(true); }\n"


def test_a_script_test_whose_worker_was_killed_runs_again(app: MakeApplication) -> None:
    here = app({"some_test.ts": SLOW + QUICK_TEST, "/data/.keep": ""})
    arguments = ("-i", "scripts.demo.some", "--retry-errors", "1", *reports(here))
    with start(here, *arguments) as process:
        eventually((here.root / "data/slow").exists, "the slow test begins")
        for pid in worker_pids(process.pid):
            os.kill(pid, signal.SIGKILL)
        done = here.finish(process)

    assert done.code == 0, done
    found = results(here)
    assert {id: record["status"] for id, record in found.items()} == {"TestSlow": "passed", "TestQuick": "passed"}
    assert found["TestSlow"]["pass"] == 2
    assert "SIGKILL" in found["TestSlow"]["earlier_errors"][0]
    (start_of,) = [line for line in lines_of(here.home / "r.jsonl") if line["type"] == "start"]
    assert start_of["scripts"] == ["scripts.demo.some"]


ASKING_TESTS = """\
const ask = (content) => Process("agents.demo.Call", [{ role: "user", content }]);
async function later(content) { await null; return ask(content); }
export function TestAsk(t) { ask("bad question"); }
export async function TestAsync(t) { await later("bad async"); }
export function TestSubtest(t) { t.run("one", () => ask("bad sub")); t.run("two", (t) => t.assert.True(true)); }
export function TestScript(t) { Process("scripts.demo.helper.Help", "bad nested"); }
export function TestJudged(t) { t.assert.Agent("bad answer", "demo"); }
export function TestCaught(t) { try { ask("bad caught"); } catch (error) { t.assert.Contains(error.message, "401"); } }
export function TestWrapped(t) { try { ask("bad wrapped"); } catch (error) { throw new Error("no answer"); } }
export function TestSaidNo(t) { t.assert.True(false); ask("bad late"); }
export function TestClean(t) { t.cleanup(() => { throw new Error("nothing there"); }); ask("bad clean"); }
export function TestOther(t) { t.assert.True(true); }
"""
HELPER = "export function Help(content) { return Process('agents.demo.Call', [{ role: 'user', content }]); }\n"
BROKEN_TESTS = ("TestAsk", "TestAsync", "TestSubtest", "TestScript", "TestJudged", "TestClean")


def test_a_script_test_that_a_model_host_ended_is_broken_and_runs_again(app: MakeApplication) -> None:
    with ModelServer(breaking(99, "bad")) as server:
        here = asking(app, server, [])
        here.write({"some_test.ts": ASKING_TESTS, "helper.ts": HELPER})

        done = here.run("-i", "scripts.demo.some", "-o", str(here.home / "r.jsonl"))
        found = {record["id"]: record for record in lines_of(here.home / "r.jsonl") if record["type"] == "result"}
        server.default = says("good")
        again = here.run("--resume", str(here.home / "r.jsonl"))

    causes = {id: record.get("cause") for id, record in found.items() if record["status"] == "failed"}
    assert causes == {
        **dict.fromkeys(BROKEN_TESTS, "infrastructure"),
        "TestWrapped": "error",
        "TestSaidNo": "assertion",
    }
    assert (done.code, found["TestCaught"]["status"]) == (1, "passed"), done
    assert f"{len(BROKEN_TESTS)} errors" in done.stdout
    assert "re-run because they ended with an error: TestAsk" in again.stdout, again
    after = {record["id"]: record["status"] for record in lines_of(here.home / "r.jsonl") if record["type"] == "result"}
    assert {after[id] for id in ("TestAsk", "TestAsync", "TestSubtest", "TestScript")} == {"passed"}
    assert {after[id] for id in ("TestWrapped", "TestSaidNo")} == {"failed"}, "they are no errors, so they are kept"


def test_a_case_whose_hook_a_model_host_ended_is_broken(app: MakeApplication) -> None:
    hook = "function Create(ctx, messages) { Process('agents.other.Call', [{ role: 'user', content: 'bad' }]); }"
    with ModelServer(breaking(99, "bad")) as server:
        here = asking(app, server, [{"id": "one", "input": "hi"}])
        here.write({**agent("other", package={"connector": "local"}), "index.ts": hook})

        here.run("-i", case_file(), *reports(here))

        assert results(here)["one"]["cause"] == "infrastructure"


BROKEN = [{"id": f"bad{number}", "input": f"bad {number}"} for number in range(2)]
GOOD = [{"id": f"good{number}", "input": f"good {number}"} for number in range(49)]


@pytest.mark.parametrize(
    ("allowed", "broken", "good", "code"),
    [
        ("2%", 1, 49, 0), ("1.99%", 1, 49, 1), ("2", 2, 2, 0), ("1", 2, 2, 1), ("0", 1, 2, 1), ("0%", 0, 2, 0),
        ("100%", 2, 2, 0),
    ],
)  # fmt: skip
def test_so_many_tests_may_break(app: MakeApplication, allowed: str, broken: int, good: int, code: int) -> None:
    with ModelServer(breaking(9, "bad")) as server:
        here = asking(app, server, BROKEN[:broken] + GOOD[:good])

        done = here.run("-i", case_file(), "--max-errors", allowed, "--parallel", "8", *reports(here))

        assert done.code == code, done
        (summary,) = [line for line in lines_of(here.home / "r.jsonl") if line["type"] == "summary"]
        assert summary["status"] == ("failed" if code else "passed")
        assert summary.get("errors", 0) == broken
        if broken:
            assert (
                f"{'1 test' if broken == 1 else '2 tests'} ended with an error, and --max-errors allows {allowed}"
                in done.stdout
            )


def test_a_failure_is_no_error_that_may_be(app: MakeApplication) -> None:
    with ModelServer(breaking(9, "bad")) as server:
        here = asking(app, server, [*BROKEN, {"id": "wrong", "input": "x", "expected": "y"}])

        assert here.run("-i", case_file(), "--max-errors", "100%", *reports(here)).code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--max-errors", "2.5"), 'Cannot read --max-errors "2.5"'),
        (("--max-errors", "101%"), 'Cannot read --max-errors "101%"'),
        (("--max-errors", "few"), 'Cannot read --max-errors "few"'),
        (("--retry-errors", "0"), 'Cannot read --retry-errors "0": it must be a whole number of at least 1'),
        (("--retry-errors", "1", "--replay", "rec"), "--replay and --retry-errors cannot be used together"),
    ],
)
def test_what_is_no_number_is_refused(app: MakeApplication, arguments: tuple[str, ...], said: str) -> None:
    here = app(agent(cases=GOOD[:1]))

    done = here.run("-i", case_file(), *arguments)

    assert done.code == 2
    assert said in done.stderr


def test_a_case_does_not_pay_for_its_place_among_the_hooks(app: MakeApplication) -> None:
    """One processor, hooks of 0.15 s, ten cases with 1.25 s each at the same time."""
    hooks = "function Create(ctx, messages) { const end = Date.now() + 150; while (Date.now() < end); return { messages }; }"
    cases = [{"id": f"c{number}", "input": "x", "timeout": "1250ms"} for number in range(10)]
    here = app(agent(hooks=hooks, cases=cases, replies="- reply: yes"))

    with here.start("-i", case_file(), "--parallel", "10", *reports(here), prefix=("taskset", "-c", "0")) as process:
        done = here.finish(process)

    assert done.code == 0, done
    assert all(record["duration_ms"] < 1250 for record in results(here).values())
