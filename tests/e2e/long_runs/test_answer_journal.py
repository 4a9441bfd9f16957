"""The journal of model calls: a run that is killed and resumed asks for no answer twice."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, lines
from command import Application, MakeApplication, Record, eventually
from faults import assert_complete, lines_of, with_model
from model_server import Behaviour, Exchange, ModelServer, says, status

from runner.record.writing import LineFile

TURNS = 20
PARALLEL = 3
FLAGS = ("--parallel", str(PARALLEL))
SECRET = "tok-4711-secret"


def conversation(id: str, turns: int = TURNS) -> Record:
    """A case of several turns, whose whole is judged by an agent."""
    says = [{"input": f"{id} says {number}"} for number in range(turns)]
    return {"id": id, "mode": "conversation", "turns": says, "grader": "judge", "assertions": ["It is polite"]}


def partner(delay: float = 0) -> Behaviour:
    """Answers the tested agent with its input, the simulator with a question and the judge with a yes."""

    async def behave(exchange: Exchange) -> None:
        system = exchange.request.body["messages"][0]["content"]
        if "JUDGE" in system:
            return await says('{"passed": true, "score": 1, "reason": "polite"}', delay=delay)(exchange)
        if "PLAYER" in system:
            return await says('{"input": "And then?", "goal_achieved": false}', delay=delay)(exchange)
        await says(f"heard {exchange.request.last_text} {SECRET}", delay=delay)(exchange)

    return behave


def talking(app: MakeApplication, server: ModelServer, cases: list[Record], **more: Any) -> Application:
    local = {"connector": "local"}
    return app(
        {
            **agent(package=local, cases=cases, **more),
            **agent("judge", package=local, prompts="- { role: system, content: You are the JUDGE. }"),
            **agent("player", package=local, prompts="- { role: system, content: You are the PLAYER. }"),
            **with_model(server),
        }
    )


def killed_when(here: Application, condition: Callable[[], object], *arguments: str) -> None:
    """A command that is ended by SIGKILL as soon as the condition holds."""
    with here.start(*arguments) as process:
        eventually(lambda: condition() or process.poll() is not None, "the moment to kill")
        process.kill()
        process.communicate()


def journal_of(report: Path) -> Path:
    return report.with_suffix(".calls.jsonl")


def without_times(value: Any) -> Any:
    """A JSON value without what differs from run to run."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if not key.endswith("_ms")}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def results(path: Path) -> dict[str, Any]:
    return {
        record["id"]: without_times({**record, "position": 0})
        for record in lines_of(path)
        if record["type"] == "result"
    }


def test_ten_kills_cost_no_more_than_the_calls_that_were_under_way(app: MakeApplication) -> None:
    cases = [conversation(id) for id in ("ann", "bob", "cid")]
    unbroken = len(cases) * (TURNS + 1)
    moments = sorted(random.Random(1).sample(range(1, unbroken), 10))
    with ModelServer(partner(0.01)) as server:
        here = talking(app, server, cases)
        path = here.home / "r.jsonl"
        arguments: tuple[str, ...] = ("-i", case_file(), "-o", str(path), *FLAGS)
        for count, moment in enumerate(moments):
            killed_when(here, lambda: len(server.requests) - count * PARALLEL >= moment, *arguments)  # noqa: B023
            server.wait_for_quiet()
            assert journal_of(path).exists()
            arguments = ("--resume", str(path), *FLAGS)

        run = here.run(*arguments)

        assert run.code == 0, run
        assert unbroken <= len(server.requests) <= unbroken + 10 * PARALLEL
        assert_complete(path, {"ann", "bob", "cid"})
        assert not journal_of(path).exists()
        whole = here.home / "whole.jsonl"
        assert here.run("-i", case_file(), "-o", str(whole), *FLAGS).code == 0
        assert results(path) == results(whole)
        assert not journal_of(whole).exists()


def test_ten_kills_cost_no_more_when_a_case_asks_several_judges_at_once(app: MakeApplication) -> None:
    judged = [{"type": "agent", "use": "agents:judge", "value": f"criterion {number}"} for number in range(4)]
    cases = [{"id": id, "input": f"{id} asks", "assert": judged} for id in "abcdefgh"]
    most, lock = [0, 0], threading.Lock()

    async def behave(exchange: Exchange) -> None:
        with lock:
            most[0] += 1
            most[1] = max(most)
        await partner(0.01)(exchange)
        with lock:
            most[0] -= 1

    with ModelServer(behave) as server:
        here = talking(app, server, cases)
        path = here.home / "r.jsonl"
        unbroken = len(cases) * 5
        moments = sorted(random.Random(2).sample(range(1, unbroken), 10))
        arguments: tuple[str, ...] = ("-i", case_file(), "-o", str(path), *FLAGS)
        for count, moment in enumerate(moments):
            killed_when(here, lambda: len(server.requests) - count * PARALLEL >= moment, *arguments)  # noqa: B023
            server.wait_for_quiet()
            most[0] = 0
            arguments = ("--resume", str(path), *FLAGS)

        run = here.run(*arguments)

        assert run.code == 0, run
        assert unbroken <= len(server.requests) <= unbroken + 10 * PARALLEL
        assert most[1] == PARALLEL
        assert_complete(path, set("abcdefgh"))
        assert not journal_of(path).exists()


