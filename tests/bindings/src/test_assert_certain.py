"""Assertions that the core decides by itself: only those that pass, as the parts would decide too."""

from __future__ import annotations

import _quickjs
import pytest
from assert_realm import DECLARATIONS, bundled
from assert_tables import EQUAL, FAIL, NOT_EQUAL, PASS, rows
from table_tests import each


@pytest.fixture(scope="module")
def context() -> _quickjs.Context:
    context = _quickjs.Context()
    context.set_max_stack_size(1 << 19)
    context.eval(bundled("certain.ts", "--format=iife", "--global-name=core"))
    return context


def is_certain(context: _quickjs.Context, name: str, args: str) -> bool:
    call = f"((...args) => core.certain({name!r}, args.length, args[0], args[1]))({args})"
    return bool(context.eval(f"(() => {{ {DECLARATIONS} return {call} }})()"))


@each(("name", "args"), rows(FAIL), ids=str)
def test_what_fails_is_left_to_the_parts(context: _quickjs.Context, name: str, args: str) -> None:
    assert not is_certain(context, name, args)


@each("row", NOT_EQUAL)
def test_values_that_are_not_equal_are_left_to_the_parts(context: _quickjs.Context, row: str) -> None:
    left, right = row.split(" | ")
    assert not is_certain(context, "Equal", f"{left}, {right}")
    assert not is_certain(context, "Equal", f"{right}, {left}")


def test_most_simple_ones_are_decided(context: _quickjs.Context) -> None:
    decided = {name for name, args in rows(PASS) if is_certain(context, name, args)}
    assert decided == {"True", "False", "Nil", "NotNil", "Equal", "Contains", "Len"}
    equal = [row for row in EQUAL if is_certain(context, "Equal", row.replace(" | ", ", "))]
    assert {"1 | 1", "[1, [2, [3]]] | [1, [2, [3]]]", "{a: 1, b: 2} | {b: 2, a: 1}"} <= set(equal)


PROMISES = ["Promise.resolve(1)", "{ then() {} }", "{ get then() { throw 1 } }"]


@pytest.mark.parametrize("promise", PROMISES)
def test_what_may_be_a_promise_is_left_to_the_parts(context: _quickjs.Context, promise: str) -> None:
    for name, args in (("True", "p"), ("NotNil", "p"), ("Equal", "p, p"), ("Equal", "1, p"), ("Len", "p, 1")):
        made = f"...(() => {{ const p = {promise}; return [{args}]; }})()"
        assert not is_certain(context, name, made)
