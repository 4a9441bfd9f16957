"""The positions in reports: of failures, of stacks, of what was called, as the sources have them."""

from __future__ import annotations

import json
import re

import pytest
from agent_files import agent, case_file
from command import MakeApplication, Record
from table_tests import each

AT = "assistants/demo/src/"


HELPER = """// a comment
export interface Options { deep: boolean }

export function check(value: number, options?: Options): number {
  if (value < 0) {
    fail();
  }
  return value;
}

function fail(): never {
  throw new RangeError("negative");
}

export class Checker<T extends number> {
  private readonly seen: T[] = [];

  run(): void {
    this.inner();
  }

  private inner(): void {
    fail();
  }
}

export const later = async (): Promise<void> => {
  await null;
  fail();
};
"""
POSITIONS = """import { check, Checker, later } from "./helper";
import type { Options } from "./helper";

enum Mode { One = 1, Two }

type Shape = { a: number };

export function TestHelper(t: any) {
  const value: number = -1 as number;
  check(value);
}

export function TestMethod(t: any) {
  new Checker<number>().run();
}

export async function TestAsync(t: any) {
  await later();
}

export function TestCallback(t: any) {
  [1].forEach((item: number) => {
    boom();
  });
}

function boom() {
  null!.x;
}

export function TestAssertion(t: any) {
  const { assert } = t;
  assert.True(
    Mode.Two === 1,
    "over several lines",
  );
}

export function TestAssertionInHelper(t: any) {
  expectOne(t);
}

function expectOne(t: any) {
  t.assert.Equal(2, 1);
}

export function TestSubtest(t: any) {
  t.run("inner", (t: any) => {
    t.assert.Nil(1);
  });
}

const wait = () => new Promise((done) => setTimeout(done, 1));

export async function TestSubtestThatWaits(t: any) {
  await t.each([1, 2], "row %d", async (t: any, row: number) => {
    await wait();
    t.assert.Equal(row, 1);
  });
}
"""
# The engine places a call with arguments at its last argument.
STACKS = {
    "TestHelper": ["fail helper.ts:12:13", "check helper.ts:6:5", "TestHelper a_test.ts:10:9"],
    "TestMethod": ["fail helper.ts:12:13", "inner helper.ts:23:5", "run helper.ts:19:10", "TestMethod a_test.ts:14:25"],
    "TestCallback": ["boom a_test.ts:28:3", "<anonymous> a_test.ts:23:5", "TestCallback a_test.ts:22:7"],
    "TestAssertion": ["TestAssertion a_test.ts:33:10"],
    "TestAssertionInHelper": ["expectOne a_test.ts:44:12", "TestAssertionInHelper a_test.ts:40:13"],
}


@pytest.fixture(scope="module")
def placed(shared_app: MakeApplication) -> dict[str, Record]:
    return shared_app({"a_test.ts": POSITIONS, "helper.ts": HELPER}).results("-i", "scripts.demo.a", code=1)


def stack(record: Record) -> list[str]:
    """The frames as `function file:line:column`."""
    frames = [re.fullmatch(rf"at (\S+) \({AT}(.*)\)", line) for line in record["stack_trace"].splitlines()]
    return [f"{frame[1]} {frame[2]}" for frame in frames if frame]


@each("test", STACKS)
def test_a_stack_has_the_positions_of_the_sources(placed: dict[str, Record], test: str) -> None:
    assert stack(placed[test]) == STACKS[test]
    assert placed[test]["location"] == AT + STACKS[test][0].split()[1]


def test_a_stack_of_async_functions_begins_where_it_was_thrown(placed: dict[str, Record]) -> None:
    assert stack(placed["TestAsync"])[:2] == ["fail helper.ts:12:13", "<anonymous> helper.ts:29:3"]
    assert not re.search(r"esbuild|__async|native|<input>", placed["TestAsync"]["stack_trace"])


def test_a_failure_in_a_subtest_has_its_own_position(placed: dict[str, Record]) -> None:
    (step,) = placed["TestSubtest"]["steps"]
    assert step["location"] == f"{AT}a_test.ts:49:14"


