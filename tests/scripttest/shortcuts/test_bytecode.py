"""Bytecode in contexts of the engine's package."""

from __future__ import annotations

import _quickjs
import pytest

from scripttest.realm.quickjs import BytecodeError, Interface


@pytest.fixture(scope="module")
def bytecode() -> Interface:
    return Interface()


def test_code_compiled_once_runs_in_any_context(bytecode: Interface) -> None:
    code = bytecode.compile("globalThis.count = (globalThis.count ?? 0) + 1")
    contexts = [_quickjs.Context() for _ in range(3)]
    for context in contexts:
        bytecode.run(context, code)
        bytecode.run(context, code)
    assert [context.get("count") for context in contexts] == [2, 2, 2]


def test_a_value_becomes_a_property(bytecode: Interface) -> None:
    context = _quickjs.Context()
    target = bytecode.run(context, bytecode.compile("globalThis.target = {}"))
    bytecode.define(context, target, b"part", bytecode.compile("(() => 'made of ' + ['byte', 'code'].join(''))"))
    assert context.eval("target.part()") == "made of bytecode"


def test_a_property_that_cannot_be_defined_is_an_error(bytecode: Interface) -> None:
    context = _quickjs.Context()
    target = bytecode.run(context, bytecode.compile("globalThis.target = Object.freeze({})"))
    with pytest.raises(BytecodeError):
        bytecode.define(context, target, b"part", bytecode.compile("1"))
    assert context.eval("'part' in target") is False


def test_what_does_not_compile_is_an_error(bytecode: Interface) -> None:
    with pytest.raises(BytecodeError):
        bytecode.compile("function (")


def test_what_throws_is_an_error_and_leaves_a_context_that_works(bytecode: Interface) -> None:
    context = _quickjs.Context()
    with pytest.raises(BytecodeError):
        bytecode.run(context, bytecode.compile("throw new Error('no')"))
    assert context.eval("1 + 1") == 2


def test_memory_is_given_back(bytecode: Interface) -> None:
    context = _quickjs.Context()
    code = bytecode.compile("globalThis.last = { list: [1, 2, 3], make: () => [] }")
    bytecode.run(context, code)
    context.gc()
    before = context.memory()["obj_count"]
    for _ in range(100):
        bytecode.run(context, code)
    context.gc()
    assert context.memory()["obj_count"] == before
