"""What grows with the size: exits with 1 where twice the size takes more than 2.4 times the work.

    .venv/bin/python tests/bench/growth.py [--only modules,runs,history,view,answer] [--rounds 3]

| part | size | work |
| --- | --- | --- |
| modules | 400 and 800 test modules, with a `.jsonl` report | CPU time of the command with its processes |
| runs | one case 200 and 400 times (`--runs`) | the same |
| history | `yao-test history` over 1000 and 2000 tests in 100 runs | the same, and peak memory |
| view | the first `/api/tests` of five readers at once, over 1000 and 2000 tests in 200 runs, and the next one | CPU time of the server |
| answer | an answer of 10 and of 20 MB, of which an assertion fails, with a `.jsonl` report | peak memory of the command |

What a run of the least size takes is subtracted from runs of the command; the figure is the lowest of the rounds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from agents import YAO_TEST, Server, Usage, application, measure
from stores import keep_runs

from runner.view.page_actions import PageActions
from runner.view.reruns import Reruns
from runner.view.runs import StoredRuns

MOST = 2.4
READERS = 5
RUNS_OF_HISTORY, RUNS_OF_VIEW = 100, 200
TESTS = (1000, 2000)
MODULES = (400, 800)
REPEATS = (200, 400)
MEGABYTES = (10, 20)


class Growth:
    """The work for two sizes, and what it is."""

    def __init__(self, what: str, unit: str, *works: float, base: float = 0.0) -> None:
        self.what = what
        self.unit = unit
        self.works = works
        self.ratio = (works[1] - base) / (works[0] - base)

    def row(self) -> str:
        """A row of the table."""
        one, other = (f"{work:.2f} {self.unit}" for work in self.works)
        return f"| {self.what} | {one} | {other} | {self.ratio:.2f} {'' if self.is_fine else '**more than 2.4**'} |"

    @property
    def is_fine(self) -> bool:
        """Whether it grows with the size."""
        return self.ratio <= MOST


def modules(rounds: int) -> list[Growth]:
    """Test modules of two tests each."""

    def taken(count: int) -> float:
        with TemporaryDirectory() as name:
            folder = Path(name)
            source = folder / "assistants/m/src"
            source.mkdir(parents=True)
            (folder / "assistants/m/package.yao").write_text("{}")
            for number in range(count):
                tests = [f"export function Test{k}(t: any) {{ t.assert.Equal({number}, {number}); }}\n" for k in "AB"]
                (source / f"part{number}_test.ts").write_text("".join(tests))
            return _cpu(folder, ["-i", "scripts.m", "-q", "-o", "report.jsonl"], rounds)

    return [Growth("modules", "s", *map(taken, MODULES), base=taken(1))]


def runs(rounds: int) -> list[Growth]:
    """One case, many times."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        cases = application(folder, "http://127.0.0.1:9", 1)
        (folder / "assistants/bench/replies.yml").write_text("- reply: the limit is 60\n")

        def taken(count: int) -> float:
            words = ["-i", str(cases), "-c", "scripted", "-q", "--runs", str(count), "-o", "report.jsonl"]
            return _cpu(folder, words, rounds)

        return [Growth("runs of one case", "s", *map(taken, REPEATS), base=taken(1))]


def history(rounds: int) -> list[Growth]:
    """The history of all tests."""
    used: list[Usage] = []
    for tests in (1, *TESTS):
        with TemporaryDirectory() as name:
            folder = Path(name)
            keep_runs(folder, RUNS_OF_HISTORY, tests)
            used.append(_least(folder, ["history", "--store", str(folder)], rounds))
    base, *both = used
    return [
        Growth("history", "s", *(one.cpu for one in both), base=base.cpu),
        Growth("history, peak", "MB", *(one.peak for one in both)),
    ]


def view(rounds: int) -> list[Growth]:
    """The list of tests, as five pages ask for it."""
    first, next = [], []
    for tests in TESTS:
        with TemporaryDirectory() as name:
            folder = Path(name)
            keep_runs(folder, RUNS_OF_VIEW, tests)
            found = [_asked(folder, tests) for _ in range(rounds)]
            first.append(min(one for one, _ in found))
            next.append(min(other for _, other in found))
    return [Growth("view, the first answer to five", "s", *first), Growth("view, the next one", "s", *next)]


def _asked(folder: Path, tests: int) -> tuple[float, float]:
    with closing(StoredRuns(folder, None, str)) as pages, ThreadPoolExecutor(READERS) as readers:
        actions = PageActions(pages, Reruns({}), "", str)

        def all_ask() -> float:
            begun = time.process_time()
            answers = [readers.submit(actions.tests) for _ in range(READERS)]
            assert all(len(answer.result()["tests"]) == tests for answer in answers)
            return time.process_time() - begun

        return all_ask(), all_ask()


def answer(rounds: int) -> list[Growth]:
    """A long answer, which is not what the case expects."""

    def taken(megabytes: int) -> float:
        with TemporaryDirectory() as name:
            folder = Path(name)
            server = Server(0, megabytes << 20)
            cases = application(folder, server.url, 1)
            case = json.loads(cases.read_text()) | {"assert": [{"type": "equals", "value": "60"}]}
            cases.write_text(json.dumps(case))
            words = ["-i", str(cases), "-q", "-o", "report.jsonl"]
            peak = min(measure([*YAO_TEST, *words], folder, code=1).peak for _ in range(rounds))
            server.close()
            return peak

    return [Growth("an answer, peak", "MB", *map(taken, MEGABYTES))]


def _cpu(folder: Path, words: Sequence[str], rounds: int) -> float:
    return _least(folder, words, rounds).cpu


def _least(folder: Path, words: Sequence[str], rounds: int) -> Usage:
    return min((measure([*YAO_TEST, *words], folder) for _ in range(rounds)), key=lambda usage: usage.cpu)


PARTS: dict[str, Callable[[int], list[Growth]]] = {
    "modules": modules,
    "runs": runs,
    "history": history,
    "view": view,
    "answer": answer,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print("| what | once | twice | ratio |\n| --- | --- | --- | --- |")
    found = []
    for part in given.only.split(","):
        for one in PARTS[part](given.rounds):
            found.append(one)
            print(one.row(), flush=True)
    return 0 if all(one.is_fine for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
