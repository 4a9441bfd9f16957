"""Changes of an answer that a user would hate, for `yao-test mutate` on case files. Each has a fixed name.

| change | the answer |
|---|---|
| `empty` | says nothing |
| `half` | breaks off in the middle |
| `another case` | is that of another case |
| `apology` | is an apology |
| `numbers` | has other numbers |
| `dates` | has other dates |
| `names` | has other names |
| `negation` | says the opposite |
| `language` | is in another language, with the same facts |
| `secret` | has the text of the system prompt in it |
| `keys` | is JSON without one of its keys |
| `types` | is JSON in which a value has another type |
| `tool dropped`, `tool doubled`, `tool arguments`, `tool added`, `tool order` | came with other calls of tools |
| `turns` | is that of another turn |
| `goal` | claims that all is done |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from runner.assertions.base import ToolUse
from runner.modes.transcripts import spoken_turns
from runner.record.case_result import CaseResult, TurnResult
from runner.record.model import TestResult
from scripttest.values import Value

APOLOGY = "I am sorry, but I cannot help you with that."
DONE = "Everything is done, just as you asked."
OTHER_LANGUAGE = ("Hier ist die Antwort auf Ihre Frage: {}.", "Aquí está la respuesta a su pregunta: {}.")
OTHER_TOOL = "send_message"
OF_TOOLS = ("tool dropped", "tool doubled", "tool arguments", "tool added", "tool order")
"""Changes of the calls of tools."""
MOST_VARIANTS = 8
"""At most this many keys of an answer, or calls of tools, are changed one by one."""
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_WORDS = {
    **dict(zip(_MONTHS, [*_MONTHS[1:], _MONTHS[0]], strict=True)),
    **dict(zip(_DAYS, [*_DAYS[1:], _DAYS[0]], strict=True)),
}
_DATE = re.compile(
    r"(?P<iso>\d{4}-\d\d-\d\d)|(?P<day>\d{1,2})(?P<rest>[./]\d{1,2}[./](?:\d{4}|\d\d)\b)"
    rf"|(?P<word>\b(?:{'|'.join(_WORDS)})\b)"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\b(?:not|never|nicht|niemals|jamais|nunca)\b ?|(?<=ca)n't\b|\bwon't\b|n't\b|不", re.I)
_AFFIRMED = {"n't": "n", "won't": "will"}
"""What is left of `can't` and `won't`."""
_VERB = re.compile(
    r"\b(?:is|are|was|were|will|can|has|have|does|do|should|must|may|ist|sind|kann|wird)\b|是|可以", re.I
)
_NAME = re.compile(r"(?<=[a-zäöüß,;] )[A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)*")
_NAMES = ("Alma", "Bodil", "Cedric", "Dunja")
_GERMAN = re.compile(r"\b(?:und|der|die|das|nicht|ist|für)\b")


class ChangeKind(Value):
    """What has changed."""

    kind: str
    """One of the names above."""
    about: str = ""
    """The key, or the tool, that it concerns; empty where there is one change of its kind."""

    @property
    def label(self) -> str:
        """`keys: total`"""
        return f"{self.kind}: {self.about}" if self.about else self.kind


class Change(ChangeKind):
    """A changed talk."""

    result: TestResult
    """The talk, with the changed answers."""


class _Answer(Value):
    """An answer of the agent, in a case of one answer or in a turn."""

    said: Any
    """The data of the `Next` hook, or the text."""
    tools: tuple[ToolUse, ...]

    @property
    def data(self) -> Any:
        """The answer as JSON data; None if it is a text that is none."""
        if not isinstance(self.said, str):
            return self.said
        try:
            found = json.loads(self.said)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict | list) else None

    def with_data(self, data: Any) -> _Answer:
        """The same with other data, as a text where it was one."""
        return self.replace(said=json.dumps(data, ensure_ascii=False) if isinstance(self.said, str) else data)


def changes(result: TestResult, others: Sequence[TestResult], prompt: str) -> Iterator[Change]:
    """The changes of a talk that apply to it and change something.

    Args:
        others: talks of other cases.
        prompt: the text of the system prompts; empty if there are none.
    """
    assert result.case is not None
    answers = _answers(result.case)
    seen = [answers]
    for kind, about, changed in _changed(result.case, answers, others, prompt):
        if changed not in seen:
            seen.append(changed)
            yield Change(kind=kind, about=about, result=_with(result, changed))


def _changed(
    case: CaseResult, answers: list[_Answer], others: Sequence[TestResult], prompt: str
) -> Iterator[tuple[str, str, list[_Answer]]]:
    for kind, change in _OF_TEXTS.items():
        yield kind, "", [answer.replace(said=_in_texts(answer.said, change)) for answer in answers]
    yield "empty", "", [answer.replace(said=_empty(answer.said)) for answer in answers]
    yield "half", "", [answer.replace(said=_half(answer.said)) for answer in answers]
    last = answers[-1]
    for other in others:
        assert other.case is not None
        theirs = _answers(other.case)[-1]
        if theirs.said != last.said:
            yield "another case", "", [*answers[:-1], last.replace(said=theirs.said)]
            break
    yield "apology", "", [answer.replace(said=APOLOGY) for answer in answers]
    if prompt:
        yield "secret", "", [answer.replace(said=_revealing(answer.said, prompt)) for answer in answers]
    for kind, about, changed in [*_of_data(last), *_of_tools(answers)]:
        yield kind, about, changed if len(changed) == len(answers) else [*answers[:-1], *changed]
    if len(answers) > 1:
        first, second, *rest = answers
        yield "turns", "", [second, first, *rest]
    if case.simulator or case.checkpoints:
        yield "goal", "", [*answers[:-1], last.replace(said=DONE, tools=())]


def _of_data(answer: _Answer) -> Iterator[tuple[str, str, list[_Answer]]]:
    data = answer.data
    if not isinstance(data, dict):
        return
    for key in list(data)[:MOST_VARIANTS]:
        yield "keys", key, [answer.with_data({name: value for name, value in data.items() if name != key})]
        yield "types", key, [answer.with_data({**data, key: _other_type(data[key])})]


def _of_tools(answers: list[_Answer]) -> Iterator[tuple[str, str, list[_Answer]]]:
    calls = [(turn, place) for turn, answer in enumerate(answers) for place in range(len(answer.tools))]

    def with_tools(turn: int, tools: Sequence[ToolUse]) -> list[_Answer]:
        return [one.replace(tools=tuple(tools)) if number == turn else one for number, one in enumerate(answers)]

    for turn, place in calls[:MOST_VARIANTS]:
        tools = list(answers[turn].tools)
        call = tools[place]
        yield "tool dropped", call.name, with_tools(turn, [*tools[:place], *tools[place + 1 :]])
        yield "tool doubled", call.name, with_tools(turn, [*tools[: place + 1], call, *tools[place + 1 :]])
        if isinstance(call.arguments, Mapping) and call.arguments:
            key = next(iter(call.arguments))
            other = call.replace(arguments={**call.arguments, key: _other_value(call.arguments[key])})
            yield "tool arguments", f"{call.name}.{key}", with_tools(turn, [*tools[:place], other, *tools[place + 1 :]])
    if calls:
        turn = calls[-1][0]
        more = ToolUse(name=OTHER_TOOL, server="", arguments={"to": "everybody"}, result="sent")
        yield "tool added", "", with_tools(turn, [*answers[turn].tools, more])
    for turn, answer in enumerate(answers):
        if len(answer.tools) > 1:
            yield "tool order", "", with_tools(turn, answer.tools[::-1])
            break


def _answers(case: CaseResult) -> list[_Answer]:
    if not case.in_turns:
        return [_Answer(said=_said(case), tools=case.tools)]
    return [_Answer(said=_said(turn), tools=turn.tools) for turn in spoken_turns(case)]


def _said(one: CaseResult | TurnResult) -> Any:
    return one.response if one.output is None or one.output == one.response else one.output


def _with(result: TestResult, answers: list[_Answer]) -> TestResult:
    case = result.case
    assert case is not None
    if not case.in_turns:
        return result.replace(case=case.replace(**_fields(case, answers[0])))
    following = iter(answers)
    spoken = spoken_turns(case)
    turns = tuple(turn.replace(**_fields(turn, next(following))) if turn in spoken else turn for turn in case.turns)
    return result.replace(case=case.replace(turns=turns))


def _fields(before: CaseResult | TurnResult, answer: _Answer) -> dict[str, Any]:
    """What changes in a record: a text takes the place of the model's, unless the hook has answered with data."""
    if answer.said == _said(before):
        return {"tools": answer.tools}
    if isinstance(answer.said, str):
        return {"output": answer.said, "response": answer.said, "tools": answer.tools}
    return {"output": answer.said, "tools": answer.tools}


