"""The report of a run and its store on one disk, which gets full: no result is lost."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from command import Application, MakeApplication, eventually

from runner.record.saved import load
from runner.store.places import FILE
from runner.store.store import Store

FULL = Path("/dev/full")
WAITS = 't.log("x"); const data = new FS("data"); while (!data.Exists("/{}")) {{}}'
TESTS = "".join(f"export function Test{one}(t) {{ {WAITS.format(one)} }}\n" for one in "ABCD")


@pytest.fixture
def here(app: MakeApplication) -> Application:
    return app({"a_test.ts": TESTS, "/data/.keep": ""})


def open_files(path: Path) -> list[int]:
    """The descriptors of this process for a file."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # closed meanwhile
            found += [int(name)] if os.readlink(f"/proc/self/fd/{name}") == str(path) else []
    return found


def fill(path: Path) -> None:
    """The disk of an open file takes no more."""
    full = os.open(FULL, os.O_RDWR)
    for descriptor in eventually(lambda: open_files(path), f"{path} is open"):
        os.dup2(full, descriptor)
    os.close(full)


class Disk(Thread):
    """Lets tests end one after the other, and the disk get full meanwhile."""

    def __init__(self, here: Application, store_first: bool) -> None:
        super().__init__(daemon=True)
        self._data = here.root / "data"
        self._report, self._store = here.root / "r.jsonl", here.root / "store" / f"{FILE}-wal"
        self._store_first = store_first

    def run(self) -> None:
        self._end("A")
        self._wait_for("TestA")
        fill(self._store)
        if self._store_first:
            self._end("B")
            eventually(lambda: not open_files(FULL), "the store is closed")
            self._end("C")
            self._wait_for("TestC")
        fill(self._report)
        for test in "BCD":
            self._end(test)

    def _wait_for(self, test: str) -> None:
        """Until a test is in the report."""
        eventually(lambda: self._report.exists() and f'"id": "{test}"' in self._report.read_text(), test)

    def _end(self, test: str) -> None:
        (self._data / test).touch()


@pytest.mark.parametrize("store_first", [False, True])
def test_results_that_neither_has_are_elsewhere(here: Application, store_first: bool) -> None:
    disk = Disk(here, store_first)
    disk.start()
    run = here.run("-i", "scripts.demo.a", "-o", "r.jsonl", "--store", "store", "--timeout", "9s")
    disk.join()
    assert (run.code, run.stderr) == (3, "")
    assert "Error: Cannot write <app>/r.jsonl: No space left on device\n" in run.stdout
    (spare,) = map(Path, set(re.findall(r"\S+/yao-test-run-\S+\.jsonl", run.stdout)))
    named = f"yao-test --resume {'r.jsonl' if store_first else spare} --store <app>/store\n"
    assert f"Then add the run to the store: {named}" in run.stdout
    later = f"Error: The report r.jsonl does not have all results: they are in {spare}\n"
    assert (later in run.stdout) == store_first

    assert [result["id"] for result in load(spare).lines] == ["TestA", "TestB", "TestC", "TestD"]
    shutil.rmtree(here.root / "store")
    again = here.run("--resume", str(spare), "--store", "store")
    assert (again.code, again.stderr) == (0, "")
    assert "► [Test" not in again.stdout, "none of them runs again"
    with Store(here.root / "store") as store:
        assert [found.counts for found in store.runs()] == [{"passed": 4}]
    spare.unlink()
