"""Keeps in the `result` line of a case what `yao-test regrade` needs to grade its answers again: the case as its file
had it, and for each answer what is nowhere else in the line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.assertions.base import AgentUse
from runner.results.attachments import without_content
from runner.results.case_result import TurnUsage
from runner.results.criteria import objects_in
from runner.results.turn_json import usage_in, usage_record
from scripttest.typing_names import Record
from scripttest.values import Value, fields_of


class Answered(Value):
    """The time, tokens and calls of one answer of the agent, without those of judges and simulators."""

    milliseconds: float
    usage: TurnUsage | None
    """None: not known."""
    model_calls: int | None
    """None: not known."""
    agents: tuple[AgentUse, ...] | None
    """The other agents that were asked, `after` counted from the first tool of the answer; None: not known."""


class Regradable(Value):
    """What is needed to grade one result again."""

    case: Mapping[str, Any] | None
    """As in its file, without `id` and `input`; None if it is too long to be stored."""
    answers: tuple[Answered, ...]
    """In their order."""


def regradable_record(result: Regradable) -> Record:
    """`{case?, answers: [{duration_ms, model_calls?, usage?, agents?}]}`; `agents` is left out where none was asked,
    and null where they are not known."""
    case = {} if result.case is None else {"case": without_content(dict(result.case))}
    return {**case, "answers": [_answer(answer) for answer in result.answers]}


def regradable_in(record: Any) -> Regradable | None:
    """Reads this record; None when a report does not have it."""
    if not isinstance(record, dict):
        return None
    case = record.get("case")
    answers = tuple(map(_answer_in, objects_in(record.get("answers"))))
    return Regradable(case=case if isinstance(case, dict) else None, answers=answers)


def _answer(answer: Answered) -> Record:
    record: Record = {"duration_ms": round(answer.milliseconds)}
    if answer.model_calls is not None:
        record["model_calls"] = answer.model_calls
    if answer.usage is not None:
        record["usage"] = usage_record(answer.usage)
    if answer.agents != ():
        record["agents"] = answer.agents and [fields_of(use) for use in answer.agents]
    return record


def _answer_in(item: Record) -> Answered:
    agents = item.get("agents", ())
    return Answered(
        milliseconds=float(item["duration_ms"]),
        usage=usage_in(item.get("usage")),
        model_calls=item.get("model_calls"),
        agents=None if agents is None else tuple(AgentUse(**use) for use in agents),
    )