# what is said


def _in_texts(said: Any, change: Callable[[Any], Any]) -> Any:
    """Changes each text and number of a value."""
    if isinstance(said, dict):
        return {key: _in_texts(value, change) for key, value in said.items()}
    if isinstance(said, list):
        return [_in_texts(value, change) for value in said]
    return change(said)


def _numbers(said: Any) -> Any:
    if isinstance(said, bool) or not isinstance(said, str | int | float):
        return said
    if not isinstance(said, str):
        return said + 1
    dates = [match.span() for match in _DATE.finditer(said)]

    def other(match: re.Match[str]) -> str:
        if any(start < match.end() and match.start() < end for start, end in dates):
            return match[0]
        return f"{match[0][:-1]}{(int(match[0][-1]) + 1) % 10}"

    return _NUMBER.sub(other, said)


def _dates(said: Any) -> Any:
    def other(match: re.Match[str]) -> str:
        if match["iso"]:
            try:
                return (date.fromisoformat(match["iso"]) + timedelta(days=1)).isoformat()
            except (ValueError, OverflowError):
                return match[0]
        if match["word"]:
            return _WORDS[match["word"]]
        day = int(match["day"])
        return f"{day - 1 if day > 1 else 2:0{len(match['day'])}}{match['rest']}"

    return _DATE.sub(other, said) if isinstance(said, str) else said


