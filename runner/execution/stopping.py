"""Ends a run early: after a signal, or because a budget is used up or cannot be kept.

| event | new tests | running tests | exit code |
| --- | --- | --- | --- |
| Ctrl-C, SIGTERM, SIGHUP | none | get `GRACE` | 128 + number of the signal |
| the same again | none | end at once; the report has what is known of them | the same |
| a third time | | the process ends without a message | the same |
| a budget is used up | none | get `BUDGET_GRACE` | 1, or that of the results if nothing was left to run |
| a budget cannot be kept | none | get `BUDGET_GRACE` | 1 |

After a budget of costs or tokens, running tests begin no further call of a model."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Timer

    from runner.connectors.base import Usage
    from runner.options.options import RunOptions


GRACE = 2.0
"""Seconds that running tests have after a signal."""
BUDGET_GRACE = 10.0
"""Seconds that running tests have after a budget is used up."""
_UNDONE_AT_ONCE: list[Callable[[], None]] = []
REASONS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "the terminal was closed"}


def on_spent(tokens: int, cost: float) -> object:
    """Called for each answer of a real model, where a budget is set; `cost` is in US dollars. Others may replace it."""


class Interrupted(KeyboardInterrupt):
    """A signal stopped the run."""

    def __init__(self, code: int) -> None:
        """`code` is the exit code."""
        super().__init__()
        self.code = code


class Stop:
    """Whether a run has to stop, and how soon. May be used from any thread and from signal handlers."""

    def __init__(self) -> None:
        self.reason: str | None = None
        """Why the run stops; None while it continues."""
        self.code: int | None = None
        """The exit code, when a signal stopped the run."""
        self.spoils = False
        """Whether the run fails even if all its tests have already passed."""
        self.closes_models = False
        """Whether running tests may ask models no more."""
        self.heeded = False
        """Whether something checks this object; if not, a signal raises KeyboardInterrupt in the main thread."""
        self._end: float | None = None
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Adds a function that is called after each change. It must not block."""
        self._listeners.append(listener)

    def request(self, reason: str, grace: float, spoils: bool = False, closes_models: bool = False) -> None:
        """Lets no further test begin, and gives running tests this many seconds. The first reason counts."""
        if self.reason is None:
            self.reason, self.spoils, self.closes_models = reason, spoils, closes_models
            self.hurry(grace)

    def hurry(self, seconds: float) -> None:
        """Shortens the time of running tests to this many seconds."""
        end = time.monotonic() + seconds
        self._end = end if self._end is None else min(self._end, end)
        self.wake()

    def wake(self) -> None:
        """Calls the listeners, also when something else has changed than this object."""
        for listener in self._listeners:
            listener()

    def left(self) -> float | None:
        """Seconds that running tests still have, not below 0; None while the run continues."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether running tests must be cut short."""
        return self.left() == 0


class Signals:
    """A context manager that passes the signals that end a run to a `Stop`. For the main thread.

    An interrupt may come out of a library as an error of its own, about a lock or a schema, be lost in a callback, or
    leave half of an object. An error leaves this one as the interrupt that it was, and nothing is said of the rest."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._numbers: list[int] = []
        self._raised = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Signals:
        for number in REASONS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # of a command in the background, for example
                self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        if isinstance(error, Exception) and self._raised and not self._stop.heeded:
            raise KeyboardInterrupt from error

    def _heard(self, number: int, _: FrameType | None) -> None:
        stop, numbers = self._stop, self._numbers
        numbers.append(number)
        first = signal.Signals(numbers[0])  # the other one, if a second signal came within this function
        if len(numbers) > 2:
            leave(first)
        stop.code = 128 + first
        stop.request(REASONS[first], GRACE)
        stop.hurry(GRACE if len(numbers) == 1 else 0)
        if not stop.heeded:
            self._raised = True
            sys.unraisablehook = lambda _: None
            raise KeyboardInterrupt


@contextmanager
def woken(descriptor: int) -> Iterator[None]:
    """In which signals also write to a file descriptor: one that another thread receives does not wake the main one."""
    before = signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)


@contextmanager
def undone_at_once(undo: Callable[[], None]) -> Iterator[None]:
    """In which `undo` is called, in the signal handler, if a third signal ends the process at once."""
    _UNDONE_AT_ONCE.append(undo)
    try:
        yield
    finally:
        _UNDONE_AT_ONCE.remove(undo)


def leave(number: int, _: FrameType | None = None) -> None:
    """Ends the process at once, from a signal handler, and shows the cursor of the terminal again. Child processes end
    by themselves. With `--json`, says as JSON that it was interrupted."""
    for undo in _UNDONE_AT_ONCE:
        with suppress(Exception):
            undo()
    forms = [word for word in sys.argv[1:] if word.partition("=")[0] == "--json"]
    with suppress(Exception):  # while modules are loaded, or nobody reads
        if forms:
            from runner.execution.outcome import refusal

            os.write(1, refusal("Interrupted", None, 128 + number, lines=forms[0] != "--json").encode())
    if os.isatty(2):
        os.write(2, b"\x1b[?25h")
    os._exit(128 + number)


class Budgets:
    """Counts the costs and tokens of all model calls of a run, from any thread."""

    def __init__(self, options: RunOptions, stop: Stop) -> None:
        """Starts the clock of `--max-duration`."""
        self._options, self._stop = options, stop
        self._cost = 0.0
        self._tokens = 0
        self.refusal: str | None = None
        """See `runner.agents.runtime.UsageCounter`."""
        self._timer: Timer | None = None
        if options.max_duration is not None:
            from threading import Timer

            from runner.amounts import in_words

            reason = f"--max-duration {in_words(options.max_duration)} has passed"
            self._timer = Timer(options.max_duration, stop.request, (reason, BUDGET_GRACE))
            self._timer.daemon = True
            self._timer.start()

    def spend(self, connector: str, usage: Usage, free: bool) -> None:
        """See `runner.agents.runtime.UsageCounter`."""
        from runner.amounts import dollars

        tokens, cost = usage.input_tokens + usage.output_tokens, usage.cost or 0.0
        self._tokens += tokens
        self._cost += cost
        if not free:
            on_spent(tokens, cost)
        if (limit := self._options.max_cost) is not None:
            unknown = f"the cost of calling {connector}" if usage.cost is None and not free else None
            used = dollars(self._cost) if self._cost >= limit else None
            self._end_if(f"--max-cost {limit:g}", unknown, used, usage)
        if (most := self._options.max_tokens) is not None:
            unknown = f"the token usage of {connector}" if usage.unknown and not free else None
            self._end_if(f"--max-tokens {most}", unknown, str(self._tokens) if self._tokens >= most else None, usage)

    def end(self) -> None:
        """Stops the clock."""
        if self._timer is not None:
            self._timer.cancel()

    def _end_if(self, budget: str, unknown: str | None, used: str | None, usage: Usage) -> None:
        """Ends the run where something is `unknown`, so that the budget cannot be kept, or so much is `used`."""
        if unknown is not None:
            why = "it has no price: set options.price in the connector"
            why = "its response has no usable token counts" if usage.unknown else why
            reason = f"{budget} cannot be enforced: {unknown} is unknown, because {why}"
        elif used is not None:
            reason = f"{budget} is used up ({used})"
        else:
            return
        self.refusal = self.refusal or reason
        self._stop.request(reason, BUDGET_GRACE, spoils=unknown is not None, closes_models=True)
