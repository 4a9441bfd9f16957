"""What is left of a module for one test."""

from __future__ import annotations

import pytest

from scripttest.shortcuts.slicing import declared, slice_module

HELPER = "var __async = (self) => {\n  return self;\n};\n"
PLAIN = "function TestPlain(t) {\n  t.log(1);\n}"
AWAITS = "function TestAwaits(t) {\n  return __async(t);\n}"


def script_of(name: str, code: str, found: dict[str, str]) -> str:
    """The script that a worker makes for a test."""
    assert found.keys() - {"TestPlain", "TestAwaits", "TestUses", "TestOther"} <= set(declared(code))
    slices = slice_module(code, 0, {}, found)
    (test,) = (test for test in slices.tests if test.name == name)
    script, at = "", 0
    for piece in test.pieces.split(","):
        offset, skip, start, end = map(int, piece.split(":"))
        script += slices.base[at:offset] + code[start:end]
        at = offset + skip
    return script + slices.base[at:]


def test_a_test_is_parsed_without_the_others_and_the_helper_that_it_does_not_use() -> None:
    code = f"{HELPER}{PLAIN}\n{AWAITS}\n"
    found = {"TestPlain": PLAIN, "TestAwaits": AWAITS, "__async": HELPER[len("var __async = ") : -2]}
    assert script_of("TestPlain", code, found) == f"var __async = 0\n\n;\n{PLAIN}\n\n\n\n"
    assert script_of("TestAwaits", code, found) == f"{HELPER}\n\n\n{AWAITS}\n"


def test_functions_that_a_test_does_not_mention_are_left_out_and_those_that_it_needs_are_not() -> None:
    add = "function add(a) {\n  return times(a);\n}"
    times = "(a) => a * 2"
    unused = "function* unused() {\n  yield TestOther;\n}"
    uses, other = "function TestUses(t) {\n  add(1);\n}", "function TestOther(t) {\n}"
    code = f"// a.ts\n{add}\nvar times = {times};\n{unused}\n{uses}\n{other}\n"
    found = {"TestUses": uses, "TestOther": other, "add": add, "times": times, "unused": unused}
    assert script_of("TestUses", code, found) == f"// a.ts\n{add}\nvar times = {times};\n\n\n\n{uses}\n\n\n"
    assert script_of("TestOther", code, found) == f"// a.ts\n\n\n\nvar times = 0;\n\n\n\n\n\n\n{other}\n"


@pytest.mark.parametrize(
    "rest", ["load();", "var api = { load };", "var load2 = function() { return 1; }, load;", "var text = `${load}`;"]
)
def test_a_function_that_other_code_mentions_stays(rest: str) -> None:
    load = "function load() {\n  return __async(1);\n}"
    code = f"{HELPER}{load}\n{PLAIN}\n{AWAITS}\n{rest}\n"
    found = {"TestPlain": PLAIN, "TestAwaits": AWAITS, "load": load, "__async": HELPER[len("var __async = ") : -2]}
    script = script_of("TestPlain", code, found)
    assert HELPER in script
    assert load in script


def test_what_realms_look_for_by_name_stays() -> None:
    before = "function BeforeEach(t) {\n}"
    code = f"{before}\n{PLAIN}\n{AWAITS}\n"
    assert before in script_of("TestPlain", code, {"TestPlain": PLAIN, "TestAwaits": AWAITS, "BeforeEach": before})


def test_code_that_is_also_quoted_stays() -> None:
    load = "function load() {\n}"
    code = f"var text = `\n{load}\n`;\n{load}\n{PLAIN}\n{AWAITS}\n"
    assert script_of("TestPlain", code, {"TestPlain": PLAIN, "TestAwaits": AWAITS, "load": load}).count(load) == 2


@pytest.mark.parametrize("reaches", ["eval('x')", "globalThis.x", "this[name]", "new Function('x')"])
def test_a_script_that_may_reach_functions_by_other_names_is_whole(reaches: str) -> None:
    code = f"var any = () => {reaches};\n{PLAIN}\n{AWAITS}\n"
    assert slice_module(code, 0, {}, {"TestPlain": PLAIN, "TestAwaits": AWAITS}).base == ""
