"""`"use strict"` holds for the file that has it, and for no other; without it code is sloppy, as in Yao."""

from __future__ import annotations

import pytest
from command import MakeApplication

WRITE = "const o: any = Object.freeze({ a: 1 }); o.a = 2; return typeof (function () { return this; })();"
PLAIN_WRITE = WRITE.replace(": any", "")
MODES = {
    "typescript": ('"use strict";\nexport function F() { WRITE }', True),
    "after a comment": ("// first\n/* second */ 'use strict'\nexport function F() { WRITE }", True),
    "without exports": ('"use strict";\nfunction F() { WRITE }', True),
    "an arrow function": ('"use strict";\nexport const F = (a = 1) => { WRITE };', True),
    "sloppy": ("export function F() { WRITE }", False),
    "an expression": ('"use strict" + "";\nexport function F() { WRITE }', False),
    "later": ('const x = 1;\n"use strict";\nexport function F() { WRITE }', False),
    "imports": ('import { x } from "./lib";\nexport function F() { x(); WRITE }', False),
    "strict imports": ('"use strict";\nimport { x } from "./sloppy";\nexport function F() { x(); WRITE }', True),
}


def test_a_directive_holds_for_its_file(app: MakeApplication) -> None:
    files = {f"m{number}.ts": code.replace("WRITE", WRITE) for number, (code, _) in enumerate(MODES.values())}
    calls = [f'Process("agents.demo.m{number}.F")' for number in range(len(MODES))]
    checks = "\n".join(
        f't.assert.{"Panic" if strict else "NoPanic"}(() => {call}, "{name}");'
        for call, (name, (_, strict)) in zip(calls, MODES.items(), strict=True)
    )
    files["lib.ts"] = (
        f'"use strict";\nexport function x() {{ try {{ {WRITE} }} catch {{ return; }} throw new Error("sloppy"); }}'
    )
    files["sloppy.ts"] = f"export function x() {{ {WRITE} }}"
    files["js.js"] = f'"use strict";\nexport function F() {{ {PLAIN_WRITE} }}'
    files["plain.js"] = f'"use strict";\nfunction F() {{ {PLAIN_WRITE} }}'
    files["sloppy.js"] = f"function F() {{ undeclared = 1; {PLAIN_WRITE} }}"
    checks += 't.assert.Panic(() => Process("agents.demo.js.F"));t.assert.Panic(() => Process("agents.demo.plain.F"));'
    files["all_test.ts"] = (
        'import { F } from "./m0"; import { F as G } from "./m4";\n'
        f"export function TestCalls(t) {{ {checks} }}\n"
        "export function TestImports(t) { t.assert.Panic(() => F()); t.assert.Equal(G(), 'object'); }\n"
    )
    files["strict_test.ts"] = (
        '"use strict";\nimport { F } from "./m4"; import { x } from "./lib";\n'
        "export function TestHere(t) { t.assert.Panic(() => { (Object.freeze({ a: 1 }) as any).a = 2; }); x(); t.assert.NoPanic(() => F()); }\n"
        "export function TestPlace(t) {\n  t.assert.Equal(1, 2);\n}\n"
    )
    results = app(files).results("-i", "scripts.demo")
    assert {name: record["status"] for name, record in results.items()} == {
        "all.TestCalls": "passed",
        "all.TestImports": "passed",
        "strict.TestHere": "passed",
        "strict.TestPlace": "failed",
    }
    assert "strict_test.ts:5:12" in str(results["strict.TestPlace"])


SETTINGS = {
    "strict": ('{"compilerOptions": {"strict": true}}', True),
    "alwaysStrict": ('{\n// comment\n"compilerOptions": {"alwaysStrict": true,}}', True),
    "not always": ('{"compilerOptions": {"strict": true, "alwaysStrict": false}}', False),
    "extended": ('{"extends": "./base.json"}', True),
    "none": ("{}", False),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_tsconfig_adds_it(app: MakeApplication, name: str) -> None:
    settings, strict = SETTINGS[name]
    here = app(
        {
            "/tsconfig.json": settings,
            "/base.json": '{"compilerOptions": {"strict": true}}',
            "/node_modules/old/index.js": "exports.keep = function (o) { o.a = 2; return o.a; };",
            "lib.ts": f"export function F() {{ {WRITE} }}",
            "lib_test.ts": 'import { F } from "./lib"; import { keep } from "old";\nexport function TestF(t) { t.assert.%s(() => F()); t.assert.Equal(keep(Object.freeze({ a: 1 })), 1); }'
            % ("Panic" if strict else "NoPanic"),
        }
    )
    (record,) = here.results("-i", "scripts.demo").values()
    assert (record["status"], record.get("error")) == ("passed", None)
