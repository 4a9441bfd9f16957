"""The processes that the agents of a run answer for scripts: `agent.*`, `agents.<id>.Stream`, `llm.*`, `mcp.*`,
stores; everything else goes to the host functions of the bindings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

from bindings import (
    AnsweredBy,
    HostProcesses,
    KeptCall,
    Mocks,
    ProcessError,
    agent_id,
    called,
    envelope,
    failure_envelope,
    revived,
)
from runner.agents.answer import AgentError, ask_test, completion_record, mocked_process
from runner.agents.call import call_other
from runner.agents.chat import AgentRequest, Messages, Scope, read_messages
from runner.agents.helpers import ask_helper, mocked_verdict, verdict_of
from runner.agents.runtime import Runtime
from runner.connectors.base import ModelRequest
from runner.errors import RunnerError, sentences
from runner.parts import Dependency
from scripttest import MockedCalls, ScriptError, StackFrame
from scripttest.values import Value

Args = list[Any]
MOST_IN_STORE = 16_000_000
"""Characters of the values that one store may have, as JSON."""


class _ProcessCall(Value):
    scope: Scope
    name: str
    args: Args
    with_context: bool


Provider = Callable[[_ProcessCall], Awaitable[Any]]


class AgentProcesses:
    """Implements `scripttest.FunctionServices`: routes the processes that functions of scripts call. Its table is
    complete when it is built, and does not change."""

    runtime: Runtime
    """Of the agents; set when it is made, which needs this."""

    def __init__(self, host: HostProcesses) -> None:
        """`host` answers what the table does not."""
        self._host = host
        self._providers: dict[str, Provider] = {
            "world.reply": lambda call: ask_test(call.scope.chat.world, "reply", call.args),
            "store.load": self._load_store,
            "store.save": self._save_store,
            "agent.call": self._call_agent,
            "agent.validate": self._validate,
            "agent.verdict": self._read_verdict,
            "llm.stream": self._stream,
            "llm.chatcompletions": self._complete,
            "mcp": self._call_server,
            **dict.fromkeys(("agents", "assistants", "ai"), self._call_by_name),
            **dict.fromkeys(("scripts", "services"), self._call_script),
        }
        """By group, the first word of a process name, or by a whole name, which comes first."""

    async def answer(self, owner: Scope, name: str, arguments: str, world: str) -> str:
        """Answers a host call of a function; see `scripttest.FunctionServices`."""
        return _kept(owner, name, arguments, await self._answered(owner, name, arguments, world))

    async def _answered(self, owner: Scope, name: str, arguments: str, world: str) -> str:
        own = owner.chat.world
        before = own.mocks

        def changed() -> Mocks | None:
            return None if own.mocks is before or own.mocks == before else own.mocks or Mocks()

        try:
            own.catch_up(world)
            return envelope(await self.process(owner, name, revived(arguments)), own.clock, changed())
        except ProcessError as error:
            return failure_envelope(error, own.clock, changed())
        except Exception as error:
            broken = ProcessError(f"{name}: {type(error).__name__}: {error}")
            return failure_envelope(broken, own.clock, changed())

    def returned(self, owner: Scope, world: str, mocked: Sequence[MockedCalls]) -> None:
        """Moves the clock to where the function has moved its own; see `scripttest.FunctionServices`."""
        own = owner.chat.world
        own.catch_up(world)
        own.clock.looks += 1  # it may have looked at the clock in its own realm
        for one in mocked:
            own.ledger.note(one.name, AnsweredBy.MOCKED, count=one.count)

    def stopped(self, owner: Scope, frames: tuple[StackFrame, ...]) -> None:
        """Keeps where the innermost function was when time was up; see `scripttest.FunctionServices`."""
        owner.chat.stopped = owner.chat.stopped or frames

    def library(self, module: str, script: str) -> Path:
        """The file of a script; see `scripttest.FunctionServices`."""
        return self._host.library(script)

    async def process(self, scope: Scope, name: str, args: Args, with_context: bool = False) -> Any:
        """Calls a process on behalf of a scope; its JSON value. Mocks are asked first. A function of a script gets the
        context as its last argument `with_context`. Raises ProcessError."""
        mock = await mocked_process(scope.chat.world, name, args)
        if mock is not None:
            return mock.value
        provider = self._providers.get(name.lower()) or self._providers.get(name.partition(".")[0].lower())
        if provider is not None:
            return await self._provided(
                provider, _ProcessCall(scope=scope, name=name, args=args, with_context=with_context)
            )
        return await asyncio.to_thread(self._host.call, name, args, scope.context, scope.chat.world)

    async def _provided(self, provider: Provider, call: _ProcessCall) -> Any:
        """The answer of a provider, which is also written into the ledger. Raises ProcessError."""
        noted = called(call.name, call.args)
        own = "" if noted.startswith("agents.") else noted  # the runtime writes those of agents down
        with call.scope.chat.world.ledger.answering(own, "" if noted else call.name):
            try:
                return await provider(call)
            except (AgentError, RunnerError, ScriptError, ProcessError) as error:
                raise self._failure(call, noted, error) from error

    def _failure(self, call: _ProcessCall, noted: str, error: Any) -> ProcessError:
        if isinstance(error, ProcessError) and not error.missing:
            return error
        of_test = call.scope.assistant is None and not call.with_context  # hooks have frames; models get no places
        message = error.placed if of_test and isinstance(error, AgentError) else error.message
        missing = bool(getattr(error, "missing", False))
        told = [message, *filter(None, [getattr(error, "hint", None)])]
        if missing:
            agent = noted.removeprefix("agents.") if noted.startswith("agents.") else ""
            mock = call.scope.chat.world.mock("agent" if agent else "process", agent or call.name)
            told.append(f"Or mock it with {mock}")
        infrastructure = getattr(error, "infrastructure", False)
        return ProcessError(sentences(*told), getattr(error, "code", 500), missing, infrastructure)

    async def call_tool(self, name: str, args: Args, context: Any) -> Any:
        """Calls the process behind an MCP tool, with the context as its last argument; `context` is a `Scope`. Raises
        ProcessError."""
        return await self.process(context, name, args, with_context=True)

    async def _call_script(self, given: _ProcessCall) -> Any:
        args, at = given.args, None
        script, _, function = given.name.rpartition(".")
        if given.with_context:
            args, at = [*args, None], len(args)
        try:
            library = self._host.library(script)
            return await self.runtime.function(given.scope, library, function, args, context_at=at)
        except AgentError as error:
            if not error.missing:
                raise
            text = f'Process "{given.name}" does not exist: its script has no function {function}'
            raise ProcessError(text, 404, missing=True) from error

    async def _call_server(self, call: _ProcessCall) -> Any:
        if call.args and isinstance(call.args[0], str):
            self.runtime.note(call.scope.chat, Dependency(kind="server", name=call.args[0]))
        return await self.runtime.servers.answer(call.name, call.args, call.scope)

    async def _load_store(self, call: _ProcessCall) -> Any:
        if call.scope.chat.world.link is not None:
            return await ask_test(call.scope.chat.world, "load", call.args)
        return call.scope.chat.world.stores.get(call.args[0], [])

    async def _save_store(self, call: _ProcessCall) -> bool:
        """Whether the store was still as the script has read it, and is now as the script wants it."""
        if call.scope.chat.world.link is not None:
            call.scope.chat.world.clock.writes += 1
            return bool(await ask_test(call.scope.chat.world, "save", call.args))
        id, before, after = call.args
        stores = call.scope.chat.world.stores
        if stores.get(id, []) != before:
            return False
        size = sum(len(text) for _, text, _ in after)
        if size > MOST_IN_STORE:
            raise ProcessError(f"Cannot store {size} characters in {id}: the limit of a store is {MOST_IN_STORE}", 413)
        stores[id] = after
        call.scope.chat.world.clock.writes += 1
        return True

    async def _call_agent(self, call: _ProcessCall) -> Any:
        order = call.args[0] if call.args and isinstance(call.args[0], dict) else {}
        id = order.get("assistant_id") or order.get("agent_id")
        if not isinstance(id, str) or not id:
            raise ProcessError("agent.Call takes an object with assistant_id and messages", 400)
        return await self._ask_agent(call.scope, agent_id(id), order.get("messages"), order)

    async def _call_by_name(self, call: _ProcessCall) -> Any:
        """`agents.<id>.Stream` and `.Call` ask the agent; any other name is a function of its scripts."""
        _, _, rest = call.name.partition(".")
        id, _, method = rest.rpartition(".")
        if not id or method.lower() not in ("stream", "call"):
            return await self._call_script(call)
        scope, args = call.scope, call.args
        first = args[0] if args else None
        if isinstance(first, dict) and ("chat_id" in first or "assistant_id" in first) and len(args) > 1:
            scope = scope.replace(context={**scope.context, **first})
            args = args[1:]
        options = args[1] if len(args) > 1 and isinstance(args[1], dict) else {}
        return await self._ask_agent(scope, agent_id(id), args[0] if args else None, options)

    async def _ask_agent(self, scope: Scope, id: str, messages: Any, options: Mapping[str, Any]) -> Any:
        chunks: list[str] = []
        chat = scope.chat
        own = {key: options[key] for key in ("connector", "mode", "search", "skip", "metadata") if options.get(key)}
        if options.get("model") and "connector" not in own:
            own["connector"] = options["model"]
        if scope.context is not chat.context:
            chat = copy(chat)
            chat.context = scope.context | {key: options[key] for key in ("locale", "route") if key in options}
        answer = await call_other(
            self.runtime,
            AgentRequest(
                agent=id,
                messages=messages_from(messages),
                options=own,
                chat=chat,
                caller=scope,
                on_chunk=chunks.append,
                referer="agent" if scope.assistant else None,
                by=str(scope.context.get("assistant_id") or "") if scope.assistant else "",
            ),
        )
        return {**answer.result(), "chunks": chunks}

    async def _validate(self, call: _ProcessCall) -> Any:
        args = call.args
        order = dict(args[0]) if args and isinstance(args[0], dict) else {}
        agent = order.pop("agent", None) or order.pop("assistant_id", None)
        if not isinstance(agent, str):
            raise ProcessError("agent.Validate takes an object with agent and output", 400)
        agent = agent_id(agent)
        metadata = order.pop("metadata", None) or {}
        if not isinstance(metadata, dict):
            raise ProcessError("metadata of agent.Validate must be an object", 400)
        options = {"metadata": metadata, "connector": order.pop("connector", None)}
        payload = {key: value for key, value in {**metadata, **order}.items() if value is not None}
        answer = await ask_helper(self.runtime, agent, "validator", payload, options, call.scope.chat)
        return verdict_of(agent, answer.output, call.scope.chat.world)

    async def _read_verdict(self, call: _ProcessCall) -> Any:
        agent, reply = call.args
        return mocked_verdict(agent, reply, call.scope.chat.world)

    async def _stream(self, call: _ProcessCall) -> Any:
        chunks: list[str] = []
        connector, completion = await self._ask_model(call.scope, call.args, chunks.append)
        return {
            "connector": connector,
            "response": completion_record(completion),
            "content": completion.content,
            "chunks": chunks,
        }

    async def _complete(self, call: _ProcessCall) -> Any:
        _, completion = await self._ask_model(call.scope, call.args, None)
        record = completion_record(completion)
        message = {key: record[key] for key in ("role", "content", "tool_calls", "refusal") if key in record}
        choice = {"index": 0, "message": message, "finish_reason": completion.ending}
        kept = {key: record[key] for key in ("id", "object", "created", "model", "usage") if key in record}
        return {**kept, "choices": [choice]}

    async def _ask_model(self, scope: Scope, args: Args, on_chunk: Callable[[str], None] | None) -> Any:
        reference = args[0] if args and isinstance(args[0], str) else ""
        options = dict(args[2]) if len(args) > 2 and isinstance(args[2], dict) else {}
        given = options.pop("tools", None) or []
        offered = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
        tools = tuple(item.get("function", item) for item in offered)
        if given != offered or not all(isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in tools):
            raise ProcessError("tools must be a list of objects, each with a name", 400)
        connector = self.runtime.connectors_of(scope.chat).resolve(reference)
        request = ModelRequest(
            messages=messages_from(args[1] if len(args) > 1 else None),
            parameters=options,
            tools=tools,
            on_chunk=on_chunk,
            metadata=scope.context.get("metadata") or {},
            folder=scope.assistant.folder if scope.assistant else None,
        )
        return connector, await self.runtime.ask(connector, request, scope)


def messages_from(value: Any) -> Messages:
    """Messages from a text, a message, or a list of either. Raises ProcessError."""
    messages = read_messages(value)
    if messages is None:
        raise ProcessError("messages must be a string, a message, or a list of messages", 400)
    return messages


def _kept(owner: Scope, name: str, arguments: str, envelope: str) -> str:
    """The answer to a host call, which is kept where the call of the function is."""
    if owner.asked is not None:
        owner.asked.append(KeptCall(name=name, arguments=arguments, envelope=envelope))
    return envelope
