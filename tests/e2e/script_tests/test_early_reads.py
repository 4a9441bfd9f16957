"""What is read before its line is an error, within a file and round a cycle of imports."""

from __future__ import annotations

import pytest
from command import MakeApplication

EARLY = {
    "a constant": {
        "a_test.ts": "const first = use();\nconst LIMIT = 5;\nfunction use() { return LIMIT; }\nexport function TestA(t) {}\n"
    },
    "a variable": {"a_test.ts": "export const seen = LIMIT + 1;\nexport let LIMIT = 5;\nexport function TestA(t) {}\n"},
    "a class": {"a_test.ts": "const first = new LIMIT();\nclass LIMIT {}\nexport function TestA(t) {}\n"},
    "in a function": {
        "a_test.ts": "export function TestA(t) { f(); const LIMIT = 1; function f() { return LIMIT; } }\n"
    },
    "a pattern": {
        "a_test.ts": "const first = () => LIMIT;\nfirst();\nconst { LIMIT } = { LIMIT: 1 };\nexport function TestA(t) {}\n"
    },
    "a plain script": {"a_test.js": "const first = LIMIT;\nconst LIMIT = 5;\nfunction TestA(t) {}\n"},
    "another script": {
        "a_test.ts": 'export function TestA(t) { Process("agents.demo.b.F"); }\n',
        "b.ts": "export const F = () => 1;\nconst x = LIMIT;\nconst LIMIT = 1;\n",
    },
}
CYCLES = {
    "a constant": (
        "import { B } from './b';\nexport const LIMIT = 'a';\nexport const A = [LIMIT, B];\n",
        "import { LIMIT } from './a';\nexport const B = { LIMIT };\n",
        "LIMIT",
    ),
    "a class": (
        "import { B } from './b';\nexport class Base {}\nexport const A = B;\n",
        "import { Base } from './a';\nexport class B extends Base {}\n",
        "Base",
    ),
    "an arrow function": (
        "import { B } from './b';\nexport const make = () => 1;\nexport const A = B;\n",
        "import { make } from './a';\nexport const B = make();\n",
        "make",
    ),
    "a default": (
        "import { B } from './b';\nexport default class {}\nexport const A = B;\n",
        "import Base from './a';\nexport class B extends Base {}\n",
        "default",
    ),
    "a pattern": (
        "import { B } from './b';\nexport const { other, LIMIT } = { LIMIT: 1 };\nexport const A = B;\n",
        "import { LIMIT } from './a';\nexport const B = LIMIT;\n",
        "LIMIT",
    ),
    "one of several": (
        "import { B } from './b';\nexport const first = 1, LIMIT = 'a';\nexport const A = B;\n",
        "import { LIMIT } from './a';\nexport const B = LIMIT;\n",
        "LIMIT",
    ),
    "a name twice": (
        "import { B } from './b';\nexport const LIMIT = 'a';\nexport const A = B;\n",
        "import { LIMIT as other } from './a';\nconst LIMIT = 1;\nexport const B = [other, LIMIT];\n",
        "LIMIT",
    ),
    "strict and sloppy": (
        "'use strict';\nimport { B } from './b';\nexport const LIMIT = 'a';\nexport const A = B;\n",
        "import { LIMIT } from './a';\nexport const B = { LIMIT };\n",
        "LIMIT",
    ),
}


CAUGHT = {
    "in a function": "const f = () => LIMIT; f(); const LIMIT = 1;",
    "renamed": "{ const LIMIT = 1; } const f = () => LIMIT; f(); const LIMIT = 1;",
    "a class": "new LIMIT(); class LIMIT {}",
    "imported": "await import('./cycle');",
}


@pytest.mark.parametrize("name", EARLY)
def test_it_is_named(app: MakeApplication, name: str) -> None:
    (record,) = app(EARLY[name]).results("-i", "scripts.demo.a").values()
    assert "ReferenceError: Cannot access 'LIMIT' before initialization" in record["error"]


@pytest.mark.parametrize("name", CAUGHT)
def test_who_catches_it_reads_what_other_engines_say(app: MakeApplication, name: str) -> None:
    here = app(
        {
            "cycle.ts": "import { B } from './other';\nexport const LIMIT = B;\n",
            "other.ts": "import { LIMIT } from './cycle';\nexport const B = [LIMIT];\n",
            "a_test.ts": f"""
                const LIMIT = 1;
                export async function TestA(t) {{
                  let seen;
                  try {{ {CAUGHT[name]} }} catch (error) {{ seen = error; }}
                  t.assert.Equal([seen.name, seen.message], ["ReferenceError", "Cannot access 'LIMIT' before initialization"]);
                  t.assert.True(seen instanceof ReferenceError);
                  t.assert.Match(seen.stack, /^ReferenceError: Cannot access 'LIMIT' before initialization\\n    at /);
                }}
                export async function TestLater(t) {{
                  const [{{ reason }}] = await Promise.allSettled([(async () => {{ {CAUGHT[name]} }})()]);
                  t.assert.Equal(reason.message, "Cannot access 'LIMIT' before initialization");
                }}
                export function TestOther(t) {{
                  try {{ missing; }} catch (error) {{ t.assert.Equal(error.message, "missing is not defined"); }}
                  const deep = () => deep() + 1;
                  try {{ deep(); t.fail("no end"); }} catch (error) {{ t.assert.Equal(error.name, "RangeError"); }}
                }}
            """,
        }
    )
    assert {record["status"] for record in here.results("-i", "scripts.demo.a").values()} == {"passed"}


