"""The steps of one call of an agent, in the order of the real runtime (facts of the runtime, (d)).

| step | rule |
| --- | --- |
| Create | may replace messages, parameters, preset and servers, or delegate; after delegating no other step follows |
| model | is asked only for agents with prompts or MCP servers |
| tools | with a hook script, also one without Next: the model's calls are made once, and again only if they fail |
| | without a script: the loop continues until the model answers in text |
| Next | may set the data of the answer, or delegate |
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.agents import sandbox
from runner.agents.answer import AgentError, Answer, UsedTool, completion_record, tool_call_records
from runner.agents.chat import Messages, Span, ToolStep, read_messages
from runner.agents.prompts import fill
from runner.agents.requests import AgentRequest
from runner.connectors.base import Completion, ModelRequest
from runner.connectors.load import RUNNER
from runner.connectors.timing import case_now
from runner.errors import BrokenError, ConfigurationError
from scripttest import FunctionCall

if TYPE_CHECKING:
    from runner.agents.mcp.toolbox import ToolBox
    from runner.agents.requests import Options, Scope
    from runner.agents.runtime import Runtime

HOOKS = frozenset(("Create", "Next"))
RETRIES = 3
"""How often a model is asked instead of the tool loop, to correct tool calls that failed."""
CREATE_PARAMETERS = ("temperature", "max_tokens", "max_completion_tokens", "audio")
CREATE_CONTEXT = ("locale", "theme", "route")
CREATE_KINDS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys((*CREATE_CONTEXT, "connector", "prompt_preset"), (str, "a text")),
    **dict.fromkeys(("temperature", "max_tokens", "max_completion_tokens"), (int | float, "a number")),
    "metadata": (dict, "an object"),
    "mcp_servers": (list, "a list"),
}
"""Field of what Create returns → what it has to be, for messages too."""


class Call:
    """One call of an agent, on behalf of a scope."""

    def __init__(
        self,
        runtime: Runtime,
        scope: Scope,
        messages: Messages,
        options: Options,
        on_chunk: Callable[[str], None] | None,
    ) -> None:
        assert scope.assistant is not None
        self._runtime = runtime
        self._scope = scope
        self._assistant = scope.assistant
        self._messages = messages
        self._options = options
        self._on_chunk = on_chunk

    async def run(self) -> Answer:
        """All steps; see `Runtime.call`."""
        if self._assistant.script is not None and not HOOKS & await self._runtime.hooks(self._assistant):
            await self._runtime.evaluate(self._scope)
        self._tell_of_sandbox()
        if self._assistant.sandbox is not None:
            await sandbox.prepare(self._runtime, self._scope)
        create = await self._hook("Create", [self._messages, self._options])
        settings = self._object("Create", create)
        for key, (kind, named) in CREATE_KINDS.items():
            if settings.get(key) is not None and not isinstance(settings[key], kind):
                raise self._nonsense(f"Create of {self._assistant.id} must return {key} as {named}", settings[key])
        if settings.get("delegate"):
            return await self._delegate("Create", settings["delegate"])
        self._apply(settings)
        completion: Completion | None = None
        tools: tuple[UsedTool, ...] = ()
        connector = ""
        servers = settings.get("mcp_servers") or self._assistant.servers
        if self._assistant.prompts or servers:
            if self._assistant.sandbox is not None:
                completion, connector = await self._run_sandbox(settings), RUNNER
            else:
                completion, tools, connector = await self._converse(settings, tuple(servers))
        answer = Answer(
            agent=self._assistant.id,
            completion=completion,
            tools=tools,
            next=None,
            create=create or None,
            connector=connector,
            of_runner=connector == RUNNER,
        )
        return await self._finish(answer)

    async def _finish(self, answer: Answer) -> Answer:
        completed = answer.completion
        payload = {
            "messages": self._messages,
            "completion": completed and completion_record(completed, of_runner=answer.of_runner),
            "tools": None if self._assistant.sandbox is not None else [tool.record() for tool in answer.tools],
            "error": "",
        }
        result = await self._hook("Next", [payload, self._options])
        decision = self._object("Next", result)
        if decision.get("delegate"):
            return await self._delegate("Next", decision["delegate"])
        return answer.replace(next=decision.get("data"))

    def _object(self, hook: str, returned: Any) -> dict[str, Any]:
        if returned is None:
            return {}
        if not isinstance(returned, dict):
            raise self._nonsense(f"{hook} of {self._assistant.id} must return an object or null", returned)
        return returned

    @staticmethod
    def _nonsense(rule: str, value: Any) -> AgentError:
        return AgentError(f"{rule}, not {json.dumps(value, ensure_ascii=False)[:100]}")

    def _given(self, rule: str, value: Any) -> Messages:
        """The messages that a hook returned; those of the call when it returned none."""
        if not value:
            return self._messages
        messages = read_messages(value)
        if messages is None:
            raise self._nonsense(f"{rule} messages as a list of {{role, content}}", value)
        return messages

    def _apply(self, settings: dict[str, Any]) -> None:
        context = self._scope.context
        for key in CREATE_CONTEXT:
            if settings.get(key):
                context[key] = settings[key]
        if settings.get("metadata"):
            context["metadata"] = {**context["metadata"], **settings["metadata"]}

    async def _delegate(self, hook: str, order: Any) -> Answer:
        if not isinstance(order, dict) or not isinstance(order.get("agent_id"), str):
            raise AgentError(f"{hook} of {self._assistant.id} delegates without an agent_id")
        messages = self._given(f"{hook} of {self._assistant.id} must delegate", order.get("messages"))
        options = order.get("options") or {}
        if not isinstance(options, dict):
            raise self._nonsense(f"{hook} of {self._assistant.id} must delegate options as an object", options)
        id = agent_id(order["agent_id"])
        try:
            return await self._runtime.call_other(
                AgentRequest(
                    agent=id,
                    messages=messages,
                    options=options,
                    chat=self._scope.chat,
                    caller=self._scope,
                    on_chunk=self._on_chunk,
                    referer="agent",
                    by=self._assistant.id,
                    delegated=True,
                )
            )
        except ConfigurationError as error:
            raise AgentError(
                f"{hook} of {self._assistant.id} delegates to {id}: {error.message}",
                hint=error.hint,
                infrastructure=error.infrastructure,
            ) from error
        except AgentError as error:
            error.missing = False  # what is missing belongs to the other agent, and is noted as such
            raise

    async def _hook(self, name: str, arguments: list[Any]) -> Any:
        """Calls a hook and returns its result; None when the agent has no such hook."""
        script = self._assistant.script
        if script is None or name not in await self._runtime.hooks(self._assistant):
            return None
        call = FunctionCall(
            script=script,
            function=name,
            arguments=json.dumps([None, *arguments]),
            context=json.dumps(self._scope.context),
            mocks=self._scope.chat.world.surroundings(),
            context_at=0,
        )
        returned = await self._runtime.function(call, self._scope, f"{name} of {self._assistant.id}")
        return returned.value

    def _tell_of_sandbox(self) -> None:
        """Says once in each conversation what answers instead of a sandbox."""
        notice = sandbox.notice(self._assistant)
        if notice:
            self._scope.chat.note_once(notice)

    async def _run_sandbox(self, settings: dict[str, Any]) -> Completion:
        """The answer of the runner, which is asked instead of the model."""
        assistant, context = self._assistant, self._scope.context
        said = self._given(f"Create of {assistant.id} must return", settings.get("messages"))
        named = self._runtime.assistants.localized(assistant, str(context.get("locale") or ""))
        prompts = [prompt for prompt in assistant.prompts if prompt["role"] == "system"][:1]
        variables, now = self._runtime.variables, self._runtime.now(self._scope.chat)
        request = ModelRequest(
            messages=fill(prompts, named, context, variables, now) + said,
            on_chunk=self._on_chunk,
            agent=assistant.id,
            folder=assistant.folder,
            turn=sum(message.get("role", "user") == "user" for message in self._messages),
            metadata=context["metadata"],
        )
        return await sandbox.run(self._runtime, request, self._scope)

    # the model

    async def _converse(
        self, settings: dict[str, Any], servers: tuple[Any, ...]
    ) -> tuple[Completion, tuple[UsedTool, ...], str]:
        assistant = self._assistant
        box = None
        if servers:
            own, said_in = not settings.get("mcp_servers"), assistant.folder / "package.yao"
            where = str(said_in) if servers == assistant.servers else f"Create of {assistant.id}"
            with _own_files(own):
                box = await self._runtime.toolbox(servers, where, self._scope.chat, may_lack=own)
        for warning in box.warnings if box else ():
            self._scope.chat.warn(warning)
        said = self._given(f"Create of {assistant.id} must return", settings.get("messages"))
        messages = self._opening(settings, box) + said
        connectors = self._runtime.connectors_of(self._scope.chat)
        chosen = self._options.get("connector") or settings.get("connector")
        with _own_files(not chosen):
            connector = connectors.resolve(chosen or assistant.connector)
            connectors.find(connector)
        parameters = dict(assistant.parameters)
        for key in CREATE_PARAMETERS:
            if settings.get(key) is not None:
                parameters[key] = settings[key]
        request = ModelRequest(
            messages=messages,
            parameters=parameters,
            tools=tuple(box.tools()) if box else (),
            on_chunk=self._on_chunk,
            agent=assistant.id,
            folder=assistant.folder,
            turn=sum(message.get("role", "user") == "user" for message in self._messages),
            metadata=self._scope.context["metadata"],
        )
        hooked = assistant.script is not None
        used: list[UsedTool] = []
        rounds = RETRIES if hooked else assistant.turns
        for turn in range(1, rounds + 1):
            completion = await self._runtime.ask(connector, request, self._scope)
            if not completion.tool_calls:
                return completion, tuple(used), connector
            runs = await self._use_tools(completion, box)
            used += [run for run, _ in runs]
            retry = hooked and any(retryable for _, retryable in runs)
            over = (not retry or turn == rounds) if hooked else not assistant.loops
            if over:
                return completion, tuple(used), connector
            request = request.replace(messages=_with_results(request.messages, completion, runs, retry))
        raise AgentError(
            f"the tool loop of {assistant.id} did not end: the model still calls tools after {rounds} model calls",
            hint="mcp.options.max_turn in package.yao is the limit",
        )

    def _opening(self, settings: dict[str, Any], box: ToolBox | None) -> Messages:
        runtime, assistant, metadata = self._runtime, self._assistant, self._scope.context["metadata"]
        off = settings.get("disable_global_prompts")
        if off is None:
            off = metadata.get("__disable_global_prompts")
        if off is None:
            off = not assistant.global_prompts or self._options.get("disable_global_prompts")
        prompts = [] if off else list(runtime.assistants.global_prompts())
        preset = settings.get("prompt_preset") or metadata.get("__prompt_preset")
        own = runtime.assistants.preset(assistant, str(preset)) if preset else None
        if preset and own is None:
            self._scope.chat.warn(f"{assistant.id} has no prompt preset {preset}; the default prompts are used")
        prompts += assistant.prompts if own is None else own
        context = self._scope.context
        named = runtime.assistants.localized(assistant, str(context.get("locale") or ""))
        messages = fill(prompts, named, context, runtime.variables_of(self._scope.chat), runtime.now(self._scope.chat))
        samples = box.samples_message() if box else None
        return [*messages, {"role": "system", "content": samples}] if samples else messages

    async def _use_tools(self, completion: Completion, box: ToolBox | None) -> list[tuple[UsedTool, bool]]:
        """The calls of a completion, made side by side, and whether each is worth another try."""
        from runner.assertions.base import ToolUse

        async def run(index: int) -> tuple[UsedTool, bool]:
            call = completion.tool_calls[index]
            if box is None:
                use = ToolUse(
                    name=call.name,
                    server="",
                    arguments=call.arguments,
                    result=None,
                    error=f'unknown tool "{call.name}": the agent has none',
                )
                return UsedTool(call=call, use=use), False
            started, began = case_now(), time.time()
            with self._scope.chat.world.branch(call.name, call.arguments):
                outcome = await box.run(call.name, call.arguments, self._scope)
            times[index] = (case_now() - started) * 1000
            spans[index] = self._scope.chat.span(began, self._scope.call)
            return UsedTool(call=call, use=outcome.use), outcome.retryable

        times: dict[int, float] = {}
        spans: dict[int, Span] = {}
        runs = list(await asyncio.gather(*[run(index) for index in range(len(completion.tool_calls))]))
        chat = self._scope.chat
        chat.uses += [run.use for run, _ in runs]
        chat.steps += [
            ToolStep(
                role=chat.role,
                turn=chat.turn,
                agent=self._assistant.id,
                call=run.call.id,
                use=run.use,
                milliseconds=times.get(index, 0),
                span=spans.get(index) or chat.span(time.time(), self._scope.call),
                endpoint=self._runtime.servers.endpoint(run.use.server),
            )
            for index, (run, _) in enumerate(runs)
        ]
        return runs


def _with_results(
    messages: Messages, completion: Completion, runs: list[tuple[UsedTool, bool]], retry: bool
) -> Messages:
    said = {"role": "assistant", "content": completion.content or None, "tool_calls": tool_call_records(completion)}
    results = [
        {"role": "tool", "tool_call_id": run.call.id, "name": run.call.name, "content": _tool_text(run)}
        for run, _ in runs
    ]
    note = "Some tool calls failed. Correct their arguments and call them again."
    return [*messages, said, *results, *([{"role": "system", "content": note}] if retry else [])]


def _tool_text(tool: UsedTool) -> str:
    if tool.use.error is not None:
        return f"Error: {tool.use.error}"
    return json.dumps(tool.use.result, ensure_ascii=False)


@contextmanager
def _own_files(own: bool) -> Iterator[None]:
    """Takes what cannot be used for a fault of files of the agent, rather than of who asks it; unless they are not
    its `own`. Raises BrokenError."""
    try:
        yield
    except ConfigurationError as error:
        if not own:
            raise
        broken = BrokenError(error.message, error.hint)
        broken.missing = error.missing
        raise broken from error
