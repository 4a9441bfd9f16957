"""Programs in a jail, from outside; `jail.py` is what runs in the process that becomes one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from scripttest.results import HostError, ScriptError
from scripttest.values import Value
from scripttest.walls.confinement import missing_landlock, missing_seccomp
from scripttest.walls.jail import PLACES, SECONDS

JAIL = Path(__file__).with_name("jail.py")
SHOWN = 1_000_000
"""Bytes of each output that are kept."""


class ProgramResult(Value):
    """What a program has written, and how it ended."""

    stdout: str
    stderr: str
    exit_code: int
    """As a shell has it: 128 and the number of a signal that ended it."""


def run_jailed(command: list[str], folder: Path) -> ProgramResult:
    """Runs a program of this machine, which may write in a folder; its files are all that it has to work with. Blocks.
    Raises ScriptError when there is no such program, or it takes too long, and HostError when this machine has no walls
    for it."""
    missing = missing_landlock() or missing_seccomp()
    if missing:
        raise HostError(f"Cannot run {command[0]} in a jail: {missing}")
    name = command[0]
    paths = [f"{place}/{name}" for place in PLACES]
    program = next((path for path in paths if "/" not in name and os.access(path, os.X_OK)), None)
    if program is None:
        raise ScriptError(f'exec: "{name}": executable file not found in {", ".join(PLACES)}')
    words = [sys.executable, "-I", "-S", str(JAIL), str(folder), program, *command[1:]]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={}, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise ScriptError(f'exec: "{name}": {error}') from error
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise ScriptError(f'exec: "{name}": it did not end within {SECONDS}s') from None
        finally:
            _end(process)
        return ProgramResult(stdout=_text(out), stderr=_text(err), exit_code=code if code >= 0 else 128 - code)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends it with all that it has started: nothing in the jail can leave its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(SHOWN).decode("utf-8", errors="replace")
