"""Child processes with pipes, started without the `subprocess` module, whose import costs more than the child."""

from __future__ import annotations

import os

from scripttest.values import Value


class Ending(Value):
    """How a process ended."""

    text: str
    """For people, after the name of the process: `exited with code 3: what it wrote to standard error`."""
    was_killed: bool
    """Whether somebody killed it, such as a system that ran out of memory."""


class Child(Value):
    """A running child process. The descriptors are the parent's ends, closed by `end`."""

    pid: int
    stdin: int
    stdout: int
    stderr: int
    lifeline: int
    """Held open by the parent; the child sees its end close when the parent is gone."""

    def kill(self) -> None:
        """Ends the process at once, if it still runs."""
        try:
            os.kill(self.pid, SIGKILL)
        except ProcessLookupError:
            return

    @property
    def has_ended(self) -> bool:
        """Whether a child that has nothing to say has closed its output, or says something nevertheless."""
        from select import POLLIN, poll

        output = poll()
        output.register(self.stdout, POLLIN)
        return bool(output.poll(0))

    def end(self) -> Ending:
        """Kills it if it still runs, waits for its end, and closes the parent's ends. To be called once."""
        self.kill()
        _, status = os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
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


SIGKILL = 9
"""As everywhere; the module `signal` takes longer to load than a worker to die."""
STDERR_LIMIT = 2000
"""Bytes of standard error that are kept of a process that ended."""
LIFELINE = 3
"""The descriptor on which a child finds its lifeline."""


def spawn(argv: list[str], environment: dict[str, str]) -> Child:
    """Starts a program in a process group of its own, so that Ctrl-C reaches only the parent. Raises OSError."""
    theirs_in, stdin = os.pipe()
    stdout, theirs_out = os.pipe()
    stderr, theirs_err = os.pipe()
    theirs_life, lifeline = os.pipe()
    theirs = [theirs_in, theirs_out, theirs_err, theirs_life]
    # Moved out of the way first, so that no dup2 below overwrites a descriptor that is still to be copied.
    high = [_above(descriptor, 16) for descriptor in theirs]
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, target) for target, descriptor in enumerate(high)]
    try:
        pid = os.posix_spawn(argv[0], argv, environment, file_actions=actions, setpgroup=0)
    except OSError:
        for descriptor in (stdin, stdout, stderr, lifeline):
            os.close(descriptor)
        raise
    finally:
        for descriptor in {*theirs, *high}:
            os.close(descriptor)
    return Child(pid=pid, stdin=stdin, stdout=stdout, stderr=stderr, lifeline=lifeline)


def _above(descriptor: int, least: int) -> int:
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, least)
