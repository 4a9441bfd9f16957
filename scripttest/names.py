"""Which functions of a test file are tests: their names say so, as in Go."""

from __future__ import annotations

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
