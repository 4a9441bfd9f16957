"""The result of one call of an agent, in the shapes of the runtime (facts of the runtime, (c) and (g)); and the results
that mocks give, for calls that the runtime itself makes: processes behind tools, agents that hooks delegate to, agents
that judge.

Calls of scripts are mocked in their realm (`bindings/src/mocks/mocked.ts`). Patterns and replies mean the same on both
sides. docs/mocking.md, "Replies of agents", describes those of agents;
`tests/e2e/mocks/test_agent_mocks.py` checks one table of them on both sides."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bindings import AnsweredBy, Mock, ProcessError, World, answered_value, arguments_text
from runner.assertions.base import ToolUse
from runner.connectors.base import Completion, ToolCall
from runner.errors import sentences
from scripttest import Cause, Failure, code_frame
from scripttest.values import Value

if TYPE_CHECKING:
    from scripttest import StackFrame

PARTS = {"content", "data", "next", "tools", "completion", "response", "error"}
"""Keys of which an object that is an answer has one; any other object is the data of an answer."""


class AgentError(Exception):
    """An agent could not answer; the message says which part of it failed."""

    def __init__(
        self,
        message: str,
        frames: tuple[StackFrame, ...] = (),
        hint: str | None = None,
        infrastructure: bool = False,
        cut: bool = False,
        finish_reason: str = "",
        missing: bool = False,
        server: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.frames = frames
        """The user's frames, innermost first, when a script threw."""
        self.hint = hint
        self.infrastructure = infrastructure
        """Whether a model host, a tool server or a judge failed, rather than the agent."""
        self.cut = cut
        """Whether the answer ended within a call of a tool."""
        self.finish_reason = finish_reason
        """Of the answer that is the error, as its host said it; empty if there was none."""
        self.missing = missing
        """Whether what it has asked for is not here, or was not reached."""
        self.server = server
        """The id of the MCP server that was not."""

    @property
    def failure(self) -> Failure:
        """The failure of a case that it is."""
        cause = Cause.CUT if self.cut else Cause.INFRASTRUCTURE if self.infrastructure else Cause.ERROR
        return Failure(
            cause=cause,
            message=sentences(f"agent error: {self.message}", self.hint),
            frames=self.frames,
            code_frame=code_frame(self.frames[0].location) if self.frames else "",
        )

    @property
    def placed(self) -> str:
        """The message with the place where a script threw, for output without frames."""
        at = self.frames[0].location if self.frames else None
        return self.message + (f" (at {at.file}:{at.line}:{at.column})" if at else "")


class UsedTool(Value):
    """A tool call of the model, with its result or error."""

    call: ToolCall
    use: ToolUse

    def record(self) -> dict[str, Any]:
        """`{toolcall_id, server, tool, arguments, result?, error?}`; `arguments` is the model's text."""
        use = self.use
        record = {
            "toolcall_id": self.call.id,
            "server": use.server,
            "tool": use.name,
            "arguments": self.call.arguments,
        }
        return {**record, "result": use.result} if use.error is None else {**record, "error": use.error}


class Answer(Value):
    """What an agent answered."""

    agent: str
    completion: Completion | None = None
    """The last answer of the model; None when none was asked."""
    tools: tuple[UsedTool, ...] = ()
    next: Any = None
    """`data` of the Next hook."""
    create: Any = None
    """What the Create hook returned."""
    chat_id: str = ""
    connector: str = ""
    """Id of the connector that was asked; empty when none was."""
    of_runner: bool = False
    """Whether the runner of a sandbox has answered, and no model."""

    @property
    def content(self) -> str:
        """The text of the completion; when it has none, that of its refusal."""
        return self.completion.content or self.completion.refusal or "" if self.completion else ""

    @property
    def output(self) -> Any:
        """Next's data, otherwise the text, otherwise the results of tools; a text that is empty only if the model has
        called no tool. None: nothing was asked, or answered."""
        if self.next is not None:
            return self.next
        if (content := self.content) or self.completion is None:
            return content or _said_by_tools(self.tools) or None
        return _said_by_tools(self.tools) or (None if self.completion.tool_calls else "")

    @property
    def ends_with_tools(self) -> bool:
        """Whether the model has called tools and nobody answered afterwards, as with a hook script without `Next`."""
        return self.next is None and self.completion is not None and not self.content and bool(self.tools)

    @property
    def finish_reason(self) -> str:
        """Of the completion, as its host said it; empty if there is none."""
        return self.completion.finish_reason if self.completion is not None else ""

    @property
    def cut(self) -> str:
        """What was done to a text that is not whole, as by `Completion.cut`; empty if it is whole, or if Next has
        answered instead."""
        return self.completion.cut if self.completion is not None and self.next is None else ""

    @property
    def text(self) -> str:
        """The answer as text: the completion, else the output."""
        if content := self.content:
            return content
        output = self.output
        return output if isinstance(output, str) else "" if output is None else json.dumps(output, ensure_ascii=False)

    def response(self) -> dict[str, Any]:
        """`{request_id, context_id, trace_id, chat_id, assistant_id, create?, next?, completion?, tools?}`."""
        record: dict[str, Any] = {
            "request_id": f"{self.chat_id}-request",
            "context_id": f"{self.chat_id}-context",
            "trace_id": f"{self.chat_id}-trace",
            "chat_id": self.chat_id,
            "assistant_id": self.agent,
        }
        if self.create is not None:
            record["create"] = self.create
        if self.next is not None:
            record["next"] = self.next
        if self.completion is not None:
            record["completion"] = completion_record(self.completion, of_runner=self.of_runner)
        if self.tools:
            record["tools"] = [tool.record() for tool in self.tools]
        return record

    def result(self) -> dict[str, Any]:
        """What `ctx.agent.Call` gives: `{agent_id, response, content}`. `content` is the completion's text, else the
        output as text."""
        content: Any = self.content
        if not content:
            output = self.output
            content = output if isinstance(output, str) else "" if output in (None, {}, []) else json.dumps(output)
        return {"agent_id": self.agent, "response": self.response(), "content": content}


