"""What a failed comparison says: the two sides never look the same, and the place where they differ is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import MakeApplication, Record
from table_tests import each

from runner.look_alikes import PAIRS

Both = tuple[str, str, str]

LOOK_ALIKE: dict[str, Both] = {
    # actual, expected, what tells them apart
    "no-break space": ('"a\\u00a0b"', '"a b"', r'+ "a\\u00a0b"'),
    "zero width": ('"a\\u200bb"', '"ab"', r'+ "a\\u200bb"'),
    "byte order mark": ('"\\ufeffa"', '"a"', r'+ "\\ufeffa"'),
    "right to left": ('"a\\u202eb"', '"ab"', r'+ "a\\u202eb"'),
    "soft hyphen": ('"a\\u00adb"', '"ab"', r'+ "a\\u00adb"'),
    "joiner": ('"a\\u200db"', '"ab"', r'+ "a\\u200db"'),
    "ideographic space": ('"a\\u3000b"', '"a b"', r'+ "a\\u3000b"'),
    "Cyrillic": ('"p\\u0430y"', '"pay"', r'+ "p\\u0430y"'),
    "Cyrillic both ways": ('"\\u0430a"', '"a\\u0430"', r'- "a\\u0430"'),
    "Greek": ('"\\u039fK"', '"OK"', r'+ "\\u039fK"'),
    "full width": ('"\\uff11"', '"1"', r'+ "\\uff11"'),
    "dash": ('"1\\u20132"', '"1-2"', r'+ "1\\u20132"'),
    "quotes": ('"it\\u2019s"', '"it\'s"', r'+ "it\\u2019s"'),
    "composed": ('"caf\\u00e9"', '"cafe\\u0301"', r'- "cafe\\u0301"'),
    "sign and letter": ('"\\u212b"', '"\\u00c5"', r'+ "\\u212b"'),
    "trailing blank": ('"a "', '"a"', '+ "a "'),
    "tab": ('"a\\tb"', '"a b"', r'+ "a\tb"'),
    "line ends": ('"a\\r\\nb"', '"a\\nb"', r'+ "a\r"'),
    "empty": ('" "', '""', '- ""'),
    "number and text": ("1", '"1"', '- "1"'),
    "number and BigInt": ("1n", "1", "actual: 1n"),
    "boxed": ("new Number(1)", "1", "+ Number(1)"),
    "in an object": ('({ a: "p\\u0430y" })', '({ a: "pay" })', r'+   a: "p\\u0430y"'),
    "as a key": ('({ "p\\u0430y": 1 })', "({ pay: 1 })", r"\\u0430"),
    "functions": ("(() => 1)", "(() => 1)", "another function with the same source"),
    "functions of other sources": ("(() => 1)", "(() => 2)", "[Function]: () => 2"),
    "symbols": ('Symbol("x")', 'Symbol("x")', "another symbol with the same description"),
    "registered symbol": ('Symbol.for("x")', 'Symbol("x")', "Symbol.for(x)"),
    "classes": ("new (class P { x = 1 })()", "new (class P { x = 1 })()", "of another class with the same name"),
    "instance": ("new (class P { x = 1 })()", "({ x: 1 })", "+ P {"),
    "nested instance": ("({ a: [new (class P { x = 1 })()] })", "({ a: [{ x: 1 }] })", "P {"),
    "promises": ("[Promise.resolve(1)]", "[Promise.resolve(1)]", "another object"),
    "getters that throw": (
        "({ get a() { throw new Error('no') } })",
        "({ get a() { throw new Error('no') } })",
        "objects that throw when read",
    ),
    "proxies that throw": (
        "new Proxy({}, { ownKeys() { throw 1 }, getPrototypeOf() { throw 2 } })",
        "new Proxy({}, { ownKeys() { throw 1 }, getPrototypeOf() { throw 2 } })",
        "objects that throw when read",
    ),
    "invalid date": ("new Date(NaN)", "new Date(0)", "Date(Invalid)"),
    "typed arrays": ("new Uint8Array([1])", "new Int8Array([1])", "Uint8Array(1)"),
    "deep": ("deep(1)", "deep(2)", "first difference at .n.n"),
    "long list": ("list(4000)", "list(-1)", "first difference at [3999]"),
    "big map": (
        "new Map(list(0).map((n, i) => [i, n]))",
        "new Map(list(1).map((n, i) => [i, n]))",
        "first difference at .get(3999)",
    ),
    "big set": ("new Set(list(0.5))", "new Set(list(0.25))", "0.25"),
}
"""Whose printed forms would be the same, or nearly."""

EQUAL_LOOKS = {
    "Chinese": ('"您好"', '"你好"', '+ "您好"'),
    "accents": ('"é"', '"è"', '+ "é"'),
    "Russian": ('"привет hello"', '"привет hellp"', '+ "привет hello"'),
    "emoji": ('"❤️ a"', '"❤️ b"', '+ "❤️ a"'),
}
"""Texts that anybody can tell apart, and that stay as they are."""

SCRIPT = """
const deep = (end: any) => { let value = end; for (let i = 0; i < 60; i++) value = { n: value }; return value; };
const list = (last: number) => Array.from({ length: 5000 }, (_, i) => (i === 3999 ? last : i));
"""


@pytest.fixture(scope="module")
def said(shared_app: MakeApplication) -> dict[str, str]:
    """The console output about each comparison."""
    tests = [
        f"export function Test{number}(t: any) {{ t.assert.Equal({actual}, {expected}); }}"
        for number, (actual, expected, _) in enumerate((LOOK_ALIKE | EQUAL_LOOKS).values())
    ]
    run = shared_app({"pairs_test.ts": SCRIPT + "\n".join(tests)}).run("-i", "scripts.demo.pairs", "--no-color")
    parts = re.split(r"^► \[Test(\d+)\] \.\.\.$", run.stdout, flags=re.MULTILINE)
    texts = dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))
    return {
        name: re.sub(r"(?m)^.*\d+ \|.*$", "", texts[number]) for number, name in enumerate(LOOK_ALIKE | EQUAL_LOOKS)
    }


@each("what", LOOK_ALIKE | EQUAL_LOOKS)
def test_the_two_sides_never_look_the_same(said: dict[str, str], what: str) -> None:
    text = said[what]
    telling = (LOOK_ALIKE | EQUAL_LOOKS)[what][2]
    assert telling.replace("\\\\u", "\\u") in text
    sides = [re.findall(rf"^ *(?:{sign}) (.*)$", text, re.MULTILINE) for sign in ("expected:|-", "actual:|\\+")]
    assert sides[0] != sides[1] and (sides[0] or sides[1])


def failure(app: MakeApplication, body: str, *more: str) -> str:
    run = app({"one_test.ts": f"export function TestOne(t: any) {{\n{body}\n}}"}).run("-i", "scripts.demo.one", *more)
    assert run.code == 1
    return run.stdout[run.stdout.index("► [TestOne]") :]


def test_a_long_line_is_shown_around_the_place_and_the_place_is_marked(app: MakeApplication) -> None:
    text = failure(
        app, 't.assert.Equal("x".repeat(50000) + "A" + "y".repeat(500), "x".repeat(50000) + "B" + "y".repeat(500));'
    )
    lines = text.split("\n")
    expected = next(line for line in lines if line.lstrip().startswith("- ..."))
    actual = next(line for line in lines if line.lstrip().startswith("+ ..."))
    mark = next(line for line in lines if line.strip() == "^")
    assert "first difference at character 50000" in text
    assert (expected[mark.index("^")], actual[mark.index("^")]) == ("B", "A")
    assert max(map(len, lines[: lines.index(mark)])) < 400


@pytest.mark.parametrize("lines", [300, 3000, 60000])
def test_each_place_where_long_texts_differ_is_shown(app: MakeApplication, lines: int) -> None:
    text = failure(
        app,
        f"const lines = Array.from({{ length: {lines} }}, (_, i) => 'line ' + i);"
        "const other = [...lines]; other[10] = 'near'; other.splice(lines.length - 20, 1, 'far', 'farther');"
        "t.assert.Equal(other.join('\\n'), lines.join('\\n'));",
    )
    changes = [line.strip() for line in text.split("\n") if re.match(r" +[-+] (?!expected)", line)]
    assert changes == ["- line 10", "+ near", f"- line {lines - 20}", "+ far", "+ farther"]
    assert len(text) < 3000


def test_lines_that_look_the_same_are_told_apart(app: MakeApplication) -> None:
    text = failure(
        app,
        r't.assert.Equal("a\n\tif x\nb \np\u0430y" + "\nlong".repeat(20), "a\n    if x\nb\npay" + "\nlong".repeat(20));',
    )
    changes = [line.strip() for line in text.split("\n") if re.match(r" +[-+] (?!expected)", line)]
    assert r'+ "\tif x"' in changes and '- "    if x"' in changes
    assert '+ "b "' in changes and r"+ p\u0430y" in changes


def test_a_long_line_among_others_is_shown_around_the_place(app: MakeApplication) -> None:
    text = failure(app, 'const x = "x".repeat(9000); t.assert.Equal(`a\\n${x}1${x}\\nb`, `a\\n${x}2${x}\\nb`);')
    changes = [line.strip() for line in text.split("\n") if re.match(r" +[-+] (?!expected)", line)]
    assert [
        len(line) < 500 and ("1" in line, "2xxx" in line)[side] for side, line in zip((1, 0), changes, strict=True)
    ] == [True, True]


@pytest.mark.parametrize("check", ['Contains("p\\u0430y now", "pay")', 'Contains(["p\\u0430y"], "pay")'])
def test_other_checks_tell_their_values_apart(app: MakeApplication, check: str) -> None:
    assert "\\u0430" in failure(app, f"t.assert.{check};").split("at assistants")[0]


@pytest.mark.parametrize("item", ["() => 1", 'Symbol("x")', "new (class P { x = 1 })()"])
def test_an_item_that_is_printed_alike_is_told_from_what_was_searched(app: MakeApplication, item: str) -> None:
    text = failure(app, f"t.assert.Contains([1, {item}], {item});")
    assert "another" in text.split("at assistants")[0]


def test_every_report_tells_the_two_sides_apart(app: MakeApplication) -> None:
    here = app({"one_test.ts": 'export function TestOne(t: any) {\n  t.assert.Equal("p\\u0430y", "pay");\n}'})
    reports = [here.home / f"out.{kind}" for kind in ("xml", "md", "txt", "html")]
    here.run("-i", "scripts.demo.one", *[word for report in reports for word in ("-o", str(report))])
    for report in reports[:2]:
        assert "p\\u0430y" in report.read_text("utf-8").replace("\\\\", "\\"), report.name


def annotation(app: MakeApplication, body: str) -> str:
    here = app({"one_test.ts": f"export function TestOne(t: any) {{\n{body}\n}}"})
    run = here.run("-i", "scripts.demo.one", env=here.environment | {"GITHUB_ACTIONS": "true"})
    return next(line for line in run.stdout.split("\n") if line.startswith("::error "))


@pytest.mark.parametrize(
    ("check", "parts"),
    [
        ('Equal(1, 2, "my words")', ["my words", "expected: 2%0A", "actual: 1"]),
        ('Equal("100%\\n::error::x", "b")', ["- b%0A+ 100%25%0A+ ::error::x"]),
        ('Equal("p\\u0430y", "pay")', ['+ "p\\u0430y"']),
        ('Equal("1", 1)', ['+ "1"', "- 1%0A"]),
        ('Equal("a ", "a")', ['+ "a "', '- "a"']),
        ('Equal("x".repeat(9000) + 1, "x".repeat(9000) + 2)', ['xx2"%0A', 'xx1"']),
        ("Equal(() => 1, () => 1)", ["another function with the same source"]),
        ("True(0)", ["actual: 0"]),
    ],
)
def test_annotations_carry_expected_and_actual(app: MakeApplication, check: str, parts: list[str]) -> None:
    text = annotation(app, f"  t.assert.{check};")
    assert "file=" in text and "line=2" in text
    for part in parts:
        assert part in text


def test_the_annotation_of_an_error_carries_its_fields_and_causes(app: MakeApplication) -> None:
    text = annotation(app, 'throw Object.assign(new Error("a", { cause: new Error("b") }), { code: 7 });')
    assert "%0A  code: 7" in text and "%0A  caused by b%0A    at assistants/demo/src/one_test.ts:2:" in text


def test_the_annotation_of_a_score_carries_what_its_assertions_compared(app: MakeApplication) -> None:
    checks = [{"type": "equals", "value": "p\u0430y"}, {"type": "contains", "value": "bill"}]
    turns = [{"input": "a", "assertions": checks}, {"input": "b", "assertions": [{"type": "contains", "value": "pay"}]}]
    here = app(agent(replies="- reply: pay", cases=[{"id": "one", "mode": "conversation", "turns": turns}]))
    run = here.run("-i", case_file(), env=here.environment | {"GITHUB_ACTIONS": "true"})
    text = next(line for line in run.stdout.split("\n") if line.startswith("::error "))
    assert text.split("%0A")[1:] == [
        "turn 1, equals:",
        "- expected + actual",
        '- "p\\u0430y"',
        '+ "pay"',
    ]


def test_annotations_are_bounded(app: MakeApplication) -> None:
    assert len(annotation(app, '  t.assert.Equal("x".repeat(90000), "y".repeat(90000));')) < 6000


def test_a_record_names_the_values_as_they_are(app: MakeApplication) -> None:
    results = app({"one_test.ts": 'export function TestOne(t: any) { t.assert.Equal("a\\u200bb", "ab"); }'}).results(
        "-i", "scripts.demo.one", code=1
    )
    assertion: Record = results["TestOne"]["assertion"]
    assert (assertion["expected"], assertion["actual"]) == ("ab", "a\u200bb")


def test_scripts_and_reports_know_the_same_look_alikes() -> None:
    source = (Path(__file__).parents[3] / "bindings/src/explain/look-alikes.ts").read_text("utf-8")
    literals = re.search(r"const pairs =\n(.*?);\n", source, re.DOTALL)
    assert literals is not None
    assert "".join(json.loads(line.strip(" +")) for line in literals[1].split("\n")) == PAIRS


@pytest.mark.parametrize(
    ("reply", "assertion", "telling"),
    [
        ("p\u0430y", {"type": "equals", "value": "pay"}, "p\\u0430y"),
        ("a\u200bb", {"type": "contains", "value": "ab"}, "a\\u200bb"),
        ("cafe\u0301", {"type": "equals", "value": "caf\u00e9"}, "cafe\\u0301"),
        ("1\u00a0000", {"type": "contains", "value": "1 000"}, "1\\u00a0000"),
        ("您好", {"type": "equals", "value": "你好"}, "您好"),
    ],
)
def test_a_case_tells_the_two_sides_apart(app: MakeApplication, reply: str, assertion: Record, telling: str) -> None:
    case = {"id": "one", "input": "x", "assert": assertion}
    here = app(agent(replies=json.dumps([{"reply": reply}], ensure_ascii=False), cases=[case]))
    run = here.run("-i", case_file(), "-o", str(here.home / "out.json"), "--no-color")
    message = next(line for line in run.stdout.split("\n") if "Expected the output" in line)
    assert run.code == 1 and telling in message
