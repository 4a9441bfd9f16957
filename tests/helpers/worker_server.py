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
    requests = _socket.socket(fileno=0)
    while True:
        request, extra, _, _ = requests.recvmsg(REQUEST_SIZE, _socket.CMSG_SPACE(DESCRIPTORS * 4))
        if not request:
            os._exit(0)
        descriptors = array("i", extra[0][2])
        arguments, code = literal_eval(request.decode())
        folder = arguments[0]
        made[folder] = parts = made.get(folder) or Compiled(folder)
        vars(scripttest.realm.worker)["ScriptParts"] = parts.with_counters
        if not os.fork():
            watch(arguments, code, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:  # those that have ended
                pass
        except ChildProcessError:
            continue


def watch(arguments: list[str], code: str, *descriptors: int) -> NoReturn:
    """Forks the worker. Sends its process ID, and later its exit code."""
    *streams, status = descriptors
    pid = os.fork()
    if not pid:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        become(arguments, code)
    for stream in streams:
        os.close(stream)
    os.write(status, b"%-16d" % pid)
    os.write(status, b"%-16d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def become(arguments: list[str], code: str) -> NoReturn:
    """Runs the worker in this process."""
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
