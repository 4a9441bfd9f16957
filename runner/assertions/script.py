"""`script`: a function of the application judges the output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind, NotEvaluated, Verdict
from runner.assertions.transcript import transcript_of
from runner.assertions.verdicts import score_of, show

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges
    from runner.cases.model import Assertion

ROLES = ("Validate", "Assert")
"""The functions that a reference means which names none."""


async def script(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The function, called with `(output, input, expected, metadata, transcript)`, returns true or `{pass: true}`; one
    that has asked a validator may return its answer."""
    reference = assertion.script or assertion.use or ""
    expected = evidence.expected if assertion.value is None else assertion.value
    arguments = [evidence.output, evidence.input, expected, assertion.options.metadata, transcript_of(evidence)]
    answer = await judges.call_script(reference, ROLES, arguments)
    if isinstance(answer, dict) and answer.get("judged") is False and _passed(answer) is not False:
        return Verdict(passed=True, expected=expected, actual=evidence.output, message=_said(answer), judged=False)
    passed, said, score = _read(reference, answer)
    message = said if passed is not assertion.negate else ""
    if passed is assertion.negate:
        rule = "not to accept" if assertion.negate else "to accept"
        message = f"Expected {reference} {rule} the output, but " + (
            f"it says: {said}" if said else f"it {'did' if passed else 'did not'}: {show(evidence.output)}"
        )
    return Verdict(passed=passed, expected=expected, actual=evidence.output, message=message, score=score)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    if not assertion.script and not assertion.use:
        return '"script" needs "script", such as "scripts.tests.Validate", or "use": "scripts:tests.Validate"'
    if assertion.script and assertion.use:
        return '"script" needs either "script" or "use", not both'
    if assertion.use and not assertion.use.startswith(("scripts:", "scripts.")):
        return f'"script" needs the prefix "scripts:" in "use", as in "scripts:{assertion.use}"'
    return None


def _read(reference: str, answer: Any) -> tuple[bool, str, float | None]:
    if isinstance(answer, bool):
        return answer, "", None
    if isinstance(answer, dict):
        passed = _passed(answer)
        if isinstance(passed, bool):
            return passed, _said(answer), score_of(answer)
    raise NotEvaluated(f"{reference} returned {show(answer)}, not true, false or {{pass, message}}")


def _passed(answer: dict[str, Any]) -> Any:
    return answer.get("pass", answer.get("passed"))


def _said(answer: dict[str, Any]) -> str:
    return str(answer.get("message") or answer.get("reason") or "")


ASSERTIONS = {
    "script": Kind(
        check=script, problem=problem, fields=("script", "use", "value", "options"), needs=("script", "use"), waits=True
    ),
}
"""Types of assertions that are checked here."""
