"""What belongs to a test follows it: mocks, session, stores, memory and the clock, in all that it calls; for cases too."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, run_cases, server
from command import PATIENCE, Application, Files, MakeApplication

SHOP = """\
function Order(args, ctx) {
  args.id = Number(args.id);
  const row = Process("models.c.Create", { id: args.id });
  const rate = http.Get("https://rates.example/eur?day=1");
  return { row, rate: rate.data, summary: Process("agents.deep.helper.Stream", "sum up").content, nested: Process("scripts.demo.inner.Ask", args.id) };
}
function Keep(args, ctx) {
  const before = { session: Process("session.Get", "who"), store: new Store("cart").Get("items") ?? null, memory: ctx.memory.chat.Get("seen") };
  Process("session.Set", "who", "tool");
  new Store("cart").Push("items", "from the tool");
  ctx.memory.chat.Set("seen", "by the tool");
  return before;
}
function Now(args, ctx) {
  const before = Date.now();
  time.Sleep(+(args.sleep ?? 0) / 2);
  Process('utils.time.Sleep', +(args.sleep ?? 0) / 2);
  return { before, after: Date.now(), host: Process("utils.now.Timestampms"), inner: Process("scripts.demo.inner.Now") };
}
function Draw() { return [Math.random(), Process("utils.str.UUID")]; }
"""
INNER = """\
export function Ask(id) { return Process("models.c.Find", id); }
export function Now() { return Date.now(); }
export function Sleep(ms) { time.Sleep(ms); }
export function Draw() { return Math.random(); }
"""
HOOKS = """\
function Next(ctx, payload) {
  return { data: { tools: payload.tools.map((tool) => tool.error ?? tool.result), here: Date.now() } };
}
"""
CALL = (
    "const call = (tool, args = {}) => Process('agents.demo.Stream', JSON.stringify({ tool, args })).response.next;\n"
)
REPLIES = "".join(
    f"""\
- when: {{ input: {{ regex: '"tool":"{tool}","args":\\{{"{name}":(\\d+)\\}}' }} }}
  reply: {{ tool_calls: [{{ name: {tool}, arguments: {{ {name}: "{{{{ match.1 }}}}" }} }}] }}
"""
    for tool, name in (("order", "id"), ("now", "sleep"))
) + "".join(
    f"""- {{ when: {{ input: {{ regex: '"tool":"{tool}"' }} }}, reply: {{ tool_calls: [{tool}] }} }}\n"""
    for tool in ("keep", "draw", "now")
)


def shop(tests: str, **more: object) -> Files:
    """An agent whose tools do what their names say, and tests of it."""
    tools = {name: f"scripts.demo.shop.{name.capitalize()}" for name in ("order", "keep", "now", "draw")}
    return {
        "world_test.ts": CALL + tests,
        "world.ts": "export {}",
        **agent(package={"mcp": {"servers": ["shop"]}}, replies=REPLIES, hooks=HOOKS, **more),  # type: ignore[arg-type]
        **agent("deep.helper", replies="- reply: the real helper"),
        **server("shop", tools),
        "/assistants/demo/src/shop.ts": SHOP,
        "/assistants/demo/src/inner.ts": INNER,
    }


def passes(application: Application, *arguments: str) -> str:
    run = application.run("-i", "assistants/demo/src/world_test.ts", "-v", *arguments)
    assert run.code == 0, run.stdout + run.stderr
    return run.stdout


def test_mocks_of_a_script_test_answer_in_tools_hooks_and_scripts(app: MakeApplication) -> None:
    application = app(
        shop("""
