"""Dynamic mode: a simulated user talks to the agent until all required checkpoints are reached (seed 001).

| event | the case |
| --- | --- |
| all required checkpoints are reached; if there are none, the goal is achieved | passes at once |
| the goal is achieved before that | fails: `missing checkpoints: a, b` |
| the user has spoken `max_turns` times | fails: `max turns (20) exceeded` |
| in both cases, if votes on the missing checkpoints do not decide | inconclusive: `checkpoint a: inconclusive: ...` |
| the simulator cannot be asked, or answers nothing | fails: `simulator error: ...` |
| the validator or script of a required checkpoint breaks | fails: `checkpoint a failed: ...` |"""

from __future__ import annotations

from runner.cases.other_cases import DynamicCase
from runner.modes.base import CaseAttempt, Mode
from runner.modes.checkpoints import Checkpoints
from runner.modes.simulators import SimulatedUser, SimulatorError
from runner.modes.turns import DEFAULT_MAX_TURNS, Spoken, TurnsMode
from scripttest import Cause


def mode_of(attempt: CaseAttempt) -> Mode:
    """The mode of a dynamic case."""
    assert isinstance(attempt.case, DynamicCase)
    return _Dynamic(attempt, attempt.case)


class _Dynamic(TurnsMode):
    def __init__(self, attempt: CaseAttempt, case: DynamicCase) -> None:
        super().__init__(attempt, Checkpoints(case.checkpoints))
        self._case = case
        self._user = SimulatedUser(
            self, case.simulator, case.simulator.use or attempt.environment.options.simulator or ""
        )
        self._limit = DEFAULT_MAX_TURNS

    async def run(self) -> None:
        """Holds the conversation. Raises AgentError."""
        user, case = self._user, self._case
        try:
            await user.find()
            self._simulator = user.reference.text
            self._limit = case.max_turns or user.max_turns or DEFAULT_MAX_TURNS
            following = self._opening()
            while True:
                if following is None and len(self.turns) >= self._limit:
                    self._exceeded(user, self._limit)
                    return
                following = following or await self._simulated()
                if following is None or await self._turn(following):
                    break
                following = None
            if all(failure.type for failure in self._failures):  # it was not cut short
                await self._check_end(case.final_assertions)
        except SimulatorError as error:
            self._fail(Cause.INFRASTRUCTURE if error.infrastructure else Cause.ERROR, f"simulator error: {error}")

    async def _turn(self, said: Spoken) -> bool:
        """Says something and looks at what is reached by the answer; whether the case is decided."""
        done = await self._take_turn(said.replace(assertions=self._case.turn_assertions or ()))
        await self._look(len(self.turns), done.exchange)
        checkpoints = self._checkpoints
        return bool(checkpoints.broken) or (checkpoints.any_required and not checkpoints.missing)

    async def _simulated(self) -> Spoken | None:
        """The next message of the simulator; None when its goal is achieved. Raises SimulatorError."""
        said = await self._user.speak(self._limit, self._checkpoints.reached, self._checkpoints.pending)
        if not said.achieved:
            return self._typed(said.input, "simulated")
        missing = self._checkpoints.missing
        if self.turns or not missing:
            self._achieved(said)
        if missing:
            self._failures.append(self._checkpoints.failure)
        return None

    def _exceeded(self, user: SimulatedUser | None, limit: int) -> None:
        if not self._checkpoints.undecided:
            super()._exceeded(user, limit)
            return
        self._failures.append(self._checkpoints.failure)
        if user is not None and user.remark:
            self._note(user.remark)
