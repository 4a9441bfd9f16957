"""The file of the `.jsonl` report: which process may write it, and what its end says."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from runner.errors import ConfigurationError
from runner.record.writing import LineFile

HOLDER = """\
import pathlib, sys
from runner.record.writing import LineFile
file = LineFile(pathlib.Path(sys.argv[1]), keep=True)
if sys.argv[2:]:
    file.replace(sys.argv[2:])
print("held", flush=True)
sys.stdin.read()
"""


def holder(path: Path, *lines: str) -> subprocess.Popen[str]:
    """A process that has the file open, with these lines in it if there are any."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), *lines], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.parametrize("lines", [(), ("a", "b")], ids=["opened", "replaced"])
def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path: Path, lines: tuple[str, ...]) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("old\n")
    with holder(path, *lines) as process:
        with pytest.raises(ConfigurationError) as refused:
            LineFile(path)
        assert refused.value.message == f"Cannot write {path}: another yao-test is writing it"
        process.kill()
    assert path.read_text() == ("a\nb\n" if lines else "old\n")
    file = LineFile(path, keep=True)
    file.write("new")
    file.close()
    assert path.read_text() == ("a\nb\nnew\n" if lines else "old\nnew\n")
    assert os.listdir(tmp_path) == ["r.jsonl"]


def test_what_a_killed_run_left_of_a_replacement_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    (tmp_path / ".yao-test.r.jsonl").write_text("half of somethi")
    file = LineFile(path)
    file.replace(["a"])
    file.close()
    assert (os.listdir(tmp_path), path.read_text()) == (["r.jsonl"], "a\n")


def test_a_disk_that_does_not_keep_the_lines_is_said_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(_: int) -> None:
        raise OSError(5, "Input/output error")

    file = LineFile(tmp_path / "r.jsonl")
    file.write("line")
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="Input/output error"):
        file.close()


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "r.jsonl"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    file = LineFile(pipe)
    file.write("line")
    file.close()
    assert os.read(reading, 100) == b"line\n"
    os.close(reading)


def test_a_line_that_the_disk_does_not_take_whole_is_taken_back(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "r.jsonl")
    file.write("first")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            file.write(["x" * 80_000, "y" * 80_000])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.is_broken
    file.close()
    assert (tmp_path / "r.jsonl").read_text() == "first\n"
