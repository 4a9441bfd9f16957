"""Starts worker processes, finds idle ones for work, checks their time limits, and ends them."""

from __future__ import annotations

import time

from scripttest.compile.compiler import Watcher
from scripttest.typing_names import Generic
from scripttest.workers.libraries import Libraries
from scripttest.workers.session import Listener, W, WorkerSlot
from scripttest.workers.worker import Worker


class WorkerPool(Generic[W]):
    """The worker processes of one owner. Used by the thread of its watcher only. The owner decides how many workers
    there are."""

    def __init__(self, command: list[str], watcher: Watcher, listener: Listener[W], libraries: Libraries) -> None:
        """Starts nothing yet. `command` is the command line of a worker, from `worker_command`."""
        self._command = command
        self._watcher = watcher
        self._listener = listener
        self._libraries = libraries
        self.slots: list[WorkerSlot[W]] = []
        """The workers that have not ended."""

    def start(self, worker: Worker | None = None) -> WorkerSlot[W]:
        """Adds a worker: a new one, or `worker`, which runs already. Raises HostError when it cannot be started."""
        slot = WorkerSlot(
            worker or Worker(self._command), self._watcher, self._listener, self._libraries, self.slots.remove
        )
        self.slots.append(slot)
        return slot

    def idle(self, module: str) -> WorkerSlot[W] | None:
        """An idle worker: preferably one that has had a pause, then one that has loaded the module, then the one that
        has been idle the longest."""
        now = time.monotonic()
        return min(
            (slot for slot in self.slots if slot.work is None and not slot.worker.child.has_ended),
            key=lambda slot: (not slot.has_rested(now), slot.loaded != module, slot.worked_until),
            default=None,
        )

    def keep(self, idle: int) -> None:
        """Ends idle workers until so many are left."""
        for slot in [slot for slot in self.slots if slot.work is None][idle:]:
            slot.end()

    def release(self) -> list[Worker]:
        """Returns the idle workers for another owner, and ends all others."""
        idle = [slot for slot in self.slots if slot.work is None and not slot.worker.child.has_ended]
        workers = [slot.release() for slot in idle]
        self.close()
        return workers

    @property
    def deadline(self) -> float | None:
        """Monotonic time at which the first time limit of a worker ends; None: no worker has one."""
        return min((slot.worker.deadline for slot in self.slots if slot.worker.deadline is not None), default=None)

    def late(self) -> list[WorkerSlot[W]]:
        """The workers whose time is up."""
        now = time.monotonic()
        return [slot for slot in self.slots if slot.worker.deadline is not None and slot.worker.deadline <= now]

    def kill(self) -> None:
        """Kills all workers; `close` waits for their end."""
        for slot in self.slots:
            slot.worker.child.kill()

    def close(self) -> None:
        """Ends all workers."""
        self.kill()
        for slot in list(self.slots):
            slot.end()
