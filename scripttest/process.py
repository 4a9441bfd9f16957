"""Child processes with pipes, started without the `subprocess` module, whose import costs more than the child; and
waiting for them."""

from __future__ import annotations

import _thread
import os
import select
from collections.abc import Callable

from scripttest.values import Value


class Ending(Value):
    """How a process ended."""

    text: str
    """For people, after the name of the process: `exited with code 3: what it wrote to standard error`."""
    was_killed: bool
    """Whether it was killed from outside, for example because the system ran out of memory."""


class Child(Value):
    """A running child process. The descriptors are the parent's ends, closed by `end`."""

    pid: int
    stdin: int
    stdout: int
    stderr: int
    lifeline: int
    """Open in the parent; the child sees its end close when the parent has ended."""

    def kill(self) -> None:
        """Ends the process at once, if it still runs."""
        try:
            os.kill(self.pid, SIGKILL)
        except ProcessLookupError:
            return

    @property
    def has_ended(self) -> bool:
        """Whether a child that has nothing to say has closed its output, or says something nevertheless."""
        output = select.poll()
        output.register(self.stdout, select.POLLIN)
        return bool(output.poll(0))

    def end(self) -> Ending:
        """Kills it if it still runs, waits for its end, and closes the parent's ends. To be called once."""
        self.kill()
        code = self._exit_code()
        os.set_blocking(self.stderr, False)
        try:
            said = os.read(self.stderr, STDERR_LIMIT).decode(errors="replace").strip()
        except BlockingIOError:
            said = ""
        for descriptor in (self.stdin, self.stdout, self.stderr, self.lifeline):
            os.close(descriptor)
        if code < 0:
            from signal import Signals

            text = f"was killed by signal {-code} ({Signals(-code).name})"
        else:
            text = f"exited with code {code}"
        return Ending(text=f"{text}: {said}" if said else text, was_killed=code == -SIGKILL)

    def _exit_code(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


SIGKILL = 9
"""As everywhere; the module `signal` takes longer to load than a worker to die."""
STDERR_LIMIT = 2000
"""Bytes of standard error that are kept of a process that ended."""
LIFELINE = 3
"""The descriptor on which a child finds its lifeline."""


def spawn(
    argv: list[str],
    environment: dict[str, str],
    confine: Callable[[], None] | None = None,
    address_space: int = 0,
    processor_seconds: int = 0,
) -> Child:
    """Starts a program in its own session, so that Ctrl-C reaches only the parent, and it has no terminal. It
    inherits its pipes and no other descriptor. Raises OSError. `confine`: called in a thread that starts the program
    and then ends. Rights that it takes from this thread are missing in the program too. `address_space`: most bytes
    that the program may map, where the system supports such a limit; 0: no limit. `processor_seconds`: most
    processor time, where the system supports such a limit; 0: no limit."""
    theirs_in, stdin = os.pipe()
    stdout, theirs_out = os.pipe()
    stderr, theirs_err = os.pipe()
    theirs_life, lifeline = os.pipe()
    theirs = [theirs_in, theirs_out, theirs_err, theirs_life]
    # Moved out of the way first, so that no dup2 below overwrites a descriptor that is still to be copied.
    high = [_above(descriptor, 16) for descriptor in theirs]
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, target) for target, descriptor in enumerate(high)]
    _keep_inherited()

    def start() -> int:
        if confine is not None:
            confine()
        try:
            return os.posix_spawn(argv[0], argv, environment, file_actions=actions, setsid=True)
        except NotImplementedError:  # a system that cannot make a session on the way
            return os.posix_spawn(argv[0], argv, environment, file_actions=actions, setpgroup=0)

    try:
        pid = start() if confine is None else _in_a_thread(start)
    except OSError:
        for descriptor in (stdin, stdout, stderr, lifeline):
            os.close(descriptor)
        raise
    finally:
        for descriptor in {*theirs, *high}:
            os.close(descriptor)
    for name, most in (("RLIMIT_AS", address_space), ("RLIMIT_CPU", processor_seconds)):
        if most:
            _bound(pid, name, most)
    return Child(pid=pid, stdin=stdin, stdout=stdout, stderr=stderr, lifeline=lifeline)


def _in_a_thread(start: Callable[[], int]) -> int:
    """Waits for what a thread that ends with it makes of it. Raises OSError."""
    outcome: list[int | BaseException] = []
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        try:
            outcome.append(start())
        except BaseException as error:
            outcome.append(error)
        done.release()

    _thread.start_new_thread(run, ())
    done.acquire()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _keep_inherited() -> None:
    """Hands on no descriptor that this process inherited, but the three standard ones. Closing them on the way to a
    program is not possible for one beyond a limit (`ulimit -n`) that was lowered after it had been opened."""
    for name in os.listdir("/dev/fd"):
        try:
            if int(name) > 2 and os.get_inheritable(int(name)):
                os.set_inheritable(int(name), False)
        except OSError:  # the one of the folder itself, and what another thread has closed
            continue


def _bound(pid: int, name: str, value: int) -> None:
    import resource

    limit = getattr(resource, "prlimit", None)
    if limit is not None:
        number = getattr(resource, name)
        _, most = limit(pid, number)
        bound = value if most == resource.RLIM_INFINITY else min(value, most)
        limit(pid, number, (bound, bound))


def _above(descriptor: int, least: int) -> int:
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, least)


class PollLoop:
    """Waits for descriptors of child processes, for those who have no event loop. Belongs to one thread; implements
    `scripttest.compile.compiler.Watcher`."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._ready: dict[int, Callable[[], None]] = {}

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        """Calls `ready` in `wait` whenever there is something to read."""
        self._ready[descriptor] = ready
        self._poll.register(descriptor, select.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Forgets a descriptor, which is still open."""
        self._poll.unregister(descriptor)
        del self._ready[descriptor]

    def wait(self, seconds: float | None) -> None:
        """Waits for something to read, at most so long; None: however long it takes."""
        heard = self._poll.poll(None if seconds is None else max(0.0, seconds) * 1000 + 1)
        for descriptor, ready in [(descriptor, self._ready[descriptor]) for descriptor, _ in heard]:
            if self._ready.get(descriptor) is ready:  # it was not closed meanwhile, so its number was not reused
                ready()
