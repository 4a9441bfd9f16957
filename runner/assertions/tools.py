"""Assertions on the calls of tools: which were made and how often, with which arguments, and what came back.

The arguments of `tool_arguments` are held against parts, a whole, a schema, or other assertions."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from runner.assertions.base import NotEvaluated, assertion_kind
from runner.assertions.checking import check_all, inner_assertions, problem_with_assertion
from runner.assertions.measures import problem_with_bounds, within
from runner.assertions.model import Assertion
from runner.assertions.results import decide, nothing_to_judge, shorten, show
from runner.assertions.values import equal, is_part, problem_with_patterns, value_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from runner.assertions.base import CheckResult, Evidence, Judges, ToolUse
_COMPARED_WITH = ("arguments", "exactly", "schema", "assert")
"""What `tool_arguments` can hold arguments against."""


async def tool_called(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The agent called the tool, or one of the tools."""
    return _about_calls(assertion, evidence.tools, bool(_wanted_calls(assertion, evidence)), "to call")


async def tool_not_called(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The agent never called the tool, or any of the tools; without one named, no tool at all."""
    uses = _wanted_calls(assertion, evidence)
    return _about_calls(assertion, uses, not uses, "not to call")


async def tool_calls(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The agent made at most this many calls, of a tool or of all."""
    uses = _named(assertion, evidence)
    unit = f"calls of {assertion.name}" if assertion.name else "tool calls"
    found = f": {calls_text(uses)}" if uses else ""
    return within(assertion, len(uses), "to make", unit, subject="the agent", found=found)


async def no_repeated_calls(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """No call with the same arguments is made more often than once, or than the value allows."""
    most = 1 if assertion.value is None else assertion.value
    uses = {_identity(use): use for use in reversed(_named(assertion, evidence))}
    counts = Counter(map(_identity, _named(assertion, evidence)))
    repeated = [(uses[key], times) for key, times in counts.items() if times > most]
    return decide(
        assertion,
        not repeated,
        most,
        [{**use.call, "calls": times} for use, times in repeated],
        "to make",
        subject="the agent",
        wanted="the same call at most once" if most == 1 else f"the same call at most {most} times",
        found=", ".join(f"{calls_text([use])} {times} times" for use, times in repeated) or "no repeated calls",
    )


async def tool_result(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """A call of the tool succeeded, with a result that has what is expected."""
    value = assertion.value
    name, compares = _tool(value), "result" in value
    uses = [use for use in evidence.tools if is_named(use, name)]
    actual = [{"result": use.result, **({"error": use.error} if use.error else {})} for use in uses]
    if not uses:
        message = f"Expected a result of the tool {name}, found {calls_text(evidence.tools)}"
        return nothing_to_judge(assertion, value, actual, message)
    results = [use.result for use in uses if use.error is None]
    found = " and ".join(show(use.result) if use.error is None else f"the error {show(use.error)}" for use in uses)
    return decide(
        assertion,
        any(not compares or is_part(value["result"], result, as_text=True) for result in results),
        value,
        actual,
        "to have" if compares else "to succeed",
        subject=f"the result of {name}" if compares else f"the tool {name}",
        wanted=show(value["result"]) if compares else "in a call",
        found=shorten(found),
    )


async def tool_arguments(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """Every call of the tool, or any of them, has such arguments."""
    value = assertion.value
    uses = [use for use in evidence.tools if is_named(use, value["tool"])]
    actual = [use.arguments for use in uses]
    if not uses:
        message = f"Expected a call of the tool {value['tool']}, found {calls_text(evidence.tools)}"
        return nothing_to_judge(assertion, value, actual, message)
    reasons = [await _misfit(value, use.arguments, evidence, judges) for use in uses]
    wrong = [reason for reason in reasons if reason]
    is_any = value.get("calls") == "any"
    return decide(
        assertion,
        len(wrong) < len(reasons) if is_any else not wrong,
        value,
        actual,
        "to have",
        subject=f"the arguments of {'a call' if is_any else 'every call'} of {value['tool']}",
        wanted=_wanted_arguments(value),
        found=shorten(calls_text(uses) + (f"; {'; '.join(dict.fromkeys(wrong))}" if wrong else "")),
    )


def problem_with_tool_called(assertion: Assertion) -> str | None:
    """What is wrong with a `tool_called`."""
    value, name = assertion.value, assertion.name
    if (value is None) == (name is None):
        return '"tool_called" needs either "name" or "value": the name of a tool'
    if value == []:
        return '"tool_called" needs at least one tool in "value"'
    return problem_with_tools("tool_called", _listed(assertion))


def problem_with_tool_not_called(assertion: Assertion) -> str | None:
    """What is wrong with a `tool_not_called`."""
    if assertion.value is not None and assertion.name is not None:
        return '"tool_not_called" takes either "name" or "value"'
    return problem_with_tools("tool_not_called", _listed(assertion) or [], may_be_empty=assertion.value != [])


def problem_with_no_repeated_calls(assertion: Assertion) -> str | None:
    """What is wrong with a `no_repeated_calls`."""
    value = assertion.value
    if value is None or (type(value) is int and value >= 1):
        return None
    return '"no_repeated_calls" takes as "value" how often a call may be made: a whole number of at least 1'


def problem_with_tool_result(assertion: Assertion) -> str | None:
    """What is wrong with a `tool_result`."""
    value = assertion.value
    if not isinstance(value, dict) or not isinstance(_tool(value), str) or not _tool(value):
        return '"tool_result" needs "value": {"tool": name, "result": expected part}'
    if stray := problem_with_fields("tool_result", value, ("tool", "name", "result"), "tool and result"):
        return stray
    return problem_with_patterns("tool_result", value)


def problem_with_tool_arguments(assertion: Assertion) -> str | None:
    """What is wrong with a `tool_arguments`, or with the assertions in it."""
    value = assertion.value
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str) or not value["tool"]:
        return '"tool_arguments" needs "value": {"tool": name, and a condition on its arguments}'
    known = ", ".join(_COMPARED_WITH)
    taken = ("tool", "calls", *_COMPARED_WITH)
    if stray := problem_with_fields("tool_arguments", value, taken, f"tool, {known} and calls"):
        return stray
    if not value.keys() & {*_COMPARED_WITH}:
        return f'"tool_arguments" needs one of {known} in its "value"'
    if value.get("calls", "all") not in ("all", "any"):
        return f'"tool_arguments": "calls" is "all" or "any", not {show(value["calls"])}'
    if wrong := problem_with_patterns("tool_arguments", value.get("arguments")):
        return wrong
    wrong = _problem_with_inner(value)
    return f'"tool_arguments": {wrong}' if wrong else None


def problem_with_fields(name: str, value: dict[str, Any], taken: Collection[str], listed: str) -> str | None:
    """What is wrong with a value that has other fields than those that are taken; `listed`: these for people."""
    stray = sorted(map(str, value.keys() - {*taken}))
    return f'"{name}" takes {listed} in its "value", not "{stray[0]}"' if stray else None


def problem_with_tools(name: str, value: Any, *, may_be_empty: bool = False) -> str | None:
    """What is wrong with the tools that an assertion of the type `name` lists."""
    if not isinstance(value, list) or (not value and not may_be_empty):
        return f'"{name}" needs "value": a list of tools'
    for item in value:
        if wrong := problem_with_tool(item):
            return f'"{name}" {wrong}'
    return problem_with_patterns(name, value)


def problem_with_tool(item: Any) -> str | None:
    """What is wrong with a tool as an assertion names it: a name, or `{name, arguments}`."""
    if isinstance(item, str) and item:
        return None
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
        return f'needs a tool name, or {{"name", "arguments"}}, not {value_text(item)}'
    stray = sorted(map(str, item.keys() - {"name", "arguments"}))
    return f'needs the name and arguments of a tool, not "{stray[0]}"' if stray else None


def fits(wanted: Any, use: ToolUse) -> bool:
    """Whether a call is of the tool, and has at least the arguments, that an assertion names."""
    if isinstance(wanted, str):
        return is_named(use, wanted)
    return is_named(use, wanted["name"]) and ("arguments" not in wanted or is_part(wanted["arguments"], use.arguments))


def is_named(use: ToolUse, name: str) -> bool:
    """Whether a name is that of the called tool: bare, `server__tool` or `server.tool`, or a last part of these."""
    if name == use.name:
        return True
    called = [use.name]
    if use.server:
        called += [f"{use.server.replace('.', '_')}__{use.name}", f"{use.server}.{use.name}"]
    return name in called or any(full.endswith((f"__{name}", f".{name}")) for full in called)


def describe(wanted: Any) -> str:
    """A tool as an assertion names it, like `search` or `search with {"query": "x"}`."""
    if isinstance(wanted, str):
        return wanted
    return f"{wanted['name']} with {show(wanted['arguments'])}" if "arguments" in wanted else str(wanted["name"])


def calls_text(uses: Iterable[ToolUse]) -> str:
    """The calls in their order, like `search({"query": "x"}), save({})`."""
    calls = ", ".join(f"{use.name}({'' if use.arguments is None else show(use.arguments, 200)})" for use in uses)
    return shorten(calls) or "no tool calls"


def _wanted_calls(assertion: Assertion, evidence: Evidence) -> Sequence[ToolUse]:
    """The calls of the tools that an assertion lists; all of them if it lists none."""
    wanted = _listed(assertion)
    return [use for use in evidence.tools if wanted is None or any(fits(item, use) for item in wanted)]


def _about_calls(assertion: Assertion, uses: Sequence[ToolUse], held: bool, verb: str) -> CheckResult:
    wanted = _listed(assertion)
    return decide(
        assertion,
        held,
        assertion.name if assertion.value is None else assertion.value,
        [use.call for use in uses],
        verb,
        subject="the agent",
        wanted="any tool" if wanted is None else shorten(" or ".join(map(describe, wanted))),
        found=calls_text(uses),
    )


def _named(assertion: Assertion, evidence: Evidence) -> list[ToolUse]:
    """The calls of the tool that an assertion names; all of them if it names none."""
    return [use for use in evidence.tools if assertion.name is None or is_named(use, assertion.name)]


def _listed(assertion: Assertion) -> list[Any] | None:
    """The tools that an assertion names; None if it names none."""
    given = assertion.name if assertion.value is None else assertion.value
    return given if given is None or isinstance(given, list) else [given]


def _identity(use: ToolUse) -> tuple[str, str, str]:
    return use.server, use.name, json.dumps(use.arguments, sort_keys=True, default=str)


def _tool(value: Any) -> Any:
    return value.get("tool", value.get("name"))


def _inner_of_arguments(assertion: Assertion) -> list[Assertion]:
    """The assertions on arguments in a valid `tool_arguments`."""
    nested = assertion.value.get("assert")
    if nested is None:
        return []
    return inner_assertions(Assertion(type="all_of", value=nested if isinstance(nested, list) else [nested]))


def _problem_with_inner(value: dict[str, Any]) -> str | None:
    if "schema" in value and (wrong := problem_with_assertion(Assertion(type="json_schema", value=value["schema"]))):
        return wrong.replace('"json_schema" needs "value"', '"schema" is').replace('"json_schema"', '"schema"')
    if "assert" in value:
        nested = value["assert"] if isinstance(value["assert"], list) else [value["assert"]]
        return problem_with_assertion(Assertion(type="all_of", value=nested))
    return None


async def _misfit(value: dict[str, Any], arguments: Any, evidence: Evidence, judges: Judges) -> str:
    """Why the arguments of a call are other ones; empty when they are as expected."""
    if "arguments" in value and not is_part(value["arguments"], arguments):
        return f"{show(arguments)} lacks {show(value['arguments'])}"
    if "exactly" in value and not equal(value["exactly"], arguments):
        return f"{show(arguments)} is not {show(value['exactly'])}"
    if "schema" in value:
        from asyncio import to_thread

        from bindings.processes.schemas import misfit

        if found := await to_thread(misfit, arguments, value["schema"]):
            return found.text if found.unusable else found.reasons
    if "assert" in value:
        inner = _inner_of_arguments(Assertion(type="tool_arguments", value=value))
        for result in await check_all(inner, evidence.replace(output=arguments), judges):
            if result.error:
                raise NotEvaluated(result.message, infrastructure=result.infrastructure)
            if not result.passed:
                return result.message
    return ""


def _wanted_arguments(value: dict[str, Any]) -> str:
    parts = [show(value["arguments"])] if "arguments" in value else []
    parts += [f"exactly {show(value['exactly'])}"] if "exactly" in value else []
    parts += ["a value that matches the schema"] if "schema" in value else []
    parts += ["a value that passes the assertions"] if "assert" in value else []
    return " and ".join(parts)


ASSERTIONS = {
    "tool_called": assertion_kind(tool_called, problem_with_tool_called, "name value"),
    "tool_not_called": assertion_kind(tool_not_called, problem_with_tool_not_called, "name value"),
    "tool_calls": assertion_kind(tool_calls, problem_with_bounds, "value name"),
    "no_repeated_calls": assertion_kind(no_repeated_calls, problem_with_no_repeated_calls, "value name"),
    "tool_result": assertion_kind(tool_result, problem_with_tool_result, "value"),
    "tool_arguments": assertion_kind(
        tool_arguments, problem_with_tool_arguments, "value", waits=True, inner=_inner_of_arguments
    ),
}
