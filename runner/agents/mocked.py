"""Mocks for calls that the runtime itself makes: processes behind tools, agents that hooks delegate to, agents that
judge.

Calls of scripts are mocked in their realm (`bindings/src/mocks/mocked.ts`). Patterns and replies mean the same on both
sides. docs/script-tests.md, "Replies of mocked agents", describes those of agents;
`tests/e2e/mocks/test_agent_mocks.py` checks one table of them on both sides.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from bindings import Answered, Mock, ProcessError, World, answered_value, arguments_text
from runner.agents.answer import AgentError, Answer, UsedTool
from runner.agents.chat import Messages
from runner.assertions.base import ToolUse
from runner.connectors.base import Completion, ToolCall
from scripttest.values import Value

PARTS = {"content", "data", "next", "tools", "completion", "response", "error"}
"""Keys of which an object that is an answer has one; any other object is the data of an answer."""


class Reply(Value):
    """The answer of a mock."""

    value: Any


async def mocked_process(world: World, name: str, args: list[Any]) -> Reply | None:
    """The answer of a process's mock; upper and lower case of its name are the same. Raises ProcessError when the
    mock throws."""
    mock = world.mocks.find_process(name) if world.mocks else None
    return None if mock is None else Reply(value=await _reply(world, mock, name, args, name))


async def mocked_agent(world: World, id: str, messages: Messages, options: Mapping[str, Any]) -> Answer | None:
    """The answer of an agent's mock; None when none fits. Raises AgentError for a mock that has an error or throws,
    and for one that is no answer."""
    mock = world.mocks.find_agent(id) if world.mocks else None
    if mock is None:
        return None
    try:
        reply = await _reply(world, mock, id, [messages, dict(options)], f"agents.{id}")
    except ProcessError as error:
        raise AgentError(error.message) from error
    return answer_of(id, reply)


async def _reply(world: World, mock: Mock, name: str, args: list[Any], noted: str) -> Any:
    """The answer of a mock; that of a script test is made in the realm of the test, which counts the calls."""
    if mock.number is None:
        world.ledger.note(noted, Answered.MOCKED)
        return mock.value
    return await ask_test(world, "reply", [mock.number, name, *args])


def answer_of(id: str, reply: Any) -> Answer:
    """The answer that the reply of a mock is. Raises AgentError."""
    if reply is None or isinstance(reply, str):
        return Answer(agent=id, completion=Completion(content=reply or ""))
    parts = reply if isinstance(reply, dict) and PARTS & reply.keys() else {"data": reply}
    if isinstance(parts.get("error"), str):
        raise AgentError(parts["error"])
    parts = {**_part(id, parts, "response", dict, {}), **parts}
    completion = _part(id, parts, "completion", dict, {})
    data = parts.get("next") if parts.get("data") is None else parts["data"]
    said = (parts.get("content"), completion.get("content"), completion.get("refusal"), data)
    content = next((_text(value) for value in said if value not in (None, "", {}, [])), "")
    finish = completion.get("finish_reason") or "stop"
    calls = tuple(_call(call) for call in _part(id, completion, "tool_calls", list, []))
    return Answer(
        agent=id,
        completion=Completion(content=content, tool_calls=calls, finish_reason=finish),
        tools=tuple(_tool(tool) for tool in _part(id, parts, "tools", list, [])),
        next=data,
    )


def _part(id: str, parts: Mapping[str, Any], name: str, kind: type[dict[str, Any]] | type[list[Any]], none: Any) -> Any:
    """A part of a reply, or `none` where it is not given."""
    value = parts.get(name)
    if value is None:
        return none
    if not isinstance(value, kind) or (kind is list and not all(isinstance(item, dict) for item in value)):
        needed = "an object" if kind is dict else "a list of objects"
        raise AgentError(f'The mock of agent "{id}" cannot answer: its {name} is not {needed}')
    return value


def _call(record: Mapping[str, Any]) -> ToolCall:
    function = record.get("function") or {}
    return ToolCall(
        id=str(record.get("id") or ""), name=function.get("name") or "", arguments=function.get("arguments") or ""
    )


def _tool(record: Mapping[str, Any]) -> UsedTool:
    name, arguments = str(record.get("tool") or record.get("name") or ""), record.get("arguments")
    use = ToolUse(
        name=name,
        server=str(record.get("server") or ""),
        arguments=arguments,
        result=record.get("result"),
        error=record.get("error"),
    )
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return UsedTool(call=ToolCall(id=str(record.get("toolcall_id") or ""), name=name, arguments=written), use=use)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


Heard = tuple[str | None, str]


async def ask_test(world: World, name: str, args: list[Any]) -> Any:
    """Asks the realm of the test, and returns its answer, a JSON value or bytes.

    Args:
        name: name of a function in `bindings/src/mocks/host-questions.ts`.
        args: JSON values and bytes.

    Raises:
        ProcessError: the function threw an error, or the test has ended.
    """
    link = world.link
    if link is None:
        raise ProcessError("The test has ended: its mocks answer no more", 503)
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[Heard] = loop.create_future()

    def hear(reply: Heard) -> None:
        if not heard.done():
            heard.set_result(reply)

    def done(envelope: str | None, told: str) -> None:
        loop.call_soon_threadsafe(hear, (envelope, told))

    link.ask(name, arguments_text([world.clock.stopped_at, *args]), done)
    envelope, told = await heard
    if envelope is None:
        raise ProcessError("The test has ended: its mocks answer no more", 503)
    try:
        world.take(told)
        world.clock.looks += 1  # a mock may have looked at the clock in the realm of the test
        return answered_value(json.loads(envelope))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ProcessError(f"The test answered something that is not a valid answer: {error}", 500) from error
