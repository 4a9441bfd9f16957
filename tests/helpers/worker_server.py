"""A program that has loaded what a worker loads, with the same flags, and forks workers; see `worker_forks`."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

REQUEST_SIZE = 1 << 16
DESCRIPTORS = 5
"""Standard input, output and error, the lifeline, and a pipe for the process ID and the exit code."""


def serve() -> NoReturn:
    """Forks a worker for each request on standard input: its arguments and code, with its descriptors."""
    import _socket
    from array import array
    from ast import literal_eval
    from select import POLLIN, poll

    import scripttest.realm.counting
    import scripttest.realm.worker
    from scripttest.realm.engine import ScriptParts
    from scripttest.realm.quickjs import Interface, interface

    class Compiled(ScriptParts):
        """Has the bytecode that a worker makes after its first realms: most workers of tests have fewer."""

        def __init__(self, folder: str) -> None:
            super().__init__(folder)
            if interface() is not None and self._compiles:
                engine = Interface()  # of its own, since it belongs to this thread
                for name in self._read:
                    self.compiled(name, engine, "$dispatch=" if name == "core" else "")
                self._left = 0

        def with_counters(self, _: str, counters: scripttest.realm.counting.Counters | None = None) -> ScriptParts:
            """Stands for `ScriptParts` in a worker."""
            self.counters = counters
            return self

    made: dict[str, Compiled] = {}
    running: dict[int, tuple[int, int]] = {}  # pidfd → process ID, pipe for its exit code
    requests = _socket.socket(fileno=0)
    ready = poll()
    ready.register(0, POLLIN)
    while True:
        for descriptor, _ in ready.poll():
            if descriptor:
                ready.unregister(descriptor)
                tell_end(descriptor, *running.pop(descriptor))
                continue
            request, extra, _, _ = requests.recvmsg(REQUEST_SIZE, _socket.CMSG_SPACE(DESCRIPTORS * 4))
            if not request:
                os._exit(0)
            *streams, status = array("i", extra[0][2])
            arguments, code = literal_eval(request.decode())
            folder = arguments[0]
            made[folder] = parts = made.get(folder) or Compiled(folder)
            vars(scripttest.realm.worker)["ScriptParts"] = parts.with_counters
            if not (pid := os.fork()):
                become(arguments, code, streams)
            for stream in streams:
                os.close(stream)
            os.write(status, b"%-16d" % pid)
            ended = os.pidfd_open(pid)
            running[ended] = (pid, status)
            ready.register(ended, POLLIN)


def tell_end(ended: int, pid: int, status: int) -> None:
    """Sends the exit code of a worker that has ended."""
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        os.write(status, b"%-16d" % code)
    except BrokenPipeError:
        return  # nobody waits for it any more
    finally:
        os.close(ended)
        os.close(status)


def become(arguments: list[str], code: str, streams: list[int]) -> NoReturn:
    """Runs the worker in this process, in a session of its own."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.argv[:] = ["-c", *arguments]
    try:
        exec(code, {"__name__": "__main__"})
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    sys.path += sys.argv[1:]
    serve()
