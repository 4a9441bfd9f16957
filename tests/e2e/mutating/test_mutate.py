"""`yao-test mutate`: which small faults in handlers do script tests notice?"""

from __future__ import annotations

import json

import pytest
from command import Application, MakeApplication, Run

TOLL = """/** What a road costs. */
export function toll(axles: number, night = false): number {
  if (axles < 2) throw new Error("no vehicle");
  const base = axles * 3;
  return night ? base / 2 : base;
}

export function unused(): number {
  return 7;
}
"""
TOLL_TEST = """import { toll } from "./toll";

export function TestToll(t: testing.T) {
  t.assert.Equal([toll(2), toll(3)], [6, 9]);
  t.assert.Panic(() => toll(1));
}
"""
LOOP = """export async function drain(most: number): Promise<number> {
  let round = 0;
  while (round < most) {
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
    round++;
  }
  return round;
}
"""
LOOP_TEST = """import { drain } from "./loop";

export async function TestDrain(t: testing.T) {
  t.assert.Equal(await drain(3), 3);
}
"""


@pytest.fixture
def road(app: MakeApplication) -> Application:
    return app({"toll.ts": TOLL, "toll_test.ts": TOLL_TEST})


def mutated(app: Application, *more: str) -> Run:
    return app.run("mutate", "-i", "scripts.demo", *more)


def test_survivors_are_shown_as_diffs_with_the_tests_that_reached_them(road: Application) -> None:
    run = mutated(road)
    assert run.code == 0
    survivor = """
  assistants/demo/src/toll.ts:3:34 in toll: StringLiteral survived
    -   if (axles < 2) throw new Error("no vehicle");
    +   if (axles < 2) throw new Error("");
    reached by TestToll
    the value here is "no vehicle", with the mutant "", in TestToll: no test checks it
"""
    assert survivor in run.stdout
    assert "toll.ts:8-9: no test reaches 3 mutants in unused\n" in run.stdout
    assert "axles <= 2" not in run.stdout  # the test has a vehicle of two axles


def test_values_at_the_point_of_a_survivor_tell_what_is_missing(app: MakeApplication) -> None:
    source = """export function grade(points: number, seen = new Map<string, number>()): string {
  seen.set("last", points);
  let rank = 0
  rank = points * 3
  if (points > 30) return "top";
  const odd = [points % 2, undefined, -0];
  return points > 10 ? `high ${odd.length}` : "low";
}
"""
    test = """import { grade } from "./grade";
export function TestGrade(t: testing.T) {
  t.assert.Equal(grade(4), "low");
  t.assert.Contains(grade(20), "high");
  grade(40);
}
"""
    made = app({"grade.ts": source, "grade_test.ts": test})
    missed = json.loads(mutated(made, "--fresh", "--json").stdout)["mutants"]
    values = {(one["mutator"], one["replacement"]): one["values"] for one in missed}
    same = {"test": None, "without": "true", "mutated": ""}
    assert values["EqualityOperator", "points >= 10"] == values["NumberLiteral", "11"] == same
    assert values["ArithmeticOperator", "points * 2"] == {
        "test": "scripts.demo.grade TestGrade",
        "without": "0",
        "mutated": "8",
    }
    assert values["ArrayDeclaration", "[]"]["without"] == "[0,undefined,-0]"
    assert values["CallRemoval", ""] is None  # a map cannot be told
    lost = {"test": "scripts.demo.grade TestGrade", "without": "12", "mutated": ""}
    assert values["AssignmentRemoval", ""] == lost
    assert values["ReturnRemoval", ""] == {**lost, "without": '"top"'}
    assert "all tests give the same value here, such as true: add one with another value" in mutated(made).stdout


def test_files_stay_as_they_are(road: Application) -> None:
    before = {path: path.read_bytes() for path in road.root.rglob("*") if path.is_file()}
    mutated(road)
    assert {path: path.read_bytes() for path in road.root.rglob("*") if path.is_file()} == before


def test_a_loop_without_end_is_ended_by_its_rounds(app: MakeApplication) -> None:
    run = mutated(app({"loop.ts": LOOP, "loop_test.ts": LOOP_TEST}))
    assert "ended by their rounds" in run.stdout
    assert "undecided" not in run.stdout
    assert "round--" not in run.stdout


def test_tests_that_fail_before_anything_is_planted_are_named(app: MakeApplication) -> None:
    failing = "export function TestWrong(t: testing.T) {\n  t.assert.Equal(1, 2);\n}\n"
    run = mutated(app({"toll.ts": TOLL, "toll_test.ts": TOLL_TEST, "wrong_test.ts": failing}))
    assert (run.code, run.stdout) == (1, "")
    assert "Error: 1 test fails without any mutant\n  scripts.demo.wrong TestWrong: " in run.stderr


