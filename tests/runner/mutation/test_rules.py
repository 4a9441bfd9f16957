"""The rules of a prompt, each of which can be left out."""

from __future__ import annotations

from table_tests import each

from runner.mutation.prompt_rules import rules_of

PROMPT = """You are the desk of a library. Be brief, e.g. one line.
It spans
two lines!

# Rules
Follow these:
- Always greet the reader by name.
- Never lend more
  than five books.
1. Answer in one sentence.

```
code
```
Last one"""


def system(text: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": text}]


def test_sentences_bullets_and_blocks_of_code_are_rules() -> None:
    assert [rule.text for rule in rules_of(system(PROMPT))] == [
        "You are the desk of a library.",
        "Be brief, e.g. one line.",
        "It spans two lines!",
        "Always greet the reader by name.",
        "Never lend more than five books.",
        "Answer in one sentence.",
        "``` code ```",
        "Last one",
    ]


@each("number", range(8))
def test_only_the_rule_is_missing(number: int) -> None:
    rule = rules_of(system(PROMPT))[number]
    (prompt,) = rule.prompts
    words = " ".join(PROMPT.split())
    left = words.replace(("- " if number in (3, 4) else "1. " if number == 5 else "") + rule.text, "", 1)

    assert " ".join(str(prompt["content"]).split()) == " ".join(left.split())


def test_an_example_is_a_question_with_its_answer() -> None:
    prompts = [
        *system("Be kind."),
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "Bye"},
    ]

    assert [(rule.text, [one["role"] for one in rule.prompts]) for rule in rules_of(prompts)] == [
        ("Be kind.", ["user", "assistant", "user"]),
        ("Hi → Hello!", ["system", "user"]),
        ("Bye", ["system", "user", "assistant"]),
    ]


def test_writing_without_spaces_has_sentences_too() -> None:
    assert [rule.text for rule in rules_of(system("请问候。不要借书！"))] == ["请问候。", "不要借书！"]


def test_nothing_is_no_rule() -> None:
    assert rules_of(system("# Only a heading:\n\n")) == []
    assert rules_of([]) == []
