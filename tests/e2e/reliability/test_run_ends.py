"""Each way in which a run can end: its exit code, and what is on the disk then. The table is in `docs/reliability.md`."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Record
from faults import lines_of, with_model
from model_server import Exchange, ModelServer, echo, status

GOOD: Record = {"id": "good", "input": "x"}
BAD: Record = {"id": "bad", "input": "x", "expected": "y"}
BROKEN: Record = {"id": "broken", "mode": "conversation", "turns": [{"input": "first"}, {"input": "no answer"}]}


def journal_of(report: Path) -> Path:
    return report.with_suffix(".calls.jsonl")


def summary_of(report: Path) -> Record | None:
    found = [line for line in lines_of(report) if line["type"] == "summary"]
    return found[-1] if found else None


def asking(app: MakeApplication, server: ModelServer, *cases: Record) -> Application:
    return app({**agent(package={"connector": "local"}, cases=list(cases)), **with_model(server, retries=0)})


async def sometimes(exchange: Exchange) -> None:
    await (status(401, "no") if exchange.request.last_text == "no answer" else echo())(exchange)


@pytest.mark.parametrize(
    ("cases", "code", "ended", "journal"),
    [
        ((GOOD,), 0, "passed", False),
        ((GOOD, BAD), 1, "failed", False),
        ((GOOD, BROKEN), 1, "failed", True),
    ],
    ids=["finished", "failed", "broken"],
)
def test_a_run_that_came_to_its_end_has_a_whole_report(
    app: MakeApplication, cases: tuple[Record, ...], code: int, ended: str, journal: bool
) -> None:
    with ModelServer(sometimes) as server:
        here = asking(app, server, *cases)
        path, page = here.home / "r.jsonl", here.home / "r.html"

        assert here.run("-i", case_file(), "-o", str(path), "-o", str(page)).code == code

        summary: Any = summary_of(path)
        assert (summary["status"], summary["total"], "stopped" in summary) == (ended, len(cases), False)
        assert page.read_text().rstrip().endswith("</html>")
        assert journal_of(path).exists() == journal


@pytest.mark.parametrize("arguments", [("--threshold", "2"), ("--run", "nothing"), ("-n", "nobody")])
def test_a_mistake_of_configuration_leaves_the_reports_that_there_are(
    app: MakeApplication, arguments: tuple[str, ...]
) -> None:
    here = app(agent(cases=[GOOD], replies="- reply: yes"))
    path = here.home / "r.jsonl"
    path.write_text("an earlier report\n")

    assert here.run("-i", case_file(), "-o", str(path), *arguments).code == 2

    assert path.read_text() == "an earlier report\n"
    assert not journal_of(path).exists()


@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "the terminal was closed"),
        (signal.SIGKILL, -9, None),
    ],
    ids=["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"],
)
def test_a_run_that_a_signal_ends_can_go_on(app: MakeApplication, number: int, code: int, reason: str | None) -> None:
    reached = threading.Event()

    async def hold(exchange: Exchange) -> None:
        if exchange.request.last_text == "no answer":
            reached.set()
            await asyncio.Event().wait()
        await echo()(exchange)

    with ModelServer(hold) as server:
        here = asking(app, server, GOOD, BROKEN)
        path = here.home / "r.jsonl"
        with here.start("-i", case_file(), "-o", str(path)) as process:
            assert reached.wait(30)
            process.send_signal(number)
            process.send_signal(number)
            run = here.finish(process)

        assert run.code == code
        summary = summary_of(path)
        assert (summary and summary["stopped"]) == reason
        assert "good" in {line["id"] for line in lines_of(path) if line["type"] == "result"}
        assert journal_of(path).exists()
        server.default = echo()
        server.requests.clear()
        assert here.run("--resume", str(path)).code == 0
        assert [request.last_text for request in server.requests] == ["no answer"]
        assert not journal_of(path).exists()


def test_a_budget_ends_a_run_that_can_go_on(app: MakeApplication) -> None:
    with ModelServer(echo()) as server:
        here = asking(app, server, GOOD, {**GOOD, "id": "second"})
        path = here.home / "r.jsonl"

        assert here.run("-i", case_file(), "-o", str(path), "--max-tokens", "1").code == 1

        assert str((summary_of(path) or {})["stopped"]).startswith("--max-tokens 1 is used up")
        assert here.run("--resume", str(path)).code == 0
