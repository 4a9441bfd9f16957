"""`--cluster` while workers, the scheduler and the command itself are killed: nothing is lost, nothing counts twice."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Record, eventually
from dask_cluster import DaskCluster
from faults import are_gone, below, helper_processes, with_model
from model_server import ModelServer, echo

pytest.importorskip("distributed")
KEY = {"WORKER_KEY": "tok-of-workers-4711"}
RUNNER = "runner.cluster.piece_runner"


def conversations(app: MakeApplication, server: ModelServer, count: int, turns: int) -> Application:
    def case(number: int) -> Record:
        return {"id": f"c{number}", "turns": [{"input": f"c{number} turn {turn}"} for turn in range(turns)]}

    files = agent(package={"connector": "local"}, cases=[case(number) for number in range(count)])
    return app({**files, **with_model(server, key="$ENV.WORKER_KEY")})


def statuses(report: Path) -> dict[str, str]:
    from faults import lines_of

    records = [record for record in lines_of(report) if record["type"] == "result"]
    assert len({record["id"] for record in records}) == len(records)
    return {record["id"]: record["status"] for record in records}


def asked(server: ModelServer) -> list[str]:
    return [request.last_text for request in server.requests]


def runners(cluster: DaskCluster) -> set[int]:
    """The processes that run tests for the workers of a cluster."""
    return below(*(worker.pid for worker in cluster.workers)) & {pid for pid, _ in helper_processes(RUNNER)}


def test_a_killed_worker_and_a_killed_command_cost_the_calls_under_way(app: MakeApplication, tmp_path: Path) -> None:
    count, turns = 40, 5
    with ModelServer(echo(0.01)) as server, DaskCluster(tmp_path / "cluster", env=KEY) as cluster:
        here = conversations(app, server, count, turns)
        report, flags = here.root / "r.jsonl", ("--cluster", cluster.address)
        with here.start("-i", case_file(), *flags, "-o", "r.jsonl") as command:
            eventually(lambda: report.exists() and len(statuses(report)) >= 3, "the first results")
            started = runners(cluster)
            cluster.kill(cluster.workers[0])
            done = len(statuses(report))
            eventually(lambda: len(statuses(report)) >= done + 4, "results of the other worker")
            assert command.poll() is None
            command.kill()
            command.communicate()
        assert started
        eventually(lambda: are_gone(started), "no runner outlives its command or its worker")
        assert 0 < len(statuses(report)) < count
        cluster.workers.append(cluster.add_worker())
        run = here.run("--resume", "r.jsonl", *flags)
        assert run.code == 0, run
        assert statuses(report) == {f"c{number}": "passed" for number in range(count)}
        again = len(asked(server)) - len(set(asked(server)))
        assert again <= 4  # one call under way on the killed worker, two when the command was killed, one lost message


def test_a_worker_that_comes_later_takes_part(app: MakeApplication, tmp_path: Path) -> None:
    with ModelServer(echo(0.05)) as server, DaskCluster(tmp_path / "cluster", workers=1, env=KEY) as cluster:
        here = conversations(app, server, 30, 2)
        with here.start("-i", case_file(), "--cluster", cluster.address, "-o", "r.jsonl") as command:
            eventually(lambda: len(server.requests) > 2, "the first calls")
            cluster.workers.append(cluster.add_worker())
            eventually(lambda: len(runners(cluster)) == 2, "a runner on the new worker")
            cluster.kill(cluster.workers[0])
            run = here.finish(command)
        assert run.code == 0, run
        assert "was lost" in run.stdout
        assert len(statuses(here.root / "r.jsonl")) == 30


def test_a_scheduler_that_dies_ends_the_run_which_can_go_on(app: MakeApplication, tmp_path: Path) -> None:
    with ModelServer(echo(0.02)) as server, DaskCluster(tmp_path / "cluster", workers=1, env=KEY) as cluster:
        here = conversations(app, server, 20, 2)
        with here.start("-i", case_file(), "--cluster", cluster.address, "-o", "r.jsonl") as command:
            eventually(lambda: len(server.requests) > 5, "the first results")
            started = runners(cluster)
            cluster.kill(cluster.scheduler)
            run = here.finish(command)
        assert run.code == 3
        assert f"Error: The scheduler of the cluster at {cluster.address} is gone" in run.stdout
        assert "Stopped: the run broke" in run.stdout
        assert 0 < len(statuses(here.root / "r.jsonl")) < 20
        assert started
        eventually(lambda: are_gone(started), "no runner outlives the cluster")
        assert here.run("--resume", "r.jsonl", env={**here.environment, **KEY}).code == 0
        assert len(statuses(here.root / "r.jsonl")) == 20


def test_ctrl_c_cancels_and_leaves_nothing(app: MakeApplication) -> None:
    with ModelServer(echo(30)) as server:
        here = conversations(app, server, 20, 2)
        variables = {**here.environment, **KEY}
        with here.start("-i", case_file(), "--cluster", "local:2", "-o", "r.jsonl", env=variables) as command:
            eventually(lambda: len(server.requests) == 2, "a call on each worker", 40)
            started = below(command.pid)
            command.send_signal(signal.SIGINT)
            run = here.finish(command)
        assert run.code == 130
        assert "Stopped: interrupted; 20 not run" in run.stdout
    assert started
    eventually(lambda: are_gone(started), "nothing is left")


def test_a_killed_command_takes_its_local_cluster_with_it(app: MakeApplication) -> None:
    with ModelServer(echo(30)) as server:
        here = conversations(app, server, 4, 1)
        variables = {**here.environment, **KEY}
        with here.start("-i", case_file(), "--cluster", "local:1", env=variables) as command:
            eventually(lambda: len(server.requests) == 1, "a call", 40)
            started = below(command.pid)
            command.kill()
            command.communicate()
    assert started
    eventually(lambda: are_gone(started), "nothing is left")
