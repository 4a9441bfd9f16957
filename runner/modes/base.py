"""One attempt at one case: what it is given, how it asks the agent, and the mode that runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import DATABASE, World, given_mocks, opened_workspace
from runner.agents.answer import AgentError
from runner.agents.call import call_agent, is_unanswered
from runner.agents.chat import AgentRequest, Chat, JudgeUse
from runner.agents.helpers import CaseJudges
from runner.assertions.base import AgentUse, AssertionResult
from runner.cases.messages import described, input_of, parts_of_case
from runner.connectors.base import Usage
from runner.errors import RunnerError, sentences
from runner.modes.case_environment import CaseEnvironment
from runner.modes.outcome import ModeOutcome, failure_of, regradable
from runner.reading.answer_text import thinking_in
from runner.record.case_result import CaseResult, ScoreResult
from runner.shapes.model_parameters import over, parameters_in
from scripttest import Cause, Failure, ResultWarning

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.agents.assistant import Assistant
    from runner.cases.model import CallOptions, Case
    from runner.modes.transcripts import SavedTalk
    from runner.record.case_result import AnswerUsage, Regradable

THINKS = (
    "{} includes its reasoning in its answers, where users see it; assertions on JSON ignore it, all others read it"
)
"""The warning about an agent with thinking in its text."""


class CaseAttempt:
    """One attempt of one case."""

    def __init__(
        self,
        environment: CaseEnvironment,
        suite: str,
        folder: Path,
        assistant: Assistant,
        case: Case,
        position: int,
        line: int,
        needs_checks: bool = True,
        run: int = 0,
        on_turn: Callable[[int], None] | None = None,
    ) -> None:
        """`folder` is where the case's relative files are looked for; `needs_checks` tells that it is odd when nothing
        is checked, as it is not of a message of the command line; `run` is which of several runs it is, from 1;
        `on_turn` is told of each turn that begins."""
        self.environment = environment
        self.suite = suite
        self.folder = folder
        self.assistant = assistant
        self.case = case
        self.position = position
        self.line = line
        self.needs_checks = needs_checks
        self.world = _world_of(case, suite, run or 1, environment.options.seed)
        """Everything that the case keeps; closed with it."""
        self.database = self.world.opened(
            DATABASE, lambda world: environment.database(world, folder, strict=case.options.strict_database)
        )
        self.chat = Chat(self._context(), self.world)
        self.judges = self.judges_for(self.chat)
        self._on_turn = on_turn

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

    def judges_for(self, chat: Chat) -> CaseJudges:
        """Judges that work in a chat."""
        environment = self.environment
        return CaseJudges(
            environment.application,
            environment.runtime,
            environment.helpers,
            self.assistant,
            chat,
            environment.snapshot(self.suite),
            environment.options.require_judge,
            environment.options.judge_samples,
            environment.options.judge_connector or "",
            environment.options.embedding_connector or "",
        )

    @cached_property
    def saved(self) -> SavedTalk | None:
        """The saved talk that is graded again; None when the agent is asked."""
        transcripts = self.environment.transcripts
        if transcripts is None:
            return None
        from runner.modes.transcripts import SavedTalk

        result = transcripts.find(self.chat.origin.key)
        assert result is not None, "only cases with a saved transcript can be regraded"
        return SavedTalk(result)

    async def call_agent(self, messages: list[dict[str, Any]], options: Mapping[str, Any], said: Any) -> Answer:
        """Calls the tested agent and returns its answer. Raises AgentError and ConfigurationError. `messages`: all
        messages to it. `options`: `context.Options` of the call, and parameters of the model. `said`: the last
        message, as the case has it."""
        answer = await self._asked(messages, options, said)
        if answer.cut:
            turn = self.chat.turn
            self.world.warn("cut", f"{f'turn {turn}: ' if turn else ''}the answer was {answer.cut}")
        if isinstance(answer.output, str) and thinking_in(answer.output):
            self.world.warn("thinking", THINKS.format(self.assistant.id))
        return answer

    async def _asked(self, messages: list[dict[str, Any]], options: Mapping[str, Any], said: Any) -> Answer:
        if self.saved is not None:
            return self.saved.answer(self.assistant.id, self.chat, said)
        ledger, noted = self.chat.world.ledger, f"agents.{self.assistant.id}"
        parameters = parameters_in(options)
        ledger.begin(noted)
        try:
            answer = await call_agent(
                self.environment.runtime,
                AgentRequest(
                    agent=self.assistant.id,
                    messages=messages,
                    options={name: value for name, value in options.items() if name not in parameters},
                    chat=self.chat,
                    parameters=parameters,
                ),
            )
        except Exception as error:
            ledger.forget(noted)
            if isinstance(error, (AgentError, RunnerError)) and is_unanswered(error):
                server = error.server if isinstance(error, AgentError) else ""
                name = f"mcp.ListTools {server}" if server else noted
                ledger.note_missing(name, sentences(error.message, error.hint))
            raise
        ledger.forget(noted)
        return answer

    def known(self, model_calls: int, agents: Sequence[AgentUse]) -> dict[str, Any]:
        """How often models, and which agents, were asked for an answer, as fields of its evidence; None where a saved
        talk does not say it."""
        saved = self.saved
        return {
            "model_calls": model_calls if saved is None or saved.knows_calls else None,
            "agents": tuple(agents) if saved is None or saved.knows_agents else None,
        }

    def begin_turn(self, number: int) -> None:
        """Tells that a turn begins."""
        self.chat.turn = number
        if self._on_turn is not None:
            self._on_turn(number)

    @property
    def options(self) -> dict[str, Any]:
        """`context.Options` of the case's calls, `--connector` in it."""
        options = self.case.options.model_dump(exclude_defaults=True)
        options.pop("strict_database", None)
        if self.environment.options.connector:
            options["connector"] = self.environment.options.connector
        return options

    def files(self) -> Mapping[str, bytes]:
        """The files in the workspace of the case."""
        workspace = opened_workspace(self.world)
        return {} if workspace is None else workspace.files()

    def options_of(self, own: CallOptions | None) -> dict[str, Any]:
        """The options of a turn; what it does not set is taken from the case. `--connector` wins over both."""
        options = self.options
        if own is None:
            return options
        of_turn = own.model_dump(exclude_unset=True)
        for key in ("metadata", "skip"):
            if isinstance(of_turn.get(key), Mapping) and isinstance(options.get(key), Mapping):
                of_turn[key] = {**options[key], **of_turn[key]}
        connector = self.environment.options.connector
        return {**over(options, of_turn), **({"connector": connector} if connector else {})}

    @property
    def usage(self) -> Usage:
        """The tokens and costs of all model calls."""
        total = Usage()
        for call in self.chat.model_calls:
            total = total.plus(call.usage)
        return total

    @property
    def warnings(self) -> tuple[ResultWarning, ...]:
        """The warnings about answers of models, each once."""
        odd = dict.fromkeys(warning for call in self.chat.model_calls for warning in call.warnings)
        return tuple(ResultWarning(kind="usage", message=warning) for warning in odd)

    @property
    def shared_judges(self) -> list[JudgeUse]:
        """The judges that have used the connector of the agent."""
        own = {call.connector for call in self.chat.model_calls if call.agent == self.assistant.id}
        return list(dict.fromkeys(use for use in self.chat.judged_by if use.connector in own))

    def regradable(self, outcome: ModeOutcome) -> Regradable | None:
        """What a report needs so that the case can be graded again."""
        if self.environment.fingerprints is None and self.saved is None:
            return None
        return regradable(self.case, outcome.answers)

    def result(self, outcome: ModeOutcome) -> CaseResult:
        """The result, as reports show it."""
        case, answer, usage = self.case, outcome.answer, self.usage
        connector = answer.connector if answer else ""
        return CaseResult(
            title=case.name,
            input=input_of(case),
            output=answer.output if answer else None,
            response=answer.content if answer else "",
            finish_reason=outcome.finish_reason,
            expected=case.expected,
            messages=outcome.messages,
            assertions=outcome.assertions,
            tools=tuple(self.chat.uses),
            connector=connector,
            model_calls=len(self.chat.model_calls),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost=usage.cost,
            sent=tuple(self.chat.sent),
            line=self.line,
            tags=tuple(case.tags),
            metadata=case.metadata or None,
            mode=case.runs,
            in_turns=case.in_turns,
            scores_turns=case.scores_turns,
            simulator=outcome.simulator,
            turns=outcome.turns,
            checkpoints=outcome.checkpoints if outcome.checkpoints or case.lists_checkpoints else None,
            final_assertions=outcome.final_assertions,
            score=outcome.score,
            scores=outcome.scores,
            transcript=outcome.transcript,
            threshold=outcome.threshold,
            checks_nothing=self.needs_checks and outcome.checks_nothing,
            attachments=described(parts_of_case(case), self.folder),
            trace=self._trace(),
        )

    def _trace(self) -> dict[str, Any] | None:
        environment = self.environment
        spans = environment.options.otlp is not None
        if environment.trace == "off" or not (self.chat.steps or (spans and self.chat.calls)):
            return None
        from runner.modes.tracing import trace_of

        whole = environment.trace == "full"
        return trace_of(self.chat.steps, self.chat.calls, environment.clean, whole=whole, spans=spans)


