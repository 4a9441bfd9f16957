"""Entry point of `yao-test`, and of `python -m runner`: quiet from its first line on when a signal ends it."""

from __future__ import annotations

import gc
import os

try:
    import signal

    from runner.stopping import leave
except KeyboardInterrupt:
    os._exit(130)


def main() -> None:
    """Runs the command and ends the process. Until a run has begun, Ctrl-C ends it at once."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, leave)
    gc.disable()  # while modules are loaded there is nothing to collect; a run turns it on
    from runner.cli import main as run

    run()


if __name__ == "__main__":
    main()
