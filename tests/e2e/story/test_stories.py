"""What a story has besides the lines: the same world again, limits, secrets, timeouts, and who gets one."""

from __future__ import annotations

import json

from command import Application, MakeApplication, Record


def stories(app: Application, *flags: str) -> dict[str, list[Record]]:
    """The stories by the names of tests."""
    run = app.run("--story=all", "--json", *flags)
    return {failure["test"]: failure.get("story", []) for failure in json.loads(run.stdout)["failures"]}


def kinds(story: list[Record]) -> set[str]:
    return {line["kind"] for line in story}


def test_the_second_run_sees_the_world_of_the_first(app: MakeApplication) -> None:
    made = app(
        {
            "world_test.ts": """
let loaded = 0;
export function TestWorld(t) {
  const fs = new FS("data");
  const before = fs.Exists("count.txt") ? Number(fs.ReadFile("count.txt")) : 0;
  fs.WriteFile("count.txt", String(before + 1));
  const drawn = [Math.random(), Math.random()];
  const day = new Date().toISOString().slice(0, 10);
  t.assert.Equal({ before, drawn, day }, 0);
}
export function TestOften(t) {
  const calls = t.mock.process("utils.now", () => ++loaded);
  t.assert.Equal([Process("utils.now"), Process("utils.now")], []);
}
export function TestStopped(t) { t.mock.now("2025-01-01T00:00:00Z"); const now = new Date(); t.assert.Equal(now, 1); }
"""
        }
    )
    found = stories(made)
    assert found.keys() == {"TestWorld", "TestOften", "TestStopped"}
    assert [line["text"] for story in found.values() for line in story if line["kind"] in ("flaky", "note")] == []
    assert (made.root / "data/count.txt").read_text() == "1"
    assert {"before": 0} in [line.get("assigned") for line in found["TestWorld"]]
    assert {"now": "Date(2025-01-01T00:00:00.000Z)"} in [line.get("assigned") for line in found["TestStopped"]]


def test_what_is_drawn_anywhere_and_the_number_of_the_run_are_those_of_the_first(app: MakeApplication) -> None:
    made = app(
        {
            "drawn_test.ts": """
const { random } = Math;
const early = random();
export function TestEarly(t) { t.assert.Equal([early, Math.random.name], 0); }
export function TestCalled(t) { t.assert.Equal(Process("scripts.demo.lots.Draw"), 0); }
export function TestIds(t) { t.assert.Equal(Process("utils.str.UUID"), 0); }
export function TestStack(t) { t.assert.Equal(new Error("x").stack, 0); }
""",
            "run_test.ts": "export function TestRun(t, ctx) { const { run } = ctx.metadata; t.assert.True(run < 2); }",
            "lots.ts": "export function Draw() { return Math.random(); }",
        }
    )
    found = stories(made, "--runs", "2")
    assert found.keys() == {"TestEarly", "TestCalled", "TestIds", "TestStack", "TestRun"}
    assert [line["text"] for story in found.values() for line in story if line["kind"] in ("flaky", "note")] == []
    assert {"run": 2} in [line.get("assigned") for line in found["TestRun"]]


def test_what_ends_differently_is_flaky(app: MakeApplication) -> None:
    odd = "export function TestOdd(t) { const at = performance.now(); t.assert.Equal(at, 1); }"
    first, *_ = stories(app({"odd_test.ts": odd}))["TestOdd"]
    assert first["kind"] == "flaky"
    assert "in the second run, which recorded this story, the test failed with: Not equal" in first["text"]


def test_showing_values_runs_no_code_of_them(app: MakeApplication) -> None:
    made = app(
        {
            "seen_test.ts": """
export function TestSeen(t) {
  const seen = [];
  const note = (what) => { seen.push(what); };
  const spy = new Proxy({ a: 1 }, { get: () => note("get"), ownKeys: () => (note("keys"), []), getPrototypeOf: () => (note("proto"), null) });
  const odd = { get x() { note("getter"); return 1; }, toJSON() { note("json"); }, toString() { note("text"); return ""; } };
  const all = [spy, odd, Object.create(spy), new Proxy(function () {}, { get: () => note("function") })];
  t.assert.Equal([seen, all.length], 0);
}
"""
        }
    )
    story = stories(made)["TestSeen"]
    assert not kinds(story) & {"flaky", "note"}
    assert {"spy": "[Proxy]"} in [line.get("assigned") for line in story]
    assert any("x: [Getter]" in line["text"] for line in story)


