"""The walls of the system around a worker, should a script ever get out of the engine.

Each attempt is made twice, as native code in a worker could make it: in a process with no walls, where it must come off
or fail for another reason than a wall, and in one that has put up those of a worker. When the tests run as root, both
are done as an ordinary user, too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import eventually

from scripttest.process import LIFELINE
from scripttest.walls import seccomp
from scripttest.walls.confinement import missing_landlock, missing_seccomp
from scripttest.workers.worker import Worker, worker_command

ROOT = Path(__file__).parent.parent.parent
HAS_FILTER = not missing_seccomp()
USERS = ["root", "nobody"] if os.getuid() == 0 else ["user"]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

ATTEMPTS = {
    "fork": "os._exit(0) if not os.fork() else os.wait()",
    "a spawned program": "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
    "a thread": "threading.Thread(target=print, args=('',), kwargs={'end': ''}).start()",
    "a connection": "socket.socket().connect(('127.0.0.1', PORT))",
    "a pair of sockets": "socket.socketpair()",
    "a signal to the command": "os.kill(PARENT, 0)",
    "a signal by a descriptor": "fcntl.fcntl(0, fcntl.F_SETOWN, PARENT)",
    "a shared memory": "call('shmctl', call('shmget', 0, 4096, 0o1600), 0, None)",
    "a queue of messages": "call('msgctl', call('msgget', 0, 0o1600), 0, None)",
    "semaphores": "call('semctl', call('semget', 0, 1, 0o1600), 0, 0)",
    "a queue of POSIX": "call('mq_open', b'/yao-test-%d' % PARENT, 0o102, 0o600, None), call('mq_unlink', b'/yao-test-%d' % PARENT)",
    "times of a file": "os.utime('FOLDER/there.txt', (1, 1))",
    "a descriptor's flags": "fcntl.fcntl(0, fcntl.F_SETFL, 0)",
    "a question to a device": "fcntl.ioctl(PIPE, 0x541B, b'....')",
    "another process's limits": "resource.prlimit(PARENT, resource.RLIMIT_CORE)",
    "a scheduling class": "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))",
    "a processor": "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    "a priority": "os.nice(1)",
    "a file of the user": "open('FOLDER/there.txt').read()",
    "a file of the system": "open('/etc/passwd').read()",
    "a folder": "os.listdir('/')",
    "the size of a file": "os.stat('/etc/passwd')",
    "its own memory": "open('/proc/self/maps').read()",
    "a new file": "open('FOLDER/new.txt', 'w')",
    "a file to append to": "open('FOLDER/there.txt', 'a')",
    "a shorter file": "os.truncate('FOLDER/there.txt', 5)",
    "a link": "os.link('FOLDER/there.txt', 'FOLDER/link')",
    "a subfolder": "os.mkdir('FOLDER/sub')",
    "other permissions": "os.chmod('FOLDER/there.txt', 0o777)",
    "another name": "os.rename('FOLDER/there.txt', 'FOLDER/x.txt')",
    "no file": "os.unlink('FOLDER/x.txt')",
}
ROOT_ATTEMPTS = {
    "a mount": "call('mount', b'none', b'FOLDER/sub', b'tmpfs', 0, None), call('umount', b'FOLDER/sub')",
    "another root": "os.chroot('/')",
}
"""What only root may do at all."""
PROGRAM = """
import ctypes, fcntl, os, resource, socket, sys, threading
from scripttest.walls.confinement import close_files, close_system
if sys.argv[2] == "nobody":
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
library = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    result = getattr(library, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
if "files" in sys.argv[1]:
    close_files()
if "calls" in sys.argv[1]:
    close_system()
for code in sys.argv[3:]:
    try:
        eval(code)
        print("done")
    except (OSError, RuntimeError) as error:
        print("refused", error)
"""


def outcomes(folder: Path, walls: str, user: str, attempts: dict[str, str]) -> dict[str, str]:
    """The result of each attempt in a process with these of a worker's walls."""
    import socket

    folder.mkdir()
    folder.chmod(0o777)
    (folder / "there.txt").write_text("there")
    if user == "nobody":
        os.chown(folder / "there.txt", 65534, 65534)
    read, write = os.pipe()
    with socket.create_server(("127.0.0.1", 0)) as server, open(folder / "there.txt") as stdin:
        as_nobody = {"user": 65534, "group": 65534, "extra_groups": []} if user == "nobody" else {}
        victim = subprocess.Popen(["sleep", "60"], **as_nobody)
        told = {"FOLDER": folder, "PARENT": victim.pid, "PORT": server.getsockname()[1], "PIPE": read}
        codes = list(attempts.values())
        for word, value in told.items():
            codes = [code.replace(word, str(value)) for code in codes]
        try:
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, walls, user, *codes],
                stdin=stdin, cwd=ROOT, capture_output=True, text=True, timeout=60, pass_fds=[read],
            )  # fmt: skip
        finally:
            victim.kill()
            victim.wait()
            os.close(read)
            os.close(write)
    assert done.returncode == 0, done.stderr
    return dict(zip(attempts, done.stdout.splitlines(), strict=True))


