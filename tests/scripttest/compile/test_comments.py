"""Code without comments: what is one and what only looks like one."""

from __future__ import annotations

from table_tests import each

from scripttest.compile.at_once import without_comments


@each(
    ("code", "left"),
    [
        ("f(a /* one */);\n", "f(a);\n"),
        ("// path\nf();\n", "\nf();\n"),
        ("f(\n  // one\n  a\n);\n", "f(\n\n  a\n);\n"),
        ('f("/* no */", "http://x");\n', 'f("/* no */", "http://x");\n'),
        ("f('\\'// no');\n", "f('\\'// no');\n"),
        ("f(`// no ${a /* one */} ${`/* no */${b}`} //`); // one\n", "f(`// no ${a} ${`/* no */${b}`} //`);\n"),
        ("f(`${{ a: {} }} // no`);\n", "f(`${{ a: {} }} // no`);\n"),
        ('f(/"[/*]\\/\\/"/g, a / b / c /* one */);\n', 'f(/"[/*]\\/\\/"/g, a / b / c);\n'),
        ("return /'/.test(a) // one\n", "return /'/.test(a)\n"),
        ("x = a[0] / 2; // '\ny();", "x = a[0] / 2;\ny();"),
        ("if (a) /'/.test(b); // as it is\n", "if (a) /'/.test(b); // as it is\n"),
        ("}} // as it is", "}} // as it is"),
    ],
)
def test_comments_are_taken_off(code: str, left: str) -> None:
    assert without_comments(code) == left
