"""One attempt at one case: what it is given, how it asks the agent, and the mode that runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import DATABASE, World, given_mocks, opened_workspace
from runner.agents.answer import AgentError
from runner.agents.call import call_agent, is_unanswered
from runner.agents.chat import AgentRequest, Chat, JudgeUse, totals_of
from runner.agents.helpers import CaseJudges
from runner.assertions.base import AgentUse, AnsweredTurn, AssertionResult, Evidence
from runner.cases.messages import described, input_of, parts_of_case
from runner.connectors.base import Usage
from runner.connectors.timing import case_now
from runner.errors import RunnerError, sentences
from runner.modes.case_environment import CaseEnvironment
from runner.modes.outcome import Exchange, answered, failure_of, regradable
from runner.reading.answer_text import thinking_in
from runner.record.case_result import CaseResult
from runner.shapes.model_parameters import over, parameters_in
from scripttest import Cause, Failure, ResultWarning

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.agents.assistant import Assistant
    from runner.cases.model import CallOptions, Case
    from runner.modes.transcripts import SavedTalk
    from runner.record.case_result import AnswerUsage, CheckpointResult, Regradable, ScoreResult, TurnResult
    from runner.record.model import Suite

THINKS = (
    "{} includes its reasoning in its answers, where users see it; assertions on JSON ignore it, all others read it"
)
"""The warning about an agent with thinking in its text."""


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
        self.judges = self.judges_for(self.chat)

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
            environment.snapshot(self.suite.id),
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


ENDED = """\
  The agent ended with its tool calls: its hook script has no Next that answers. Add to src/index.ts:
  export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next { return { data: payload.tools }; }
  Without hooks, the model gets the results of the tools and answers."""
"""The details of a failure whose output are the names of tools."""


class Mode:
    """How one case is run, and what has come of it so far. This one does not run."""

    def __init__(self, attempt: CaseAttempt) -> None:
        self.attempt = attempt
        self.answer: Answer | None = None
        """The last answer of the agent."""
        self.finish_reason = ""
        """Of the last answer of the model, also one that cannot be used; empty if there was none."""
        self.messages = 0
        """How many messages the agent got at last."""
        self.answers: list[AnswerUsage] = []
        """What is known of each answer, for grading it again."""
        self.assertions: list[AssertionResult] = []
        self.failures: list[Failure] = []
        self.skip_reason: str | None = None
        """Why the case is skipped; a failure outranks it."""
        self.transcript: list[dict[str, Any]] = []
        """The messages so far, in a case of several turns."""
        self.turns: list[TurnResult] = []
        self.said: list[AnsweredTurn] = []
        """The turns that the agent has answered."""
        self.checkpoints: Sequence[CheckpointResult] = ()
        """Their state after the last answer."""
        self.final_assertions: tuple[AssertionResult, ...] | None = None
        self.score: float | None = None
        self.scores: list[ScoreResult] = []
        self.simulator: str | None = None
        """Who plays the user."""
        self.threshold: float | None = None
        """The score from which on a graded case passes."""

    async def run(self) -> None:
        """Runs the case. Raises AgentError, RunnerError and ScriptError."""
        raise NotImplementedError

    def break_off(self, now: float, **fields: Any) -> None:
        """Ends the turn that is under way, if there is one, with fields of its result; `now` on the clock of the
        case."""

    @property
    def is_graded(self) -> bool:
        """Whether the case has assertions or a score."""
        of_turns = any(turn.assertions for turn in self.turns)
        return self.threshold is not None or any((self.assertions, self.checkpoints, self.final_assertions, of_turns))

    @property
    def not_judged(self) -> int:
        """How many judges could not judge. Of a graded answer, criteria are among the assertions."""
        scores = () if self.attempt.case.graded else self.scores
        criteria = sum(criterion.not_judged for entry in scores for criterion in entry.assertions)
        checkpoints = sum(checkpoint.not_judged for checkpoint in self.checkpoints)
        return criteria + checkpoints + sum(result.not_judged for result in self.assertions)

    def regradable(self) -> Regradable | None:
        """What a report needs so that the case can be graded again."""
        attempt = self.attempt
        if not self.answers or (attempt.environment.fingerprints is None and attempt.saved is None):
            return None
        return regradable(attempt.case, self.answers)

    def result(self) -> CaseResult:
        """The result, as reports show it."""
        attempt, answer, usage = self.attempt, self.answer, Usage()
        case, chat = attempt.case, attempt.chat
        for call in chat.model_calls:
            usage = usage.plus(call.usage)
        criteria = any(entry.assertions for entry in self.scores)
        return CaseResult(
            title=case.name,
            input=input_of(case),
            output=answer.output if answer else None,
            response=answer.content if answer else "",
            finish_reason=self.finish_reason,
            expected=case.expected,
            messages=self.messages,
            assertions=tuple(self.assertions),
            tools=tuple(chat.uses),
            connector=answer.connector if answer else "",
            model_calls=len(chat.model_calls),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost=usage.cost,
            sent=tuple(chat.sent),
            line=attempt.line,
            tags=tuple(case.tags),
            metadata=case.metadata or None,
            mode=case.runs,
            in_turns=case.in_turns,
            scores_turns=case.scores_turns,
            simulator=self.simulator,
            turns=tuple(self.turns),
            checkpoints=tuple(self.checkpoints) if self.checkpoints or case.lists_checkpoints else None,
            final_assertions=self.final_assertions,
            score=self.score,
            scores=tuple(self.scores),
            transcript=tuple(self.transcript),
            threshold=self.threshold,
            checks_nothing=not (
                attempt.suite.is_message or self.assertions or self.checkpoints or criteria or self.simulator
            ),
            attachments=described(parts_of_case(case), attempt.folder),
            trace=attempt.trace(),
        )

    async def _ask(
        self, messages: list[dict[str, Any]], options: Mapping[str, Any], said: Any, turn: AnsweredTurn
    ) -> Exchange:
        """Sends messages to the agent; see `CaseAttempt.call_agent`. `turn`: the turn without its answer."""
        attempt, chat = self.attempt, self.attempt.chat
        before, calls, asked = 0, 0, 0
        if attempt.case.in_turns:  # else those of the hook before the case count, too
            before, calls, asked = len(chat.uses), len(chat.model_calls), len(chat.agents)
        self.messages = len(messages)
        self.said.append(turn)
        started = case_now()
        try:
            answer = self.answer = await attempt.call_agent(messages, options, said)
        except AgentError as error:
            self.finish_reason = error.finish_reason
            raise
        self.finish_reason = answer.finish_reason
        milliseconds = (case_now() - started) * 1000
        tools, made = tuple(chat.uses[before:]), tuple(chat.model_calls[calls:])
        others = tuple(use.replace(after=use.after - before) for use in chat.agents[asked:])
        self.said[-1] = turn.replace(output=answer.output, tools=tools)
        took = totals_of(made)
        evidence = Evidence(
            output=answer.output,
            content=answer.content,
            cut=answer.cut,
            input=turn.input,
            tools=tools,
            milliseconds=milliseconds,
            tokens=took.tokens,
            cost=took.cost,
            **attempt.known(len(made), others),
            messages=(*messages, {"role": "assistant", "content": answer.text}),
            metadata=attempt.case.metadata,
            case=attempt.case.id,
            turns=tuple(self.said),
        )
        self.answers.append(answered(evidence, made))
        return Exchange(answer=answer, evidence=evidence, calls=made)

    def _fail(self, cause: Cause, message: str) -> None:
        """Adds a failure that is not an assertion."""
        self.failures.append(Failure(cause=cause, message=message))

    def _judge(self, results: Sequence[AssertionResult], phase: str | None = None) -> None:
        """Adds assertions, and a failure for each failed one; `phase` is the place, such as `turn 2`."""
        self.assertions += results
        failures = [failure_of(result).replace(phase=phase) for result in results if not result.passed]
        if self.answer is not None and self.answer.ends_with_tools:
            output = self.answer.output
            failures = [one.replace(details=ENDED) if one.actual == output else one for one in failures]
        self.failures += failures
