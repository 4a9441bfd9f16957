"""Real runs of the command with and without what reports cost: CPU time of the same cases, in alternating rounds."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from agents import Server, application

MAIN = "from runner.cli import main; main()"
TIMED = f"""
import gc, json, time
import runner.app as app
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
make = app._Run._reporters
def reporters(self, sources, outputs, *rest):
    outputs = () if outputs == ("none.txt",) else outputs
    console, *files = make(self, sources, outputs, *rest)
    return [console, *map(Timed, files or [Nothing()])]
app._Run._reporters = reporters
{MAIN}
"""
"""The command, which says what its reports took: CPU seconds in them, in the garbage collector, and in all. It makes no
report called `none.txt`."""
WITHOUT_LINE = f"""
import runner.reporters.progress as progress
class Plain:
    def __init__(self, stream, *_): self.stream = stream
    def write(self, text): self.stream.write(text); self.stream.flush()
    def on_event(self, event, so_far): pass
    def close(self): pass
    paused = None
progress.Progress = Plain
{MAIN}
"""
"""The command, which prints on a terminal what it always prints, but for the live line."""


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
    """Reads what a terminal gets until nobody writes any more."""
    try:
        while select.select([leader], [], []) and os.read(leader, 1 << 16):
            pass
    except OSError:
        pass
    os.close(leader)


def formats(count: int, rounds: int, extensions: Sequence[str]) -> tuple[float, dict[str, float]]:
    """CPU seconds of a run of so many cases without a report, and the share that each format, and all of them, add.

    What is measured is the time within the reporters of a real run, and what the garbage collector takes longer because
    of what they keep: that differs less from run to run than the whole."""
    cases = Cases(count, 0)
    outputs = {"none": ("none.txt",)} | {each: (f"report.{each}",) for each in extensions}
    outputs["all of them"] = tuple(f"report.{each}" for each in extensions)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in outputs}
    try:
        for _ in range(rounds):
            collecting = 0.0
            for name, files in outputs.items():
                flags = [word for file in files for word in ("-o", file)]
                cases.cpu(TIMED, ("-q", "--parallel", "8", *flags))
                taken, collected, whole = json.loads((cases.root / "taken.json").read_text())
                collecting = collecting or collected
                added = taken + collected - collecting
                found[name].append((added / (whole - added), whole))
    finally:
        cases.close()
    none = median(whole for _, whole in found.pop("none"))
    return none, {name: median(share for share, _ in runs) for name, runs in found.items()}


def live(count: int, milliseconds: float, parallel: int, rounds: int) -> tuple[float, float]:
    """CPU seconds of a run of cases on a terminal without a live line, and the share that the line adds."""
    cases = Cases(count, milliseconds)
    flags = ("--parallel", str(parallel), "-o", "report.jsonl")
    try:
        base, found = _compared(
            lambda: cases.cpu(WITHOUT_LINE, flags, True), lambda _: cases.cpu(MAIN, flags, True), ["line"], rounds
        )
    finally:
        cases.close()
    return base, found["line"]


def _compared(
    base: Callable[[], float], run: Callable[[str], float], names: Sequence[str], rounds: int
) -> tuple[float, dict[str, float]]:
    """The median of `base`, and for each name the median over the rounds of what it adds, as a share of that.

    Each run stands between two of the base, and is compared with their mean, so that what else the machine does falls on
    both."""
    base()  # what is read for the first time
    bases = [base()]
    added: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            taken = run(name)
            bases.append(base())
            added[name].append(taken - (bases[-2] + bases[-1]) / 2)
    whole = median(bases)
    return whole, {name: median(differences) / whole for name, differences in added.items()}
