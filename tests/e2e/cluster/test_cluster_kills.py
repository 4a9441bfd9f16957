"""`--cluster` while workers, the scheduler and the command itself are killed: nothing is lost, nothing counts twice."""

from __future__ import annotations

import asyncio
import json
import math
import signal
import time
import urllib.request
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Record, eventually
from dask_cluster import DaskCluster, runners
from faults import are_gone, below, leaves_nothing, lines_of, with_model
from model_server import Exchange, ModelServer, echo

pytest.importorskip("distributed")
KEY = {"WORKER_KEY": "tok-of-workers-4711"}
OTHERS = "what others say"


def conversations(app: MakeApplication, server: ModelServer, count: int, turns: int) -> Application:
    def case(number: int) -> Record:
        return {"id": f"c{number}", "turns": [{"input": f"c{number} turn {turn}"} for turn in range(turns)]}

    files = agent(package={"connector": "local"}, cases=[case(number) for number in range(count)])
    return app({**files, **with_model(server, key="$ENV.WORKER_KEY")})


def statuses(report: Path) -> dict[str, str]:
    records = [record for record in lines_of(report) if record["type"] == "result"]
    assert len({record["id"] for record in records}) == len(records)
    return {record["id"]: record["status"] for record in records}


def asked(server: ModelServer) -> list[str]:
    return [request.last_text for request in server.requests if request.last_text != OTHERS]


class Held:
    """A model that answers so many calls at once, and holds the others until it may answer more."""

    def __init__(self, answers: float) -> None:
        self.left = answers
        self._answer = echo()

    async def behave(self, exchange: Exchange) -> None:
        if exchange.request.last_text != OTHERS:
            while self.left < 1:
                await asyncio.sleep(0.01)
            self.left -= 1
        await self._answer(exchange)


def let_others_call(server: ModelServer) -> None:
    """Returns when the model has answered many calls of somebody else: the time in which runners could make theirs."""
    body = json.dumps({"messages": [{"role": "user", "content": OTHERS}]}).encode()
    for _ in range(100):
        urllib.request.urlopen(f"{server.url}/v1/chat/completions", body, timeout=20).close()


def test_kills_cost_the_calls_under_way(app: MakeApplication, tmp_path: Path) -> None:
    count, turns = 24, 5
    held = Held(answers=5 * turns)  # for three cases at the least: two are under way at a time
    with ModelServer(held.behave) as server, DaskCluster(tmp_path / "cluster", env=KEY) as cluster:
        here = conversations(app, server, count, turns)
        report, flags = here.root / "r.jsonl", ("--cluster", cluster.address)
        with here.start("-i", case_file(), *flags, "-o", "r.jsonl") as command:
            eventually(lambda: len(statuses(report)) >= 3, "the first results")
            started = runners(cluster)
            cluster.kill(cluster.workers.pop())
            cluster.workers.append(cluster.add_worker())
            eventually(lambda: len(runners(cluster)) == 2, "a runner on a worker that has come later")
            started |= runners(cluster)
            done = len(statuses(report))
            held.left = 7 * turns
            eventually(lambda: len(statuses(report)) >= done + 3, "more results")
            command.send_signal(signal.SIGSTOP)
            held.left = math.inf
            try:
                let_others_call(server)
            finally:
                command.kill()
            command.communicate()
        assert started
        eventually(lambda: are_gone(started), "no runner outlives its command or its worker")
        assert 0 < len(statuses(report)) < count
        done, held.left = len(statuses(report)), 3 * turns
        with here.start("--resume", "r.jsonl", *flags) as command:
            eventually(lambda: len(statuses(report)) > done, "another result")
            started = runners(cluster)
            cluster.kill(cluster.scheduler)
            broken = here.finish(command)
        assert broken.code == 3
        assert f"Error: The scheduler of the cluster at {cluster.address} is gone" in broken.stdout
        assert "Stopped: the run was aborted" in broken.stdout
        assert broken.stderr == ""
        assert started
        eventually(lambda: are_gone(started), "no runner outlives the cluster")
        assert len(statuses(report)) < count
        held.left = math.inf
        run = here.run("--resume", "r.jsonl", env={**here.environment, **KEY})
        assert run.code == 0, run
        assert statuses(report) == {f"c{number}": "passed" for number in range(count)}
        again = len(asked(server)) - len(set(asked(server)))
        assert again <= 1 + 2 + 2  # one for each place that was lost: of the worker, of the command, of the scheduler


