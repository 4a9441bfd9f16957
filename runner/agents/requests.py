"""What an agent is asked, and on whose behalf."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.agents.assistant import Assistant
    from runner.agents.chat import Chat, Messages

Options = dict[str, Any]
"""`context.Options`: connector, mode, search, skip, metadata, disable_global_prompts."""


class Scope(Value):
    """On whose behalf a script runs."""

    chat: Chat
    assistant: Assistant | None
    context: dict[str, Any]
    depth: int
    """How many agents are waiting for this one."""
    call: int | None = None
    """Place in `Chat.calls` of the call of the agent; None outside of one."""


class AgentRequest(Value):
    """One call of an agent."""

    agent: str
    """Its id."""
    messages: Messages
    """The messages to it, in OpenAI's format."""
    options: Options
    chat: Chat
    caller: Scope | None = None
    """The agent, or the script, that waits for it."""
    on_chunk: Callable[[str], None] | None = None
    """Called with pieces of the model's text."""
    referer: str | None = None
    """`ctx.referer` of the call, if it differs from the chat's."""
    by: str = ""
    """Id of the agent that asks; empty if the chat does not record the call."""
    delegated: bool = False
    """Whether it answers in place of the agent that asks."""


CallAgent = Callable[[AgentRequest], "Awaitable[Answer]"]
"""Calls another agent than the tested one. Raises AgentError and ConfigurationError."""
