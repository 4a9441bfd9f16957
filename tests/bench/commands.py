"""Runs a command of a tool to its end, and makes sure that it did its work."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tools import BenchError, Tool, environment
from workloads import Workload

LIMIT = 600.0
"""Seconds after which a command is ended."""
LEFT_LIMIT = 10.0
"""Seconds that processes may outlive the command that started them."""
PR_SET_CHILD_SUBREAPER = 36
"""From `linux/prctl.h`."""
SHOWN = 40
"""Lines of output that are shown when a tool did not do its work."""


class Ended(NamedTuple):
    """A command that has ended."""

    code: int
    """Exit code; negative: the signal that ended it."""
    seconds: float
    """Wall time from before its start to after its end."""
    output: str
    """Standard output and error, without colours."""


class Job(NamedTuple):
    """One tool with one workload, its files written."""

    tool: Tool
    workload: Workload
    folder: Path
    command: list[str]

    def run(self, watch: Callable[[int], None] | None = None) -> float:
        """Runs the command; seconds. Raises BenchError unless all tests ran and passed."""
        ended = run(self.command, self.folder, watch)
        missing = self.tool.mismatch(ended.output, self.workload)
        if ended.code or missing:
            reason = f"it exited with code {ended.code}" if ended.code else f"its output does not match {missing}"
            raise self.error(f"did not pass {self.workload.total} tests: {reason}", ended)
        return ended.seconds

    def error(self, what: str, ended: Ended) -> BenchError:
        """What to raise when the run was not what it had to be."""
        tail = "\n".join(ended.output.splitlines()[-SHOWN:])
        return BenchError(f"{self.tool.name}, {self.workload.name}: {what}\n{tail}")


def prepare(tool: Tool, workload: Workload, root: Path, broken: bool = False) -> Job:
    """Writes the files of a workload below `root`."""
    folder = root / f"{workload.name}{'-broken' if broken else ''}" / tool.name
    tool.write(folder, workload, broken)
    return Job(tool=tool, workload=workload, folder=folder, command=tool.command(workload))


def check_that_it_can_fail(job: Job) -> None:
    """Runs a job whose module is broken. Raises BenchError if that passes, for then its times would mean nothing."""
    ended = run(job.command, job.folder, None)
    if ended.code == 0 or job.tool.mismatch(ended.output, job.workload) is None:
        raise job.error("passes although the module under test is broken", ended)


def adopt_orphans() -> None:
    """Makes this process the parent of what a command leaves behind, so that it can be waited for. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for_orphans(command: list[str]) -> None:
    """Waits until the processes that a command left behind have ended, so that they do not slow down the next one."""
    deadline = time.monotonic() + LEFT_LIMIT
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.005)
        except ChildProcessError:
            return
    raise BenchError(f"{command} left processes behind that do not end")


def run(command: list[str], folder: Path, watch: Callable[[int], None] | None = None) -> Ended:
    """Runs a command in a folder two levels below the root of the benchmark.

    Args:
        watch: called with the process id while the command runs; it has to return once that process has ended.
    """
    root = folder.parents[1]
    with (root / "output.txt").open("w+b") as log:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(root),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        # Not `wait(timeout=...)`, which looks only every 50 ms.
        timer = threading.Timer(LIMIT, lambda: os.killpg(process.pid, signal.SIGKILL))
        timer.start()
        if watch is not None:
            watch(process.pid)
        code = process.wait()
        seconds = time.perf_counter() - began
        timer.cancel()
        _wait_for_orphans(command)
        log.seek(0)
        return Ended(
            code=code, seconds=seconds, output=re.sub(r"\x1b\[[\d;]*m", "", log.read().decode(errors="replace"))
        )