@pytest.fixture(scope="module", params=USERS)
def user(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may enter."""
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(not HAS_FILTER, reason="no filter for this machine")
def test_every_attempt_comes_off_without_walls_and_none_behind_the_filter(place: Path, user: str) -> None:
    attempts = {**ATTEMPTS, **ROOT_ATTEMPTS} if user == "root" else ATTEMPTS
    free = outcomes(place / "free", "", user, attempts)
    assert {name: said for name, said in free.items() if said != "done"} == {}
    walled = outcomes(place / "walled", "calls", user, attempts)
    assert {name for name, said in walled.items() if not said.startswith("refused")} == set()
    assert [path.name for path in (place / "walled").iterdir()] == ["there.txt"]
    assert (place / "walled" / "there.txt").read_text() == "there"


LANDLOCKED = ["a file of the user", "a file of the system", "a folder", "a new file", "a subfolder", "no file"]


@pytest.mark.skipif(bool(missing_landlock()), reason="no Landlock here")
def test_landlock_alone_opens_no_file(place: Path, user: str) -> None:
    walled = outcomes(place / "walled", "files", user, {name: ATTEMPTS[name] for name in LANDLOCKED})
    assert {name for name, said in walled.items() if not said.startswith("refused")} == set()


LOOP = """
import time
from scripttest.walls import confinement as limits
limits.PROCESSOR_SECONDS = 1
limits.limit_resources()
while time.process_time() < 5:
    pass
print("done")
"""


def test_a_worker_has_so_much_time_of_the_processor() -> None:
    done = subprocess.run([sys.executable, "-c", LOOP], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "", done.stderr
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def limits_of(pid: int) -> dict[str, list[str]]:
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:26].strip(): line[26:].split()[:2] for line in lines}


def test_a_worker_has_lowered_limits_and_nothing_of_its_parent() -> None:
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
        limits = limits_of(worker.child.pid)
        assert limits["Max processes"] == ["0", "0"]
        assert limits["Max core file size"] == ["0", "0"]
        assert limits["Max open files"] == ["16", "16"]
        assert limits["Max file size"] == [str(1 << 20)] * 2
        assert int(limits["Max address space"][1]) < 2 << 30
        assert int(limits["Max cpu time"][1]) <= 4 * 3600
        assert sorted(map(int, os.listdir(proc / "fd"))) == [0, 1, 2, LIFELINE, LIFELINE + 1]
        assert os.readlink(proc / "fd" / str(LIFELINE + 1)).endswith("/intl.pack")
        assert (proc / "environ").read_bytes() == b""
        assert os.getsid(worker.child.pid) == worker.child.pid
    finally:
        os.close(inherited)
        worker.end()


def answer(program: bytes, machine: int, number: int, *arguments: int) -> int:
    """What a filter answers to a call, by the rules of the kernel for the instructions that it is made of."""
    data = b"".join(
        [number.to_bytes(4, "little"), machine.to_bytes(4, "little"), bytes(8)]
        + [value.to_bytes(8, "little") for value in (*arguments, *[0] * (6 - len(arguments)))]
    )
    at = held = 0
    while True:
        code, yes, no = int.from_bytes(program[at : at + 2], "little"), program[at + 2], program[at + 3]
        value = int.from_bytes(program[at + 4 : at + 8], "little")
        at += 8
        if code == seccomp.LOAD:
            held = int.from_bytes(data[value : value + 4], "little")
        elif code == seccomp.AND:
            held &= value
        elif code == seccomp.EQUAL:
            at += 8 * (yes if held == value else no)
        elif code == seccomp.ANY_OF:
            at += 8 * (yes if held & value else no)
        else:
            assert code == seccomp.RETURN
            return value


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_the_filters_of_both_machines_allow_what_they_say(machine: str) -> None:
    from scripttest.walls.seccomp import COMPILER, COMPILER_CONDITIONS, MISSING, WORKER

    calls, number = seccomp.numbers_of(machine), seccomp.MACHINES[machine][0]
    worker = seccomp.program(machine, WORKER, {}, ())
    compiler = seccomp.program(machine, COMPILER, COMPILER_CONDITIONS, MISSING)
    for name, call in calls.items():
        assert (answer(worker, number, call) == seccomp.ALLOW) == (name in WORKER), name
        if name in COMPILER:
            assert answer(compiler, number, call) == seccomp.ALLOW, name
        assert answer(worker, number ^ 1, call) == seccomp.REFUSE, name
    for call in {*range(600)} - {*calls.values()} | {1 << 30, 1 << 31}:
        assert answer(worker, number, call) == answer(compiler, number, call) == seccomp.REFUSE, call
    said = {
        "open to read": answer(compiler, number, calls["openat"], 0, 0, os.O_RDONLY | os.O_CLOEXEC),
        "open to write": answer(compiler, number, calls["openat"], 0, 0, os.O_WRONLY),
        "open to make": answer(compiler, number, calls["openat"], 0, 0, os.O_CREAT),
        "get flags": answer(compiler, number, calls["fcntl"], 0, 3),
        "own signals": answer(compiler, number, calls["fcntl"], 0, 8),
        "give way": answer(compiler, number, calls["tgkill"], 1, 1, 23),
        "kill": answer(compiler, number, calls["tgkill"], 1, 1, 9),
        "thread": answer(compiler, number, calls["clone"], 0x50F00),
        "fork": answer(compiler, number, calls["clone"], 17),
        "own limits": answer(compiler, number, calls["prlimit64"], 0),
        "limits of another": answer(compiler, number, calls["prlimit64"], 1),
    }
    assert {name for name, answered in said.items() if answered == seccomp.ALLOW} == {
        "open to read", "get flags", "give way", "thread", "own limits",
    }  # fmt: skip
    assert answer(compiler, number, 435) == seccomp.ABSENT


@pytest.mark.parametrize(
    ("header", "machine"), [("x86_64-linux-gnu/asm/unistd_64.h", "x86_64"), ("asm-generic/unistd.h", "aarch64")]
)
def test_the_numbers_of_calls_are_those_of_the_kernel(header: str, machine: str) -> None:
    import re

    path = Path("/usr/include", header)
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    text = path.read_text()
    found = {name: int(value) for name, value in re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)\n", text)}
    if machine == "aarch64":
        found["newfstatat"] = found["fstatat"]
    expected = {name: None for other in seccomp.MACHINES for name in seccomp.numbers_of(other)}
    expected |= seccomp.numbers_of(machine)
    assert {name: found.get(name) for name in expected} == expected
