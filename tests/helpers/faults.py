"""What fault tests look at: the processes and files that a command leaves behind, and what its report has."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import Application, Record, eventually
from model_server import ModelServer

ADOPTS_ORPHANS = 36
"""An option of prctl(2)."""
WORKER, COMPILER = "scripttest.realm.worker", "compile/bin/esbuild"


def relatives(session: int) -> list[str]:
    """The living processes of a session, by command line; those that changed theirs are found by their parents."""
    found: dict[int, tuple[int, int, str, str]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            state, parent, _, own, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        found[int(entry.name)] = (int(parent), int(own), state, line)
    family = {session} | {pid for pid, (_, own, _, _) in found.items() if own == session}
    while more := {pid for pid, (parent, *_) in found.items() if parent in family} - family:
        family |= more
    return [line for pid, (_, _, state, line) in sorted(found.items()) if pid in family and state != "Z"]


@contextmanager
def leaves_nothing(application: Application) -> Iterator[list[int]]:
    """Sessions that are added to the list have no process left in the end, and no temporary file is left either."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("no /proc here")
    before = leftovers(application)
    sessions: list[int] = []
    with tempfile.TemporaryDirectory(prefix="apart-") as folder, adopting() as orphans:
        application.temporary = Path(folder)
        yield sessions
        for session in sessions:
            eventually(lambda: not relatives(session), f"all processes end: {relatives(session)}")  # noqa: B023
        eventually(lambda: not orphans(), "no worker and no compiler outlives its command")
        eventually(lambda: leftovers(application) <= before, f"nothing is left of {leftovers(application) - before}")
    application.temporary = None


@contextmanager
def adopting() -> Iterator[Callable[[], list[int]]]:
    """Within it, this process is the parent of what the commands that it starts leave behind. Gives what tells the
    workers and compilers of these whose command has ended."""
    known = {pid for pid, parent in helper_processes("") if parent == os.getpid()}

    def adopted() -> list[int]:
        return [pid for pid, parent in helper_processes(WORKER, COMPILER) if parent == os.getpid() and pid not in known]

    set_option = ctypes.CDLL(None).prctl
    set_option(ADOPTS_ORPHANS, 1, 0, 0, 0)
    try:
        yield adopted
    finally:
        set_option(ADOPTS_ORPHANS, 0, 0, 0, 0)


def children(pid: int, command: str) -> list[int]:
    """Processes that a process has started, by a word of their command line."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            try:
                line = Path(f"/proc/{child}/cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if command in line:
                found.append(int(child))
    return found


def leftovers(application: Application) -> set[str]:
    """Temporary files of this tool, in the folder of its own for them and below the application's. Other commands fill
    that of the system meanwhile."""
    folders = [application.home, application.root, *([application.temporary] if application.temporary else [])]
    paths = [path for folder in folders for path in folder.rglob("*")]
    memory = application.home / ".cache/yao-test"
    return {
        str(path) for path in paths if path != memory and path.name.startswith((".yao-test", "yao-test", "esbuild-"))
    }


def lines_of(path: Path) -> list[Record]:
    """The lines of a report; the last may be torn."""
    records: list[Record] = []
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def results_in(path: Path) -> list[tuple[str, Any]]:
    """`(id, status)` of the results in a report, in the order of ids."""
    return sorted((record["id"], record["status"]) for record in lines_of(path) if record["type"] == "result")


def assert_complete(path: Path, ids: set[str]) -> None:
    """A report that has each result once, one start at its beginning and one summary at its end."""
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert Counter(record["id"] for record in records if record["type"] == "result") == dict.fromkeys(ids, 1)
    kinds = [record["type"] for record in records]
    assert (kinds[0], kinds[-1], kinds.count("start"), kinds.count("summary")) == ("start", "summary", 1, 1)
    summary = records[-1]
    assert (summary["total"], summary["status"]) == (len(ids), "passed")


def with_model(server: ModelServer, type: str = "openai", **options: Any) -> dict[str, str]:
    """The connector `local`, which asks a server of the test."""
    definition = {"type": type, "options": {"host": server.url, "model": "m", "key": "sk-local", **options}}
    return {"/connectors/local.conn.yao": json.dumps(definition)}


def worker_pids(command: int) -> list[int]:
    """The worker processes of a command, which are in sessions of their own."""
    return [pid for pid, parent in helper_processes(WORKER) if parent == command]


def asleep(pid: int) -> bool:
    """Whether a process waits, or has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return any(f"State:\t{state}" in status for state in "SZ")


def below(*roots: int) -> set[int]:
    """The processes that these have started, and what those have."""
    known, started = helper_processes(""), set(roots)
    while more := {pid for pid, parent in known if parent in started} - started:
        started |= more
    return started - set(roots)


def are_gone(pids: set[int]) -> bool:
    """Whether none of these processes runs any more."""
    return not pids & {pid for pid, _ in helper_processes("")}


def helper_processes(*kinds: str) -> list[tuple[int, int]]:
    """The processes of some kinds, with their parents."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
                state, parent, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if state != "Z" and any(kind in line for kind in kinds):
                found.append((int(entry.name), int(parent)))
    return found
