"""Documents that are written whole: a reader sees the old one or the new one, and a killed run leaves nothing for good."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from runner.record.writing import open_current
from runner.reporters.document import write_whole

KILLED = """
import os, sys
from pathlib import Path
from runner.reporters.document import write_whole
os.replace = lambda *_: os.kill(os.getpid(), 9)
write_whole(Path(sys.argv[1]), "half of it" * 1000)
"""


@pytest.mark.parametrize("name", ["r.html", "\u00fc" * 120 + ".html"], ids=["short", "as long as can be"])
def test_what_a_killed_run_left_is_gone_after_the_next(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("old")
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert (len(os.listdir(tmp_path)), path.read_text()) == (2, "old")

    write_whole(path, "new")

    assert (os.listdir(tmp_path), path.read_text()) == ([name], "new")


def test_two_writers_of_one_file_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    part = tmp_path / ".yao-test.r.html"
    first = open_current(part)
    second = Thread(target=write_whole, args=(path, "second"))
    second.start()
    first.write(b"first")
    os.replace(part, path)
    assert path.read_text() == "first"
    first.close()
    second.join()

    assert (os.listdir(tmp_path), path.read_text()) == (["r.html"], "second")


def test_what_could_not_be_written_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space left on device") as raised:
            write_whole(path, "new")
    assert (raised.value.filename, os.listdir(tmp_path), path.read_text()) == (str(path), ["r.html"], "old")
