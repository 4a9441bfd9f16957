"""Lenient reading of what models answer: JSON in a text, and the answers of the helper agents.

JSON is looked for as by `text.ExtractJSON`, and then, beyond Yao, in the middle of prose. The shapes are those of
`workers.test.validator`, `workers.test.user-simulator` and `workers.test.generator`. A reader answers None for what it
cannot make sense of, and never raises.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT = 1_000_000
"""Longest text in which JSON is looked for that is not the whole of it, in characters."""
MAX_YAML = 20_000
"""Longest text that may be YAML without a fence, in characters: reading it takes long."""
MAX_STARTS = 200
"""Most brackets of a prose text that are tried as the beginning of a value."""
MAX_REPAIRS = 3
"""Most of them that are tried to repair."""

_OPENING = re.compile(r"[{\[]")
_REPAIRABLE = re.compile(r"\{|\[\s*[\[{\"]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)

_YES = ("true", "yes", "pass", "passed")
_NO = ("false", "no", "fail", "failed")


def extract_json(text: str, *, yaml: bool = True) -> Any | None:
    """The JSON value in a text, or None.

    The first that is there: the whole text as JSON; a fenced block of JSON or YAML; the whole text as broken JSON, or
    as YAML if `yaml`; the first object or array in prose, repaired if need be.
    """
    text = text.strip()
    found = _whole(text)
    if found is None and len(text) <= MAX_TEXT:
        found = _block(text, yaml)
        found = _in_prose(text) if found is None else found
    return found


def read_verdict(value: Any) -> dict[str, Any] | None:
    """A validator's answer as `{passed, judged?, reason?, score?, suggestions?}`, from an object or a text that holds
    one.

    `passed` may also be called `pass`, and be "yes" or "no"; `score` may be a number in a text. `judged: false` says
    that it could not judge: it stays, and there is no score, unless `passed` is false, which is a verdict.
    """
    answer = _object(value)
    if answer is None:
        return None
    passed = _boolean(answer.get("passed", answer.get("pass")))
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
        said = json.dumps(output, ensure_ascii=False)[:300]
        raise AgentError(
            f"validator {agent} did not answer with a verdict: {said}",
            hint='It must answer {"passed": true or false, "reason": "..."}',
            infrastructure=True,
        )
    return verdict


def read_simulation(value: Any) -> dict[str, Any] | None:
    """A simulator's answer as `{input, goal_achieved, reasoning?}`, from an object or a text.

    `input` may also be called `message`, and is empty only when the goal is achieved; a text without such an object is
    itself the input.
    """
    answer = _object(value)
    said = None if answer is None else next((answer[key] for key in ("input", "message") if answer.get(key)), None)
    achieved = answer is not None and _boolean(answer.get("goal_achieved")) is True
    if isinstance(value, str) and not (answer and answer.keys() & {"input", "message", "goal_achieved"}):
        said, answer = value, None
    message = "" if said is None else _text(said).strip()
    if not message and not achieved:
        return None
    simulation: dict[str, Any] = {"input": message, "goal_achieved": achieved}
    if answer is not None and answer.get("reasoning"):
        simulation["reasoning"] = _text(answer["reasoning"])
    return simulation


def read_cases(value: Any) -> list[Any] | None:
    """A generator's answer as a list of values, some of which are cases, as written: from a list, `{cases}`,
    `{test_cases}`, one case, or a text that holds one of these, or one case after another."""
    found = extract_json(value) if isinstance(value, str) else value
    if isinstance(found, dict):
        listed = found.get("cases", found.get("test_cases"))
        if listed is None and _is_case(found):
            several = [case for case in _values(value) if _is_case(case)] if isinstance(value, str) else []
            listed = several if len(several) > 1 else [found]
        found = listed
    if not isinstance(found, list) or (found and not any(isinstance(case, dict) for case in found)):
        return None
    return found


def _whole(text: str) -> Any | None:
    from bindings.processes.formats import decode_json

    try:
        return decode_json(text)
    except (ValueError, RecursionError):
        return None


def _block(text: str, yaml: bool) -> Any | None:
    from bindings.processes.text import extract, guess

    unfenced = "```" not in text and guess(text) == "yaml"
    if unfenced and (not yaml or len(text) > MAX_YAML):
        return None
    data = next((block["data"] for block in extract(text) if "data" in block), None)
    return None if unfenced and _is_sentence(data) else data


def _is_sentence(data: Any) -> bool:
    """Whether what was read as YAML is rather prose with a colon, like `Here it is: [1, 2]`."""
    return not isinstance(data, (dict, list)) or (isinstance(data, dict) and len(data) == 1 and " " in next(iter(data)))


def _in_prose(text: str) -> Any | None:
    """The first object or array in a text. Numbers in brackets may be footnotes, and count when there is nothing
    else."""
    footnote = None
    for value in _values(text):
        if isinstance(value, dict) or any(isinstance(item, (dict, list, str)) for item in value):
            return value
        footnote = value if footnote is None else footnote
    return footnote


def _values(text: str) -> Iterator[Any]:
    """The objects and arrays that stand in a text one after another, broken ones repaired."""
    from bindings.processes.formats import finite

    decoder = json.JSONDecoder(parse_constant=_refuse, parse_float=finite)
    at = repairs = 0
    for _ in range(MAX_STARTS):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        at = opening.start()
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
            if repairs < MAX_REPAIRS and _REPAIRABLE.match(text, at):
                repairs += 1
                value, end = _repaired(text, at)
            at = end
        if value is not None:
            yield value


def _repaired(text: str, start: int) -> tuple[Any | None, int]:
    """The value of the broken JSON at a position, and where it ends; None and the next position if it is none."""
    from bindings.processes.formats import parse

    end = _closing(text, start)
    last = max(text.rfind("}"), text.rfind("]")) + 1
    for stop in [end] if end else [last, len(text)]:
        try:
            value = parse(text[start:stop], "json")
        except (ValueError, RecursionError):
            continue
        if value and isinstance(value, (dict, list)):
            return value, stop
    return None, start + 1


def _closing(text: str, start: int) -> int | None:
    """The end of the bracket at a position, brackets in strings left aside."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if not token[0].startswith('"'):
            depth += 1 if token[0] in "{[" else -1
            if depth == 0:
                return token.end()
    return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


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
