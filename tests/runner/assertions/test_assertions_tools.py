"""`tool_called`, `tool_result`, `tool_sequence`."""

from __future__ import annotations

from typing import Any

from judging import BROKEN, CREATE, SEARCH, judge
from table_tests import each

from runner.assertions.base import Evidence, ToolUse

CALLS = 'search({"query": "rates", "limit": 5}), create_expense({"amount": 3500})'
Row = tuple[str, dict[str, Any], tuple[ToolUse, ...], str]
TWO = (SEARCH, CREATE)

CALLED: list[Row] = [
    ("name", {"name": "create_expense"}, TWO, ""),
    ("value", {"value": "search"}, TWO, ""),
    ("server__tool", {"value": "expense__create_expense"}, TWO, ""),
    ("dots of a server as underscores", {"value": "web_tools__search"}, TWO, ""),
    ("server.tool", {"value": "web.tools.search"}, TWO, ""),
    ("last part of the server", {"value": "tools.search"}, TWO, ""),
    ("last part of a full name", {"value": "search"}, (ToolUse(name="web__search", server="", arguments={}),), ""),
    ("last part after a dot", {"value": "search"}, (ToolUse(name="web.search", server="", arguments={}),), ""),
    ("any of a list", {"value": ["delete", {"name": "search"}]}, TWO, ""),
    ("arguments", {"value": {"name": "search", "arguments": {"query": "rates"}}}, TWO, ""),
    ("pattern", {"value": {"name": "search", "arguments": {"query": "regex:^r"}}}, TWO, ""),
    ("a failed call", {"name": "create_expense"}, (BROKEN,), ""),
    ("negated without calls", {"name": "search", "negate": True}, (), ""),
    (
        "part of a name",
        {"name": "expense"},
        (CREATE,),
        'Expected the agent to call expense, found create_expense({"amount": 3500})',
    ),
    ("letter of a name", {"value": "e"}, TWO, f"Expected the agent to call e, found {CALLS}"),
    ("case counts", {"value": "Search"}, (), "Expected the agent to call Search, found no tool calls"),
    ("none of a list", {"value": ["a", "b"]}, (), "Expected the agent to call a or b, found no tool calls"),
    (
        "another argument",
        {"value": {"name": "search", "arguments": {"query": "rates", "limit": 6}}},
        (SEARCH,),
        'Expected the agent to call search with {"query": "rates", "limit": 6}, '
        'found search({"query": "rates", "limit": 5})',
    ),
    (
        "text is not a number in arguments",
        {"value": {"name": "search", "arguments": {"limit": "5"}}},
        (SEARCH,),
        'Expected the agent to call search with {"limit": "5"}, found search({"query": "rates", "limit": 5})',
    ),
    (
        "negated",
        {"name": "search", "negate": True},
        (SEARCH,),
        'Expected the agent not to call search, found search({"query": "rates", "limit": 5})',
    ),
]
NO_RESULT = "xpected a result of the tool delete, found " + CALLS
RESULT: list[Row] = [
    ("success is enough", {"value": {"tool": "search"}}, TWO, ""),
    ("subset", {"value": {"tool": "search", "result": {"code": 200, "hits": [{"title": "A"}]}}}, TWO, ""),
    ("pattern", {"value": {"tool": "search", "result": {"hits": [{"title": "regex:^[A-C]$"}]}}}, TWO, ""),
    ("pattern over the whole", {"value": {"tool": "search", "result": 'regex:"code":2\\d\\d'}}, TWO, ""),
    ("text of a number", {"value": {"tool": "search", "result": {"code": "200"}}}, TWO, ""),
    ("JSON in a text result", {"value": {"tool": "create_expense", "result": {"status": "draft"}}}, TWO, ""),
    ("a later call", {"value": {"tool": "create_expense", "result": "regex:EXP"}}, (BROKEN, CREATE), ""),
    ("full name", {"value": {"name": "expense__create_expense"}}, TWO, ""),
    (
        "null",
        {"value": {"tool": "ping", "result": None}},
        (ToolUse(name="ping", server="", arguments={}, result=None),),
        "",
    ),
    ("negated holds", {"value": {"tool": "search", "result": {"code": 500}}, "negate": True}, TWO, ""),
    (
        "differs",
        {"value": {"tool": "create_expense", "result": {"status": "submitted"}}},
        TWO,
        'Expected the result of create_expense to have {"status": "submitted"}, '
        'found "{\\"id\\": \\"EXP-1\\", \\"status\\": \\"draft\\"}"',
    ),
    (
        "more items",
        {"value": {"tool": "list", "result": [1]}},
        (ToolUse(name="list", server="", arguments={}, result=[1, 2]),),
        "Expected the result of list to have [1], found [1, 2]",
    ),
    (
        "failed",
        {"value": {"tool": "create_expense"}},
        (BROKEN, BROKEN),
        'Expected the tool create_expense to succeed in a call, found the error "amount must be positive" '
        'and the error "amount must be positive"',
    ),
    (
        "negated",
        {"value": {"tool": "create_expense"}, "negate": True},
        (CREATE,),
        "Expected the tool create_expense not to succeed in a call, "
        'found "{\\"id\\": \\"EXP-1\\", \\"status\\": \\"draft\\"}"',
    ),
    ("not called", {"value": {"tool": "delete"}}, TWO, f"E{NO_RESULT}"),
    (
        "not called, negated",
        {"value": {"tool": "delete"}, "negate": True},
        TWO,
        f'Cannot evaluate "tool_result": e{NO_RESULT}',
    ),
    (
        "bad pattern, negated",
        {"value": {"tool": "search", "result": "regex:("}, "negate": True},
        TWO,
        'Cannot evaluate "tool_result": Cannot use pattern `(`: missing `)` for the group at position 0',
    ),
]

