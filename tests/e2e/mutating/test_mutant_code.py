"""Handlers with mutants in them behave as the author wrote them, and each mutant is seen by all tests that reach it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from command import Application, MakeApplication, Record

from bindings import World, Worlds
from runner.execution.router import Router
from runner.execution.stopping import Stop
from runner.options.options import RunOptions
from scripttest import TestKey

SHAPES = """const named = (a = 1) => a + 1
const limits = { low: 1, high: 9 }
export const names = [named.name, class Inner {}.name, limits.low]
export class Box {
  #inner = 3
  static made = 0
  kept = [1, 2].map((n) => n * this.#inner)
  constructor(public size = 2, readonly more?: number) { Box.made++ }
  get double() { return this.size * 2 }
  set double(value) { this.size = value / 2 }
  *each() { for (let i = 0; i < this.size; i++) yield i }
  async later() { await null; return this.#inner }
}
export function given(..._: unknown[]) { return arguments.length }
export function chain(a?: { b?: { c: () => number } | null } | null) {
  return a?.b?.c().toFixed(1) ?? 'none'
}
export function loops(text: string) {
  let found = ''
  outer: for (const letter of text) {
    if (letter === ' ') continue outer
    else if (letter === '!') break
    do found += letter; while (false)
    ;[1].forEach((n) => { if (n > 1 && found) found = '' })
    found
      .length > 99 || (found = found || text)
  }
  return found
}
export function pick(kind: string) {
  switch (kind) {
    case 'a':
      const one = 1
      return one
    case 'b': // falls through
    case 'c': {
      return 3
    }
    default:
      return delete ({} as Record<string, unknown>)[kind] ? -1 : 0
  }
}
export const label = `a${names.length}` as const
export function either(a: number, b: number, c: number) { return a || b || c }
export function tagged(parts: TemplateStringsArray, ...more: unknown[]) { return parts.raw.join('|') + more.length }
export function swap(pair: [number, number]) { let [a, b] = pair; [a, b] = [b, a]; return tagged`${a}\\n${b}` }
export default async () => { for await (const n of [1, 2]) if (n === 2) return n }
"""
TEST = """import later, { Box, chain, either, given, label, loops, names, pick, swap } from "./shapes";

export async function TestShapes(t: testing.T) {
  const box = new Box();
  box.double = 8;
  t.assert.Equal(names, ["named", "Inner", 1]);
  t.assert.Equal([box.size, box.double, [...box.each()], box.kept, Box.made], [4, 8, [0, 1, 2, 3], [3, 6], 1]);
  t.assert.Equal([await box.later(), await later(), given(1, 2, 3), label], [3, 2, 3, "a3"]);
  t.assert.Equal([chain(), chain({ b: null }), chain({ b: { c: () => 2 } })], ["none", "none", "2.0"]);
  t.assert.Equal([loops("a b!c"), swap([1, 2]), either(0, 0, 3)], ["ab", "|\\\\n|2", 3]);
  t.assert.Equal(["a", "b", "c", "d"].map(pick), [1, 3, 3, -1]);
}
"""


def mutants_of(app: Application, *more: str) -> list[Record]:
    run = app.run("mutate", "--fresh", "-o", "m.json", *more)
    assert run.code == 0, run.stderr
    files = json.loads((app.root / "m.json").read_bytes())["files"]
    return [mutant | {"file": name} for name, file in files.items() for mutant in file["mutants"]]


def test_code_means_the_same_while_no_mutant_is_on(app: MakeApplication) -> None:
    made = app({"shapes.ts": SHAPES, "shapes_test.ts": TEST})
    assert made.run("-i", "scripts.demo").code == 0
    found = mutants_of(made)
    assert len(found) > 100
    assert not [one for one in found if one["status"] == "RuntimeError"]


def test_top_level_code_is_evaluated_anew_for_each_mutant(app: MakeApplication) -> None:
    source = 'const steps = [1, 2];\nexport const sum = steps.reduce((a, b) => a + b);\nif (sum !== 3) throw new Error("odd");\n'
    test = 'import { sum } from "./top";\nexport function TestSum(t: testing.T) {\n  t.assert.Greater(sum, 0);\n}\n'
    by = {
        (one["mutatorName"], one["replacement"]): one["status"]
        for one in mutants_of(app({"top.ts": source, "top_test.ts": test}))
    }
    assert by["ArrayDeclaration", "[]"] == "Killed"  # the module does not load
    assert by["StringLiteral", '""'] == "NoCoverage"


def test_all_modules_that_reach_a_mutant_are_tried(app: MakeApplication) -> None:
    source = "export function twice(n: number): number {\n  return n * 2;\n}\n"
    weak = 'import { twice } from "./twice";\nexport function TestWeak(t: testing.T) {\n  t.assert.Equal(twice(0), 0);\n}\n'
    strong = weak.replace("Weak", "Strong").replace("twice(0), 0", "twice(3), 6")
    made = app({"twice.ts": source, "a_test.ts": weak, "b_test.ts": strong, "c_test.ts": weak})
    found = mutants_of(made)
    assert {one["status"] for one in found} == {"Killed"}
    division = next(one for one in found if one["replacement"] == "n / 2")
    assert division["killedBy"] == ["scripts.demo.b TestStrong"]
    assert len(division["coveredBy"]) == 3


def test_scripts_that_are_called_have_mutants_too(app: MakeApplication) -> None:
    made = app(
        {
            "/scripts/sums.ts": "function Add(a: number, b: number) {\n  return a + b;\n}\n",
            "calls_test.ts": 'export function TestCall(t: testing.T) {\n  t.assert.Equal(Process("scripts.sums.Add", 2, 3), 5);\n}\n',
        }
    )
    found = mutants_of(made)
    assert {(one["file"], one["status"]) for one in found} == {("scripts/sums.ts", "Killed")}


def test_stores_and_mocks_of_one_mutant_are_not_seen_by_the_next(app: MakeApplication) -> None:
    source = 'export function note(n: number): number {\n  const store = new Store("n");\n  store.Set("n", (store.Get("n") ?? 0) + n);\n  return store.Get("n");\n}\n'
    test = 'import { note } from "./note";\nexport function TestNote(t: testing.T) {\n  t.assert.Equal([note(1), note(1)], [1, 2]);\n}\nexport function TestAgain(t: testing.T) {\n  t.assert.Equal(note(5), 5);\n}\n'
    found = mutants_of(app({"note.ts": source, "note_test.ts": test}))
    survivors = {one["replacement"] for one in found if one["status"] == "Survived"}
    assert survivors <= {'""', "1"}  # another name of the store or the key


def test_what_swallows_everything_and_never_ends_is_ended(app: MakeApplication) -> None:
    source = "export function count(n: number): number {\n  let i = 0;\n  while (i < n) {\n    try {\n      i++;\n    } catch {}\n  }\n  return i;\n}\n"
    test = 'import { count } from "./count";\nexport function TestCount(t: testing.T) {\n  let n = 0;\n  try {\n    n = count(3);\n  } catch {\n    n = 3;\n  }\n  t.assert.Equal(n, 3);\n}\n'
    by = {one["replacement"]: one["status"] for one in mutants_of(app({"count.ts": source, "count_test.ts": test}))}
    assert by["i--"] == "Timeout"


def test_judges_decide_about_mutants(app: MakeApplication) -> None:
    source = "export function greet(name: string): string {\n  return `Hello ${name.trim()}`;\n}\n"
    test = """import { greet } from "./greet";
export function TestGreet(t: testing.T) {
  t.assert.Agent(greet("Eva"), "workers.test.validator", { criteria: 'Mentions "Hello Eva"' });
}
"""
    by = {
        one["replacement"]: one["status"]
        for one in mutants_of(app({"greet.ts": source, "greet_test.ts": test}), "-c", "scripted")
    }
    assert (by["name"], by["``"]) == ("Survived", "Killed")


def test_a_judge_is_asked_once_for_equal_answers() -> None:
    asked: list[str] = []

    def validate(world: World, name: str, args: list[Any]) -> dict[str, bool]:
        asked.append(args[0])
        return {"passed": True}

    services: Any = SimpleNamespace(worlds=Worlds(), agents=lambda: SimpleNamespace(answer=validate))
    environment = SimpleNamespace(ci=True, stdout=None, secrets=SimpleNamespace(text=str))
    plan: Any = SimpleNamespace(options=RunOptions(), environment=environment, test_files={})
    router = Router(plan, services, Stop())
    router.judged = {}
    for mutant in (0, 2, 3):
        for answer in ("Hello", "Hello", f"Bye {mutant // 3}"):
            key = TestKey(suite="a", test="TestA", mutant=mutant)
            assert json.loads(router.call(key, "agent.Validate", json.dumps([answer]), "", lambda *_: None)) == {
                "ok": {"passed": True}
            }
    assert asked == ["Hello", "Hello", "Bye 0", "Bye 1"]  # two votes of one test are two


@pytest.mark.parametrize("name", ["mutate", "mutation"])
def test_agents_may_be_called_as_the_command(app: MakeApplication, name: str) -> None:
    made = app(
        {
            f"/assistants/{name}/package.yao": '{ "name": "M" }',
            f"/assistants/{name}/src/x_test.ts": "export function TestX(t: testing.T) {\n  t.assert.True(true);\n}\n",
        }
    )
    assert made.run("-i", f"scripts.{name}.x").code == 0
