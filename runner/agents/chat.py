"""One conversation with agents: who speaks, what is remembered, and what happened in it."""

from __future__ import annotations

import json
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from runner.connectors.base import Origin
from scripttest import LogLine
from scripttest.values import Value

if TYPE_CHECKING:
    from bindings import KeptCall, World
    from runner.agents.answer import Answer
    from runner.agents.assistant import AgentVariant, Assistant
    from runner.assertions.base import AgentUse, ToolUse
    from runner.connectors.base import Completion, Usage
    from runner.connectors.http import Endpoint
    from runner.parts import Dependency
    from scripttest import FunctionCall, StackFrame


Messages = list[dict[str, Any]]
Result = TypeVar("Result")

MICROSECONDS = 6
"""Digits of a second that are kept."""
AGENT = "agent"
"""The role of agents that are tested, in traces; helpers have others."""


def read_messages(value: Any) -> Messages | None:
    """Messages from a text, a message, or a list of either; None when it is none of them."""
    messages = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            messages.append({"role": "user", "content": item})
        elif isinstance(item, dict) and _is_message(item):
            messages.append({"role": "user", **item})
        else:
            return None
    return messages


def _is_message(item: dict[str, Any]) -> bool:
    """Whether connectors can read a message: its content is a text, parts, or nothing, and its calls are objects."""
    content, calls = item.get("content"), item.get("tool_calls") or []
    parts = content if isinstance(content, list) else ["" if content is None else content]
    return (
        all(isinstance(part, str) or _is_part(part) for part in parts)
        and isinstance(calls, list)
        and all(isinstance(call, dict) and isinstance(call.get("function", {}), dict) for call in calls)
    )


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and (value.get("type") != "file" or isinstance(value.get("file"), dict))


class ModelCall(Value):
    """One finished call of a model."""

    agent: str
    """Who asked; empty for `ctx.llm`."""
    connector: str
    usage: Usage
    warnings: tuple[str, ...] = ()
    """What is odd about the answer."""
    free: bool = False
    """Whether it cost nothing, since no model was asked: it was scripted, or replayed."""
    embeds: bool = False
    """Whether it was asked for embeddings."""


def span_of(began: float, ended: float, within: int | None) -> list[float]:
    """When something happened, as traces have it: `[began, ended, within?]`, seconds since 1970 in real time, whatever
    the clock of the case is, and the place in `Chat.calls` of the call of an agent that it belongs to."""
    times = [round(began, MICROSECONDS), round(ended, MICROSECONDS)]
    return times if within is None else [*times, within]


class AgentCall:
    """A call of an agent as the trace of a case shows it. It ends after it was noted, hence it changes."""

    def __init__(self, role: str, turn: int, agent: str, within: int | None, chat: str) -> None:
        self.role = role
        self.turn = turn
        self.agent = agent
        self.within = within
        self.chat = chat
        """The chat id that the agent sees."""
        self.began = time.time()
        self.ended: float | None = None
        """None while it is running."""
        self.failed = False


class Step(Value):
    """A call of a model or a tool as the trace of a case shows it."""

    role: str
    """The role of the agent that called: `agent`, or that of a helper, such as `validator`."""
    turn: int
    """0 outside of turns."""
    agent: str
    milliseconds: float
    """On the clock of the case, which is stopped while a call waits in a queue of this tool."""
    span: Sequence[float]
    """See `span_of`."""
    endpoint: Endpoint | None = None
    """Where the model, or the MCP server of the tool, was reached; None: nowhere outside, or not over HTTP."""


class ModelStep(Step):
    """A call of a model, also one that failed."""

    connector: str
    vendor: str
    """The provider of the model, as OpenTelemetry names it: `openai`, `anthropic`."""
    asked: str
    """The model that the connector names; empty when it names none."""
    parameters: Mapping[str, Any]
    """As in `ModelRequest`, after those of the connector."""
    messages: Sequence[Mapping[str, Any]]
    """As they were sent, in OpenAI's form."""
    completion: Completion | None
    """None: it failed."""
    error: str = ""


class ToolStep(Step):
    """A call of a tool."""

    call: str
    """The id that the model gave the call."""
    use: ToolUse


class FunctionRun:
    """A call of a hook or tool, from which it can be called again. It ends after it was noted, hence it changes."""

    def __init__(self, call: FunctionCall) -> None:
        self.call = call
        self.began = time.time() * 1000
        """In milliseconds since 1970."""
        self.asked: list[KeptCall] = []
        """What it asked the host for, with the answers."""
        self.ended = ""
        """JSON of what it returned, or the message of what it threw; empty when it did not end."""


CHAT = "chat"
"""The name under which a world has the chat of a script test."""


class JudgeUse(Value):
    """A judge that was asked."""

    judge: str
    """Id of the agent."""
    connector: str
    """What it used."""


