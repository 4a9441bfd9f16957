"""JSONPath: plain paths followed here, the others by the library, and the bounds on both."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
from table_tests import each

from bindings.patterns import MAX_PATH, JsonPathError, find

VALUE: dict[str, Any] = {
    "a": {"b": [{"c": 1, "t": "x"}, {"c": 2, "t": "yy"}], "user-name": "u", "1": "one"},
    "n": None,
    "x y": 5,
    "a.b": 7,
    "it's": 8,
    "list": [[1, 2], [3, 4]],
    "名": "name",
    "$ref": 9,
    "f": False,
}

PLAIN: list[tuple[str, list[Any]]] = [
    ("$", [VALUE]),
    ("a.b[0].c", [1]),
    ("$.a.b[1].c", [2]),
    ("$['a']['b'][1]['t']", ["yy"]),
    ('$["x y"]', [5]),
    ("['a.b']", [7]),
    ('["it\'s"]', [8]),
    ("a.user-name", ["u"]),
    ("$.a.b[-1].c", [2]),
    ("a.b[-2].c", [1]),
    ("a.b[-3]", []),
    ("a.b[2]", []),
    ("a.b.0.c", [1]),
    ("a.1", ["one"]),
    ("a[1]", []),
    ("list[1][0]", [3]),
    ("$.list.[0].[1]", [2]),
    ("n", [None]),
    ("n.x", []),
    ("f", [False]),
    ("missing", []),
    ("a.missing.deep", []),
    ("a.b.c", []),
    ("名", ["name"]),
    ("  a.user-name  ", ["u"]),
    ("$['$ref']", [9]),
    ("a[ 'user-name' ]", ["u"]),
]


@each(("path", "expected"), PLAIN, ids=[row[0] for row in PLAIN])
def test_plain_paths(path: str, expected: list[Any]) -> None:
    assert find(VALUE, path) == expected


def test_plain_paths_do_without_the_library() -> None:
    program = (
        "import sys; from bindings.patterns import find\n"
        "assert find({'a': [{'b-c': 1}]}, '$.a[0].b-c') == [1]\n"
        "print([name for name in sys.modules if name.startswith(('jsonpath', 'regex'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_plain_path_starts_at_any_value() -> None:
    assert [find([5, 6], "[0]"), find([5, 6], "$[1]"), find("text", "$"), find(3, "a"), find([5], "0")] == [
        [5],
        [6],
        ["text"],
        [],
        [5],
    ]


LIBRARY: list[tuple[str, list[Any]]] = [
    ("$..c", [1, 2]),
    ("$.a.b[*].c", [1, 2]),
    ("a.b.*.t", ["x", "yy"]),
    ("$.a.b[0:1].c", [1]),
    ("$.a.b[::-1].c", [2, 1]),
    ("$.a.b[0,1].t", ["x", "yy"]),
    ("$.a['user-name','1']", ["u", "one"]),
    ("$.a.b[?(@.c>1)].t", ["yy"]),
    ("$.a.b[?@.c==1].t", ["x"]),
    ('$.a.b[?(@.t=="x" && @.c==1)].c', [1]),
    ('$.a.b[?(@.t=="x" || @.c==2)].c', [1, 2]),
    ("$.a.b[?(!@.missing)].c", [1, 2]),
    ('$.a.b[?(@.t=~"^y+$")].c', [2]),
    ('$.a.b[?(@.t=~"(?i)^X$")].c', [1]),
    ('$.a.b[?(@.c=~"1")].c', []),
    ("$.a.b.`len`", [2]),
    ("$..missing", []),
    ("$.list[*][0]", [1, 3]),
]


@each(("path", "expected"), LIBRARY, ids=[row[0] for row in LIBRARY])
def test_full_paths(path: str, expected: list[Any]) -> None:
    assert find(VALUE, path) == expected


BAD = [
    ("", "parse error"),
    ("$.", "parse error"),
    ("$..", "parse error"),
    ("a[", "parse error"),
    ("$.a.b[?(@.c", "parse error"),
    ("$.a.b[(@.length-1)]", "parse error"),
    ("$['a", "unexpected EOF"),
    ("a b", ""),
    ("$.a.`nope`", ""),
    ('$.a.b[?(@.t=~"(?=x)")]', "look-ahead"),
    ("$.n * 1000000000", "arithmetic"),
    ('$["x y"].`sub(/x/, y)`', "arithmetic and sub"),
    ("$" + ".a" * MAX_PATH, f"longer than {MAX_PATH}"),
]


@each(("path", "reason"), BAD, ids=[row[0][:25] or "empty" for row in BAD])
def test_bad_paths_say_what_is_wrong(path: str, reason: str) -> None:
    with pytest.raises(JsonPathError, match=r"^Cannot use JSONPath `") as caught:
        find(VALUE, path)
    assert reason in caught.value.reason
    assert len(str(caught.value)) < 500


def chain(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


EXPENSIVE = [
    ("descents", chain(150), "$..*..*..*..*"),
    ("many descents", {}, "$" + "..a" * 9),
    ("indexes", [[1]], "$" + "[0,0]" * 40),
    ("names", {"a": {"a": 1}}, "$" + "['a','a']" * 40),
    ("unions", chain(30), "$" + ".(a|a)" * 25),
    ("nested filters", chain(150), "$..*[?(@..a[?(@..a)])]"),
    ("deep", chain(900), "$..zzz..a"),
]


@pytest.mark.filterwarnings("ignore:The `|`")
@pytest.mark.parametrize(("value", "path"), [row[1:] for row in EXPENSIVE], ids=[row[0] for row in EXPENSIVE])
def test_paths_that_would_take_forever_are_refused_at_once(value: Any, path: str) -> None:
    started = time.thread_time()
    with pytest.raises(JsonPathError, match=r"too slow|too many alternatives"):
        find(value, path)
    assert time.thread_time() - started < 10


def test_a_path_too_deep_for_the_library_is_an_error_of_ours() -> None:
    with pytest.raises(JsonPathError, match="nested too deeply"):
        find(chain(990), "$" + ".*" * 990)


@pytest.mark.filterwarnings("ignore:The `|`")
def test_work_within_the_bound_is_done() -> None:
    assert len(find(list(range(100_000)), "$..*")) == 100_000
    assert find({"a": 1, "b": 2}, "$.(a|b)") == [1, 2]


def test_a_deep_value_is_fine_for_a_plain_path() -> None:
    assert find(chain(400), ".".join(["a"] * 400)) == [1]


def test_a_pattern_that_would_backtrack_is_answered() -> None:
    assert find([{"t": "a" * 10_000 + "b"}], '$[?(@.t=~"(a|aa)+$")]') == []
