"""What bundles of esbuild lose, and the scripts that have it again."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from table_tests import each

from scripttest.compile.configuration import CompilerOptions
from scripttest.compile.linking import (
    Linker,
    Output,
    declared_in,
    has_other_names,
    names_at_top,
    plain,
    with_lexical,
    with_written_names,
)

MAP = b'{"version": 3, "sources": [], "mappings": "", "names": ["run", "Order"]}'
RENAMED = {
    "a function with a number": ("function run2() {\n}", True),
    "a class with a number": ("var Order2 = class {\n};", True),
    "an arrow function": ("  const run2 = (a) => a;", True),
    "a member of a namespace": ("  Order2.f = () => 1;", True),
    "a class that names itself": ("var A = class _A {\n};", True),
    "a default": ("var a_default = (a) => a;", True),
    "a default function": ("function a_default() {\n}", True),
    "a number of the author": ("function step2() {\n}", False),
    "a value": ("const run2 = 1;", False),
    "a call": ("var x = run2(1);", False),
}


@each("name", RENAMED)
def test_other_names_are_seen(name: str) -> None:
    code, expected = RENAMED[name]
    assert has_other_names(f"// a.ts\n{code}\n", MAP) is expected


HELPER = 'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });\n'
NAMED = {
    "as it is": ('function f() {\n}\n__name(f, "f");\n', "function f() {\n}\n\n"),
    "in a block": (
        'function f() {\n  return run2();\n  function run2() {\n  }\n  __name(run2, "run");\n}\n',
        'function f() {__name(run2, "run");\n  return run2();\n  function run2() {\n  }\n\n}\n',
    ),
    "a value in a block": (
        'if (x) {\n  let run2 = function() {\n  };\n  __name(run2, "run");\n}\n',
        'if (x) {\n  let run2 = function() {\n  };\n  __name(run2, "run");\n}\n',
    ),
    "a class": ('var A = class {\n  static {\n    __name(this, "A");\n  }\n};\n', "var A = class {\n\n\n\n};\n"),
    "a class that names itself": (
        'var A = class _A {\n  static {\n    __name(this, "A");\n  }\n};\n',
        'var A = class _A {\n  static {\n    __name(this, "A");\n  }\n};\n',
    ),
    "a test": (
        'var TestA = /* @__PURE__ */ __name((t) => {\n  t.log();\n}, "TestA");\n',
        "var TestA = (t) => {\n  t.log();\n};\n",
    ),
}


@each("name", NAMED)
def test_only_other_names_are_given(name: str) -> None:
    code, expected = NAMED[name]
    assert with_written_names(HELPER + code) == HELPER + expected


STRICT = {
    '"use strict";\nx': True,
    "'use strict'": True,
    "#!/bin/x\n\ufeff//\n": False,
    '// a\n/* b */ "use client"; "use strict"': True,
    '"use strict" + x': False,
    '"use strict"\n.length': False,
    'x; "use strict"': False,
    "`use strict`": False,
    'function f() { "use strict"; }': False,
}


@each("text", STRICT)
def test_a_directive_is_the_first_text(text: str) -> None:
    assert CompilerOptions().is_strict("/nowhere/a.js", text.encode()) is STRICT[text]


def scripts(tmp_path: Path, files: dict[str, str], code: str) -> list[tuple[str, int, int]]:
    linker = Linker(tmp_path)
    for name, text in files.items():
        linker.note(str(tmp_path / name), text.encode())
    found, _ = linker.scripts([Output(code=code, source_map=MAP, is_bundle=True, constants=frozenset())])
    return [(script.code, script.first_line, script.skipped) for script in found]


def test_files_that_are_strict_are_scripts_of_their_own(tmp_path: Path) -> None:
    files = {"a.js": "f()", "b.js": '"use strict"; g()', "c.js": "h()"}
    assert scripts(tmp_path, files, "// a.js\nf();\n\n// b.js\ng();\n\n// c.js\nh();\n") == [
        ("// a.js\nf();\n\n", 2, 0),
        ('"use strict";// b.js\ng();\n\n', 5, 3),
        ("// c.js\nh();\n", 8, 6),
    ]


DECLARED = {
    "const": ("const x = 1;", "var x = 1;", "let x = 1;"),
    "renamed": ("const x = 1;", "var x2 = 1;", "let x2 = 1;"),
    "var": ("var x = 1;", "var x = 1;", "var x = 1;"),
    "both": ("var x = 1; { const x = 2; }", "var x = 1;", "var x = 1;"),
    "class": ("class X {}", "var X = class {\n};", "let X = class {\n};"),
    "pattern": ("const { x } = y;", "var { x } = y;", "let { x } = y;"),
    "enum": ("enum X {}", "var X = ((X2) => {\n})(X || {});", "var X = ((X2) => {\n})(X || {});"),
    "test": ("const TestX = () => {};", "var TestX = () => {\n};", "var TestX = () => {\n};"),
    "hook": ("const BeforeAll = () => {};", "var BeforeAll = () => {\n};", "var BeforeAll = () => {\n};"),
    "import": ("import x from 'x';", "var import_x = __toESM(1);", "var import_x = __toESM(1);"),
    "letters": ("const é = 1;", "var \\u00E9 = 1;", "let \\u00E9 = 1;"),
}


@pytest.mark.parametrize("name", DECLARED)
def test_declarations_are_what_they_were(tmp_path: Path, name: str) -> None:
    text, code, expected = DECLARED[name]
    ((found, _, _),) = scripts(tmp_path, {"a.ts": text}, f"// a.ts\n{code}\n")
    assert found == f"// a.ts\n{expected}\n"


PARTS = {
    "a constant": ("const a = 1;", "\nvar a = 1;\n", "\nlet a = 1;\n"),
    "on the next line": ("let\n  a;", "\nvar a;\n", "\nlet a;\n"),
    "a class with a number": ("class A {}", "\nvar A2 = class {\n};\n", "\nlet A2 = class {\n};\n"),
    "several": ("let a, b;", "\nvar a, b;\n", "\nlet a, b;\n"),
    "outside ASCII": ("const été = 1;", "\nvar \\u00E9t\\u00E9 = 1;\n", "\nlet \\u00E9t\\u00E9 = 1;\n"),
    "a variable": ("var a = 1;", "\nvar a = 1;\n", "\nvar a = 1;\n"),
    "both in one file": ("const a = 1; { var a2; }", "\nvar a = 1;\nvar a2;\n", "\nlet a = 1;\nvar a2;\n"),
    "a keyword in its name": ("let outlet = 1;", "\nvar outlet = 1;\n", "\nlet outlet = 1;\n"),
    "a word that begins alike": ("constant(a)", "\nvar a = 1;\n", "\nvar a = 1;\n"),
    "a default": ("export default () => 1", "\nvar a_default = () => 1;\n", "\nlet a_default = () => 1;\n"),
    "a pattern": ("const { a } = b;", "\nvar { a } = b;\n", "\nlet { a } = b;\n"),
    "a pattern of variables": ("var{ a } = b;", "\nvar { a } = b;\n", "\nvar { a } = b;\n"),
    "a pattern with a test": ("const { TestA } = b;", "\nvar { TestA } = b;\n", "\nvar { TestA } = b;\n"),
    "a test": ("const TestA = f;", "\nvar TestA = f;\n", "\nvar TestA = f;\n"),
}


@each("name", PARTS)
def test_what_was_lexical_is_so_again(name: str) -> None:
    text, bundled, expected = PARTS[name]

    linked = with_lexical(bundled, declared_in(text.encode()), lambda found: found.startswith("Test"), plain)

    assert linked == expected


def test_names_at_the_top_are_those_of_declarations() -> None:
    code = (
        "function f(a) {\n  var inner = 1;\n}\nfunction* g() {\n}\nasync function h() {\n}\nclass C extends D {\n}\n"
        "var v = w;\nlet l;\nconst { p, q: [r] } = s;\nvariable = 1;\nclassic();\n"
    )

    assert names_at_top(code) == {"f", "g", "h", "C", "v", "l", "p", "q", "r", "s"}


def test_many_variables_without_a_value_are_read_in_proportion() -> None:
    def seconds(count: int) -> float:
        text = "".join(f"let name{number};\n" for number in range(count)).encode()
        started = time.process_time()
        assert len(declared_in(text).unset) == count
        return time.process_time() - started

    assert min(seconds(24_000) for _ in range(3)) < 12 * min(seconds(4000) for _ in range(3))
