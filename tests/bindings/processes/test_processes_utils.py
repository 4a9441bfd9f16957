"""`utils.*`, its old names below `xiang.*`, and `session.*`."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from bindings.errors import ProcessError
from bindings.policy import HostCall
from bindings.processes import call
from bindings.world import World

Run = Callable[..., Any]


TREE = [
    {"id": 1, "parent": 0, "n": "a"},
    {"id": 2, "parent": 1, "n": "b"},
    {"id": 3, "parent": 2, "n": "c"},
    {"id": 4, "parent": 99, "n": "d"},
    {"n": "no id", "parent": 0},
]
PLUCK = {
    "trade": {"key": "city", "value": "count", "items": [{"city": "B", "count": 32}, {"city": "S", "count": 20}]},
    "fee": {
        "key": "city",
        "value": "kinds",
        "items": [{"city": "B", "kinds": 6}, {"city": "X", "kinds": 3}, {"other": 1}],
    },
}

RESULTS: list[tuple[str, list[Any], Any]] = [
    ("utils.str.Join", [["a", 1, True, None, 1.5], "-"], "a-1-true-<nil>-1.5"),
    ("utils.str.Join", [[], ","], ""),
    ("utils.str.JoinPath", ["/a/", "b", "../c", "", "d.txt"], "/a/c/d.txt"),
    ("utils.str.JoinPath", ["a", 1], "a/1"),
    ("utils.str.JoinPath", ["/", "/a"], "/a"),
    ("utils.str.Concat", ["a", 1, [1, 2], {"b": 1, "a": None}], "a1[1 2]map[a:<nil> b:1]"),
    ("utils.str.Concat", [3.0, 1e20], "3100000000000000000000"),
    ("utils.str.Concat", [False, 1e21, b"\x01\x02"], "false1e+21[1 2]"),
    ("utils.str.Hex", ["hé"], "68c3a9"),
    ("utils.str.Hex", [b"\x00\xff"], "00ff"),
    ("utils.str.Hex", [5], None),
    ("utils.arr.Get", [["a", "b"], 1], "b"),
    ("utils.arr.Get", [["a", "b"], 2], None),
    ("utils.arr.Get", [["a", "b"], -1], None),
    ("utils.arr.Indexes", [["a", "b"]], [0, 1]),
    ("utils.arr.Column", [[{"a": 1}, {"b": 2}], "a"], [1, None]),
    ("utils.arr.Keep", [[{"a": 1, "b": 2}, {"b": 3}], ["a"]], [{"a": 1}, {"a": None}]),
    ("utils.arr.Split", [[{"a": 1, "b": 2}, {"b": 3}]], {"columns": ["a", "b"], "values": [[1, 2], [None, 3]]}),
    ("utils.arr.Split", [[]], {"columns": [], "values": []}),
    ("utils.arr.Unique", [["b", "a", "b", 1, "1", None]], ["b", "a", 1, None]),
    ("utils.arr.MapSet", [[{"a": 1}, {}], "k", "v"], [{"a": 1, "k": "v"}, {"k": "v"}]),
    (
        "utils.arr.Pluck",
        [["city", "trade", "fee"], PLUCK],
        [
            {"city": "B", "trade": 32, "fee": 6},
            {"city": "S", "trade": 20, "fee": None},
            {"city": "X", "fee": 3, "trade": None},
        ],
    ),
    (
        "utils.arr.Tree",
        [TREE],
        [
            {
                "children": [{"children": [{"children": [], **TREE[2]}], **TREE[1]}],
                **TREE[0],
            },
            {"children": [], **TREE[3]},
        ],
    ),
    (
        "utils.arr.Tree",
        [
            [{"k": "a", "up": ""}, {"k": "b", "up": "a"}],
            {"primary": "k", "parent": "up", "children": "sub", "empty": ""},
        ],
        [{"sub": [{"sub": [], "k": "b", "up": "a"}], "k": "a", "up": ""}],
    ),
    ("utils.arr.Tree", [[{"id": 1, "parent": 2}, {"id": 2, "parent": 1}]], []),
    (
        "utils.arr.Tree",
        [[{"id": 1, "parent": 0, "children": ["x"]}, {"id": 2, "parent": 1}, {"id": 3, "parent": 0, "children": 5}]],
        [
            {"children": ["x", {"children": [], "id": 2, "parent": 1}], "id": 1, "parent": 0},
            {"children": 5, "id": 3, "parent": 0},
        ],
    ),
    ("utils.arr.Tree", [[{"id": 1, "parent": 3}, {"id": 2, "parent": 1}, {"id": 3, "parent": 2}]], []),
    ("utils.arr.Tree", [[{"id": 1, "parent": 1}, {"id": 5, "parent": 0}]], [{"children": [], "id": 5, "parent": 0}]),
    ("utils.map.Get", [{"a": {"b": [{"c": 1}]}, "a.b": 2}, "a.b"], 2),
    ("utils.map.Get", [{"a": {"b": [{"c": 1}]}}, "a.b[0].c"], 1),
    ("utils.map.Get", [{"a": 1}, "b"], None),
    ("utils.map.Set", [{"a": 1}, "b.c", 2], {"a": 1, "b.c": 2}),
    ("utils.map.Del", [{"a": 1, "b": 2}, "a"], {"b": 2}),
    ("utils.map.DelMany", [{"a": 1, "b": 2, "c": 3}, "a", "c"], {"b": 2}),
    ("utils.map.DelMany", [{"a": 1, "b": 2, "c": 3}, ["a", "c"]], {"b": 2}),
    ("utils.map.Keys", [{"b": 1, "a": 2}], ["b", "a"]),
    ("utils.map.Values", [{"b": 1, "a": 2}], [1, 2]),
    ("utils.map.Array", [{"b": 1}], [{"key": "b", "value": 1}]),
    (
        "utils.tree.Flatten",
        [[{"id": 1, "children": [{"id": 2, "children": [{"id": 3}]}]}, 5, {"id": 4}]],
        [{"id": 1, "parent": None}, {"id": 2, "parent": 1}, {"id": 3, "parent": 2}, {"id": 4, "parent": None}],
    ),
    (
        "utils.tree.Flatten",
        [[{"k": 1, "sub": [{"k": 2}]}], {"primary": "k", "children": "sub", "parent": "up"}],
        [{"k": 1, "up": None}, {"k": 2, "up": 1}],
    ),
    ("utils.url.ParseQuery", ["a=1&b=2&c=3&c=%204&d="], {"a": ["1"], "b": ["2"], "c": ["3", " 4"], "d": [""]}),
    ("utils.url.ParseQuery", ["?a=1"], {"a": ["1"]}),
    (
        "utils.url.ParseURL",
        ["http://u:p@www.example.com:8080/a%20b?q=x&q=y"],
        {
            "scheme": "http",
            "host": "www.example.com:8080",
            "domain": "www.example.com",
            "path": "/a b",
            "port": "8080",
            "query": {"q": ["x", "y"]},
            "url": "http://u:p@www.example.com:8080/a%20b?q=x&q=y",
        },
    ),
    (
        "utils.url.ParseURL",
        ["/only/path"],
        {"scheme": "", "host": "", "domain": "", "path": "/only/path", "port": "", "query": {}, "url": "/only/path"},
    ),
    (
        "utils.url.QueryParam",
        [{"where.name.eq": "yao", "select": "id, name", "order": "id.desc,name", "with": "mother", "page": 1}],
        {
            "wheres": [{"column": "name", "value": "yao", "method": "where", "op": "eq"}],
            "select": ["id", "name"],
            "orders": [{"column": "id", "option": "desc"}, {"column": "name", "option": "asc"}],
            "withs": {"mother": {"name": "mother", "query": {}}},
        },
    ),
    (
        "utils.url.QueryParam",
        [{"wherein.m.age.in": [1, 2], "group.g.where.a.gt": 1, "group.g.orwhere.b.null": "", "m.select": "x"}],
        {
            "wheres": [
                {"rel": "m", "column": "age", "value": ["1", "2"], "method": "wherein", "op": "in"},
                {
                    "wheres": [
                        {"column": "a", "value": "1", "method": "where", "op": "gt"},
                        {"column": "b", "value": "", "method": "orwhere", "op": "null"},
                    ]
                },
            ],
            "withs": {"m": {"name": "m", "query": {"select": ["x"]}}},
        },
    ),
    ("utils.url.QueryParam", [{"where.name.nope": 1, "x": 2}], {}),
    (
        "utils.url.QueryParam",
        [{"select": [], "order": "desc,.desc"}],
        {"select": [""], "orders": [{"column": "desc", "option": "asc"}, {"column": ".desc", "option": "asc"}]},
    ),
    ("utils.json.Validate", [{"a": {"b": 1}}, [{"haskey": "a.b"}]], True),
    ("utils.json.Validate", [{"a": {"b": 1}}, [{"haskey": "a"}, {"haskey": "c"}]], False),
    ("utils.json.Validate", [[1], [{"haskey": "a"}]], False),
    ("utils.json.Validate", [{"a": 1}, [{"haskey": 5}]], False),
    ("utils.flow.Return", [1, "a"], [1, "a"]),
    ("utils.time.Sleep", [0], None),
    ("utils.env.Get", ["SHOWN"], "yes"),
    ("utils.env.Get", ["PATH"], ""),
    ("utils.env.GetMany", ["SHOWN", "HOME"], {"SHOWN": "yes", "HOME": ""}),
    ("xiang.helper.ArrayGet", [["a"], 0], "a"),
    ("xiang.helper.MapSet", [{}, "a", 1], {"a": 1}),
    ("xiang.helper.MapMultiDel", [{"a": 1, "b": 2}, "a"], {"b": 2}),
    ("xiang.helper.MapToArray", [{"a": 1}], [{"key": "a", "value": 1}]),
    ("xiang.helper.StrConcat", ["a", "b"], "ab"),
    ("xiang.helper.HexToString", ["a"], "61"),
    ("xiang.helper.EnvGet", ["SHOWN"], "yes"),
    ("xiang.helper.EnvMultiGet", ["SHOWN"], {"SHOWN": "yes"}),
    ("xiang.flow.Sleep", [0], None),
]


@pytest.mark.parametrize(("name", "args", "expected"), RESULTS, ids=[f"{row[0]} {row[1]!r:.30}" for row in RESULTS])
def test_results(run: Run, name: str, args: list[Any], expected: Any) -> None:
    assert run(name, *args) == expected


FAILURES: list[tuple[str, list[Any], str, int]] = [
    ("utils.throw.BadRequest", [], "Bad Request", 400),
    ("utils.throw.Unauthorized", [], "Authentication required", 401),
    ("utils.throw.Forbidden", [], "Access denied", 403),
    ("utils.throw.NotFound", [], "Resource not found", 404),
    ("utils.throw.InternalError", [], "Internal Error", 500),
    ("utils.throw.NotFound", ["no such user"], "no such user", 404),
    ("utils.throw.Exception", ["teapot", 418], "teapot", 418),
    ("utils.throw.Exception", ["teapot"], "utils.throw.Exception: argument 2 must be a whole number, got nothing", 400),
    ("utils.flow.Throw", ["teapot", 418], "teapot", 418),
    ("xiang.helper.Throw", ["teapot", 418], "teapot", 418),
    ("utils.str.Concat", ["a"], "utils.str.Concat: argument 2 is missing", 400),
    ("utils.str.JoinPath", ["a"], "utils.str.JoinPath: argument 2 is missing", 400),
    ("utils.arr.Pluck", [["a"], {}], "utils.arr.Pluck: argument 1 must have at least two columns", 400),
    (
        "utils.arr.Pluck",
        [["a", "b"], {"b": 1}],
        'utils.arr.Pluck: argument 2 must have {key, value, items} as "b"',
        400,
    ),
    ("utils.arr.Tree", [[], {"parent": 1}], 'utils.arr.Tree: argument 2 must have a string as "parent"', 400),
    ("utils.map.DelMany", [{}, 1], "utils.map.DelMany: argument 2 must be a string, got number", 400),
    ("utils.time.Sleep", [-1], "utils.time.Sleep: argument 1 must be from 0 to 600000 milliseconds, got -1", 400),
    (
        "utils.time.Sleep",
        [600001],
        "utils.time.Sleep: argument 1 must be from 0 to 600000 milliseconds, got 600001",
        400,
    ),
    ("utils.url.ParseURL", ["http://a:b"], 'utils.url.ParseURL: "http://a:b" is not an address', 500),
    ("utils.env.GetMany", [], "utils.env.GetMany: argument 1 must be a string, got nothing", 400),
    ("utils.fmt.Print", [], "utils.fmt.Print: argument 1 is missing", 400),
]


@pytest.mark.parametrize(
    ("name", "args", "message", "code"), FAILURES, ids=[f"{row[0]} {row[1]!r:.30}" for row in FAILURES]
)
def test_failures(run: Run, name: str, args: list[Any], message: str, code: int) -> None:
    with pytest.raises(ProcessError) as caught:
        run(name, *args)
    assert caught.value.message.startswith(message)
    assert caught.value.code == code


def test_now_is_now(run: Run) -> None:
    before = time.time()
    stamp, milliseconds = run("utils.now.Timestamp"), run("utils.now.Timestampms")
    after = time.time()
    assert int(before) <= stamp <= after
    assert int(before * 1000) <= milliseconds <= after * 1000
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", run("utils.now.DateTime"))
    day = run("utils.now.Date")
    assert day in (time.strftime("%Y-%m-%d", time.localtime(before)), time.strftime("%Y-%m-%d"))
    assert re.fullmatch(r"[0-2]\d:[0-5]\d:[0-6]\d", run("utils.now.Time"))


def test_uuids_are_random(run: Run) -> None:
    first, second = run("utils.str.UUID"), run("utils.str.UUID")
    assert first != second
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", first)


def test_the_environment_can_be_set_for_the_test_only(
    run: Run, surroundings: HostCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIDDEN", "secret")
    assert run("utils.env.Get", "HIDDEN") == ""
    assert run("utils.env.Set", "HIDDEN", "mine") is None
    assert run("utils.env.SetMany", {"SHOWN": "no", "N": 5}) is None
    assert run("utils.env.GetMany", "HIDDEN", "SHOWN", "N") == {"HIDDEN": "mine", "SHOWN": "no", "N": "5"}
    assert __import__("os").environ["HIDDEN"] == "secret"
    assert call("utils.env.Get", ["SHOWN"], surroundings.replace(world=World(suite="", test=""))) == "yes"
    assert run("session.Dump") == {}


PRINTED: list[tuple[str, list[Any], str]] = [
    ("Print", ["a", 1, {"b": None}], "a 1 map[b:<nil>]"),
    ("Printf", ["100%"], "100%"),
    (
        "Printf",
        ["%s is %d years, %.1f%% %v|%5d|%-3s|", "Ann", 5, 99.55, [1], 7, "x"],
        "Ann is 5 years, 99.5% [1]|    7|x  |",
    ),
    ("Printf", ["%q %t %x %X %T", "a", True, "hi", 255, {}], '"a" true 6869 FF map[string]interface {}'),
    ("Printf", ["%d %s", "x"], "%!d(string=x) %!s(MISSING)"),
    ("Printf", ["%s", 1.5], "%!s(float64=1.5)"),
    ("Printf", ["a", "b", 1], "a%!(EXTRA string=b, int=1)"),
    ("Printf", ["%", "a"], "%!(NOVERB)%!(EXTRA string=a)"),
    ("Printf", ["%999999999d", 1], "%!d(BADWIDTH)"),
    ("ColorPrintf", ["red", "n=%d", 1], "n=1"),
]


@pytest.mark.parametrize(("name", "args", "expected"), PRINTED, ids=[repr(row[1]) for row in PRINTED])
def test_printing(run: Run, caplog: pytest.LogCaptureFixture, name: str, args: list[Any], expected: str) -> None:
    with caplog.at_level(logging.INFO, logger="yao_test.scripts"):
        assert run(f"utils.fmt.{name}", *args) is None
    assert [record.getMessage() for record in caplog.records] == [expected]


def test_session_keeps_values(run: Run, surroundings: HostCall) -> None:
    assert run("session.Get", "a") is None
    assert run("session.Set", "a", {"x": 1}) is None
    assert run("session.SetMany", {"b": 2, "c": 3}, 60) is None
    assert run("session.Get", "a") == {"x": 1}
    assert run("session.GetMany", ["b", "zz"]) == {"b": 2, "zz": None}
    assert run("session.Dump") == {"a": {"x": 1}, "b": 2, "c": 3}
    assert surroundings.world.session.items() >= {"b": 2, "c": 3}.items()
    run("session.Del", "a")
    run("session.DelMany", ["b", "zz"])
    assert run("session.Dump") == {"c": 3}


def test_sessions_of_other_ids_are_apart(run: Run) -> None:
    run("session.Set", "a", 1)
    run("session.Set", "a", 2, 60, "s2")
    run("session.SetMany", {"b": 3}, 60, "s2")
    assert [run("session.Get", "a"), run("session.Get", "a", "s2"), run("session.Get", "a", "s1")] == [1, 2, 1]
    assert run("session.GetMany", ["a", "b"], "s2") == {"a": 2, "b": 3}
    assert [run("session.Dump"), run("session.Dump", "s2"), run("session.Dump", "s3")] == [
        {"a": 1},
        {"a": 2, "b": 3},
        {},
    ]
    run("session.Del", "a", "s2")
    run("session.DelMany", ["b"], "s2")
    assert [run("session.Dump"), run("session.Dump", "s2")] == [{"a": 1}, {}]


def test_the_session_id(run: Run, surroundings: HostCall) -> None:
    assert run("session.ID") == "s1"
    assert call("session.ID", [], surroundings.replace(authorized={})) == "test-session"


@pytest.mark.parametrize(
    ("pattern", "text", "expected"), [("(?i)^ab", "ABC", True), ("b$", "ab\n", False), ("x", "abc", False)]
)
def test_regex_match(run: Run, pattern: str, text: str, expected: bool) -> None:
    assert run("regex.Match", pattern, text) is expected


def test_regex_and_jsonpath_failures_say_what_is_wrong(run: Run) -> None:
    with pytest.raises(ProcessError, match=r"^regex.Match: Cannot use pattern `\(`: missing `\)`") as caught:
        run("regex.Match", "(", "x")
    assert caught.value.code == 400
    with pytest.raises(ProcessError, match=r"^jsonpath.Find: Cannot use JSONPath `a\[`: parse error") as caught:
        run("jsonpath.Find", {}, "a[")
    assert caught.value.code == 400


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [({"a": [1, 2]}, "$.a[1]", [2]), ({"a": [1, 2]}, "$.a[*]", [1, 2]), (None, "$.a", []), (None, "$", [None])],
)
def test_jsonpath_find(run: Run, value: Any, path: str, expected: list[Any]) -> None:
    assert run("jsonpath.Find", value, path) == expected