A, B, C = (ToolUse(name=name, server="s", arguments={"n": name}) for name in "abc")
WITH_N = {"name": "a", "arguments": {"n": 1}}
SEQUENCE: list[Row] = [
    ("in order, others between", {"value": ["a", "c"]}, (A, B, C), ""),
    ("in order by name", {"value": ["a", "a"], "mode": "in_order"}, (A, B, A), ""),
    ("exact", {"value": ["a", {"name": "s__b", "arguments": {"n": "b"}}], "mode": "exact"}, (A, B), ""),
    ("exactly none", {"value": [], "mode": "exact"}, (), ""),
    ("any order", {"value": ["c", "a"], "mode": "any_order"}, (A, B, C), ""),
    (
        "any order, the narrow one last",
        {"value": ["a", {"name": "a", "arguments": {"n": "a"}}], "mode": "any_order"},
        (A, ToolUse(name="a", server="s", arguments={"n": "z"})),
        "",
    ),
    ("negated holds", {"value": ["b", "a"], "negate": True}, (A, B), ""),
    (
        "wrong order",
        {"value": ["b", "a"]},
        (A, B),
        'Expected the agent to call in this order: b, a, found a({"n": "a"}), b({"n": "b"}); a is missing at position 2',
    ),
    (
        "one call for two",
        {"value": ["a", "a"], "mode": "any_order"},
        (A, B),
        'Expected the agent to call in any order: a, a, found a({"n": "a"}), b({"n": "b"}); a is missing',
    ),
    (
        "one more than exact",
        {"value": ["a"], "mode": "exact"},
        (A, B),
        'Expected the agent to call exactly a, found a({"n": "a"}), b({"n": "b"})',
    ),
    (
        "another than exact",
        {"value": ["a", "c"], "mode": "exact"},
        (A, B),
        'Expected the agent to call exactly a, c, found a({"n": "a"}), b({"n": "b"}); c is missing at position 2',
    ),
    (
        "other arguments",
        {"value": [WITH_N]},
        (A,),
        'Expected the agent to call in this order: a with {"n": 1}, found a({"n": "a"}); '
        'a with {"n": 1} is missing at position 1',
    ),
    (
        "no calls",
        {"value": ["a"]},
        (),
        "Expected the agent to call in this order: a, found no tool calls; a is missing at position 1",
    ),
    (
        "negated",
        {"value": ["a"], "negate": True},
        (A,),
        'Expected the agent not to call in this order: a, found a({"n": "a"})',
    ),
]
ALL = [
    (kind, row)
    for kind, rows in (("tool_called", CALLED), ("tool_result", RESULT), ("tool_sequence", SEQUENCE))
    for row in rows
]


@each(
    ("kind", "fields", "tools", "message"),
    [(kind, *row[1:]) for kind, row in ALL],
    ids=[f"{kind}: {row[0]}" for kind, row in ALL],
)
def test_what_the_agent_called(kind: str, fields: dict[str, Any], tools: tuple[ToolUse, ...], message: str) -> None:
    result = judge({"type": kind, **fields}, Evidence(output="done", tools=tools))

    assert (result.passed, result.message) == (not message, message)
    assert result.error is message.startswith("Cannot")


def test_the_result_of_the_assertion_has_the_calls() -> None:
    result = judge({"type": "tool_called", "name": "x"}, Evidence(output="done", tools=TWO))

    assert (result.expected, result.actual) == (
        "x",
        [
            {"name": "search", "server": "web.tools", "arguments": {"query": "rates", "limit": 5}},
            {"name": "create_expense", "server": "expense", "arguments": {"amount": 3500}},
        ],
    )


def test_the_result_of_a_result_assertion_has_what_came_of_the_calls() -> None:
    result = judge(
        {"type": "tool_result", "value": {"tool": "create_expense"}}, Evidence(output="x", tools=(BROKEN, CREATE))
    )

    assert result.actual == [
        {"result": None, "error": "amount must be positive"},
        {"result": '{"id": "EXP-1", "status": "draft"}'},
    ]
