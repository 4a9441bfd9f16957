"""An agent folder with replies, for tests of the scripted connector."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runner.connectors.base import Completion, ConnectorError, ModelRequest
from runner.connectors.scripted import ScriptedConnector


class Agent:
    """An agent folder with replies, and a conversation with it."""

    def __init__(self, root: Path, replies: str | None) -> None:
        self.folder = root / "assistants/demo"
        self.folder.mkdir(parents=True)
        if replies is not None:
            (self.folder / "replies.yml").write_text(replies, "utf-8")
        self.connector = ScriptedConnector(root)
        self.messages: list[dict[str, Any]] = []
        self.pieces: list[str] = []

    def ask(self, *messages: str | dict[str, Any], **more: Any) -> Completion:
        """The answer to messages, of which texts are the user's."""
        spoken: list[dict[str, Any]] = [
            {"role": "user", "content": message} if isinstance(message, str) else message for message in messages
        ]
        fields = {
            "agent": "demo",
            "folder": self.folder,
            "turn": sum(message["role"] == "user" for message in spoken),
            "on_chunk": self.pieces.append,
            **more,
        }
        return asyncio.run(self.connector.complete(ModelRequest(messages=spoken, **fields)))

    def error(self, *messages: str | dict[str, Any], **more: Any) -> ConnectorError:
        """The error that the answer to messages is."""
        with pytest.raises(ConnectorError) as caught:
            self.ask(*messages, **more)
        return caught.value


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(name: str, result: str, arguments: str = "{}", id: str = "c1") -> list[dict[str, Any]]:
    """A tool call and its result, as the agent sends them."""
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


PROMPTS = [{"role": "system", "content": "You sell tea"}, {"role": "developer", "content": "Be brief"}]
RESULT = ["Go", *called("shop__find", '{"id": 7, "items": [{"n": 1}, {"n": 2}]}', '{"q": "tea"}')]
TOOLS = ({"name": "shop__find", "description": "", "parameters": {}},)
