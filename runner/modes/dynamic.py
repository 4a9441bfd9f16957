"""Dynamic mode: a simulated user talks to the agent until all required checkpoints are reached (seed 001).

| event | the case |
| --- | --- |
| all required checkpoints are reached; if there are none, the goal is achieved | passes at once |
| the goal is achieved before that | fails: `missing checkpoints: a, b` |
| the user has spoken `max_turns` times | fails: `max turns (20) exceeded` |
| in both cases, if votes on the missing checkpoints do not decide | inconclusive: `checkpoint a: inconclusive: ...` |
| the simulator cannot be asked, or answers nothing | fails: `simulator error: ...` |
| the validator or script of a required checkpoint breaks | fails: `checkpoint a failed: ...` |
"""

from __future__ import annotations

from runner.assertions.checking import check_all
from runner.assertions.model import Assertion
from runner.cases.messages import described, input_of, messages_of, parts_of_last
from runner.cases.other_cases import DynamicCase
from runner.modes.base import CaseAttempt
from runner.modes.checkpoints import Checkpoints, combined
from runner.modes.simulators import SimulatedUser, SimulatorError
from runner.modes.turns import DEFAULT_MAX_TURNS, Spoken, evidence_of_all, take_turn
from scripttest import Cause


async def run(attempt: CaseAttempt) -> None:
    """Holds the conversation. Raises AgentError."""
    case = attempt.case
    assert isinstance(case, DynamicCase)
    checkpoints = Checkpoints(case.checkpoints)
    attempt.checkpoints = checkpoints.results()
    user = SimulatedUser(attempt, case.simulator, case.simulator.use or attempt.environment.simulator)
    try:
        await user.find()
        attempt.simulator = user.reference.text
        limit = case.max_turns or user.max_turns or DEFAULT_MAX_TURNS
        following = _opening(attempt)
        while True:
            if following is None:
                if len(attempt.turns) >= limit:
                    _exceeded(attempt, user, limit, checkpoints)
                    return
                following = await _simulated(attempt, user, limit, checkpoints)
                if following is None:
                    await _conclude(attempt, case)
                    return
            if await _turn(attempt, following, checkpoints):
                await _conclude(attempt, case)
                return
            following = None
    except SimulatorError as error:
        attempt.fail(Cause.INFRASTRUCTURE if error.infrastructure else Cause.ERROR, f"simulator error: {error}")


async def _turn(attempt: CaseAttempt, said: Spoken, checkpoints: Checkpoints) -> bool:
    """Says something and looks at what is reached by the answer; whether the case is decided."""
    assert isinstance(attempt.case, DynamicCase)
    said = said.replace(assertions=attempt.case.turn_assertions or ())
    exchange = (await take_turn(attempt, said)).exchange
    evidence = exchange.evidence.replace(output=combined(exchange.answer, exchange.tools), input=None)
    attempt.assertions += await checkpoints.look(len(attempt.turns), evidence, attempt.judges)
    attempt.checkpoints = checkpoints.results()
    for cause, broken in checkpoints.broken:
        attempt.fail(cause, f"checkpoint {broken}")
    return bool(checkpoints.broken) or (checkpoints.any_required and not checkpoints.missing)


async def _conclude(attempt: CaseAttempt, case: DynamicCase) -> None:
    """Checks the final assertions of a conversation that was not cut short."""
    assertions = [*(case.assertions or ()), *(case.final_assertions or ())]
    if case.assertions is None and case.expected is not None:
        assertions.insert(0, Assertion(type="equals", value=case.expected))
    if not assertions or any(not failure.type for failure in attempt.failures):
        return
    results = await check_all(assertions, evidence_of_all(attempt), attempt.judges)
    attempt.final_assertions = results
    attempt.judge(results, "final assertions")


async def _simulated(attempt: CaseAttempt, user: SimulatedUser, limit: int, checkpoints: Checkpoints) -> Spoken | None:
    """The next message of the simulator; None when its goal is achieved. Raises SimulatorError."""
    said = await user.speak(limit, checkpoints.reached, checkpoints.pending)
    if not said.achieved:
        return Spoken(
            message={"role": "user", "content": said.input},
            input=said.input,
            source="simulated",
            options=attempt.options,
        )
    if attempt.turns:
        note = f"Goal achieved: {said.reasoning}" if said.reasoning else "Goal achieved"
        attempt.turns[-1] = attempt.turns[-1].replace(note=note)
    if checkpoints.missing:
        attempt.failures.append(checkpoints.failure)
    elif not attempt.turns:
        attempt.fail(Cause.SETUP, "no initial input: the simulator says at once that its goal is achieved")
    return None


def _opening(attempt: CaseAttempt) -> Spoken | None:
    """The case's own input, if it has one. What comes before it is in the transcript then."""
    messages = messages_of(attempt.case, attempt.folder)
    if not messages or messages[-1]["role"] != "user":
        attempt.transcript += messages
        return None
    attempt.transcript += messages[:-1]
    written = input_of(attempt.case)
    last = written[-1] if isinstance(written, list) else written
    files = described(parts_of_last(attempt.case), attempt.folder)
    return Spoken(message=messages[-1], input=last, source="initial", options=attempt.options, attachments=files)


def _exceeded(attempt: CaseAttempt, user: SimulatedUser, limit: int, checkpoints: Checkpoints) -> None:
    if checkpoints.undecided:
        attempt.failures.append(checkpoints.failure)
    else:
        attempt.fail(Cause.ASSERTION, f"max turns ({limit}) exceeded")
    if user.remark:
        attempt.turns[-1] = attempt.turns[-1].replace(note=user.remark)
