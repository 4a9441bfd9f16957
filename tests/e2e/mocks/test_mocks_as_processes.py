"""Mocks get and give what real processes get and give: the same functions, called as a script and as a mock."""

from __future__ import annotations

import json

import pytest
from command import MakeApplication, Record

BORDER = """\
const seenAs = (x: any): string => x instanceof Uint8Array ? `bytes ${[...x]}` : x instanceof Error ? `${x}` : Object.prototype.toString.call(x)
  + (x && typeof x === "object" ? `{${Object.keys(x).map((key) => `${key}: ${seenAs(x[key])}`)}}` : ` ${String(x)}`);
class Money { constructor(public euros: number) {} toJSON() { return `${this.euros} EUR`; } get double() { return 2 * this.euros; } }
class Plain { a = 1; get b() { return 2; } }
const cycle: any = { list: [] }; cycle.list.push(cycle);
const revoked = () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; };
export const values: Record<string, () => any> = {
  undefined: () => undefined, null: () => null, text: () => "a\\u2028\\ud800", zero: () => -0, nan: () => NaN, infinite: () => -Infinity,
  bigint: () => 12345678901234567890n, "bigint inside": () => ({ n: 1n }), symbol: () => Symbol("s"), function: () => () => 1,
  "undefined inside": () => ({ gone: undefined, list: [undefined, () => 1, Symbol("x")] }), "nan inside": () => [NaN, Infinity, -0],
  date: () => new Date(0), "date inside": () => ({ when: new Date(86400000) }), "no date": () => new Date(NaN),
  map: () => new Map([[1, 2]]), set: () => new Set([1]), regexp: () => /a/g, error: () => ({ e: new TypeError("inside") }), fault: () => new Exception("full", 507),
  bytes: () => new Uint8Array([1, 255]), "bytes inside": () => ({ b: new Uint8Array([1]) }), floats: () => new Float64Array([1.5]),
  buffer: () => new ArrayBuffer(2), money: () => new Money(3), plain: () => new Plain(), boxed: () => [new Number(1), new String("s")],
  sparse: () => [1, , 3], keyed: () => Object.assign([1], { key: 2 }), "null prototype": () => Object.assign(Object.create(null), { a: 1 }),
  inherited: () => Object.create({ a: 1 }), "a prototype": () => JSON.parse('{"__proto__": 1}'), cycle: () => cycle, revoked,
  getter: () => ({ get a() { return 1; }, get thrown() { throw new RangeError("get"); } }), "toJSON throws": () => ({ toJSON() { throw new Error("no JSON"); } }),
  promise: () => ({ p: Promise.resolve(1) }), weak: () => new WeakMap(), proxy: () => new Proxy({ a: 1 }, {}), numbers: () => [2 ** 53, 1e21, 1e-7],
};
export const replies: Record<string, () => any> = {
  ...values,
  async: async () => ({ when: new Date(0) }), rejected: async () => { throw new TypeError("later"); }, resolved: () => Promise.resolve(new Set()),
  awaits: async () => { await null; await new Promise((done) => setTimeout(done, 2)); return 5n; }, "async bytes": async () => new Uint8Array([7]),
  thenable: () => ({ then(done: any) { done({ a: undefined }); } }), generator: function* () { yield 1; }, "an error": () => new RangeError("given"),
  "two promises": async () => async () => 1,
  throws: () => { throw new TypeError("now"); }, coded: () => { throw new Exception("coded", 404); },
  "throws a text": () => { throw "text"; }, "own error": () => { throw Object.assign(new Error("own"), { code: 418, more: 1 }); },
};
export const Seen = (...args: any[]) => args.map(seenAs);
export const Gave = (name: string) => replies[name]();
export const shown = (work: () => any) => {
  try { return seenAs(work()); }
  catch (error: any) { return `${error.name}: ${error.message.replace("mocked", "border")} (${error.code}) ${error instanceof Exception}`; }
};
"""
TEST = """\
import { Seen, Gave, values, replies, shown } from "@scripts/border";
export function TestBorder(t: testing.T) {
  const seen = t.mock.process("scripts.mocked.Seen", Seen), gave = t.mock.process("scripts.mocked.Gave", Gave);
  const rows: any = {};
  for (const name in values) {
    const call = (script: string) => shown(() => Process(`scripts.${script}.Seen`, values[name](), "last"));
    rows[`argument ${name}`] = [call("border"), call("mocked")];
    if (seen.last) rows[`recorded ${name}`] = [rows[`argument ${name}`][0], shown(() => Seen(...seen.last!.args))];
    seen.reset();
  }
  for (const name in replies) {
    const call = (script: string) => shown(() => Process(`scripts.${script}.Gave`, name));
    rows[`reply ${name}`] = [call("border"), call("mocked")];
  }
  t.log("ROWS" + JSON.stringify(rows));
}
"""


@pytest.fixture(scope="module")
def rows(shared_app: MakeApplication) -> dict[str, list[str]]:
    """What is done → how it looks with a real process, and with a mock."""
    made = shared_app({"border_test.ts": TEST, "/scripts/border.ts": BORDER})
    run = made.run("-i", "scripts.demo.border", "-v")
    line = next((line for line in run.stdout.splitlines() if "ROWS" in line), "")
    assert line, run
    found: dict[str, list[str]] = json.loads(line.partition("ROWS")[2])
    return found


