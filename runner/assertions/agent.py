"""`agent`: a validator agent judges the output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from bindings import agent_id
from runner.assertions.base import Kind
from runner.assertions.transcript import seen_of
from runner.assertions.verdicts import show
from runner.assertions.votes import judged_by

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion


async def agent(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The validator, asked with `{output, input, criteria?, messages, tools, turns, ...metadata}`, answers
    `{passed: true}`, or `{judged: false}` when it cannot judge."""
    name = agent_id(assertion.use or "")
    metadata = assertion.options.metadata
    criteria = assertion.value or assertion.criteria or metadata.get("criteria")
    payload: dict[str, Any] = {"output": evidence.output, "input": evidence.input, **seen_of(evidence), **metadata}
    if criteria is not None:
        payload["criteria"] = criteria
    options = {"connector": assertion.options.connector} if assertion.options.connector else {}
    verdict = await judged_by(
        judges, name, assertion.judge, payload, {**options, "metadata": metadata}, criteria, evidence.output
    )
    if verdict.judged and not verdict.inconclusive and verdict.passed is assertion.negate:
        rule = "not to meet" if assertion.negate else "to meet"
        wanted = "the criteria" if criteria is None else show(criteria)
        said = verdict.message or ("it does" if verdict.passed else "it does not")
        verdict = verdict.replace(message=f"Expected the output {rule} {wanted}, but {name} says: {said}")
    return verdict


def problem_of_use(assertion: Assertion) -> str | None:
    """What is wrong with the judge that an assertion names in `use`."""
    use = assertion.use
    if not use or not agent_id(use):
        return f'"{assertion.type}" needs "use", such as "agents:workers.test.validator"'
    if agent_id(use) == use:
        return f'"{assertion.type}" needs the prefix "agents:" in "use", as in "agents:{use}"'
    return None


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    value, criteria = assertion.value, cast("object", assertion.criteria)
    if isinstance(criteria, list):  # as in a case with scores, where another type takes it
        return '"agent" takes its criteria as one text; a list of them is of the type "rubrics"'
    if (wrong := problem_of_use(assertion)) is not None:
        return wrong
    if value is not None and not isinstance(value, str):
        return f'"agent" takes the criteria as a text in "value", not {show(value)}'
    if value and not value.strip():
        return '"agent" takes the criteria in "value", which is blank'
    if value and criteria:
        return '"agent" takes its criteria either in "value" or in "criteria"'
    return None


ASSERTIONS = {
    "agent": Kind(
        check=agent,
        problem=problem,
        fields=("use", "value", "criteria", "options", "judge"),
        needs=("use",),
        waits=True,
        asks="agent",
        rules={
            "use": {"pattern": "^agents:."},
            "value": {"not": {"type": "string", "pattern": r"^\s+$"}},
            "criteria": {"type": ["string", "null"]},
        },
    ),
}
"""Types of assertions that are checked here."""
