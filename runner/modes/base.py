"""One attempt at one case while it runs: its inputs, and its results so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import DATABASE, World, given_mocks, opened_workspace
from runner.agents.answer import AgentError
from runner.agents.call import call_agent, is_unanswered
from runner.agents.chat import AgentRequest, Chat, JudgeUse, taken
from runner.agents.helpers import CaseJudges
from runner.assertions.base import AgentUse, AnsweredTurn, AssertionResult, Evidence
from runner.cases.messages import described, input_of, parts_of_case
from runner.connectors.base import Usage
from runner.errors import RunnerError, sentences
from runner.modes.answer_record import answered, failure_of, regradable
from runner.modes.case_environment import CaseEnvironment
from runner.reading.answer_text import thinking_in
from runner.results.case_result import CaseResult, CheckpointResult, ScoreResult, TurnResult
from scripttest import Cause, Failure, ResultWarning

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.agents.assistant import Assistant
    from runner.cases.model import CallOptions, Case
    from runner.modes.answer_record import Exchange
    from runner.modes.transcripts import SavedTalk
    from runner.results.regradable import Answered, Regradable

THINKS = (
    "{} writes what it thinks into its answer, where users see it; assertions on JSON read what comes behind it, all"
    " others see all of it"
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
    ) -> None:
        """`folder` is where the case's relative files are looked for; `needs_checks` tells that it is odd when nothing
        is checked, as it is not of a message of the command line; `run` is which of several runs it is, from 1."""
        self.environment = environment
        self.suite = suite
        self.folder = folder
        self.assistant = assistant
        self.case = case
        self.position = position
        self.line = line
        self.needs_checks = needs_checks
        self.world = _world_of(case, suite, run or 1, environment.seed)
        """Everything that the case keeps; closed with it."""
        self.database = self.world.opened(
            DATABASE, lambda world: environment.database(world, folder, strict=case.options.strict_database)
        )
        self.chat = Chat(self._context(), self.world)
        self.judges = self.judges_for(self.chat)
        self.answer: Answer | None = None
        self.finish_reason = ""
        """Of the last answer of the model, also one that cannot be used; empty if there was none."""
        self.messages = 0
        self.assertions: list[AssertionResult] = []
        self.failures: list[Failure] = []
        self.after_failed: ResultWarning | None = None
        """Why the hook after the case failed."""
        self.skip_reason: str | None = None
        """Why the case is skipped; a failure outranks it."""
        self.transcript: list[dict[str, Any]] = []
        """The messages so far, in a case of several turns."""
        self.said: list[AnsweredTurn] = []
        """The turns of it that the agent has answered."""
        self.exchanges: list[Exchange] = []
        """The same with their evidence."""
        self.answers: list[Answered] = []
        """What is known of each answer, for grading it again."""
        self.turns: list[TurnResult] = []
        self.checkpoints: list[CheckpointResult] = []
        self.final_assertions: tuple[AssertionResult, ...] | None = None
        self.score: float | None = None
        self.scores: list[ScoreResult] = []
        self.simulator: str | None = None
        """The simulator that plays the user."""
        self.threshold: float | None = None
        """The score from which on a conversation passes."""
        self._open_turn: TurnResult | None = None
        """The turn that has not ended."""
        self._turn_began = 0.0
        """When it began, on the clock `now`."""
        self.now: Callable[[], float] = time.monotonic
        """Seconds on the clock of the case; it is stopped while the case waits for this tool or for a person."""
        self.turn = 0
        """The current turn, from 1."""
        self.on_turn: Callable[[int], None] | None = None
        """Hears of each turn that begins."""

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
            environment.require_judge,
            environment.judge_samples,
            environment.judge_connector,
        )

    @cached_property
    def saved(self) -> SavedTalk | None:
        """The saved talk that is graded again; None when the agent is asked."""
        transcripts = self.environment.transcripts
        if transcripts is None:
            return None
        from runner.modes.transcripts import SavedTalk

        result = transcripts.find(self.chat.origin.key)
        assert result is not None, "only cases with a saved talk are graded again"
        return SavedTalk(result)

    async def call_agent(self, messages: list[dict[str, Any]], options: Mapping[str, Any], said: Any) -> Answer:
        """Calls the tested agent and returns its answer. Raises AgentError and ConfigurationError.

        Args:
            messages: all messages to it.
            options: `context.Options` of the call.
            said: the last message, as the case has it.
        """
        try:
            answer = await self._asked(messages, options, said)
        except AgentError as error:
            self.finish_reason = error.finish_reason
            raise
        self.finish_reason = answer.finish_reason
        if answer.cut:
            self.world.warn("cut", f"{f'turn {self.turn}: ' if self.turn else ''}the answer was {answer.cut}")
        if isinstance(answer.output, str) and thinking_in(answer.output):
            self.world.warn("thinking", THINKS.format(self.assistant.id))
        return answer

    async def _asked(self, messages: list[dict[str, Any]], options: Mapping[str, Any], said: Any) -> Answer:
        if self.saved is not None:
            return self.saved.answer(self.assistant.id, self.chat, said)
        ledger, noted = self.chat.world.ledger, f"agents.{self.assistant.id}"
        ledger.begin(noted)
        try:
            answer = await call_agent(
                self.environment.runtime,
                AgentRequest(agent=self.assistant.id, messages=messages, options=dict(options), chat=self.chat),
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

    @property
    def is_graded(self) -> bool:
        """Whether the case has assertions or a score."""
        of_turns = any(turn.assertions for turn in self.turns)
        found = (self.assertions, self.checkpoints, self.final_assertions, of_turns)
        return self.threshold is not None or any(found)

    @property
    def regradable(self) -> Regradable | None:
        """What a report needs so that the case can be graded again."""
        if self.environment.fingerprints is None and self.saved is None:
            return None
        return regradable(self.case, self.answers)

    def begin_turn(self) -> None:
        """Counts a turn, and sends its event."""
        self.turn += 1
        self.chat.turn = self.turn
        if self.on_turn is not None:
            self.on_turn(self.turn)

    def begin(self, turn: TurnResult) -> None:
        """Says what is known of a turn that begins, for the case that it is broken off."""
        self._open_turn, self._turn_began = turn, self.now()

    def amend(self, **fields: Any) -> None:
        """Adds fields of `TurnResult` to the current turn."""
        assert self._open_turn is not None
        self._open_turn = self._open_turn.replace(**fields)

    def end(self, **fields: Any) -> None:
        """Ends the current turn, if there is one, with the last fields of its result."""
        if self._open_turn is None:
            return
        turn, self._open_turn = self._open_turn, None
        self.turns.append(turn.replace(**{"milliseconds": (self.now() - self._turn_began) * 1000, **fields}))

    @property
    def options(self) -> dict[str, Any]:
        """`context.Options` of the case's calls, `--connector` in it."""
        options = self.case.options.model_dump(exclude_defaults=True)
        options.pop("strict_database", None)
        if self.environment.connector:
            options["connector"] = self.environment.connector
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
        given = own.model_dump(exclude_unset=True)
        for key in ("metadata", "skip"):
            if isinstance(given.get(key), Mapping) and isinstance(options.get(key), Mapping):
                given[key] = {**options[key], **given[key]}
        connector = self.environment.connector
        return {**options, **given, **({"connector": connector} if connector else {})}

    def evidence(self, milliseconds: float, messages: list[dict[str, Any]]) -> Evidence:
        """The evidence for assertions on the answer; `messages` are the messages to the agent."""
        answer, case, took = self.answer, self.case, taken(self.chat.model_calls)
        assert answer is not None
        users = [place for place, message in enumerate(messages) if message["role"] == "user"]
        start = users[-1] if users else len(messages)
        said = messages[start].get("content") if users else None
        uses = tuple(self.chat.uses)
        evidence = Evidence(
            output=answer.output,
            content=answer.content,
            cut=answer.cut,
            input=input_of(case),
            expected=case.expected,
            tools=uses,
            milliseconds=milliseconds,
            tokens=took.tokens,
            cost=took.cost,
            **self.known(len(self.chat.model_calls), self.chat.agents),
            messages=(*messages, {"role": "assistant", "content": answer.text}),
            metadata=case.metadata,
            files=self.files if self.saved is None else None,
            case=case.id,
            turns=(AnsweredTurn(turn=1, start=start, input=said, output=answer.output, tools=uses),),
        )
        self.answers.append(answered(evidence, self.chat.model_calls))
        return evidence

    @property
    def usage(self) -> Usage:
        """The tokens and costs of all model calls."""
        total = Usage()
        for call in self.chat.model_calls:
            total = total.plus(call.usage)
        return total

    @property
    def warnings(self) -> tuple[ResultWarning, ...]:
        """The warnings about answers of models, each once, and about the hook after the case."""
        odd = dict.fromkeys(warning for call in self.chat.model_calls for warning in call.warnings)
        found = tuple(ResultWarning(kind="usage", message=warning) for warning in odd)
        return found if self.after_failed is None else (*found, self.after_failed)

    def fail(self, cause: Cause, message: str) -> None:
        """Adds a failure that is not an assertion."""
        self.failures.append(Failure(cause=cause, message=message))

    def judge(self, results: Sequence[AssertionResult], phase: str | None = None) -> None:
        """Adds assertions, and a failure for each failed one; `phase` is the place, such as `turn 2`."""
        self.assertions += results
        self.failures += [failure_of(result).replace(phase=phase) for result in results if not result.passed]

    @property
    def shared_judges(self) -> list[JudgeUse]:
        """The judges that have used the connector of the agent."""
        own = {call.connector for call in self.chat.model_calls if call.agent == self.assistant.id}
        return list(dict.fromkeys(use for use in self.chat.judged_by if use.connector in own))

    @property
    def not_judged(self) -> int:
        """How many judges could not judge."""
        of_scores = () if self.case.graded else self.scores  # their assertions are counted below
        criteria = sum(criterion.not_judged for entry in of_scores for criterion in entry.assertions)
        checkpoints = sum(checkpoint.not_judged for checkpoint in self.checkpoints)
        return criteria + checkpoints + sum(result.not_judged for result in self.assertions)

    @property
    def _checks_nothing(self) -> bool:
        criteria = any(entry.assertions for entry in self.scores)
        checks = self.assertions or self.checkpoints or criteria or self.simulator
        return self.needs_checks and not checks

    def result(self) -> CaseResult:
        """The result, as reports show it."""
        case, answer, usage = self.case, self.answer, self.usage
        connector = answer.connector if answer else ""
        return CaseResult(
            title=case.name,
            input=input_of(case),
            output=answer.output if answer else None,
            response=answer.content if answer else "",
            finish_reason=self.finish_reason,
            expected=case.expected,
            messages=self.messages,
            assertions=tuple(self.assertions),
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
            simulator=self.simulator,
            turns=tuple(self.turns),
            checkpoints=tuple(self.checkpoints) if self.checkpoints or case.lists_checkpoints else None,
            final_assertions=self.final_assertions,
            score=self.score,
            scores=tuple(self.scores),
            transcript=tuple(self.transcript),
            threshold=self.threshold,
            checks_nothing=self._checks_nothing,
            attachments=described(parts_of_case(case), self.folder),
            trace=self._trace(),
        )

    def _trace(self) -> dict[str, Any] | None:
        environment = self.environment
        if environment.trace == "off" or not (self.chat.steps or (environment.spans and self.chat.calls)):
            return None
        from runner.modes.tracing import trace_of

        whole = environment.trace == "full"
        return trace_of(self.chat.steps, self.chat.calls, environment.clean, whole=whole, spans=environment.spans)


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
