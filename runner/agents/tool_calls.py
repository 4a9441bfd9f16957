"""The calls of tools that a model asks for, and what it hears of them."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

from runner.agents.answer import UsedTool, tool_call_records
from runner.agents.chat import ToolStep
from runner.assertions.base import ToolUse
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
    """The calls of a completion, made side by side, and whether each is worth another try."""

    async def run(index: int) -> tuple[UsedTool, bool]:
        call = completion.tool_calls[index]
        if box is None:
            use = ToolUse(
                name=call.name,
                server="",
                arguments=call.arguments,
                result=None,
                error=f'unknown tool "{call.name}": the agent has none',
            )
            return UsedTool(call=call, use=use), False
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


def _tool_text(tool: UsedTool) -> str:
    if tool.use.error is not None:
        return f"Error: {tool.use.error}"
    return json.dumps(tool.use.result, ensure_ascii=False)
