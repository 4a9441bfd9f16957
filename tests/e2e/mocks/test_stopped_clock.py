"""The clock of a test that is stopped: it holds in all that it calls, and who waits for it is told so."""

from __future__ import annotations

import pytest
from agent_files import agent
from command import PATIENCE, MakeApplication
from worker_forks import impatient_workers
from world_app import passes, shop


def test_the_clock_of_a_test_holds_in_all_that_it_calls(app: MakeApplication) -> None:
    application = app(
        shop("""
const start = Date.parse("2030-01-01T00:00:00Z");
export function TestEverywhere(t) {
  t.mock.now(start);
  t.assert.Equal(Process("scripts.demo.inner.Now"), start);
  t.assert.Equal(Process("utils.now.Date"), "2030-01-01");
  const { tools: [seen], here } = call("now", { sleep: 60000 });
  t.assert.Equal(seen, { before: start, after: start + 60000, host: start + 60000, inner: start + 60000 });
  t.assert.Equal([here, Date.now(), Process("scripts.demo.inner.Now")], Array(3).fill(start + 60000));
}
export function TestTokens(t) {
  t.mock.now(start);
  const { token } = Process("utils.jwt.Make", 1, {}, { timeout: 60 });
  t.assert.Equal(Process("utils.jwt.Verify", token).iat, start / 1000);
  t.mock.advance("59s");
  Process("utils.jwt.Verify", token);
  t.mock.advance(1001);
  t.assert.Panic(() => Process("utils.jwt.Verify", token));
}
export function TestTimeToLive(t) {
  t.mock.now(start);
  const store = new Store("s");
  store.Set("key", 1, 60);
  t.mock.advance(59_999);
  t.assert.Equal(store.Get("key"), 1);
  t.mock.advance(1);
  t.assert.Nil(store.Get("key"));
}
export async function TestTimersFireInOrder(t) {
  const seen = [];
  const note = (name) => () => seen.push([name, Date.now() - start, performance.now() - began]);
  t.mock.now(start);
  const began = performance.now();
  setTimeout(note("b"), 2000);
  setTimeout(note("a"), 1000);
  setTimeout(note("late"), 3001);
  const each = setInterval(note("i"), 1500);
  t.mock.advance("3s");
  t.assert.Equal(seen, [["a", 1000, 1000], ["i", 1500, 1500], ["b", 2000, 2000], ["i", 3000, 3000]]);
  clearInterval(each);
  t.mock.advance(1);
  t.assert.Equal(seen.length, 5);
}
export function TestTheClockNeverGoesBack(t) {
  const seen = [];
  const note = () => seen.push(Date.now() - start);
  t.mock.now(start);
  setTimeout(() => { note(); t.mock.advance(100); note(); }, 10);
  setTimeout(note, 50);
  t.mock.advance(60);
  note();
  setTimeout(() => { time.Sleep(500); note(); }, 10);
  t.mock.advance(20);
  note();
  t.assert.Equal(seen, [10, 50, 110, 110, 620, 620]);
}
export function TestTimersThatTimersSet(t) {
  const seen = [];
  const note = (name) => seen.push(`${name} ${Date.now() - start}`);
  t.mock.now(start);
  setTimeout(() => { note("a"); setTimeout(() => note("a1"), 500); setTimeout(() => note("a0"), 0); }, 1000);
  setTimeout(() => note("b"), 1500);
  setTimeout(() => note("c"), 1000);
  t.mock.advance(1500);
  t.assert.Equal(seen, ["a 1000", "c 1000", "a0 1000", "b 1500", "a1 1500"]);
}
export function TestTheEndOfTime(t) {
  t.mock.now("9999-12-29");
  for (const move of [() => t.mock.advance("2d"), () => time.Sleep(2e8), () => t.mock.now("+010000-01-01"), () => Process("scripts.demo.inner.Sleep", 2e8)])
    t.assert.Panic(move);
  t.assert.Equal([new Date().toISOString().slice(0, 10), Process("utils.now.Date")], ["9999-12-29", "9999-12-29"]);
}
export async function TestARetryIsFollowed(t) {
  let tries = 0;
  const done = (async () => { while (++tries < 5) await new Promise((go) => setTimeout(go, 60_000)); return tries; })();
  t.mock.advance("1h");
  t.assert.Equal(await done, 5);
}
export function TestFromThePresent(t) {
  const before = Date.now();
  t.mock.advance("1d");
  const moved = Date.now() - before;
  t.assert.True(moved >= 86_400_000 && moved < 86_460_000, moved);
  const now = Date.now();
  t.assert.True(Number.isInteger(now));
  time.Sleep(5000);
  t.assert.Equal(Date.now() - now, 5000);
  t.mock.restore();
  t.assert.True(Date.now() - before < 60_000);
}
export function TestBadTimes(t) {
  for (const bad of [-1, "-1h", "soon", null, {}, NaN, "1", 1e20]) t.assert.Panic(() => t.mock.advance(bad));
  t.assert.True(Math.abs(Date.now() - start) > 86_400_000);
}
export async function TestTimersKeepTheRestOfTheirTime(t) {
  let fired = 0;
  setTimeout(() => fired++, 50_000);
  t.mock.now("2040-01-01");
  t.mock.advance("49s");
  t.assert.Equal(fired, 0);
  t.mock.advance("1s");
  t.assert.Equal(fired, 1);
}
""")
    )
    passes(application)


