"""Positions in source maps: lookup agrees with one that decodes everything, and errors point at the line that throws."""

from __future__ import annotations

import json
import re

import pytest
from command import Application, MakeApplication
from hypothesis import given
from hypothesis import strategies as st

from scripttest.diagnostics.sources import SourceMap
from scripttest.results import Location

# against a straightforward reader

BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
Segment = tuple[int, int, int, int] | None
"""Source, line, column (from 0) that a generated column stands for, and its name; None for code of no source."""


def vlq(number: int) -> str:
    rest = -number << 1 | 1 if number < 0 else number << 1
    text = ""
    while True:
        digit, rest = rest & 31, rest >> 5
        text += BASE64[digit | (32 if rest else 0)]
        if not rest:
            return text


def encoded(lines: list[list[tuple[int, Segment]]], named: list[bool]) -> str:
    """The `mappings` of a map."""
    before = [0, 0, 0, 0]
    texts = []
    for line, has_names in zip(lines, named, strict=True):
        column, parts = 0, []
        for at, segment in line:
            numbers = [at - column]
            column = at
            if segment is not None:
                fields = segment if has_names else segment[:3]
                numbers += [field - last for field, last in zip(fields, before, strict=False)]
                before[: len(fields)] = fields
            parts.append("".join(map(vlq, numbers)))
        texts.append(",".join(parts))
    return ";".join(texts)


def naive(lines: list[list[tuple[int, Segment]]], line: int, column: int) -> Location | None:
    """The last segment of a source at or before a place of its line, else the first one behind it."""
    if line > len(lines):
        return None
    known = [(at, segment) for at, segment in lines[line - 1] if segment is not None]
    before = [segment for at, segment in known if at < column]
    found = before[-1] if before else known[0][1] if known else None
    return Location(file=f"{found[0]}.ts", line=found[1] + 1, column=found[2] + 1) if found else None


large = st.one_of(st.integers(0, 40), st.sampled_from([31, 32, 1023, 1024, 2**15, 2**20]))
segments = st.one_of(st.none(), *[st.tuples(st.integers(0, 3), large, large, large)] * 4)


@st.composite
def generated_lines(draw: st.DrawFn) -> list[tuple[int, Segment]]:
    columns = draw(st.lists(large, max_size=6, unique=True))
    return [(column, draw(segments)) for column in sorted(columns)]


@given(st.lists(generated_lines(), min_size=1, max_size=6), st.data())
def test_every_position_leads_where_decoding_the_whole_map_leads(
    lines: list[list[tuple[int, Segment]]], data: st.DataObject
) -> None:
    named = data.draw(st.lists(st.booleans(), min_size=len(lines), max_size=len(lines)))
    document = {"version": 3, "sources": [f"{n}.ts" for n in range(4)], "mappings": encoded(lines, named)}
    found = SourceMap(json.dumps(document).encode())
    columns = {1, *(at + shift for line in lines for at, _ in line for shift in (0, 1, 2))} - {0}
    places = [(line, column) for line in range(1, len(lines) + 3) for column in sorted(columns)]
    for line, column in data.draw(st.permutations(places)):
        assert found.find(line, column) == naive(lines, line, column)


# end to end

NOISE = [
    "type Pair<A, B = unknown> = { a: A; b?: B };",
    "interface Shape<T extends object = {}> { readonly kind: T; area?(): number }",
    "/* a comment\n   of several lines */",
    "// one line: throw new Error('no')",
    "enum Colour { Red = 1, Green = 'g', Blue = 2 }",
    "namespace Deep.Inner { export const value: number = 1; }",
    "declare const somewhere: { else: string };",
    "const text = `template ${1 + 1}\nover lines`;",
    "class Box<T> { constructor(private readonly item: T, public n = 1) {} get(): T { return this.item; } }",
    "function generic<const T extends readonly unknown[]>(items: T): T[number] | undefined { return items[0]; }",
    "abstract class Base { abstract go(): void; static #count = 0; declare x: number }",
    "const arrow = async <T,>(x: T): Promise<T> => x;",
    "let optional = ({} as any)?.a?.b ?? 'é😀 中';",
    "const { a = 1, ...others } = { b: 2 } as Record<string, number>;",
    "label: for (const i of [1, 2]) { if (i) continue label; }",
    "const sat = { x: 1 } satisfies object;",
    "",
    "\t",
    "export const later = /[\"'`]/.test('a');",
]
BEFORE = [
    "",
    "  ",
    "\t",
    "/* é😀 */ ",
    "const q = '中'; ",
    "((x: number): void => {})(1); ",
    "if (1 as any) ",
    "for (const _ of [1]) ",
    "{ ",
]
WAYS = [
    "throw new Error('HERE');",
    "throw (new Error('HERE') as Error);",
    "throw new Error('HERE')",
    "null!.here;",
    "undefinedName<string>();",
    "t.assert.Equal<number>(1, 2);",
    "t.assert\n    .True(false);",
    "[3].forEach((n: number) => { throw new TypeError('HERE ' + n); });",
    "(() => { throw new Error('HERE'); })();",
    "t.fatal('HERE');",
]


def program(data: st.DataObject, tests: int) -> tuple[str, dict[str, range]]:
    """TypeScript with tests that fail, and the lines (from 1) on which each may be said to."""
    lines: list[str] = data.draw(st.lists(st.sampled_from(NOISE[2:4] + NOISE[16:18]), max_size=3))
    where: dict[str, range] = {}
    for number in range(tests):
        lines += data.draw(st.lists(st.sampled_from(NOISE[2:4] + NOISE[16:18]), max_size=2))
        lines.append(
            f"export {data.draw(st.sampled_from(['', 'async ']))}function Test{number}(t: testing.T, ctx?: unknown) {{"
        )
        lines += ["  " + noise for noise in data.draw(st.lists(st.sampled_from(INSIDE), max_size=3, unique=True))]
        before = data.draw(st.sampled_from(BEFORE))
        way = data.draw(st.sampled_from(WAYS))
        at = "\n".join(lines).count("\n") + 2
        where[f"Test{number}"] = range(at, at + way.count("\n") + 1)
        lines += [f"  {before}{way}" + (" }" if before == "{ " else ""), "}"]
    top = [noise for noise in NOISE if noise not in INSIDE]
    lines += data.draw(st.lists(st.sampled_from(top), max_size=4, unique=True))
    return "\n".join(lines) + "\n", where


INSIDE = [noise for noise in NOISE if not re.match(r"export|namespace|declare|enum", noise)]
"""What may stand in a function."""


@pytest.mark.parametrize("seed", range(3))
def test_a_failure_is_told_with_the_line_that_fails(app: MakeApplication, seed: int) -> None:
    found: list[tuple[str, dict[str, range]]] = []

    @given(st.data())
    def make(data: st.DataObject) -> None:
        found.append(program(data, 4))

    make()
    files = {f"m{number}_test.ts": text for number, (text, _) in enumerate(found[seed::3])}
    here: Application = app(files)
    results = here.results("-i", "scripts.demo", code=1)
    for number, (text, where) in enumerate(found[seed::3]):
        for test, lines in where.items():
            record = results[f"m{number}.{test}"]
            assert record["status"] == "failed"
            trace = record.get("stack_trace") or ""
            assertion = record.get("assertion") or {}
            told = re.search(rf"m{number}_test\.ts:(\d+):(\d+)", json.dumps([assertion.get("location"), trace, record]))
            assert told, (record, text)
            assert int(told[1]) in lines, (told[0], lines, record, text)
