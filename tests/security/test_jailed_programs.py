"""Attempts of programs that `--allow-exec` runs, to reach what lies outside of their jail.

Each attempt is made twice, with the same code: without the jail, where it comes off, and in it. When the tests run as
root, both are done as an ordinary user, too.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_worker_limits import ROOT, USERS, answer

from scripttest.walls import seccomp
from scripttest.walls.confinement import missing_landlock, missing_seccomp
from scripttest.walls.seccomp import MISSING, PROGRAM, PROGRAM_CONDITIONS

walled = pytest.mark.skipif(bool(missing_landlock() or missing_seccomp()), reason="no jail on this machine")

ATTEMPTS = {
    "shared memory": "call('shmctl', call('shmget', 0, 4096, 0o1600), 0, None)",
    "a queue of messages": "call('msgctl', call('msgget', 0, 0o1600), 0, None)",
    "semaphores": "call('semctl', call('semget', 0, 1, 0o1600), 0, 0)",
    "a signal": "os.kill(VICTIM, 0)",
    "a signal to a thread": "call('tgkill', VICTIM, VICTIM, 0)",
    "a signal by a descriptor": "fcntl.fcntl(0, fcntl.F_SETOWN, VICTIM)",
    "limits of a process": "resource.prlimit(VICTIM, resource.RLIMIT_CORE)",
    "the priority of a process": "os.setpriority(os.PRIO_PROCESS, VICTIM, 19)",
    "the class of a process": "os.sched_setscheduler(VICTIM, os.SCHED_IDLE, os.sched_param(0))",
    "the processors of a process": "os.sched_setaffinity(VICTIM, os.sched_getaffinity(VICTIM))",
    "a letter to a socket": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', 'LETTERS')",
    "a connection": "socket.create_connection(('127.0.0.1', PORT))",
    "a session of its own": "os.setsid()",
    "a file outside": "open('OUTSIDE').read()",
    "the length of a file outside": "os.truncate('OUTSIDE', 1)",
    "the time of a file outside": "os.utime('OUTSIDE', (1, 1))",
    "a link to the file outside": "os.link('OUTSIDE', 'linked')",
    "a program of its own": "os.execve(program(), ['true'], {})",
}
ROOT_ATTEMPTS = {
    "the name of the machine": "socket.sethostname(socket.gethostname())",
    "the clock": "call('adjtimex', (3).to_bytes(4, 'little') + bytes(252)) and time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))",
    "a flag that keeps a file forever": "keep(0x10)",
    "another user": "os.setuid(65534)",
    "a file of another user": "os.chmod('foreign', 0o644)",
}
PROGRAM_TEXT = """
import ctypes, fcntl, os, resource, socket, sys, time
library = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    result = getattr(library, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def program():
    made = os.memfd_create("program")
    os.write(made, open("/bin/true", "rb").read())
    return made
def keep(flag):
    with open("flagged", "w") as file:
        for value in (flag, 0):
            fcntl.ioctl(file, 0x40086602, value.to_bytes(8, "little"))
for code in sys.argv[1:]:
    if child := os.fork():
        print("done" if os.waitpid(child, 0)[1] == 0 else "refused", flush=True)
    else:
        try:
            eval(code)
        except (OSError, RuntimeError):
            os._exit(1)
        os._exit(0)
"""


LAUNCHER = """
import os, resource, sys
from scripttest.walls import confinement, jailed, seccomp
user, is_jailed = sys.argv[1:3]
del sys.argv[1:3]
if user == "nobody":
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
if is_jailed == "True":
    jailed.main()
os.chdir(sys.argv[1])
os.execve(sys.argv[2], sys.argv[2:], {})
"""


def launched(user: str, is_jailed: bool, folder: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs a program as a user, whom the Python of these tests need not be open to."""
    words = (sys.executable, "-c", LAUNCHER, user, str(is_jailed), str(folder), *words)
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, **more)