ENDED = """\
  The agent ended with its tool calls: its hook script has no Next that answers. Add to src/index.ts:
  export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next { return { data: payload.tools }; }
  Without hooks, the model gets the results of the tools and answers."""
"""The details of a failure whose output are the names of tools."""


class Mode:
    """How one case is run. `run` runs it; however that ends, `outcome` is what has come of it."""

    def __init__(self, attempt: CaseAttempt) -> None:
        self.attempt = attempt
        self._answer: Answer | None = None
        self._finish_reason = ""
        self._messages = 0
        self._answers: list[AnswerUsage] = []
        self._assertions: list[AssertionResult] = []
        self._failures: list[Failure] = []
        self._score: float | None = None
        self._scores: list[ScoreResult] = []
        self._threshold: float | None = None

    async def run(self) -> None:
        """Runs the case. Raises AgentError, RunnerError and ScriptError."""
        raise NotImplementedError

    def break_off(self, now: float, **fields: Any) -> None:
        """Ends the turn that is under way, if there is one, with fields of its result; `now` on the clock of the
        case."""

    def outcome(self) -> ModeOutcome:
        """What has come of the case so far."""
        return ModeOutcome(
            answer=self._answer,
            finish_reason=self._finish_reason,
            messages=self._messages,
            answers=tuple(self._answers),
            assertions=tuple(self._assertions),
            failures=tuple(self._failures),
            score=self._score,
            scores=tuple(self._scores),
            threshold=self._threshold,
        )

    async def _ask(self, messages: list[dict[str, Any]], options: Mapping[str, Any], said: Any) -> Answer:
        """The answer of the agent; see `CaseAttempt.call_agent`."""
        self._messages = len(messages)
        try:
            self._answer = await self.attempt.call_agent(messages, options, said)
        except AgentError as error:
            self._finish_reason = error.finish_reason
            raise
        self._finish_reason = self._answer.finish_reason
        return self._answer

    def _fail(self, cause: Cause, message: str) -> None:
        """Adds a failure that is not an assertion."""
        self._failures.append(Failure(cause=cause, message=message))

    def _judge(self, results: Sequence[AssertionResult], phase: str | None = None) -> None:
        """Adds assertions, and a failure for each failed one; `phase` is the place, such as `turn 2`."""
        self._assertions += results
        failures = [failure_of(result).replace(phase=phase) for result in results if not result.passed]
        if self._answer is not None and self._answer.ends_with_tools:
            output = self._answer.output
            failures = [one.replace(details=ENDED) if one.actual == output else one for one in failures]
        self._failures += failures


def _world_of(case: Case, suite: str, run: int, seed: int | None) -> World:
    """The world of one attempt at a case."""
    mocks = case.mocks
    return World(
        suite=suite,
        test=case.id,
        run=run,
        mocks=given_mocks(mocks.model_dump()) if mocks is not None else None,
        stopped_at=mocks.stopped_at if mocks is not None else None,
        seed="" if seed is None else f"{seed} {case.id}",
    )
