"""The steps of one call of an agent, in the order of the real runtime (facts of the runtime, (d)).

| step | rule |
| --- | --- |
| Create | may replace messages, parameters, preset and servers, or delegate; after delegating no other step follows |
| model | is asked only for agents with prompts or MCP servers |
| tools | with a hook script, also one without Next: the model's calls are made once, and again only if they fail |
| | without a script: the loop continues until the model answers in text, and past its limit a fallback answers |
| Next | may set the data of the answer, or delegate |
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from bindings import Answered, agent_id
from runner.agents.answer import AgentError, Answer, UsedTool, completion_record
from runner.agents.chat import Messages, ToolStep, read_messages
from runner.agents.mocked import mocked_agent
from runner.agents.prompts import fill
from runner.agents.requests import AgentRequest, Scope
from runner.assertions.results import show
from runner.connectors.base import Completion, ModelRequest
from runner.connectors.load import RUNNER
from runner.errors import BrokenError, ConfigurationError, RunnerError, sentences
from runner.parts import Part
from scripttest import FunctionCall

if TYPE_CHECKING:
    from runner.agents.mcp.toolbox import ToolBox
    from runner.agents.requests import Options
    from runner.agents.runtime import Runtime

_SHOWN = 100
"""Characters that an error quotes of what a hook returned."""
DEPTH_LIMIT = 10
"""How deep agents may call each other."""
LOOP_FALLBACK = "__yao.loop_fallback"
"""Id of the agent that answers when a tool loop is at its limit."""
HOOKS = frozenset(("Create", "Next"))
RETRIES = 3
"""How often a model is asked instead of the tool loop, to correct tool calls that failed."""
CREATE_PARAMETERS = ("temperature", "max_tokens", "max_completion_tokens", "audio")
CREATE_CONTEXT = ("locale", "theme", "route")
CREATE_KINDS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys((*CREATE_CONTEXT, "connector", "prompt_preset"), (str, "a text")),
    **dict.fromkeys(("temperature", "max_tokens", "max_completion_tokens"), (int | float, "a number")),
    **dict.fromkeys(("metadata", "uses"), (dict, "an object")),
    "search": (bool | dict, "true, false or an object"),
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
        """All steps; see `call_agent`."""
        if self._assistant.script is not None and not HOOKS & await self._runtime.hooks(self._assistant):
            await self._runtime.evaluate(self._scope)
        for notice in (self._assistant.sandbox_notice, *self._assistant.notices):
            if notice:
                self._scope.chat.note_once(notice)
        if self._assistant.sandbox is not None:
            from runner.agents.sandbox import prepare

            await prepare(self._runtime, self._scope)
        create = await self._hook("Create", [self._messages, self._options])
        settings = self._object("Create", create)
        for key, (kind, named) in CREATE_KINDS.items():
            if settings.get(key) is not None and not isinstance(settings[key], kind):
                raise self._nonsense(f"Create of {self._assistant.id} must return {key} as {named}", settings[key])
        if settings.get("delegate"):
            return await self._delegate("Create", settings["delegate"])
        self._apply(settings)
        servers = settings.get("mcp_servers") or self._assistant.servers
        answer = Answer(agent=self._assistant.id)
        if self._assistant.sandbox is not None and (self._assistant.prompts or servers):
            answer = answer.replace(completion=await self._run_sandbox(settings), connector=RUNNER, of_runner=True)
        elif self._assistant.prompts or servers:
            answer = await self._converse(settings, tuple(servers))
        if self._assistant.script is None:
            return answer
        return await self._finish(answer.replace(create=create or None))

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
        return AgentError(f"{rule}, not {show(value, _SHOWN)}")

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
            return await call_other(
                self._runtime,
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
                ),
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

    async def _run_sandbox(self, settings: dict[str, Any]) -> Completion:
        """The answer of the runner, which is asked instead of the model."""
        from runner.agents.sandbox import run

        assistant, context = self._assistant, self._scope.context
        said = self._given(f"Create of {assistant.id} must return", settings.get("messages"))
        named = self._runtime.assistants.localized(assistant, str(context.get("locale") or ""))
        prompts = [prompt for prompt in assistant.prompts if prompt["role"] == "system"][:1]
        variables, now = self._runtime.variables, self._runtime.now(self._scope.chat)
        request = ModelRequest(
            messages=await self._searched(fill(prompts, named, context, variables, now) + said, said, settings),
            on_chunk=self._on_chunk,
            agent=assistant.id,
            folder=assistant.folder,
            turn=sum(message.get("role", "user") == "user" for message in self._messages),
            metadata=context["metadata"],
        )
        return await run(self._runtime, request, self._scope)

    # the model

    async def _converse(self, settings: dict[str, Any], servers: tuple[Any, ...]) -> Answer:
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
        messages = await self._searched(self._opening(settings, box) + said, said, settings)
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
            messages=await self._seen(messages, connector, settings),
            parameters=parameters,
            tools=tuple(box.tools()) if box else (),
            on_chunk=self._on_chunk,
            agent=assistant.id,
            folder=assistant.folder,
            turn=sum(message.get("role", "user") == "user" for message in self._messages),
            metadata=self._scope.context["metadata"],
        )
        hooked = assistant.script is not None
        rounds = RETRIES if hooked else 1 + assistant.turns if assistant.loops else 1
        first: Answer | None = None
        used: list[UsedTool] = []
        for turn in range(1, rounds + 1):
            completion = await self._runtime.ask(connector, request, self._scope)
            answer = Answer(agent=assistant.id, completion=completion, connector=connector)
            if not completion.tool_calls:
                return answer.replace(tools=tuple(used))
            from runner.agents.tool_calls import use_tools, with_results

            runs = await use_tools(completion, box, self._scope, self._runtime.servers)
            used += [run for run, _ in runs]
            first = first or answer.replace(tools=tuple(used))
            retry = hooked and any(retryable for _, retryable in runs)
            if turn == rounds or (hooked and not retry):
                break
            request = request.replace(messages=with_results(request.messages, completion, runs, retry))
        assert first is not None
        if hooked or not assistant.loops:
            return answer.replace(tools=tuple(used))
        return await self._after_loop(said, first)

    async def _after_loop(self, messages: Messages, first: Answer) -> Answer:
        """The answer of an agent whose model still calls tools at the limit of the tool loop: that of the fallback
        agent, which gets the conversation and the first round of tools; if it has none, that first round itself."""
        from runner.agents.tool_calls import loop_report

        id, limit = self._assistant.id, self._assistant.turns
        ended = f"the model of {id} still called tools after {1 + limit} model calls (mcp.options.max_turn: {limit})"
        report = [{"role": "user", "content": loop_report(messages, first.tools)}]
        try:
            answer = await self._delegate("The tool loop", {"agent_id": LOOP_FALLBACK, "messages": report})
        except AgentError as error:
            self._scope.chat.warn(f"{ended}, and its first round is the answer, since no fallback gave one: {error}")
            return first
        self._scope.chat.note_once(f"{ended}, so {LOOP_FALLBACK} has answered")
        return answer

    async def _searched(self, messages: Messages, said: Messages, settings: dict[str, Any]) -> Messages:
        """The messages to the model, with references if the agent searches before it is asked."""
        own = self._assistant
        asking = (own.search, own.uses.get("search"), settings.get("search"), settings.get("uses"))
        if not any(asking) and not self._options.get("search"):
            return messages
        from runner.agents.search import with_references

        return await with_references(
            self._runtime,
            self._scope,
            partial(call_other, self._runtime),
            messages=messages,
            said=said,
            create=settings,
            options=self._options,
        )

    async def _seen(self, messages: Messages, connector: str, settings: dict[str, Any]) -> Messages:
        """The messages as a model can see them: words instead of images, if it does not see."""
        if not any(isinstance(message.get("content"), list | dict) for message in messages):
            return messages
        skip = self._options.get("skip")
        if isinstance(skip, dict) and skip.get("content_parsing"):
            return messages
        from runner.agents.search import uses_of
        from runner.agents.vision import with_words_for_images

        handler = str(uses_of(self._runtime, self._scope, settings, self._options).get("vision") or "")
        forced = bool(settings.get("force_uses"))
        return await with_words_for_images(
            self._runtime,
            self._scope,
            partial(call_other, self._runtime),
            connector=connector,
            messages=messages,
            handler=handler,
            forced=forced,
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


async def call_agent(runtime: Runtime, request: AgentRequest) -> Answer:
    """Calls an agent once.

    Raises:
        AgentError: a hook or the model failed.
        ConfigurationError: the agent, its prompts or its connector cannot be used.
    """
    chat, caller, options = request.chat, request.caller, request.options
    depth = 0 if caller is None else caller.depth + 1
    if depth > DEPTH_LIMIT:
        raise AgentError(f"{DEPTH_LIMIT} agents wait for each other, and {request.agent} would be one more")
    assistant = runtime.assistants.get(request.agent)
    if chat.variant is not None:
        assistant = chat.variant.of(assistant)
    context = {**chat.context, "assistant_id": assistant.id}
    if request.referer:
        context["referer"] = request.referer
    context["metadata"] = {**(context.get("metadata") or {}), **(options.get("metadata") or {})}
    context.pop("sandbox", None)
    if assistant.sandbox is not None:
        context = assistant.sandbox.context(context)
    runtime.note(chat, Part(kind="agent", name=assistant.id), Part(kind="prompts", name=assistant.id))
    if assistant.script is None:
        runtime.note(chat, Part(kind="handler", name=f"agents.{assistant.id}.index"))
    with chat.calling(assistant.id, caller.call if caller else None) as number:
        scope = Scope(chat=chat, assistant=assistant, context=context, depth=depth, call=number)
        answer = await Call(runtime, scope, request.messages, options, request.on_chunk).run()
    if answer.cut and caller is not None and not request.delegated:  # whoever asks for a case says it of its answer
        chat.world.warn("cut", f"the answer of {assistant.id} was {answer.cut}")
    return answer.replace(chat_id=chat.id)


async def call_other(runtime: Runtime, request: AgentRequest) -> Answer:
    """Calls another agent than the tested one. If the chat has a mock of it, the mock answers. See `call_agent`."""
    id, chat, caller = request.agent, request.chat, request.caller
    if request.by:
        from runner.assertions.base import AgentUse

        chat.agents.append(AgentUse(agent=id, by=request.by, delegated=request.delegated, after=len(chat.uses)))
    mock = await mocked_agent(chat.world, id, request.messages, request.options)
    if mock is not None:
        chat.uses += [tool.use for tool in mock.tools]
        span = chat.span(time.time(), caller.call if caller else None)
        chat.steps += [
            ToolStep(
                role=chat.role,
                turn=chat.turn,
                agent=id,
                call=tool.call.id,
                use=tool.use,
                milliseconds=0,
                span=span,
            )
            for tool in mock.tools
        ]
        return mock
    world, noted = chat.world, f"agents.{id}"
    world.ledger.begin(noted)
    try:
        answer = await call_agent(runtime, request)
    except (AgentError, RunnerError) as error:
        if is_unanswered(error):
            way = f"Or mock it with {world.mock('agent', id)}"
            world.ledger.end(noted, Answered.MISSING, sentences(error.message, error.hint, way))
        else:
            world.ledger.end(noted)
        raise
    except Exception:
        world.ledger.end(noted)
        raise
    world.ledger.end(noted)
    return answer


def is_unanswered(error: AgentError | RunnerError) -> bool:
    """Whether nothing here could answer a call of an agent that failed with this error: the agent, its files or what it
    asks for is not here or cannot be used, or its model was not reached."""
    return error.missing or isinstance(error, RunnerError)


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
