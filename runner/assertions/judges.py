"""Assertions that an agent or a script judges, and what these get of a conversation beside the answer that they judge:

| key | |
| --- | --- |
| messages | `{role, content, tool_calls?, tool_results?, turn}` of all messages, up to and including the answer |
| output | the answer that is judged |
| tools | `{name, server, arguments, result or error, turn}` of each tool call, in order |
| turns | `{turn, input, output}` of each turn; `output` as assertions see it |
| criteria | those of the case, in conversation mode, if it has any; validators get them as `background` |

Turns are numbered from 1; messages before the first have the turn 0. The content of files is left out; a part only says
its type."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from bindings import agent_id
from runner.assertions.base import CheckResult, NotEvaluated, assertion_kind
from runner.assertions.results import SCALE, judged_by, off_scale, result_in, show
from runner.assertions.values import parsed

if TYPE_CHECKING:
    from runner.assertions.base import AnsweredTurn, Evidence, Judges, ToolUse
    from runner.assertions.model import Assertion

FIRST_IS_BETTER = "The answer in output.first is better than the answer in output.second"
WON, TIED, LOST = 1.0, 0.5, 0.0
ROLES = ("Validate", "Assert")
"""The functions that a reference means which names none."""


async def agent(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The validator, asked with `{output, input, criteria?, messages, tools, turns, ...metadata}`, answers
    `{passed: true}`, or `{judged: false}` when it cannot judge."""
    name = agent_id(assertion.use or "")
    metadata = assertion.options.metadata
    criteria = assertion.value or assertion.criteria or metadata.get("criteria")
    payload: dict[str, Any] = {"output": evidence.output, "input": evidence.input, **seen_of(evidence), **metadata}
    if criteria is not None:
        payload["criteria"] = criteria
    options = _options(assertion)
    verdict = await judged_by(judges, name, assertion.judge, payload, options)
    if verdict.judged and not verdict.inconclusive and verdict.passed is assertion.negate:
        rule = "not to meet" if assertion.negate else "to meet"
        wanted = "the criteria" if criteria is None else show(criteria)
        said = verdict.message or ("it does" if verdict.passed else "it does not")
        verdict = verdict.replace(message=f"Expected the output {rule} {wanted}, but {name} says: {said}")
    return verdict.replace(expected=criteria, actual=evidence.output)


def problem_with_use(assertion: Assertion) -> str | None:
    """What is wrong with the judge that an assertion names in `use`."""
    use = assertion.use
    if not use or not agent_id(use):
        return f'"{assertion.type}" needs "use", such as "agents:workers.test.validator"'
    if agent_id(use) == use:
        return f'"{assertion.type}" needs the prefix "agents:" in "use", as in "agents:{use}"'
    return None


def problem_with_agent(assertion: Assertion) -> str | None:
    """What is wrong with an `agent`."""
    value, criteria = assertion.value, cast("object", assertion.criteria)
    if isinstance(criteria, list):  # as in a case with scores, where another type takes it
        return '"agent" takes one string of criteria; for a list, use the type "rubrics"'
    if (wrong := problem_with_use(assertion)) is not None:
        return wrong
    if value is not None and not isinstance(value, str):
        return f'"agent" takes the criteria as a string in "value", not {show(value)}'
    if value and not value.strip():
        return '"agent" takes the criteria in "value", which is blank'
    if value and criteria:
        return '"agent" takes its criteria in either "value" or "criteria"'
    return None


