"""What helper agents answer: validators, simulators and generators, with the shapes of `workers.test.validator`,
`workers.test.user-simulator` and `workers.test.generator`, read leniently, but never out of thinking."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from runner.reading.answer_text import behind_thinking, extract_json, values_in
from runner.reading.decisions import Decision, Form, UnclearError, boolean, deciding_object
from scripttest.values import Value


class Unclear(Value):
    """An answer that cannot be used."""

    why: str = ""
    """As in `..., since it has "passed" twice`; empty if it simply has nothing of the kind."""


def read_verdict(value: Any) -> dict[str, Any] | Unclear:
    """Reads the answer of a validator, an object or a text that contains one, as `{passed, judged?, reason?, score?,
    off_scale?, suggestions?}`.

    `passed` may also be called `pass`, and be "yes" or "no". `judged: false` says that the validator could not judge:
    it is kept and there is no score, unless `passed` is false, which is a verdict. `score` may be a number in a text;
    one that is not from 0 to 1 becomes `off_scale`."""
    try:
        answer = _object(value, VERDICT)
        decision = None if answer is None else _verdict(answer)
    except UnclearError as error:
        return Unclear(why=str(error))
    if answer is None or decision is None:
        return Unclear()
    judged = decision.yes is not None
    verdict: dict[str, Any] = {"passed": decision.yes} if judged else {"passed": True, "judged": False}
    reason = next((said for key in ("reason", "message", "reasoning") if (said := answer.get(key))), None)
    if reason is not None:
        verdict["reason"] = _text(reason)
    score = number(answer.get("score"))
    if score is not None and judged:
        verdict["score" if 0 <= score <= 1 else "off_scale"] = score
    if answer.get("suggestions"):
        verdict["suggestions"] = answer["suggestions"]
    return verdict


def lone_score(value: Any) -> float | None:
    """The score in an answer of a validator that has no verdict; None if there is none."""
    answer = extract_json(value) if isinstance(value, str) else value
    return number(answer.get("score")) if isinstance(answer, dict) else None


def _verdict(answer: Mapping[str, Any]) -> Decision | None:
    given = [boolean(answer[key]) for key in ("passed", "pass") if key in answer]
    if {True, False} <= {*given}:
        raise UnclearError('its "passed" and its "pass" contradict each other')
    passed = given[0] if given else None
    if boolean(answer.get("judged")) is False and passed is not False:
        return Decision(yes=None)
    return None if passed is None else Decision(yes=passed, detail=number(answer.get("score")))


VERDICT = Form(keys=("passed", "pass"), others=("judged",), weighed=("score",), decision=_verdict)
"""The form of the verdicts of judges."""


class Simulation(Value):
    """The next message of the simulated user."""

    input: str
    """Empty only when the goal is achieved."""
    achieved: bool
    """Whether the goal is; the input is not sent then."""
    reasoning: str


def read_simulation(value: Any) -> Simulation | Unclear:
    """Reads a simulator's answer, an object `{input, goal_achieved, reasoning?}` or a text.

    `input` may also be called `message`; a text without such an object is itself the input."""
    try:
        answer = _object(value, SIMULATION)
    except UnclearError as error:
        return Unclear(why=str(error))
    decision = None if answer is None else _simulation(answer)
    if answer is None or decision is None:
        said = behind_thinking(value).strip() if isinstance(value, str) and answer is None else ""
        return Simulation(input=said, achieved=False, reasoning="") if said else Unclear()
    message, reasoning = decision.detail or "", answer.get("reasoning")
    if not message and not decision.yes:
        return Unclear()
    return Simulation(input=message, achieved=bool(decision.yes), reasoning=_text(reasoning) if reasoning else "")


def _simulation(answer: Mapping[str, Any]) -> Decision | None:
    if not answer.keys() & {"input", "message", "goal_achieved"}:
        return None
    said = next((answer[key] for key in ("input", "message") if answer.get(key) not in (None, "", [], {})), None)
    message = "" if said is None else _text(said).strip()
    return Decision(yes=boolean(answer.get("goal_achieved")) is True, detail=message or None)


SIMULATION = Form(keys=("goal_achieved",), others=("input", "message"), decision=_simulation)
"""The form of the answers of simulators."""


def read_cases(value: Any) -> list[Any] | None:
    """A generator's answer as a list of values, some of which are cases, as written: from a list, `{cases}`,
    `{test_cases}`, `{tests}`, one case, or a text that holds some of these, one after another."""
    if not isinstance(value, str):
        return _listed(value)
    text = behind_thinking(value)
    first = _listed(extract_json(text))
    several = [case for one in values_in(text) for case in _listed(one) or ()] if first else []
    return several if first and len(several) > len(first) else first


def _listed(value: Any) -> list[Any] | None:
    """The cases of one JSON value."""
    if isinstance(value, dict):
        own = [value] if _is_case(value) else None
        value = next((value[name] for name in ("cases", "test_cases", "tests") if name in value), own)
    if not isinstance(value, list) or (value and not any(isinstance(case, dict) for case in value)):
        return None
    return value


def _object(value: Any, form: Form) -> Mapping[str, Any] | None:
    if isinstance(value, str):
        return deciding_object(value, form)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else None


def _is_case(value: Any) -> bool:
    return isinstance(value, dict) and ("id" in value or "input" in value or "messages" in value)


def number(value: Any) -> float | None:
    """A finite number, or a text that is one; None for all else."""
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