def completion_record(completion: Completion, *, of_runner: bool = False) -> dict[str, Any]:
    """`{id, object, created, model, role, content, finish_reason}`, and `usage`, `tool_calls`, `refusal`,
    `reasoning_content` where there are some. `of_runner`: `{role, content?, finish_reason}`, as runners answer."""
    if of_runner:
        said = {"content": completion.content} if completion.content else {}
        return {"role": "assistant", **said, "finish_reason": completion.ending}
    usage = completion.usage
    record: dict[str, Any] = {
        "id": completion.id,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": completion.model,
        "role": "assistant",
        "content": completion.content,
        "finish_reason": completion.ending,
    }
    if not usage.unknown:
        record["usage"] = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
        }
    if completion.tool_calls:
        record["tool_calls"] = tool_call_records(completion)
    if completion.refusal:
        record["refusal"] = completion.refusal
    if completion.reasoning:
        record["reasoning_content"] = completion.reasoning
    return record


def tool_call_records(completion: Completion) -> list[dict[str, Any]]:
    """The tool calls of a completion in the form of a chat message."""
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        | ({"extra_content": json.loads(call.extra_content)} if call.extra_content else {})
        for call in completion.tool_calls
    ]


def _said_by_tools(tools: tuple[UsedTool, ...]) -> str:
    for tool in tools:
        result = tool.use.result
        if isinstance(result, dict) and isinstance(result.get("message"), str) and result["message"]:
            return str(result["message"])
    return " ".join(tool.use.label for tool in tools)


class Reply(Value):
    """The answer of a mock."""

    value: Any


async def mocked_process(world: World, name: str, args: list[Any]) -> Reply | None:
    """The answer of a process's mock; upper and lower case of its name are the same. Raises ProcessError when the
    mock throws."""
    mock = world.mocks.find("process", name) if world.mocks else None
    return None if mock is None else Reply(value=await mock_reply(world, mock, name, args, name))


async def mocked_agent(
    world: World, id: str, messages: list[dict[str, Any]], options: Mapping[str, Any]
) -> Answer | None:
    """The answer of an agent's mock; None when none fits. Raises AgentError for a mock that has an error or throws,
    and for one that is no answer."""
    mock = world.mocks.find("agent", id) if world.mocks else None
    if mock is None:
        return None
    try:
        reply = await mock_reply(world, mock, id, [messages, dict(options)], f"agents.{id}")
    except ProcessError as error:
        raise AgentError(error.message) from error
    return answer_of(id, reply)


async def mock_reply(world: World, mock: Mock, name: str, args: list[Any], noted: str) -> Any:
    """The answer of a mock; that of a script test is made in the realm of the test, which counts the calls. Raises
    ProcessError."""
    if mock.number is None:
        world.ledger.note(noted, AnsweredBy.MOCKED)
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
    finish = str(completion.get("finish_reason") or "stop")
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
    given = record.get("function")
    function = given if isinstance(given, dict) else {}
    name, arguments = str(function.get("name") or ""), function.get("arguments") or ""
    return ToolCall(id=str(record.get("id") or ""), name=name, arguments=_text(arguments))


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
    """Asks the realm of the test, and returns its answer, a JSON value or bytes. `name`: name of a function in
    `bindings/src/mocks/host-questions.ts`. `args`: JSON values and bytes. Raises ProcessError: the function threw an
    error, or the test has ended."""
    link = world.link
    if link is None:
        raise ProcessError("The test has ended: its mocks no longer answer", 503)
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[Heard] = loop.create_future()

    def hear(reply: Heard) -> None:
        if not heard.done():
            heard.set_result(reply)

    def done(envelope: str | None, told: str) -> None:
        loop.call_soon_threadsafe(hear, (envelope, told))

    link(name, arguments_text([world.clock.stopped_at, *args]), done)
    envelope, told = await heard
    if envelope is None:
        raise ProcessError("The test has ended: its mocks no longer answer", 503)
    try:
        world.take(told)
        world.clock.looks += 1  # a mock may have looked at the clock in the realm of the test
        return answered_value(json.loads(envelope))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ProcessError(f"The test returned an invalid answer: {error}", 500) from error