async def preference(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The judge is asked whether the first of two answers is better, once with the output first, once with it second.
    A verdict that turns with the order is a tie. It holds when the other answer is not better: the score is 1 when the
    output is, 0.5 for a tie."""
    name = agent_id(assertion.use or "")
    metadata = assertion.options.metadata
    criteria = FIRST_IS_BETTER + (f": {assertion.criteria}" if assertion.criteria else "")
    options = _options(assertion)
    orders = ((evidence.output, assertion.value), (assertion.value, evidence.output))

    async def ask(first: Any, second: Any) -> CheckResult:
        output = {"first": first, "second": second}
        payload = {"output": output, "input": evidence.input, **metadata, "criteria": criteria}
        return await judged_by(judges, name, assertion.judge, payload, options)

    ahead, behind = await asyncio.gather(*(ask(*order) for order in orders))
    votes = ahead.votes + behind.votes
    about = {"expected": assertion.value, "actual": evidence.output, "votes": votes, "agreement": None}
    both = ahead.replace(passed=True, inconclusive=False, message="", score=None, **about)
    if not ahead.judged or not behind.judged:
        return both.replace(judged=False, message=ahead.message or behind.message)
    if ahead.inconclusive or behind.inconclusive:
        said = ahead.message if ahead.inconclusive else behind.message
        return both.replace(passed=False, inconclusive=True, message=said)
    if ahead.passed is behind.passed:
        place = "first" if ahead.passed else "second"
        return both.replace(score=TIED, message=f"a tie: {name} always prefers the {place} answer, in either order")
    if ahead.passed:
        return both.replace(score=WON, message=ahead.message)
    said = f"Expected the output to be no worse than {show(assertion.value)}, but {name} says: {behind.message}"
    return both.replace(passed=False, score=LOST, message=said)


def problem_with_preference(assertion: Assertion) -> str | None:
    """What is wrong with a `preference`."""
    if (wrong := problem_with_use(assertion)) is not None:
        return wrong
    return '"preference" needs "value", the other answer' if assertion.value is None else None


async def script(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The function, called with `(output, input, expected, metadata, transcript)`, returns true or `{pass: true}`; one
    that has asked a validator may return its answer."""
    reference = assertion.script or assertion.use or ""
    expected = evidence.expected if assertion.value is None else assertion.value
    arguments = [evidence.output, evidence.input, expected, assertion.options.metadata, transcript_of(evidence)]
    answer = await judges.call_script(reference, ROLES, arguments)
    given = {"passed": answer} if isinstance(answer, bool) else answer if isinstance(answer, dict) else {}
    verdict = result_in(given)
    if verdict is None:
        scale = f"; {SCALE}, next to pass" if off_scale(reference, given.get("score")) else ""
        raise NotEvaluated(f"{reference} returned {show(answer)}, not true, false or {{pass, message}}{scale}")
    if dropped := off_scale(reference, given.get("score")):
        judges.warn(dropped)
    if verdict.judged and verdict.passed is assertion.negate:
        rule = "not to accept" if assertion.negate else "to accept"
        did = f"it {'did' if verdict.passed else 'did not'}: {show(evidence.output)}"
        found = f"it says: {verdict.message}" if verdict.message else did
        verdict = verdict.replace(message=f"Expected {reference} {rule} the output, but {found}")
    return verdict.replace(expected=expected, actual=evidence.output)


def problem_with_script(assertion: Assertion) -> str | None:
    """What is wrong with a `script`."""
    if not assertion.script and not assertion.use:
        return '"script" needs "script", such as "scripts.tests.Validate", or "use": "scripts:tests.Validate"'
    if assertion.script and assertion.use:
        return '"script" needs either "script" or "use", not both'
    if assertion.use and not assertion.use.startswith(("scripts:", "scripts.")):
        return f'"script" needs the prefix "scripts:" in "use", as in "scripts:{assertion.use}"'
    return None


def transcript_of(evidence: Evidence) -> dict[str, Any]:
    """`{messages, output, tools, turns, criteria?}`: JSON values, new at each call."""
    criteria = {"criteria": evidence.criteria} if evidence.criteria else {}
    return {**_seen(evidence), "output": evidence.output, **criteria}


def seen_of(evidence: Evidence) -> dict[str, Any]:
    """`{messages, tools, turns, background?}`, as validators get it beside the keys of their own; what the case tells
    them under one of these names wins."""
    background = {"background": evidence.criteria} if evidence.criteria else {}
    return {**_seen(evidence), **background}


def without_files(content: Any) -> Any:
    """The content of a message without that of its files, which would be sent to every judge."""
    if not isinstance(content, list):
        return content
    return [_part(part) if isinstance(part, Mapping) else part for part in content]


def _options(assertion: Assertion) -> dict[str, Any]:
    connector = assertion.options.connector
    return {**({"connector": connector} if connector else {}), "metadata": assertion.options.metadata}


def _seen(evidence: Evidence) -> dict[str, Any]:
    turns = evidence.turns
    return {
        "messages": _messages(evidence.messages, turns),
        "tools": [{**use.call, **_outcome(use), "turn": said.turn} for said in turns for use in said.tools],
        "turns": [{"turn": said.turn, "input": without_files(said.input), "output": said.output} for said in turns],
    }


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    return part if part.get("type") == "text" else {"type": part.get("type")}


def _messages(messages: Sequence[Mapping[str, Any]], turns: Sequence[AnsweredTurn]) -> list[dict[str, Any]]:
    begin = turns[0].start if turns else len(messages)
    seen = [{**_message(message), "turn": 0} for message in messages[:begin]]
    ends = [*(said.start for said in turns[1:]), len(messages)]
    for said, end in zip(turns, ends, strict=False):
        *before, answer = map(_message, messages[said.start : end])
        if said.tools:
            answer["tool_calls"] = [use.call for use in said.tools]
            answer["tool_results"] = [{"name": use.name, **_outcome(use)} for use in said.tools]
        seen += [{**message, "turn": said.turn} for message in (*before, answer)]
    return seen


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    seen = {**message, "content": without_files(message.get("content"))}
    if isinstance(seen.get("tool_calls"), list):
        seen["tool_calls"] = [_written(call) for call in seen["tool_calls"]]
    return seen


def _written(call: Any) -> Any:
    """A tool call that a case has in its messages, in the form of the others."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return call
    arguments = function.get("arguments")
    value = parsed(arguments, arguments) if isinstance(arguments, str) else arguments
    return {"name": function.get("name"), "arguments": value}


def _outcome(use: ToolUse) -> dict[str, Any]:
    return {"result": use.result} if use.error is None else {"error": use.error}


_TAKES = "use value criteria options judge"
ASSERTIONS = {
    "agent": assertion_kind(agent, problem_with_agent, _TAKES, waits=True, asks="agent"),
    "preference": assertion_kind(preference, problem_with_preference, _TAKES, waits=True, asks="agent"),
    "script": assertion_kind(script, problem_with_script, "script use value options", waits=True, asks="script"),
}