def test_a_subtest_that_waits_has_the_place_of_its_call_and_reports_name_what_failed_in_it(
    app: MakeApplication,
) -> None:
    here = app({"a_test.ts": POSITIONS, "helper.ts": HELPER})
    run = here.run("-i", "scripts.demo.a", "--run", "TestSubtestThatWaits", "--json", "-o", "r.xml")
    (failure,) = json.loads(run.stdout)["failures"]

    assert failure["stack_trace"] == f"at <anonymous> ({AT}a_test.ts:56:11)"
    assert (failure["line"], failure["column"]) == (58, 14)
    assert 'line="58"' in (here.root / "r.xml").read_text()
    assert f"({AT}a_test.ts:58:14)" in (here.root / "r.xml").read_text()


def test_the_script_alongside_has_its_own_positions(app: MakeApplication) -> None:
    here = app(
        {
            "a.ts": "// plain\n\nfunction Setup(x: number) {\n  const y = x as any;\n  return y.a.b;\n}\n",
            "a_test.ts": "function TestA(t) {\n  Setup(1);\n}\nfunction TestB(t) {\n  t.fail('x');\n}\n",
        }
    )
    results = here.results("-i", "scripts.demo.a", code=1)
    assert stack(results["TestA"]) == ["Setup a.ts:5:10", "TestA a_test.ts:2:3"]
    assert stack(results["TestB"]) == ["TestB a_test.ts:5:5"]


def test_a_syntax_error_in_an_import_is_placed_there(app: MakeApplication) -> None:
    here = app(
        {"a_test.ts": 'import { x } from "./b";\nexport function TestA(t) { x; }\n', "b.ts": "\nexport const x = (;\n"}
    )
    assert here.results("-i", "scripts.demo.a", code=1)["a"]["location"] == f"{AT}b.ts:2:19"


def test_the_code_frame_shows_the_lines_around_the_place(app: MakeApplication) -> None:
    code = "// one\n// two\n// three\nexport function TestA(t) {\n  const a = 1;\n\tt.assert.Equal(a, 2);\n}\n// eight\n// nine\n// ten\n"
    lines = app({"a_test.ts": code}).run("-i", "scripts.demo.a").stdout.splitlines()
    start = lines.index("       at assistants/demo/src/a_test.ts:6:11")
    assert lines[start + 1 : start + 8] == [
        "         4 | export function TestA(t) {",
        "         5 |   const a = 1;",
        "       > 6 | \tt.assert.Equal(a, 2);",
        "           | \t         ^^^^^",
        "         7 | }",
        "         8 | // eight",
        "  Rerun: yao-test -i scripts.demo.a --run '^TestA$'",
    ]


def test_the_console_names_the_callers(app: MakeApplication) -> None:
    here = app(
        {
            "a_test.ts": 'import { check } from "./helper";\nexport function TestA(t) {\n  check(-1);\n}\n',
            "helper.ts": HELPER,
        }
    )
    lines = here.run("-i", "scripts.demo.a").stdout.splitlines()
    start = lines.index("    └─ RangeError: negative")
    assert lines[start : start + 11] == [
        "    └─ RangeError: negative",
        "       at assistants/demo/src/helper.ts:12:13",
        "         10 |",
        "         11 | function fail(): never {",
        '       > 12 |   throw new RangeError("negative");',
        "            |             ^",
        "         13 | }",
        "         14 |",
        "       called from assistants/demo/src/helper.ts:6:5",
        "       called from assistants/demo/src/a_test.ts:3:3",
        "  Rerun: yao-test -i scripts.demo.a --run '^TestA$'",
    ]