class Chat:
    """The conversation of one user in one world. Chats share nothing with each other."""

    def __init__(self, context: Mapping[str, Any], world: World, *, of_suite: bool = False) -> None:
        """`world` is that of the test or case; several conversations may be held in one. `of_suite`: it belongs to no
        case, but to all of a suite."""
        self.world = world
        self.origin = Origin(suite=world.suite, case=world.test, run=world.run, of_suite=of_suite)
        self.context = dict(context)
        """The fields of `ContextData` in `bindings/src/kernel.ts`."""
        self.history: Messages = []
        """The messages so far, for agents that are called with history."""
        self.uses: list[ToolUse] = []
        """All tools that were used, by any agent, in order."""
        self.agents: list[AgentUse] = []
        """The agents that were called, other than the tested one, in order."""
        self.model_calls: list[ModelCall] = []
        self.steps: list[ModelStep | ToolStep] = []
        """All calls of models and tools, those of helpers too, in the order in which they ended."""
        self.calls: list[AgentCall] = []
        """All calls of agents, those of helpers too, in the order in which they began."""
        self.functions: list[FunctionRun] = []
        """The calls of hooks and tools, in the order in which they began, where the run keeps them."""
        self.framed: Mapping[str, str] = {}
        """Content of a message → what real models get instead. Hooks, mocks and rules of scripted models see the
        content itself."""
        self.role = AGENT
        self.turn = 0
        """The current turn, in a case of several turns."""
        self.sent: list[dict[str, Any]] = []
        """What hooks and tools sent with `ctx.Send`."""
        self.logs: list[LogLine] = []
        """What its scripts wrote, and what the run noted."""
        self.stopped: tuple[StackFrame, ...] = ()
        """Where the hook or tool was in which time ran out, innermost first."""
        self.awaited: list[str] = []
        """What was waited for when time ran out, innermost first; that of helpers, too."""
        self.parts: dict[Dependency, str] = {}
        """What was used in it, with the digests."""
        self.judged_by: list[JudgeUse] = []
        """The judges that were asked; none of those that are scripted."""
        self.variant: AgentVariant | None = None
        """The tested agent's own settings in this variant; None if it has none."""

    def warn(self, text: str) -> None:
        """Adds a warning to what the run notes."""
        self.logs.append(LogLine(level="warn", text=text))

    def note_once(self, text: str) -> None:
        """Adds a note, unless it is there."""
        note = LogLine(level="info", text=text)
        if note not in self.logs:
            self.logs.append(note)

    def beside(self, role: str, context: Mapping[str, Any] | None = None) -> Chat:
        """A chat of a helper in the same world, whose parts and steps are those of this one, but not the messages,
        tools and calls of models. `context`: that of this one, unless it is given."""
        other = Chat(self.context if context is None else context, self.world, of_suite=self.origin.of_suite)
        other.parts, other.steps, other.calls = self.parts, self.steps, self.calls
        other.awaited = self.awaited
        other.turn, other.role = self.turn, role
        return other

    async def wait_for(self, what: str, work: Awaitable[Result]) -> Result:
        """The result of some work; if it is cancelled, `awaited` has what it was."""
        try:
            result = await work
        except CancelledError:
            self.awaited.append(what)
            raise
        self.awaited.clear()
        return result

    def close(self) -> None:
        """Ends it with its world: nothing is held open."""

    @contextmanager
    def calling(self, agent: str, within: int | None) -> Iterator[int]:
        """Notes that an agent is called; the place of the call in `calls`, which ends when the block does."""
        call = AgentCall(self.role, self.turn, agent, within, self.id)
        self.calls.append(call)
        call.failed = True
        try:
            yield len(self.calls) - 1
            call.failed = False
        finally:
            call.ended = time.time()

    @staticmethod
    def span(began: float, within: int | None) -> list[float]:
        """The time since `began`, within a call of `calls`."""
        return span_of(began, time.time(), within)

    def variables(self) -> dict[str, Any]:
        """The values that hooks and tools keep in `ctx.memory.chat`, by key, without expired ones."""
        now = self.world.clock.milliseconds
        entries = self.world.stores.get(f"memory:chat:{self.id}", [])
        return {key: json.loads(text) for key, text, expires in entries if expires is None or expires > now}

    @property
    def id(self) -> str:
        """The chat id."""
        return str(self.context.get("chat_id") or "")


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
    asked: list[KeptCall] | None = None
    """Takes what the script asks for; None: nobody needs it."""

    @property
    def agent(self) -> Assistant:
        """The agent, where the scope is that of one."""
        assert self.assistant is not None
        return self.assistant


class AgentRequest(Value):
    """One call of an agent."""

    agent: str
    """Its id."""
    messages: Messages
    """The messages to it, in OpenAI's format."""
    options: Options
    """`context.Options`, as hooks see them."""
    chat: Chat
    parameters: Mapping[str, Any] = {}
    """Parameters of the model that whoever asks has chosen, over those of the agent."""
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
