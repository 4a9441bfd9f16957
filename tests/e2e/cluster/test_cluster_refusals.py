"""`--cluster` where it cannot run: one clear sentence, before anything is reported."""

from __future__ import annotations

import asyncio
import re
import resource
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from agent_files import agent, case_file
from command import MakeApplication, eventually
from dask_cluster import DaskCluster
from faults import lines_of, with_model
from model_server import Exchange, ModelServer, echo

from runner.version import VERSION
from scripttest import system_walls

distributed = pytest.importorskip("distributed")
ROOT = Path(__file__).parents[3]
CASES = {**agent(cases=[{"id": "a", "input": "x"}])}


@pytest.fixture
def no_module_loaded() -> Iterator[None]:
    """No module of the cluster is loaded, as at the start of a command; afterwards exactly those are that were before."""

    def taken() -> dict[str, ModuleType]:
        return {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("runner.cluster")}

    before = taken()
    yield
    taken()
    sys.modules.update(before)


@pytest.mark.usefixtures("no_module_loaded")
@pytest.mark.parametrize("address", ["local:1", "tcp://127.0.0.1:9"])
def test_without_its_libraries_a_cluster_names_the_extra(
    app: MakeApplication, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    missing = ("dask", "distributed", "tornado")
    for name in [*missing, *(name for name in sys.modules if name.partition(".")[0] in missing)]:
        monkeypatch.setitem(sys.modules, name, None)
    run = app(CASES).run("-i", case_file(), "--cluster", address)
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith("Error: --cluster requires the package distributed: ")
    assert run.stderr.endswith("Hint: Install it with: pip install 'distributed>=2025.1'\n")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A scheduler, to which workers are added."""
    with DaskCluster(tmp_path_factory.mktemp("empty"), workers=0) as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--cluster", "10.0.0.1"), 'Cannot read --cluster "10.0.0.1": it is not the address of a scheduler'),
        (("--cluster", "http://x:80"), 'Cannot read --cluster "http://x:80": it is not the address of a scheduler'),
        (("--cluster", "local:0"), 'Cannot read --cluster "local:0": it is not the address of a scheduler'),
        (("--cluster", "local:257"), '--cluster "local:257" asks for more than 256 workers on this machine'),
        (("--cluster", "local", "--watch"), "--cluster and --watch cannot be used together"),
        (("--cluster", "local", "--coverage"), "--cluster and --coverage cannot be used together"),
        (("--cluster", "local", "--db", "x"), "--cluster and --db cannot be used together"),
        (("--cluster", "local", "--fuzz", "."), "--cluster and --fuzz cannot be used together"),
        (("--cluster", "local", "--bench", "."), "--cluster and --bench cannot be used together"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_flags_that_cannot_be(app: MakeApplication, arguments: tuple[str, ...], said: str) -> None:
    run = app(CASES).run("-i", case_file(), *arguments)
    assert (run.code, run.stdout) == (2, "")
    assert f"Error: {said}\n" in run.stderr


def test_variables_of_a_file_reach_workers_of_this_machine_alone(app: MakeApplication) -> None:
    script = "export function TestA(t) { t.assert.Equal(Process('utils.env.Get', 'PLACE'), 'north'); }\n"
    here = app({"a_test.ts": script, "/own.env": "PLACE=north\n"})
    assert here.run("-i", "scripts.demo.a", "-e", "own.env", "--cluster", "local:1").code == 0
    refused = here.run("-i", "scripts.demo.a", "-e", "own.env", "--cluster", "tcp://127.0.0.1:9")
    assert (refused.code, refused.stdout) == (2, "")
    assert "Error: -e and --cluster ADDRESS cannot be used together\nHint: Variables are not sent: " in refused.stderr


def test_an_address_where_nobody_listens(app: MakeApplication) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        run = app(CASES).run("-i", case_file(), "--cluster", f"tcp://127.0.0.1:{port}")
    assert (run.code, run.stdout) == (2, "")
    assert f"Error: Cannot reach the cluster at tcp://127.0.0.1:{port}: Connection refused\n" in run.stderr


def test_an_address_where_something_else_listens(app: MakeApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("runner.cluster.connection"), "REACHING", 0.1)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        run = app(CASES).run("-i", case_file(), "--cluster", f"127.0.0.1:{port}")
    assert (run.code, run.stdout) == (2, "")
    said = "the server there is not a Dask scheduler"
    assert f"Error: Cannot connect to the cluster at tcp://127.0.0.1:{port}: {said}\n" in run.stderr


def test_the_address_is_not_for_the_configuration_file(app: MakeApplication) -> None:
    run = app({**CASES, "/yao-test.toml": 'cluster = "tls://other.example.com:1"\n'}).run("-i", case_file())
    assert run.code == 2
    assert "it weakens security, so it can only be set on the command line" in run.stderr


def test_a_cluster_without_workers(app: MakeApplication, empty: DaskCluster) -> None:
    run = app(CASES).run("-i", case_file(), "--cluster", empty.address)
    assert (run.code, run.stdout) == (2, "")
    assert f"Error: Cannot run on the cluster at {empty.address}: it has no worker\n" in run.stderr


@pytest.mark.parametrize("where", ["elsewhere", "local:1"])
def test_keys_in_files_do_not_travel(app: MakeApplication, empty: DaskCluster, where: str) -> None:
    address = empty.address if where == "elsewhere" else where
    definition = '{"type": "openai", "options": {"model": "m", "key": "sk-written-down-4711"}}'
    run = app({**CASES, "/connectors/own.conn.yao": definition}).run("-i", case_file(), "--cluster", address)
    assert (run.code, run.stdout) == (2, "")
    assert "own.conn.yao to workers: it contains a key, and keys are never sent\n" in run.stderr
    assert "sk-written-down-4711" not in run.stderr


def test_a_case_file_that_does_not_travel(app: MakeApplication, empty: DaskCluster) -> None:
    here = app({**CASES, "/.hidden/cases.jsonl": '{"id": "a", "input": "x"}'})
    run = here.run("-i", ".hidden/cases.jsonl", "-n", "demo", "--cluster", empty.address)
    assert run.code == 2
    assert (
        "Cannot use .hidden/cases.jsonl with --cluster: <app>/.hidden/cases.jsonl is not sent to the workers"
        in run.stderr
    )


NO_LANDLOCK = """\
from scripttest.walls import seccomp
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x00050000 | 95), (6, 0, 0, 0x7FFF0000)]
seccomp._set(0, b"".join(c.to_bytes(2, "little") + bytes((y, n)) + v.to_bytes(4, "little") for c, y, n, v in steps))
"""
"""Has a process run on a kernel that says that it has no Landlock."""


def test_workers_that_lack_what_a_run_needs_are_named(app: MakeApplication, empty: DaskCluster, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "runner", tmp_path / "other/runner", ignore=shutil.ignore_patterns("__pycache__", "html"))
    (tmp_path / "other/runner/version.py").write_text('"""Another."""\nVERSION = "0.0.9"\n')
    for name, text in (("less", "import sys\nsys.modules['markdownify'] = None\n"), ("open", NO_LANDLOCK)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sitecustomize.py").write_text(text)
    (tmp_path / "none/runner").mkdir(parents=True)
    (tmp_path / "none/runner/__init__.py").write_text("")
    has_walls = not any(wall.missing for wall in system_walls())  # else the command itself may not ask for them
    names = ["other", "less", "none", *(["open"] if has_walls else [])]
    for name in names:
        empty.workers.append(empty.add_worker({"PYTHONPATH": str(tmp_path / name)}))
    with distributed.Client(empty.address, set_as_default=False) as client:
        client.wait_for_workers(len(names), timeout=30)
    require = ["--sandbox=require"] if has_walls else []
    run = app(CASES).run("-i", case_file(), "--cluster", empty.address, *require)
    if has_walls:
        for _ in names[:-1]:
            empty.kill(empty.workers.pop(0))
        open_to_all = app(CASES)
        report = open_to_all.report("-i", case_file(), "--cluster", empty.address, code=0)
        assert report["environment"]["sandbox"] == "without files"
        assert open_to_all.run("-i", case_file(), "--cluster", empty.address, "--sandbox=require").code == 2
        noted = open_to_all.run("-i", case_file(), "--cluster", empty.address, "-v")
        assert noted.stderr.startswith("Note: workers lack sandbox walls\n  files: it needs Landlock")
    for worker in empty.workers:
        empty.kill(worker)
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith(f"Error: Cannot run on {len(names)} workers of the cluster: ")
    assert f" has yao-test 0.0.9, and this is {VERSION}" in run.stderr
    assert (
        " lacks optional parts that are installed here: formats (pip install 'markdownify>=1.1' 'xmltodict>=0.14')"
        in run.stderr
    )
    assert f" has no runner.cluster: yao-test {VERSION} must be installed there" in run.stderr
    lacks = " lacks sandbox walls, and --sandbox=require needs all of them (files: it needs Landlock"
    assert (lacks in run.stderr) == has_walls, run.stderr


def test_a_worker_that_cannot_take_the_application_is_named(app: MakeApplication, tmp_path: Path) -> None:
    with DaskCluster(tmp_path / "cluster", workers=1) as cluster:
        resource.prlimit(cluster.workers[0].pid, resource.RLIMIT_FSIZE, (100, 100))  # its disk takes no more
        run = app(CASES).run("-i", case_file(), "--cluster", cluster.address)
    assert (run.code, run.stdout) == (2, "")
    assert re.match(
        r"Error: Cannot run on a worker of the cluster: tcp://127\.0\.0\.1:\d+ \([^)]+\) cannot take the application: "
        r"OSError: \[Errno 27\] File too large\n",
        run.stderr,
    ), run


def test_a_worker_that_dies_when_it_is_looked_at_leaves_the_run_to_others(app: MakeApplication, tmp_path: Path) -> None:
    (tmp_path / "dying").mkdir()
    (tmp_path / "dying/sitecustomize.py").write_text(
        "import os, scripttest\nscripttest.hide_environment = lambda: os._exit(1)\n"
    )
    with DaskCluster(tmp_path / "cluster", workers=1) as cluster:
        cluster.workers.append(cluster.add_worker({"PYTHONPATH": str(tmp_path / "dying")}))
        with distributed.Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=30)
        run = app(CASES).run("-i", case_file(), "--cluster", cluster.address)
    assert run.code == 0, run
    assert re.search(r"Warning: The worker tcp://127\.0\.0\.1:\d+ was lost before it started a test\n", run.stdout), run


def test_a_worker_that_comes_late_is_looked_at_too(app: MakeApplication, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open/sitecustomize.py").write_text(NO_LANDLOCK)
    key, is_open = {"WORKER_KEY": "tok-of-workers-4711"}, threading.Event()

    async def behave(exchange: Exchange) -> None:
        while not is_open.is_set():
            await asyncio.sleep(0.01)
        await echo()(exchange)

    with ModelServer(behave) as server, DaskCluster(tmp_path / "cluster", workers=1, env=key) as cluster:
        files = agent(package={"connector": "local"}, cases=[{"id": f"c{number}", "input": "x"} for number in range(9)])
        here = app({**files, **with_model(server, key="$ENV.WORKER_KEY")})
        flags = ("-i", case_file(), "--cluster", cluster.address, "-o", "r.jsonl")
        with here.start(*flags, env={**here.environment, **key}) as command:
            eventually(lambda: server.requests, "the first call")
            late = cluster.add_worker({"PYTHONPATH": str(tmp_path / "open"), "WORKER_KEY": ""})
            cluster.workers.append(late)
            try:
                eventually(
                    lambda: "lacks a sandbox wall" in (here.root / "r.jsonl").read_text(), "what the late worker lacks"
                )
            finally:
                is_open.set()
            here.finish(command)
    said = [str(record) for record in lines_of(here.root / "r.jsonl") if record["type"] == "warning"]
    assert any(
        "WORKER_KEY, which connectors/local.conn.yao names, is set here but not on tcp://" in message
        for message in said
    ), said
    lacks = "A new worker of the cluster lacks a sandbox wall (files: it needs Landlock"
    assert any(lacks in message for message in said), said


def test_a_worker_that_comes_after_a_file_has_changed_gets_no_tests(app: MakeApplication, tmp_path: Path) -> None:
    key, is_open = {"WORKER_KEY": "tok-of-workers-4711"}, threading.Event()

    async def behave(exchange: Exchange) -> None:
        while not is_open.is_set():
            await asyncio.sleep(0.01)
        await echo()(exchange)

    with ModelServer(behave) as server, DaskCluster(tmp_path / "cluster", workers=1, env=key) as cluster:
        files = agent(package={"connector": "local"}, cases=[{"id": f"c{number}", "input": "x"} for number in range(3)])
        here = app({**files, **with_model(server, key="$ENV.WORKER_KEY")})
        flags = ("-i", case_file(), "--cluster", cluster.address, "-o", str(tmp_path / "r.jsonl"))
        is_open.set()
        with here.start(*flags, env={**here.environment, **key}) as command:  # the worker has the application now
            assert here.finish(command).code == 0
        is_open.clear()
        server.requests.clear()
        with here.start(*flags, env={**here.environment, **key}) as command:
            eventually(lambda: server.requests, "the first call")
            (here.root / "assistants/demo/prompts.yml").write_text("- role: system\n  content: changed\n")
            cluster.workers.append(cluster.add_worker())
            try:
                eventually(lambda: "gets no tests" in (tmp_path / "r.jsonl").read_text(), "a warning")
            finally:
                is_open.set()
            run = here.finish(command)
    assert run.code == 0
    said = "A new worker of the cluster gets no tests: Cannot send "
    (warning,) = [record for record in lines_of(tmp_path / "r.jsonl") if record["type"] == "warning"]
    assert said in str(warning) and "its files changed during the run" in str(warning)


def test_a_local_cluster_without_room_for_its_files(app: MakeApplication) -> None:
    nothing = (
        "/bin/sh",
        "-c",
        'ulimit -f 0; PYTHONDONTWRITEBYTECODE=1 exec "$@"',
        "sh",
    )  # no byte can be written to a file
    run = app(CASES).spawn("-i", case_file(), "-q", "-o", "r.jsonl", "--cluster", "local", prefix=nothing)
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith("Error: Cannot start a cluster here: No usable temporary directory found in [")


def test_tls_with_and_without_the_certificates(app: MakeApplication, tmp_path: Path) -> None:
    made = distributed.Security.temporary()
    (tmp_path / "ca.pem").write_text(made.tls_ca_file)
    (tmp_path / "key.pem").write_text(made.tls_client_key)
    files = {"tls_ca_file": "ca.pem", "tls_cert": "ca.pem", "tls_key": "key.pem"}
    with DaskCluster(tmp_path / "tls", workers=1, **{k: str(tmp_path / v) for k, v in files.items()}) as cluster:
        here = app(CASES)
        refused = here.run("-i", case_file(), "--cluster", cluster.address)
        assert (refused.code, refused.stdout) == (2, "")
        assert f"Error: Cannot connect to the cluster at {cluster.address}: the TLS connection failed" in refused.stderr
        plain = here.run("-i", case_file(), "--cluster", cluster.address.replace("tls", "tcp"))
        assert plain.code == 2
        assert "If it uses TLS, its address begins with tls://" in plain.stderr
        prefix = "DASK_DISTRIBUTED__COMM__TLS__"
        names = {"CA_FILE": "ca.pem", "CLIENT__CERT": "ca.pem", "CLIENT__KEY": "key.pem"}
        variables = {f"{prefix}{name}": str(tmp_path / file) for name, file in names.items()}
        run = here.spawn("-i", case_file(), "--cluster", cluster.address, env={**here.environment, **variables})
        assert run.code == 0, run
    assert not [thread for thread in threading.enumerate() if "loop" in thread.name]