def _names(said: Any) -> Any:
    if not isinstance(said, str):
        return said
    given: dict[str, str] = {}

    def other(match: re.Match[str]) -> str:
        if match[0] in _WORDS:
            return match[0]
        return given.setdefault(match[0], _NAMES[len(given) % len(_NAMES)])

    return _NAME.sub(other, said)


def _negation(said: Any) -> Any:
    if isinstance(said, bool):
        return not said
    if not isinstance(said, str):
        return said
    if found := _NEGATION.search(said):
        is_short = found[0] == "n't" and said[: found.start()].endswith("ca")
        kept = _AFFIRMED[found[0]] if is_short or found[0] == "won't" else ""
        return f"{said[: found.start()]}{kept}{said[found.end() :]}"
    return _VERB.sub(lambda verb: f"不{verb[0]}" if verb[0] in "是可以" else f"{verb[0]} not", said, count=1)


def _language(said: Any) -> Any:
    if not isinstance(said, str) or len(said.split()) < 3:
        return said
    facts = [*dict.fromkeys([*(m[0] for m in _DATE.finditer(said)), *_NUMBER.findall(said), *_NAME.findall(said)])]
    return OTHER_LANGUAGE[bool(_GERMAN.search(said))].format(", ".join(facts) or "...")


_OF_TEXTS: Mapping[str, Callable[[Any], Any]] = {
    "numbers": _numbers,
    "dates": _dates,
    "names": _names,
    "negation": _negation,
    "language": _language,
}
"""Changes of each text of an answer."""


def _empty(said: Any) -> Any:
    return said if said in ("", {}, []) else type(said)() if isinstance(said, str | dict | list) else ""


def _half(said: Any) -> Any:
    if isinstance(said, dict):
        return dict(list(said.items())[: len(said) // 2])
    return said[: len(said) // 2] if isinstance(said, str | list) else said


def _revealing(said: Any, prompt: str) -> Any:
    if isinstance(said, str):
        return f"{said} {prompt}"
    return {**said, "prompt": prompt} if isinstance(said, dict) else said


def _other_type(value: Any) -> Any:
    if isinstance(value, str):
        return {"text": value}
    return str(value) if isinstance(value, int | float) else None if value is not None else "null"


def _other_value(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value} and more" if isinstance(value, str) else None
