"""Real runs of the command that measure the CPU time of their reports, or of the live line of a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from agents import Server, application

MAIN = "from runner.commands.main import main; main()"
TIMED = f"""
import gc, json, time
import runner.execution.listeners as app
taken, collecting = [0.0], [0.0, 0.0]
def collect(phase, _):
    if phase == "start":
        collecting[1] = time.thread_time()
    else:
        collecting[0] += time.thread_time() - collecting[1]
gc.callbacks.append(collect)
class Timed:
    def __init__(self, inner): self.inner = inner
    def on_event(self, event, so_far):
        begin, before = time.thread_time(), collecting[0]
        self.inner.on_event(event, so_far)
        taken[0] += time.thread_time() - begin - (collecting[0] - before)
    def close(self):
        begin = time.thread_time()
        self.inner.close()
        taken[0] += time.thread_time() - begin
        with open("taken.json", "w") as file:
            json.dump([taken[0], collecting[0], time.process_time()], file)
class Nothing:
    def on_event(self, event, so_far): pass
    def close(self): pass
make = app.open_reporters
def reporters(console, sources, outputs, *rest):
    outputs = () if outputs == ("none.txt",) else outputs
    first, *files = make(console, sources, outputs, *rest)
    return [first, *map(Timed, files or [Nothing()])]
app.open_reporters = reporters
{MAIN}
"""
"""The command, which says what its reports took: CPU seconds in them, in the garbage collector, and in all. It makes no
report called `none.txt`."""
LINE_TIMED = f"""
import json, time
from runner.reporters.console.terminal import Progress
spent = [0.0, 0.0]
draw, on_event, close = Progress._draw, Progress.on_event, Progress.close
def timed_draw(self):
    draw(self)
    spent[0] = time.thread_time()
def timed_event(self, event, so_far):
    begin = time.thread_time()
    on_event(self, event, so_far)
    spent[1] += time.thread_time() - begin
def timed_close(self):
    close(self)
    with open("taken.json", "w") as file:
        json.dump([sum(spent), time.process_time()], file)
Progress._draw, Progress.on_event, Progress.close = timed_draw, timed_event, timed_close
{MAIN}
"""
"""The command, which says what its live line took: CPU seconds of the thread that draws it, with those of telling it what
happened, and in all."""


class Cases:
    """An application with cases, and the model that answers them."""

    def __init__(self, count: int, milliseconds: float) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="yao-bench-")
        self.root = Path(self._folder.name)
        self._server = Server(milliseconds)
        self._file = application(self.root, self._server.url, count)

    def cpu(self, code: str, arguments: Sequence[str], terminal: bool = False) -> float:
        """CPU seconds of a run with all its processes."""
        command = [sys.executable, "-c", code, "-i", str(self._file), *arguments]
        leader, follower = pty.openpty() if terminal else (-1, subprocess.DEVNULL)
        variables = {key: value for key, value in os.environ.items() if key not in ("CI", "NO_COLOR")}
        variables |= {"TERM": "xterm-256color", "COLUMNS": "120"}
        process = subprocess.Popen(command, cwd=self.root, stdout=follower, stderr=subprocess.STDOUT, env=variables)
        if terminal:
            os.close(follower)
            _drain(leader)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"the run ended with {process.returncode}")
        return usage.ru_utime + usage.ru_stime

    def close(self) -> None:
        """Ends the model, and removes the application."""
        self._server.close()
        self._folder.cleanup()


def _drain(leader: int) -> None:
    """Reads the output of a terminal until its end."""
    try:
        while select.select([leader], [], []) and os.read(leader, 1 << 16):
            pass
    except OSError:
        pass
    os.close(leader)


def formats(count: int, rounds: int, extensions: Sequence[str]) -> tuple[float, dict[str, float]]:
    """CPU seconds of a run of so many cases without a report, and the share that each format, and all of them, add.

    What is measured is the time within the reporters of a real run, and what the garbage collector takes longer because
    of what they keep, less what a reporter that does nothing takes with its clock: that differs less from run to run than
    the whole."""
    cases = Cases(count, 0)
    outputs = {"none": ("none.txt",)} | {each: (f"report.{each}",) for each in extensions}
    outputs["all of them"] = tuple(f"report.{each}" for each in extensions)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in outputs}
    try:
        for _ in range(rounds):
            nothing = 0.0
            for name, files in outputs.items():
                flags = [word for file in files for word in ("-o", file)]
                cases.cpu(TIMED, ("-q", "--parallel", "8", *flags))
                taken, collected, whole = json.loads((cases.root / "taken.json").read_text())
                nothing = nothing or taken + collected
                added = taken + collected - nothing
                found[name].append((added / (whole - added), whole))
    finally:
        cases.close()
    none = median(whole for _, whole in found.pop("none"))
    return none, {name: median(share for share, _ in runs) for name, runs in found.items()}


def live(count: int, milliseconds: float, parallel: int, rounds: int) -> tuple[float, float]:
    """CPU seconds of a run of cases on a terminal, and the share that its live line takes, measured within the run."""
    cases = Cases(count, milliseconds)
    found = []
    try:
        for _ in range(rounds):
            cases.cpu(LINE_TIMED, ("--parallel", str(parallel), "-o", "report.jsonl"), True)
            found.append(json.loads((cases.root / "taken.json").read_text()))
    finally:
        cases.close()
    return median(whole for _, whole in found), median(taken / whole for taken, whole in found)
