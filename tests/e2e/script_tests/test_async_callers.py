"""A failed assertion in an asynchronous helper names the lines that called it: the engine's stack ends at `await`."""

from __future__ import annotations

import pytest
from command import Application, make_application
from table_tests import each

MODULE = """\
async function check(t: testing.T, n: number) {
  await null;
  t.assert.Equal(n, 2);
}
async function outer(t: testing.T) {
  await Promise.resolve();
  await check(t, 1);
}
class Helper {
  async check(t: testing.T) {
    await null;
    t.error("no");
  }
}
export async function TestThroughTwo(t: testing.T) {
  await null;
  await outer(t);
}
export async function TestAtOnce(t: testing.T) {
  await check(t, 3);
}
export async function TestMethod(t: testing.T) {
  await new Helper().check(t);
}
export async function TestPanic(t: testing.T) {
  const later = async () => {
    await null;
    await t.assert.Panic(async () => {});
  };
  await later();
}
export async function TestBesideAnother(t: testing.T) {
  await Promise.all([check(t, 2), check(t, 4)]);
}
export function TestSubtest(t: testing.T) {
  t.run("sub", async (t: testing.T) => {
    await check(t, 5);
  });
}
export async function TestNoHelper(t: testing.T) {
  await null;
  t.assert.True(false);
}
"""
PLACES = {
    "TestThroughTwo": [3, 7, 17],
    "TestAtOnce": [3, 20],
    "TestMethod": [12, 23],
    "TestPanic": [28, 30],
    "TestBesideAnother": [3, 33],
    "TestSubtest": [3, 37, 36],
    "TestNoHelper": [42],
}


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Test → its part of the failures on the console."""
    application: Application = make_application(tmp_path_factory.mktemp("callers"), {"a_test.ts": MODULE})
    run = application.run("-i", "scripts.demo.a")
    assert run.code == 1
    told = run.stdout.partition("Failed tests")[0].split("► [")[1:]
    return {part.partition("]")[0]: part for part in told}


@each("test", PLACES)
def test_a_failure_names_its_callers(console: dict[str, str], test: str) -> None:
    places = [line.strip() for line in console[test].split("\n") if "a_test.ts:" in line and "Run it" not in line]
    words = ["at", *["called from"] * (len(PLACES[test]) - 1)]
    lines = [int(place.split(":")[-2]) for place in places]
    assert lines == PLACES[test]
    assert [place.partition(" assistants/")[0] for place in places] == words
