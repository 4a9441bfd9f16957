"""The calls of tools that a model asks for, and what it hears of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from runner.agents.answer import AgentError, UsedTool, tool_call_records
from runner.agents.chat import ToolStep
from runner.assertions.base import ToolUse
from runner.connectors.base import text_of
from runner.connectors.timing import case_now

if TYPE_CHECKING:
    from runner.agents.chat import Messages, Span
    from runner.agents.mcp.servers import Servers
    from runner.agents.mcp.toolbox import ToolBox
    from runner.agents.requests import Scope
    from runner.connectors.base import Completion


async def use_tools(
    completion: Completion, box: ToolBox | None, scope: Scope, servers: Servers
) -> list[tuple[UsedTool, bool]]:
    """The calls of a completion, made side by side, and whether each is worth another try. Raises AgentError, without
    making any, when the completion is not whole."""

    async def run(index: int) -> tuple[UsedTool, bool]:
        call = completion.tool_calls[index]
        name, why = call.name, f'unknown tool "{call.name}": the agent has none'
        if completion.cut:
            name, why = name.rpartition("__")[2], f"not run: the answer that calls it was {completion.cut}"
        if completion.cut or box is None:
            return UsedTool(call=call, use=ToolUse(name=name, server="", arguments=call.arguments, error=why)), False
        started, began = case_now(), time.time()
        with scope.chat.world.branch(call.name, call.arguments):
            outcome = await box.run(call.name, call.arguments, scope)
        times[index] = (case_now() - started) * 1000
        spans[index] = scope.chat.span(began, scope.call)
        return UsedTool(call=call, use=outcome.use), outcome.retryable

    assert scope.assistant is not None
    times: dict[int, float] = {}
    spans: dict[int, Span] = {}
    runs = list(await asyncio.gather(*[run(index) for index in range(len(completion.tool_calls))]))
    chat = scope.chat
    chat.uses += [run.use for run, _ in runs]
    chat.steps += [
        ToolStep(
            role=chat.role,
            turn=chat.turn,
            agent=scope.assistant.id,
            call=run.call.id,
            use=run.use,
            milliseconds=times.get(index, 0),
            span=spans.get(index) or chat.span(time.time(), scope.call),
            endpoint=servers.endpoint(run.use.server),
        )
        for index, (run, _) in enumerate(runs)
    ]
    if completion.cut:
        names = ", ".join(call.name or "a tool" for call in completion.tool_calls)
        raise AgentError(
            f"the answer in which the model of {scope.assistant.id} calls {names} was {completion.cut}: "
            "no tool was run",
            hint="Raise max_tokens of the agent" if completion.ending == "length" else None,
            cut=True,
            finish_reason=completion.finish_reason,
        )
    return runs


def with_results(
    messages: Messages, completion: Completion, runs: list[tuple[UsedTool, bool]], retry: bool
) -> Messages:
    """The messages of the next request: those of the last one, what the model said, and what came of its calls;
    `retry` asks it to correct those that failed."""
    said = {"role": "assistant", "content": completion.content or None, "tool_calls": tool_call_records(completion)}
    results = [
        {"role": "tool", "tool_call_id": run.call.id, "name": run.call.name, "content": _tool_text(run)}
        for run, _ in runs
    ]
    note = "Some tool calls failed. Correct their arguments and call them again."
    return [*messages, said, *results, *([{"role": "system", "content": note}] if retry else [])]


def loop_report(messages: Messages, tools: Sequence[UsedTool]) -> str:
    """The question to the fallback of a tool loop, as Yao asks it: Markdown of the system messages of the
    conversation (no prompts), what was said, and the results of tools."""
    said = [(str(message.get("role", "user")), text_of(message)) for message in messages]
    context = [text for role, text in said if role == "system"]
    talk = [f"**{role.capitalize()}**: {text}" for role, text in said if role in ("user", "assistant") and text]
    results = [f"### {tool.use.server}.{tool.use.name}\n\n{_fenced(tool)}" for tool in tools]
    parts = {"Assistant Context": context, "Conversation": talk, "Tool Results": results}
    sections = ["\n\n".join((f"## {name}", *texts)) for name, texts in parts.items() if texts]
    task = "Answer the last message of the user from these tool results. Use the language of the user."
    return "\n\n".join((*sections, "---", task))


def _fenced(tool: UsedTool) -> str:
    if tool.use.error is not None:
        return _tool_text(tool)
    return f"```json\n{json.dumps(tool.use.result, ensure_ascii=False, indent=2)}\n```"


def _tool_text(tool: UsedTool) -> str:
    if tool.use.error is not None:
        return f"Error: {tool.use.error}"
    return json.dumps(tool.use.result, ensure_ascii=False)
