"""Whether an agent waits for the user, by what it answered."""

from __future__ import annotations

from typing import Any

from table_tests import each

from runner.agents.answer import Answer
from runner.assertions.base import ToolUse
from runner.connectors.base import Completion
from runner.modes.simulators import Awaiting, detect, looks_like_question, question_in


def answer(content: str = "", *, next: Any = None, **fields: Any) -> Answer:
    return Answer(agent="demo", completion=Completion(content=content, **fields), next=next)


def used(name: str, **arguments: Any) -> ToolUse:
    return ToolUse(name=name, server="desk", arguments=arguments)


QUESTIONS = {
    "a question mark": "And the amount?",
    "a question mark in a quotation": 'Did you say "yes?"',
    "a question in bold letters": "**Is that right?**",
    "a smile after it": "Which day was it? 🙂",
    "a remark in brackets after it": "Which day was it? (YYYY-MM-DD)",
    "choices below it": "Now the kind.\nWhich of these is it?\n\n- Travel\n- Meals\n3. Other",
    "it opens as one": "What type of expense it is, I do not know",
    "it opens as one and goes on": "What is the amount? I need it for the form.",
    "please": "Please provide the PO number.",
    "please in the last sentence": "This has to be approved. Please provide the PO number.",
    "could you": "Could you tell me the date",
    "confirm": "Shall I confirm? (yes or no) Nothing is sent before.",
    "Chinese, full-width mark": "请选择费用类型？",
    "Chinese, 请问": "好的。请问金额是多少",
    "Chinese, 请提供": "好的。请提供发票号码。",
    "Chinese, 吗": "要我提交吗。",
    "Chinese, 呢": "日期呢",
    "Chinese, 是否": "是否确认提交。",
    "Chinese, traditional": "請提供日期。",
    "Spanish": "De acuerdo. ¿Cuál es el importe",
    "Spanish, a request": "Por favor, indique la fecha.",
    "Japanese": "金額はいくらですか。",
    "Japanese, a request": "日付を教えてください。",
    "Korean": "제출할까요.",
    "Arabic": "ما هو المبلغ؟",
    "French": "Veuillez indiquer la date.",
    "German": "Bitte nennen Sie das Datum.",
    "Italian": "Per favore, indichi la data.",
    "Russian": "Хорошо. Укажите дату.",
    "Greek": "Ποια είναι η ημερομηνία;",
    "Armenian": "Որքա՞ն է գումարը",
}
STATEMENTS = {
    "nothing": "",
    "blanks": " \n ",
    "a statement": "Expense submitted. Reference: EXP-2025-001",
    "a polite word": "Please wait while I look.",
    "an exclamation": "What a trip!",
    "a question that was answered": "You asked: how much? It was 12 euros.",
    "an address": "It is at https://example.org/?page=2",
    "Chinese": "报销单已提交。",
    "Chinese, please wait": "请稍等。",
    "Japanese": "申請しました。",
    "Japanese, please wait": "少々お待ちください。",
    "Spanish": "El gasto se ha presentado.",
    "Spanish, please wait": "Por favor, espere.",
    "German": "Bitte warten Sie einen Augenblick.",
    "only a list": "- one\n- two",
    "dots": "...",
}


