"""Images for models that do not see: what `uses.vision` names looks at them, and its words take their place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bindings import ProcessError, agent_id
from runner.agents.answer import AgentError
from runner.agents.requests import AgentRequest
from runner.connectors.base import content_parts, url_of
from runner.connectors.definition import capabilities_of
from runner.errors import RunnerError

if TYPE_CHECKING:
    from runner.agents.chat import Messages
    from runner.agents.requests import CallAgent, Scope
    from runner.agents.runtime import Runtime

QUESTION = "Please analyze this image."
TOOL = "describe_image"
"""The tool of an MCP server that is asked."""
FAILED = "[Image content could not be processed]"
NOBODY = "[Image content - vision model not available]"


async def with_words_for_images(
    runtime: Runtime,
    scope: Scope,
    call_agent: CallAgent,
    *,
    connector: str,
    messages: Messages,
    handler: str,
    forced: bool,
) -> Messages:
    """The messages to a model, with words instead of images of users if the model does not see, or if it is `forced`.
    `handler` is `uses.vision`: an agent, or `mcp:server`; empty: nobody looks at images."""
    connectors = runtime.connectors_of(scope.chat)
    sees = capabilities_of(connectors.settings(connector), connectors.model(connector)).vision
    if sees and not (forced and handler):
        return messages
    looked = _Looking(runtime, scope, call_agent, connector, handler)
    return [await looked.at(message) for message in messages]


class _Looking:
    def __init__(self, runtime: Runtime, scope: Scope, call_agent: CallAgent, connector: str, handler: str) -> None:
        self._runtime = runtime
        self._scope = scope
        self._call_agent = call_agent
        self._connector = connector
        self._handler = handler

    async def at(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message without its images, if a user sent some."""
        parts = content_parts(message)
        if message.get("role") != "user" or all(part.get("type") != "image_url" for part in parts):
            return message
        words = [
            {"type": "text", "text": await self._words(part)} if part.get("type") == "image_url" else part
            for part in parts
        ]
        return {**message, "content": words}

    async def _words(self, part: dict[str, Any]) -> str:
        chat, url = self._scope.chat, url_of(part, "image_url")
        assert self._scope.assistant is not None
        if not self._handler:
            blind = f"the model of {self._connector} does not see, so it gets a placeholder for an image"
            way = f'Name an agent that sees in package.yao of {self._scope.assistant.id}: "uses": {{"vision": ...}}'
            chat.world.ledger.note_missing("uses.vision", f"{blind}. {way}")
            return NOBODY
        try:
            if self._handler.startswith("mcp:"):
                return await self._of_tool(self._handler.removeprefix("mcp:"), url)
            return await self._of_agent(agent_id(self._handler), url)
        except (AgentError, ProcessError, RunnerError) as error:
            chat.warn(f"{self._handler} could not look at an image: {error}")
            return FAILED

    async def _of_agent(self, agent: str, url: str) -> str:
        assert self._scope.assistant is not None
        image = {"type": "image_url", "image_url": {"url": url, "detail": "auto"}}
        request = AgentRequest(
            agent=agent,
            messages=[{"role": "user", "content": [{"type": "text", "text": QUESTION}, image]}],
            options={"skip": {"history": True, "output": True}},
            chat=self._scope.chat,
            caller=self._scope,
            referer="agent",
            by=self._scope.assistant.id,
        )
        answer = await self._call_agent(request)
        if answer.next is None:
            return answer.text
        return answer.next if isinstance(answer.next, str) else json.dumps(answer.next, ensure_ascii=False)

    async def _of_tool(self, server: str, url: str) -> str:
        from runner.agents.mcp.answers import ask_tool

        arguments = {"image": url, "content_type": url.partition(";")[0].removeprefix("data:")}
        return await ask_tool(self._runtime.servers, server, TOOL, arguments, self._scope, self._scope.chat.world)
