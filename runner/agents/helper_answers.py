"""Lenient reading of what helper agents answer.

The shapes are those of `workers.test.validator`, `workers.test.user-simulator` and `workers.test.generator`. A reader
answers None for what it cannot make sense of, and never raises.
"""

from __future__ import annotations

import json
import math
from typing import Any

from runner.agents.answer import AgentError
from runner.assertions.verdicts import shorten
from runner.json_in_text import extract_json, values_in
from scripttest.values import Value

_SHOWN = 300
"""Characters that an error quotes of an answer."""
_YES = ("true", "yes", "pass", "passed")
_NO = ("false", "no", "fail", "failed")


def read_verdict(value: Any) -> dict[str, Any] | None:
    """Reads the answer of a validator, an object or a text that contains one, as `{passed, judged?, reason?, score?,
    suggestions?}`.

    `passed` may also be called `pass`, and be "yes" or "no"; two of them that contradict each other are no verdict.
    `score` may be a number in a text. `judged: false` says that the validator could not judge: it is kept and there is
    no score, unless `passed` is false, which is a verdict. A text with several verdicts that contradict each other has
    none: the first may be an example, or a quotation.
    """
    verdict = _verdict_in(_object(value))
    if verdict is None or not isinstance(value, str):
        return verdict
    others = [other for each in values_in(value) if (other := _verdict_in(each)) is not None]
    return verdict if all(_decided(other) == _decided(verdict) for other in others) else None


def _decided(verdict: dict[str, Any]) -> tuple[bool, bool]:
    return verdict["passed"], verdict.get("judged", True)


def _verdict_in(answer: Any) -> dict[str, Any] | None:
    if not isinstance(answer, dict):
        return None
    given = [_boolean(answer[key]) for key in ("passed", "pass") if key in answer]
    if {True, False} <= {*given}:
        return None
    passed = given[0] if given else None
    judged = _boolean(answer.get("judged")) is not False or passed is False
    if passed is None and judged:
        return None
    verdict: dict[str, Any] = {"passed": passed} if judged else {"passed": True, "judged": False}
    reason = next((said for key in ("reason", "message", "reasoning") if (said := answer.get(key))), None)
    if reason is not None:
        verdict["reason"] = _text(reason)
    score = _number(answer.get("score"))
    if score is not None and judged:
        verdict["score"] = score
    if answer.get("suggestions"):
        verdict["suggestions"] = answer["suggestions"]
    return verdict


def verdict_of(agent: str, output: Any) -> dict[str, Any]:
    """The verdict in what a validator answered; see `read_verdict`. Raises AgentError when there is none."""
    verdict = read_verdict(output)
    if verdict is None:
        said = shorten(json.dumps(output, ensure_ascii=False), _SHOWN)
        raise AgentError(
            f"validator {agent} did not answer with a verdict: {said}",
            hint='It must answer {"passed": true or false, "reason": "..."}',
            infrastructure=True,
        )
    return verdict


class Simulation(Value):
    """The next message of the simulated user."""

    input: str
    """Empty only when the goal is achieved."""
    achieved: bool
    """Whether the goal is; the input is not sent then."""
    reasoning: str


def read_simulation(value: Any) -> Simulation | None:
    """Reads a simulator's answer, an object `{input, goal_achieved, reasoning?}` or a text.

    `input` may also be called `message`; a text without such an object is itself the input.
    """
    answer = _object(value)
    said = None if answer is None else next((answer[key] for key in ("input", "message") if answer.get(key)), None)
    achieved = answer is not None and _boolean(answer.get("goal_achieved")) is True
    if isinstance(value, str) and not (answer and answer.keys() & {"input", "message", "goal_achieved"}):
        said, answer = value, None
    message = "" if said is None else _text(said).strip()
    if not message and not achieved:
        return None
    reasoning = answer.get("reasoning") if answer is not None else None
    return Simulation(input=message, achieved=achieved, reasoning=_text(reasoning) if reasoning else "")


def read_cases(value: Any) -> list[Any] | None:
    """A generator's answer as a list of values, some of which are cases, as written: from a list, `{cases}`,
    `{test_cases}`, one case, or a text that holds one of these, or one case after another."""
    found = extract_json(value) if isinstance(value, str) else value
    if isinstance(found, dict):
        listed = found.get("cases", found.get("test_cases"))
        if listed is None and _is_case(found):
            several = [case for case in values_in(value) if _is_case(case)] if isinstance(value, str) else []
            listed = several if len(several) > 1 else [found]
        found = listed
    if not isinstance(found, list) or (found and not any(isinstance(case, dict) for case in found)):
        return None
    return found


def _object(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):
        value = extract_json(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else None


def _is_case(value: Any) -> bool:
    return isinstance(value, dict) and ("id" in value or "input" in value or "messages" in value)


def _boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < math.inf:
        return None
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
