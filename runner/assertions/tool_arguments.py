"""`tool_arguments`: the arguments of the calls of a tool, by parts, as a whole, by a schema, or by other assertions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind, NotEvaluated
from runner.assertions.tools import calls_text, is_named
from runner.assertions.values import equal, is_part, pattern_problem
from runner.assertions.verdicts import decide, nothing_to_judge, shorten, show

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, ToolUse, Verdict
    from runner.assertions.model import Assertion

TAKES = ("arguments", "exactly", "schema", "assert")
"""What arguments can be held against."""
CALLS = ("all", "any")


async def tool_arguments(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """Every call of the tool, or any of them, has such arguments."""
    value = assertion.value
    uses = [use for use in evidence.tools if is_named(use, value["tool"])]
    actual = [use.arguments for use in uses]
    if not uses:
        message = f"Expected a call of the tool {value['tool']}, found {calls_text(evidence.tools)}"
        return nothing_to_judge(assertion, value, actual, message)
    reasons = [await _wrong(value, use, evidence, judges) for use in uses]
    wrong = [reason for reason in reasons if reason]
    is_any = value.get("calls") == "any"
    held = len(wrong) < len(reasons) if is_any else not wrong
    return decide(
        assertion,
        held,
        value,
        actual,
        "to have",
        subject=f"the arguments of {'a call' if is_any else 'every call'} of {value['tool']}",
        wanted=_said(value),
        found=shorten(calls_text(uses) + (f"; {'; '.join(dict.fromkeys(wrong))}" if wrong else "")),
    )


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    value = assertion.value
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str) or not value["tool"]:
        return '"tool_arguments" needs "value": {"tool": name, and what its arguments have}'
    if stray := sorted(map(str, value.keys() - {"tool", "calls", *TAKES})):
        return f'"tool_arguments" takes tool, {", ".join(TAKES)} and calls in its "value", not "{stray[0]}"'
    if not value.keys() & {*TAKES}:
        return f'"tool_arguments" needs one of {", ".join(TAKES)} in its "value"'
    if value.get("calls", "all") not in CALLS:
        return f'"tool_arguments": "calls" is "all" or "any", not {show(value["calls"])}'
    wrong = pattern_problem(value.get("arguments")) or _nested_problem(value)
    return f'"tool_arguments": {wrong}' if wrong else None


def inner_of(assertion: Assertion) -> list[Assertion]:
    """The assertions on arguments in a valid one of this type."""
    nested = assertion.value.get("assert")
    if nested is None:
        return []
    from runner.assertions.composition import inner_assertions
    from runner.assertions.model import Assertion

    return inner_assertions(Assertion(type="all_of", value=nested if isinstance(nested, list) else [nested]))


def _nested_problem(value: dict[str, Any]) -> str | None:
    from runner.assertions.checking import problem as problem_of
    from runner.assertions.model import Assertion

    if "schema" in value and (wrong := problem_of(Assertion(type="json_schema", value=value["schema"]))):
        return wrong.replace('"json_schema" needs "value"', '"schema" is').replace('"json_schema"', '"schema"')
    if "assert" in value:
        nested = value["assert"] if isinstance(value["assert"], list) else [value["assert"]]
        return problem_of(Assertion(type="all_of", value=nested))
    return None


async def _wrong(value: dict[str, Any], use: ToolUse, evidence: Evidence, judges: Judges) -> str:
    """Why the arguments of a call are other ones; empty when they are as expected."""
    arguments = use.arguments
    if "arguments" in value and not is_part(value["arguments"], arguments):
        return f"{show(arguments)} has not {show(value['arguments'])}"
    if "exactly" in value and not equal(value["exactly"], arguments):
        return f"{show(arguments)} is not {show(value['exactly'])}"
    if "schema" in value and (wrong := await _unfit(value["schema"], arguments)):
        return wrong
    if "assert" in value:
        from runner.assertions.checking import check_all
        from runner.assertions.model import Assertion

        inner = inner_of(Assertion(type="tool_arguments", value=value))
        for result in await check_all(inner, evidence.replace(output=arguments), judges):
            if result.error:
                raise NotEvaluated(result.message, infrastructure=result.infrastructure)
            if not result.passed:
                return result.message
    return ""


async def _unfit(schema: Any, arguments: Any) -> str:
    from asyncio import to_thread

    from bindings.processes.schemas import misfit

    found = await to_thread(misfit, arguments, schema)
    if found is None:
        return ""
    return found.text if found.unusable else found.reasons


def _said(value: dict[str, Any]) -> str:
    parts = [show(value["arguments"])] if "arguments" in value else []
    parts += [f"exactly {show(value['exactly'])}"] if "exactly" in value else []
    parts += ["what the schema says"] if "schema" in value else []
    parts += ["what the assertions say"] if "assert" in value else []
    return " and ".join(parts)


ASSERTIONS = {
    "tool_arguments": Kind(
        check=tool_arguments, problem=problem, fields=("value",), needs=("value",), waits=True, inner=inner_of
    )
}
"""Types of assertions that are checked here."""
