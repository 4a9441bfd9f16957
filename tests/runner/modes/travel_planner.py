"""An agent that plans travels, and conversations with it."""

from __future__ import annotations

from typing import Any

from agent_files import agent
from command import MakeApplication, Record

from runner.record import model
from runner.record.case_result import CaseResult

REPLIES = """\
- when: { turn: 1, input: holiday }
  reply: Go to Kyoto in April, when the cherries bloom.
- when: { input: quiet }
  reply: Then stay in Koya, an hour from Kyoto.
- when: { input: budget }
  reply: With 3000 you can stay in temples and inns.
- when: { input: plan }
  reply: "Days 1 to 5: Kyoto. Days 6 to 9: Koya. {{ messages.0.content }}"
- when: { input: fail }
  reply: { error: { status: 400, message: out of order } }
- reply: "You said: {{ input }}"
"""
HOLIDAY = "A holiday in Japan in spring: where to?"


def demo(app: MakeApplication, **more: Any) -> Any:
    """An application whose agent is a travel planner; the validator that ships judges by quotation marks."""
    return app(agent(replies=REPLIES, **more))


def conversation(*turns: Record | str, **more: Any) -> Record:
    """A case; a turn that is a text has no graders."""
    said = [{"input": turn} if isinstance(turn, str) else turn for turn in turns]
    return {"mode": "conversation", "turns": said, **more}


def turn(input: str, *assertions: Any, **more: Any) -> Record:
    """A turn that is graded."""
    return {"input": input, "assertions": list(assertions), **more}


def verdicts(case: CaseResult) -> list[tuple[str, float | None, str]]:
    """Name, score and verdict of each entry."""
    return [(entry.name, entry.score and round(entry.score, 2), entry.verdict) for entry in case.scores]


def failures(result: model.TestResult) -> list[tuple[str, str]]:
    """Cause and message of each failure."""
    return [(failure.cause, failure.message) for failure in result.outcome.failures]


BAD, GOOD = turn("Tea", 'Says "coffee"', 'Says "tea"'), turn("Tea", 'Says "tea"')