export function TestOrder(t) {
  let made = 40;
  const create = t.mock.process("models.c.Create", (row) => ({ ...row, number: ++made, said: Process("utils.str.Hex", "x") }));
  const find = t.mock.process("models.c.F*", (id) => "found " + id);
  const rates = t.mock.http("GET https://rates.example/*", (request) => ({ data: { eur: Number(request.url.split("day=")[1]) } }));
  const helper = t.mock.agent("deep.helper", (messages) => "mocked: " + JSON.stringify(messages));
  const [result] = call("order", { id: 7 }).tools;
  t.assert.Equal(result.row, { id: 7, number: 41, said: "78" });
  t.assert.Equal(result.rate, { eur: 1 });
  t.assert.Contains(result.summary, "mocked: ");
  t.assert.Equal(result.nested, "found 7");
  t.assert.Equal([create.count, find.count, rates.count, helper.count], [1, 1, 1, 1]);
  t.assert.Equal([create.last.args, create.last.result.number], [[{ id: 7 }], 41]);
  find.restore();
  t.assert.Contains(JSON.stringify(call("order", { id: 8 }).tools), "models.c.Find");
}
export function TestThrown(t) {
  t.mock.process("models.c.Create", () => { throw new Exception("sold out", 409); });
  t.assert.Contains(JSON.stringify(call("order", { id: 7 }).tools), "sold out");
}
export function TestToolItself(t) {
  t.mock.process("scripts.demo.shop.Order", (args) => ({ instead: +args.id }));
  t.assert.Equal(call("order", { id: 9 }).tools, [{ instead: 9 }]);
}
export function TestNothingIsLeft(t) {
  t.assert.Contains(JSON.stringify(call("order", { id: 7 }).tools), "not available");
}
export function TestAMockThatAsksTheAgentAgain(t) {
  t.mock.process("models.c.Create", (row) => row.id < 3 ? call("order", { id: row.id + 1 }).tools[0].row : "deepest");
  t.mock.process("models.c.Find", null);
  t.mock.http("*", "");
  t.mock.agent("deep.helper", "");
  t.assert.Equal(call("order", { id: 1 }).tools[0].row, "deepest");
}
""")
    )
    passes(application)


CHANGED = """\
const year = () => new Date().getFullYear();
const tried = (work) => { try { return work(); } catch (error) { return "not here"; } };
export function Seen() {
  Process("flows.change");
  return [tried(() => Process("flows.late")), tried(() => http.Get("https://late/1").data), tried(() => Process("agents.ghost.Stream", "x").content), year(), Process("utils.now.Date")];
}
"""
CHANGES = """\
import { Seen } from "./changed";
const at = "2031-02-03T00:00:00Z";
const ways = [() => Seen(), () => Process("scripts.demo.changed.Seen"), () => Process("agents.demo.Stream", "x").response.next, () => Process("agents.outer.Stream", "x").response.next];
function add(t) {
  return [t.mock.now(at), t.mock.process("flows.l*", "late"), t.mock.http("https://late/*", { data: "late http" }), t.mock.agent("ghost", "late agent")];
}
export function TestAdded(t) {
  for (const way of ways) {
    let mocks;
    const change = t.mock.process("flows.change", () => { mocks = add(t); });
    t.assert.Equal(way(), ["late", "late http", "late agent", 2031, "2031-02-03"]);
    t.assert.Equal(mocks.slice(1).map((mock) => mock.last.name), ["flows.late", "GET https://late/1", "ghost"]);
    for (const mock of [change, ...mocks]) mock.restore();
  }
}
export function TestTakenAway(t) {
  for (const way of ways) {
    const mocks = add(t);
    t.mock.process("flows.change", () => { for (const mock of mocks) mock.restore(); });
    const [late, answer, agent, year, today] = way();
    t.assert.Equal([late, agent], ["not here", "not here"]);
    t.assert.NotEqual(answer, "late http");
    t.assert.True(year < 2031 && today < "2031");
  }
}
export function TestOnceThenAnother(t) {
  t.mock.process("flows.change", () => { t.mock.process("flows.change", "second"); return "first"; });
  t.assert.Equal(Process("agents.twice.Stream", "x").response.next, ["first", "second", "second"]);
}
"""


def test_mocks_that_change_while_something_runs_change_there_too(app: MakeApplication) -> None:
    """A mock that answers a hook, or a script, adds other mocks, takes some away, stops the clock and lets it go."""
    outer = (
        'function Next(ctx) { const { next } = ctx.agent.Call("demo", [{ role: "user", content: "x" }]).response;\n'
        '  return { data: [...next.slice(0, 3), new Date().getFullYear(), Process("utils.now.Date")] }; }'
    )
    application = app(
        {
            "world_test.ts": CHANGES,
            "world.ts": "export {}",
            "changed.ts": CHANGED,
            **agent(
                prompts=None,
                replies=None,
                hooks='import { Seen } from "./changed";\nfunction Next() { return { data: Seen() }; }',
            ),
            **agent("outer", prompts=None, replies=None, hooks=outer),
            **agent(
                "twice",
                prompts=None,
                replies=None,
                hooks='function Next() { return { data: [1, 2, 3].map(() => Process("flows.change")) }; }',
            ),
        }
    )
    passes(application)


def test_a_mock_that_loops_costs_its_test_only(app: MakeApplication) -> None:
    application = app(
        shop("""