def test_rounds_of_variants_outlive_a_worker(app: MakeApplication, tmp_path: Path) -> None:
    count, rounds = 3, 3
    held = Held(answers=2 * count)  # the first round
    cases = [{"id": f"c{number}", "input": f"c{number}"} for number in range(count)]
    variants = ("--variant", "old=", "--variant", "new=prompts:new.yml")
    with ModelServer(held.behave) as server, DaskCluster(tmp_path / "cluster", workers=1, env=KEY) as cluster:
        files = agent(package={"connector": "local"}, cases=cases)
        files["/assistants/demo/new.yml"] = "- { role: system, content: Be long. }"
        here = app({**files, **with_model(server, key="$ENV.WORKER_KEY", max_concurrency=1)})
        flags = ("-i", case_file(), *variants, "--until-decided", "--runs", str(rounds), "--cluster", cluster.address)
        with here.start(*flags, "-o", "r.jsonl") as command:
            eventually(lambda: len(server.requests) > 2 * count, "the second round")
            started = runners(cluster)
            cluster.kill(cluster.workers.pop())
            cluster.workers.append(cluster.add_worker())
            eventually(lambda: runners(cluster), "a runner on a worker that has come later")
            held.left = math.inf
            run = here.finish(command)
        assert run.code == 0, run
        assert started
        eventually(lambda: are_gone(started), "no runner outlives its worker")
        records = [record for record in lines_of(here.root / "r.jsonl") if record["type"] == "result"]
        ended = {(record["suite"], record["id"], record["run"]): record["status"] for record in records}
        assert list(ended.values()) == ["passed"] * 2 * count * rounds
        assert len(records) == len(ended)
        assert len(server.requests) - 2 * count * rounds in (0, 1)  # the one that was under way


def test_a_local_cluster_leaves_nothing_whenever_its_command_is_killed(app: MakeApplication, tmp_path: Path) -> None:
    here = app({f"m{number}_test.ts": "function TestX(t: testing.T) { t.assert.True(true); }" for number in range(20)})
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**here.environment, "TMPDIR": str(temporary)}
    for seconds in (0.15, 0.25, 0.35, 0.5):  # while Dask is loaded, and processes start and find each other
        with here.start("-i", "scripts.demo", "--cluster", "local:2", env=environment) as command:
            time.sleep(seconds)
            started = below(command.pid)
            command.kill()
            command.communicate()
        eventually(lambda: are_gone(started) and not list(temporary.iterdir()), "nothing is left")  # noqa: B023


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_a_local_cluster_ends_with_its_command(app: MakeApplication, number: signal.Signals) -> None:
    held = Held(answers=0)  # to the end: nothing may wait for an answer
    with ModelServer(held.behave) as server:
        here = conversations(app, server, 4, 1)
        with leaves_nothing(here) as sessions:
            with here.start("-i", case_file(), "--cluster", "local:1", env={**here.environment, **KEY}) as command:
                eventually(lambda: len(server.requests) == 1, "a call")
                started = below(command.pid)
                command.send_signal(number)
                run = here.finish(command)
            sessions.append(command.pid)
            assert started
            eventually(lambda: are_gone(started), "nothing is left")
        held.left = math.inf
    if number == signal.SIGINT:
        assert run.code == 130
        assert "Stopped: interrupted; 4 not run" in run.stdout
