"""Dynamic mode: a simulated user talks to the agent until all required checkpoints are reached (seed 001).

| what happens | the case |
| --- | --- |
| all required checkpoints are reached; without any, the goal is achieved | passes at once |
| the goal is achieved before | fails: `missing checkpoints: a, b` |
| the user has spoken `max_turns` times | fails: `max turns (20) exceeded` |
| the simulator cannot be asked, or answers nothing | fails: `simulator error: ...` |
| the validator or script of a required checkpoint breaks | fails: `checkpoint a failed: ...` |
"""

from __future__ import annotations

from runner.agents.simulators import SimulatedUser, SimulatorError
from runner.cases.attachments import described, parts_of_last
from runner.cases.conversations import DynamicCase
from runner.cases.messages import input_of, messages_of
from runner.modes.base import CaseAttempt
from runner.modes.checkpoints import Checkpoints, combined
from runner.modes.turns import DEFAULT_MAX_TURNS, Spoken, take_turn
from scripttest import Cause


async def run(trial: CaseAttempt) -> None:
    """Holds the conversation. Raises AgentError."""
    case = trial.case
    assert isinstance(case, DynamicCase)
    checkpoints = Checkpoints(case.checkpoints)
    trial.checkpoints = checkpoints.results()
    user = SimulatedUser(trial, case.simulator, case.simulator.use or trial.setting.simulator)
    try:
        await user.find()
        trial.simulator = user.reference.removeprefix("agents:")
        limit = case.max_turns or user.max_turns or DEFAULT_MAX_TURNS
        following = _opening(trial)
        while True:
            if following is None:
                if len(trial.turns) >= limit:
                    _exceeded(trial, user, limit)
                    return
                following = await _simulated(trial, user, limit, checkpoints)
                if following is None:
                    return
            if await _turn(trial, following, checkpoints):
                return
            following = None
    except SimulatorError as error:
        trial.fail(Cause.INFRASTRUCTURE if error.infrastructure else Cause.ERROR, f"simulator error: {error}")


async def _turn(trial: CaseAttempt, said: Spoken, checkpoints: Checkpoints) -> bool:
    """Says something and looks at what is reached by the answer; whether the case is decided."""
    exchange = (await take_turn(trial, said)).exchange
    evidence = exchange.evidence.replace(output=combined(exchange.answer, exchange.tools), input=None)
    trial.assertions += await checkpoints.look(len(trial.turns), evidence, trial.judges)
    trial.checkpoints = checkpoints.results()
    for cause, broken in checkpoints.broken:
        trial.fail(cause, f"checkpoint {broken}")
    return bool(checkpoints.broken) or (checkpoints.any_required and not checkpoints.missing)


async def _simulated(trial: CaseAttempt, user: SimulatedUser, limit: int, checkpoints: Checkpoints) -> Spoken | None:
    """What the simulator says; None when its goal is achieved. Raises SimulatorError."""
    said = await user.speak(limit, checkpoints.reached, checkpoints.pending)
    if not said.achieved:
        return Spoken(
            message={"role": "user", "content": said.input}, input=said.input, source="simulated", options=trial.options
        )
    if trial.turns:
        note = f"Goal achieved: {said.reasoning}" if said.reasoning else "Goal achieved"
        trial.turns[-1] = trial.turns[-1].replace(note=note)
    if checkpoints.missing:
        trial.fail(Cause.ASSERTION, f"missing checkpoints: {', '.join(checkpoints.missing)}")
    elif not trial.turns:
        trial.fail(Cause.SETUP, "no initial input: the simulator takes its goal for achieved at once")
    return None


def _opening(trial: CaseAttempt) -> Spoken | None:
    """The case's own input, if it has one. What comes before it is in the transcript then."""
    messages = messages_of(trial.case, trial.folder)
    if not messages or messages[-1]["role"] != "user":
        trial.transcript += messages
        return None
    trial.transcript += messages[:-1]
    written = input_of(trial.case)
    last = written[-1] if isinstance(written, list) else written
    files = described(parts_of_last(trial.case), trial.folder)
    return Spoken(message=messages[-1], input=last, source="initial", options=trial.options, attachments=files)


def _exceeded(trial: CaseAttempt, user: SimulatedUser, limit: int) -> None:
    trial.fail(Cause.ASSERTION, f"max turns ({limit}) exceeded")
    if user.remark:
        trial.turns[-1] = trial.turns[-1].replace(note=user.remark)
