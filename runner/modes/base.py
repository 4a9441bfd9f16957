"""The environment that the cases of a run share, and one attempt at one case: what it is given, how it asks the agent,
and what its assertions may ask: validators, functions of scripts, embeddings, snapshots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import DATABASE, ProcessError, World, given_mocks, opened_workspace
from runner.agents.answer import AgentError
from runner.agents.call import call_agent, is_unanswered
from runner.agents.chat import AgentRequest, Chat, JudgeUse, Scope
from runner.agents.helpers import ask_helper, chat_connector, verdict_of
from runner.agents.references import ScriptReferenceError, call_function
from runner.assertions.base import AgentUse, Embeddings, JudgeFlags, NotEvaluated
from runner.assertions.results import shorten
from runner.connectors.base import ModelRequest
from runner.errors import ConfigurationError, RunnerError, sentences
from runner.reading.answer_text import thinking_in
from runner.shapes.fields import CallOptions, over, parameters_in
from scripttest import HostError, ResultWarning
from scripttest.values import Value

if TYPE_CHECKING:
    from bindings import OwnDatabase
    from runner.agents.answer import Answer
    from runner.agents.assistant import Assistant
    from runner.agents.runtime import Runtime
    from runner.cases.model import Case
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.modes.interactive import Person
    from runner.modes.transcripts import SavedTalk, Transcripts
    from runner.options.options import RunOptions
    from runner.record.model import Suite

MatchSnapshot = Callable[[str, str], dict[str, Any]]
"""(key, text) → `{passed, expected?, reason?}`."""
EMBEDDING = "embedding"
"""The role of calls for embeddings."""
_SHOWN = 300
"""Characters that an error quotes of an answer."""
THINKS = (
    "{} includes its reasoning in its answers, where users see it; assertions on JSON ignore it, all others read it"
)
"""The warning about an agent with thinking in its text."""


class CaseEnvironment(Value):
    """The environment that the cases of an agent share in a run."""

    runtime: Runtime
    options: RunOptions
    context: Mapping[str, Any]
    """The run's context: defaults, flags, `--ctx` file."""
    decided_ids: frozenset[str]
    """Which of `user_id` and `team_id` the flags or the `--ctx` file say; they win over those of a case."""
    snapshot: Callable[[str], MatchSnapshot]
    """Suite id → how its snapshots are matched."""
    database: Callable[..., OwnDatabase]
    """Makes the database of an attempt, from its world and folder, which is opened when it is used. `strict` tells
    whether what MySQL would refuse is refused."""
    person: Person | None = None
    """The person to ask; None with `--skip-interactive`."""
    fingerprints: Fingerprints | None = None
    """Makes the fingerprints of results, for a run that resumes this one; None: no report can be resumed."""
    transcripts: Transcripts | None = None
    """What was said in a saved run that is graded again; the agent is not asked then."""
    trace: str = "summary"
    """What results keep of the calls of models and tools: `off`, `summary` or `full`."""
    clean: Callable[[str], str] = str


