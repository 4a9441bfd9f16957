"""What identifies tests and results: their place in a run, and their key in a report."""

from __future__ import annotations

from scripttest.values import Value, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
    def place(self) -> TestPlace:
        """The place alone, where this is more."""
        return TestPlace(suite=self.suite, position=self.position, run=self.run)

    @property
    def of_test(self) -> TestPlace:
        """The place of the test, whichever run this is of."""
        return self.replace(run=0) if self.run else self


class ResultKey(Value):
    """The suite of a test, and its name or the id of the case."""

    suite: str
    id: str
    variant: str = ""
    """The variant of the agent; empty where a run has none."""

    @property
    def name(self) -> str:
        """What names the result where its suite does not: `hi [good]`."""
        return f"{self.id} [{self.variant}]" if self.variant else self.id

    @property
    def record(self) -> dict[str, Any]:
        """The key as JSON, `{suite, id, variant?, ...}`."""
        return {name: value for name, value in fields_of(self).items() if name != "variant" or value}

    @property
    def without_variant(self) -> str:
        """The suite as it is named in all variants."""
        return self.suite.removesuffix(f" [{self.variant}]") if self.variant else self.suite
