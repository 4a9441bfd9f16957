"""Random numbers of a test and of a seed: the same in each run, in all that draws them."""

from __future__ import annotations

import json

from agent_files import agent, run_cases, server
from command import MakeApplication
from world_app import INNER, passes, shop


def test_random_numbers_can_be_fixed_for_a_test(app: MakeApplication) -> None:
    application = app(
        shop("""
const draw = () => JSON.stringify([Math.random(), Math.random(), Process("utils.str.UUID"), Process("scripts.demo.inner.Draw"), Process("scripts.demo.inner.Draw"), call("draw").tools]);
export function TestSeeds(t) {
  const free = draw();
  t.mock.random(1);
  const first = draw();
  const next = draw();
  t.mock.random("1");
  t.assert.Equal(draw(), first);
  t.assert.NotEqual(next, first);
  const drawn = JSON.parse(first);
  t.assert.NotEqual(drawn[3], drawn[4]);
  t.assert.Match(drawn[2], "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
  const other = t.mock.random(2);
  t.assert.NotEqual(draw(), first);
  t.mock.restore();
  t.assert.NotEqual(draw(), free);
  for (const bad of [null, NaN, {}]) t.assert.Panic(() => t.mock.random(bad));
  t.log(first);
}
""")
    )
    assert passes(application).count("TestSeeds") > 0


def test_a_seed_of_the_command_gives_each_test_its_own_numbers(app: MakeApplication) -> None:
    draw = "t.log(JSON.stringify([Math.random(), Process('utils.str.UUID'), call('draw').tools, Process('crypto.Hash', 'MD5', 'x')]))"
    draw_hook = "function Next() { return { data: [Math.random(), Process('utils.str.UUID')] }; }"
    application = app(
        shop(f"export function TestA(t) {{ {draw}; }}\nexport function TestB(t) {{ {draw}; }}\n")
        | agent(
            "dice",
            prompts=None,
            replies=None,
            hooks=draw_hook,
            cases=[{"id": "a", "input": "x"}, {"id": "b", "input": "x"}],
        )
    )

    def drawn(*arguments: str) -> list[str]:
        records = application.results("-i", "assistants/demo/src/world_test.ts", *arguments, code=0)
        cases = run_cases(application, "-i", "assistants/dice/tests/cases.jsonl", *arguments, code=0)
        return [*(records[name]["logs"][0] for name in ("TestA", "TestB")), *(str(cases[id]["output"]) for id in "ab")]

    first = drawn("--seed", "5")
    assert len(set(first)) == 4
    assert drawn("--seed", "5") == first
    assert not set(drawn("--seed", "6")) & set(first)
    assert not set(drawn()) & set(first)


SIDE_BY_SIDE = """\
function draw(name) {
  if (new FS("app").ReadFile("data/slow.txt") === name) time.Sleep(100);
  return [Math.random(), Process("utils.str.UUID"), Process("scripts.demo.inner.Draw"), Process("utils.otp.Generate", {}).code];
}
function A() { return draw("first"); }
function B() { return draw("second"); }
function Held(output, input, value) { return { pass: true, message: JSON.stringify(draw(value)) }; }
"""


def test_a_seed_of_the_command_counts_for_top_level_code(app: MakeApplication) -> None:
    drawn = 'const drawn = [Math.random(), Process("utils.str.UUID"), Process("scripts.lib.Draw")].join(" ");\n'
    tests = "".join(f"export function Test{letter}(t) {{ t.log(drawn); }}\n" for letter in "AB")
    here = app({"a_test.ts": drawn + tests, "/scripts/lib.ts": "export function Draw() { return Math.random(); }\n"})

    def logs(*flags: str) -> set[str]:
        return {line for record in here.results("-i", "scripts.demo", *flags).values() for line in record["logs"]}

    seeded = logs("--seed", "5")
    assert len(seeded) == 1
    assert logs("--seed", "5", "--run", "TestB") == seeded
    assert logs("--seed", "6").isdisjoint(seeded)
    assert len(logs()) == 2


def test_what_works_side_by_side_draws_the_same_numbers_whoever_is_first(app: MakeApplication) -> None:
    calls = "- reply: { tool_calls: [a, b] }"
    asserts = [{"type": "script", "script": "scripts.demo.dice.Held", "value": name} for name in ("first", "second")]
    application = app(
        {
            **agent(
                package={"mcp": {"servers": ["dice"]}},
                replies=calls,
                hooks="function Next(ctx, payload) { return { data: payload.tools.map((tool) => tool.result) }; }",
                cases=[{"id": "a", "input": "x", "assert": asserts}],
            ),
            **server("dice", {"a": "scripts.demo.dice.A", "b": "scripts.demo.dice.B"}),
            "/assistants/demo/src/dice.ts": SIDE_BY_SIDE,
            "/assistants/demo/src/inner.ts": INNER,
        }
    )

    def drawn(slow: str) -> list[str]:
        application.write({"/data/slow.txt": slow})
        record = run_cases(application, "--seed", "3", code=0)["a"]
        return [json.dumps(one) for one in (*record["output"], *(held["message"] for held in record["assertions"]))]

    first = drawn("first")
    assert len(set(first)) == 4
    assert drawn("second") == first
