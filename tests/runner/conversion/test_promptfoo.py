"""Assertions of promptfoo, one by one."""

from __future__ import annotations

from typing import Any

from table_tests import each

from runner.conversion.promptfoo import Assertions, expected_in

FOUND: list[tuple[dict[str, Any], dict[str, Any] | None]] = [
    ({"type": "equals", "value": '{"a": 1}'}, {"type": "equals", "value": {"a": 1}}),
    ({"type": "not-equals", "value": "a"}, {"type": "equals", "value": "a", "negate": True}),
    ({"type": "starts-with", "value": "a"}, {"type": "starts_with", "value": "a"}),
    ({"type": "regex", "value": "a(?=b)"}, None),
    (
        {"type": "icontains-all", "value": "a, b"},
        {"type": "all_of", "value": [{"type": "icontains", "value": "a"}, {"type": "icontains", "value": "b"}]},
    ),
    ({"type": "is-json", "value": {"type": "object"}}, {"type": "json_schema", "value": {"type": "object"}}),
    ({"type": "is-json", "value": "file://schema.json"}, None),
    ({"type": "similar", "value": "a"}, {"type": "similar", "value": "a", "threshold": 0.75}),
    ({"type": "cost", "threshold": 0.1}, {"type": "cost", "value": 0.1}),
    ({"type": "cost"}, None),
    ({"type": "assert-set", "assert": [{"type": "contains", "value": "a"}]}, None),
    ({"type": "trajectory:step-count", "value": {"max": 2}}, {"type": "tool_calls", "value": {"max": 2}}),
    ({"type": "trajectory:step-count", "value": {"type": "span", "max": 2}}, None),
    ({"type": "trajectory:tool-used", "value": ["a"]}, {"type": "tool_called", "name": "a"}),
    (
        {"type": "trajectory:tool-used", "value": {"name": "a", "max": 2}},
        {"type": "tool_calls", "name": "a", "value": {"max": 2}},
    ),
    (
        {"type": "trajectory:tool-args-match", "value": {"name": "a", "args": {"n": 1}, "mode": "exact"}},
        {"type": "tool_arguments", "value": {"tool": "a", "exactly": {"n": 1}, "calls": "any"}},
    ),
    (
        {"type": "trajectory:tool-sequence", "value": {"steps": ["a"], "mode": "exact"}},
        {"type": "tool_sequence", "value": ["a"], "mode": "exact"},
    ),
    ({"type": "python", "value": "file://x.py"}, None),
    ({"type": "rouge-n", "value": "a"}, None),
]


@each(("given", "expected"), FOUND, ids=[f"{n} {one['type']}" for n, (one, _) in enumerate(FOUND)])
def test_each_has_its_counterpart_or_is_named(given: dict[str, Any], expected: dict[str, Any] | None) -> None:
    said: list[str] = []
    assertions = Assertions(lambda value: value, said.append)
    assert list(assertions.of(given)) == ([expected] if expected else [])
    assert bool(said) is (expected is None)
    assert (given in assertions.lost) is (expected is None)


CELLS = {
    "Oslo": {"type": "equals", "value": "Oslo"},
    "contains: Oslo": {"type": "contains", "value": "Oslo"},
    "similar(0.8): Oslo": {"type": "similar", "value": "Oslo", "threshold": 0.8},
    "grade: is polite": {"type": "llm-rubric", "value": "is polite"},
    "fn: output.length": {"type": "javascript", "value": "output.length"},
    "is-json": {"type": "is-json"},
    "latency(500)": {"type": "equals", "value": "latency(500)"},
    "cost: 0.01": {"type": "cost", "threshold": 0.01},
    "note: not a type": {"type": "equals", "value": "note: not a type"},
    "contains": {"type": "equals", "value": "contains"},
}


@each("cell", CELLS)
def test_cells_of_expected_columns(cell: str) -> None:
    assert expected_in(cell) == CELLS[cell]