export function TestLoops(t) { t.mock.process("models.c.Create", () => { for (;;); }); call("order", { id: 1 }); }
export function TestGoesOn(t) { t.mock.process("models.c.Create", { ok: true }); t.assert.True(true); }
""")
    )
    records = application.results("-i", "assistants/demo/src/world_test.ts", "--timeout", "2s")
    assert [records[name]["status"] for name in ("TestLoops", "TestGoesOn")] == ["failed", "passed"]
    assert "timeout after 2s" in records["TestLoops"]["error"]


def test_session_stores_and_memory_are_shared_with_what_is_called(app: MakeApplication) -> None:
    application = app(
        shop("""
export function TestShared(t, ctx) {
  Process("session.Set", "who", "test");
  new Store("cart").Set("items", ["from the test"]);
  ctx.memory.chat.Set("seen", "by the test");
  t.assert.Equal(call("keep").tools, [{ session: "test", store: ["from the test"], memory: "by the test" }]);
  t.assert.Equal(Process("session.Get", "who"), "tool");
  t.assert.Equal(new Store("cart").Get("items"), ["from the test", "from the tool"]);
  t.assert.Equal(ctx.memory.chat.Get("seen"), "by the tool");
}
export function TestAlone(t) { t.assert.Equal(call("keep").tools, [{ session: null, store: null, memory: null }]); }
""")
    )
    passes(application)
    passes(application, "--runs", "2")


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


def test_a_wait_for_a_stopped_clock_fails_early_and_says_so(app: MakeApplication) -> None:
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
    records = application.results("-i", "assistants/demo/src/world_test.ts", "--timeout", f"{PATIENCE}s", code=1)
    assert "t.mock.advance(5000)" in records["TestAwaits"]["error"]
    for name in ("Loops", "LoopsOnPerformance", "LoopsOnProcess", "LoopsOnAStore", "Polls", "PollsAtOnce"):
        assert "The clock stands still" in records[f"Test{name}"]["error"]
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
        assert "The clock of the test stood still when its time was up" in str(record["warnings"])
        assert len(record["warnings"]) == 1


def test_a_case_has_one_world_too(app: MakeApplication) -> None:
    mocks = {
        "now": "2030-01-01T00:00:00Z",
        "process": {"models.c.Create": {"number": 1}, "models.c.Find": "found"},
        "http": {"https://rates.example/*": {"data": 2}},
        "agent": {"deep.helper": "mocked"},
    }
    application = app(
        shop(
            "",
            cases=[
                {"id": "order", "input": '{"tool":"order","args":{"id":7}}', "mocks": mocks},
                {"id": "now", "input": '{"tool":"now","args":{"sleep":60000}}', "mocks": mocks},
                {
                    "id": "keep",
                    "input": '{"tool":"keep","args":{}}',
                    "before": "env_test.Before",
                    "after": "env_test.After",
                },
            ],
        )
        | {
            "/assistants/demo/src/env_test.ts": """
export function Before() { Process("session.Set", "who", "hook"); new Store("cart").Push("items", "from the hook"); return 1; }
export function After() { if (Process("session.Get", "who") !== "tool") throw new Error("another session"); }
"""
        }
    )
    records = run_cases(application, code=0)
    start = 1893456000000
    [order] = records["order"]["output"]["tools"]
    assert order == {"row": {"number": 1}, "rate": 2, "summary": "mocked", "nested": "found"}
    assert records["now"]["output"] == {
        "tools": [dict.fromkeys(("after", "host", "inner"), start + 60000) | {"before": start}],
        "here": start + 60000,
    }
    assert records["keep"]["output"]["tools"] == [{"session": "hook", "store": ["from the hook"], "memory": None}]


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


def test_random_numbers_can_be_fixed_for_a_test(app: MakeApplication) -> None:
    application = app(
        shop("""
