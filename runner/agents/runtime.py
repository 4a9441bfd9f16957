"""What the calls of agents in one run share: scripts, models, tools, and notes of what was used."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property, partial
from random import getrandbits
from typing import TYPE_CHECKING, Any, Protocol

from runner.agents.answer import AgentError
from runner.agents.chat import AGENT, FunctionRun, ModelCall, ModelStep
from runner.connectors.base import Completion, ConnectorError, ModelAnswer, ModelRequest, Usage, ask
from runner.connectors.load import RUNNER
from runner.connectors.usage import case_now
from runner.errors import BrokenError, shown_path
from runner.parts import part
from scripttest import FunctionCall, FunctionError, MissingFunctionError
from scripttest.values import Value

if TYPE_CHECKING:
    from pathlib import Path

    from runner.agents.assistant import Assistant, Assistants
    from runner.agents.chat import Chat, Scope
    from runner.agents.mcp.servers import Servers
    from runner.agents.mcp.toolbox import ToolBox
    from runner.answers.journal import Journal
    from runner.answers.recording import Recording
    from runner.connectors.base import ClosedModels, Message
    from runner.connectors.load import Connectors
    from runner.parts import Dependency
    from scripttest import Compiled, FunctionPool, Returned, TestKey

REFUSALS = (400, 413, 422)
"""Statuses by which a model host finds fault with what the agent asks; all others are the host's own trouble."""


class UsedParts(Protocol):
    """Gives digests of what is used; see `runner.fingerprints.parts`."""

    def used_with(self, part: Dependency) -> Mapping[Dependency, str]:
        """The digests of a part, and of the parts that are used where it is."""

    def take(self, compiled: Compiled) -> None:
        """Takes note of a script that was compiled."""


class UsageCounter(Protocol):
    """Counts the usage of model calls. May be called from any thread."""

    def spend(self, connector: str, usage: Usage, free: bool) -> None:
        """Counts one model call; of a `free` one nothing needs to be known."""

    @property
    def refusal(self) -> str | None:
        """Why no further model call begins; None: they do."""


class PromptVariables(Value):
    """The environment variables that prompts may use."""

    named: Mapping[str, str] = {}
    """The variables in the application's `.env`, by name."""
    environment: Mapping[str, str] = {}
    """All others that are set."""
    clean: Callable[[str], str] = str
    """Takes secrets out of a text."""

    def value(self, name: str, agent: str) -> str:
        """The value of `$ENV.NAME` in the prompts of an agent; empty for a variable that is not set. Raises
        BrokenError for one that prompts may not use."""
        value = self.named.get(name, "")
        if self.clean(value) != value or self.clean(self.environment.get(name, "")) != self.environment.get(name, ""):
            raise BrokenError(
                f"Cannot use the prompts of {agent}: $ENV.{name} is a secret, and prompts are sent to a model",
                "Remove it from the prompts; keys belong in connectors and in the env of MCP servers",
            )
        if name not in self.named and self.environment.get(name):
            raise BrokenError(
                f"Cannot use the prompts of {agent}: $ENV.{name} is set, but the application's .env does not name it",
                f"Add the line {name}= to .env: the environment overrides the value in the file",
            )
        return value


