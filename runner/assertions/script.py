"""`script`: a function of the application judges the output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.assertions.base import Kind, NotEvaluated
from runner.assertions.judged import verdict_in
from runner.assertions.transcript import transcript_of
from runner.assertions.verdicts import SCALE, off_scale, show

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion

ROLES = ("Validate", "Assert")
"""The functions that a reference means which names none."""


async def script(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The function, called with `(output, input, expected, metadata, transcript)`, returns true or `{pass: true}`; one
    that has asked a validator may return its answer."""
    reference = assertion.script or assertion.use or ""
    expected = evidence.expected if assertion.value is None else assertion.value
    arguments = [evidence.output, evidence.input, expected, assertion.options.metadata, transcript_of(evidence)]
    answer = await judges.call_script(reference, ROLES, arguments)
    given = {"passed": answer} if isinstance(answer, bool) else answer if isinstance(answer, dict) else {}
    verdict = verdict_in(given, expected, evidence.output)
    if verdict is None:
        scale = f"; {SCALE}, beside pass" if off_scale(reference, given.get("score")) else ""
        raise NotEvaluated(f"{reference} returned {show(answer)}, not true, false or {{pass, message}}{scale}")
    if dropped := off_scale(reference, given.get("score")):
        judges.warn(dropped)
    if verdict.judged and verdict.passed is assertion.negate:
        rule = "not to accept" if assertion.negate else "to accept"
        did = f"it {'did' if verdict.passed else 'did not'}: {show(evidence.output)}"
        found = f"it says: {verdict.message}" if verdict.message else did
        verdict = verdict.replace(message=f"Expected {reference} {rule} the output, but {found}")
    return verdict


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    if not assertion.script and not assertion.use:
        return '"script" needs "script", such as "scripts.tests.Validate", or "use": "scripts:tests.Validate"'
    if assertion.script and assertion.use:
        return '"script" needs either "script" or "use", not both'
    if assertion.use and not assertion.use.startswith(("scripts:", "scripts.")):
        return f'"script" needs the prefix "scripts:" in "use", as in "scripts:{assertion.use}"'
    return None


ASSERTIONS = {
    "script": Kind(
        check=script,
        problem=problem,
        fields=("script", "use", "value", "options"),
        needs=("script", "use"),
        waits=True,
        asks="script",
    ),
}
"""Types of assertions that are checked here."""
