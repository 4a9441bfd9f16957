"""Which declarations of a bundle are `let` again, by the text of the file that they come from."""

from __future__ import annotations

import pytest

from scripttest.compile.linking import declared_in, names_at_top, plain, with_lexical

PARTS = {
    "a constant": ("const a = 1;", "\nvar a = 1;\n", "\nlet a = 1;\n"),
    "on the next line": ("let\n  a;", "\nvar a;\n", "\nlet a;\n"),
    "a class with a number": ("class A {}", "\nvar A2 = class {\n};\n", "\nlet A2 = class {\n};\n"),
    "several": ("let a, b;", "\nvar a, b;\n", "\nlet a, b;\n"),
    "outside ASCII": ("const été = 1;", "\nvar \\u00E9t\\u00E9 = 1;\n", "\nlet \\u00E9t\\u00E9 = 1;\n"),
    "a variable": ("var a = 1;", "\nvar a = 1;\n", "\nvar a = 1;\n"),
    "both in one file": ("const a = 1; { var a2; }", "\nvar a = 1;\nvar a2;\n", "\nlet a = 1;\nvar a2;\n"),
    "a word that begins alike": ("constant(a)", "\nvar a = 1;\n", "\nvar a = 1;\n"),
    "a default": ("export default () => 1", "\nvar a_default = () => 1;\n", "\nlet a_default = () => 1;\n"),
    "a pattern": ("const { a } = b;", "\nvar { a } = b;\n", "\nlet { a } = b;\n"),
    "a pattern of variables": ("var{ a } = b;", "\nvar { a } = b;\n", "\nvar { a } = b;\n"),
    "a pattern with a test": ("const { TestA } = b;", "\nvar { TestA } = b;\n", "\nvar { TestA } = b;\n"),
    "a test": ("const TestA = f;", "\nvar TestA = f;\n", "\nvar TestA = f;\n"),
}


@pytest.mark.parametrize("name", PARTS)
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
