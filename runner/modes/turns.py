"""Modes in which the user speaks several times: a turn with the agent that is tested, which checkpoints of the case are
reached by it (seed 001), and the end of a conversation.

After each answer, every open checkpoint is checked once if all checkpoints in its `after` are reached, also by this
answer. The checks see all texts of the answer: Next's data, the text of the model, and each `message` in the result of
a tool. If there are several, they are joined with line breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError
from runner.assertions.base import AssertionResult, Evidence, Judges
from runner.assertions.checking import check_all, type_named
from runner.assertions.model import Assertion
from runner.assertions.values import value_text
from runner.cases.messages import described, input_of, messages_of, parts_of_last
from runner.connectors.usage import case_now
from runner.errors import RunnerError
from runner.modes.base import CaseAttempt
from runner.modes.mode import Exchange, Mode, tokens_of, usage_of
from runner.modes.simulators import Awaiting, detect, tool_results
from runner.record.case_result import CheckpointResult, TurnResult
from scripttest import Cause, Failure, ScriptError, Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.assertions.base import ToolUse
    from runner.cases.turns import Checkpoint
    from runner.modes.simulators import SimulatedUser
    from runner.reading.helper_answers import Simulation

DEFAULT_MAX_TURNS = 20
"""How many times the user may speak, in a case that says nothing of it."""


class Spoken(Value):
    """The message of the user in a turn."""

    message: Mapping[str, Any]
    """In OpenAI's form."""
    input: Any
    """As the case has it, for reports."""
    source: str
    """`static`, `initial`, `simulated` or `human`."""
    options: Mapping[str, Any]
    """`context.Options` of the call."""
    assertions: Sequence[Assertion] = ()
    attachments: tuple[dict[str, Any], ...] = ()
    """The files in it, as reports describe them."""


class Checkpoints:
    """The checkpoints of one case."""

    def __init__(self, checkpoints: Sequence[Checkpoint]) -> None:
        self._checkpoints = {one.id: one for one in checkpoints}
        self._last = {
            one.id: CheckpointResult(
                id=one.id, description=one.description, required=one.required, reached_at_turn=None
            )
            for one in checkpoints
        }
        """Id → its state when it was last tried."""
        self._undecided: dict[str, str] = {}
        """Id → what votes said of it that did not decide; of those that nothing else kept from being reached then."""
        self.broken: list[tuple[Cause, str]] = []
        """What is wrong with required ones that no judge could try on the last answer, by cause."""
        self.any_required = any(one.required for one in checkpoints)

    @property
    def reached(self) -> list[str]:
        """Ids of those that are reached."""
        return [id for id, last in self._last.items() if last.passed]

    @property
    def pending(self) -> list[str]:
        """Ids of the others."""
        return self._waits(self._last)

    @property
    def missing(self) -> list[str]:
        """Ids of those that are required and not reached."""
        return [id for id in self.pending if self._checkpoints[id].required]

    @property
    def failure(self) -> Failure:
        """What a case fails for in which required ones are missing; inconclusive if votes on all did not decide."""
        if self.undecided:
            said = "; ".join(f"checkpoint {id}: {said}" for id, said in self._undecided.items())
            return Failure(cause=Cause.INCONCLUSIVE, message=said)
        return Failure(cause=Cause.ASSERTION, message=f"missing checkpoints: {', '.join(self.missing)}")

    @property
    def undecided(self) -> bool:
        """Whether required ones are missing, and each of them may have been reached."""
        return bool(self.missing) and all(map(self._may_be, self.missing))

    async def look(self, turn: int, evidence: Evidence, judges: Judges) -> list[AssertionResult]:
        """Tries the open checkpoints on the answer of a turn; the assertions of those that it reached."""
        left = self.pending
        held: list[AssertionResult] = []
        self.broken = []
        while ready := [id for id in left if not self._waits(self._checkpoints[id].after)]:
            left = [id for id in left if id not in ready]
            checks = [check_all(self._checkpoints[id].assertions, evidence, judges) for id in ready]
            for id, results in zip(ready, await asyncio.gather(*checks), strict=True):
                held += self._tried(id, turn, results)
        return held

    def _tried(self, id: str, turn: int, results: tuple[AssertionResult, ...]) -> Sequence[AssertionResult]:
        """Takes the results of a checkpoint; these, if it is reached."""
        failed = [result for result in results if not result.passed]
        last = self._last[id].replace(
            message="; ".join(result.message for result in failed),
            judged=any(result.judged for result in results),
            not_judged=sum(result.not_judged for result in results) if failed else 0,
        )
        if (last.assertions and not failed) or (any(map(_has_judge, results)) and id not in self._undecided):
            last = last.replace(assertions=results)
        self._last[id] = last if failed else last.replace(reached_at_turn=turn)
        if not failed:
            return results
        if all(result.inconclusive for result in failed):
            self._undecided.setdefault(id, last.message)
        elif last.required and not all(result.judged for result in failed):
            self.broken.append((Cause.ASSERTION, f"{id} failed: {last.message}"))
        elif last.required and any(map(_is_unjudged, failed)):
            is_broken = all(result.infrastructure for result in failed if result.error)
            cause = Cause.INFRASTRUCTURE if is_broken else Cause.ERROR
            self.broken.append((cause, f"{id} failed: {last.message}"))
        return ()

    def results(self) -> list[CheckpointResult]:
        """The state of each, in the order of the case."""
        return [
            last.replace(message=self._why_not(id), inconclusive=self._may_be(id)) for id, last in self._last.items()
        ]

    def _waits(self, ids: Iterable[str]) -> list[str]:
        return [id for id in ids if not self._last[id].passed]

    def _may_be(self, id: str) -> bool:
        """Whether votes on one that is not reached did not decide, or on one that it comes after."""
        if self._last[id].passed:
            return False
        waits = self._waits(self._checkpoints[id].after)
        return all(map(self._may_be, waits)) if waits else id in self._undecided

    def _why_not(self, id: str) -> str:
        last, waits = self._last[id], self._waits(self._checkpoints[id].after)
        if waits:
            return f"not checked: it comes after {', '.join(waits)}"
        return last.message if last.passed else self._undecided.get(id) or last.message