@pytest.mark.parametrize(("threshold", "code"), [("0.5", 0), ("50", 0), ("99%", 1), ("1", 1)])
def test_below_the_threshold_the_exit_code_is_1(road: Application, threshold: str, code: int) -> None:
    assert mutated(road, "--threshold", threshold).code == code


def test_the_configuration_file_has_a_threshold_that_a_flag_overrides(road: Application) -> None:
    road.write({"/yao-test.toml": "[mutate]\nthreshold = 100\n"})
    assert mutated(road).code == 1
    assert mutated(road, "--threshold", "10").code == 0
    assert road.run("-i", "scripts.demo").code == 0


def test_an_unknown_setting_is_refused_with_its_line(road: Application) -> None:
    road.write({"/yao-test.toml": "[mutate]\nthreshold = 100\nlevel = 3\n"})
    run = road.run("-i", "scripts.demo")
    assert run.code == 2
    assert "yao-test.toml:3: unknown setting level of mutate" in run.stderr
    road.write({"/yao-test.toml": "[mutate]\nfiles = 3\n"})
    assert 'files must be a list of strings, such as ["assistants/expense/**"]' in road.run("-i", "scripts.demo").stderr


def test_a_comment_a_rule_and_a_setting_leave_code_out(app: MakeApplication) -> None:
    source = """export function half(n: number): number {
  // yao-test-ignore mutate: the cap is a courtesy
  const capped = Math.min(n, 500);
  console.log("half of " + n);
  audit.note("asked", n);
  return capped - capped / 2;
  return -1;
}
const audit = { note(what: string, n: number) {} };
"""
    test = """import { half } from "./half";
export function TestHalf(t: testing.T) {
  t.assert.Equal([half(4), half(0)], [2, 0]);
}
"""
    made = app({"half.ts": source, "half_test.ts": test, "/yao-test.toml": '[mutate]\nignore-calls = ["audit.*"]\n'})
    run = mutated(made, "--threshold", "100")
    assert run.code == 0, run.stdout
    made.write({"half.ts": source.replace("yao-test-ignore", "not")})
    assert mutated(made, "--threshold", "100").code == 1


def test_what_types_forbid_is_left_out(app: MakeApplication) -> None:
    source = """type Mode = "fast" | "slow";
interface Job { mode: Mode; level: 0 | 1; note: string; tags: Mode[] }
const start: Job["mode"] = "fast";
export const unit = "kg" as const;
export function make(mode: Mode = "slow"): Job {
  if (mode === "fast" && "free") return { mode, level: 0, note: "free", tags: ["fast"] };
  return { mode: start, level: 1, note: unit, tags: [] };
}
export const answer = async (job: Job): Promise<"yes" | "no"> => (job.mode !== "slow" ? "yes" : "no");
"""
    test = 'import { make } from "./jobs";\nexport function TestMake(t: testing.T) {\n  t.assert.Equal(make().level, 1);\n}\n'
    made = app({"jobs.ts": source, "jobs_test.ts": test})
    assert mutated(made, "-o", "m.json").code == 0
    record = json.loads((made.root / "m.json").read_text())["files"]["assistants/demo/src/jobs.ts"]
    lines = source.split("\n")
    left_out, planted = [], []
    for one in record["mutants"]:
        if one["mutatorName"] in ("StringLiteral", "NumberLiteral"):
            start, end = one["location"]["start"], one["location"]["end"]
            text = lines[start["line"] - 1][start["column"] - 1 : end["column"] - 1]
            (left_out if one.get("statusReason") == "its type does not allow it" else planted).append(text)
    assert left_out == ['"fast"', '"kg"', '"slow"', '"fast"', '"fast"', "1", '"slow"', '"yes"', '"no"']
    assert planted == ['"free"', "0", '"free"']


def test_only_named_handlers_get_mutants(road: Application) -> None:
    run = mutated(road, "--mutate", "!assistants/demo/**")
    assert "0 mutants: none" in run.stdout