def test_a_wait_for_a_stopped_clock_fails_early_and_says_so(
    app: MakeApplication, tmp_path_factory: pytest.TempPathFactory
) -> None:
    application = app(
        shop("""
export async function TestAwaits(t) { t.mock.now("2030-01-01"); await new Promise((go) => setTimeout(go, 5000)); }
export function TestLoops(t) { t.mock.now("2030-01-01"); const end = Date.now() + 10; while (Date.now() < end); }
export function TestLoopsOnPerformance(t) { t.mock.now("2030-01-01"); const end = performance.now() + 10; while (performance.now() < end); }
export function TestLoopsOnProcess(t) { t.mock.now("2030-01-01"); const end = Process("utils.now.Timestamp") + 1; while (Process("utils.now.Timestamp") < end); }
export async function TestPolls(t) { t.mock.now("2030-01-01"); const end = Date.now() + 10; while (Date.now() < end) await new Promise((go) => setTimeout(go, 0)); }
export async function TestPollsAtOnce(t) { t.mock.now("2030-01-01"); const end = Date.now() + 10; while (Date.now() < end) await new Promise(setImmediate); }
export function TestLoopsOnAStore(t) { t.mock.now("2030-01-01"); const store = new Store("s"); store.Set("lock", 1, 1); while (store.Has("lock")); }
export function TestSessionEnds(t) {
  t.mock.now("2030-01-01");
  const get = (id) => Process("session.Get", id);
  Process("session.Set", "a", 1, 60);
  Process("session.SetMany", { b: 2, c: 3 }, 30);
  Process("session.Set", "c", 4);
  t.mock.advance("30s");
  t.assert.Equal([get("a"), get("b"), get("c"), Process("session.Dump")], [1, null, 4, { a: 1, c: 4 }]);
  t.mock.advance("30s");
  t.assert.Equal(Process("session.GetMany", ["a", "b", "c"]), { a: null, b: null, c: 4 });
}
""")
    )
    with impatient_workers(tmp_path_factory.mktemp("parts")):
        records = application.results("-i", "assistants/demo/src/world_test.ts", "--timeout", f"{PATIENCE}s", code=1)
    assert "t.mock.advance(5000)" in records["TestAwaits"]["error"]
    for name in ("Loops", "LoopsOnPerformance", "LoopsOnProcess", "LoopsOnAStore", "Polls", "PollsAtOnce"):
        assert "The clock is stopped" in records[f"Test{name}"]["error"]
    assert records["TestSessionEnds"]["status"] == "passed"


def test_a_test_that_ran_out_of_time_says_that_its_clock_stood(app: MakeApplication) -> None:
    loop = """
export function TestPolls(t) {
  t.mock.now("2030-01-01");
  while (Date.now() < 1e13) Process("text.ExtractJSON", "{}");
}
export function TestAsksNothing(t) { t.mock.now("2030-01-01"); for (;;); }
"""
    records = app(shop(loop)).results("-i", "assistants/demo/src/world_test.ts", "--timeout", "300ms", code=1)
    for record in records.values():
        assert record["error"].startswith("timeout after 0.3s")
        assert "The test timed out while its clock was stopped" in str(record["warnings"])
        assert len(record["warnings"]) == 1


def test_all_who_tell_the_time_of_day_are_in_one_time_zone(app: MakeApplication) -> None:
    test = """
export function TestZone(t) {
  t.mock.now("2030-06-30T20:00:00Z");
  const told = JSON.parse(Process("agents.demo.Stream", "x").content).system;
  t.log([new Date().getHours(), new Date().toLocaleTimeString("en-GB"), Process("utils.now.DateTime"), Process("scripts.demo.inner.Hour"), told].join("; "));
}
"""
    application = app(
        {
            "world_test.ts": test,
            "world.ts": "export {}",
            "inner.ts": "export function Hour() { return new Date().getHours(); }",
            **agent(prompts="- { role: system, content: $SYS.DATETIME }"),
        }
    )
    variables = {**application.environment, "TZ": "Asia/Shanghai"}
    run = application.spawn("-i", "assistants/demo/src/world_test.ts", "-v", env=variables)
    assert "4; 04:00:00; 2030-07-01 04:00:00; 4; 2030-07-01 04:00:00" in run.stdout, run
