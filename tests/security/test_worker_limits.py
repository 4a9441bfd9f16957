"""The second wall: what a worker process may not ask of the system, should a script ever get out of the engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import eventually

from scripttest.workers.process import LIFELINE
from scripttest.workers.worker import Worker, worker_command

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

ATTEMPTS = {
    "fork": "os.fork()",
    "a program": "os.execv('/bin/true', ['true'])",
    "a spawned program": "os.posix_spawn('/bin/true', ['true'], {})",
    "a shell": "os.popen('id').read()",
    "a thread": "_thread.start_new_thread(print, ())",
    "a connection": "socket.create_connection(('127.0.0.1', PORT))",
    "a socket of the system": "socket.socket(socket.AF_UNIX).connect('/run/x')",
    "a signal": "os.kill(PARENT, 0)",
    "a new file": "open('FOLDER/new.txt', 'w')",
    "a file to append to": "open('FOLDER/there.txt', 'a')",
    "a file to change": "open('FOLDER/there.txt', 'r+')",
    "a shorter file": "os.truncate('FOLDER/there.txt', 0)",
    "no file": "os.unlink('FOLDER/there.txt')",
    "another name": "os.rename('FOLDER/there.txt', 'FOLDER/x.txt')",
    "a link": "os.symlink('/etc', 'FOLDER/link')",
    "a folder": "os.mkdir('FOLDER/sub')",
    "other permissions": "os.chmod('FOLDER/there.txt', 0o777)",
    "another root": "os.chroot('FOLDER')",
}
PROGRAM = """
import _thread, os, socket, sys
from scripttest.realm.limits import limit_processes
limit_processes()
for code in sys.argv[1:]:
    try:
        print("DONE", eval(code))
    except (OSError, RuntimeError) as error:
        print("refused", error)
"""


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What came of each attempt by a process with the limits of a worker."""
    import socket

    folder = tmp_path_factory.mktemp("place")
    (folder / "there.txt").write_text("there")
    with socket.create_server(("127.0.0.1", 0)) as server:
        told = {"FOLDER": str(folder), "PARENT": str(os.getpid()), "PORT": str(server.getsockname()[1])}
        codes = list(ATTEMPTS.values())
        for word, value in told.items():
            codes = [code.replace(word, value) for code in codes]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *codes], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
        )
    assert (folder / "there.txt").read_text() == "there"
    assert [path.name for path in folder.iterdir()] == ["there.txt"]
    return dict(zip(ATTEMPTS, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_worker_is_refused(attempts: dict[str, str], attempt: str) -> None:
    if os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip("no filter for this machine")
    assert attempts[attempt].startswith("refused")


def test_a_worker_has_lowered_limits_and_no_other_descriptors() -> None:
    inherited = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(inherited, True)
    worker = Worker(worker_command(ROOT / "bindings/js"))
    proc = Path(f"/proc/{worker.child.pid}")

    def status() -> dict[str, str]:
        lines = (proc / "status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    try:
        eventually(lambda: status()["Seccomp"] == "2", "the filter, which is set last, is there")
        assert status()["NoNewPrivs"] == "1"
        lines = (proc / "limits").read_text().splitlines()[1:]
        limits = {line[:26].strip(): line[26:].split()[:2] for line in lines}
        assert limits["Max processes"] == ["0", "0"]
        assert limits["Max core file size"] == ["0", "0"]
        assert limits["Max open files"] == ["16", "16"]
        assert limits["Max file size"] == [str(1 << 20)] * 2
        assert int(limits["Max address space"][1]) < 2 << 30
        assert sorted(map(int, os.listdir(proc / "fd"))) == [0, 1, 2, LIFELINE]
        assert (proc / "environ").read_bytes() == f"PATH={os.defpath}\0".encode()
    finally:
        os.close(inherited)
        worker.end()