def _has_judge(result: AssertionResult) -> bool:
    return result.judge is not None or any(map(_has_judge, result.details))


def _is_unjudged(result: AssertionResult) -> bool:
    """Whether a judge or a script failed; other checks may have had nothing to look at yet."""
    return (result.error and type_named(result.type).asks is not None) or any(map(_is_unjudged, result.details))


def all_texts(answer: Answer, tools: Sequence[ToolUse]) -> Any:
    """All texts of an answer, as a text of several lines; or the value, if there is only one."""
    said: list[Any] = [] if answer.next in (None, "") else [answer.next]
    if answer.content:
        said.append(answer.content)
    said += [
        use.result["message"]
        for use in tools
        if isinstance(use.result, dict) and isinstance(use.result.get("message"), str) and use.result["message"]
    ]
    if not said:
        return answer.output
    return said[0] if len(said) == 1 else "\n".join(map(value_text, said))


class TurnsMode(Mode):
    """A mode of several turns."""

    def __init__(self, attempt: CaseAttempt) -> None:
        super().__init__(attempt)
        self._reached = Checkpoints(getattr(attempt.case, "checkpoints", ()))
        self.checkpoints = self._reached.results()
        self._exchanges: list[Exchange] = []
        self._number = 0
        self._open: TurnResult | None = None
        self._began = 0.0
        """When it began, on the clock of the case."""
        self._awaiting = Awaiting(awaiting=True, reason="")
        """Whether the agent waits for the user, after its last answer."""
        self._user: SimulatedUser | None = None
        self._limit = DEFAULT_MAX_TURNS
        """How many times the user may speak."""

    async def _find_user(self, most: int | None) -> None:
        """Finds the simulated user, if there is one; `most` is what the case says of how often it may speak. Raises
        SimulatorError."""
        user = self._user
        if user is not None:
            await user.find()
            self.simulator = user.reference.text
        self._limit = most or (user.max_turns if user else None) or DEFAULT_MAX_TURNS

    def break_off(self, now: float, **fields: Any) -> None:
        """See `Mode`."""
        if self._open is not None:
            turn, self._open = self._open, None
            self.turns.append(turn.replace(**{"milliseconds": (now - self._began) * 1000, **fields}))

    def _add_turn(self, input: Any, source: str, **fields: Any) -> None:
        self.turns.append(TurnResult(turn=len(self.turns) + 1, input=input, source=source, **fields))

    def _note(self, note: str) -> None:
        self.turns[-1] = self.turns[-1].replace(note=note)

    async def _take_turn(self, said: Spoken) -> Exchange:
        """Sends a message to the agent, with all messages before it, and judges the answer. When it has ended, the turn
        is among `turns`. Raises AgentError, RunnerError, ScriptError: the agent could not answer; then the turn has
        failed, and the transcript has only the message."""
        attempt = self.attempt
        self._number += 1
        self._open = TurnResult(
            turn=len(self.turns) + 1,
            input=said.input,
            source=said.source,
            status=Status.PASSED,
            attachments=said.attachments,
        )
        self._began = case_now()
        attempt.begin_turn(self._number)
        self.transcript.append(dict(said.message))
        start = len(self.transcript) - 1
        try:
            done = await self._ask(list(self.transcript), said.options, said.input, start, self._number)
        except (AgentError, RunnerError, ScriptError) as error:
            reason = error.finish_reason if isinstance(error, AgentError) else ""
            self.break_off(
                case_now(), status=Status.FAILED, error=f"agent error: {error.message}", finish_reason=reason
            )
            raise
        self.transcript.append({"role": "assistant", "content": done.answer.text})
        self._exchanges.append(done)
        self._awaiting = self._detect(done)
        self._open = self._open.replace(
            output=done.answer.output,
            response=done.answer.content,
            finish_reason=done.answer.finish_reason,
            awaiting_input=self._awaiting.awaiting,
            awaiting_reason=self._awaiting.reason,
            input_hint=self._awaiting.hint,
            tools=done.evidence.tools,
            usage=self.answers[-1].usage,
        )
        self.break_off(0, milliseconds=done.evidence.milliseconds, **await self._check(said, done))
        return done

    def _detect(self, done: Exchange) -> Awaiting:
        return detect(done.answer, done.evidence.tools)

    async def _check(self, said: Spoken, done: Exchange) -> dict[str, Any]:
        """Judges the answer of the current turn; the `status`, `assertions` and `error` of its result."""
        results = await check_all(said.assertions, done.evidence, self.attempt.judges)
        self._judge(results, f"turn {self._number}")
        held = all(result.passed for result in results)
        return {"status": Status.PASSED if held else Status.FAILED, "assertions": results}

    async def _look(self, done: Exchange) -> None:
        """Looks which checkpoints are reached by the answer of the current turn."""
        evidence = done.evidence.replace(output=all_texts(done.answer, done.evidence.tools), input=None)
        self.assertions += await self._reached.look(self._number, evidence, self.attempt.judges)
        self.checkpoints = self._reached.results()
        for cause, broken in self._reached.broken:
            self._fail(cause, f"checkpoint {broken}")

    # what the user says

    def _opening(self) -> Spoken | None:
        """The case's own input, if it has one. What comes before it is in the transcript then."""
        case, folder = self.attempt.case, self.attempt.folder
        messages = messages_of(case, folder)
        if not messages or messages[-1]["role"] != "user":
            self.transcript += messages
            return None
        self.transcript += messages[:-1]
        written = input_of(case)
        last = written[-1] if isinstance(written, list) else written
        files = described(parts_of_last(case), folder)
        options = self.attempt.options_of()
        return Spoken(message=messages[-1], input=last, source="initial", options=options, attachments=files)

    def _typed(self, text: str, source: str) -> Spoken:
        message = {"role": "user", "content": text}
        return Spoken(message=message, input=text, source=source, options=self.attempt.options_of())

    def _achieved(self, said: Simulation) -> None:
        if self.turns:
            self._note(f"Goal achieved: {said.reasoning}" if said.reasoning else "Goal achieved")
        else:
            self._fail(Cause.SETUP, "no initial input: the simulator reports its goal as achieved right away")

    def _exceeded(self) -> None:
        """Fails the case because the user has spoken as often as it may."""
        if self._reached.undecided:
            self.failures.append(self._reached.failure)
        else:
            self._fail(Cause.ASSERTION, f"max turns ({self._limit}) exceeded")
        if self._user is not None and self._user.remark:
            self._note(self._user.remark)

    # the end

    def _evidence_of_talk(self) -> Evidence:
        """The last answer, and what all of them took."""
        attempt, done = self.attempt, self._exchanges
        calls = [call for one in done for call in one.calls]
        took = usage_of(calls)
        return done[-1].evidence.replace(
            expected=attempt.case.expected,
            tools=tuple(attempt.chat.uses),
            milliseconds=sum(one.evidence.milliseconds for one in done),
            tokens=tokens_of(took),
            cost=took.cost,
            **attempt.known(len(calls), attempt.chat.agents),
            messages=tuple(self.transcript),
            turns=tuple(self.said),
        )

    def _evidence_of_all(self) -> Evidence:
        """The same with all messages of the user, and the state of the conversation."""
        chat, inputs = self.attempt.chat, [turn.input for turn in self.turns]
        state = {
            "session_id": chat.id,
            "messages": self.transcript,
            "tool_results": tool_results(chat),
            "variables": chat.variables(),
            "turn_count": len(inputs),
        }
        return self._evidence_of_talk().replace(input=inputs, state=state)

    async def _check_end(self, final: Sequence[Assertion] | None) -> None:
        """Checks the assertions of the case, and its final ones."""
        case = self.attempt.case
        assertions = [*(case.assertions or ()), *(final or ())]
        if case.assertions is None and case.expected is not None:
            assertions.insert(0, Assertion(type="equals", value=case.expected))
        if assertions:
            self.final_assertions = await check_all(assertions, self._evidence_of_all(), self.attempt.judges)
            self._judge(self.final_assertions, "final assertions")
