"""The whole command in the process of the tests: from its arguments to its exit code and what it wrote."""

from __future__ import annotations

import os
import pty
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import TextIO

import pytest
from kept_compilers import kept_compilers
from worker_forks import forked_workers

from runner.commands.main import run_command
from runner.environment import environment_of
from scripttest import hide_environment
from scripttest.shortcuts import PLAIN

INHERITED = ("PYTHON", "LC_", "TZ", "SSL_", PLAIN)
"""How variables begin that do not reach the command through its `Environment`."""

hide_environment()


def run_in_process(
    arguments: Sequence[str], directory: Path, variables: Mapping[str, str], patience: float
) -> tuple[int, bytes, bytes]:
    """The exit code, standard output and standard error of a command line. For the main thread.
    The test fails when it takes longer than `patience` seconds.
    """
    stdout, stderr = BytesIO(), BytesIO()
    streams = [TextIOWrapper(stream, "utf-8", write_through=True) for stream in (stdout, stderr)]
    return _code(arguments, directory, variables, patience, *streams), stdout.getvalue(), stderr.getvalue()


def run_on_terminal(
    arguments: Sequence[str], directory: Path, variables: Mapping[str, str], patience: float
) -> tuple[int, bytes]:
    """The same with a terminal: the exit code, and what the terminal gets."""
    leader, follower = pty.openpty()
    pieces: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # when the other end is closed
            while piece := os.read(leader, 1 << 16):
                pieces.append(piece)

    reader = Thread(target=read, daemon=True)
    reader.start()
    try:
        with open(follower, "w", encoding="utf-8", newline="") as stream:
            code = _code(arguments, directory, variables, patience, stream, stream)
    finally:
        reader.join(patience)
        os.close(leader)
    return code, b"".join(pieces)


def _code(
    arguments: Sequence[str],
    directory: Path,
    variables: Mapping[str, str],
    patience: float,
    stdout: TextIO,
    stderr: TextIO,
) -> int:
    inherited = [name for name in variables if name.startswith(INHERITED)]
    assert not inherited, f"{inherited} are read when a process starts: use Application.fork or spawn"
    environment = environment_of(directory, dict(variables), stdout, stderr)
    with _bounded(patience, f"{arguments} did not end within {patience} s"), forked_workers(), kept_compilers():
        return run_command(arguments, environment)


@contextmanager
def _bounded(seconds: float, message: str) -> Iterator[None]:
    def late(_: int, __: FrameType | None) -> None:
        pytest.fail(message)

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
