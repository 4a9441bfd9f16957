"""The result of one call of an agent, in the shapes of the runtime (facts of the runtime, (c) and (g))."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from scripttest import Cause, Failure, code_frame
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.assertions.base import ToolUse
    from runner.connectors.base import Completion, ToolCall
    from scripttest import StackFrame


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
        hint = f". {self.hint}" if self.hint else ""
        cause = Cause.CUT if self.cut else Cause.INFRASTRUCTURE if self.infrastructure else Cause.ERROR
        return Failure(
            cause=cause,
            message=f"agent error: {self.message}{hint}",
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
        if use.error is None:
            return {**record, "result": use.result}
        return {**record, "error": use.error}


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
        if self.content or self.completion is None:
            return self.content or _said_by_tools(self.tools) or None
        return _said_by_tools(self.tools) or (None if self.completion.tool_calls else "")

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
        if self.content:
            return self.content
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
        for call in completion.tool_calls
    ]


def _said_by_tools(tools: tuple[UsedTool, ...]) -> str:
    for tool in tools:
        result = tool.use.result
        if isinstance(result, dict) and isinstance(result.get("message"), str) and result["message"]:
            return str(result["message"])
    return " ".join(tool.use.label for tool in tools)