def test_what_waits_for_its_place_costs_no_time_and_what_is_answered_has_an_end(app: MakeApplication) -> None:
    """One request at a time: judges wait for each other, longer than their case may take, and one never answers."""

    async def behave(exchange: Exchange) -> None:
        if "criterion silent" in str(exchange.request.body):
            await asyncio.Event().wait()
        await partner(0.2)(exchange)

    def case(id: str, *criteria: str) -> Record:
        judged = [{"type": "agent", "use": "agents:judge", "value": f"criterion {one}"} for one in criteria]
        return {"id": id, "input": "hi", "timeout": "1.3s", "assert": judged}

    with ModelServer(behave) as server:
        here = talking(app, server, [case("queue", *"abcdefgh"), case("hangs", "a", "silent", "c", "d")])
        here.write(with_model(server, retries=0))
        path = here.home / "r.jsonl"
        here.run("-i", case_file(), "-o", str(path), "--parallel", "1")

        found = {record["id"]: record for record in lines_of(path) if record["type"] == "result"}

        assert (found["queue"]["status"], found["hangs"]["status"]) == ("passed", "failed")
        assert found["hangs"]["cause"] == "timeout"


def test_a_kill_in_the_last_turn_asks_for_that_answer_alone(app: MakeApplication) -> None:
    reached = threading.Event()

    async def hold(exchange: Exchange) -> None:
        reached.set()
        await asyncio.Event().wait()

    case = {
        "id": "long",
        "input": "start",
        "simulator": {"use": "player"},
        "max_turns": 6,
        "checkpoints": [{"id": "never", "required": False, "assert": {"type": "contains", "value": "nowhere"}}],
    }
    with ModelServer(partner()) as server:
        here = talking(app, server, [case])
        path = here.home / "r.jsonl"
        server.plan(*[partner()] * 8, hold)

        killed_when(here, reached.is_set, "-i", case_file(), "-o", str(path))
        before = len(server.requests)
        here.run("--resume", str(path))

        assert before == 9
        last = [request.body["messages"] for request in server.requests[8:]]
        assert last[0] == last[1]
        assert len(server.requests) == before + 1 + 2, "the one that was under way, and those that come after it"


def test_the_answers_of_a_run_belong_to_that_run_of_the_case(app: MakeApplication) -> None:
    """All runs ask the same; only the second one was answered before the kill."""
    numbers = iter(range(1, 100))
    hold = threading.Event()

    async def numbered(exchange: Exchange) -> None:
        if hold.is_set():
            await asyncio.Event().wait()
        await says(f"answer {next(numbers)}")(exchange)

    cases = [{"id": "twice", "mode": "conversation", "turns": [{"input": "a"}, {"input": "b"}]}]
    with ModelServer(numbered) as server:
        here = talking(app, server, cases)
        path = here.home / "r.jsonl"
        arguments = ("-i", case_file(), "-o", str(path), "--runs", "3", "--parallel", "3")
        first = {}

        def answered() -> bool:
            return len(lines_of(journal_of(path))) >= 4

        killed_when(here, answered, *arguments)
        for record in lines_of(journal_of(path))[1:]:
            if "completion" in record:
                first.setdefault(record["run"], record["completion"]["content"])

        assert here.run("--resume", str(path), "--parallel", "3").code == 0

        done = {record["run"]: record["turns"][0]["output"] for record in lines_of(path) if record["type"] == "result"}
        assert {run: done[run] for run in first} == first
        assert len(set(done.values())) == 3


def stopped_in_the_middle(app: MakeApplication, server: ModelServer, **more: Any) -> tuple[Application, Path]:
    """A case of six turns that was killed in its fourth."""
    reached = threading.Event()

    async def hold(exchange: Exchange) -> None:
        reached.set()
        await asyncio.Event().wait()

    here = talking(app, server, [conversation("ann", 6)], **more)
    path = here.home / "r.jsonl"
    server.plan(*[partner()] * 3, hold)
    killed_when(here, reached.is_set, "-i", case_file(), "-o", str(path))
    server.requests.clear()
    return here, path


