"""Attacks by the hooks of an agent, whose realms are made elsewhere than those of tests."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, run_cases
from attacks import MARK
from command import MakeApplication, Record

ATTACKS = {
    "file": 'new FS("data").ReadFile("../../secret.txt")',
    "link": 'new FS("data").ReadFile("out")',
    "application": 'new FS("app").WriteFile("x", "x")',
    "connector": 'new FS("app").ReadFile("connectors/model.conn.yao")',
    "environment file": 'new FS("app").ReadFile(".env")',
    "variable": 'Process("utils.env.Get", "HOME") || nothing()',
    "network": 'http.Get("http://127.0.0.1:9/")',
    "process": 'Process("cmd.exec", "id")',
    "script by a path": 'Process("scripts./../../outside.Leak")',
    "variable as a connector": 'Process("llm.ChatCompletions", "$ENV.HOME", [{ role: "user", content: "x" }])',
    "door": 'globalThis.$host ? "door" : nothing()',
}
HOOKS = (
    "function nothing() { throw new Error('refused: nothing'); }\nconst ATTACKS = {"
    + "".join(f"{json.dumps(name)}: () => {code},\n" for name, code in ATTACKS.items())
    + """};
export function Create(ctx, messages) {
  Object.prototype.data = { got: "forged" };
  Array.prototype.push = () => { throw new Error("push"); };
  JSON.stringify = () => '{"data":"forged"}';
  return null;
}
export function Next(ctx, payload) {
  const name = payload.messages[payload.messages.length - 1].content;
  try { return { data: { got: ATTACKS[name]() } }; } catch (error) { return { data: { refused: String(error.message) } }; }
}
"""
)


@pytest.fixture(scope="module")
def results(shared_app: MakeApplication) -> dict[str, Record]:
    cases = [{"id": name, "input": name} for name in ATTACKS]
    connector = json.dumps({"type": "openai", "options": {"key": "sk-key-of-a-connector", "model": "m"}})
    files = agent(hooks=HOOKS, cases=cases) | {"/connectors/model.conn.yao": connector, "/.env": "A=1", "/data/x": ""}
    app = shared_app(files)
    (app.root.parent / "secret.txt").write_text(MARK)
    (app.root.parent / "outside.ts").write_text(f'export function Leak() {{ return "{MARK}"; }}')
    (app.root / "data/out").symlink_to("../../secret.txt")
    return run_cases(app)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hook_reaches_no_more_than_a_test(results: dict[str, Record], attack: str) -> None:
    output = results[attack]["output"]
    assert list(output) == ["refused"], output
    assert MARK not in json.dumps(results[attack])
    assert "/home" not in output["refused"]
