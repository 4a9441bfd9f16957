"""Which functions are tests, under which names, and in which order."""

from __future__ import annotations

import pytest
from command import MakeApplication, Record
from table_tests import each

MODULES = {
    "exported": (
        """
        export function TestFunction(t) { t.log("function"); }
        export async function TestAsync(t) { await null; t.log("async"); }
        export const TestArrow = (t) => t.log("arrow");
        export const TestAsyncArrow = async (t) => { await null; t.log("async arrow"); };
        export const TestExpression = function (t) { t.log("expression"); };
        export let TestLet = (t) => t.log("let");
        export var TestVar = (t) => t.log("var");
        """,
        {
            "TestFunction": ["function"],
            "TestAsync": ["async"],
            "TestArrow": ["arrow"],
            "TestAsyncArrow": ["async arrow"],
            "TestExpression": ["expression"],
            "TestLet": ["let"],
            "TestVar": ["var"],
        },
    ),
    "plain": (
        """
        function TestFunction(t) { t.log("function"); }
        async function TestAsync(t) { await null; t.log("async"); }
        const TestArrow = (t) => t.log("arrow");
        const TestAsyncArrow = async (t) => { await null; t.log("async arrow"); };
        let TestLet = (t) => t.log("let");
        var TestVar = (t) => t.log("var");
        """,
        {
            "TestFunction": ["function"],
            "TestAsync": ["async"],
            "TestArrow": ["arrow"],
            "TestAsyncArrow": ["async arrow"],
            "TestLet": ["let"],
            "TestVar": ["var"],
        },
    ),
    "mixed": (
        "export function TestExported(t) {}\nfunction TestPlain(t) {}\nconst TestArrow = (t) => {};\n",
        {"TestExported": [], "TestPlain": [], "TestArrow": []},
    ),
    "several": (
        "export var TestA = (t) => t.log('a'), TestB = (t) => t.log('b');\nvar other = 1, TestC = (t) => t.log('c');\n",
        {"TestA": ["a"], "TestB": ["b"], "TestC": ["c"]},
    ),
    "destructured": (
        "const made = { TestA: (t) => t.log('a'), b: (t) => t.log('b') };\nexport const { TestA, b: TestB } = made;\n",
        {"TestA": ["a"], "TestB": ["b"]},
    ),
    "default": (
        "export function TestA(t) {}\nexport default function TestDefault(t) { t.log(t.name); }\n",
        {"TestA": [], "TestDefault": ["TestDefault"]},
    ),
    "default_named_otherwise": (
        "export function TestA(t) {}\nexport default (t) => { throw new Error('no test'); };\n",
        {"TestA": []},
    ),
    "renamed": (
        "function check(t) { t.log(t.name); }\nexport function TestA(t) {}\nexport { check as TestRenamed };\n",
        {"TestRenamed": ["TestRenamed"], "TestA": []},
    ),
    "reexported": (
        "export function TestA(t) {}\nexport { TestOther } from './others';\nexport { check as TestRenamed } from './others';\n",
        {"TestOther": ["TestOther"], "TestRenamed": ["TestRenamed"], "TestA": []},
    ),
    "star": ("export function TestA(t) {}\nexport * from './stars';\n", {"TestStar": ["star"], "TestA": []}),
    "commonjs": (
        "const { F } = require('./library');\nexports.TestA = function (t) { t.log(F()); };\nmodule.exports.TestB = (t) => {};\n",
        {"TestA": ["f"], "TestB": []},
    ),
    "helpers": (
        "import { TestHelper, help } from './helper';\nexport function TestA(t) { t.log(help(), typeof TestHelper); }\n",
        {"TestA": ["help function"]},
    ),
    "text": (
        """
        // function TestInComment(t) {}
        /* export function TestInBlock(t) {} */
        const quoted = "function TestInString(t) {}";
        const template = `
function TestInTemplate(t) {}
`;
        function outer() { function TestNested(t) {} return TestNested; }
        export const object = { TestMethod(t) {} };
        export function testLower(t) {}
        export function aTest(t) {}
        export const TestData = { rows: [1] }, TestNumber = 17;
        export class TestClass { constructor(readonly name: string) {} }
        export class TestDerived extends TestClass {}
        export interface TestShape { a: number }
        export type TestType = string;
        export enum TestEnum { One }
        export function TestA(t) { t.log(quoted.length, template.length, typeof outer(), typeof TestMethods); }
        const TestMethods = object;
        """,
        {"TestA": ["27 31 function object"]},
    ),
    "hooks": (
        """
        export function TestMain(m) { return m.Run(); }
        export function BeforeAll() {}
        export function AfterAll() {}
        export function BeforeEach() {}
        export function AfterEach() {}
        export function TestA(t) {}
        export function TestMainly(t) {}
        """,
        {"TestA": [], "TestMainly": []},
    ),
    "letters": (
        """
        export function Test$dollar(t) { t.log(1); }
        export function Test_under(t) { t.log(2); }
        export function Test(t) { t.log(3); }
        export function TestÄpfel(t) { t.log(4); }
        export function Test測試(t) { t.log(5); }
        export function Test\\u{1D400}(t) { t.log(6); }
        export function Test1(t) { t.log(7); }
        function Test$plain(t) { t.log(8); }
        """,
        {
            "Test$dollar": ["1"],
            "Test_under": ["2"],
            "Test": ["3"],
            "TestÄpfel": ["4"],
            "Test測試": ["5"],
            "Test\U0001d400": ["6"],
            "Test1": ["7"],
            "Test$plain": ["8"],
        },
    ),
    "order": (
        """
        export const TestD = (t) => {};
        function TestB(t) {}
        export async function TestC(t) {}
        const TestA = (t) => {};
        const sample = `
function TestB(t) {
}
`;
        export function TestZ(t) { t.assert.Equal(sample, "\\nfunction TestB(t) {\\n}\\n"); }
        export function TestE(t) {}
        """,
        {"TestD": [], "TestB": [], "TestC": [], "TestA": [], "TestZ": [], "TestE": []},
    ),
    "alias": (
        "export function TestA(t) { t.log(t.name); }\nexport const TestB = TestA;\n",
        {"TestA": ["TestA"], "TestB": ["TestB"]},
    ),
    "late": (
        "export let TestA;\nTestA = (t) => t.log('late');\nif (true) { var TestB = (t) => t.log('block'); }\n",
        {"TestA": ["late"], "TestB": ["block"]},
    ),
    "alongside": ("function TestA(t) { t.log(Setup(), inner, new Thing().name); }\n", {"TestA": ["setup inner thing"]}),
}
SCRIPTS = {
    "others.ts": """
        export function TestOther(t) { t.log(t.name); }
        export function check(t) { t.log(t.name); }
        export function TestNotReexported(t) { throw new Error('no test of the entry point'); }
    """,
    "stars.ts": "export function TestStar(t) { t.log('star'); }\n",
    "library.js": "exports.F = () => 'f';\n",
    "helper.ts": (
        "export function TestHelper(t) { throw new Error('no test'); }\nexport function help() { TestHelper; return 'help'; }\n"
    ),
    "alongside.ts": """
        function Setup() { return 'setup'; }
        const inner = 'inner';
        class Thing { name = 'thing' }
        function TestInScript(t) { throw new Error('no test of the test file'); }
    """,
}