HANDLED = {
    "by a name": "late().then(String, said)",
    "behind a text": "late().then((x) => `)`, said)",
    "behind a call": "late().then((x) => String(x), said)",
    "behind a block": "late().then((x) => {\n return x;\n}, said)",
    "by the method": "then.call(late(), String, said)",
}


@pytest.mark.parametrize("name", HANDLED)
def test_what_then_is_given_second_reads_it_too(app: MakeApplication, name: str) -> None:
    test = f"""
        const {{ then }} = Promise.prototype, said = (error) => error.message;
        export async function TestA(t) {{
          const late = async () => LIMIT;
          const seen = {HANDLED[name]};
          t.assert.Equal(await seen, "Cannot access 'LIMIT' before initialization");
          const LIMIT = 1;
        }}
    """
    if name != "by the method":
        test = test.replace("{ then } = Promise.prototype, ", "")
    (record,) = app({"a_test.ts": test}).results("-i", "scripts.demo.a").values()
    assert record["status"] == "passed", record


LAZY = """
import { early } from "./user";
const one = 1, two = one + 1;
let bare; let typed: number, third = 3;
let /* none */ odd; let later!: string;
let x = 1,
  y: string,
  z = (a, b) => a;
export const { p, q: [r] } = { p: 1, q: [2] };
export const [first = 4] = [];
enum Color { Red }
namespace Space { export const inner = 1; }
namespace Space { export const more = 2; }
export class Kept { static made = new Kept(); constructor(public v = two) {} }
export default class { y = 1 }
var old;
export function read() {
  return [one, two, bare, typed, third, odd, later, x, y, typeof z, p, r, first, Color.Red, Space.inner, Space.more, Kept.made.v, old];
}
bare = bare ?? 9;
export let count = 0;
export const increase = () => { count++; return count; };
export function peek(name) {
  return { one: () => one, two: () => two, x: () => x, z: () => z, p: () => p, r: () => r, first: () => first, Kept: () => Kept,
    bare: () => bare, typed: () => typed, third: () => third, odd: () => odd, y: () => y, old: () => old, Color: () => Color }[name]();
}
export { early };
"""


def test_modules_that_import_loads_have_what_is_there(app: MakeApplication) -> None:
    """Names with a value are read too early; variables without one, enums and `var` are not."""
    here = app(
        {
            "lazy.ts": LAZY,
            "user.ts": """
                import { peek } from "./lazy";
                const of = (name) => { try { return String(peek(name)); } catch (error) { return error.message; } };
                export const early = Object.fromEntries(
                  "one two x z p r first Kept third bare typed odd y old Color".split(" ").map((name) => [name, of(name)]),
                );
            """,
            "a_test.ts": """
                export async function TestA(t) {
                  const m = await import("./lazy");
                  t.assert.Equal(JSON.stringify(m.read()), '[1,2,9,null,3,null,null,1,null,"function",1,2,4,0,1,2,2,null]');
                  t.assert.Equal([m.increase(), m.increase(), m.count, new m.default().y, m.default.name], [1, 2, 2, 1, "default"]);
                  for (const [name, seen] of Object.entries(m.early)) {
                    const has = "bare typed odd y old Color".split(" ").includes(name);
                    t.assert.Equal(seen, has ? "undefined" : `Cannot access '${name}' before initialization`);
                  }
                }
            """,
        }
    )
    (record,) = here.results("-i", "scripts.demo.a").values()
    assert record["status"] == "passed", record


@pytest.mark.parametrize("test", ["import {{ A }} from './a';\n{}", "{}const {{ A }} = await import('./a');"])
@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_names_both_files(app: MakeApplication, name: str, test: str) -> None:
    a, b, read = CYCLES[name]
    test = f"{test.format('export async function TestA(t) { ')} t.assert.NotNil(A); }}\n"
    (record,) = app({"a.ts": a, "b.ts": b, "c_test.ts": test}).results("-i", "scripts.demo").values()
    line = 1 + next(at for at, text in enumerate(a.split("\n")) if read in text)
    assert record["error"].endswith(
        f"ReferenceError: Cannot access '{read}' before initialization (an import cycle: "
        f"assistants/demo/src/b.ts reads it before assistants/demo/src/a.ts has reached line {line})"
    )


def test_what_is_used_later_is_there(app: MakeApplication) -> None:
    here = app(
        {
            "a.ts": "import { odd } from './b';\nexport const ZERO = 0;\nexport const even = (n: number): boolean => n === ZERO || odd(n - 1);\n",
            "b.ts": "import { even, ZERO } from './a';\nexport const odd = (n: number): boolean => n !== ZERO && even(n - 1);\n",
            "kept.ts": "const one = 1;\nexport const Fn = (n: number) => n + one;\nexport class Kept {}\nexport let count = 0;\ncount = 1;\n",
            "a_test.ts": """
                import { even } from "./a";
                const hidden = [1];
                var before = typeof later; var later = 1;
                enum Level { Low = 1 } namespace Space { export const one = 1; }
                export function TestCycle(t) { t.assert.True(even(4)); }
                export function TestProcess(t) { t.assert.Equal(Process("agents.demo.kept.Fn", 2), 3); }
                export const TestValues = (t) => { t.assert.Equal([hidden, before, Level.Low, Space.one], [[1], "undefined", 1, 1]); };
                const template = `
                const hidden = 2;
                `;
                export function TestText(t) { t.assert.Contains(template, "const hidden = 2;"); }
            """,
            "shared.ts": "const setting = 1;\nfunction Read() { return setting; }\n",
            "shared_test.ts": "const setting = 2;\nfunction TestShared(t) { t.assert.Equal([Read(), setting], [2, 2]); }\n",
        }
    )
    assert {record["status"] for record in here.results("-i", "scripts.demo").values()} == {"passed"}
