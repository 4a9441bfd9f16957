"""`tool_called` and `tool_result`: which tools the agent called, with which arguments, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind
from runner.assertions.values import is_part, pattern_problem, text_of
from runner.assertions.verdicts import decide, nothing_to_judge, shorten, show

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.assertions.base import Evidence, Judges, ToolUse, Verdict
    from runner.assertions.model import Assertion


async def tool_called(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The agent called the tool, or one of the tools."""
    expected = assertion.name if assertion.value is None else assertion.value
    wanted = expected if isinstance(expected, list) else [expected]
    held = any(fits(item, use) for use in evidence.tools for item in wanted)
    text = " or ".join(describe(item) for item in wanted)
    return decide(
        assertion,
        held,
        expected,
        [{"name": use.name, "server": use.server, "arguments": use.arguments} for use in evidence.tools],
        "to call",
        subject="the agent",
        wanted=shorten(text),
        found=calls_text(evidence.tools),
    )


async def tool_result(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """A call of the tool succeeded, with a result that has what is expected."""
    value = assertion.value
    name, compares = _tool(value), "result" in value
    uses = [use for use in evidence.tools if is_named(use, name)]
    actual = [{"result": use.result, **({"error": use.error} if use.error else {})} for use in uses]
    if not uses:
        message = f"Expected a result of the tool {name}, found {calls_text(evidence.tools)}"
        return nothing_to_judge(assertion, value, actual, message)
    results = [use.result for use in uses if use.error is None]
    held = any(not compares or is_part(value["result"], result, as_text=True) for result in results)
    found = " and ".join(show(use.result) if use.error is None else f"the error {show(use.error)}" for use in uses)
    return decide(
        assertion,
        held,
        value,
        actual,
        "to have" if compares else "to succeed",
        subject=f"the result of {name}" if compares else f"the tool {name}",
        wanted=show(value["result"]) if compares else "in a call",
        found=shorten(found),
    )


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of these types."""
    name, value = assertion.type, assertion.value
    if name == "tool_result":
        if not isinstance(value, dict) or not isinstance(_tool(value), str) or not _tool(value):
            return '"tool_result" needs "value": {"tool": name, "result": what it has}'
        if stray := sorted(map(str, value.keys() - {"tool", "name", "result"})):
            return f'"tool_result" takes tool and result in its "value", not "{stray[0]}"'
    else:
        if (value is None) == (assertion.name is None):
            return '"tool_called" needs either "name" or "value": the name of a tool'
        items = value if isinstance(value, list) else [assertion.name if value is None else value]
        if not items:
            return '"tool_called" needs at least one tool in "value"'
        for item in items:
            if wrong := tool_problem(item):
                return f'"tool_called" {wrong}'
    wrong = pattern_problem(value)
    return f'"{name}": {wrong}' if wrong else None


def tool_problem(item: Any) -> str | None:
    """What is wrong with a tool as an assertion names it: a name, or `{name, arguments}`."""
    if isinstance(item, str) and item:
        return None
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
        return f'takes the name of a tool, or {{"name", "arguments"}}, not {text_of(item)}'
    stray = sorted(map(str, item.keys() - {"name", "arguments"}))
    return f'takes name and arguments of a tool, not "{stray[0]}"' if stray else None


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


def _tool(value: Any) -> Any:
    return value.get("tool", value.get("name"))


ASSERTIONS = {
    "tool_called": Kind(check=tool_called, problem=problem, fields=("name", "value"), needs=("name", "value")),
    "tool_result": Kind(check=tool_result, problem=problem, fields=("value",), needs=("value",)),
}
"""Types of assertions that are checked here."""
