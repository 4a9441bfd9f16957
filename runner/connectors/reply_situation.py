"""The request to a scripted model, with the names that reply rules use.

| name | value |
| --- | --- |
| input | text of the last user message, or its fields if that text is JSON |
| system | text of all system messages |
| turn | number of user messages so far, from 1 |
| call | number of the model call in this turn, from 1; the second one comes after results of tools |
| tool | `{name, arguments, result}` of the last result of a tool; null if the user spoke last |
| tools | names of the offered tools, without their servers |
| metadata | `ctx.metadata` |
| agent | id of the asking agent |
| messages | all messages of the request |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runner.connectors.parts import text_of

if TYPE_CHECKING:
    from runner.connectors.base import Message, ModelRequest

NAMES = ("input", "system", "turn", "call", "tool", "tools", "metadata", "agent", "messages")

ValuePath = tuple[str, ...]
"""`tool.result.id` in its parts."""


class Situation:
    """The values of one request, or of an earlier point of its conversation, each found when it is first looked at."""

    def __init__(self, request: ModelRequest, length: int | None = None) -> None:
        """`length` is how many of the messages had been there; all, when it is not given."""
        self._request = request
        self._messages = request.messages if length is None else request.messages[:length]
        self._known: dict[str, Any] = {}

    def value(self, path: ValuePath) -> Any:
        """The value at a path. Raises KeyError when there is none."""
        value = self._named(path[0])
        for step in path[1:]:
            if isinstance(value, str):
                value = _parsed(value)
            if isinstance(value, Mapping):
                value = value[step]
            elif (
                isinstance(value, list) and step.removeprefix("-").isdecimal() and -len(value) <= int(step) < len(value)
            ):
                value = value[int(step)]
            else:
                raise KeyError(step)
        return value

    def earlier(self) -> list[Situation]:
        """The situations in which the answers that are part of the conversation were given, oldest first."""
        return [
            Situation(self._request, length)
            for length, message in enumerate(self._messages)
            if role_of(message) == "assistant"
        ]

    @property
    def answers(self) -> int:
        """How many answers are part of the conversation."""
        return sum(role_of(message) == "assistant" for message in self._messages)

    def _named(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = getattr(self, f"_find_{name}")()
        return self._known[name]

    def _find_input(self) -> str:
        for message in reversed(self._messages):
            if role_of(message) == "user":
                return text_of(message)
        return ""

    def _find_system(self) -> str:
        texts = [text_of(message) for message in self._messages if role_of(message) in ("system", "developer")]
        return "\n".join(texts)

    def _find_turn(self) -> int:
        later = self._request.messages[len(self._messages) :]
        spoken: int = self._request.turn
        return spoken - sum(role_of(message) == "user" for message in later)

    def _find_call(self) -> int:
        count: int = 1
        for message in reversed(self._messages):
            if role_of(message) == "user":
                break
            if role_of(message) == "assistant":
                count += 1
        return count

    def _find_tool(self) -> dict[str, Any] | None:
        result = None
        for message in reversed(self._messages):
            role = role_of(message)
            if role == "tool":
                result = result or message
            elif role in ("user", "assistant"):
                return _tool_use(message, result) if result else None
        return _tool_use({}, result) if result else None

    def _find_tools(self) -> list[str]:
        return [bare_name(tool["name"]) for tool in self._request.tools]

    def _find_metadata(self) -> Mapping[str, Any]:
        return self._request.metadata

    def _find_agent(self) -> str:
        return self._request.agent

    def _find_messages(self) -> list[Message]:
        return self._messages


def role_of(message: Message) -> str:
    """The role of a message's author; `user` when the message has none."""
    return message.get("role") or "user"


def bare_name(tool: str) -> str:
    """A tool's name without its server: `create` of `expense__create`."""
    return tool.partition("__")[2] or tool


def _tool_use(asking: Message, result: Message) -> dict[str, Any]:
    """The tool of a result; the message before it has the call."""
    found = {"name": bare_name(result.get("name") or ""), "arguments": None, "result": _parsed(text_of(result))}
    for call in asking.get("tool_calls") or ():
        if call.get("id") == result.get("tool_call_id"):
            function = call.get("function") or call
            arguments = function.get("arguments")
            found["name"] = bare_name(function.get("name") or "")
            found["arguments"] = _parsed(arguments) if isinstance(arguments, str) else arguments
    return found


def _parsed(text: str) -> Any:
    """The JSON value that a text is, or the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
