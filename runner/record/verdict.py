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
    """None: something that the test needs broke. Reports write `failed` with the cause `infrastructure`."""
    INCONCLUSIVE = "inconclusive"
    """None: the judges did not decide. Reports write `failed` with the cause `inconclusive`."""

    @property
    def cause(self) -> Cause | None:
        """Why there is no verdict; None where there is one."""
        return CAUSES.get(self)

    @property
    def is_none(self) -> bool:
        """Whether the test ran but has no verdict."""
        return self in _WITHOUT

    @property
    def status(self) -> Status:
        """The status that a test with this verdict has."""
        return Status.FAILED if self.is_none else Status(self.value)

    @property
    def counted(self) -> str:
        """The word under which summaries count it: the status, or `errors`."""
        return "errors" if self.is_none else self.value


CAUSES = {Verdict.BROKEN: Cause.INFRASTRUCTURE, Verdict.INCONCLUSIVE: Cause.INCONCLUSIVE}
_WITHOUT = tuple(CAUSES)
_NONE: dict[str, Verdict] = {cause: verdict for verdict, cause in CAUSES.items()}
_OF_STATUS: dict[str, Verdict] = {verdict.value: verdict for verdict in Verdict}
DECIDED = (Verdict.PASSED, Verdict.FAILED)
"""The verdicts that say something of what was tested."""


def verdict_of(status: str, cause: str | None) -> Verdict:
    """The verdict on something that ended with a status, and with the cause of its decisive failure."""
    return _NONE[cause] if cause in _NONE and status == Status.FAILED else _OF_STATUS[status]


def verdict_in(line: Mapping[str, Any]) -> Verdict:
    """The same of a result, an attempt or a subtest as a report has it, by its `status` and `cause`."""
    return verdict_of(line["status"], line.get("cause"))


def shown(verdict: str) -> str:
    """A verdict as people read it: `error` for `broken`."""
    return "error" if verdict == Verdict.BROKEN else verdict
