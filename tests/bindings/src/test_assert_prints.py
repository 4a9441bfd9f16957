"""How `t.assert` shows values and their differences."""

from __future__ import annotations

import json
from typing import Any

import pytest
from assert_realm import Realm
from assert_tables import DIFF, INSPECT


@pytest.fixture
def realm() -> Realm:
    return Realm()


@pytest.mark.parametrize(("expression", "text"), INSPECT, ids=lambda item: item[:60])
def test_inspect(realm: Realm, expression: str, text: str) -> None:
    assert realm.run(f"$.inspect({expression})") == text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("{depth: 1}", "{a: [Object], list: [Array(3)], map: [Map(1)]}"),
        ("{depth: 2}", "{a: {b: [Object]}, list: [0, 1, 2], map: Map(1) {1 => 2}}"),
        ("{items: 1}", "{a: {b: {c: 1}}, ... 2 more}"),
        ("{length: 26}", "{a: {b: {c: 1}}, list: [0, ... 2 more], ... 1 more}"),
    ],
)
def test_inspect_within_bounds(realm: Realm, options: str, text: str) -> None:
    assert realm.run(f"$.inspect({{a: {{b: {{c: 1}}}}, list: range(3), map: new Map([[1, 2]])}}, {options})") == text


def test_a_print_is_bounded(realm: Realm) -> None:
    for expression in (
        "{a: '\\u0001'.repeat(100000)}",
        "Array(99).fill(Array(99).fill('word'.repeat(9)))",
        "Array(99).fill(Array(99).fill(Array(99).fill([])))",
        "new Error('x'.repeat(1e6))",
        "Symbol('x'.repeat(1e6))",
        "10n ** 100000n",
        "/x/.constructor('x'.repeat(1e6))",
        "Object.fromEntries(range(99).map((i) => ['k'.repeat(1000) + i, i]))",
    ):
        assert len(realm.run(f"$.inspect({expression})")) < 20_100, expression


@pytest.mark.parametrize(("row", "text"), DIFF, ids=lambda item: item[:60])
def test_diff(realm: Realm, row: str, text: str) -> None:
    expected, actual = row.split(" | ")
    assert realm.run(f"$.diff({expected}, {actual})") == text


def test_the_way_to_a_deep_difference_reads_what_is_there_a_few_times() -> None:
    realm = Realm(
        "let reads = 0; const chain = (v) => { let o = { get v() { reads++; return v; } };"
        " for (let i = 0; i < 300; i++) o = { id: i, o }; return o; }"
    )

    assert realm.run("$.diff(chain(1), chain(2))").splitlines()[1:] == ["- 1", "+ 2"]
    assert realm.run("JSON.stringify(reads)") < 30


def test_a_long_diff_shows_the_start_of_both_sides(realm: Realm) -> None:
    lines = realm.run("$.diff(range(2000).join('\\n'), range(2000).map((i) => -i).join('\\n'))").split("\n")
    expected = [
        "  0",
        *(f"- {i}" for i in range(1, 101)),
        "- ... 1899 more lines",
        *(f"+ {-i}" for i in range(1, 101)),
        "+ ... 1899 more lines",
    ]
    assert lines == expected


def test_a_diff_is_bounded(realm: Realm) -> None:
    lines = realm.run("$.diff(range(399), range(399).map((i) => i % 2 ? i : -i - 1))").split("\n")
    assert (len(lines), lines[-1]) == (401, "  ... 201 more lines")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("{a: [1, 'x', null, true, {}], 'b c': -1.5e300}", {"a": [1, "x", None, True, {}], "b c": -1.5e300}),
        ("Object.create(null)", {}),
        ("[]", []),
        ("-0", 0),
        ("'\\ud800\\u0000\\n'", "\ud800\0\n"),
        ("'x'.repeat(16380)", "x" * 16380),
        ("deep(2, 1)", {"in": [{"in": [1]}]}),
    ],
)
def test_json_of_plain_values(realm: Realm, expression: str, value: Any) -> None:
    text = realm.run(f"$.json({expression})")
    assert (json.loads(text), realm.run(f"JSON.stringify(JSON.stringify({expression}))")) == (value, text)


@pytest.mark.parametrize(
    "expression",
    [
        *"undefined NaN Infinity 1n s f throws() hostile() revoked() cycle(1) deep(10000,1)".split(),
        *"[,1] [undefined] {a:undefined} {[s]:1}".split(),
        "deep(51, 1)",
        "new Point(1)",
        "new Date(0)",
        "new Map()",
        "new (class extends Array {})()",
        "Object.assign([], {x: 1})",
        "{toJSON() { return 1 }}",
        "{get a() { return 1 }}",
        "'x'.repeat(16400)",
        "range(5000)",
        "new Array(4e9)",
    ],
)
def test_json_of_other_values(realm: Realm, expression: str) -> None:
    assert realm.run(f"$.json({expression})") is None
