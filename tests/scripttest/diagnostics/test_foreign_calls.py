"""Names of other test tools in script tests, hooks and imports: each failure has the line to write."""

from __future__ import annotations

import pytest
from agent_files import agent
from command import MakeApplication

WRITTEN = {
    "expect(1).toBe(2);": "t.assert.Equal(1, 2)",
    "expect([1, 2].length).not.toEqual(2);": "t.assert.NotEqual([1, 2].length, 2)",
    "expect(\n    { a: [1, 'x)'] },\n  ).toStrictEqual({ a: 1 });": "t.assert.Equal({ a: [1, 'x)'] }, { a: 1 })",
    'expect(() => { throw new Error("x"); }).toThrow();': 't.assert.Panic(() => { throw new Error("x"); })',
    "expect(null).not.toBeNull();": "t.assert.NotNil(null)",
    "expect({ a: 1 }).toEqual({ a: expect.any(Number) });": 't.assert.Equal({ a: 1 }, { a: t.any("number") })',
    "expect('a\\\\').toBe('(');": "t.assert.Equal('a\\\\', '(')",
    "expect(1);": "t.assert.Equal(1, ...)",
    "const f = vi.fn();": 't.mock.process("models.order.Create", (order) => ({ id: 1, ...order }))',
    "jest.advanceTimersByTime(500);": "t.mock.advance(500)",
    'return fetch("https://a.example");': 'http.Get("https://a.example")',
    "return process.env.HOME;": 'Process("utils.env.Get", "HOME")',
    'describe("orders", () => {});': 'export function TestOrders(t: testing.T) { t.run("...", (t) => { ... }); }',
    'it("adds two numbers", () => {});': "export function TestAddsTwoNumbers(t: testing.T) { ... }",
    "beforeEach(() => {});": "export function BeforeEach(t: testing.T) { ... }",
    "assert.strictEqual(1, 2);": "t.assert.Equal(1, 2)",
    "t.assert.toBe(1, 2);": "t.assert.Equal(1, 2)",
    "t.is(1, 2);": "t.assert.Equal(1, 2)",
    "t.expect(1).toBe(2);": "t.assert.Equal(1, 2)",
    "assert.Equal(at(1), 2);": "t.assert.Equal(at(1), 2)",
    "require.NoError(t, null);": "t.require.NoError(null)",
    "const name = 'a'; require(name);": 'import { Total } from "./total"',
    "return __dirname;": 'new FS("data").ReadFile("file.txt")',
}


@pytest.mark.parametrize(("code", "line"), WRITTEN.items(), ids=[code[:20].replace("\n", "") for code in WRITTEN])
def test_a_name_of_another_tool_comes_with_the_line_to_write(app: MakeApplication, code: str, line: str) -> None:
    run = app({"a_test.ts": f"export function TestA(t: any) {{\n  {code}\n}}\n"}).run("scripts.demo.a")

    assert run.code == 1
    assert [text.strip() for text in run.stdout.splitlines() if "Write: " in text] == [f"Write: {line}"]


OWN = {
    "a function": "function expect(x: any) { return { toBe: (y: any) => x === y }; }\n"
    "export function TestA(t: any) { t.assert.True(expect(1).toBe(1)); }",
    "typeof": "export function TestA(t: any) { t.assert.Equal([typeof fetch, typeof require, 'vi' in globalThis], ['undefined', 'undefined', false]); }",
    "data": "export function TestA(t: any) { t.assert.Equal('expect is not defined'.length, 21); }",
}


@pytest.mark.parametrize("code", OWN.values(), ids=OWN)
def test_own_names_and_texts_are_nothing_special(app: MakeApplication, code: str) -> None:
    run = app({"a_test.ts": code}).run("scripts.demo.a")

    assert (run.code, "Write" in run.stdout) == (0, False), run


BLAMED = {
    "t.assert.Equl(at().length, 1);": "t.assert.Equl is not a function",
    "t.assert.Equl(at(), 1);": "t.assert.Equl is not a function",
    "t.assert.Equal(none().length, 1);": "none is not a function",
    "none(at().length);": "at or none is not a function",
}


@pytest.mark.parametrize(("code", "blamed"), BLAMED.items())
def test_the_word_that_is_wrong_is_blamed(app: MakeApplication, code: str, blamed: str) -> None:
    source = f"const none: any = 1;\nfunction at() {{ return [1]; }}\nexport function TestA(t: any) {{ {code} }}\n"

    assert f"TypeError: {blamed}\n" in app({"a_test.ts": source}).run("scripts.demo.a").stdout


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("vitest", "export function TestTotal(t: testing.T) { ... }"),
        ("node:fs", 'new FS("data").ReadFile("file.txt")'),
        ("fs/promises", 'new FS("data").ReadFile("file.txt")'),
        ("@jest/globals", "export function TestTotal(t: testing.T) { ... }"),
        ("bun:test", "export function TestTotal(t: testing.T) { ... }"),
        ("axios", 'http.Get("https://api.example.com")'),
    ],
)
def test_a_package_of_another_tool_comes_with_the_line_to_write(app: MakeApplication, package: str, line: str) -> None:
    source = f'import * as other from "{package}";\nexport function TestA(t: any) {{ console.log(other); }}\n'
    run = app({"a_test.ts": source}).run("scripts.demo.a")

    assert (run.code, f"     Write: {line}" in run.stdout) == (1, True), run


def test_a_hook_comes_with_it_too(app: MakeApplication) -> None:
    files = agent("desk", cases=[{"id": "one", "input": "Hi"}])
    hook = "export function Create(ctx: any) { return fetch('https://a.example'); }\n"
    run = app({**files, "/assistants/desk/src/index.ts": hook}).run("desk")

    assert (run.code, "Write: http.Get('https://a.example')" in run.stdout) == (1, True), run


def test_an_agent_that_ends_with_its_tools_is_told_what_answers(app: MakeApplication) -> None:
    replies = "- when: { tool.name: find }\n  reply: There are two.\n- reply: { tool_calls: [find] }\n"
    case = {"id": "one", "input": "Hi", "assert": {"type": "contains", "value": "two"}}
    package = '{"connector": "scripted", "mcp": {"servers": ["shelf"]}}'
    files = {
        **agent("desk", replies=replies, cases=[case]),
        "/assistants/desk/package.yao": package,
        "/mcps/shelf.mcp.yao": '{"transport": "process", "tools": {"find": "scripts.shelf.Find"}}',
        "/scripts/shelf.ts": "export function Find() { return [1, 2]; }\n",
    }
    hook = "export function Create(ctx: any) { return null; }\n"
    answers = app(files).run("desk")
    ended = app({**files, "/assistants/desk/src/index.ts": hook}).run("desk")

    assert "The agent ended with its tool calls" in ended.stdout
    assert "export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next" in ended.stdout
    assert answers.code == 0, answers
