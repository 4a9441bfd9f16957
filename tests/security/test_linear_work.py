"""Work over texts of others is in proportion to their length: twice the text takes twice the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from agent_files import agent, case_file
from command import MakeApplication
from table_tests import each

from bindings.errors import ProcessError
from bindings.models import query_sql
from bindings.models.sql_bounds import expansions
from bindings.models.validation import _NUMBER
from bindings.world import Mock, Mocks
from runner.connectors.scripted_templates import _compile
from runner.modes.simulators import looks_like_question
from runner.reading.answer_text import extract_json
from runner.record.writing import near
from runner.security.secrets import Secrets
from runner.security.terminal import inert, unsteered

KEY = "mcp-tok-1122334455aa"
FREE = 0.4
"""Seconds that no doubling is held against."""
SIZE = 40_000
HIDE = Secrets({"MODEL_API_KEY": KEY, "ODD_SECRET": '"\\\\a\\"b c-d\n'}).text
HURTS: dict[str, tuple[Callable[[str], Any], Callable[[int], str]]] = {
    "hiding: letters": (HIDE, lambda n: "a\n" + "x" * n),
    "hiding: letters and a break": (HIDE, lambda n: "x" * n + "\\"),
    "hiding: line breaks": (HIDE, lambda n: "A" * 40 + "\n" * n),
    "hiding: lines of base64": (HIDE, lambda n: ("A" * 40 + "\n") * (n // 40)),
    "hiding: backslashes": (HIDE, lambda n: "\\" * n),
    "hiding: backslashes and quotes": (HIDE, lambda n: '\\\\"' * (n // 3)),
    "hiding: percent": (HIDE, lambda n: "%" + "25" * n),
    "hiding: percent before letters": (HIDE, lambda n: "%41" * n),
    "hiding: levels of percent": (HIDE, lambda n: "%25252541" * (n // 8)),
    "hiding: numbers that are no bytes": (HIDE, lambda n: "65, 300, " * (n // 8)),
    "hiding: padded entities": (HIDE, lambda n: "&#x0041;" * (n // 8)),
    "hiding: entities": (HIDE, lambda n: "&#0" + "0" * n),
    "hiding: pairs": (HIDE, lambda n: "ab:" * n),
    "hiding: bytes": (HIDE, lambda n: "83, " * n),
    "hiding: indexes": (HIDE, lambda n: "1,2,3,4,5,6" + ',\\n"1":23' * (n // 9)),
    "hiding: colons behind bytes": (HIDE, lambda n: "1,2,3,4,5,6," + "1:" * n),
    "hiding: signs of entities": (HIDE, lambda n: "&#" * n),
    "hiding: blanks between bytes": (HIDE, lambda n: "1,2,3,4" + " " * n),
    "hiding: soft breaks": (HIDE, lambda n: "a=\n" * n),
    "hiding: beginnings": (HIDE, lambda n: KEY[:8] * (n // 8) + "..."),
    "hiding: beginnings that are cut": (HIDE, lambda n: f"{KEY[:8]}..." * (n // 11)),
    "hiding: ends": (HIDE, lambda n: "..." + KEY[-8:] * (n // 8)),
    "hiding: values": (HIDE, lambda n: KEY * (n // 20)),
    "an address": (lambda text: Secrets({"SOME_ADDRESS": text}), lambda n: "a" * n + "://b"),
    "CI: colons": (inert, lambda n: "::" * n),
    "CI: blanks": (inert, lambda n: " " * n + "::x"),
    "CI: brackets": (inert, lambda n: "[[" * n + "##" * n),
    "terminal: isolates": (unsteered, lambda n: "\u2068" * n),
    "query: blanks": (lambda text: query_sql.operand(text, str), lambda n: "a" + " " * n + "b"),
    "query: dots": (lambda text: query_sql.operand(text, str), lambda n: "a" + ".a" * n + "!"),
    "query: aliases": (lambda text: query_sql.expression(text, str), lambda n: "a as " * n + "!"),
    "query: tables": (lambda text: expansions(text, {}), lambda n: "a as ( " * (n // 100) + "b(" * n),
    "a number of a column": (_NUMBER.fullmatch, lambda n: "1" * n + "x"),
    "mocks: names": (
        lambda text: Mocks(process=(Mock(pattern="a*a*a*a*a*b"),)).find("process", text),
        lambda n: "a" * n,
    ),
    "questions: blanks": (looks_like_question, lambda n: "a" + " " * n + "b."),
    "questions: brackets": (looks_like_question, lambda n: "( " * n),
    "answers: fences": (extract_json, lambda n: "```[" * n),
    "places": (lambda text: near(text, "/app"), lambda n: "/app/," * n),
    "templates": (_compile, lambda n: "{{" * n),
}


def seconds(work: Callable[[str], Any], text: str) -> float:
    begin = time.thread_time()
    with suppress(ProcessError):
        work(text)
    return time.thread_time() - begin


@each("place", HURTS)
def test_twice_the_text_takes_twice_the_work(place: str) -> None:
    work, text = HURTS[place]
    once, twice = seconds(work, text(SIZE)), seconds(work, text(2 * SIZE))
    assert twice <= max(2.5 * once, FREE), (once, twice)


ANSWERS = ("{", "[", "'", "`", "\\", "a ", "<think>", "```json\n", '{"a": ', '"passed": ')
CHECKS = [
    {"type": "contains", "value": "never"},
    {"type": "regex", "value": "(a+)+$"},
    {"type": "json_path", "path": "$..a", "value": 1},
    {"type": "json_schema", "value": {"type": "object"}},
    {"type": "equals", "value": {"a": 1}},
    {"type": "type", "value": "object"},
]


def test_regrade_of_twice_the_answers_takes_twice_the_work(app: MakeApplication) -> None:
    def regraded(size: int) -> float:
        cases = [
            {"id": str(number), "input": text * (size // len(text)), "assert": CHECKS}
            for number, text in enumerate(ANSWERS)
        ]
        application = app(agent(replies="- reply: '{{ input }}'", cases=cases))
        application.run("-i", case_file(), "-o", "r.jsonl", "-q")
        begin = time.process_time()
        run = application.run("regrade", "r.jsonl", "-o", "again.jsonl", "-q")
        assert run.code == 1, run
        return time.process_time() - begin

    once, twice = regraded(SIZE // 4), regraded(SIZE // 2)
    assert twice <= max(2.5 * once, FREE), (once, twice)
