"""Measures the peak memory of a command and of every process that it starts, from /proc while it runs. Linux only.

`VmHWM` is the highest resident size of a process so far, so only growth after the last sample is missed. It
starts again when a process executes another program, and until then a child has the size of its parent. So the last
figure counts, not the highest, and a child that still has its parent's command line does not count.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

INTERVAL = 0.002
"""Seconds between two looks."""
PROC = Path("/proc")


class Seen(NamedTuple):
    """What the last look at a process found."""

    command_line: bytes
    parent: int
    peak: int
    """Bytes."""

    @property
    def role(self) -> str:
        """What kind of process it is."""
        program = self.command_line.partition(b"\0")[0].rpartition(b"/")[2]
        return "compiler" if program == b"esbuild" else "worker"


class Watch:
    """Watches one command from its start to its end."""

    def __init__(self) -> None:
        self.command = 0
        """Peak of the command itself, in bytes."""
        self.at_once = 0
        """The most that all processes together held at one look; pages that they share count more than once."""
        self.processes = 1
        """How many processes there were, the command included."""
        self._seen: dict[int, Seen] = {}
        self._started: list[Seen] = []

    def __call__(self, pid: int) -> None:
        """Blocks until the process has ended."""
        while self._look(pid):
            time.sleep(INTERVAL)
        command = self._seen.pop(pid)
        for seen in self._seen.values():
            parent = self._seen.get(seen.parent, command)
            if seen.command_line != parent.command_line:
                self._started.append(seen)
        self.command = command.peak
        self.processes = 1 + len(self._started)

    def highest(self, role: str) -> int | None:
        """The highest peak of the processes in a role, in bytes; None when there was none."""
        return max((seen.peak for seen in self._started if seen.role == role), default=None)

    def _look(self, root: int) -> bool:
        """Looks at all processes; false when the command has ended."""
        todo, total = [(root, 0)], 0
        while todo:
            pid, parent = todo.pop()
            try:
                status = (PROC / f"{pid}/status").read_text()
                command_line = (PROC / f"{pid}/cmdline").read_bytes()
                tasks = [path.read_text() for path in (PROC / f"{pid}/task").glob("*/children")]
            except OSError:
                continue
            todo += [(int(child), pid) for children in tasks for child in children.split()]
            sizes = dict(line.split(":", 1) for line in status.splitlines() if line.startswith(("VmHWM", "VmRSS")))
            if "VmHWM" in sizes:
                self._seen[pid] = Seen(command_line=command_line, parent=parent, peak=_bytes(sizes["VmHWM"]))
                total += _bytes(sizes["VmRSS"])
            elif pid == root:
                return False
        self.at_once = max(self.at_once, total)
        return True


def _bytes(size: str) -> int:
    return int(size.split()[0]) * 1024