CALLED = {
    "/scripts/outer.ts": """\
function call() {
  Process("scripts.inner.Fail", 1);
}
export function Run() {
  call();
}
""",
    "/scripts/inner.ts": """\
import { fail } from "./fail";
export async function Fail(number: number) {
  await null;
  fail(-1);
}
""",
    "/scripts/fail.ts": """\
export function fail(number: number): never {
  throw new RangeError("negative");
}
""",
    "/scripts/unloadable.ts": "export const first = 1;\nfirst.second.third;\nexport function Fn() {}\n",
}
"""Scripts that call each other by `Process`."""
CALLERS = [
    "       at scripts/fail.ts:2:13",
    "       called from scripts/inner.ts:4:3",
    "       called from scripts/outer.ts:2:3",
    "       called from scripts/outer.ts:5:3",
]


def places_in(stdout: str) -> list[str]:
    found = [line.strip() for line in stdout.splitlines() if line.startswith("     ")]
    return [f"       {line}" for line in found if line.startswith(("at ", "called from "))]


def test_a_failure_in_a_script_that_was_called_is_where_it_is(app: MakeApplication) -> None:
    code = """\
export function TestTwice(t) {
  Process("scripts.outer.Run");
}
export function TestCaught(t) {
  t.assert.Panic(() => Process("scripts.outer.Run"), "negative");
  Process("scripts.unloadable.Fn");
}
"""
    run = app({"a_test.ts": code, **CALLED}).run("-i", "scripts.demo.a")

    assert places_in(run.stdout) == [
        *CALLERS,
        "       called from assistants/demo/src/a_test.ts:2:3",
        "       at scripts/unloadable.ts:2:1",
        "       called from assistants/demo/src/a_test.ts:6:3",
    ]
    assert "Cannot call scripts.unloadable.Fn: TypeError: cannot read property 'third' of undefined" in run.stdout


def test_a_hook_that_calls_scripts_fails_where_they_do(app: MakeApplication) -> None:
    hooks = 'function Create(ctx, messages) {\n  Process("scripts.outer.Run");\n}\n'
    files = agent(replies="- reply: x", hooks=hooks, cases=[{"id": "a", "input": "x"}])

    run = app({**files, **CALLED}).run("-i", case_file())

    assert "agent error: Create of demo: RangeError: negative" in run.stdout
    assert places_in(run.stdout) == [*CALLERS, "       called from assistants/demo/src/index.ts:2:3"]


def test_a_script_that_calls_an_agent_is_told_where_its_hook_failed(app: MakeApplication) -> None:
    code = """\
export function TestProcess(t) {
  Process("agents.demo.Stream", "hello");
}
export function TestContext(t, ctx) {
  const { error } = ctx.agent.Call("demo", [{ role: "user", content: "hello" }]);
  t.fail(error);
}
"""
    hooks = "function Create(ctx, messages) {\n  ctx.nope(messages);\n}\n"
    here = app({**agent(replies="- reply: x", hooks=hooks), "a_test.ts": code})

    errors = {record["error"] for record in here.results("-i", "scripts.demo.a", code=1).values()}

    assert errors == {
        f"Create of demo: TypeError: ctx.nope is not a function (at {AT}index.ts:2:7)",
    }


def test_a_script_cannot_name_places_outside_the_application(app: MakeApplication) -> None:
    code = """\
export function TestMadeUp(t) {
  const error = new Error("made up");
  error.stack = "    at f (<scripts.unknown>:1:1)\\n    at g (<../../etc.passwd>:1:1)\\n    at h (</etc/passwd>:2:1)";
  throw error;
}
"""
    run = app({"a_test.ts": code}).run("-i", "scripts.demo.a")

    assert places_in(run.stdout) == ["       at assistants/demo/src/a_test.ts:1:17"]


def test_paths_are_shown_from_the_working_directory(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) {\n  t.fail('x');\n}\n"})
    assert (
        "       at a_test.ts:2:5"
        in here.run("-i", "scripts.demo.a", directory="assistants/demo/src").stdout.splitlines()
    )
    other = here.run("-i", "scripts.demo.a", "-a", str(here.root), directory="../home")
    assert f"       at <app>/{AT}a_test.ts:2:5" in other.stdout.splitlines()