def test_a_torn_line_costs_its_answer(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here, path = stopped_in_the_middle(app, server)
        journal_of(path).write_bytes(journal_of(path).read_bytes()[:-20])

        assert here.run("--resume", str(path)).code == 0

        assert len(server.requests) == 4 + 1
        assert not journal_of(path).exists()


def test_merge_and_folders_of_cases_pass_over_journals(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here, path = stopped_in_the_middle(app, server)
        other = here.home / "r.other.jsonl"
        assert here.run("-i", case_file(), "-o", str(other)).code == 0
        (here.root / case_file()).with_name("output-20250101000000.calls.jsonl").write_bytes(
            journal_of(path).read_bytes()
        )

        merged = here.run("merge", str(journal_of(path)), str(other), "-o", str(here.home / "whole.md"))
        listed = here.run("-i", "assistants/demo/tests", "--dry-run")

        assert "in 1 part\n" in merged.stdout, merged
        assert "1 test in 1 input" in listed.stdout, listed


def test_what_is_asked_otherwise_is_asked_anew(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here, path = stopped_in_the_middle(app, server)
        here.write(with_model(server, temperature=0.3))

        assert here.run("--resume", str(path)).code == 0

        assert len(server.requests) == 7


def test_there_is_no_secret_in_a_journal(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        reached = threading.Event()

        async def hold(exchange: Exchange) -> None:
            reached.set()
            await asyncio.Event().wait()

        here = talking(app, server, [conversation("ann", 3)])
        here.write({"/.env": f"API_TOKEN={SECRET}\n"})
        path = here.home / "r.jsonl"
        server.plan(partner(), partner(), hold)
        killed_when(here, reached.is_set, "-i", case_file(), "-o", str(path))
        content = journal_of(path).read_text()
        assert "***API_TOKEN***" in content
        assert SECRET not in content
        server.requests.clear()

        assert here.run("--resume", str(path)).code == 0

        assert len(server.requests) == 2, "what was said before is found though it was written without the secret"


def test_a_new_run_takes_nothing_from_an_old_journal(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here, path = stopped_in_the_middle(app, server)

        assert here.run("-i", case_file(), "-o", str(path)).code == 0

        assert len(server.requests) == 7
        assert not journal_of(path).exists()


def test_a_file_that_is_no_journal_is_left_alone(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here = talking(app, server, [conversation("ann", 2)])
        path = here.home / "r.jsonl"
        journal_of(path).write_text('{"type": "start"}\n')

        run = here.run("-i", case_file(), "-o", str(path))

        assert run.code == 0
        assert "Cannot save model responses to <home>/r.calls.jsonl: a file with this name exists" in run.stdout
        assert journal_of(path).read_text() == '{"type": "start"}\n'


def test_a_journal_that_another_run_writes_is_left_to_it(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here = talking(app, server, [conversation("ann", 2)])
        path = here.home / "r.jsonl"
        other = LineFile(journal_of(path))
        other.write("theirs")

        run = here.run("-i", case_file(), "-o", str(path))

        other.close()
        assert run.code == 0
        assert "another yao-test is writing it. The run continues" in run.stdout
        assert journal_of(path).read_text() == "theirs\n"


def test_a_case_that_broke_for_a_model_that_did_not_answer_goes_on(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        here = talking(app, server, [conversation("ann", 4)])
        here.write(with_model(server, retries=0))
        path = here.home / "r.jsonl"
        server.plan(partner(), partner(), status(401, "no"), status(401, "no"))
        assert here.run("-i", case_file(), "-o", str(path)).code == 1
        assert journal_of(path).exists()
        server.requests.clear()

        assert here.run("--resume", str(path)).code == 0

        assert [request.last_text for request in server.requests[:1]] == ["ann says 2"]
        assert not journal_of(path).exists()


def test_a_recording_has_the_answers_that_the_journal_kept(app: MakeApplication) -> None:
    with ModelServer(partner()) as server:
        reached = threading.Event()

        async def hold(exchange: Exchange) -> None:
            reached.set()
            await asyncio.Event().wait()

        here = talking(app, server, [conversation("ann", 4)])
        path, folder = here.home / "r.jsonl", here.home / "rec"
        server.plan(partner(), partner(), hold)
        killed_when(here, reached.is_set, "-i", case_file(), "-o", str(path), "--record", str(folder))
        server.requests.clear()

        assert here.run("--resume", str(path), "--record", str(folder)).code == 0

        assert len(server.requests) == 3
        (file,) = folder.rglob("ann.json")
        assert len(json.loads(file.read_text())["calls"]) == 5
        assert here.run("-i", case_file(), "-o", str(here.home / "replayed.json"), "--replay", str(folder)).code == 0


@pytest.mark.parametrize("interrupt", [2, 15])
def test_a_run_that_is_interrupted_keeps_its_journal(app: MakeApplication, interrupt: int) -> None:
    with ModelServer(partner()) as server:
        reached = threading.Event()

        async def hold(exchange: Exchange) -> None:
            reached.set()
            await asyncio.Event().wait()

        here = talking(app, server, [conversation("ann", 4)])
        path = here.home / "r.jsonl"
        server.plan(partner(), partner(), hold)
        with here.start("-i", case_file(), "-o", str(path)) as process:
            eventually(reached.is_set, "the third turn")
            process.send_signal(interrupt)
            process.send_signal(interrupt)
            here.finish(process)
        server.requests.clear()

        assert here.run("--resume", str(path)).code == 0

        assert len(server.requests) == 3
        assert lines(*lines_of(path))
