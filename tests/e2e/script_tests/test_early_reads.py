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


@pytest.mark.parametrize("name", EARLY)
def test_it_is_named(app: MakeApplication, name: str) -> None:
    (record,) = app(EARLY[name]).results("-i", "scripts.demo.a").values()
    assert "ReferenceError: Cannot access 'LIMIT' before initialization" in record["error"]


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_names_both_files(app: MakeApplication, name: str) -> None:
    a, b, read = CYCLES[name]
    test = "import { A } from './a';\nexport function TestA(t) { t.assert.NotNil(A); }\n"
    (record,) = app({"a.ts": a, "b.ts": b, "c_test.ts": test}).results("-i", "scripts.demo").values()
    line = 1 + next(at for at, text in enumerate(a.split("\n")) if read in text)
    assert record["error"].endswith(
        f"ReferenceError: Cannot access '{read}' before initialization (a cycle of imports: "
        f"assistants/demo/src/b.ts reads it before assistants/demo/src/a.ts has come to its line {line})"
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
