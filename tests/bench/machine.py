"""Describes the machine of the measurements without naming it, and how busy it was with other work."""

from __future__ import annotations

import os
import platform
import resource
import time
from pathlib import Path

CPUS = 2
"""How many CPUs the tools get."""
BUSY = 0.1
"""Share of the CPU time taken by others from which figures are noise."""


def use_two_cpus() -> None:
    """Binds this process, and with it all that it starts, to two CPUs, as the goals suppose. Linux only."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CPUS])


def describe() -> str:
    """Kind of the machine and of the interpreter, one line."""
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{_cpus()} of {os.cpu_count()} CPUs ({_model()}), {system}"


class Neighbours:
    """What other processes took of the CPU time since this was made. Linux only."""

    def __init__(self) -> None:
        self._busy, self._own, self._began = _busy(), _own(), time.monotonic()

    def share(self) -> float | None:
        """Their share of all CPU time that there was; None where it is not known. Children have to be waited for."""
        if self._busy is None:
            return None
        busy = (_busy() or 0.0) - self._busy
        there = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        return max(0.0, busy - (_own() - self._own)) / there

    def sentence(self) -> str:
        """What to print about it."""
        share = self.share()
        if share is None:
            return "How busy the machine was with other things is not known here."
        text = f"Other processes took {share:.0%} of the CPU time."
        return f"**{text} The figures are noise; measure again on an idle machine.**" if share > BUSY else text


def _cpus() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "model not known"


def _busy() -> float | None:
    """Seconds of CPU time that all processes have taken: user, nice, system, irq, softirq, steal."""
    try:
        fields = Path("/proc/stat").read_text().partition("\n")[0].split()[1:]
    except OSError:
        return None
    ticks = [int(field) for field in fields]
    return (sum(ticks[0:3]) + sum(ticks[5:8])) / os.sysconf("SC_CLK_TCK")


def _own() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
