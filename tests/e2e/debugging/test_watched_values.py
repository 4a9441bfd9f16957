"""`--watch-expr` and `t.watch`: values, each time that a place is passed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import agent, case_file, server
from command import Application, MakeApplication
from table_tests import each

from scripttest import Watch, Watching

TALLY = """\
import { Limit } from "./limit";

export interface Row { price: number }
export async function Tally(rows: Row[], sum?: any) {
  let total = 0
  for (const row of rows) {
    if (row.price > Limit) break;
    total += row.price;
  }
  const names = rows
    .map((row) => row.price)
    .join();
  if (total > 100)
    total = 100;
  return (
    total
  );
}
export class Odd {
  get price() { throw new Error("read"); }
  toJSON() { throw new Error("read"); }
  twice(n: number) {
    return n * 2;
  }
}
"""
TEST = """\
import { Odd, Tally } from "./tally";
export async function TestTally(t: testing.T) {
  const total = await t.watch(Tally([{ price: 4 }, { price: 5 }, { price: 11 }]));
  t.run("inner", (t) => t.watch(total + 1, "next"));
  const odd = t.watch(new Odd());
  t.assert.Equal([odd.twice(total), t.watch([")", { a: 1 }], "list")[0]], [18, ")"]);
}
export function TestOther(t: testing.T) { t.assert.True(true); }
"""
FILES = {"limit.ts": "export const Limit = 10;\n", "tally.ts": TALLY, "tally_test.ts": TEST}
FILE = "assistants/demo/src/tally.ts"


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(FILES)


def watched(here: Application, *watches: str, run: str = "^TestTally$") -> list[str]:
    words = [word for watch in watches for word in ("--watch-expr", f"{FILE}:{watch}")]
    done = here.run("-i", "scripts.demo.tally", "--run", run, *words, "--json")
    (result,) = json.loads(done.stdout)["results"]
    assert (done.code, result["status"], done.stderr) == (0, "passed", "")
    return [line for line in result.get("logs", ()) if line.startswith(f"[watch] {FILE}")]


@each(
    ("watch", "values"),
    [
        ("4:rows.length", ["3"]),
        ("5:total", ["0"]),
        ("6:row.price", ["4", "5", "11"]),
        ("7:total", ["0", "4", "9"]),
        ("8:total", ["4", "9"]),
        ("11:names", ['"4,5,11"']),
        ("15:total", ["9"]),
        ("22:this", ["Odd {}"]),
        ("23:n", ["9"]),
    ],
)
def test_an_expression_is_printed_each_time_that_its_line_is_passed(
    here: Application, watch: str, values: list[str]
) -> None:
    name = watch.replace(":", " ", 1)
    assert watched(here, watch) == [f"[watch] {FILE}:{name} = {value}" for value in values]


def test_several_watches_and_what_an_expression_throws(here: Application) -> None:
    assert watched(here, "5:total", "5:nothing", "8:({ total })") == [
        f"[watch] {FILE}:5 total = 0",
        f"[watch] {FILE}:5 nothing throws ReferenceError: nothing is not defined",
        f"[watch] {FILE}:8 ({{ total }}) = {{total: 4}}",
        f"[watch] {FILE}:8 ({{ total }}) = {{total: 9}}",
    ]
    assert watched(here, "8:total", run="^TestOther$") == []


def test_coverage_counts_beside_watches_and_what_is_not_passed_is_told(app: MakeApplication) -> None:
    handler = "export function Lot(n) {\n  if (n > 9)\n    return 9;\n  else n += 1;\n  return n;\n}\n"
    test = 'import { Lot } from "./lot";\nexport function TestLot(t) { t.assert.Equal(Lot(5), 6); }\n'
    files = {"lot.ts": handler, "lot_test.ts": test, "/yao-test.toml": "coverage = true\n"}
    here, lot = app(files), "assistants/demo/src/lot.ts"
    words = [word for line in ("3:n", "4:n", "5:n + 1") for word in ("--watch-expr", f"{lot}:{line}")]
    run, plain = here.run("-i", "scripts.demo.lot", *words), here.run("-i", "scripts.demo.lot")

    assert (run.code, run.stderr) == (0, "")
    assert [line.strip() for line in run.stdout.splitlines() if line.strip().startswith((lot, "Warning"))] == [
        f"{lot}:4 n = 6",
        f"{lot}:5 n + 1 = 7",
        f"Warning: {lot}:3 n was never reached, so it has no value",
        covered := next(line.strip() for line in plain.stdout.splitlines() if line.strip().startswith(lot)),
    ]
    assert covered.endswith("  3")


def test_a_value_is_watched_in_a_test_and_returned(here: Application) -> None:
    text = here.run("-i", "scripts.demo.tally", "--run", "^TestTally$").stdout
    values = [line.strip() for line in text.splitlines() if "tally_test.ts:" in line]

    place = "assistants/demo/src/tally_test.ts"
    assert values == [
        f"{place}:3 Tally([{{ price: 4 }}, {{ price: 5 }}, {{ price: 11 }}]) = Promise {{<fulfilled>: 9}}",
        f"{place}:4 next = 10",
        f"{place}:5 new Odd() = Odd {{}}",
        f'{place}:6 list = [")", {{a: 1}}]',
    ]


REFUSED = {
    f"{FILE}:2:x": (f"there is no code on line 2\nHint: The nearest line with code is {FILE}:4",),
    f"{FILE}:9:x": (f"no code on line 9\nHint: The nearest line with code is {FILE}:8",),
    f"{FILE}:900:x": (f"The nearest line with code is {FILE}:23",),
    f"{FILE}:8:total +": ("Unexpected token",),
    f"{FILE}:8:await total": ("a watched expression cannot use await",),
    "assistants/demo/src/taly.ts:8:x": ("there is no file", 'Did you mean "tally.ts"?'),
    "x": ("it must be FILE:LINE:EXPRESSION",),
}


@each("watch", REFUSED)
def test_what_cannot_be_watched_is_said_before_anything_runs(here: Application, watch: str) -> None:
    run = here.run("-i", "scripts.demo.tally", "--watch-expr", watch)

    assert (run.code, run.stdout) == (2, "")
    assert all(part in run.stderr for part in REFUSED[watch]), run.stderr


def test_values_of_hooks_and_tools_belong_to_their_case(app: MakeApplication) -> None:
    hooks = "function Create(ctx, messages) {\n  const count = messages.length;\n  return { messages };\n}\n"
    replies = "- when: { tool: true }\n  reply: done\n- reply: { tool_calls: [look] }"
    tool = {"/scripts/desk.ts": "function Look() {\n  const seen = [1, 2];\n  return seen;\n}\n"}
    files = agent(
        package={"mcp": {"servers": ["desk"]}}, hooks=hooks, replies=replies, cases=[{"id": "a", "input": "Hi"}]
    )
    here = app(files | tool | server("desk", {"look": "scripts.desk.Look"}))
    words = ("--watch-expr", "assistants/demo/src/index.ts:2:count", "--watch-expr", "scripts/desk.ts:2:seen")
    run = here.run("-i", case_file(), *words)

    assert run.code == 0
    assert [line.strip() for line in run.stdout.splitlines() if " = " in line] == [
        "assistants/demo/src/index.ts:2 count = 1",
        "scripts/desk.ts:2 seen = [1, 2]",
    ]


def test_a_file_that_cannot_be_read_any_more_stays_as_it_is(tmp_path: Path) -> None:
    path, text = str(tmp_path / "a.ts"), b"const a = 1;\n"
    watching = Watching()
    assert watching.add(path, text, [Watch(line=1, expression="a", name="a")]) is None

    assert watching.instrument(path, text) is not None
    assert watching.instrument(path, b"const a = ;\n") is None