const draw = () => JSON.stringify([Math.random(), Math.random(), Process("utils.str.UUID"), Process("scripts.demo.inner.Draw"), Process("scripts.demo.inner.Draw"), call("draw").tools]);
export function TestSeeds(t) {
  const free = draw();
  t.mock.random(1);
  const first = draw();
  const next = draw();
  t.mock.random("1");
  t.assert.Equal(draw(), first);
  t.assert.NotEqual(next, first);
  const drawn = JSON.parse(first);
  t.assert.NotEqual(drawn[3], drawn[4]);
  t.assert.Match(drawn[2], "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
  const other = t.mock.random(2);
  t.assert.NotEqual(draw(), first);
  t.mock.restore();
  t.assert.NotEqual(draw(), free);
  for (const bad of [null, NaN, {}]) t.assert.Panic(() => t.mock.random(bad));
  t.log(first);
}
""")
    )
    assert passes(application).count("TestSeeds") > 0


def test_a_seed_of_the_command_gives_each_test_its_own_numbers(app: MakeApplication) -> None:
    draw = "t.log(JSON.stringify([Math.random(), Process('utils.str.UUID'), call('draw').tools, Process('crypto.Hash', 'MD5', 'x')]))"
    draw_hook = "function Next() { return { data: [Math.random(), Process('utils.str.UUID')] }; }"
    application = app(
        shop(f"export function TestA(t) {{ {draw}; }}\nexport function TestB(t) {{ {draw}; }}\n")
        | agent(
            "dice",
            prompts=None,
            replies=None,
            hooks=draw_hook,
            cases=[{"id": "a", "input": "x"}, {"id": "b", "input": "x"}],
        )
    )

    def drawn(*arguments: str) -> list[str]:
        records = application.results("-i", "assistants/demo/src/world_test.ts", *arguments, code=0)
        cases = run_cases(application, "-i", "assistants/dice/tests/cases.jsonl", *arguments, code=0)
        return [*(records[name]["logs"][0] for name in ("TestA", "TestB")), *(str(cases[id]["output"]) for id in "ab")]

    first = drawn("--seed", "5")
    assert len(set(first)) == 4
    assert drawn("--seed", "5") == first
    assert not set(drawn("--seed", "6")) & set(first)
    assert not set(drawn()) & set(first)


SIDE_BY_SIDE = """\
function draw(name) {
  if (new FS("app").ReadFile("slow.txt") === name) time.Sleep(100);
  return [Math.random(), Process("utils.str.UUID"), Process("scripts.demo.inner.Draw"), Process("utils.otp.Generate", {}).code];
}
function A() { return draw("first"); }
function B() { return draw("second"); }
function Held(output, input, value) { return { pass: true, message: JSON.stringify(draw(value)) }; }
"""


def test_what_works_side_by_side_draws_the_same_numbers_whoever_is_first(app: MakeApplication) -> None:
    calls = "- reply: { tool_calls: [a, b] }"
    asserts = [{"type": "script", "script": "scripts.demo.dice.Held", "value": name} for name in ("first", "second")]
    application = app(
        {
            **agent(
                package={"mcp": {"servers": ["dice"]}},
                replies=calls,
                hooks="function Next(ctx, payload) { return { data: payload.tools.map((tool) => tool.result) }; }",
                cases=[{"id": "a", "input": "x", "assert": asserts}],
            ),
            **server("dice", {"a": "scripts.demo.dice.A", "b": "scripts.demo.dice.B"}),
            "/assistants/demo/src/dice.ts": SIDE_BY_SIDE,
            "/assistants/demo/src/inner.ts": INNER,
        }
    )

    def drawn(slow: str) -> list[str]:
        application.write({"/slow.txt": slow})
        record = run_cases(application, "--seed", "3", code=0)["a"]
        return [json.dumps(one) for one in (*record["output"], *(held["message"] for held in record["assertions"]))]

    first = drawn("first")
    assert len(set(first)) == 4
    assert drawn("second") == first


@pytest.mark.parametrize("kind", ["All", "Any", "Race"])
def test_all_of_several_calls_are_made(app: MakeApplication, kind: str) -> None:
    application = app(
        {
            "world_test.ts": f"""
export function TestAgents(t, ctx) {{
  const mock = t.mock.agent("*", (messages) => {{ if (messages[0].content === "bad") throw new Error("no"); return messages[0].content; }});
  const asked = ["bad", "one", "two"].map((content) => ({{ agent: "x", messages: [{{ role: "user", content }}] }}));
  const seen = ctx.agent.{kind}(asked).map((result) => result && (result.content ?? "failed"));
  t.assert.Equal(mock.count, 3);
  t.assert.Equal(seen, {{ All: ["failed", "one", "two"], Any: ["failed", "one", null], Race: ["failed", null, null] }}.{kind});
}}
""",
            "world.ts": "export {}",
            **agent(),
        }
    )
    passes(application)
