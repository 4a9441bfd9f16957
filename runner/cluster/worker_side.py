"""What runs within a Dask worker: it looks whether a run can be had here, unpacks the application, and for each unit
passes on what a runner process says. It loads nothing of the runner but this.

Events go through the scheduler (`Worker.log_event`), since workers need not be able to reach the command."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

from distributed import Status, get_worker

from runner.cluster.messages import DONE, FAILED, SETUP, UNIT, Job, packed
from runner.version import VERSION
from scripttest import hide_environment, missing_walls

EXTRAS = {"crypto": ("cryptography", "bcrypt"), "formats": ("markdownify", "xmltodict"), "mcp": ("mcp",)}
"""Extra → the libraries that it brings."""
LOOK = 0.25
"""Seconds between looks whether anybody still wants a work unit."""
IDLE = 20.0
"""Seconds that a runner process is kept for the next unit of its run."""
DYING = 3.0
"""Seconds that it gets to end what it has started."""
AT_ONCE = 100
"""Messages of a runner process that are sent on together, at the most."""
_RUNNER = """
import gc
from scripttest import import_quickly
gc.disable()
modules = import_quickly()
from runner.cluster.runner_process import main
main(modules)
"""
"""While modules are loaded there is nothing to collect; a work unit turns it on."""
_ENDED = (Status.closing, Status.closed, Status.failed)
_lock = threading.Lock()
_idle: dict[str, list[_Process]] = {}
"""Run → its processes that have nothing to do."""
_busy: dict[str, _Process] = {}
"""Attempt → the process that runs it."""
_begun: set[str] = set()
"""Attempts that have begun here."""
_over: set[str] = set()
"""Runs that need no process any more."""


def extras() -> tuple[str, ...]:
    """The extras of yao-test that are installed here."""
    return tuple(name for name, libraries in EXTRAS.items() if all(map(find_spec, libraries)))


def look(names: tuple[str, ...], application: str, dask_worker: Any = None) -> Mapping[str, Any]:
    """What is here of what a run needs: `{id, version, extras, variables, host, missing_walls, has_application}`;
    `names` are those of variables, `application` is as in a `Job`. From here on, other processes cannot read the
    environment of this one."""
    hide_environment()
    return {
        "id": dask_worker.id,
        "version": VERSION,
        "extras": extras(),
        "variables": tuple(name for name in names if os.environ.get(name)),
        "host": socket.gethostname(),
        "missing_walls": missing_walls(),
        "has_application": _place(dask_worker, application).is_dir(),
    }


def prepare(run: str) -> None:
    """Starts a process for a run that will soon send units: it takes as long to load as the application to come."""
    if run not in _over:
        _keep(run, _Process())


def set_up(run: str, application: str, setup: bytes, dask_worker: Any = None) -> None:
    """Lets the processes of a run start what they need for its units, if the application is here already."""
    folder = _place(dask_worker, application)
    if folder.is_dir():
        with _lock:
            idle = list(_idle.get(run, ()))
        for process in idle:
            process.set_up(str(folder), setup)


def install(data: bytes, digest: str) -> str:
    """Unpacks the application here, unless it is here."""
    folder = _place(get_worker(), digest)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _unpack(data, folder)
    return str(folder)


def work(job: Job) -> str:
    """Runs a work unit, if it is for this worker and has not begun here before: Dask may run a task again."""
    worker = get_worker()
    with _lock:
        if worker.id != job.worker or job.attempt in _begun:
            return "elsewhere"
        _begun.add(job.attempt)
    key = worker.get_current_task()
    process = _taken(job.run) or _Process()
    with _lock:
        _busy[job.attempt] = process
    number, kept = 0, False

    def send(messages: list[bytes], end: str = "") -> None:
        nonlocal number
        worker.log_event(job.topic, {"attempt": job.attempt, "number": number, "messages": messages, "end": end})
        number += 1

    try:
        send([])
        process.set_up(str(_place(worker, job.application)), job.setup)
        process.write(UNIT + job.unit)
        while True:
            messages = process.read(LOOK)
            if messages is None:
                send([], "died")
                return "died"
            if messages:
                kinds = {message[:1] for message in messages}
                kept = DONE in kinds
                send(messages, "done" if kept else "")
                if kept:
                    return "done"
                if FAILED in kinds:
                    return "failed"
            task = worker.state.tasks.get(key)
            if task is None or task.state != "executing" or worker.status in _ENDED:
                return "given up"  # by the command, or the command or the scheduler has ended
    finally:
        with _lock:
            _busy.pop(job.attempt, None)
        if kept:
            _keep(job.run, process)
        else:
            process.end()


def mutate(item: tuple[str, bytes, str, int, bytes]) -> bytes:
    """Plants and tries a part of the mutants of a run, in a process of its own: the application, its setup, the topic
    under which its progress is told, the number of the part, and the part; see `runner.mutation.on_cluster`."""
    worker = get_worker()
    key = worker.get_current_task()
    application, setup, topic, number, part = item
    given: bytes | None = packed((str(_place(worker, application)), setup, part))
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", "from runner.mutation.on_cluster import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    told = ""

    def tell(said: bytes | None) -> None:
        nonlocal told
        lines = (said or b"").decode("utf-8", "replace").split("\n")
        if len(lines) > 1 and lines[-2] != told:
            told = lines[-2]
            worker.log_event(topic, {"part": number, "said": told})

    while True:
        try:
            answer, said = child.communicate(given, LOOK)
        except subprocess.TimeoutExpired as waiting:
            given = None
            tell(waiting.stderr)
            task = worker.state.tasks.get(key)
            if task is None or task.state != "executing" or worker.status in _ENDED:
                child.kill()
            continue
        if child.returncode:
            raise RuntimeError(said.decode("utf-8", "replace").strip().rpartition("\n")[2])
        tell(said)
        return answer


def tell(attempt: str, message: bytes) -> None:
    """Passes a message to the process of an attempt, unless that has ended."""
    process = _busy.get(attempt)
    if process is not None:
        process.write(message)


def finish(run: str) -> None:
    """Ends the processes of a run, those that are busy when they have nothing to do any more."""
    with _lock:
        _over.add(run)
        idle = _idle.pop(run, [])
    for process in idle:
        threading.Thread(target=process.end, daemon=True).start()


def _unpack(data: bytes, folder: Path) -> None:
    """Unpacks an archive into a folder, which is there in whole or not at all. Raises OSError, and ValueError for what
    would lead out of it."""
    beside = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if name.startswith("/") or ".." in name.split("/"):
                raise ValueError(f"{name} leads outside the application")
        archive.extractall(beside)
    try:
        beside.rename(folder)
    except OSError:  # another has done it
        shutil.rmtree(beside, ignore_errors=True)
        if not folder.is_dir():
            raise


def _place(worker: Any, application: str) -> Path:
    if os.path.isabs(application):
        return Path(application)
    return Path(os.path.realpath(worker.local_directory)) / "yao-test" / application


def _taken(run: str) -> _Process | None:
    with _lock:
        idle = _idle.get(run)
        return idle.pop() if idle else None


def _keep(run: str, process: _Process) -> None:
    process.since = time.monotonic()
    with _lock:
        is_over = run in _over
        if not is_over:
            _idle.setdefault(run, []).append(process)
    if is_over:
        process.end()
        return
    timer = threading.Timer(IDLE, _end_idle, (run,))
    timer.daemon = True
    timer.start()


def _end_idle(run: str) -> None:
    """Ends processes that have had nothing to do for long."""
    now = time.monotonic()
    with _lock:
        idle = _idle.get(run, [])
        late = [process for process in idle if now - process.since >= IDLE * 0.9]
        _idle[run] = [process for process in idle if process not in late]
        if not _idle[run]:
            del _idle[run]
    for process in late:
        process.end()


class _Process:
    """A runner process. It ends with this one: its standard input does."""

    def __init__(self) -> None:
        heard, self._input = Pipe(duplex=False)
        self._output, said = Pipe(duplex=False)
        with heard, said:
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", _RUNNER],
                stdin=heard.fileno(),
                stdout=said.fileno(),
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._write_lock = threading.Lock()
        self.since = 0.0
        """When it had nothing to do any more."""
        self._set_up_lock, self._is_set_up = threading.Lock(), False

    def set_up(self, folder: str, setup: bytes) -> None:
        """Tells it where the application is, and what all units have in common, unless it knows."""
        with self._set_up_lock:
            if not self._is_set_up:
                self._is_set_up = True
                self.write(SETUP + packed((folder, setup)))

    def write(self, message: bytes) -> None:
        """Sends a message. That the process has ended is noticed when its output ends."""
        with self._write_lock, suppress(OSError):
            self._input.send_bytes(message)

    def read(self, seconds: float) -> list[bytes] | None:
        """Its next messages, of which the first one may take some seconds; None if it has ended."""
        messages: list[bytes] = []
        try:
            while len(messages) < AT_ONCE and self._output.poll(0 if messages else seconds):
                messages.append(self._output.recv_bytes())
        except (EOFError, OSError):
            return messages or None
        return messages

    def end(self) -> None:
        """Ends it, and what it has started."""
        with self._write_lock:
            self._input.close()
        try:
            self._child.wait(DYING)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._output.close()
