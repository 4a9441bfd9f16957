"""What a journal of model calls does when its file cannot grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from connector_bench import Bench, asks

from runner.agents.chat import Origin
from runner.answers.journal import Journal, journal_beside
from runner.connectors.load import Connectors
from runner.record.writing import LineFile
from scripttest import TestKey

CASE = Origin(suite="suite", case="case")


class Kept:
    """Runs that share a journal."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.path = journal_beside(bench.root / "r.jsonl")
        self.warnings: list[str] = []
        self.opened: list[Journal] = []

    def open(self, goes_on: bool = True, limit: int = 100_000, file: Path | None = None) -> Journal:
        def opened(path: Path) -> LineFile:
            return LineFile(file or path, keep=True)

        for journal in self.opened:
            journal.close(complete=False)
        journal = Journal(self.path, opened, self.bench.root, str, self.warnings.append, goes_on, limit)
        self.opened.append(journal)
        return journal

    def ask(self, journal: Journal, *texts: str, origin: Origin = CASE) -> list[bool]:
        """For each text, whether the model was asked."""

        async def work(connectors: Connectors) -> list[bool]:
            return [not (await journal.complete(origin, "test", asks(text), connectors)).journaled for text in texts]

        self.bench.write()
        return self.bench.run(work)


@pytest.fixture
def kept(bench: Bench) -> Iterator[Kept]:
    kept = Kept(bench)
    yield kept
    for journal in kept.opened:
        journal.close(complete=False)


def test_a_journal_stands_beside_its_report() -> None:
    assert journal_beside(Path("/a/r.jsonl")) == Path("/a/r.calls.jsonl")
    assert journal_beside(Path("/a/r.b.JSONL")) == Path("/a/r.b.calls.jsonl")


def test_past_its_bound_it_says_so_once_and_goes_on(kept: Kept) -> None:
    journal = kept.open(limit=2_000)

    assert kept.ask(journal, *map(str, range(20))) == [True] * 20

    assert kept.path.stat().st_size <= 2_000
    assert len(kept.warnings) == 1
    assert "2000 bytes" in kept.warnings[0]
    journal.close(complete=False)
    again = kept.open()
    assert kept.ask(again, "0", "19") == [False, True]


def test_a_full_disk_is_said_once_and_costs_no_answer(kept: Kept) -> None:
    journal = kept.open(file=Path("/dev/full"))

    assert kept.ask(journal, "a", "b", "c") == [True] * 3

    journal.close(complete=True)
    assert [text.partition(": ")[2].partition(".")[0] for text in kept.warnings] == ["No space left on device"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:-30],
        lambda data: data + b'{"suite": "suite", "case"',
        lambda data: data + b"[]\n",
        lambda data: data + b'{"suite": 1}\n',
        lambda data: data + b"\xff\xfe\n",
        lambda data: data + b'{"ended": 5}\n',
        lambda data: data + b'{"ended": [[], "case", 1]}\n',
        lambda data: data + data.splitlines(keepends=True)[1].replace(b'"suite": "suite"', b'"suite": [1]'),
        lambda data: data + data.splitlines(keepends=True)[1].replace(b'"exact": "', b'"time": "noon", "exact": "'),
    ],
    ids=[
        *("no_end", "half_a_line", "begun", "no_object", "no_answer", "no_text"),
        *("no_end_of_a_case", "no_case", "no_suite", "no_time"),
    ],
)
def test_what_is_whole_is_taken_up(kept: Kept, damage: Callable[[bytes], bytes]) -> None:
    journal = kept.open()
    kept.ask(journal, "a", "b")
    journal.close(complete=False)
    data = kept.path.read_bytes()
    kept.path.write_bytes(damage(data))
    torn = len(damage(data)) < len(data)

    again = kept.open()

    assert kept.ask(again, "a", "b", "b") == [False, torn, True]
    assert kept.warnings == []


def test_an_answer_is_given_once_to_each_run_of_a_case(kept: Kept) -> None:
    journal = kept.open()
    kept.ask(journal, "a", "a")
    kept.ask(journal, "a", origin=Origin(suite="suite", case="case", run=2))
    journal.close(complete=False)

    again = kept.open()

    assert kept.ask(again, "a", origin=Origin(suite="suite", case="case", run=3)) == [True]
    assert kept.ask(again, "a", "a", origin=Origin(suite="suite", case="case", run=2)) == [False, True]
    assert kept.ask(again, "a", "a", "a") == [False, False, True]


def test_the_time_of_a_case_is_that_of_its_first_run(kept: Kept) -> None:
    first, later = datetime(2025, 1, 31, 10, tzinfo=UTC), datetime(2025, 2, 1, 9, tzinfo=UTC)
    journal = kept.open()
    assert journal.time(CASE, lambda: first) == first
    kept.ask(journal, "a")
    journal.close(complete=False)

    again = kept.open()

    assert again.time(CASE, lambda: later) == first
    assert again.time(Origin(suite="suite", case="other"), lambda: later) == later


def test_what_has_ended_is_of_no_use_any_more(kept: Kept) -> None:
    journal = kept.open()
    kept.ask(journal, "a")
    journal.end(TestKey(suite="suite", test="case"), broke=False)
    kept.ask(journal, "b", origin=Origin(suite="suite", case="@hooks", of_suite=True))
    journal.close(complete=False)
    assert kept.path.exists()

    again = kept.open()

    assert kept.ask(again, "a") == [True]
    again.end(TestKey(suite="suite", test="case"), broke=True)
    again.close(complete=True)
    assert not kept.path.exists()


def test_a_case_may_be_named_as_what_belongs_to_a_suite(kept: Kept) -> None:
    case = Origin(suite="suite", case="@hooks")
    journal = kept.open()
    kept.ask(journal, "a", origin=case)
    journal.close(complete=True)

    again = kept.open()

    assert kept.ask(again, "a", origin=case) == [False]


def test_an_answer_to_a_case_that_has_ended_is_dropped_and_harms_no_other(kept: Kept) -> None:
    journal, other = kept.open(), Origin(suite="suite", case="other")

    async def work(connectors: Connectors) -> None:
        late = asks("a").replace(on_chunk=lambda _: journal.end(CASE.key, broke=False))
        await journal.complete(CASE, "test", late, connectors)
        await journal.complete(other, "test", asks("b"), connectors)

    kept.bench.write()
    kept.bench.run(work)

    again = kept.open()
    assert kept.ask(again, "a") == [True]
    assert kept.ask(again, "b", origin=other) == [False]
