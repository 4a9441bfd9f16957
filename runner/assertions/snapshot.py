"""`snapshot`: the output is what it was when it was stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.assertions.base import Kind, Verdict

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges
    from runner.assertions.model import Assertion


async def snapshot(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output agrees with the snapshot of the case, or with the one of the name given; there being none, it is
    stored."""
    name = f"{evidence.case} {assertion.name}" if assertion.name else evidence.case
    difference = judges.match_snapshot(name, evidence.output)
    message = ""
    if difference is not None and not assertion.negate:
        message = f'Expected the output to agree with the snapshot "{name}", found {difference}'
    elif difference is None and assertion.negate:
        message = f'Expected the output not to agree with the snapshot "{name}", found no difference'
    return Verdict(passed=difference is None, expected=name, actual=evidence.output, message=message)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    return '"snapshot" needs a "name" that is not empty' if assertion.name == "" else None


ASSERTIONS = {
    "snapshot": Kind(check=snapshot, problem=problem, fields=("name",)),
}
"""Types of assertions that are checked here."""
