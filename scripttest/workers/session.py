"""One worker in use: sends its work, receives its answers, and notices when it has ended.

The owner of a pool is a `Listener`. It gets only messages that `answers` could read. A worker that sends anything else
is ended. Calls of other scripts are answered here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scripttest.compile.compiler import Watcher
from scripttest.errors import Cause
from scripttest.process import Ending
from scripttest.typing_names import Generic, Protocol, TypeVar
from scripttest.values import Value
from scripttest.workers.answers import HostCall, LibraryCall, Message, Question, read_message
from scripttest.workers.libraries import Libraries
from scripttest.workers.protocol import MessageError
from scripttest.workers.worker import Worker

W = TypeVar("W")
REST = 0.002
"""Seconds after its work in which a worker makes the realm of the next function."""
MOST_QUESTIONS = 12
"""Questions of a worker that have no answer yet: it gives one up when its time is up, and again when that for cleaning
up is; and what the host asks it back, while it waits, may be answered with questions."""


class Loss(Value):
    """The reason why a worker was lost."""

    message: str
    """The message for people."""
    cause: Cause
    """`CRASH`, or `INFRASTRUCTURE` if it was killed from outside, which scripts in it cannot do."""


class Listener(Protocol[W]):
    """Handles what the workers of a pool send; each worker has work of the type `W`. Its methods raise
    MessageError when a message does not fit to the work."""

    def heard(self, slot: WorkerSlot[W], message: Message) -> None:
        """Called for a message that is not a question."""

    def asked(self, slot: WorkerSlot[W], call: HostCall) -> None:
        """Called for a host call. It has to call `WorkerSlot.reply`, at once or later."""

    def lost(self, slot: WorkerSlot[W], loss: Loss) -> None:
        """Called when a worker has ended by itself, or had to be ended. It is no longer in the pool; its `work` is
        unchanged."""


class WorkerSlot(Generic[W]):
    """A worker in a pool, and its current work."""

    def __init__(
        self,
        worker: Worker,
        watcher: Watcher,
        listener: Listener[W],
        libraries: Libraries,
        forget: Callable[[WorkerSlot[W]], None],
    ) -> None:
        """Starts listening to the worker; `forget` is called when the worker has ended."""
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
        self._watcher = watcher
        self._listener = listener
        self._libraries = libraries
        self._forget = forget
        self._questions: set[str] = set()
        watcher.watch(worker.child.stdout, self._readable)

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
        self.is_open = False
        self._watcher.unwatch(self.worker.child.stdout)
        self._forget(self)
        return self.worker.end()

    def release(self) -> Worker:
        """Stops listening to an idle worker, so that another owner can use it."""
        self.is_open = False
        self._watcher.unwatch(self.worker.child.stdout)
        self._forget(self)
        return self.worker

    def _readable(self) -> None:
        try:
            for message in self._messages():
                if isinstance(message, Question):
                    self._ask(message)
                else:
                    self._listener.heard(self, message)
        except MessageError as error:
            self.end()
            said = f"The worker process sent something that is not a message: {error}"
            self._listener.lost(self, Loss(message=said, cause=Cause.CRASH))

    def _messages(self) -> Iterator[Message]:
        """What has arrived, until the worker is ended."""
        frames = self.worker.read()
        if frames is None:
            ending = self.end()
            cause = Cause.INFRASTRUCTURE if ending.was_killed else Cause.CRASH
            self._listener.lost(self, Loss(message=f"The worker process {ending.text}", cause=cause))
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
            self._libraries.ask(self.module, question.script, lambda answer: self.reply(number, *answer))
        else:
            self._listener.asked(self, question)
