"""Bundles as esbuild writes them, and the scripts that are made from them."""

from __future__ import annotations

import pytest
from table_tests import each

from scripttest.compile.esbuild import with_own_async, with_plain_require, without_exports

CODE = "function TestA() {\n}\n"
EXPORTS = {
    "nothing": ("", {}),
    "a name": ("\nexport {\n  TestA\n};\n", {"TestA": "TestA"}),
    "several": ("\nexport {\n  TestA,\n  b as TestB\n};\n", {"TestA": "TestA", "TestB": "b"}),
    "the default": ("\nexport {\n  TestA as default\n};\n", {"default": "TestA"}),
    "letters outside ASCII": ("\nexport {\n  Test\\u00E9,\n  x as \\u{1d4d0}\n};\n", {"Testé": "Testé", "𝓐": "x"}),
}


@each("name", EXPORTS)
def test_an_export_clause_is_taken_off(name: str) -> None:
    clause, exports = EXPORTS[name]
    code, found = without_exports(CODE.rstrip() + clause if clause else CODE)
    assert (code, found) == (CODE, exports)


def test_a_clause_within_a_text_stays() -> None:
    text = "var x = `\nexport {\n  a\n};\n` + 1;\n"
    assert without_exports(text) == (text, {})


def test_what_a_commonjs_module_exports_becomes_global() -> None:
    code = "var require_a = 1;\nexport default require_a();\n"
    assert without_exports(code) == ("var require_a = 1;\nObject.assign(globalThis, require_a());\n", {})


HELPER = """\
var __async = (__this, __arguments, generator) => {
  return new Promise((resolve, reject) => {
  });
};
"""


def test_the_helper_for_async_functions_is_that_of_the_bindings() -> None:
    """On one line, with as many ends of lines behind it: the others stay where they are."""
    code = with_own_async(f"// a\n{HELPER}f();\n")
    assert "__yaoAsync(self, args, body)" in code
    assert "new Promise" not in code
    assert code.splitlines().index("f();") == f"// a\n{HELPER}f();\n".splitlines().index("f();")


@pytest.mark.parametrize("code", [CODE, HELPER.replace("__this", "other"), HELPER.partition("\n};")[0]])
def test_code_without_that_helper_stays_as_it_is(code: str) -> None:
    assert with_own_async(code) == code


@pytest.mark.parametrize("generator", ["generator", "generator2"])
def test_the_names_of_its_variables_are_no_matter(generator: str) -> None:
    assert "__yaoAsync(" in with_own_async(HELPER.replace("generator", generator))


def test_asynchronous_generators_wait_by_the_bindings() -> None:
    head = "\nvar __forAwait = (obj) => "
    code = with_own_async(f"{head}Promise.resolve(arg2.value).then((value) => 1);\nPromise.resolve(1);\n")
    assert code == f"{head}__yaoAsync.wait(arg2.value).then((value) => 1);\nPromise.resolve(1);\n"
    code = with_own_async("\nvar __asyncGenerator = (it2) => {\n  it2 = {};\n  new Promise(it2);\n};\nit2 = {};\n")
    assert (
        code
        == "\nvar __asyncGenerator = (it2) => {\n  it2 = __yaoAsync.iterator();\n  __yaoAsync.next(it2);\n};\nit2 = {};\n"
    )


def test_require_is_as_undefined_as_in_yao_and_all_else_stays_in_place() -> None:
    helper = "var __require = /* @__PURE__ */ ((x) => x)(function(x) {\n  throw Error(x);\n});\n"
    code = with_plain_require(
        f'{helper}var a = typeof __require, b = __require(n), c = "__require", d = my__require;\n'
    )
    assert code == '\n\n\nvar a = typeof require  , b = require  (n), c = "__require", d = my__require;\n'
    assert with_plain_require("__require(1);") == "__require(1);"
