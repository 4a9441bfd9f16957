"""Suites and texts as JSON: where tests come from is read again whatever they are called, and every reader takes what is
written."""

from __future__ import annotations

from table_tests import each

from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite, suite_in
from runner.reporters.console.style import command_of
from runner.shapes.codec import json_of


def suite(kind: str, label: str, file: str = "", id: str = "", **where_from: bool) -> Suite:
    return Suite(id=id or label, kind=kind, label=label, file=file, agent="shop", **where_from)


SUITES = (
    suite(SCRIPT_TEST, "shop/src/cart_test.ts", "/app/shop/src/cart_test.ts", id="scripts.shop.cart"),
    suite(AGENT_TEST, "tests/a.jsonl", "/app/tests/a.jsonl"),
    suite(AGENT_TEST, '"a".jsonl', '/app/"a".jsonl'),
    suite(AGENT_TEST, "agents:a.jsonl", "/app/agents:a.jsonl"),
    suite(AGENT_TEST, "message a.jsonl", "/app/message a.jsonl"),
    suite(AGENT_TEST, '"Hello you"', is_message=True),
    suite(AGENT_TEST, '"agents: are they?"', is_message=True),
    suite(AGENT_TEST, "agents:shop.generator?count=3", is_generated=True),
    suite(AGENT_TEST, "scripts:tests.shop.make", is_generated=True),
)


@each("one", SUITES, ids=lambda one: one.label)
def test_a_suite_is_read_as_it_was_written(one: Suite) -> None:
    assert suite_in(json_of(one.in_report)) == one.replace(id=one.name)


@each(
    ("one", "command"),
    list(
        zip(
            SUITES,
            (
                "yao-test -i scripts.shop.cart --run '^TestSum$'",
                "yao-test -i tests/a.jsonl --run '^TestSum$'",
                "yao-test -i '\"a\".jsonl' --run '^TestSum$'",
                "yao-test -i agents:a.jsonl --run '^TestSum$'",
                "yao-test -i 'message a.jsonl' --run '^TestSum$'",
                "yao-test -i 'Hello you' --name shop",
                "yao-test -i 'agents: are they?' --name shop",
                "yao-test -i 'agents:shop.generator?count=3' --run '^TestSum$' --name shop",
                "yao-test -i scripts:tests.shop.make --run '^TestSum$' --name shop",
            ),
            strict=True,
        )
    ),
    ids=lambda value: value.label if isinstance(value, Suite) else "",
)
def test_the_command_that_runs_a_test_again_goes_by_the_kind_of_its_suite(one: Suite, command: str) -> None:
    assert command_of(one, ())("TestSum") == command
    assert command_of(suite_in(json_of(one.in_report)), ())("TestSum") == command