@pytest.fixture(scope="module")
def found(shared_app: MakeApplication) -> dict[str, dict[str, Record]]:
    """What ran, by module and test."""
    here = shared_app({**{f"{name}_test.ts": code for name, (code, _) in MODULES.items()}, **SCRIPTS})
    report = here.report("-i", "scripts.demo")
    parts = {part["script"].removeprefix("scripts.demo."): part["results"] for part in report["reports"]}
    return {module: {record["name"]: record for record in records} for module, records in parts.items()}


@each("module", MODULES)
def test_the_tests_of_a_module_in_source_order_with_what_they_log(
    found: dict[str, dict[str, Record]], module: str
) -> None:
    _, expected = MODULES[module]
    assert {name: record.get("error", record["logs"]) for name, record in found[module].items()} == expected
    assert list(found[module]) == list(expected)


def test_a_module_in_javascript_is_found_with_its_script(app: MakeApplication) -> None:
    here = app({"js_test.js": "function TestJS(t) { t.log(F()); }\n", "js.js": "function F() { return 'f'; }\n"})
    assert here.results("-i", "scripts.demo.js", code=0)["TestJS"]["logs"] == ["f"]


def test_modules_are_found_in_nested_folders_and_agents(app: MakeApplication) -> None:
    test = "export function TestA(t, ctx) { t.log(ctx.AssistantID); }\n"
    here = app(
        {
            "inner/deep_test.ts": test,
            "/assistants/workers/system/keyword/package.yao": "{}",
            "/assistants/workers/system/keyword/src/index_test.ts": test,
            "/assistants/workers/package.yao": "{}",
            "/assistants/workers/src/system_test.ts": test,
            "/assistants/demo/src/node_modules/x/x_test.ts": test,
        }
    )
    run = here.run("-i", "scripts.*", "--dry-run")
    assert run.stdout.splitlines() == [
        "scripts.demo.inner.deep",
        "  TestA",
        "scripts.workers.system",
        "  TestA",
        "scripts.workers.system.keyword.index",
        "  TestA",
        "3 tests in 3 modules",
    ]
    assert here.results("-i", "scripts.workers.system.keyword.index", code=0)["TestA"]["logs"] == [
        "workers.system.keyword"
    ]
    assert here.results("-i", "scripts.workers.system", code=0)["TestA"]["logs"] == ["workers"]
    assert here.results("-i", "scripts.assistants.demo.inner.deep", code=0)["TestA"]["logs"] == ["demo"]


