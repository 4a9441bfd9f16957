"""Decides the verdict on a result. No other module does."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from scripttest import Cause, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Verdict(StrEnum):
    """The verdict of a result on what was tested."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    BROKEN = "broken"
    """There is no verdict, because something that the test needs broke. Reports write `failed` with the cause
    `infrastructure`, and count it among `errors`."""

    INCONCLUSIVE = "inconclusive"
    """There is no verdict, because the judges did not decide. Reports write `failed` with the cause `inconclusive`, and
    count it among `errors`."""

    @property
    def is_none(self) -> bool:
        """Whether the test ran but has no verdict."""
        return self in (Verdict.BROKEN, Verdict.INCONCLUSIVE)

    @property
    def status(self) -> Status:
        """The status that a test with this verdict has."""
        return Status.FAILED if self.is_none else Status(self.value)

    @property
    def counted(self) -> str:
        """The word under which summaries count it: the status, or `errors`."""
        return _COUNTED[self]


_COUNTED: dict[Verdict, str] = {verdict: verdict.value for verdict in Verdict} | {
    Verdict.BROKEN: "errors",
    Verdict.INCONCLUSIVE: "errors",
}
_NONE: dict[str, Verdict] = {Cause.INFRASTRUCTURE: Verdict.BROKEN, Cause.INCONCLUSIVE: Verdict.INCONCLUSIVE}
_OF_STATUS: dict[str, Verdict] = {
    Status.PASSED: Verdict.PASSED,
    Status.FAILED: Verdict.FAILED,
    Status.SKIPPED: Verdict.SKIPPED,
}


DECIDED = (Verdict.PASSED, Verdict.FAILED)
"""The verdicts that say something of what was tested."""


def verdict_of(status: str, cause: str | None) -> Verdict:
    """The verdict on something that ended with a status, and with the cause of its decisive failure. Raises KeyError
    for a status that there is not."""
    if cause is not None and status == Status.FAILED and cause in _NONE:
        return _NONE[cause]
    return _OF_STATUS[status]


def verdict_in(line: Mapping[str, Any]) -> Verdict:
    """The same of a result, an attempt or a subtest as a report has it, by its `status` and `cause`."""
    return verdict_of(line["status"], line.get("cause"))


def shown(verdict: str) -> str:
    """A verdict as people read it: `error` for `broken`."""
    return "error" if verdict == Verdict.BROKEN else verdict
