"""Workers in use: starts them, finds idle ones for work, sends it, receives their answers, checks their time limits,
notices when one has ended, and ends them.

The owner of a pool is a `Listener`. It gets only messages that `answers` could read. A worker that sends anything else
is ended. Calls of other scripts are answered here: `Libraries` compiles each once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from scripttest.compile.builds import Compiled, Source
from scripttest.compile.compiler import Compiler, Watcher
from scripttest.process import Ending
from scripttest.protocol import MessageError
from scripttest.results import Cause, CompileError, Failure, ScriptError
from scripttest.typing_names import Generic, Protocol, TypeVar
from scripttest.workers.answers import HostCall, LibraryCall, Message, Question, read_message
from scripttest.workers.worker import Worker

W = TypeVar("W")
REST = 0.002
"""Seconds after its work in which a worker makes the realm of the next function."""
MOST_QUESTIONS = 12
"""Questions of a worker that have no answer yet: it gives one up when its time is up, and again when that for cleaning
up is; and what the host asks it back, while it waits, may be answered with questions."""
Answer = Callable[[list[str]], None]
"""Takes the parts of a `reply` to the frame `library`."""


class WorkerPool(Generic[W]):
    """The worker processes of one owner. Used by the thread of its watcher only. The owner decides how many workers
    there are."""

    def __init__(self, command: list[str], watcher: Watcher, listener: Listener[W], libraries: Libraries) -> None:
        """Starts nothing yet. `command` is the command line of a worker, from `worker_command`."""
        self.command = command
        self.watcher = watcher
        self.listener = listener
        self.libraries = libraries
        self.slots: list[WorkerSlot[W]] = []
        """The workers that have not ended."""

    def start(self, worker: Worker | None = None) -> WorkerSlot[W]:
        """Adds a worker: a new one, or `worker`, which runs already. Raises HostError when it cannot be started."""
        slot = WorkerSlot(worker or Worker(self.command), self)
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


class Listener(Protocol[W]):
    """Handles what the workers of a pool send; each worker has work of the type `W`. Its methods raise
    MessageError when a message does not fit to the work."""

    def heard(self, slot: WorkerSlot[W], message: Message) -> None:
        """Called for a message that is not a question."""

    def asked(self, slot: WorkerSlot[W], call: HostCall) -> None:
        """Called for a host call. It has to call `WorkerSlot.reply`, at once or later."""

    def lost(self, slot: WorkerSlot[W], loss: Failure) -> None:
        """Called when a worker has ended by itself, or had to be ended. It is no longer in the pool; its `work` is
        unchanged. The cause is `CRASH`, or `INFRASTRUCTURE` if it was killed from outside, which scripts in it cannot
        do."""


class WorkerSlot(Generic[W]):
    """A worker in a pool, and its current work."""

    def __init__(self, worker: Worker, pool: WorkerPool[W]) -> None:
        """Starts listening to the worker."""
        self.worker = worker
        self.work: W | None = None
        """The current work; None: the worker is idle."""
        self.module = ""
        """Key of the module that it works for, and on whose behalf it asks for other scripts."""
        self.loaded: str | None = None
        """Key of the module that it has loaded and can use again."""
        self.has_base = False
        """Whether it has the base of that module."""
        self.is_open = True
        """Whether it has not been ended."""
        self.worked_until = -REST
        """Monotonic time at which its last work ended."""
        self._pool = pool
        self._questions: set[str] = set()
        pool.watcher.watch(worker.child.stdout, self._readable)

    def reply(self, number: str, *parts: str) -> None:
        """Answers a question. Does nothing once the worker has ended."""
        if self.is_open:
            self._questions.discard(number)
            self.worker.send_frame("reply", number, *parts)

    def ask_back(self, number: str, name: str, arguments: str) -> None:
        """Asks the realm that runs in the worker a question, while it waits for a reply. The `Listener` gets the answer
        as a frame `backed`. Does nothing once the worker has ended."""
        if self.is_open:
            self.worker.send_frame("back", number, name, arguments)

    def has_rested(self, now: float) -> bool:
        """Whether it has been idle long enough to prepare for its next work; `now` is the monotonic time."""
        return now - self.worked_until >= REST

    def end(self) -> Ending:
        """Ends the worker and stops listening. Must be called once."""
        return self.release().end()

    def release(self) -> Worker:
        """Stops listening to an idle worker, so that another owner can use it."""
        self.is_open = False
        self._pool.watcher.unwatch(self.worker.child.stdout)
        self._pool.slots.remove(self)
        return self.worker

    def _readable(self) -> None:
        try:
            for message in self._messages():
                if isinstance(message, Question):
                    self._ask(message)
                else:
                    self._pool.listener.heard(self, message)
        except MessageError as error:
            self.end()
            said = f"The worker process sent something that is not a message: {error}"
            self._pool.listener.lost(self, Failure(message=said, cause=Cause.CRASH))

    def _messages(self) -> Iterator[Message]:
        """What has arrived, until the worker is ended."""
        frames = self.worker.read()
        if frames is None:
            ending = self.end()
            cause = Cause.INFRASTRUCTURE if ending.was_killed else Cause.CRASH
            self._pool.listener.lost(self, Failure(message=f"The worker process {ending.text}", cause=cause))
            return
        for kind, parts in frames:
            yield read_message(kind, parts)
            if not self.is_open:
                return

    def _ask(self, question: Question) -> None:
        number = question.number
        if self.work is None:
            raise MessageError("a question without work")
        if number in self._questions or len(self._questions) == MOST_QUESTIONS:
            raise MessageError("a question before the last one was answered")
        self._questions.add(number)
        if isinstance(question, LibraryCall):
            self._pool.libraries.ask(self.module, question.script, lambda answer: self.reply(number, *answer))
        else:
            self._pool.listener.asked(self, question)


class Libraries:
    """The scripts of one application that other scripts call."""

    def __init__(self, compiler: Compiler, find: Callable[[str, str], Path]) -> None:
        """`find` gives the file of a script for a module that calls it, or raises ScriptError."""
        self._compiler = compiler
        self._find = find
        self._keys: dict[str, str] = {}
        """Name of a script → key of its file."""
        self._known: dict[str, Compiled | CompileError] = {}
        self._waiting: dict[str, list[Answer]] = {}
        self._asked: dict[str, dict[str, Source]] = {}
        """Module → the scripts that it asked for."""
        self.told: Callable[[Compiled], None] = lambda _: None
        """Called with each script that was compiled."""

    def called_by(self, module: str) -> list[Source]:
        """The scripts that a module has called so far, and those that they have called."""
        return list(self._asked.get(module, {}).values())

    def compiled_for(self, module: str) -> list[Compiled]:
        """What `called_by` names, compiled."""
        found = (self._known.get(source.key) for source in self.called_by(module))
        return [result for result in found if isinstance(result, Compiled)]

    def called(self, script: str) -> Compiled | None:
        """A called script, by its name."""
        result = self._known.get(self._keys.get(script, ""))
        return result if isinstance(result, Compiled) else None

    def ask(self, module: str, script: str, answer: Answer) -> None:
        """Calls `answer` with the code of a script, or with the reason why there is none: at once, or when it is
        compiled."""
        try:
            file = self._find(module, script)
        except ScriptError as error:
            answer(_reply(error))
            return
        key = self._keys[script] = f"library {file}"
        source = Source(key=key, test=file, script=None)
        self._asked.setdefault(module, {})[key] = source
        if key in self._known:
            answer(_reply(self._known[key]))
        elif key in self._waiting:
            self._waiting[key].append(answer)
        else:
            self._waiting[key] = [answer]
            self._compiler.add([source], self._compiled)

    def _compiled(self, source: Source, result: Compiled | CompileError) -> None:
        self._known[source.key] = result
        if isinstance(result, Compiled):
            self.told(result)
        for answer in self._waiting.pop(source.key):
            answer(_reply(result))


def _reply(result: Compiled | ScriptError) -> list[str]:
    if isinstance(result, Compiled):
        return ["ok", *["\n" + script.code for script in result.scripts]]
    if result.missing:
        return ["missing"]
    at = result.location
    return ["error", (f"{at.file}:{at.line}:{at.column}: " if at else "") + result.message]
