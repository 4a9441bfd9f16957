"""Converts the input of a case to the messages that connectors take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.cases.attachments import content_of
from runner.cases.model import Case, Message, Part
from runner.shapes.fields import FREE

if TYPE_CHECKING:
    from runner.cases.conversations import ConversationTurn, Turn


def messages_of(case: Case, folder: Path) -> list[dict[str, Any]]:
    """The messages of a case in the format of OpenAI's chat API (`runner.connectors.base`), made anew at each call. For
    a case of several turns: the messages before its turns, if there are any.

    Files are read and encoded here, so that only those of running cases are in memory. Relative paths start at
    `folder`, the folder of the case file. Blocks while it reads.

    Raises:
        ConfigurationError: a file cannot be read that could be read when the case file was checked.
    """
    messages = [_message(message, folder) for message in _said(case)]
    if case.attachments:
        _attach(messages, [content_of(part, folder) for part in case.attachments])
    return messages


def message_of(turn: Turn | ConversationTurn, folder: Path) -> dict[str, Any]:
    """What the user says in a turn, its attachments in it, as a message in the form of OpenAI's chat API, new at each
    call. Files are read as by `messages_of`. Raises ConfigurationError."""
    said = turn.input
    if isinstance(said, list):
        said = Message(content=said)
    messages = [_message(said if isinstance(said, Message) else Message(content=said), folder)]
    if turn.attachments:
        _attach(messages, [content_of(part, folder) for part in turn.attachments])
    return messages[0]


def input_of(case: Case) -> Any:
    """The input of a case as it was written: text, message or messages, as a JSON value."""
    return as_written(case.input if case.messages is None else case.messages)


def as_written(said: str | Message | Sequence[Message | Part] | None) -> Any:
    """The user's message as a JSON value."""
    if said is None or isinstance(said, str):
        return said
    if isinstance(said, Message):
        return said.model_dump(exclude_unset=True)
    return [part.model_dump(exclude_unset=True) for part in said]


def _said(case: Case) -> list[Message]:
    if case.messages is not None:
        return case.messages
    if isinstance(case.input, list):
        return case.input
    if case.input is None:
        return []
    return [case.input if isinstance(case.input, Message) else Message(role="user", content=case.input)]


def _message(message: Message, folder: Path) -> dict[str, Any]:
    fields = {key: value for key, value in (message.model_extra or {}).items() if not key.startswith(FREE)}
    if message.tool_calls is not None:
        fields["tool_calls"] = [_tool_call(call.model_dump(exclude_unset=True)) for call in message.tool_calls]
    content: Any = message.content
    if isinstance(content, Part):
        content = [content]
    if isinstance(content, list):
        content = [content_of(part, folder) for part in content]
    return {"role": message.role, "content": content, **fields}


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    """Arguments as the JSON text that models write; case files may have the object."""
    import json

    function = call.get("function", {})
    if not isinstance(function.get("arguments"), dict | list):
        return call
    return {**call, "function": {**function, "arguments": json.dumps(function["arguments"], ensure_ascii=False)}}


def _attach(messages: list[dict[str, Any]], parts: list[dict[str, Any]]) -> None:
    last = next((message for message in reversed(messages) if message["role"] == "user"), None)
    if last is None:
        last = {"role": "user", "content": None}
        messages.append(last)
    content = last["content"]
    before = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    last["content"] = [*before, *parts]