HOOKS = {
    "/assistants/desk/package.yao": '{"name": "Desk", "connector": "scripted"}',
    "/assistants/desk/prompts.yml": "- role: system\n  content: Be kind.\n",
    "/assistants/desk/replies.yml": "- reply: It is on its way.\n",
    "/assistants/desk/src/index.ts": """export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next {
  const text = payload.completion?.content;
  for (let round = 0; round < 1; round++) text;
  return { data: { text: `Hello: ${text}`, words: 4 + 1 } };
}
""",
    "/assistants/desk/src/spare.ts": "export function Spare() {\n  return 1 + 1;\n}\n",
    "/assistants/desk/src/desk_test.ts": """export function TestDesk(t: testing.T, ctx: agent.Context) {
  const answer = ctx.agent.Call("desk", [{ role: "user", content: "Where?" }]);
  t.assert.Contains(JSON.stringify(answer), "Hello: It is on its way.");
}
""",
}


def test_hooks_of_agents_that_tests_call_have_mutants(app: MakeApplication) -> None:
    made = app(HOOKS)

    def found() -> dict[tuple[str, str], dict[str, object]]:
        missed = json.loads(made.run("mutate", "-i", "scripts.desk", "--json", "--store", ".yao-test").stdout)
        counts.append(missed["counts"])
        return {(one["mutator"], one["replacement"]): one for one in missed["mutants"]}

    counts: list[dict[str, int]] = []
    missed = found()
    sum_of_words = missed["ArithmeticOperator", "4 - 1"]
    assert (sum_of_words["status"], sum_of_words["line"]) == ("survived", 4)
    assert sum_of_words["values"] == {"test": "scripts.desk.desk TestDesk", "without": "5", "mutated": "3"}
    assert ("StringLiteral", "``") not in missed
    assert counts[0]["timeout"] == 1  # round--
    assert found() == missed
    made.write({"/assistants/desk/src/index.ts": HOOKS["/assistants/desk/src/index.ts"].replace("Hello: $", "$")})
    assert made.run("mutate", "-i", "scripts.desk", "--store", ".yao-test").code == 1  # the test fails now


def test_named_handlers_that_no_test_loads_are_not_reached(app: MakeApplication) -> None:
    made = app(HOOKS)
    run = made.run("mutate", "-i", "scripts.desk", "--mutate", "assistants/desk/src/s*.ts", "--json")
    assert json.loads(run.stdout)["counts"] == {"no coverage": 5}
    assert "No handler matches assistants/nobody/**" in made.run("mutate", "--mutate", "assistants/nobody/**").stderr


def test_what_imported_types_do_not_allow_is_not_planted(app: MakeApplication) -> None:
    made = app(
        {
            "/tsconfig.json": '{"compilerOptions": {"paths": {"~/*": ["./scripts/*"]}}, // ours\n}',
            "/scripts/kinds.ts": """export type Kind = "plain" | "urgent";
export const SIZES = ["small", "large"] as const;
export const PRICES = { low: 1, high: 2 } as const;
export enum Level {
  One = 1,
  Three = 3,
}
export interface Named {
  name: "a" | "b";
}
""",
            "/scripts/all.ts": 'export * from "./kinds";\nexport { Kind as Sort } from "./kinds";\n',
            "state.ts": 'export type State = "open" | "shut";\nexport default interface Door { state: State; note: string }\n',
            "door.ts": """import type Door from "./state";
import { type State } from "./state.js";
import { Level, Named, SIZES, type Sort } from "~/all";
import * as kinds from "@scripts/kinds";

interface Gate extends Door, Named { size: (typeof SIZES)[number]; kind: Sort; price: keyof typeof kinds.PRICES; level: Level }

export function gate(state: State): Gate {
  if (state === "open") return { state: "shut", note: "free", name: "a", size: "small", kind: "plain", price: "low", level: 1 };
  const other: kinds.Kind = "urgent";
  return { state, note: other, name: "b", size: "large", kind: other, price: "high", level: 3 };
}
""",
            "door_test.ts": """import { gate } from "./door";
export function TestGate(t: testing.T) {
  t.assert.Equal(gate("open").state, "shut");
  t.assert.Equal(gate("shut").note, "urgent");
}
""",
        }
    )
    run = made.run(
        "mutate",
        "-i",
        "scripts.demo.door",
        "-o",
        "m.json",
        "--mutators",
        "StringLiteral",
        "--mutators",
        "NumberLiteral",
    )
    assert run.code == 0, run.stderr
    found = json.loads((made.root / "m.json").read_text("utf-8"))["files"]["assistants/demo/src/door.ts"]["mutants"]
    ignored = [one for one in found if one["status"] == "Ignored"]
    assert {one["statusReason"] for one in ignored} == {"its type does not allow it"}
    planted = [(one["location"]["start"]["line"], one["replacement"]) for one in found if one not in ignored]
    assert planted == [(9, '""')]  # the note
    assert len(found) == 14
