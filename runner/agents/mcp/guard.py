"""A program that runs an MCP server over stdio and leaves no process behind.

    python -I -S guard.py LONGEST_LINE COMMAND [ARGUMENT ...]

The SDK's stdio client starts this program instead of the server, because without it the client

- waits forever if a server has died but one of its children still holds its output open,
- leaves the children of a server running if the server itself ends in time,
- keeps a line of any length in memory,
- and does not say how the server ended.

So this program passes on the input and the output, without knowing the protocol. The server runs in its own session.
When the input ends, because the connection is closed or the command has died, the input of the server is closed too.
The server has `GRACE` seconds to end, and as many again after SIGTERM. However the server ends, everything that is left
of its session is killed.

At its own end, this program writes to stderr how the server ended, in a line that is empty if there is nothing to say,
and then the last lines that the server wrote to stderr."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Thread

GRACE = 1.5
"""Seconds. The SDK kills this program 4 seconds after it has closed the input: by then all must be done."""
JOIN = 0.4
SHOWN_LINES = 10
SHOWN_BYTES = 4000


class Guard:
    """A running server. Starting it raises OSError."""

    def __init__(self, command: list[str], longest_line: int) -> None:
        pipe = subprocess.PIPE
        self._server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        self._longest_line = longest_line
        self._reason = ""
        self._is_closing = False
        self._errors = b""

    def run(self) -> str:
        """Waits until the server and all its children have ended. Returns how it ended and what it wrote."""
        Thread(target=self._pass_input, daemon=True).start()
        readers = [Thread(target=self._pass_output, daemon=True), Thread(target=self._keep_errors, daemon=True)]
        for reader in readers:
            reader.start()
        code = self._server.wait()
        self._signal(signal.SIGKILL)
        for reader in readers:
            reader.join(JOIN)
        if code and not self._reason and not self._is_closing:
            self._reason = f"it ended with exit code {code}" if code > 0 else f"it ended by signal {-code}"
        lines = self._errors.decode(errors="replace").rstrip().splitlines()[-SHOWN_LINES:]
        return "\n".join([self._reason, *lines])

    def _pass_input(self) -> None:
        assert self._server.stdin
        target = self._server.stdin.fileno()
        while data := os.read(0, 65536):
            with suppress(OSError):  # the server reads no more; its end says why
                _write(target, data)
        self._is_closing = True
        self._server.stdin.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                self._server.wait(GRACE)
            except subprocess.TimeoutExpired:
                self._signal(number)

    def _pass_output(self) -> None:
        assert self._server.stdout
        length = 0
        while data := os.read(self._server.stdout.fileno(), 65536):
            end = data.rfind(b"\n")
            length = len(data) - end - 1 if end >= 0 else length + len(data)
            if length > self._longest_line:
                self._reason = f"it wrote a line of more than {self._longest_line >> 20} MB"
                self._signal(signal.SIGKILL)
                return
            try:
                _write(1, data)
            except OSError:
                return  # nobody reads any more

    def _keep_errors(self) -> None:
        assert self._server.stderr
        while data := os.read(self._server.stderr.fileno(), 65536):
            self._errors = (self._errors + data)[-SHOWN_BYTES:]

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):  # all have ended
            os.killpg(self._server.pid, number)


def main(longest_line: str, *command: str) -> None:
    """Runs the command; see the module."""
    signal.signal(signal.SIGTERM, lambda *_: None)  # the SDK's; the end of the input came before it
    try:
        said = Guard(list(command), int(longest_line)).run()
    except FileNotFoundError as error:
        said = f"command not found: {error.filename}"
    except OSError as error:
        said = str(error)
    _write(2, said.encode(errors="replace"))
    os._exit(0)


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]


if __name__ == "__main__":
    main(*sys.argv[1:])