class Runtime:
    """What all calls share. Belongs to one event loop."""

    def __init__(
        self,
        assistants: Assistants,
        connectors: Connectors,
        functions: Callable[[], FunctionPool],
        servers: Servers,
        variables: PromptVariables,
        now: Callable[[], datetime],
        scratch: Callable[[], Path],
        recording: Recording | None = None,
        parts: UsedParts | None = None,
    ) -> None:
        """`now` is the time that `$SYS` variables say; with a `recording` it is that of the recorded case. `scratch`
        makes the scratch folder of the run. `functions` makes what calls scripts, when an agent has one. With
        `parts`, each chat notes what it used."""
        self.assistants = assistants
        self.connectors = connectors
        self._make_functions = functions
        self.servers = servers
        self.variables = variables
        """What prompts may use of the environment."""
        self.scratch = scratch
        """The absolute path of the scratch folder of the run. Raises OSError, ProcessError."""
        self._now = now
        self._recording = recording
        self._parts = parts
        self.fallback = ""
        """The connector for helpers that have none, when the application has no default."""
        self.journal: Journal | None = None
        """Stores the answers of models for a run that continues this one."""
        self.closed: ClosedModels | None = None
        """Why real models are not asked; None: they are."""
        self._boxes: dict[str, ToolBox] = {}
        self._shown: dict[str, Dependency] = {}  # key of a script that functions have called → the part that it is
        self.keeps_functions = False
        """Whether chats keep the calls of hooks and tools, to tell their stories."""
        self._evaluated: set[tuple[str, int]] = set()
        """Agents whose scripts have no hook, and were evaluated with a mutant, 0: with none."""
        self._varied: dict[str, Connectors] = {}
        """Variant → its connectors, of those that have variables of their own."""
        self.usage: UsageCounter | None = None
        """Counts what each model call took, and says when no further one begins; None: nothing is counted."""
        self.refused: set[TestKey] = set()
        """The runs of tests and cases for which a model was not asked because of that."""

    @cached_property
    def functions(self) -> FunctionPool:
        """Calls the functions of scripts. Many agents have none, and then nothing of this is loaded."""
        functions = self._make_functions()
        if self._parts is not None:
            functions.tell_compiled(self._parts.take)
        return functions

    def connectors_of(self, chat: Chat) -> Connectors:
        """The connectors as a chat sees them: those of a variant with variables of its own have these."""
        variant = chat.variant
        if variant is None or not variant.env:
            return self.connectors
        if variant.name not in self._varied:
            self._varied[variant.name] = self.connectors.with_variables(variant.env)
        return self._varied[variant.name]

    def variables_of(self, chat: Chat) -> PromptVariables:
        """The environment variables that prompts may use in a chat."""
        variant = chat.variant
        if variant is None or not variant.env:
            return self.variables
        return self.variables.replace(named={**self.variables.named, **variant.env})

    def note(self, chat: Chat, *parts: Dependency) -> None:
        """Notes that a chat uses parts, and what goes with them: environment variables, programs."""
        if self._parts is not None:
            for one in parts:
                if one not in chat.parts:
                    chat.parts |= self._parts.used_with(one)

    async def _note_scripts(self, call: FunctionCall, chat: Chat) -> None:
        for source in await self.functions.used(call.script, call.module):
            if source.key not in self._shown:
                kind = "script" if source.script is None else "module"
                self._shown[source.key] = part(kind, shown_path(source.test, self.connectors.root))
            self.note(chat, self._shown[source.key])

    async def hooks(self, assistant: Assistant) -> frozenset[str]:
        """The top-level functions of an agent's script. Raises AgentError when it cannot be compiled."""
        assert assistant.script is not None
        try:
            return await self.functions.declared(assistant.script)
        except FunctionError as error:
            broken = _script_error(f"the script of {assistant.id} cannot be loaded", error)
            broken.infrastructure = True
            raise broken from error

    async def evaluate(self, scope: Scope) -> None:
        """Evaluates the script of a scope's agent, of which no function may ever be called. Raises AgentError if
        that fails."""
        assistant = scope.assistant
        assert assistant is not None and assistant.script is not None
        evaluated = assistant.id, scope.chat.world.key.mutant
        if evaluated in self._evaluated:
            return
        try:
            await self._called(self._call(scope, assistant.script, "", []), scope)
        except MissingFunctionError:
            self._evaluated.add(evaluated)
        except FunctionError as error:
            scope.chat.logs += error.logs
            raise _script_error(assistant.id, error) from error

    async def function(
        self,
        scope: Scope,
        script: Path,
        name: str,
        arguments: list[Any],
        what: str = "",
        *,
        module: Path | None = None,
        context_at: int | None = None,
    ) -> Any:
        """Calls a function of a script on behalf of a scope; its result, a JSON value. Raises AgentError, which starts
        with `what`. `module`, `context_at`: see `FunctionCall`."""
        call = self._call(scope, script, name, arguments, module, context_at)
        try:
            try:
                returned = await self._called(call, scope)
            finally:
                if self._parts is not None:
                    await self._note_scripts(call, scope.chat)
        except MissingFunctionError as error:
            absent = _script_error(what, error)
            absent.missing = True
            raise absent from error
        except FunctionError as error:
            scope.chat.logs += error.logs
            raise _script_error(what, error) from error
        scope.chat.logs += returned.logs
        scope.chat.sent += returned.sent
        return returned.value

    @staticmethod
    def _call(
        scope: Scope, script: Path, name: str, arguments: list[Any], module: Path | None = None, at: int | None = None
    ) -> FunctionCall:
        return FunctionCall(
            script=script,
            function=name,
            arguments=json.dumps(arguments),
            context=json.dumps(scope.context),
            mocks=scope.chat.world.surroundings(),
            module=module,
            context_at=at,
        )

    async def _called(self, call: FunctionCall, scope: Scope) -> Returned:
        if not self.keeps_functions or scope.chat.role != AGENT:
            return await self.functions.call(call, scope)
        kept = FunctionRun(call.replace(seed=getrandbits(48)))
        scope.chat.functions.append(kept)
        try:
            returned = await self.functions.call(kept.call, scope.replace(asked=kept.asked))
        except FunctionError as error:
            kept.ended = error.message
            raise
        kept.ended = json.dumps(returned.value)
        return returned

    async def toolbox(
        self, items: tuple[Any, ...], where: str, chat: Chat | None = None, *, may_lack: bool = False
    ) -> ToolBox:
        """The tools of the servers that `mcp.servers` names; `where` is for messages, and `chat` notes that it uses
        them. With `may_lack` a server that is nowhere defined is a warning. Raises AgentError and
        ConfigurationError."""
        from runner.agents.mcp.base import ToolError
        from runner.agents.mcp.toolbox import open_toolbox, read_choices

        if chat is not None:
            self.note(chat, *(part("server", choice.server) for choice in read_choices(list(items), where)))

        key = f"{where} {items}"
        if key not in self._boxes:
            try:
                self._boxes[key] = await open_toolbox(self.servers, list(items), where, may_lack=may_lack)
            except ToolError as error:
                raise AgentError(
                    error.message, hint=error.hint, infrastructure=True, missing=error.missing, server=error.server
                ) from error
        return self._boxes[key]

    async def ask(self, connector: str, request: ModelRequest, scope: Scope) -> Completion:
        """Asks a model on behalf of a scope. Raises AgentError and ConfigurationError."""
        chat = scope.chat
        started, began = case_now(), time.time()
        scripted, failed, completion, journaled = [], None, None, False
        connectors = self.connectors_of(chat)
        is_scripted = connectors.is_scripted(connector)
        is_replayed = self._recording is not None and self._recording.mode == "replay"
        free = is_scripted or is_replayed
        if is_scripted:
            scripted = [part("runner" if connector == RUNNER else "replies", request.agent)]
        elif chat.framed:
            request = request.replace(messages=[_framed(message, chat.framed) for message in request.messages])
        self.note(chat, part("model", connector), part("connector", connector), *scripted)
        if self._recording is not None and is_replayed:
            self.note(chat, part("recording", self._recording.file(chat.origin)))
        try:
            answer = await chat.wait_for(f"the model of {connector}", self._complete(connector, request, chat, free))
            completion, journaled = answer.completion, answer.journaled
            if completion.ending == "error":
                raise ConnectorError(f"{connector} ended its response with finish_reason {completion.finish_reason}")
        except ConnectorError as error:
            failed, completion = error, error.answer
        chat.steps.append(
            ModelStep(
                role=chat.role,
                turn=chat.turn,
                agent=request.agent,
                connector=connector,
                vendor=connectors.vendor(connector),
                asked=connectors.model(connector),
                parameters={**connectors.settings(connector), **request.parameters},
                messages=request.messages,
                milliseconds=(case_now() - started) * 1000,
                span=chat.span(began, scope.call),
                completion=None if failed else completion,
                error=failed.message if failed else "",
                endpoint=connectors.endpoint(connector),
            )
        )
        if completion is not None and not (failed and completion.usage.unknown):
            chat.model_calls.append(
                ModelCall(
                    agent=request.agent,
                    connector=connector,
                    usage=completion.usage,
                    warnings=completion.warnings,
                    free=free,
                    embeds=request.embeds,
                )
            )
            if self.usage is not None and not journaled:
                self.usage.spend(connector, completion.usage, free)
        if failed is not None:
            raise AgentError(
                failed.message,
                hint=failed.hint,
                infrastructure=failed.status not in REFUSALS,
                missing=failed.unreached,
                finish_reason=completion.finish_reason if completion else "",
            ) from failed
        assert completion is not None
        return completion

    def now(self, chat: Chat) -> datetime:
        """The time that `$SYS` variables show."""
        clock = chat.world.clock
        if clock.stopped_at is not None:
            return datetime.fromtimestamp(clock.seconds).astimezone()
        now = self._now if self.journal is None else partial(self.journal.time, chat.origin, self._now)
        return now() if self._recording is None else self._recording.time(chat.origin, now)

    async def _complete(self, connector: str, request: ModelRequest, chat: Chat, free: bool) -> ModelAnswer:
        """The answer to a request: out of the recording, the journal, or the model. Raises ConnectorError."""
        connectors = self.connectors_of(chat)
        if not free:
            if self.closed is not None:
                self.closed.wanted.add(chat.origin.key)
                raise ConnectorError(f"{connector}: {self.closed.reason}")
            if self.usage is not None and self.usage.refusal is not None:
                self.refused.add(chat.origin.key)
                raise ConnectorError(f"{connector} was not called: {self.usage.refusal}")
        if self._recording is not None:
            return await self._recording.complete(chat.origin, connector, request, connectors, self.journal)
        if self.journal is not None:
            return await self.journal.complete(chat.origin, connector, request, connectors)
        return await ask(connectors.get(connector), request)

    def begin_pass(self) -> None:
        """Lets the next calls try hosts again that were down."""
        for connectors in (self.connectors, *self._varied.values()):
            connectors.forget_outages()

    def begin_again(self, test: TestKey) -> None:
        """Forgets what a run of a case that broke has asked, since it runs again."""
        if self._recording is not None:
            self._recording.forget(test)
        if self.journal is not None:
            self.journal.end(test, broke=True)

    async def close(self) -> None:
        """Ends processes and connections."""
        if "functions" in self.__dict__:
            await self.functions.close()
        await self.servers.close()
        for connectors in (self.connectors, *self._varied.values()):
            await connectors.close()


def _framed(message: Message, framed: Mapping[str, str]) -> Message:
    content = message.get("content")
    return {**message, "content": framed.get(content, content)} if isinstance(content, str) else message


def _script_error(what: str, error: FunctionError | MissingFunctionError) -> AgentError:
    if isinstance(error, MissingFunctionError):
        return AgentError(f"{what}: {error.message}" if what else error.message, hint=error.hint)
    told = [what, "the script cannot be loaded"] if error.loading else [what]
    message = ": ".join([*filter(None, told), error.message])
    return AgentError(message, error.frames, error.hint, error.infrastructure or error.loading)