def test_values_cross_as_to_a_real_process(rows: dict[str, list[str]]) -> None:
    """As arguments, as they are recorded, and as replies; errors too."""
    assert len(rows) > 110
    assert {name: mock for name, (_, mock) in rows.items()} == {name: real for name, (real, _) in rows.items()}
    assert rows["argument date"][1].startswith("[object Array]{0: [object String] [object String] 1970-01-01T00:00")
    assert (
        rows["argument fault"][1]
        == "[object Array]{0: [object String] Error: full,1: [object String] [object String] last}"
    )
    assert "its arguments are not JSON: TypeError: circular reference (400)" in rows["argument cycle"][1]
    assert rows["reply awaits"][1] == "[object Number] 5"
    assert rows["reply throws"][1] == "Exception|500: TypeError: now (500) true"


OTHER = """\
export function TestOneCopyForEachSide(t) {
  const given = { a: 1, list: [1] }, fixed = { b: { c: 1 } };
  const change = t.mock.process("x.Change", (x) => { x.a = 99; x.list.push(2); return fixed; });
  const first = Process("x.Change", given);
  first.b.c = 5; fixed.b.c = 6;
  t.assert.Equal(given, { a: 1, list: [1] });
  t.assert.Equal(change.last, { name: "x.Change", args: [{ a: 1, list: [1] }], result: { b: { c: 1 } } });
}
export function TestAgents(t) {
  const ask = t.mock.agent("helper", async (messages, options) => ({ data: { when: messages[0].content, at: new Date(0), none: undefined } }));
  const answer = Process("agents.helper.Call", [{ role: "user", content: new Date(0) }], { n: NaN });
  t.assert.Equal(answer.response.next, { when: "1970-01-01T00:00:00.000Z", at: "1970-01-01T00:00:00.000Z" });
  t.assert.Equal(Object.keys(answer.response.next), ["when", "at"]);
  t.assert.Equal(ask.last.args, [[{ role: "user", content: "1970-01-01T00:00:00.000Z" }], { n: null }]);
  t.assert.Equal(Object.keys(ask.last.result.data), ["when", "at"]);
}
export function TestHttp(t) {
  const post = t.mock.http("POST https://a.example/*", async ({ data, headers }) => ({ status: 201, data: { ...data, at: new Date(0), n: 1n < 2n } }));
  const body = { when: new Date(0), gone: undefined };
  const { data, status } = http.Post("https://a.example/x", body);
  t.assert.Equal([status, data], [201, { when: "1970-01-01T00:00:00.000Z", at: "1970-01-01T00:00:00.000Z", n: true }]);
  t.assert.Equal(post.last.args[0].data, { when: "1970-01-01T00:00:00.000Z" });
  t.mock.http("GET https://b.example/", async () => { throw new Error("down"); });
  t.assert.Equal(http.Get("https://b.example/").message, "down");
  t.mock.http("GET https://c.example/", { data: { n: 1n } });
  t.assert.Equal(http.Get("https://c.example/").message, "What was returned is not JSON: BigInt are forbidden in JSON.stringify");
}
export function TestFromOtherRealms(t) {
  t.mock.process("x.Ask", async (x) => { await new Promise((done) => setTimeout(done, 1)); return { got: typeof x.when, at: new Date(0) }; });
  t.assert.Equal(Process("scripts.caller.Ask"), { got: "string", at: "1970-01-01T00:00:00.000Z" });
}
export function TestStops(t) {
  t.mock.process("x.Stop", () => { t.skip("not today"); });
  Process("x.Stop");
  t.fail("a skipped test goes on");
}
export function TestFrames(t) {
  t.mock.process("x.Broken", () => { throw new TypeError("broken mock"); });
  Process("x.Broken");
}
export function TestNever(t) {
  t.mock.process("x.Never", () => new Promise(() => {}));
  Process("x.Never");
}
export function TestStoppedClock(t) {
  t.mock.now(0);
  t.mock.process("x.Later", () => new Promise((done) => setTimeout(done, 500)));
  Process("x.Later");
}
"""


@pytest.fixture(scope="module")
def others(shared_app: MakeApplication) -> dict[str, Record]:
    caller = 'export const Ask = () => Process("x.Ask", { when: new Date(0) });\n'
    made = shared_app({"other_test.ts": OTHER, "/scripts/caller.ts": caller})
    return {name.rpartition(".")[2]: result for name, result in made.results("-i", "scripts.demo.other").items()}


@pytest.mark.parametrize("name", ["OneCopyForEachSide", "Agents", "Http", "FromOtherRealms"])
def test_mocks_of_each_kind(others: dict[str, Record], name: str) -> None:
    assert others[f"Test{name}"]["status"] == "passed", others[f"Test{name}"]


def test_a_test_can_end_within_a_mock(others: dict[str, Record]) -> None:
    assert others["TestStops"]["status"] == "skipped"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Frames", "TypeError: broken mock"),
        ("Never", "deadlock: the mock of x.Never waits for a promise that can never settle"),
        ("StoppedClock", "call t.mock.advance(500) before it is awaited"),
    ],
)
def test_what_a_mock_cannot_answer(others: dict[str, Record], name: str, said: str) -> None:
    result = others[f"Test{name}"]
    assert result["status"] == "failed"
    assert said in json.dumps(result)
    assert "other_test.ts:" in json.dumps(result)
