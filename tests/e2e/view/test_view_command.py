"""`yao-test view`: the command, from its link to its end."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pwd import getpwuid
from subprocess import Popen
from typing import Any

import pytest
from command import Application, MakeApplication
from html_reports import report, result, suite
from kept_runs import keep

from runner.store.places import FILE, SCHEMA
from runner.store.store import Store

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]{40,})\n")


@pytest.fixture
def here(app: MakeApplication) -> Application:
    application = app({})
    keep(application.root / ".yao-test", report([suite("a.jsonl")], [result("a.jsonl", "a", input="x", output="y")]))
    return application


@contextmanager
def started(here: Application, *arguments: str, directory: str = "") -> Iterator[tuple[Popen[bytes], int, str, str]]:
    """The command, its port, the token of its link, and its message about the store."""
    with here.start("view", *arguments, cwd=here.root / directory) as process:
        assert process.stdout is not None
        link = LINK.fullmatch(process.stdout.readline().decode())
        assert link, process.communicate()
        try:
            yield process, int(link[1]), link[2], here.anonymous(process.stdout.readline())
        finally:
            process.kill()


def asked(port: int, token: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with closing(connection):
        connection.request("GET", "/api/runs?limit=1", headers={"X-Yao-Test-Token": token})
        response = connection.getresponse()
        response.read()
        return response.status


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_prints_a_link_and_serves_until_it_is_ended_also_who_follows(
    here: Application, number: int, code: int
) -> None:
    with started(here) as (process, port, token, said):
        assert (asked(port, token), asked(port, token[1:])) == (200, 403)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/api/events", headers={"X-Yao-Test-Token": token})
        assert connection.getresponse().fp.readline()
        process.send_signal(number)
        run = here.finish(process)
        connection.close()
    assert said == "Showing runs from <app>/.yao-test. Press Ctrl-C to stop.\n"
    assert run == (code, "", "")


def test_a_port_in_use_is_said(here: Application) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        run = here.run("view", "--port", str(port))
    assert run == (
        2,
        "",
        f"Error: Cannot listen at 127.0.0.1:{port}: Address already in use\n"
        "Hint: Choose another port with --port, or leave it out\n",
    )


def test_a_store_without_a_run_waits_for_the_first(app: MakeApplication) -> None:
    application = app({"/.yao-test/.keep": ""})
    before = application.run("store", "list")
    said = "Error: There is no store in <app>/.yao-test\nHint: The first stored run creates it\n"
    assert (before.code, before.stderr) == (2, said)
    with started(application) as (process, port, token, _):
        assert asked(port, token) == 200
        process.send_signal(signal.SIGINT)
        assert application.finish(process).code == 130
    assert application.run("store", "list").stdout == "0 runs\n"


def test_a_store_that_is_not_there_is_said(app: MakeApplication) -> None:
    application = app({})
    for arguments in ((), ("--store", "nowhere")):
        run = application.run("view", *arguments)
        assert (run.code, run.stdout) == (2, "")
        assert run.stderr.startswith("Error: There is no store in <app>/")
        assert "Hint: Run the tests with --store DIR" in run.stderr


def test_a_store_of_a_newer_version_is_refused(here: Application) -> None:
    path = here.root / ".yao-test" / FILE
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    run = here.run("view")
    assert (run.code, run.stdout) == (2, "")
    assert "it was written by a newer yao-test" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_store_that_is_none_is_refused(app: MakeApplication) -> None:
    application = app({f"/.yao-test/{FILE}": "something else"})
    run = application.run("view")
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith("Error: Cannot use the store <app>/.yao-test: ")


def test_a_missing_extra_is_named(here: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name in ("starlette", "uvicorn"):
                raise ModuleNotFoundError(name)

    for name in list(sys.modules):
        if name.partition(".")[0] in ("starlette", "uvicorn"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    assert here.run("view") == (
        2,
        "",
        "Error: Cannot serve the page: starlette and uvicorn are not installed\n"
        "Hint: Install it with: pip install 'starlette>=0.40,<2' 'uvicorn>=0.30,<1'\n",
    )


def test_bad_flags_are_said(here: Application) -> None:
    assert here.run("view", "--port", "0").code == 2
    assert here.run("view", "--port", "x").code == 2
    assert here.run("view", "something").code == 2
    assert here.run("view", "-a", "nowhere").code == 2


def test_a_store_that_is_replaced_is_opened_again(here: Application) -> None:
    folder, other = here.root / ".yao-test", here.root / "other"
    newer = keep(other, report([suite("a.jsonl")], [result("a.jsonl", "a", input="x", output="y")]))
    with started(here) as (process, port, token, _), Store(folder) as store:
        (run,) = store.runs()
        said = {"at": 0, "run": 1, "turn": 0, "criterion": "", "passed": True, "why": ""}
        headers = {"X-Yao-Test-Token": token, "Content-Type": "application/json"}

        def put_label() -> tuple[int, dict[str, Any]]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            with closing(connection):
                connection.request("PUT", f"/api/runs/{run.id}/labels", json.dumps(said), headers)
                response = connection.getresponse()
                return response.status, json.loads(response.read())

        assert put_label()[0] == 200
        folder.rename(here.root / "elsewhere")
        status, answer = put_label()
        assert (status, answer["error"].startswith(f"There is no store in {folder}. ")) == (400, True)
        other.rename(folder)
        assert put_label() == (
            400,
            {"error": f"There is no run {run.id} in the store {folder}. yao-test store list shows them"},
        )
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        with closing(connection):
            connection.request("GET", "/api/runs?limit=2", headers=headers)
            assert [one["id"] for one in json.loads(connection.getresponse().read())["runs"]] == [newer]
        process.terminate()
        assert here.finish(process) == (143, "", "")


def labelled(here: Application, passed: bool, *arguments: str, prefix: tuple[str, ...] = ()) -> str:
    """Labels the only answer of the only run of a store: the name under which that is kept."""
    with here.start("view", *arguments, prefix=prefix) as process:
        assert process.stdout is not None
        link = LINK.fullmatch(process.stdout.readline().decode())
        assert link, process.communicate()
        connection = http.client.HTTPConnection("127.0.0.1", int(link[1]), timeout=20)
        with closing(connection):
            headers = {"X-Yao-Test-Token": link[2], "Content-Type": "application/json"}
            connection.request("GET", "/api/runs?limit=1", headers=headers)
            (run,) = json.loads(connection.getresponse().read())["runs"]
            said = {"at": 0, "run": 1, "turn": 0, "criterion": "", "passed": passed, "why": ""}
            connection.request("PUT", f"/api/runs/{run['id']}/labels", json.dumps(said), headers)
            answer = json.loads(connection.getresponse().read())
        process.terminate()
    return str(answer["label"]["person"])


def test_labels_have_the_names_of_the_user_and_the_machine(here: Application) -> None:
    assert "USER" not in here.environment
    assert labelled(here, True) == f"{getpwuid(os.getuid()).pw_name}@{os.uname().nodename}"


def test_labels_of_people_with_one_user_name_on_two_machines_both_stay(here: Application) -> None:
    copy = here.root / "copy"
    shutil.copytree(here.root / ".yao-test", copy)
    mine = labelled(here, True, prefix=("env", "USER=root"))
    labelled(here, False, "--store", "copy", prefix=("env", "USER=root"))
    with closing(sqlite3.connect(copy / FILE)) as database, database:  # as the other machine would have written it
        assert database.execute("UPDATE labels SET person = 'root@other' WHERE person = ?", (mine,)).rowcount == 1
    assert here.run("store", "merge", ".yao-test", "copy").stdout == "copy: 0 runs added, 1 known, 1 label added\n"
    with Store(here.root / ".yao-test") as store:
        assert {label.person: label.passed for label in store.labels()} == {mine: True, "root@other": False}