def test_timeouts_deadlocks_and_modules_that_do_not_load_have_their_last_lines(app: MakeApplication) -> None:
    made = app(
        {
            "ends_test.ts": """
export function TestForever(t) { let n = 0; while (true) { n++; } }
export async function TestNever(t) { const gate = new Promise(() => {}); await gate; }
""",
            "broken_test.ts": 'const port = "80" + 1;\nif (port !== "81") throw new Error("wrong port " + port);\n',
        }
    )
    found = stories(made, "--timeout", "300ms")
    assert max(line.get("assigned", {}).get("n", 0) for line in found["TestForever"][-3:]) > 100
    assert {"gate": "Promise {<pending>}"} in [line.get("assigned") for line in found["TestNever"]]
    assert found["broken"][-1] | {"file": ""} == {
        "file": "",
        "line": 2,
        "depth": 0,
        "kind": "threw",
        "threw": "Error: wrong port 801",
        "read": {"port": "801"},
        "text": 'throws Error: wrong port 801  (port is "801")',
    }


def test_loops_are_folded_and_long_stories_are_cut_at_the_front(app: MakeApplication) -> None:
    made = app(
        {
            "long_test.ts": """
export function TestLoop(t) { let odd = 0; for (let i = 0; i < 500; i++) { if (i === 250) odd = i; } t.assert.Equal(odd, 1); }
export function TestLong(t) {
"""
            + "".join(f"  const v{number} = 'x'.repeat(100) + {number};\n" for number in range(300))
            + "  t.assert.Equal(v299, 1);\n}\n"
        }
    )
    found = stories(made)
    turns = [line["turn"] for line in found["TestLoop"] if "turn" in line]
    assert turns == [1, 2, 251, 500]
    assert {line["turns"] for line in found["TestLoop"] if "turn" in line} == {500}
    cut, *rest = found["TestLong"]
    assert cut["kind"] == "cut" and len(rest) <= 200
    assert sum(len(line["text"]) for line in rest) <= 16_000
    assert "v299" in rest[-1]["text"]


def test_secrets_and_names_of_the_configuration_are_hidden(app: MakeApplication) -> None:
    made = app(
        {
            "secret_test.ts": """
export function TestSecret(t) {
  const user = { token: "abcdef123", name: "Ada", card: 4111 };
  const password = "hunter2222";
  const pay = (card) => card + 1;
  for (const key of ["tea ", "sk-abcdefghijkl-1"]) user[key] = 1;
  t.assert.Equal(pay(user.card) + password, 2);
}
""",
            "/yao-test.toml": 'story-hide = ["ca*"]\n',
        }
    )
    texts = "\n".join(line["text"] for line in stories(made)["TestSecret"])
    assert 'user = {token: "***", name: "Ada", card: "***"}' in texts
    assert "password = ***" in texts and "pay(***)" in texts
    assert "abcdef123" not in texts and "4111" not in texts
    assert '[1 of 2] key = "tea "' in texts and "[2 of 2] key = ***" in texts


def test_up_to_three_are_told_where_it_is_asked_for_and_none_elsewhere(app: MakeApplication) -> None:
    tests = "".join(f"export function Test{name}(t) {{ t.assert.Equal(1, 2); }}\n" for name in "ABCDE")
    made = app({"many_test.ts": tests})
    assert made.run().stdout.count("What happened before it failed") == 0
    assert made.run("--story").stdout.count("What happened before it failed") == 3
    assert made.run("--story", "--max-failures", "2").stdout.count("What happened before it failed") == 2
    assert made.run("--story=none").stderr.startswith('Error: Invalid --story "none"')
