"""Go's format of benchmark results, and comparing two of them."""

from __future__ import annotations

import random
from itertools import chain

import pytest
from table_tests import each

from runner.test_kinds.benchmark_tests import Sample, compared, line_of, notes_on, read_lines, rows_of

GO = """\
goos: linux
goarch: amd64
pkg: example.org/fees
cpu: Some CPU @ 2.00GHz
BenchmarkTotal-8   \t  433 \t   2771234 ns/op\t  0.5000 calls/op
BenchmarkTotal/sub-2-8         \t     100\t        12.50 ns/op\t       3 B/op\t 1 allocs/op
BenchmarkFailed
--- FAIL: BenchmarkFailed
Benchmark text of a test 12
PASS
ok  \texample.org/fees\t2.4s
"""


def test_lines_of_go_are_read() -> None:
    samples = list(read_lines(GO))
    assert [(sample.package, sample.name, sample.rounds, dict(sample.values)) for sample in samples] == [
        ("example.org/fees", "BenchmarkTotal", 433, {"ns/op": 2771234.0, "calls/op": 0.5}),
        ("example.org/fees", "BenchmarkTotal/sub-2", 100, {"ns/op": 12.5, "B/op": 3.0, "allocs/op": 1.0}),
    ]


@each(
    ("value", "said"),
    [
        (0, "0"),
        (3, "3"),
        (1234.5, "1234"),
        (250.25, "250.2"),
        (12.344, "12.34"),
        (1.5, "1.500"),
        (0.25, "0.2500"),
        (0.00001, "0.0000100"),
    ],
)
def test_what_is_written_is_read_again(value: float, said: str) -> None:
    line = line_of(Sample(package="", name="BenchmarkA/b", rounds=10, values={"ns/op": value}), 2)
    assert line.split() == ["BenchmarkA/b-2", "10", said, "ns/op"]
    (sample,) = read_lines(line)
    assert (sample.name, sample.rounds) == ("BenchmarkA/b", 10)
    assert sample.values["ns/op"] == pytest.approx(value, rel=0.01)


def samples(*nanoseconds: float, name: str = "BenchmarkA", package: str = "") -> list[Sample]:
    return [Sample(package=package, name=name, rounds=1, values={"ns/op": value}) for value in nanoseconds]


def test_noise_is_told_from_a_change() -> None:
    old = samples(100, 101, 102, 103, 104)
    noisy = compared(old, samples(90, 150, 101, 99, 200))
    assert noisy.worse(0.1) == [] and rows_of(noisy)[1][3] == "~"
    slower = compared(old, samples(150, 151, 152, 153, 154))
    (worse,) = slower.worse(0.1)
    assert (worse.name, round(worse.change, 2)) == ("BenchmarkA", 0.49)
    assert slower.worse(0.5) == []
    assert compared(samples(150, 151, 152, 153), samples(100, 101, 102, 103)).worse(0.1) == []
    assert compared(samples(0, 0, 0, 0), samples(1, 1, 1, 1)).worse(0.1) != []


def measured(draw: random.Random, slower: dict[int, float], benchmarks: int = 40, runs: int = 6) -> list[Sample]:
    """What many benchmarks measure on a noisy machine."""

    def one(place: int) -> list[Sample]:
        middle = 1000 * slower.get(place, 1)
        return samples(*(middle * draw.lognormvariate(0, 0.2) for _ in range(runs)), name=f"Benchmark{place}")

    return list(chain.from_iterable(one(place) for place in range(benchmarks)))


def test_many_benchmarks_do_not_make_an_alarm_likely() -> None:
    draw = random.Random(5)
    alarms = sum(bool(compared(measured(draw, {}), measured(draw, {})).worse(0.1)) for _ in range(100))
    assert alarms <= 10  # 5 of 100 may; each benchmark judged by itself made it 53 of 100
    (found,) = compared(measured(draw, {}), measured(draw, {7: 3.0})).worse(0.1)
    assert found.name == "Benchmark7"


@each(("benchmarks", "enough"), [(1, 4), (3, 4), (4, 5), (40, 6), (100, 7)])
def test_how_many_runs_can_tell_a_change(benchmarks: int, enough: int) -> None:
    draw = random.Random(1)
    few, many = (
        compared(
            measured(draw, {}, benchmarks, runs),
            measured(draw, dict.fromkeys(range(benchmarks), 9.0), benchmarks, runs),
        )
        for runs in (enough - 1, enough)
    )
    assert (len(few.worse(0.1)), len(many.worse(0.1))) == (0, benchmarks)
    assert [line for line in notes_on(many, 0.1) if "Fewer" in line] == []
    (said,) = (line for line in notes_on(few, 0.1) if "Fewer" in line)
    assert said.startswith(f"Fewer than {enough} runs per side cannot tell a change")
    assert said.endswith(f": use --count {max(enough, 6)} on both sides")


def test_benchmarks_are_the_same_by_package_and_name() -> None:
    old = [
        *samples(1, name="BenchmarkA", package="p"),
        *samples(2, name="BenchmarkB", package="p"),
        *samples(3, name="BenchmarkC"),
    ]
    new = [*samples(1, name="BenchmarkA"), *samples(1, name="BenchmarkB", package="q"), *samples(1, name="BenchmarkD")]
    found = compared(old, new)
    assert [one.name for one in found.differences] == ["BenchmarkA"]
    assert found.only_before == ("BenchmarkB", "BenchmarkC")
    assert found.only_after == ("BenchmarkB", "BenchmarkD")