@pytest.fixture
def folder() -> Iterator[Path]:
    """That every user may enter."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


def outcomes(folder: Path, is_jailed: bool, user: str, attempts: dict[str, str]) -> dict[str, str]:
    """The result of each attempt of a program."""
    here = folder / "workspace"
    here.mkdir()
    here.chmod(0o777)
    (folder / "outside.txt").write_text("outside")
    (here / "foreign").touch()
    as_user = {"user": 65534, "group": 65534, "extra_groups": []} if user == "nobody" else {}
    if as_user:
        os.chown(folder / "outside.txt", 65534, 65534)
    elif user == "root":
        os.chown(here / "foreign", 65534, 65534)
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    if python is None:
        pytest.skip("there is no python3 that a jail may run")
    letters = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    with socket.create_server(("127.0.0.1", 0)) as server, letters, open(folder / "outside.txt") as stdin:
        letters.bind(str(folder / "letters"))
        (folder / "letters").chmod(0o777)
        victim = subprocess.Popen(["sleep", "60"], **as_user)
        told = {
            "VICTIM": victim.pid,
            "PORT": server.getsockname()[1],
            "LETTERS": folder / "letters",
            "OUTSIDE": folder / "outside.txt",
        }
        codes = list(attempts.values())
        for word, value in told.items():
            codes = [code.replace(word, str(value)) for code in codes]
        try:
            done = launched(user, is_jailed, here, python, "-I", "-S", "-c", PROGRAM_TEXT, *codes, stdin=stdin)
        finally:
            victim.kill()
            victim.wait()
    assert done.returncode == 0, done.stderr
    return dict(zip(attempts, done.stdout.splitlines(), strict=True))


@walled
@pytest.mark.parametrize("user", USERS)
def test_every_attempt_comes_off_without_a_jail_and_none_in_it(folder: Path, user: str) -> None:
    attempts = {**ATTEMPTS, **ROOT_ATTEMPTS} if user == "root" else ATTEMPTS
    (folder / "free").mkdir(mode=0o777)
    (folder / "jailed").mkdir(mode=0o777)
    free = outcomes(folder / "free", False, user, attempts)
    jailed = outcomes(folder / "jailed", True, user, attempts)
    assert {name for name, said in jailed.items() if said != "refused"} == set()
    assert {name for name, said in free.items() if said != "done"} == set()
    assert (folder / "jailed/outside.txt").read_text() == "outside"


WORKS = """
set -e
echo a > a; cp -r a b; mv b c; ln -s a l; sort a | uniq > d; tar cf t.tar a c; tar tf t.tar > listed
touch new; rm new; (echo in the background > e) & wait; [ "$(cat l)" = a ]; ls -l > /dev/null
"""


@walled
@pytest.mark.parametrize("user", USERS)
def test_what_programs_do_in_their_folder_works(folder: Path, user: str) -> None:
    done = launched(user, True, folder, "/bin/sh", "-c", WORKS)
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "e").read_text() == "in the background\n"


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_the_filter_of_programs_allows_what_it_says_on_both_machines(machine: str) -> None:
    numbers, number = seccomp.numbers_of(machine), seccomp.MACHINES[machine][0]
    filter = seccomp.program(machine, PROGRAM, PROGRAM_CONDITIONS, MISSING)
    allowed = {numbers[name] for name in PROGRAM if name in numbers}
    calls = {name: numbers[name] for name in PROGRAM_CONDITIONS}
    for call in {*range(600), 1 << 30, 1 << 31} - {*calls.values()}:
        expected = seccomp.ALLOW if call in allowed else seccomp.ABSENT if call == 435 else seccomp.REFUSE
        assert answer(filter, number, call) == expected, call
        assert answer(filter, number ^ 1, call) == seccomp.REFUSE, call
    said = {
        "ask a terminal": answer(filter, number, calls["ioctl"], 0, 0x5401),
        "type into a terminal": answer(filter, number, calls["ioctl"], 0, 0x5412),
        "lock": answer(filter, number, calls["fcntl"], 0, 6),
        "own signals": answer(filter, number, calls["fcntl"], 0, 8),
        "fork": answer(filter, number, calls["clone"], 17),
        "another user's names": answer(filter, number, calls["clone"], 0x10000000 | 17),
        "streams": answer(filter, number, calls["socketpair"], 1, 1 | os.O_CLOEXEC),
        "letters": answer(filter, number, calls["socketpair"], 1, 2),
        "times of an open file": answer(filter, number, calls["utimensat"], 3, 0),
        "times of a path": answer(filter, number, calls["utimensat"], 3, 4096),
        "times of a path that is far up": answer(filter, number, calls["utimensat"], 3, 1 << 32),
        "limits of another": answer(filter, number, calls["prlimit64"], 1),
        "kill": answer(filter, number, calls["tgkill"], 1, 1, 9),
    }
    assert {name for name, answered in said.items() if answered == seccomp.ALLOW} == {
        "ask a terminal", "lock", "fork", "streams", "times of an open file",
    }  # fmt: skip
