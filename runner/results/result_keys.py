"""`ResultKey`: what identifies a result within a report."""

from __future__ import annotations

from scripttest.values import Value, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.results.model import TestResult


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


def key_of(result: TestResult) -> ResultKey:
    """The key of a result in a report."""
    return ResultKey(suite=result.suite, id=result.name, variant=result.variant)
