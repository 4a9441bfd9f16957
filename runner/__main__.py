"""Entry point of `yao-test`, and of `python -m runner`: quiet from its first line on when a signal ends it.

That line comes before all imports that take time. Before it, in some 10 ms, Python itself starts, and an interrupt
shows what Python has to say of that."""

import os
import signal
import sys

if sys.platform not in ("linux", "darwin"):  # before modules that other systems cannot load
    sys.stderr.write(f"Error: yao-test runs on Linux, on macOS, and on Windows within WSL, not on {sys.platform}.\n")
    sys.exit(2)

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))

import gc

from scripttest import import_quickly


def main() -> None:
    """Runs the command and ends the process. Until a run has begun, Ctrl-C ends it at once."""
    modules = import_quickly()
    from runner.execution.stopping import leave

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, leave)
    gc.disable()  # while modules are loaded there is nothing to collect; a run turns it on
    from runner.commands import start_worker

    start_worker(sys.argv[1:])
    from runner.commands.main import main as run

    code = run()
    if modules is not None:
        modules.save()
    os._exit(code)


if __name__ == "__main__":
    main()
