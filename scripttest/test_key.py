"""`TestKey`: what a run of a test is known by, in every table of tests."""

from __future__ import annotations

from scripttest.values import Value


class TestKey(Value):
    """Which run of which test something belongs to."""

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
