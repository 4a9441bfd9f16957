"""Runs a program of this machine in a jail: it reads the system's own files, writes in one folder, and reaches no
network, no other process and no variable of the environment. The jail is put up by a process of its own, which then
becomes the program."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

from scripttest.process import SIGKILL
from scripttest.results import HostError, ScriptError
from scripttest.values import Value
from scripttest.walls import seccomp
from scripttest.walls.confinement import (
    EXECUTE,
    IN_FOLDER,
    READ_DIR,
    READ_FILE,
    WRITE_FILE,
    missing_landlock,
    missing_seccomp,
    restrict,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from typing import IO

SECONDS = 30
"""Time that a program may take, on the clock and of the processor."""
MOST_BYTES = 64 * 1024 * 1024
"""The largest size of one file that it writes, including its output."""
MOST_MEMORY = 4 * 1024 * 1024 * 1024
PLACES = ("/usr/local/bin", "/usr/bin", "/bin")
"""Where programs are looked for."""
_READ = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
SHOWN = 1_000_000
"""Bytes of each output that are kept."""
_ROOT = str(Path(__file__).parents[2])
_BOOTSTRAP = "import sys; sys.path.append(sys.argv.pop(1)); from scripttest.walls.jailed import main; main()"


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
    import subprocess
    import tempfile

    name = command[0]
    paths = [f"{place}/{name}" for place in PLACES]
    program = next((path for path in paths if "/" not in name and os.access(path, os.X_OK)), None)
    if program is None:
        raise ScriptError(f'exec: "{name}": executable file not found in {", ".join(PLACES)}')
    words = [sys.executable, "-I", "-S", "-c", _BOOTSTRAP, _ROOT, str(folder), program, *command[1:]]
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


def main() -> None:
    """Puts the jail up around this process, and becomes the program."""
    folder, program, *arguments = sys.argv[1:]
    os.chdir(folder)
    bounds = (
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, MOST_BYTES),
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_CORE, 0),
    )
    for bound, most in bounds:
        resource.setrlimit(bound, (most, most))
    reading = EXECUTE | READ_FILE | READ_DIR
    rules = [(path, reading if os.path.isdir(path) else READ_FILE) for path in _READ if os.path.exists(path)]
    rules += [(path, READ_FILE | WRITE_FILE) for path in _DEVICES if os.path.exists(path)]
    restrict([*rules, (folder, IN_FOLDER)])
    seccomp.give_up_privileges()
    seccomp.confine_program()
    os.execve(program, [os.path.basename(program), *arguments], {})


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends it with all that it has started: nothing in the jail can leave its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, SIGKILL)
    process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(SHOWN).decode("utf-8", errors="replace")