@each("text", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_question_is_seen_by_its_words(text: str) -> None:
    assert looks_like_question(text)


@each("text", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_a_statement_is_no_question(text: str) -> None:
    assert not looks_like_question(text)


DECIDED = {
    "declared": (answer("Amount.", awaiting_input=True, input_hint="a number"), True, "agent_declared", "a number"),
    "declared not to wait, against the text": (answer("Why?", awaiting_input=False), False, "agent_declared", None),
    "a hint alone": (answer("Amount.", input_hint="a number"), True, "agent_declared", "a number"),
    "declared by Next": (
        answer(next={"text": "Amount", "awaiting_input": True, "input_hint": "a number"}),
        True,
        "agent_declared",
        "a number",
    ),
    "declared by a JSON answer": (
        answer('{"content": "Amount", "awaiting_input": true, "input_hint": "Enter amount"}'),
        True,
        "agent_declared",
        "Enter amount",
    ),
    "declared in a code block": (
        answer('```json\n{"content": "Done?", "awaiting_input": false}\n```'),
        False,
        "agent_declared",
        None,
    ),
    "declared as nonsense": (answer('{"message": "Done.", "awaiting_input": "no"}'), False, "completed", None),
    "cut off": (answer("Shall I go on and?", finish_reason="length"), False, "finish_reason", None),
    "tools at work": (answer("What now?", finish_reason="tool_calls"), False, "finish_reason", None),
    "tools at work, and Next asks": (
        answer("One moment.", finish_reason="tool_calls", next={"message": "Shall I file it?"}),
        True,
        "content_is_question",
        None,
    ),
    "a question in Next's text": (answer("Done.", next="What else?"), True, "content_is_question", None),
    "Next says something else than the model": (answer("What else?", next={"id": 7}), False, "completed", None),
    "a question in a JSON answer": (answer('{"message": "Which one?"}'), True, "content_is_question", None),
    "a question": (answer("Which one?"), True, "content_is_question", None),
    "a statement": (answer("Done."), False, "completed", None),
    "no model": (Answer(agent="demo", next={"message": "Which?"}), True, "content_is_question", None),
    "nothing": (Answer(agent="demo"), False, "completed", None),
}


@each(("given", "awaiting", "reason", "hint"), DECIDED.values(), ids=DECIDED.keys())
def test_the_first_strategy_that_has_something_to_say_decides(
    given: Answer, awaiting: bool, reason: str, hint: str | None
) -> None:
    assert detect(given, ()) == Awaiting(awaiting=awaiting, reason=reason, hint=hint)


TOOLS: dict[str, tuple[Answer, ToolUse, list[str] | None, tuple[bool, str]]] = {
    "ask_user": (answer("Done."), used("ask_user"), None, (True, "tool_requires_confirmation")),
    "get_user_input": (answer("Done."), used("get_user_input"), None, (True, "tool_requires_confirmation")),
    "request_confirmation, before the finish reason": (
        answer("", finish_reason="tool_calls"),
        used("request_confirmation"),
        None,
        (True, "tool_requires_confirmation"),
    ),
    "after a declaration": (
        answer("Done.", awaiting_input=False),
        used("ask_user"),
        None,
        (False, "agent_declared"),
    ),
    "a prefix": (answer("Done."), used("ui__ask_user"), None, (True, "tool_requires_confirmation")),
    "another tool": (answer("Done."), used("ask_user_later"), None, (False, "completed")),
    "one that the case names": (answer("Done."), used("sign"), ["sign"], (True, "tool_requires_confirmation")),
    "none of those that the case names": (answer("Done."), used("ask_user"), ["sign"], (False, "completed")),
    "the case names none": (answer("Done."), used("ask_user"), [], (False, "completed")),
}


@each(("given", "use", "names", "expected"), TOOLS.values(), ids=TOOLS.keys())
def test_a_tool_that_asks_the_user_means_waiting(
    given: Answer, use: ToolUse, names: list[str] | None, expected: tuple[bool, str]
) -> None:
    found = detect(given, [use], names)
    assert (found.awaiting, found.reason) == expected


ASKED = {
    "the last sentence that asks": (
        answer("This needs approval. Please provide the PO number. Thank you."),
        (),
        "Please provide the PO number.",
    ),
    "all of a text without a question": (answer(" The number, then. "), (), "The number, then."),
    "the question of the tool": (
        answer("One moment."),
        (used("ask_user", question="Travel or meals?"),),
        "Travel or meals?",
    ),
    "the text, when the tool has none": (answer("Which?"), (used("ask_user", id=1),), "Which?"),
    "Next's text": (answer("Hm?", next={"message": "Shall I file it?"}), (), "Shall I file it?"),
    "nothing": (answer(""), (), ""),
}


@each(("given", "tools", "expected"), ASKED.values(), ids=ASKED.keys())
def test_what_the_agent_asks_is_found(given: Answer, tools: tuple[ToolUse, ...], expected: str) -> None:
    assert question_in(given, tools) == expected
