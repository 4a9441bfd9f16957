"""`json_schema`: the output fits a JSON Schema, of the draft that its `$schema` names (2020-12 without one)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind, NotEvaluated
from runner.assertions.plain_schema import is_plain
from runner.assertions.values import json_in
from runner.assertions.verdicts import LIMIT, decide, show

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion


async def json_schema(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The output fits the schema; a text fits it as a text, or as the JSON that it holds. Both come from anybody, and
    may take seconds: meanwhile the run goes on, and the case can be stopped."""
    from asyncio import to_thread

    from bindings.processes.schemas import Misfit, misfit

    schema, output = assertion.value, evidence.output

    def misfit_of(value: Any) -> Misfit | None:
        return misfit(value, schema, checked=is_plain(schema), ecma=True)

    if evidence.cut and not _takes_text(schema):
        output = json_in(evidence)
    wrong = await to_thread(misfit_of, output)
    if wrong and isinstance(output, str) and (inside := json_in(evidence)) is not None:
        wrong = await to_thread(misfit_of, inside)
    if wrong and wrong.unusable:
        raise NotEvaluated(wrong.text)
    reasons = wrong.reasons if wrong else ""
    reasons = reasons if len(reasons) <= LIMIT else reasons[:LIMIT] + "…"
    found = f"{show(output)}; {reasons}" if reasons else None
    return decide(assertion, not wrong, schema, output, "to fit", wanted="the JSON Schema", found=found)


def _takes_text(schema: Any) -> bool:
    """Whether a schema says that it is of texts."""
    type = schema.get("type") if isinstance(schema, dict) else None
    return type == "string" or (isinstance(type, list) and "string" in type)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    if not isinstance(assertion.value, (dict, bool)):
        return '"json_schema" needs "value": a JSON Schema, which is an object'
    from bindings.processes.schema_size import too_large

    if large := too_large(assertion.value):
        return f'"json_schema": {large}'
    if is_plain(assertion.value):
        return None
    from bindings.processes.schemas import schema_problem

    wrong = schema_problem(assertion.value)
    return f'"json_schema": {wrong}' if wrong else None


ASSERTIONS = {
    "json_schema": Kind(check=json_schema, problem=problem, fields=("value",), needs=("value",)),
}
"""Types of assertions that are checked here."""
