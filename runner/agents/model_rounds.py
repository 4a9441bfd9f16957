"""The model of an agent: what it is asked, and the rounds in which it calls tools.

The variables of prompts are replaced when a call is made (facts of the runtime, "Prompts"): `$SYS.*` is the time,
`$ENV.NAME` an environment variable that the application's `.env` names, and `$CTX.NAME` a field of the context or a
scalar of its metadata. A missing value becomes an empty text; an unknown `$SYS` name is left as it is. `{{ $CTX.NAME
}}`, as in Yao's documents, is read as `$CTX.NAME`. The text of a prompt goes to a model, which may repeat it to
anybody: a secret in it is an error, and so is a variable of the machine that is not meant for it.

| agents | rounds |
| --- | --- |
| with a hook script, also one without Next | the model's calls are made once, and again only if they fail |
| without a script | until the model answers in text; past the limit of the loop a fallback answers |"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError, Answer, UsedTool, tool_call_records
from runner.agents.chat import ToolStep
from runner.assertions.base import ToolUse
from runner.connectors.base import Completion, ModelRequest, ToolCall, message_text
from runner.connectors.usage import case_now
from runner.errors import BrokenError, ConfigurationError
from runner.shapes.fields import over

if TYPE_CHECKING:
    from runner.agents.assistant import Assistant
    from runner.agents.chat import AgentRequest, Messages, Scope
    from runner.agents.mcp.servers import Servers
    from runner.agents.mcp.toolbox import ToolBox
    from runner.agents.preparation import Preparation
    from runner.agents.runtime import PromptVariables, Runtime

LOOP_FALLBACK = "__yao.loop_fallback"
"""Id of the agent that answers when a tool loop is at its limit."""
RETRIES = 3
"""How often a model is asked instead of the tool loop, to correct tool calls that failed."""
CREATE_PARAMETERS = ("temperature", "max_tokens", "max_completion_tokens", "audio")
_VARIABLE = r"\{\{\s*\$(SYS|ENV|CTX)\.(\w+)\s*\}\}|\$(SYS|ENV|CTX)\.(\w+)"
_TIMES = {
    "TIME": "%H:%M:%S",
    "DATE": "%Y-%m-%d",
    "DATETIME": "%Y-%m-%d %H:%M:%S",
    "WEEKDAY": "%A",
    "YEAR": "%Y",
    "MONTH": "%m",
    "DAY": "%d",
    "HOUR": "%H",
    "MINUTE": "%M",
    "SECOND": "%S",
}


class ModelRounds:
    """One call of an agent, as far as its model is concerned, or the runner that stands for it; `Call` has the rest."""

    def __init__(self, runtime: Runtime, scope: Scope, request: AgentRequest) -> None:
        self._runtime = runtime
        self._scope = scope
        self._assistant = scope.agent
        self._request = request
        self._messages = request.messages
        self._options = request.options
        self._settings: dict[str, Any] = {}
        """What the Create hook returned."""

    async def _call_other(self, request: AgentRequest) -> Answer:
        """Calls another agent. Raises AgentError and ConfigurationError."""
        raise NotImplementedError

    async def _delegate(self, who: str, order: Any) -> Answer:
        """Has another agent answer; `order` is `{agent_id, messages?, options?}`."""
        raise NotImplementedError

    async def _ask_runner(self, said: Messages) -> Completion:
        """The answer of the runner of a sandbox, which is asked instead of the model; `said` are the messages to it."""
        from runner.agents.sandbox import run

        prompts = [prompt for prompt in self._assistant.prompts if prompt["role"] == "system"][:1]
        opening = self._filled(prompts, self._runtime.variables)
        return await run(self._runtime, self._to_model(await self._searched(opening + said, said)), self._scope)

    async def _converse(self, said: Messages, servers: tuple[Any, ...]) -> Answer:
        """The answer of the model to messages, with the tools that it has called. Raises AgentError and
        ConfigurationError."""
        assistant, settings, chat = self._assistant, self._settings, self._scope.chat
        box = None
        if servers:
            own = not settings.get("mcp_servers")
            where = (
                f"Create of {assistant.id}" if servers != assistant.servers else str(assistant.folder / "package.yao")
            )
            try:
                box = await self._runtime.toolbox(servers, where, chat, may_lack=own)
            except ConfigurationError as error:
                raise (_broken(error) if own else error) from error.__cause__
            for warning in box.warnings:
                chat.warn(warning)
        messages = await self._searched(self._opening(box) + said, said)
        connectors = self._runtime.connectors_of(chat)
        chosen = self._options.get("connector") or settings.get("connector")
        try:
            connector = connectors.resolve(chosen or assistant.connector)
            connectors.find(connector)
        except ConfigurationError as error:
            raise (error if chosen else _broken(error)) from error.__cause__
        variant = chat.variant
        undescribed = variant.undescribed if variant is not None and variant.agent == assistant.id else ""
        returned = {key: settings[key] for key in CREATE_PARAMETERS if settings.get(key) is not None}
        request = self._to_model(
            await self._seen(messages, connector),
            parameters=over(over(assistant.parameters, self._request.parameters), returned),
            chosen=self._request.parameters,
            tools=tuple(box.tools(undescribed)) if box else (),
        )
        hooked = assistant.script is not None
        rounds = RETRIES if hooked else 1 + assistant.turns if assistant.loops else 1
        first: Answer | None = None
        used: list[UsedTool] = []
        for turn in range(1, rounds + 1):
            completion = await self._runtime.ask(connector, request, self._scope)
            answer = Answer(agent=assistant.id, completion=completion, connector=connector, chat_id=chat.id)
            if not completion.tool_calls:
                return answer.replace(tools=tuple(used)) if used else answer
            runs = await _use_tools(completion, box, self._scope, self._runtime.servers)
            used += [run for run, _ in runs]
            first = first or answer.replace(tools=tuple(used))
            retry = hooked and any(retryable for _, retryable in runs)
            if turn == rounds or (hooked and not retry):
                break
            request = request.replace(messages=_with_results(request.messages, completion, runs, retry))
        assert first is not None
        if hooked or not assistant.loops:
            return answer.replace(tools=tuple(used))
        return await self._after_loop(said, first)

    async def _after_loop(self, messages: Messages, first: Answer) -> Answer:
        """The answer of an agent whose model still calls tools at the limit of the tool loop: that of the fallback
        agent, which gets the conversation and the first round of tools; if it has none, that first round itself."""
        id, limit = self._assistant.id, self._assistant.turns
        ended = f"the model of {id} still called tools after {1 + limit} model calls (mcp.options.max_turn: {limit})"
        report = [{"role": "user", "content": _loop_report(messages, first.tools)}]
        try:
            answer = await self._delegate("The tool loop", {"agent_id": LOOP_FALLBACK, "messages": report})
        except AgentError as error:
            self._scope.chat.warn(f"{ended}; its first response is the answer, since no fallback gave one: {error}")
            return first
        self._scope.chat.note_once(f"{ended}, so {LOOP_FALLBACK} answered")
        return answer

    def _to_model(self, messages: Messages, **more: Any) -> ModelRequest:
        return ModelRequest(
            messages=messages,
            on_chunk=self._request.on_chunk,
            agent=self._assistant.id,
            folder=self._assistant.folder,
            turn=sum(message.get("role", "user") == "user" for message in self._messages),
            metadata=self._scope.context["metadata"],
            **more,
        )

    async def _searched(self, messages: Messages, said: Messages) -> Messages:
        """The messages to the model, with references if the agent searches before it is asked."""
        own, settings = self._assistant, self._settings
        asking = (own.search, own.uses.get("search"), settings.get("search"), settings.get("uses"))
        if not any(asking) and not self._options.get("search"):
            return messages
        return await self._preparation.with_references(messages, said)

    async def _seen(self, messages: Messages, connector: str) -> Messages:
        """The messages as a model can see them: words instead of images, if it does not see."""
        if not any(isinstance(message.get("content"), list | dict) for message in messages):
            return messages
        skip = self._options.get("skip")
        if isinstance(skip, dict) and skip.get("content_parsing"):
            return messages
        return await self._preparation.with_words_for_images(messages, connector)

    @cached_property
    def _preparation(self) -> Preparation:
        from runner.agents.preparation import Preparation

        return Preparation(self._runtime, self._scope, self._call_other, self._settings, self._options)

    def _opening(self, box: ToolBox | None) -> Messages:
        """The prompts as messages, and the examples of tools."""
        runtime, assistant, metadata = self._runtime, self._assistant, self._scope.context["metadata"]
        off = self._settings.get("disable_global_prompts")
        if off is None:
            off = metadata.get("__disable_global_prompts")
        if off is None:
            off = not assistant.global_prompts or self._options.get("disable_global_prompts")
        prompts = [] if off else list(runtime.assistants.global_prompts)
        preset = self._settings.get("prompt_preset") or metadata.get("__prompt_preset")
        own = runtime.assistants.preset(assistant, str(preset)) if preset else None
        if preset and own is None:
            self._scope.chat.warn(f"{assistant.id} has no prompt preset {preset}; the default prompts are used")
        prompts += assistant.prompts if own is None else own
        messages = self._filled(prompts, runtime.variables_of(self._scope.chat))
        samples = box.samples_message() if box else None
        return [*messages, {"role": "system", "content": samples}] if samples else messages

    def _filled(self, prompts: Sequence[Mapping[str, Any]], variables: PromptVariables) -> Messages:
        """Prompts as messages, their variables replaced. Raises BrokenError for an environment variable that they may
        not use."""
        if not any("$" in prompt["content"] for prompt in prompts):
            return [dict(prompt) for prompt in prompts]
        runtime, context = self._runtime, self._scope.context
        named = runtime.assistants.localized(self._assistant, str(context.get("locale") or ""))
        fields, now = _context_fields(named, context), runtime.now(self._scope.chat)

        def value(match: re.Match[str]) -> str:
            kind, name = match[1] or match[3], match[2] or match[4]
            if kind == "SYS":
                if name == "TIMEZONE":
                    return str(now.tzname() or "UTC")
                return now.strftime(_TIMES[name]) if name in _TIMES else match[0]
            if kind == "ENV":
                return variables.value(name, named.id)
            return fields.get(name, fields.get(name.upper(), ""))

        return [{**prompt, "content": re.sub(_VARIABLE, value, prompt["content"])} for prompt in prompts]


def _context_fields(assistant: Assistant, context: Mapping[str, Any]) -> dict[str, str]:
    authorized = context.get("authorized") or {}
    fields = {
        "ASSISTANT_ID": assistant.id,
        "ASSISTANT_NAME": assistant.name,
        "ASSISTANT_DESCRIPTION": assistant.description,
        "ASSISTANT_TYPE": assistant.type,
        "CHAT_ID": context.get("chat_id"),
        "LOCALE": context.get("locale"),
        "THEME": context.get("theme"),
        "ROUTE": context.get("route"),
        "REFERER": context.get("referer"),
        "CLIENT_TYPE": (context.get("client") or {}).get("type"),
        "USER_ID": authorized.get("user_id"),
        "TEAM_ID": authorized.get("team_id"),
        "TENANT_ID": authorized.get("tenant_id"),
        "WORKSPACE_ID": authorized.get("workspace_id"),
    }
    named = {name: str(value or "") for name, value in fields.items()}
    for name, value in (context.get("metadata") or {}).items():
        if isinstance(value, str | int | float):
            named.setdefault(name, str(value).lower() if isinstance(value, bool) else str(value))
    return named


async def _use_tools(
    completion: Completion, box: ToolBox | None, scope: Scope, servers: Servers
) -> list[tuple[UsedTool, bool]]:
    """The calls of a completion, made side by side, and whether each is worth another try. Raises AgentError, without
    making any, when the completion is not whole."""

    chat = scope.chat

    async def run(call: ToolCall) -> tuple[ToolStep, bool]:
        name, why, retryable = call.name, f'unknown tool "{call.name}": the agent has none', False
        started, began = case_now(), time.time()
        if completion.cut:
            name, why = name.rpartition("__")[2], f"not run: the response that calls it was {completion.cut}"
        if completion.cut or box is None:
            use = ToolUse(name=name, server="", arguments=call.arguments, error=why)
        else:
            with chat.world.branch(call.name, call.arguments):
                outcome = await chat.wait_for(f"the tool {name}", box.run(name, call.arguments, scope))
            use, retryable = outcome.use, outcome.retryable
        step = ToolStep(
            role=chat.role,
            turn=chat.turn,
            agent=scope.agent.id,
            call=call.id,
            use=use,
            milliseconds=(case_now() - started) * 1000,
            span=chat.span(began, scope.call),
            endpoint=servers.endpoint(use.server),
        )
        return step, retryable

    made = await asyncio.gather(*map(run, completion.tool_calls))
    chat.uses += [step.use for step, _ in made]
    chat.steps += [step for step, _ in made]
    if completion.cut:
        names = ", ".join(call.name or "a tool" for call in completion.tool_calls)
        raise AgentError(
            f"the response in which the model of {scope.agent.id} calls {names} was {completion.cut}: no tool was run",
            hint="Raise max_tokens of the agent" if completion.ending == "length" else None,
            cut=True,
            finish_reason=completion.finish_reason,
        )
    calls = zip(completion.tool_calls, made, strict=True)
    return [(UsedTool(call=call, use=step.use), retryable) for call, (step, retryable) in calls]


def _with_results(
    messages: Messages, completion: Completion, runs: list[tuple[UsedTool, bool]], retry: bool
) -> Messages:
    """The messages of the next request: those of the last one, what the model said, and what came of its calls;
    `retry` asks it to correct those that failed."""
    said = {"role": "assistant", "content": completion.content or None, "tool_calls": tool_call_records(completion)}
    if completion.returned:
        said |= json.loads(completion.returned)
    results = [
        {"role": "tool", "tool_call_id": run.call.id, "name": run.call.name, "content": _tool_text(run)}
        for run, _ in runs
    ]
    note = "Some tool calls failed. Correct their arguments and call them again."
    return [*messages, said, *results, *([{"role": "system", "content": note}] if retry else [])]


def _loop_report(messages: Messages, tools: Sequence[UsedTool]) -> str:
    """The question to the fallback of a tool loop, as Yao asks it: Markdown of the system messages of the
    conversation (no prompts), what was said, and the results of tools."""
    said = [(str(message.get("role", "user")), message_text(message)) for message in messages]
    context = [text for role, text in said if role == "system"]
    talk = [f"**{role.capitalize()}**: {text}" for role, text in said if role in ("user", "assistant") and text]
    results = [f"### {tool.use.server}.{tool.use.name}\n\n{_fenced(tool)}" for tool in tools]
    parts = {"Assistant Context": context, "Conversation": talk, "Tool Results": results}
    sections = ["\n\n".join((f"## {name}", *texts)) for name, texts in parts.items() if texts]
    task = "Answer the last message of the user from these tool results. Use the language of the user."
    return "\n\n".join((*sections, "---", task))


def _fenced(tool: UsedTool) -> str:
    if tool.use.error is not None:
        return _tool_text(tool)
    return f"```json\n{json.dumps(tool.use.result, ensure_ascii=False, indent=2)}\n```"


def _tool_text(tool: UsedTool) -> str:
    if tool.use.error is not None:
        return f"Error: {tool.use.error}"
    return json.dumps(tool.use.result, ensure_ascii=False)


def _broken(error: ConfigurationError) -> BrokenError:
    """The same as a fault of files of the agent, rather than of who asks it."""
    broken = BrokenError(error.message, error.hint)
    broken.missing = error.missing
    return broken
