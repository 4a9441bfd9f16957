"""The process of a command that a server runs.

    python -m runner.mcp_server.command DESCRIPTOR [ARGUMENT ...]

`DESCRIPTOR` is a socket of the server. Here the command says what it spends on real models, a line for each of their
calls: `TOKENS COST`, in US dollars. When the other end closes, the server is gone, however it ended; then the command
is interrupted, and after `GRACE` seconds killed with all that it has started.
"""

import os
import signal
import sys
import time
from contextlib import suppress
from runpy import run_module
from threading import Thread

from runner.execution import stopping

GRACE = 4
"""Seconds. After an interrupt, running tests have two."""


def _end_with(server: int) -> None:
    with suppress(OSError):
        while os.read(server, 1):
            pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(GRACE)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    descriptor = int(sys.argv.pop(1))
    os.set_inheritable(descriptor, False)
    Thread(target=_end_with, args=(descriptor,), daemon=True).start()
    stopping.on_spent = lambda tokens, cost: os.write(descriptor, f"{tokens} {cost}\n".encode())
    run_module("runner", run_name="__main__", alter_sys=True)
