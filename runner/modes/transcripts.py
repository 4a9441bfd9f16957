"""What agents said in a saved run, instead of asking them again: `yao-test regrade`.

The turns of a case are replayed one by one, with their tools and their time. A simulator or a person says what it said
then. What a report does not contain is missing, such as values that hooks stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError, Answer
from runner.agents.chat import ModelCall
from runner.connectors.base import Completion, Usage
from runner.connectors.usage import count_in
from runner.modes.interactive import NoAnswerError, Question
from runner.reading.helper_answers import Simulation
from runner.record.case_result import CaseResult, TurnResult, TurnUsage
from runner.record.events import ONCE, InterimLooks
from runner.record.model import Suite, TestResult
from scripttest import Cause, Status, TestKey
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.chat import Chat
    from runner.assertions.base import ToolUse

TALKING = (Cause.ERROR, Cause.TIMEOUT, Cause.SETUP, Cause.CRASH, Cause.INFRASTRUCTURE, Cause.CUT)
"""Causes of failures that may have ended a talk, unless an assertion has them."""
DECLARED, UNFINISHED = "agent_declared", "finish_reason"


class Transcripts(Value):
    """The conversations in a report."""

    report: str
    """As the user named it."""
    suites: Sequence[Suite]
    """The suites of the report, with the names that they have there."""
    results: Mapping[TestKey, TestResult]
    """Run of a case → a result with a transcript."""
    refused: Mapping[str, str]
    """Ids of results without one → why."""
    looks: InterimLooks = ONCE
    run_ids: tuple[str, ...] = ()
    """The ids of the runs that the report has."""
    is_whole: bool = True
    """Whether its run came to its end."""


def problem_with_transcript(result: TestResult) -> str | None:
    """Why a result has no transcript that can be graded; None when it has one."""
    case, outcome = result.case, result.outcome
    if case is None:
        return "it is a script test"
    if len(result.attempts) > 1:
        return "the report keeps one of its runs; regrade the reports that it was merged from"
    if case.trials:
        return "it has several trials, but the report keeps only one transcript"
    turns = spoken_turns(case)
    if not case.in_turns:
        broke = any(not failure.type and failure.cause in TALKING for failure in outcome.failures)
        if case.output is None and (broke or outcome.status == Status.SKIPPED):
            return "the agent did not answer"
    elif not turns:
        return "there are no messages"
    elif any(turn.error is not None and turn.output is None and not (turn.response or turn.tools) for turn in turns):
        return "the agent did not answer in every turn"
    elif outcome.status == Status.SKIPPED and not any(turn.status == Status.SKIPPED for turn in case.turns):
        return "the conversation was cut short"  # not because nobody answered the agent
    return None


class SavedTalk:
    """The saved conversation of one attempt, while it is graded again."""

    def __init__(self, result: TestResult) -> None:
        assert result.case is not None
        self._milliseconds = result.outcome.milliseconds
        self._answers = result.regradable.answers if result.regradable is not None else ()
        self.knows_calls = bool(self._answers) and all(one.model_calls is not None for one in self._answers)
        """Whether it is known how often models were asked."""
        self.knows_agents = bool(self._answers) and all(one.agents is not None for one in self._answers)
        """Whether it is known which other agents were asked."""
        self._case = result.case
        self._turns = spoken_turns(self._case)
        self._next = 0
        self._failed = any(failure.cause == Cause.ASSERTION and not failure.type for failure in result.outcome.failures)
        """Whether the talk failed by how it ended: the user spoke too often, or checkpoints are missing."""

    def answer(self, agent: str, chat: Chat, said: Any) -> Answer:
        """What the agent answered, with its tools and its time. Raises AgentError when it was asked something else.
        `agent`: the id of the agent that the case tests. `chat`: gets the tools and what they took. `said`: as the
        case has it, to see that it is what was said then."""
        case = self._case
        if not case.in_turns:
            if case.input != said:
                raise _missing("the input of the case differs from the saved run")
            usage = Usage(input_tokens=case.input_tokens, output_tokens=case.output_tokens, cost=case.cost)
            if self._answers:
                usage = _usage_of(self._answers[0].usage)
            self._take_up(chat, 1, case.tools, usage)
            count_in(self._latency() / 1000)
            completion = Completion(content=case.response, finish_reason=case.finish_reason)
            return _answer(agent, chat, case, completion, case.output)
        number = self._next + 1
        if self._next == len(self._turns):
            raise _missing(f"the saved conversation has no turn {number}")
        turn = self._turns[self._next]
        self._next += 1
        if turn.input != said:
            raise _missing(f"turn {number} of the case differs from the saved conversation")
        self._take_up(chat, number, turn.tools, _usage_of(turn.usage))
        count_in(turn.milliseconds / 1000)
        is_declared = turn.awaiting_reason == DECLARED
        completion = Completion(
            content=turn.response,
            finish_reason=turn.finish_reason or ("length" if turn.awaiting_reason == UNFINISHED else "stop"),
            awaiting_input=turn.awaiting_input if is_declared else None,
            input_hint=turn.input_hint if is_declared else None,
        )
        return _answer(agent, chat, case, completion, turn.output)

    def speak(self, may_go_on: bool) -> Simulation:
        """The next message of the simulated user. After the last one it was content, or else it had spoken as often as
        it may; `may_go_on` says whether it may speak again."""
        turn = self._turn_of("simulated")
        if turn is None:
            return Simulation(input="", achieved=may_go_on or not self._failed, reasoning="")
        return Simulation(input=str(turn.input), achieved=False, reasoning="")

    async def ask(self, question: Question, seconds: float) -> str:
        """What a person typed next, as `Person.ask`. Raises NoAnswerError."""
        turn = self._turn_of("human")
        if turn is None:
            raise NoAnswerError("no answer was saved")
        return str(turn.input)

    def _take_up(self, chat: Chat, number: int, tools: Sequence[ToolUse], usage: Usage) -> None:
        """Adds what was asked for an answer to the chat; `number` counts the answers from 1."""
        said = self._answers[number - 1] if number <= len(self._answers) else None
        before = len(chat.uses)
        chat.uses += tools
        chat.agents += [use.replace(after=use.after + before) for use in (said and said.agents) or ()]
        known = said.model_calls if said is not None else None
        calls = int(self._case.in_turns or bool(self._case.model_calls)) if known is None else known
        of_one = ModelCall(agent="", connector=self._case.connector, usage=usage)
        free = of_one.replace(usage=Usage(), free=True)
        chat.model_calls += [of_one, *[free] * (calls - 1)] if calls else []

    def _latency(self) -> float:
        """Milliseconds of the answer: from the report, else from an assertion, else those of the whole case."""
        if self._answers:
            return self._answers[0].milliseconds
        measured = [check.actual for check in self._case.assertions if check.type == "latency_ms"]
        return next((float(value) for value in measured if isinstance(value, int | float)), self._milliseconds)

    def _turn_of(self, source: str) -> TurnResult | None:
        turn = self._turns[self._next] if self._next < len(self._turns) else None
        return turn if turn is not None and turn.source == source else None


def spoken_turns(case: CaseResult) -> list[TurnResult]:
    """The turns in which the user said something."""
    return [turn for turn in case.turns if turn.status != Status.SKIPPED and turn.source]


def _usage_of(took: TurnUsage | None) -> Usage:
    """The tokens and cost of an answer; those of a host that does not name them are unknown."""
    if took is None:
        return Usage(unknown=True)
    return Usage(input_tokens=took.input_tokens, output_tokens=took.output_tokens, cost=took.cost)


def _answer(agent: str, chat: Chat, case: CaseResult, completion: Completion, output: Any) -> Answer:
    has_next = output is not None and output != completion.content
    return Answer(
        agent=agent,
        completion=completion,
        next=output if has_next else None,
        chat_id=chat.id,
        connector=case.connector,
    )


def _missing(message: str) -> AgentError:
    return AgentError(message, hint="Rerun the case to call the agent", infrastructure=True)
