"""Tests that do not end: loops, promises that nobody settles, cleanups that wait forever."""

from __future__ import annotations

import json
import re

import pytest
from command import MakeApplication, Record, given_time
from table_tests import each

PASSING = "export function TestPasses(t) { t.assert.True(true); }\n"
AT = "assistants/demo/src/"


ENDLESS = {
    "TestLoop": "@for (;;) {}",
    "TestLoopWithHostCalls": 'for (;;) @Process("utils.str.UUID");',
    "TestLoopWithOutput": '@for (;;) console.log("x");',
    "TestLoopInTimer": "return new Promise(() => setTimeout(() => { @for (;;) {} }, 1));",
    "TestLoopInJob": "return Promise.resolve().then(() => { @for (;;) {} });",
    "TestJobsForever": "const again = () => Promise.resolve().then(again); @return again();",
    "TestTimersForever": "@return new Promise(() => setInterval(() => {}, 1));",
    "TestSleep": "time.@Sleep(100000);",
    "TestRegExp": '/^(a+)+$/.test("a".repeat(40) + @"b");',
}
"""With an `@` before the place that is named."""


@pytest.fixture(scope="module")
def endless(shared_app: MakeApplication) -> dict[str, Record]:
    tests = [f"export function {name}(t) {{ {code.replace('@', '')} }}\n" for name, code in ENDLESS.items()]
    here = shared_app({"endless_test.ts": "".join(tests) + PASSING})
    return given_time(
        lambda time: here.results("-i", "scripts.demo.endless", "--timeout", time, code=1), 0.15, "TestPasses"
    )


@each("test", ENDLESS)
def test_a_test_that_does_not_end_fails_at_its_deadline(endless: dict[str, Record], test: str) -> None:
    record = endless[test]
    assert (record["status"], record["cause"]) == ("failed", "timeout")
    assert re.fullmatch(r"timeout after [\d.]+s", record["error"])
    line, column = list(ENDLESS).index(test) + 1, len(f"export function {test}(t) {{ ") + ENDLESS[test].index("@") + 1
    assert record["location"].startswith(f"{AT}endless_test.ts:{line}:")
    if test not in (
        "TestLoopWithHostCalls",
        "TestLoopWithOutput",
        "TestRegExp",
    ):  # which are stopped somewhere in the statement
        assert record["location"] == f"{AT}endless_test.ts:{line}:{column}"
    assert int(record["location"].rpartition(":")[2]) > len(f"export function {test}(t) {{")


def test_the_tests_after_an_endless_one_run(endless: dict[str, Record]) -> None:
    assert endless["TestPasses"]["status"] == "passed"


def test_a_hang_ends_the_run_soon_after_its_deadline(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) { for (;;) {} }\nexport function TestB(t) {}\n"})
    lines = here.home / "report.jsonl"
    assert here.run("-i", "scripts.demo.a", "--timeout", "300ms", "-o", str(lines)).code == 1
    _, first, second, summary = [json.loads(line) for line in lines.read_text().splitlines()]
    assert (first["duration_ms"] >= 300, second["id"]) == (True, "TestB")
    assert summary["duration_ms"] < 30_000


def test_a_timeout_may_be_longer_than_the_system_can_wait(app: MakeApplication) -> None:
    assert app({"a_test.ts": PASSING}).run("-i", "scripts.demo.a", "--timeout", "99999999999h").code == 0


def test_output_before_a_timeout_is_kept(app: MakeApplication) -> None:
    here = app({"a_test.ts": 'export function TestA(t) { t.log("before"); for (;;) {} }\n'})
    assert here.results("-i", "scripts.demo.a", "--timeout", "300ms", code=1)["TestA"]["logs"] == ["before"]


NEVER = {
    "TestReturned": "return new Promise(() => {});",
    "TestAwaited": "return (async () => { await new Promise(() => {}); })();",
    "TestThenable": "return { then() {} };",
    "TestRace": "return Promise.race([]);",
}


def test_a_promise_that_nothing_can_settle_is_said_at_once(app: MakeApplication) -> None:
    tests = "".join(f"export function {name}(t) {{ {code} }}\n" for name, code in NEVER.items())
    results = app({"a_test.ts": tests}).results("-i", "scripts.demo.a", "--timeout", "1h", code=1)
    message = "deadlock: the test waits for a promise that can never settle"
    assert {name: (record["error"], record["cause"]) for name, record in results.items()} == dict.fromkeys(
        NEVER, (message, "error")
    )
    assert results["TestReturned"]["location"] == f"{AT}a_test.ts:1:17"


WAITING = """\
const never = () => new Promise(() => {});
async function helper() {
  await never();
}
export async function TestOwn(t) {
  t.cleanup(() => t.log("cleaned"));
  await never();
}
export async function TestHelper(t) {
  await helper();
}
export async function TestStep(t) {
  await t.run("step", async (t) => {
    t.cleanup(() => t.log("step cleaned"));
    await never();
  });
}
export async function TestCaught(t) {
  try {
    await never();
  } catch {
    return;
  } finally {
    t.log("finally");
  }
}
export async function TestCleanup(t) {
  t.cleanup(() => t.log("outer cleaned"));
  t.cleanup(async () => {
    await never();
  });
}
export function AfterEach(t) {
  t.log("after");
}
"""


def test_a_deadlock_is_placed_at_its_await_and_clean_ups_run(app: MakeApplication) -> None:
    results = app({"a_test.ts": WAITING}).results("-i", "scripts.demo.a", "--timeout", "1h", code=1)
    places = {"TestOwn": "7:9", "TestHelper": "3:9", "TestStep": "15:11", "TestCaught": "20:11", "TestCleanup": "30:11"}
    assert {name: record["location"] for name, record in results.items()} == {
        name: f"{AT}a_test.ts:{place}" for name, place in places.items()
    }
    assert {name: record["logs"] for name, record in results.items()} == {
        "TestOwn": ["after", "cleaned"],
        "TestHelper": ["after"],
        "TestStep": ["step cleaned", "after"],
        "TestCaught": ["after"],
        "TestCleanup": ["after", "outer cleaned"],
    }
    assert {record["cause"] for record in results.values()} == {"error"}


def test_a_clean_up_after_a_deadlock_that_waits_for_ever_too_ends_the_test(app: MakeApplication) -> None:
    code = """export async function TestA(t) {
      t.cleanup(async () => { await new Promise(() => {}); });
      await new Promise(() => {});
    }
    export function TestB() {}"""
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", "--timeout", "1h", code=1)
    assert results["TestA"]["location"] == f"{AT}a_test.ts:3:17"
    assert (len(results["TestA"]["failures"]), results["TestB"]["status"]) == (2, "passed")
