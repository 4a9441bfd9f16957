"""The steps of one call of an agent, in the order of the real runtime (facts of the runtime, (d)).

| step | rule |
| --- | --- |
| Create | may replace messages, parameters, preset and servers, or delegate; after delegating no other step follows |
| model, tools | only for agents with prompts or MCP servers: see `model_rounds` |
| Next | may set the data of the answer, or delegate |"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.agents.answer import AgentError, Answer, completion_record, mocked_agent
from runner.agents.chat import AgentRequest, Messages, Scope, ToolStep, read_messages
from runner.agents.model_rounds import ModelRounds
from runner.assertions.results import show
from runner.connectors.load import RUNNER
from runner.errors import ConfigurationError, RunnerError, sentences
from runner.parts import part

if TYPE_CHECKING:
    from runner.agents.runtime import Runtime

_SHOWN = 100
"""Characters that an error quotes of what a hook returned."""
DEPTH_LIMIT = 10
"""How deep agents may call each other."""
HOOKS = frozenset(("Create", "Next"))
CREATE_CONTEXT = ("locale", "theme", "route")
CREATE_KINDS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys((*CREATE_CONTEXT, "connector", "prompt_preset"), (str, "a string")),
    **dict.fromkeys(("temperature", "max_tokens", "max_completion_tokens"), (int | float, "a number")),
    **dict.fromkeys(("metadata", "uses"), (dict, "an object")),
    "search": (bool | dict, "true, false or an object"),
    "mcp_servers": (list, "a list"),
}
"""Field of what Create returns → what it has to be, for messages too."""
OPTION_KINDS = (("metadata", dict, "an object"), ("connector", str, "a string"))
"""Option of a call → what it has to be, for messages too; hooks and scripts choose them."""


class Call(ModelRounds):
    """One call of an agent, on behalf of a scope."""

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
        settings = self._settings = self._object("Create", create)
        if settings:
            for key, (kind, named) in CREATE_KINDS.items():
                if settings.get(key) is not None and not isinstance(settings[key], kind):
                    raise self._nonsense(f"Create of {self._assistant.id} must return {key} as {named}", settings[key])
            if settings.get("delegate"):
                return await self._delegate("Create", settings["delegate"])
            self._apply()
        servers = settings.get("mcp_servers") or self._assistant.servers
        if not (self._assistant.prompts or servers):
            answer = Answer(agent=self._assistant.id)
        else:
            said = self._given(f"Create of {self._assistant.id} must return", settings.get("messages"))
            if self._assistant.sandbox is None:
                answer = await self._converse(said, tuple(servers))
            else:
                completion = await self._ask_runner(said)
                answer = Answer(agent=self._assistant.id, completion=completion, connector=RUNNER, of_runner=True)
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

    def _apply(self) -> None:
        context, settings = self._scope.context, self._settings
        for key in CREATE_CONTEXT:
            if settings.get(key):
                context[key] = settings[key]
        if settings.get("metadata"):
            context["metadata"] = {**context["metadata"], **settings["metadata"]}

    async def _call_other(self, request: AgentRequest) -> Answer:
        return await call_other(self._runtime, request)

    async def _delegate(self, who: str, order: Any) -> Answer:
        if not isinstance(order, dict) or not isinstance(order.get("agent_id"), str):
            raise AgentError(f"{who} of {self._assistant.id} delegates without an agent_id")
        messages = self._given(f"{who} of {self._assistant.id} must delegate", order.get("messages"))
        options = order.get("options") or {}
        if not isinstance(options, dict):
            raise self._nonsense(f"{who} of {self._assistant.id} must delegate options as an object", options)
        id = agent_id(order["agent_id"])
        try:
            return await self._call_other(
                AgentRequest(
                    agent=id,
                    messages=messages,
                    options=options,
                    chat=self._scope.chat,
                    caller=self._scope,
                    on_chunk=self._request.on_chunk,
                    referer="agent",
                    by=self._assistant.id,
                    delegated=True,
                )
            )
        except ConfigurationError as error:
            raise AgentError(
                f"{who} of {self._assistant.id} delegates to {id}: {error.message}",
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
        what = f"{name} of {self._assistant.id}"
        return await self._runtime.function(self._scope, script, name, [None, *arguments], what, context_at=0)


async def call_agent(runtime: Runtime, request: AgentRequest) -> Answer:
    """Calls an agent once. Raises AgentError: a hook or the model failed; ConfigurationError: the agent, its prompts
    or its connector cannot be used."""
    chat, caller, options = request.chat, request.caller, request.options
    depth = 0 if caller is None else caller.depth + 1
    if depth > DEPTH_LIMIT:
        raise AgentError(f"{request.agent} was not called: {DEPTH_LIMIT} agents already wait for each other")
    for name, kind, named in OPTION_KINDS:
        if options.get(name) is not None and not isinstance(options[name], kind):
            said = f"{name} of its options must be {named}, not {show(options[name], _SHOWN)}"
            raise AgentError(f"{request.agent} was not called: {said}")
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
    runtime.note(chat, part("agent", assistant.id), part("prompts", assistant.id))
    if assistant.script is None:
        runtime.note(chat, part("handler", f"agents.{assistant.id}.index"))
    with chat.calling(assistant.id, caller.call if caller else None) as number:
        scope = Scope(chat=chat, assistant=assistant, context=context, depth=depth, call=number)
        answer = await Call(runtime, scope, request).run()
    if answer.cut and caller is not None and not request.delegated:  # whoever asks for a case says it of its answer
        chat.world.warn("cut", f"the answer of {assistant.id} was {answer.cut}")
    return answer if answer.chat_id == chat.id else answer.replace(chat_id=chat.id)


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
    try:
        with world.ledger.pending(noted):
            answer = await call_agent(runtime, request)
    except Exception as error:
        if isinstance(error, AgentError | RunnerError) and is_unanswered(error):
            way = f"Or mock it with {world.mock('agent', id)}"
            world.ledger.note_missing(noted, sentences(error.message, error.hint, way))
        else:
            world.ledger.note(noted)
        raise
    world.ledger.note(noted)
    return answer


def is_unanswered(error: AgentError | RunnerError) -> bool:
    """Whether nothing here could answer a call of an agent that failed with this error: the agent, its files or what it
    asks for is not here or cannot be used, or its model was not reached."""
    return error.missing or isinstance(error, RunnerError)
