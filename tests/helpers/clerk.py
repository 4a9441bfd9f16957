"""A travel clerk: an agent that takes bookings turn by turn; and what a report shows of the conversation."""

from __future__ import annotations

from typing import Any

from agent_files import agent, run_cases, server
from command import Application, Record

CLERK = """\
- when: { tool.name: book, tool.result: { contains: EXP } }
  reply: "Trip submitted as {{ tool.result.id }}."
- when: { input: [confirm, go ahead] }
  reply: { tool_calls: [{ name: book, arguments: { amount: 3500 } }] }
- when: { input: { regex: '(\\d+) euros' } }
  reply: "I will file {{ match.1 }} euros. Please confirm."
- when: { input: broken }
  reply: { error: { status: 400, message: the prompt is too long } }
- when: { input: slow }
  reply: { delay: 30s, text: Here I am. }
- when: { input: number }
  reply: This needs an approval. Please provide the PO number.
- when: { input: hint }
  reply: { text: The date., awaiting_input: true, input_hint: YYYY-MM-DD }
- when: { input: thanks }
  reply: Have a good trip.
- reply: "What type of trip is it, and what did it cost?"
"""
BOOKING = "function Book(args) { return { id: 'EXP-1', status: 'submitted', amount: args.amount }; }"
REMEMBERS = """\
function Next(ctx, payload) {
  ctx.memory.chat.Incr("answers");
  const last = payload.messages.at(-1).content;
  if (String(last).startsWith("remember ")) ctx.memory.chat.Set("expense", { status: last.slice(9) });
}
"""
SIMULATOR = """\
- when: { input.extra.does: prose }
  reply: It cost 12 euros
- when: { input.extra.does: nothing }
  reply: ""
- when: { input.extra.does: fail }
  reply: { error: { status: 400, message: no players left } }
- when: { input.extra.does: loop }
  reply: { json: { input: Hello again, goal_achieved: false } }
- when: { input.last_response: { contains: submitted } }
  reply: { json: { input: never said, goal_achieved: true, reasoning: The trip is submitted } }
- when: { input.last_response: { contains: confirm } }
  reply: { json: { message: I confirm, goal_achieved: false } }
- when: { input.last_response: { contains: cost } }
  reply: { json: { input: "{{ input.goal }} euros", goal_achieved: false } }
- when: { input.persona: true }
  reply: { json: { input: "I am {{ input.persona }}", goal_achieved: false } }
"""
PLAYER = {"use": "agents:player", "persona": "a new clerk", "goal": "3500"}


def clerk(*cases: Record, replies: str = CLERK, hooks: str | None = None, **files: str) -> dict[str, str]:
    """An agent that files trips, and a simulator."""
    return {
        **agent(
            package={"mcp": {"servers": ["office"]}}, replies=replies, hooks=hooks, cases=list(cases)
        ),
        **server("office", {"book": "scripts.office.Book", "ask_user": "scripts.office.Ask"}),
        "/scripts/office.ts": BOOKING + "\nfunction Ask(args) { return { asked: args.question }; }",
        **agent("player", replies=SIMULATOR),
        **files,
    }  # fmt: skip


def ran(app: Application, *arguments: str, code: int | None = None) -> Record:
    """The record of the only case."""
    (record,) = run_cases(app, *arguments, code=code).values()
    return record


def told(record: Record) -> list[tuple[Any, str, str]]:
    """What was said in each turn, by whom, and how the turn ended."""
    return [(turn["input"], turn["input_source"], turn["status"]) for turn in record["turns"]]


def contains(text: str) -> Record:
    return {"type": "contains", "value": text}
