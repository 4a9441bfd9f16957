"""Agents that help to test (facts of the runtime, "Helper agents"): validators judge an answer, simulators play the
user, generators make cases, reporters write reports. All are asked in the same way, with a payload."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError
from runner.agents.call import call_other
from runner.agents.chat import Chat
from runner.agents.requests import AgentRequest
from runner.errors import ConfigurationError

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.agents.runtime import Runtime


class Helpers:
    """Asks helper agents. A helper has a chat of its own, with the identity of the chat it helps."""

    def __init__(self, runtime: Runtime, fallback: str) -> None:
        """`fallback` is the connector for helpers that have none, when the application has no default."""
        self._runtime = runtime
        self._fallback = fallback

    async def ask(
        self, agent: str, role: str, payload: Mapping[str, Any], options: Mapping[str, Any], chat: Chat
    ) -> Answer:
        """Calls a helper once.

        Args:
            agent: its id.
            role: `validator`, `simulator`, `generator` or `reporter`; the helper gets it as `test_mode`.
            payload: its message and its metadata, JSON values.
            options: `connector`, `metadata`, `mode`, `search`, `disable_global_prompts`.

        Raises:
            AgentError: it failed.
            ConfigurationError: there is no such agent.
        """
        metadata = {**payload, **(options.get("metadata") or {}), "test_mode": role}
        connector = options.get("connector")
        if not connector and not self._has_connector(agent):
            connector = self._fallback or chat_connector(chat) or self._tested(chat)
        call = {key: options[key] for key in ("mode", "search", "disable_global_prompts") if options.get(key)}
        call |= {"metadata": metadata, "skip": {"history": True, "trace": True, "output": True}}
        if connector:
            call["connector"] = connector
        context = {**chat.context, "chat_id": f"{chat.id}-{role}", "metadata": {}}
        own = Chat(context, chat.world, of_suite=chat.origin.of_suite)
        own.parts, own.steps, own.calls, own.turn, own.role = chat.parts, chat.steps, chat.calls, chat.turn, role
        content = json.dumps(payload, ensure_ascii=False)
        if role == "validator" and "output" in payload:
            own.framed = {content: json.dumps(framed(payload), ensure_ascii=False)}
        messages = [{"role": "user", "content": content}]
        try:
            request = AgentRequest(agent=agent, messages=messages, options=call, chat=own)
            answer = await call_other(self._runtime, request)
        except AgentError as error:
            error.infrastructure = error.infrastructure or error.cut
            raise
        finally:
            chat.model_calls += own.model_calls
        return whole(role, answer)

    def _has_connector(self, agent: str) -> bool:
        """Whether a helper has a connector, be it the application's; also of one that is not there, which a mock may
        answer for."""
        try:
            assistant = self._runtime.assistants.get(agent)
        except ConfigurationError:
            return True
        return bool(assistant.connector) or self._runtime.connectors.has_role("default")

    def _tested(self, chat: Chat) -> str:
        """The connector of the agent that the chat belongs to; empty when it has none."""
        id = chat.context.get("assistant_id")
        return self._runtime.assistants.get(id).connector if id else ""


def whole(role: str, answer: Answer) -> Answer:
    """The answer of a helper. Raises AgentError if it says that it is not whole."""
    if answer.cut:
        raise AgentError(f"the answer of the {role} {answer.agent} was {answer.cut}", infrastructure=True)
    return answer


def framed(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What a model gets that judges `output`: the same, with a boundary before the output and after it. The boundary is
    a digest of the output: no output can have its own in it, and equal ones have the same."""
    from hashlib import sha256

    written = json.dumps(payload["output"], sort_keys=True)
    boundary = f"answer-{sha256(written.encode()).hexdigest()[:32]}"
    others = {key: value for key, value in payload.items() if key != "output"}
    return {"output_begins": boundary, "output": payload["output"], "output_ends": boundary, **others}


def chat_connector(chat: Chat) -> str:
    """The connector that the chat's agents have used, newest first; empty when none was."""
    return next((call.connector for call in reversed(chat.model_calls)), "")
