"""What is left of a module for one test."""

from __future__ import annotations

from scripttest.slicing import slice_module

HELPER = "var __async = (self) => {\n  return self;\n};\n"
PLAIN = "function TestPlain(t) {\n  t.log(1);\n}"
AWAITS = "function TestAwaits(t) {\n  return __async(t);\n}"


def script_of(name: str, code: str, found: dict[str, str]) -> str:
    """The script that a worker makes for a test."""
    slices = slice_module(code, 0, {}, list(found.items()))
    (test,) = (test for test in slices.tests if test.name == name)
    script, at = "", 0
    for piece in test.pieces.split(","):
        offset, skip, start, end = map(int, piece.split(":"))
        script += slices.base[at:offset] + code[start:end]
        at = offset + skip
    return script + slices.base[at:]


def test_a_test_is_parsed_without_the_others_and_the_helper_that_it_does_not_use() -> None:
    code = f"{HELPER}{PLAIN}\n{AWAITS}\n"
    found = {"TestPlain": PLAIN, "TestAwaits": AWAITS}
    assert script_of("TestPlain", code, found) == f"var __async = 0\n\n;\n{PLAIN}\n\n\n\n"
    assert script_of("TestAwaits", code, found) == f"{HELPER}\n\n\n{AWAITS}\n"


def test_a_helper_that_other_code_uses_stays() -> None:
    code = f"{HELPER}function load() {{\n  return __async(1);\n}}\n{PLAIN}\n{AWAITS}\n"
    found = {"TestPlain": PLAIN, "TestAwaits": AWAITS}
    assert HELPER in script_of("TestPlain", code, found)
