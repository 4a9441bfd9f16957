"""Which functions of a test file are tests: their names say so, as in Go; and what a run of a test is known by."""

from __future__ import annotations

from scripttest.values import Value

TEST, FUZZ, BENCHMARK = "Test", "Fuzz", "Benchmark"
"""How the names of the kinds of tests begin."""
EVERY_RUN = (TEST, FUZZ)
"""The kinds that a plain run has."""


def kind_of(name: str) -> str:
    """The kind of a test by its name, or by that of one of its subtests; empty when it is none. After `Fuzz` and
    `Benchmark` no small letter follows, so that `Fuzzy` is a function like all others."""
    if name.startswith(TEST):
        return TEST
    for kind in (FUZZ, BENCHMARK):
        if name.startswith(kind) and not name[len(kind) : len(kind) + 1].islower():
            return kind
    return ""


class TestKey(Value):
    """Which run of which test something belongs to, in every table of tests."""

    __test__ = False  # pytest takes it for a class of tests otherwise

    suite: str
    """Id of the test module, or of the suite of a case."""
    test: str
    """Name of the test, or id of the case; empty: no test, but the loading of the module."""
    run: int = 1
    """Which of its runs, from 1; 0 in saved reports: the result of the test."""

    @property
    def label(self) -> str:
        """The name of the test, with `#2` behind it in its second run, as snapshots are named."""
        return f"{self.test}#{self.run}" if self.run > 1 else self.test
