"""`TestPlace`: where a test stands in its run, as events name it."""

from __future__ import annotations

from scripttest.values import Value


class TestPlace(Value):
    """The place of a test, or of one of its runs."""

    __test__ = False

    suite: str
    """Id of its suite."""
    position: int
    """Position in the suite, from 0."""
    run: int = 0
    """Number of the run, from 1; 0: the only run, or the test with all its runs."""

    @property
    def of_test(self) -> TestPlace:
        """The place of the test, whichever run this is of."""
        return self.replace(run=0) if self.run else self