class CaseAttempt:
    """One attempt of one case."""

    def __init__(
        self,
        environment: CaseEnvironment,
        suite: Suite,
        folder: Path,
        assistant: Assistant,
        case: Case,
        position: int,
        line: int,
        run: int = 0,
        on_turn: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Relative files of the case are looked for in `folder`. `run`: which of several runs it is, from 1. `on_turn`:
        is told of each turn that begins."""
        self.environment, self.suite, self.folder, self.assistant = environment, suite, folder, assistant
        self.case, self.position, self.line, self._on_turn = case, position, line, on_turn
        mocks, seed = case.mocks, environment.options.seed
        self.world = World(
            suite=suite.id,
            test=case.id,
            run=run or 1,
            mocks=given_mocks(mocks.model_dump()) if mocks is not None else None,
            stopped_at=mocks.stopped_at if mocks is not None else None,
            seed="" if seed is None else f"{seed} {case.id}",
        )
        """Everything that the case keeps; closed with it."""
        self.database = self.world.opened(
            DATABASE, lambda world: environment.database(world, folder, strict=case.options.strict_database)
        )
        self.chat = Chat(self._context(), self.world)

    @property
    def judges(self) -> CaseJudges:
        """What its assertions ask; it is not kept, so that an attempt that has ended is freed at once."""
        return CaseJudges(self, self.chat)

    def _context(self) -> dict[str, Any]:
        environment, case = self.environment, self.case
        base = dict(environment.context)
        authorized = dict(base["authorized"])
        if case.user is not None and "user_id" not in environment.decided_ids:
            authorized |= {"sub": case.user, "user_id": case.user}
            base.pop("user_name", None)
        if case.team is not None and "team_id" not in environment.decided_ids:
            authorized |= {"team_id": case.team, "tenant_id": case.team}
            base.pop("team_name", None)
        base["authorized"] = authorized
        base["assistant_id"] = self.assistant.id
        base["chat_id"] = base["chat_id"] or f"agent-test-{case.id}"
        base["metadata"] = {**base["metadata"], **case.metadata, **case.options.metadata}
        return base

    @cached_property
    def written(self) -> dict[str, Any]:
        """The case as it was written, by the names of its fields."""
        return self.case.model_dump(exclude_unset=True)

    @cached_property
    def saved(self) -> SavedTalk | None:
        """The saved talk that is graded again; None when the agent is asked."""
        transcripts = self.environment.transcripts
        if transcripts is None:
            return None
        from runner.modes.transcripts import SavedTalk

        result = transcripts.results.get(self.chat.origin.key)
        assert result is not None, "only cases with a saved transcript can be regraded"
        return SavedTalk(result)

    async def call_agent(self, messages: list[dict[str, Any]], options: Mapping[str, Any], said: Any) -> Answer:
        """Calls the tested agent and returns its answer. Raises AgentError and ConfigurationError. `messages`: all
        messages to it. `options`: `context.Options` of the call, and parameters of the model. `said`: the last
        message, as the case has it."""
        answer = await self._asked(messages, options, said)
        if cut := answer.cut:
            turn = self.chat.turn
            self.world.warn("cut", f"{f'turn {turn}: ' if turn else ''}the answer was {cut}")
        output = answer.output
        if isinstance(output, str) and thinking_in(output):
            self.world.warn("thinking", THINKS.format(self.assistant.id))
        return answer

    async def _asked(self, messages: list[dict[str, Any]], options: Mapping[str, Any], said: Any) -> Answer:
        if self.saved is not None:
            return self.saved.answer(self.assistant.id, self.chat, said)
        ledger, noted = self.chat.world.ledger, f"agents.{self.assistant.id}"
        parameters = parameters_in(options)
        request = AgentRequest(
            agent=self.assistant.id,
            messages=messages,
            options={name: value for name, value in options.items() if name not in parameters},
            chat=self.chat,
            parameters=parameters,
        )
        try:
            with ledger.pending(noted):
                return await call_agent(self.environment.runtime, request)
        except (AgentError, RunnerError) as error:
            if is_unanswered(error):
                server = error.server if isinstance(error, AgentError) else ""
                name = f"mcp.ListTools {server}" if server else noted
                ledger.note_missing(name, sentences(error.message, error.hint))
            raise

    def known(self, model_calls: int, agents: Sequence[AgentUse]) -> dict[str, Any]:
        """How often models, and which agents, were asked, for evidence; None where a saved talk does not say it."""
        saved = self.saved
        return {
            "model_calls": model_calls if saved is None or saved.knows_calls else None,
            "agents": tuple(agents) if saved is None or saved.knows_agents else None,
        }

    def begin_turn(self, number: int) -> None:
        """Tells that a turn begins."""
        self.chat.turn = number
        self._on_turn(number)

    def files(self) -> Mapping[str, bytes]:
        """The files in the workspace of the case."""
        workspace = opened_workspace(self.world)
        return {} if workspace is None else workspace.files()

    def options_of(self, own: CallOptions | None = None) -> dict[str, Any]:
        """`context.Options` of a call: of a turn, over those of the case. `--connector` wins over both."""
        options = self.case.options.model_dump(exclude_defaults=True)
        options.pop("strict_database", None)
        if own is not None:
            of_turn = own.model_dump(exclude_unset=True)
            for key in ("metadata", "skip"):
                if isinstance(of_turn.get(key), Mapping) and isinstance(options.get(key), Mapping):
                    of_turn[key] = {**options[key], **of_turn[key]}
            options = over(options, of_turn)
        connector = self.environment.options.connector
        return {**options, "connector": connector} if connector else options

    @property
    def warnings(self) -> list[ResultWarning]:
        """The warnings about answers of models, each once."""
        odd = dict.fromkeys(warning for call in self.chat.model_calls for warning in call.warnings)
        return [ResultWarning(kind="usage", message=warning) for warning in odd]

    @property
    def shared_judges(self) -> list[JudgeUse]:
        """The judges that have used the connector of the agent."""
        own = {call.connector for call in self.chat.model_calls if call.agent == self.assistant.id}
        return list(dict.fromkeys(use for use in self.chat.judged_by if use.connector in own))

    def trace(self) -> dict[str, Any] | None:
        """The calls of models and tools; None where there are none, or none are kept."""
        environment = self.environment
        spans = environment.options.otlp is not None
        if environment.trace == "off" or not (self.chat.steps or (spans and self.chat.calls)):
            return None
        from runner.modes.tracing import trace_of

        whole = environment.trace == "full"
        return trace_of(self.chat.steps, self.chat.calls, environment.clean, whole=whole, spans=spans)


class CaseJudges:
    """Implements `runner.assertions.base.Judges` for one attempt, in one of its chats."""

    def __init__(self, attempt: CaseAttempt, chat: Chat) -> None:
        self._attempt = attempt
        self._chat = chat

    @property
    def flags(self) -> JudgeFlags:
        """See `Judges`."""
        options = self._options
        return JudgeFlags(
            required=options.require_judge, samples=options.judge_samples, connector=options.judge_connector or ""
        )

    @property
    def _options(self) -> RunOptions:
        """The flags of judges among others, on which the result of the case then depends."""
        self._chat.world.is_judged = True
        return self._attempt.environment.options

    async def validate(self, agent: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Asks a validator; see `Judges`."""
        environment, chat = self._attempt.environment, self._chat
        try:
            with chat.world.branch(agent, payload):
                answer = await ask_helper(environment.runtime, agent, "validator", payload, options, chat)
            if not environment.runtime.connectors_of(chat).is_scripted(answer.connector):
                chat.judged_by.append(JudgeUse(judge=agent, connector=answer.connector))
            return {**verdict_of(agent, answer.output, chat.world), "connector": answer.connector}
        except (AgentError, RunnerError) as error:
            message = error.placed if isinstance(error, AgentError) else error.message
            broken = isinstance(error, AgentError) or error.infrastructure
            raise NotEvaluated(sentences(message, error.hint), infrastructure=broken) from error

    async def call_script(self, reference: str, roles: tuple[str, ...], arguments: list[Any]) -> Any:
        """Calls a script function; see `Judges`."""
        chat, assistant = self._chat, self._attempt.assistant
        context = {**chat.context, "assistant_id": assistant.id}
        scope = Scope(chat=chat, assistant=assistant, context=context, depth=0)
        try:
            with chat.world.branch(reference, arguments):
                return await call_function(
                    reference, roles, arguments, scope, self._attempt.environment.runtime, what=reference
                )
        except ScriptReferenceError as error:
            raise NotEvaluated(sentences(error.message, error.hint), infrastructure=error.infrastructure) from error
        except AgentError as error:
            raise NotEvaluated(error.placed, infrastructure=error.infrastructure) from error
        except HostError as error:
            raise NotEvaluated(error.message, infrastructure=True) from error

    async def embed(self, connector: str, texts: Sequence[str]) -> Embeddings | None:
        """The embeddings of texts; see `Judges`."""
        chat, assistant = self._chat, self._attempt.assistant
        try:
            id = self._embedder(connector or self._options.embedding_connector or "")
            if not id:
                return None
            own = chat.beside(EMBEDDING)
            messages = [{"role": "input", "content": text} for text in texts]
            scope = Scope(chat=own, assistant=assistant, context=own.context, depth=0)
            try:
                completion = await self._attempt.environment.runtime.ask(
                    id, ModelRequest(messages=messages, agent=assistant.id, embeds=True), scope
                )
            finally:
                chat.model_calls += own.model_calls
        except (AgentError, ConfigurationError) as error:
            broken = isinstance(error, AgentError) and error.infrastructure
            raise NotEvaluated(sentences(error.message, error.hint), infrastructure=broken) from error
        vectors = _vectors(completion.content)
        if len(vectors) != len(texts):
            raise NotEvaluated(f"{id} returned {len(vectors)} embeddings for {len(texts)} texts", infrastructure=True)
        return vectors, f"{id} ({completion.model})" if completion.model else id

    def _embedder(self, named: str) -> str:
        """The connector that is asked for embeddings: one that is named, else the one that the agent's connector names;
        empty if that names none, or it is scripted. Raises ConfigurationError."""
        connectors = self._attempt.environment.runtime.connectors_of(self._chat)
        if not named:
            own = chat_connector(self._chat) or self._attempt.assistant.connector
            named = connectors.embedding(connectors.resolve(own)) if own else ""
        if not named:
            return ""
        id = connectors.resolve(named)
        connectors.check_embeds(id)
        return "" if connectors.is_scripted(id) else id

    def warn(self, text: str, kind: str = "judge") -> None:
        """Adds a warning to the result; see `Judges`."""
        self._chat.world.warn(kind, text)

    def match_snapshot(self, name: str, value: Any) -> str | None:
        """Compares with a stored snapshot; see `Judges`."""
        from runner.assertions.snapshots import difference, printed

        text = printed(value)
        try:
            found = self._attempt.environment.snapshot(self._attempt.suite.id)(name, text)
        except ProcessError as error:
            raise NotEvaluated(error.message) from error
        if found["passed"]:
            return None
        reason, expected = found.get("reason"), found.get("expected")
        return reason if expected is None else f"{reason or ''}\n{difference(expected, text)}"


def _vectors(content: str) -> list[list[float]]:
    """The vectors in an answer, which may come from a file that somebody edited. Raises NotEvaluated."""
    try:
        return [list(map(float, vector)) for vector in json.loads(content)]
    except (TypeError, ValueError) as error:
        raise NotEvaluated(f"the embeddings are not lists of numbers: {shorten(content, _SHOWN)}") from error
