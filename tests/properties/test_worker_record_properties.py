"""What a worker may send: whatever is accepted as a message can be shown, so that a script which has taken its worker
over ends no more than its own test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripttest.compile.builds import Compiled, Source
from scripttest.compile.linking import Script
from scripttest.protocol import MessageError
from scripttest.shortcuts.slicing import slice_module
from scripttest.workers.answers import EarlyFailure, Functions, Result, read_message
from scripttest.workers.work import Module, ModuleRun

CODE = """\
function helper() { for (;;) { if (later()) break; } }
function TestA(t) {
  helper();
  throw "thrown";
}
function TestB(t) { return nothing.at.all(); }
"""
LINES = len(CODE.splitlines())

number = st.one_of(st.integers(0, LINES + 2).map(str), st.sampled_from(["9" * 8, "9" * 12, "9" * 5000]))
frame = st.builds(
    "    at {} (<{}>:{}:{})".format,
    st.sampled_from(["TestA", "<eval>", "__async", "async TestA", "next", "", "helper"]),
    st.sampled_from(["input", "scripts.a.b", "x"]),
    number,
    number,
)
stack = st.lists(st.one_of(frame, st.text(max_size=10)), max_size=4).map("\n".join)
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.just(10**400), st.text(max_size=5), stack),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)
text = st.sampled_from(["TypeError: not a function", '"thrown"', "thrown", "", "x\ny"])


def record_with(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Records of nearly the right form: a field in ten is anything."""
    fields = {name: st.one_of(*[value] * 9, anything) for name, value in {**required, **optional}.items()}
    return st.fixed_dictionaries(
        {name: fields[name] for name in required}, optional={name: fields[name] for name in optional}
    )


details = record_with({"text": text}, {"depth": st.integers(0, 2), "stack": stack})
failure = record_with(
    {"kind": st.sampled_from(["error", "timeout", "infrastructure", "assertion"]), "message": text, "stack": stack},
    {
        "origin": stack,
        "phase": st.sampled_from(["BeforeAll", "x"]),
        "type": st.sampled_from(["Equal", "helper", "("]),
        "expected": anything,
        "diff": text,
        "details": st.lists(details, max_size=2),
        "stopped": st.booleans(),
        "waits": st.booleans(),
    },
)
warning = record_with({"kind": text, "message": text}, {"stack": stack, "named": st.booleans()})
inlined = record_with({"text": text}, {"stack": stack, "given": text})
outcome = st.deferred(
    lambda: record_with(
        {"name": text, "status": st.sampled_from(["passed", "failed", "skipped"])},
        {
            "failures": st.lists(failure, min_size=1, max_size=2),
            "steps": st.lists(outcome, max_size=1),
            "warnings": st.lists(warning, max_size=1),
            "inlined": st.lists(inlined, max_size=1),
            "mocked": st.lists(st.tuples(text, st.integers(0, 3)), max_size=1),
            "duration_ms": st.floats(0, 9),
            "skip_reason": text,
        },
    )
)
sources = st.dictionaries(
    st.sampled_from(["TestA", "TestB", "helper", "Testé", "x("]),
    st.sampled_from([*CODE.split("\n"), CODE, "class A {}", "function TestB(t) { return nothing.at.all(); }", ""]),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ModuleRun:
    root = tmp_path_factory.mktemp("app")
    test = root / "a_test.ts"
    test.write_text(CODE)
    source_map = {"version": 3, "sources": ["a_test.ts"], "names": [], "mappings": "AAAA" + ";AACA" * (LINES - 1)}
    script = Script(code=CODE, source_map=json.dumps(source_map).encode(), first_line=2)
    source = Source(key="a", test=test, script=None)
    compiled = Compiled(source=source, scripts=(script,), entry_start=0, exports={})
    made = ModuleRun(Module(source=source, context="{}"), compiled, Path(root), lambda _: None, 5, 1)
    found = {"TestA": CODE[CODE.index("function TestA") : CODE.index("\nfunction TestB")]}
    made.tests = slice_module(CODE, 0, {}, {**found, "TestB": CODE.splitlines()[-1]}).tests
    assert [test.name for test in made.tests] == ["TestA", "TestB"]
    return made


@given(record=outcome, index=st.sampled_from([0, 1]))
def test_an_outcome_that_is_accepted_can_be_shown(run: ModuleRun, record: dict[str, Any], index: int) -> None:
    try:
        message = read_message("result", ["0", json.dumps(record), ""])
    except MessageError:
        return
    assert isinstance(message, Result)
    assert run.outcome(message.record, "TestA", index).name == "TestA"


@given(record=failure)
def test_an_early_failure_that_is_accepted_can_be_shown(run: ModuleRun, record: dict[str, Any]) -> None:
    try:
        message = read_message("failed", ["TestA", json.dumps(record)])
    except MessageError:
        return
    assert isinstance(message, EarlyFailure)
    shown = run.outcomes.cut_short(
        [message], 0, run.outcome({"failures": [], "steps": [], "status": "passed"}, "x", 0), 1
    )  # type: ignore[arg-type]
    assert shown.name == "TestA"


@given(found=sources)
def test_any_list_of_functions_can_be_sliced(found: dict[str, str]) -> None:
    message = read_message("tests", [text for pair in found.items() for text in pair])
    assert isinstance(message, Functions)
    slice_module(CODE, 0, {}, message.sources)
