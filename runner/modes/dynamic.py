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
from runner.modes.base import CaseAttempt
from runner.modes.mode import Mode
from runner.modes.simulators import SimulatedUser, SimulatorError
from runner.modes.turns import DEFAULT_MAX_TURNS, Spoken, TurnsMode
from scripttest import Cause


def mode_of(attempt: CaseAttempt) -> Mode:
    """The mode of a dynamic case."""
    assert isinstance(attempt.case, DynamicCase)
    return _Dynamic(attempt, attempt.case)


class _Dynamic(TurnsMode):
    def __init__(self, attempt: CaseAttempt, case: DynamicCase) -> None:
        super().__init__(attempt, case.checkpoints)
        self._case = case
        use = case.simulator.use or attempt.environment.options.simulator or ""
        self._user = SimulatedUser(self, case.simulator, use)
        self._limit = DEFAULT_MAX_TURNS

    async def run(self) -> None:
        """Holds the conversation. Raises AgentError."""
        user, case = self._user, self._case
        try:
            await user.find()
            self.simulator = user.reference.text
            self._limit = case.max_turns or user.max_turns or DEFAULT_MAX_TURNS
            said = self._opening()
            while True:
                if said is None and len(self.turns) >= self._limit:
                    self._exceeded(user, self._limit)
                    return
                said = said or await self._simulated()
                if said is None or await self._turn(said):
                    break
                said = None
            if all(failure.type for failure in self.failures):  # it was not cut short
                await self._check_end(case.final_assertions)
        except SimulatorError as error:
            self._fail(Cause.INFRASTRUCTURE if error.infrastructure else Cause.ERROR, f"simulator error: {error}")

    async def _turn(self, said: Spoken) -> bool:
        """Says something and looks at what is reached by the answer; whether the case is decided."""
        await self._look(await self._take_turn(said.replace(assertions=self._case.turn_assertions or ())))
        reached = self._reached
        return bool(reached.broken) or (reached.any_required and not reached.missing)

    async def _simulated(self) -> Spoken | None:
        """The next message of the simulator; None when its goal is achieved. Raises SimulatorError."""
        said = await self._user.speak(self._limit, self._reached)
        if not said.achieved:
            return self._typed(said.input, "simulated")
        missing = self._reached.missing
        if self.turns or not missing:
            self._achieved(said)
        if missing:
            self.failures.append(self._reached.failure)
        return None
