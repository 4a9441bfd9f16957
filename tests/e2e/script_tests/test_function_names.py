"""Functions and classes have the names that the author wrote, also where two files of a bundle have the same."""

from __future__ import annotations

import pytest
from command import MakeApplication, Record

FILES = {
    "other.ts": """
        export class Order { page = 1; }
        export class Map { static self = Map; }
        export function step() { const step = () => {}; return step; }
        export function hidden() { return inner(); function inner() { return inner.name; } }
        new Set([1]);
        export default class {}
    """,
    "arrow.ts": "export default () => 1;\n",
    "called.ts": """
        export class NotFound extends Error { static status = 404; constructor() { super("no"); this.name = NotFound.name; } }
        export function Fn() { try { throw new NotFound(); } catch (error: any) { return [error.name, error.constructor.name, NotFound.status]; } }
    """,
    "name_test.ts": """
        import Page, { Order as PageOrder, Map as OwnMap, step as otherStep, hidden } from "./other";
        import arrow from "./arrow";
        class Order { total = 5; static made = 1; kind() { return this.constructor.name + Order.made; } }
        class Failed extends Error { static code = 1; constructor() { super("x"); this.name = new.target.name; } get code() { return Failed.code; } }
        class Worse extends Failed {}
        class Titled { static name = "Own"; static self = () => Titled; }
        class Method { static name() { return Method; } }
        namespace Space { export const f = () => {}; export function g() {} export class Inner {} }
        function inner() {}
        function step() { const step = function () {}; return step; }
        const own = function () {};
        Object.defineProperty(own, "name", { value: "given" });
        const { filled = () => {} } = {} as any;
        export function TestClasses(t) { t.assert.Equal([new Order().kind(), PageOrder.name, OwnMap.name, Titled.name, typeof Method.name], ["Order1", "Order", "Map", "Own", "function"]); }
        export function TestErrors(t) { t.assert.Equal([new Failed().name, String(new Worse())], ["Failed", "Worse: x"]); }
        export function TestDefaults(t) { t.assert.Equal([Page.name, new Page().constructor.name, arrow.name], ["default", "default", "default"]); }
        export function TestShadows(t) { t.assert.Equal([step().name, step.name, otherStep().name, otherStep.name, hidden(), inner.name], ["step", "step", "step", "step", "inner", "inner"]); }
        export function TestSpaces(t) { t.assert.Equal([Space.f.name, Space.g.name, Space.Inner.name], ["f", "g", "Inner"]); }
        export function TestValues(t) { t.assert.Equal([own.name, filled.name, (() => {}).name], ["given", "filled", ""]); }
        export function TestProcess(t) { t.assert.Equal(Process("agents.demo.called.Fn"), ["NotFound", "NotFound", 404]); }
        export function TestSnapshot(t) { t.snapshot.inline(new Order(), `Order {total: 5}`); }
        export function TestFrame(t) { const step = () => { throw new Error("here"); }; step(); }
    """,
    "many_test.ts": """
        class Self { static it = Self; }
        export const TestFirst = (t) => { t.assert.Equal(Self.name, "Self"); };
        export const TestSecond = async (t) => { t.assert.Equal([TestSecond.name, Self.it.name], ["TestSecond", "Self"]); };
    """,
    "kinds_test.ts": """
        const tag = (value: unknown) => Object.prototype.toString.call(value);
        async function declared() {}
        class Service { async load() { return super.toString(); } static async make(a = 1) {} async *[`${tag.name}s`]() {} }
        export async function* values() { yield 1; }
        export function TestAsync(t) {
          const all: any[] = [declared, async () => {}, async function (a, { b } = {} as any) {}, Service.make, new Service().load, { async m() {} }.m];
          t.assert.Equal(all.map((one) => [tag(one), one.constructor.name]), all.map(() => ["[object AsyncFunction]", "AsyncFunction"]));
        }
        export function TestGenerators(t) {
          t.assert.Equal([values, (new Service() as any).tags].map((one) => one.constructor.name), ["AsyncGeneratorFunction", "AsyncGeneratorFunction"]);
          t.assert.Equal([tag(values()), tag(function* () {}), tag(declared())], ["[object AsyncGenerator]", "[object GeneratorFunction]", "[object Promise]"]);
        }
        export async function TestConstructor(t) {
          const AsyncFunction = Object.getPrototypeOf(async function () {}).constructor;
          t.assert.Equal([declared instanceof AsyncFunction, tag instanceof AsyncFunction, declared instanceof Function], [true, false, true]);
          t.assert.Equal(await new AsyncFunction("a", "return await a")(3), 3);
        }
        export function TestOthers(t) { t.assert.Equal([() => declared(), Service, tag].map((one) => tag(one) + one.constructor.name), Array(3).fill("[object Function]Function")); }
    """,
    "helpers_test.ts": """
        // variables of the compiler's helpers have these names, too
        const run = 1, generator = 2, value = 3, it = 4, arg = 5, call = 6, v = 7, q = 8;
        async function* numbers() { yield await 1; yield 2; }
        export async function TestLoop(t) { const seen = []; for await (const one of numbers()) seen.push(one); t.assert.Equal(seen, [1, 2]); }
        export async function TestLeft(t) { setTimeout(() => {}, 0); void (async () => { await null; throw new Error("nobody handles it"); })(); }
    """,
}


@pytest.fixture(scope="module", params=["plain", "covered"])
def named(shared_app: MakeApplication, request: pytest.FixtureRequest) -> dict[str, Record]:
    return shared_app(FILES).results("-i", "scripts.demo", *(["--coverage"] if request.param == "covered" else []))


def test_names_are_as_written(named: dict[str, Record]) -> None:
    failed = {name for name, record in named.items() if record["status"] != "passed"}
    assert failed == {"name.TestFrame", "helpers.TestLeft"}
    assert "nobody handles it" in str(named["helpers.TestLeft"])


def test_classes_with_decorators_have_their_names(app: MakeApplication) -> None:
    text = """
        function kept(value) { return value; }
        class Member { static made = Member.name; @kept own() { return Member.name; } }
        @kept class Whole { static who = () => Whole; }
        class Hidden { static #count = 1; static { Hidden.#count++; } @kept count() { return Hidden.#count; } }
        export default @kept class {}
        export function TestA(t) {
          class Inner { static self = () => Inner; @kept own() { return Inner.name; } }
          t.assert.Equal([Member.made, new Member().own(), Whole.name, Whole.who() === Whole], ["Member", "Member", "Whole", true]);
          t.assert.Equal([Hidden.name, new Hidden().count(), new Inner().own(), Inner.self() === Inner], ["Hidden", 2, "Inner", true]);
        }
    """
    (record,) = app({"a_test.ts": text}).results("-i", "scripts.demo.a").values()
    assert record["status"] == "passed", record
