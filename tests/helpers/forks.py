"""Commands that are forked from a process which has loaded their modules, so that they start at once.

`ForkServer` belongs to the tests; as a program, this file is that process, which all processes of a run of pytest share.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import TracebackType
from typing import BinaryIO, NoReturn, cast

NOT_LOADED = (
    "bindings.build",
    "bindings.node_modules",
    "runner.__main__",
    "runner.agents.mcp.guard",
    "runner.cluster",
    "runner.pytest_plugin",
    "scripttest.realm",
)
"""Modules that are programs of their own, run in workers, in Dask or in pytest."""
EVERYTHING = "yao-test and pytest"
REQUEST_SIZE = 1 << 17
"""Bytes of the longest command line with its environment."""
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group at the other end of a socket."""


class Forked:
    """A command that was forked, to be used like a `subprocess.Popen`."""

    def __init__(self, ended: int, stdout: BinaryIO | None, stderr: BinaryIO | None) -> None:
        """`ended` is a pipe that gives the process ID and later the exit code."""
        self._ended = os.fdopen(ended, "rb", buffering=0)
        self.stdout, self.stderr = stdout, stderr
        self.returncode: int | None = None
        self.pid = int(self._ended.read(32))

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for pipe in (self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()
        self.wait()

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the end; the exit code."""
        if self.returncode is None:
            with selectors.DefaultSelector() as ready:
                ready.register(self._ended, selectors.EVENT_READ)
                if not ready.select(timeout):
                    raise subprocess.TimeoutExpired([str(self.pid)], timeout or 0)
            self.returncode = int(self._ended.read(32))
            self._ended.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[bytes | None, bytes | None]:
        """Waits for the end; what it wrote to pipes."""
        end = None if timeout is None else time.monotonic() + timeout
        pieces: dict[BinaryIO, list[bytes]] = {pipe: [] for pipe in (self.stdout, self.stderr) if pipe is not None}
        with selectors.DefaultSelector() as ready:
            for pipe in pieces:
                ready.register(pipe, selectors.EVENT_READ)
            while ready.get_map():
                left = None if end is None else end - time.monotonic()
                found = ready.select(left)
                if not found and left is not None and left <= 0:
                    raise subprocess.TimeoutExpired([str(self.pid)], timeout or 0)
                for key, _ in found:
                    if piece := os.read(key.fd, 65536):
                        pieces[key.fileobj].append(piece)  # type: ignore[index]
                    else:
                        ready.unregister(key.fileobj)
        for pipe in pieces:
            pipe.close()
        self.wait(None if end is None else max(0, end - time.monotonic()))
        stdout, stderr = (None if pipe is None else b"".join(pieces[pipe]) for pipe in (self.stdout, self.stderr))
        return stdout, stderr

    def send_signal(self, number: int) -> None:
        """Sends a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Sends SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL."""
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """Starts commands, also for several threads at a time."""

    def __init__(self, address: str) -> None:
        """`address` is where a process listens that runs `serve`. Raises ConnectionRefusedError if there is none."""
        self._requests = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._requests.connect(address)
        except OSError:
            self._requests.close()
            raise
        self._requests.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * REQUEST_SIZE)
        atexit.register(self._requests.close)

    def start(
        self,
        arguments: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        *,
        program: str = "runner",
        stdin: int | BinaryIO = subprocess.DEVNULL,
        stdout: int | BinaryIO = subprocess.PIPE,
        stderr: int | BinaryIO = subprocess.PIPE,
        takes_terminal: bool = False,
    ) -> Forked:
        """Starts a command in a session of its own.

        Args:
            program: a name of `PROGRAMS`.
            stdin: as for `subprocess.Popen`, but no pipe; likewise `stdout` and `stderr`, which may be pipes.
            takes_terminal: whether the terminal that is its standard input is to control it.
        """
        request = json.dumps([program, list(arguments), str(directory), dict(environment), takes_terminal]).encode()
        pipes: list[BinaryIO | None] = []
        with ExitStack() as sent, ExitStack() as kept:

            def descriptor(given: int | BinaryIO, mode: int) -> int:
                if given == subprocess.DEVNULL:
                    opened = os.open(os.devnull, mode)
                    sent.callback(os.close, opened)
                    return opened
                return given if isinstance(given, int) else given.fileno()

            descriptors = [descriptor(stdin, os.O_RDONLY)]
            for given in (stdout, stderr):
                if given == subprocess.PIPE:
                    ours, theirs = os.pipe()
                    sent.callback(os.close, theirs)
                    pipes.append(kept.enter_context(os.fdopen(ours, "rb")))
                    descriptors.append(theirs)
                elif given == subprocess.STDOUT:
                    pipes.append(None)
                    descriptors.append(descriptors[-1])
                else:
                    pipes.append(None)
                    descriptors.append(descriptor(given, os.O_WRONLY))
            ended, status = os.pipe()
            sent.callback(os.close, status)
            socket.send_fds(self._requests, [request], [*descriptors, status])
            kept.pop_all()
        return Forked(ended, *pipes)

    def run(
        self, arguments: Sequence[str], directory: Path, environment: Mapping[str, str], patience: float
    ) -> tuple[int, bytes, bytes]:
        """The exit code, standard output and standard error of a command that has ended.

        Raises:
            TimeoutError: it took longer than `patience` seconds, and was killed.
        """
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            with self.start(arguments, directory, environment, stdout=stdout, stderr=stderr) as command:
                try:
                    code = command.wait(patience)
                except subprocess.TimeoutExpired:
                    os.killpg(command.pid, signal.SIGKILL)
                    raise TimeoutError(f"{arguments} did not end within {patience} s") from None
            stdout.seek(0)
            stderr.seek(0)
            return code, stdout.read(), stderr.read()


def address_of(load: str = EVERYTHING) -> str:
    """Where the process listens that has loaded that: for all processes of a run of pytest, the same."""
    return f"\0yao-test {_pytest_process()} {load}"


def _pytest_process() -> int:
    """The process of pytest that has started the others, or this one."""
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


@cache
def fork_server(load: str = EVERYTHING) -> ForkServer:
    """The one of this run of pytest that has loaded that, a name of `LOADED`; it ends with the run."""
    address = address_of(load)
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    while True:
        with suppress(ConnectionRefusedError):
            return ForkServer(address)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            try:
                listening.bind(address)
            except OSError:  # another process has done so, and is about to listen
                time.sleep(0.01)
                continue
            listening.listen()
            command = [sys.executable, __file__, load, str(_pytest_process())]
            # not by `subprocess`, which complains of what outlives it
            os.posix_spawn(
                command[0], command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, listening.fileno(), 0)]
            )


def serve(load: str, run: int) -> NoReturn:
    """Forks a command for each request, until a process has ended, the one of `run`. Standard input listens."""
    import gc

    gc.disable()
    LOADED[load]()
    gc.freeze()
    gc.enable()
    listening = socket.socket(fileno=0)
    the_end = os.pidfd_open(run)
    running: dict[int, tuple[int, int]] = {}  # pidfd → process ID, pipe for its exit code
    with selectors.DefaultSelector() as ready:
        ready.register(listening, selectors.EVENT_READ)
        ready.register(the_end, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fd == the_end:
                    os._exit(0)
                if key.fileobj is listening:
                    requests, _ = listening.accept()
                    if _user_of(requests) == os.getuid():
                        ready.register(requests, selectors.EVENT_READ)
                    else:
                        requests.close()
                    continue
                if key.fd in running:
                    pid, status = running.pop(key.fd)
                    ready.unregister(key.fd)
                    with suppress(BrokenPipeError):  # nobody waits for it any more
                        os.write(status, b"%-32d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                    os.close(key.fd)
                    os.close(status)
                    continue
                requests = cast(socket.socket, key.fileobj)
                request, descriptors, *_ = socket.recv_fds(requests, REQUEST_SIZE, 4)
                if not request:
                    ready.unregister(requests)
                    requests.close()
                    continue
                *streams, status = descriptors
                if not (pid := os.fork()):
                    become(request, streams)
                for stream in streams:
                    os.close(stream)
                os.write(status, b"%-32d" % pid)
                ended = os.pidfd_open(pid)
                running[ended] = (pid, status)
                ready.register(ended, selectors.EVENT_READ)


def _user_of(requests: socket.socket) -> int:
    """The user at the other end: anybody on this machine may connect."""
    peer = requests.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(peer)[1])


def load_all() -> None:
    """Loads what some command would load, all of it; and pytest, but no plugin: pytest wants to be the first who does."""
    import execnet  # noqa: F401
    import httpx  # noqa: F401
    import pytest  # noqa: F401

    import bindings
    import runner
    import scripttest

    packages = [bindings, runner, scripttest]
    for package in packages:
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(NOT_LOADED):
                loaded = import_module(module.name)
                packages += [loaded] if module.ispkg else []


def become(request: bytes, streams: list[int]) -> NoReturn:
    """Runs the command in this process, as a shell would have started it."""
    program, arguments, directory, environment, takes_terminal = json.loads(request)
    os.setsid()
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 256)
    if takes_terminal:
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ = _written(1, "strict")
    sys.stderr = sys.__stderr__ = _written(2, "backslashreplace")
    PROGRAMS[program](arguments)
    os._exit(0)


def _written(number: int, errors: str) -> io.TextIOWrapper:
    """A standard stream as Python opens it."""
    raw = os.fdopen(number, "wb", closefd=False)
    at_once = number == 2 or os.isatty(number)
    return io.TextIOWrapper(raw, "utf-8", errors, line_buffering=at_once)


def run_command(arguments: list[str]) -> None:
    """`yao-test` with these arguments."""
    sys.argv[:] = ["yao-test", *arguments]
    from runner.__main__ import main

    main()


def run_pytest(arguments: list[str]) -> None:
    """`pytest` with these arguments."""
    import pytest

    sys.argv[:] = ["pytest", *arguments]
    code = pytest.main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def load_mcp() -> None:
    """Loads the SDK of MCP."""
    import mcp.server.fastmcp  # noqa: F401
    import uvicorn  # noqa: F401


def run_file(arguments: list[str]) -> None:
    """A Python file with arguments."""
    sys.argv[:] = arguments
    runpy.run_path(arguments[0], run_name="__main__")


def run_code(arguments: list[str]) -> None:
    """Python code, under a name for the system."""
    name, code = arguments
    Path("/proc/self/comm").write_text(name)
    sys.argv[:] = ["-c"]
    exec(code, {"__name__": "__main__"})


LOADED: dict[str, Callable[[], None]] = {EVERYTHING: load_all, "the SDK of MCP": load_mcp}
"""What a process loads before it forks commands."""
PROGRAMS: dict[str, Callable[[list[str]], None]] = {
    "runner": run_command,
    "pytest": run_pytest,
    "file": run_file,
    "code": run_code,
}
"""What commands run."""


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
