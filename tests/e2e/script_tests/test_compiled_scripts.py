"""The TypeScript that scripts are written in, and how modules find each other."""

from __future__ import annotations

import pytest
from command import MakeApplication, Record
from table_tests import each

FEATURES = {
    "enums": """
        enum Level { Low = 1, High }
        const enum Name { A = "a" }
        export function TestA(t) { t.assert.Equal([Level.High, Level[2], Name.A], [2, "High", "a"]); }
    """,
    "namespaces": """
        namespace Outer { export namespace Inner { export const x = 1; } export function f() { return Inner.x; } }
        namespace Outer { export const more = 2; }
        export function TestA(t) { t.assert.Equal([Outer.f(), Outer.more], [1, 2]); }
    """,
    "decorators": """
        function twice(method: any, context: ClassMethodDecoratorContext) { return function (this: any, ...a: any[]) { return method.apply(this, a) * 2; }; }
        class Sum { @twice add(a: number, b: number) { return a + b; } }
        export function TestA(t) { t.assert.Equal(new Sum().add(1, 2), 6); }
    """,
    "generics and satisfies": """
        interface Box<T> { readonly value: T }
        const box = { value: 1 } satisfies Box<number>;
        function unwrap<const T>(b: Box<T>): T { return b.value as T; }
        export function TestA(t) { t.assert.Equal(unwrap<number>(box)!, 1); }
    """,
    "classes": """
        abstract class Base { static made = 0; #secret = 1; constructor(protected readonly name: string) { Base.made++; } get secret() { return this.#secret; } abstract hello(): string }
        class Child extends Base { override hello() { return super.name ?? this.name; } static { Base.made += 10; } }
        export function TestA(t) { const c = new Child("n"); t.assert.Equal([c.hello(), c.secret, Base.made], ["n", 1, 11]); }
    """,
    "assertions of types": """
        export function TestA(t) { const a = <any>1; const b = (a as unknown) as string; const c = a!; t.assert.Equal([b, c], [1, 1]); }
    """,
    "overloads and declarations": """
        declare function elsewhere(): void;
        declare const NAME: string;
        function f(a: string): string; function f(a: number): number; function f(a: any) { return a; }
        export function TestA(t) { t.assert.Equal(f(1), 1); }
    """,
    "modern JavaScript": """
        export async function TestA(t) {
          const { a = 1, ...rest } = { b: 2, c: null as any };
          rest.c ??= 3; t.assert.Equal([a, rest, rest?.c, [1, 2].at(-1), 2n ** 3n], [1, { b: 2, c: 3 }, 3, 2, 8n]);
          label: for (const x of [1]) { continue label; }
          t.assert.Equal(Object.groupBy([1, 2, 3], (n) => (n % 2 ? "odd" : "even")), { odd: [1, 3], even: [2] });
          const seen = []; for await (const x of [Promise.resolve(1)]) seen.push(x);
          t.assert.Equal(seen, [1]);
          t.assert.True(/(?<year>\\d{4})/v.exec("2024")!.groups!.year === "2024");
        }
    """,
    "JSON imports": """
        import data from "./data.json";
        import { list } from "./data.json";
        export function TestA(t) { t.assert.Equal([data.name, list], ["n", [1, 2]]); }
    """,
    "text beside code": """
        export function TestA(t) { t.assert.Equal(`a${"\\n"}b\u2028`.length, 4); t.assert.Equal("größe 😀".length, 8); }
    """,
    "import of everything": """
        import * as library from "./library";
        export function TestA(t) { t.assert.Equal([library.add(1, 2), Object.keys(library).includes("add")], [3, true]); }
    """,
    "import of a default": """
        import make, { add as plus } from "./library";
        export function TestA(t) { t.assert.Equal([make(), plus(1, 1)], ["made", 2]); }
    """,
    "import type": """
        import type { Shape } from "./library";
        import { type Shape as Other, add } from "./library";
        import type Nothing from "./does-not-exist";
        export function TestA(t) { const s: Shape = { a: add(1, 1) }; const o: Other = s; const n: Nothing | null = null; t.assert.Equal(o.a, 2); }
    """,
    "import of a type like a value": """
        import { Shape, add } from "./library";
        import { Alias, More } from "./barrel";
        export function TestA(t) { const s: Shape & Alias & More = { a: add(1, 1) }; t.assert.Equal(s, { a: 2 }); }
    """,
    "unused imports": """
        import { nothing } from "./does-not-exist-either";
        export function TestA(t) { t.assert.True(true); }
    """,
    "a function that is not exported": """
        import { hidden, alsoHidden } from "./library";
        export function TestA(t) { t.assert.Equal([hidden(), alsoHidden], ["hidden", 7]); }
    """,
    "a plain script": """
        import { Plain, value } from "./plain";
        export function TestA(t) { t.assert.Equal([Plain(), value], ["plain", 5]); }
    """,
    "circular imports": """
        import { even } from "./even";
        export function TestA(t) { t.assert.Equal([even(10), even(7)], [true, false]); }
    """,
    "re-exports": """
        import { add, everything } from "./barrel";
        export function TestA(t) { t.assert.Equal([add(1, 1), everything.add(2, 2)], [2, 4]); }
    """,
    "dynamic import": """
        export async function TestA(t) { const { add } = await import("./library"); t.assert.Equal(add(1, 2), 3); }
    """,
    "require": """
        const { add } = require("./library");
        exports.TestA = (t) => t.assert.Equal(add(1, 2), 3);
    """,
    "an extension": """
        import { add } from "./library.ts";
        import { js } from "./old.js";
        export function TestA(t) { t.assert.Equal([add(1, 2), js], [3, "js"]); }
    """,
    "an index": """
        import { index } from "./folder";
        export function TestA(t) { t.assert.Equal(index, "index"); }
    """,
    "scripts of the application": """
        import { shared } from "@scripts/shared";
        import { deep } from "@scripts/deep/er";
        export function TestA(t) { t.assert.Equal([shared(), deep], ["shared", "deep"]); }
    """,
    "paths of tsconfig": """
        import { shared } from "~/shared";
        import { only } from "only-this";
        export function TestA(t) { t.assert.Equal([shared(), only], ["shared", "only"]); }
    """,
    "a package": """
        import greet from "greeting";
        import { part } from "greeting/part";
        export function TestA(t) { t.assert.Equal([greet("a"), part], ["hello a", "part"]); }
    """,
    "the runtime": """
        import { Process, Exception, log } from "@yao/runtime";
        import { FS } from "@yao/fs";
        export function TestA(t) {
          t.assert.Equal(Process("utils.str.Concat", "a", "b"), "ab");
          t.assert.Equal([typeof FS, typeof log.Info, new Exception("x", 400).code], ["function", "function", 400]);
        }
    """,
    "no checking of types": """
        const x: number = "text";
        export function TestA(t: Missing.Type<string>) { t.assert.Equal(x.toUpperCase(), "TEXT"); }
    """,
    "comments for the checker": """
        // @ts-nocheck
        /// <reference types="somewhere" />
        export function TestA(t) { /* @ts-ignore */ const y: string = 1; t.assert.Equal(y, 1); }
    """,
}
SCRIPTS = {
    "data.json": '{"name": "n", "list": [1, 2]}',
    "library.ts": """
        export interface Shape { a: number }
        export function add(a: number, b: number) { return a + b; }
        function hidden() { return "hidden"; }
        const alsoHidden = 7;
        export default function make() { return "made"; }
    """,
    "plain.ts": "function Plain() { return 'plain'; }\nconst value = 5;\n",
    "even.ts": "import { odd } from './odd';\nexport function even(n: number): boolean { return n === 0 || odd(n - 1); }\n",
    "odd.ts": "import { even } from './even';\nexport function odd(n: number): boolean { return n !== 0 && even(n - 1); }\n",
    "barrel.ts": "export { Shape as More } from './library';\nexport type { Shape as Alias } from './library';\nexport * from './library';\nexport * as everything from './library';\n",
    "old.js": "export const js = 'js';\n",
    "folder/index.ts": "export const index = 'index';\n",
    "/scripts/shared.ts": "export function shared() { return 'shared'; }\n",
    "/scripts/deep/er.ts": "import { shared } from '../shared';\nexport const deep = shared() && 'deep';\n",
    "/scripts/only.ts": "export const only = 'only';\n",
    "/tsconfig.json": """{
        // comments and trailing commas
        "compilerOptions": { "paths": { "~/*": ["./scripts/*"], "only-this": ["./scripts/only.ts"], }, },
    }""",
    "/node_modules/greeting/package.json": '{"name": "greeting", "main": "./main.js", "module": "./module.js"}',
    "/node_modules/greeting/main.js": "module.exports = () => 'from main';\n",
    "/node_modules/greeting/module.js": "export default (name) => 'hello ' + name;\n",
    "/node_modules/greeting/part.js": "export const part = 'part';\n",
}