def test_packages_and_folders_with_a_dot_are_not_looked_into(app: MakeApplication) -> None:
    case = '{"id": "other", "input": "x"}\n'
    here = app(
        {
            "a_test.ts": "export function TestA() {}\n",
            "/assistants/demo/tests/cases.jsonl": '{"id": "own", "input": "x"}\n',
            "/.venv/lib/package/tests/data.yaml": "- no case\n",
            "/node_modules/package/tests/cases.jsonl": case,
            "/assistants/demo/.cache/tests/cases.jsonl": case,
            "/assistants/.old/package.yao": "{}",
            "/assistants/.old/src/b_test.ts": "export function TestB() {}\n",
        }
    )
    run = here.run("-i", ".", "--dry-run")
    assert run.code == 0, run
    assert run.stdout.splitlines() == [
        "Warning: Not collected: assistants/.old. Folders with such names are not searched for agents or tests",
        "scripts.demo.a", "  TestA", "assistants/demo/tests/cases.jsonl", "  own", "2 tests in 2 inputs"
    ]  # fmt: skip


@pytest.mark.parametrize("named", ["group.other", "assistants.group.other", "Group.Other"])
def test_a_named_agent_has_its_id_in_the_context_however_it_is_written(app: MakeApplication, named: str) -> None:
    test = """\
export function TestA(t, ctx) {
  t.assert.Equal([ctx.AssistantID, ctx.assistant_id], ["group.other", "group.other"]);
}
"""
    here = app({"a_test.ts": test, "/assistants/group/other/package.yao": "{}"})
    run = here.run("-i", "scripts.demo.a", "-n", named)
    assert run.code == 0, run
    run = here.run("-i", "scripts.demo.a", "-n", f"{named}s")
    assert (run.code, "Hint: Did you mean" in run.stderr) == (2, True), run
