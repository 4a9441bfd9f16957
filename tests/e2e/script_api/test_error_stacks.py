"""`stack` of an error as scripts read it: name and message first, then places in the files of the author."""

from __future__ import annotations

import pytest
from command import Application, MakeApplication

DESK = """\
export class Refused extends Error {
  constructor(message: string) { super(message); this.name = "Refused"; }
}
export function seen(x: any): string {
  try {
    return inner(x);
  } catch (e) {
    return e.stack;
  }
}
function inner(x: any) {
  if (x === 1) throw new Refused("not today");
  return x.a.b;
}
export function Thrown() {
  throw new TypeError("deep");
}
export function Caught() {
  return seen({});
}
"""
TEST = """\
import { Refused, seen } from "./desk";
async function late() {
  await 0;
  throw new RangeError("late");
}
class Marked extends Error {
  constructor(message: string) { super(message); Error.captureStackTrace?.(this, Marked); }
}
const said = (t, text: string, ...lines: string[]) => t.assert.Equal(text.replace(/:\\d+(?=\\)?$)/gm, ""), lines.join("\\n"));

export function TestCaught(t) {
  said(t, seen(1), "Error: not today",
    "    at Refused (assistants/demo/src/desk.ts:2)", "    at inner (assistants/demo/src/desk.ts:12)",
    "    at seen (assistants/demo/src/desk.ts:6)", "    at TestCaught (assistants/demo/src/desk_test.ts:12)");
  t.assert.Match(seen({}), /^TypeError: .*'b'.*\\n    at inner \\(assistants\\/demo\\/src\\/desk\\.ts:13:/);
}
export async function TestAwaited(t) {
  try { await late(); } catch (e) { said(t, e.stack, "RangeError: late", "    at assistants/demo/src/desk_test.ts:4"); }
}
export function TestOfOtherScripts(t) {
  t.assert.Match(Process("scripts.demo.desk.Caught"), /^TypeError.*\\n    at inner \\(assistants\\/demo\\/src\\/desk\\.ts:13:/);
  try {
    Process("scripts.demo.desk.Thrown");
  } catch (e) {
    t.assert.Match(e.stack, /deep\\n    at Thrown \\(.*desk\\.ts:16:\\d+\\)\\n    at TestOfOtherScripts \\(.*desk_test\\.ts:/);
  }
}
export function TestCaptured(t) {
  said(t, new Marked("m").stack, "Error: m", "    at TestCaptured (assistants/demo/src/desk_test.ts:29)");
}
export async function TestAssigned(t) {
  const e = new Error("m");
  e.stack = "mine";
  t.assert.Equal(e.stack, "mine");
  try { await Promise.reject(e); } catch (same) { t.assert.Equal(same.stack, "mine"); }
}
export function TestOthers(t) {
  t.assert.Equal([{}.stack, Object.create(Error.prototype).stack], [undefined, undefined]);
  t.assert.Equal([JSON.stringify(new Error("j")), Object.keys(new Marked("m"))], ["{}", []]);
}
export function TestUncaught(t) {
  const stack = new Error("read").stack;
  throw new Refused(stack.slice(0, 11));
}
export async function TestRejected(t) {
  Promise.reject(new Error("lost" + new Error("").stack.length));
  await 1;
}
"""


@pytest.fixture(scope="module")
def desk(shared_app: MakeApplication) -> Application:
    return shared_app({"desk.ts": DESK, "desk_test.ts": TEST})


def test_scripts_read_messages_and_places_of_their_files(desk: Application) -> None:
    results = desk.results("-i", "scripts.demo.desk")

    failed = {name: record.get("error") for name, record in results.items() if record["status"] != "passed"}
    assert sorted(failed) == ["TestRejected", "TestUncaught"], failed


def test_failures_keep_their_places_where_a_script_reads_stacks(desk: Application) -> None:
    run = desk.run("-i", "scripts.demo.desk", "--run", "Uncaught|Rejected", "--story=off")

    assert "Refused: Error: read" in run.stdout
    assert "at assistants/demo/src/desk_test.ts:43:" in run.stdout
    assert "called from" not in run.stdout
    assert "at assistants/demo/src/desk_test.ts:46:" in run.stdout
    assert "<input>" not in run.stdout
