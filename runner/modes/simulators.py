"""Plays the user: an agent or a script that says what the user says next (seeds 000 and 001, facts (g)).

It gets one JSON object, as the message and as the metadata of the call; a script gets it as its argument:

| field | |
| --- | --- |
| persona, goal | from the case's `simulator`, wherever they are in it |
| conversation | `{role, content}` of everything that user and agent said, as text |
| last_response | the last answer of the agent |
| turn_number, turn_count, max_turns | number of the next turn, from 1; number of turns so far; most turns |
| checkpoints_reached, checkpoints_pending | ids, in dynamic mode |
| tool_results | tool → its last result |
| test_mode, test_id, session_id | `simulator`, the case, its chat |
| extra | other fields of the simulator's metadata, which are also in the metadata of the call |

It answers `{input, goal_achieved, reasoning}`, or a text, which is what the user says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError
from runner.agents.references import find_function
from runner.assertions.base import NotEvaluated
from runner.cases.model import simulator_reference
from runner.errors import RunnerError
from runner.modes.awaiting import text_in
from runner.reading.helper_answers import Simulation, Unclear, read_simulation
from scripttest import ScriptError, Status

if TYPE_CHECKING:
    from runner.agents.chat import Chat
    from runner.cases.turns import Simulator
    from runner.modes.mode import Mode

ROLES = ("Simulate",)
"""The functions that a script reference means which names none."""
NOTHING = "no message for the user"
NOT_NAMED = "no simulator is set. Set an agent or a script in simulator.use, or with --simulator"
_OWN = ("persona", "goal", "max_turns")
REPEATS = 3
"""From how many times on saying the same is worth a word."""


class SimulatorError(Exception):
    """The simulator could not be called, or gave no answer; the message says why."""

    def __init__(self, message: str, hint: str | None = None, infrastructure: bool = False) -> None:
        super().__init__(message + (f". {hint}" if hint else ""))
        self.infrastructure = infrastructure
        """Whether what it runs on broke, rather than the simulator."""


class SimulatedUser:
    """The simulator of one case."""

    def __init__(self, talk: Mode, simulator: Simulator | None, use: str) -> None:
        """`use` as in `simulator.use`; without a `simulator` it has neither persona nor goal."""
        self._talk = talk
        self._attempt = talk.attempt
        self.reference = simulator_reference(use)
        """Who plays the user; its text is empty when nobody is named."""
        options = {} if simulator is None else simulator.options.model_dump(exclude_unset=True)
        described = dict(options.pop("metadata", {}))
        if simulator is not None:
            described |= simulator.metadata
            described |= {key: value for key in _OWN if (value := getattr(simulator, key)) is not None}
        self._options = options
        self._own = {key: described.pop(key) for key in _OWN if described.get(key) is not None}
        self._extra = described
        self._last = ""
        self._times = 0

    @property
    def goal(self) -> Any:
        """The goal of the user; None when none is given."""
        return self._own.get("goal")

    @property
    def max_turns(self) -> int | None:
        """How many times the user may speak; None when nothing is said of it. Raises SimulatorError."""
        value = self._own.get("max_turns")
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise SimulatorError(f"max_turns must be a whole number of at least 1, not {json.dumps(value)}")
        return value

    @property
    def remark(self) -> str | None:
        """A problem text if it repeats the same message; None if it does not."""
        if self._times < REPEATS:
            return None
        return f"The simulator repeats itself: {json.dumps(self._last, ensure_ascii=False)}, {self._times} times"

    async def find(self) -> None:
        """Looks whether it is there. Raises SimulatorError."""
        attempt = self._attempt
        environment = attempt.environment
        if attempt.saved is not None:
            return
        try:
            if not self.reference.text:
                raise SimulatorError(NOT_NAMED)
            if not self.reference.is_agent:
                folder, functions = attempt.assistant.folder, environment.runtime.functions
                await find_function(self.reference.text, ROLES, folder, environment.application, functions)
            elif attempt.world.mocks is None or attempt.world.mocks.find_agent(self.reference.text) is None:
                environment.runtime.assistants.get(self.reference.text)
        except RunnerError as error:
            raise SimulatorError(error.message, error.hint, error.infrastructure) from error

    async def speak(self, max_turns: int, **checkpoints: list[str]) -> Simulation:
        """What the user says next in the conversation; `checkpoints_reached` and `checkpoints_pending` in dynamic mode.
        Raises SimulatorError."""
        if self._attempt.saved is not None:
            return self._attempt.saved.speak(len(self._talk.turns) < max_turns)
        answer = await self._ask(self._payload(max_turns) | checkpoints)
        found = json.dumps(answer, ensure_ascii=False)[:200]
        simulation = read_simulation(answer)
        if isinstance(simulation, Unclear):
            who, why = self.reference.text, simulation.why
            said = f"the answer of {who} cannot be evaluated, because {why}" if why else f"{who} answered {NOTHING}"
            raise SimulatorError(f"{said}: {found}")
        self._times = self._times + 1 if simulation.input == self._last else 1
        self._last = simulation.input
        return simulation

    def _payload(self, max_turns: int) -> dict[str, Any]:
        attempt = self._attempt
        turns = len(self._talk.turns)
        conversation = self._conversation()
        last = next((message for message in reversed(conversation) if message["role"] == "assistant"), None)
        payload: dict[str, Any] = {key: self._own[key] for key in ("persona", "goal") if key in self._own}
        payload |= {
            "conversation": conversation,
            "last_response": last["content"] if last else "",
            "turn_number": turns + 1,
            "turn_count": turns,
            "max_turns": max_turns,
            "tool_results": tool_results(attempt.chat),
            "test_mode": "simulator",
            "test_id": attempt.case.id,
            "session_id": attempt.chat.id,
        }
        return {**payload, "extra": self._extra} if self._extra else payload

    def _conversation(self) -> list[dict[str, str]]:
        """The conversation as the user sees it: with the text in Next's data rather than that of the model."""
        said = [message for message in self._talk.transcript if message["role"] in ("user", "assistant")]
        answers = [turn for turn in self._talk.turns if turn.status != Status.SKIPPED and turn.error is None]
        heard = [{"role": message["role"], "content": plain_text(message.get("content"))} for message in said]
        of_agent = [message for message in heard if message["role"] == "assistant"]
        for message, turn in zip(reversed(of_agent), reversed(answers), strict=False):
            message["content"] = text_in(turn.output) or message["content"]
        return heard

    async def _ask(self, payload: dict[str, Any]) -> Any:
        attempt = self._attempt
        try:
            if not self.reference.is_agent:
                return await attempt.judges.call_script(self.reference.text, ROLES, [payload])
            options = {**self._options, "metadata": self._extra}
            helpers = attempt.environment.helpers
            answer = await helpers.ask(self.reference.text, "simulator", payload, options, attempt.chat)
            return answer.output
        except NotEvaluated as error:
            raise SimulatorError(str(error), infrastructure=error.infrastructure) from error
        except (AgentError, RunnerError, ScriptError) as error:
            raise SimulatorError(error.message, error.hint, getattr(error, "infrastructure", False)) from error


def tool_results(chat: Chat) -> dict[str, Any]:
    """Tool → its last result in a chat, JSON texts as values; `{error}` when it failed."""
    return {use.name: {"error": use.error} if use.error is not None else _value(use.result) for use in chat.uses}


def plain_text(content: Any) -> str:
    """The content of a message as text; what is none is named in brackets."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    return "\n".join(
        str(part.get("text", f"[{part.get('type')}]")) if isinstance(part, Mapping) else str(part) for part in content
    )


def _value(result: Any) -> Any:
    if isinstance(result, str) and result[:1] in ("{", "["):
        try:
            return json.loads(result)
        except (ValueError, RecursionError):
            return result
    return result