@pytest.fixture(scope="module")
def compiled(shared_app: MakeApplication) -> dict[str, Record]:
    files = {f"m{number}_test.ts": code for number, code in enumerate(FEATURES.values())}
    return shared_app({**files, **SCRIPTS}).results("-i", "scripts.demo")


@each("feature", FEATURES)
def test_scripts_may_use(compiled: dict[str, Record], feature: str) -> None:
    number = list(FEATURES).index(feature)
    (record,) = (record for name, record in compiled.items() if name.startswith(f"m{number}."))
    assert (record["name"], record.get("error"), record["status"]) == ("TestA", None, "passed")


# What is loaded with a test file

ALONGSIDE = {
    "loaded when it is not imported": (
        {"a_test.ts": "function TestA(t) { t.log(A()); }\n", "a.ts": "function A() { return 'a'; }\n"},
        ["a"],
    ),
    "loaded before the test file": (
        {"a_test.ts": "const early = A();\nfunction TestA(t) { t.log(early); }\n", "a.ts": "const A = () => 'a';\n"},
        ["a"],
    ),
    "with its own imports": (
        {
            "a_test.ts": "function TestA(t) { t.log(A()); }\n",
            "a.ts": "import { b } from './b';\nexport function A() { return b; }\n",
            "b.ts": "export const b = 'b';\n",
        },
        ["b"],
    ),
    "once when it is imported": (
        {"a_test.ts": "import { A } from './a';\nexport function TestA(t) { t.log(A()); }\n", "a.ts": "console.log('loaded');\nexport const A = () => 'a';\n"},
        ["loaded", "a"],
    ),
    "once when something else imports it": (
        {
            "a_test.ts": "import { b } from './b';\nexport function TestA(t) { t.log(b()); }\n",
            "a.ts": "console.log('loaded');\nexport const A = () => 'a';\n",
            "b.ts": "import { A } from './a';\nexport const b = () => A();\n",
        },
        ["loaded", "a"],
    ),
    "although its name stands in a text": (
        {
            "a_test.ts": "import { b } from './b';\nconst path = 'x/a';\nexport function TestA(t) { t.log(b, A(), path); }\n",
            "a.ts": "function A() { return 'a'; }\n",
            "b.ts": "export const b = 'b';\n",
        },
        ["b a x/a"],
    ),
    "in JavaScript": ({"a_test.ts": "function TestA(t) { t.log(A()); }\n", "a.js": "function A() { return 'js'; }\n"}, ["js"]),
    "as CommonJS": ({"a_test.ts": "function TestA(t) { t.log(A()); }\n", "a.js": "exports.A = () => 'cjs';\n"}, ["cjs"]),
    "missing": ({"a_test.ts": "function TestA(t) { t.log(typeof A); }\n"}, ["undefined"]),
    "with the same helper as the test file": (
        {"a_test.ts": "function help() { return 'test'; }\nfunction TestA(t) { t.log(help()); }\n", "a.ts": "function help() { return 'script'; }\n"},
        ["test"],
    ),
    "with the same class as the test file": (
        {"a_test.ts": "class C { n = 'test' }\nfunction TestA(t) { t.log(new C().n); }\n", "a.ts": "class C { n = 'script' }\nconst make = () => new C();\n"},
        ["test"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONGSIDE)
def test_the_module_under_test_is_loaded_alongside(app: MakeApplication, name: str) -> None:
    files, logs = ALONGSIDE[name]
    assert app(files).results("-i", "scripts.demo.a", code=0)["TestA"]["logs"] == logs


def test_scripts_of_other_agents_are_called_by_process(app: MakeApplication) -> None:
    here = app(
        {
            "a_test.ts": """
                export function TestA(t) {
                  t.log(Process("scripts.demo.tools.Twice", 4), Process("scripts.shared.Hello", "you"));
                  t.assert.Equal(Process("Scripts.Demo.Tools.Twice", 4), 8);
                  t.assert.Panic(() => Process("scripts.demo.tools.Missing"));
                  t.assert.Panic(() => Process("scripts.demo.broken.X"));
                  t.assert.Panic(() => Process("scripts.nowhere.X"));
                }
                export function TestMessages(t) {
                  for (const name of ["demo.tools.Missing", "demo.broken.X", "nowhere.X", "demo.tools.Throws", "demo.tools.Never", "demo.tools.Rejects", "demo.tools.ThrowsInTimer"])
                    try { Process("scripts." + name); } catch (error) { t.log(error.message); }
                }
            """,
            "tools.ts": """
                import { factor } from "./factor";
                function Twice(n: number) { return n * factor; }
                function Throws() { throw new TypeError("in tools"); }
                function Never() { return new Promise(() => {}); }
                function Rejects() { Promise.reject(new RangeError("lost")); return 1; }
                async function ThrowsInTimer() { setTimeout(() => { throw new Error("in timer"); }, 0); await new Promise((d) => setTimeout(d, 3)); }
            """,
            "factor.ts": "export const factor = 2;\n",
            "broken.ts": "const = 1;\n",
            "/scripts/shared.ts": "export async function Hello(name: string) { await null; return `hello ${name}`; }\n",
        }
    )
    results = here.results("-i", "scripts.demo.a", code=0)
    assert results["TestA"]["logs"] == ["8 hello you"]
    assert results["TestMessages"]["logs"] == [
        'Process "scripts.demo.tools.Missing" does not exist: its script has no function Missing. '
        'Or mock it with t.mock.process("scripts.demo.tools.Missing", ...)',
        '<app>/assistants/demo/src/broken.ts:1:7: Expected identifier but found "="',
        'Process "scripts.nowhere" does not exist: there is no such script. Or mock it with t.mock.process("scripts.nowhere.X", ...)',
        "TypeError: in tools",
        "deadlock: the test waits for a promise that can never settle",
        "RangeError: lost",
        "in timer",
    ]


def test_a_bigint_reaches_a_process_as_a_number(app: MakeApplication) -> None:
    test = """\
export function TestBigInt({ assert }) {
  assert.Equal(Process("utils.str.Concat", "id ", 9007199254740993n), "id 9007199254740993");
  assert.Equal(Process("encoding.hex.Encode", new Uint8Array([1]), 2n), "01");
  assert.Equal(Process("scripts.ids.Kind", 5n), ["number", 5]);
  assert.Equal(Process("scripts.ids.Next", 5n), 6);
  try { Process("scripts.ids.All"); } catch (error) {
    assert.Equal(error.message, "What was returned is not JSON: BigInt are forbidden in JSON.stringify");
    return;
  }
  assert.True(false, "a bigint within a result is refused, as in arguments");
}
export function TestStored({ assert }, ctx) {
  const store = new Store("ids");
  store.Set("a", 5n);
  store.Push("list", 6n, 7n);
  store.ArraySet("list", 0, 8n);
  store.Pull("list", 7n);
  ctx.memory.chat.Set(9007199254740993n, 9n);
  const made = store.GetSet("made", () => 10n);
  const found = [store.Get("a"), store.ArrayAll("list"), ctx.memory.chat.Get("9007199254740993"), made];
  assert.Equal(found, [5, [8], 9, 10]);
}
"""
    here = app(
        {
            "ids_test.ts": test,
            "/scripts/ids.ts": "function Kind(id) { return [typeof id, id]; }\nfunction Next(id) { return BigInt(id) + 1n; }\n"
            "function All() { return [1n]; }\n",
        }
    )
    assert here.run("-i", "scripts.demo.ids").code == 0
