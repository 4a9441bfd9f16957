"""Which mutants are asked: what a change, a sample, a part and an earlier run leave."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from command import Application, MakeApplication

HANDLERS = """export function add(a: number, b: number): number {
  return a + b;
}

export function half(a: number): number {
  return a / 2;
}
"""
TESTS = """import { add, half } from "./sums";

export function TestAdd(t: testing.T) {
  t.assert.Equal(add(2, 3), 5);
}

export function TestHalf(t: testing.T) {
  t.assert.Greater(half(4), 0);
}
"""


@pytest.fixture
def sums(app: MakeApplication) -> Application:
    made = app({"sums.ts": HANDLERS, "sums_test.ts": TESTS})
    (made.root / ".yao-test").mkdir()
    return made


def asked(app: Application, *more: str) -> tuple[int, int]:
    """How many mutants there were, and how many of their verdicts were kept."""
    run = app.run("mutate", *more)
    assert run.code == 0, run.stderr
    total, kept = re.search(r"^(\d+) mutants?:", run.stdout, re.M), re.search(r"^(\d+) of these", run.stdout, re.M)
    assert total is not None
    return int(total[1]), int(kept[1]) if kept else 0


def test_a_second_run_asks_nothing_again(sums: Application) -> None:
    total, kept = asked(sums)
    assert kept == 0
    first = sums.run("mutate", "--json").stdout
    assert asked(sums) == (total, total)
    assert sums.run("mutate", "--json", "--fresh").stdout.replace("from an earlier run", "") == first
    assert asked(sums, "--fresh") == (total, 0)


def test_other_flags_that_change_results_ask_again(sums: Application) -> None:
    total, _ = asked(sums)
    assert asked(sums, "--strict-db") == (total, 0)
    assert asked(sums, "--strict-db", "--seed", "7") == (total, 0)
    assert asked(sums, "--strict-db", "--seed", "7", "--parallel", "2") == (total, total)


def test_verdicts_stay_whatever_the_order_of_sets(sums: Application) -> None:
    """Names that stand in two files get numbers, and these are told in one order in all runs."""
    names = "const rule = 1, claim = 2, tally = 3, unit = 4, owner = 5;\n"
    handler = names + "export function {name}(): number {{\n  return rule + claim + tally + unit + owner;\n}}\n"
    test = (
        'import { one } from "./one";\nimport { two } from "./two";\n'
        "export function TestBoth(t: testing.T) {\n  try { t.assert.Equal([one(), two()], [15, 15]); } catch (e) { t.fatal(String(e)); }\n}\n"
    )
    sums.write({"one.ts": handler.format(name="one"), "two.ts": handler.format(name="two"), "both_test.ts": test})
    runs = [
        sums.spawn("mutate", "scripts.demo.both", env={**sums.environment, "PYTHONHASHSEED": seed}) for seed in "123"
    ]
    total = re.search(r"^(\d+) mutants", runs[0].stdout, re.M)
    assert total is not None
    assert all(f"\n{total[1]} of these verdicts come from" in run.stdout for run in runs[1:])


def test_after_a_change_only_what_depends_on_it_is_asked_again(sums: Application) -> None:
    total, _ = asked(sums)
    sums.write({"sums_test.ts": TESTS.replace("half(4), 0", "half(4), 1")})
    _, kept = asked(sums)
    assert 0 < kept < total
    sums.write({"sums.ts": "// a comment above\n\n" + HANDLERS})
    assert asked(sums) == (total, total)
    sums.write({"sums.ts": HANDLERS.replace("a / 2", "a / 2 + 0")})
    _, kept = asked(sums)
    assert kept == 3  # those of `add`


def test_words_name_the_tests_whose_handlers_have_mutants(sums: Application) -> None:
    rates = "export const RATE = 3;\nexport function convert(n: number): number {\n  return n * RATE;\n}\n"
    test = 'import { convert } from "./rates";\nexport function TestConvert(t: testing.T) {\n  t.assert.Equal(convert(2), 6);\n}\n'
    sums.write({"rates.ts": rates, "rates_test.ts": test})
    sums.write({"sums.ts": 'import { RATE } from "./rates";\n' + HANDLERS.replace("a / 2", "a / (RATE - 1)")})
    whole, kept = asked(sums)
    assert kept == 0
    run = sums.run("mutate", "scripts.demo.sums")
    assert "Warning: These tests load assistants/demo/src/rates.ts but run none of its functions" in run.stderr
    assert "rates.ts" not in run.stdout
    assert asked(sums) == (whole, whole)  # a run of few tests forgets nothing of the others
    assert asked(sums, "scripts.demo.sums", "--mutate", "**/rates.ts")[0] > 0
    assert sums.run("mutate", "demo", "--run", "Nowhere").code == 2


def test_a_new_test_may_notice_a_survivor(sums: Application) -> None:
    survived = sums.run("mutate").stdout
    assert "a / 3" in survived
    sums.write({"more_test.ts": TESTS.replace("Greater(half(4), 0)", "Equal(half(4), 2)")})
    assert "a / 3" not in sums.run("mutate").stdout


def git(app: Application, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=app.root, check=True, capture_output=True, env=app.environment)


def test_since_a_revision_only_changed_lines_and_handlers_with_changed_tests_are_asked(sums: Application) -> None:
    for words in (("init",), ("add", "."), ("commit", "-m", "first"), ("checkout", "-b", "work")):
        git(sums, *words)
    assert asked(sums, "--since", "main") == (0, 0)
    sums.write({"sums.ts": HANDLERS.replace("a + b", "b + a")})
    total, _ = asked(sums, "--since", "main", "--fresh")
    lines = sums.run("mutate", "--since", "main", "--fresh", "--json").stdout
    assert '"half"' not in lines
    sums.write({"sums_test.ts": TESTS + "\n"})
    assert asked(sums, "--since", "main", "--fresh")[0] > total
    run = sums.run("mutate", "--since", "nowhere")
    assert run.code == 2
    assert "Cannot use --since nowhere: " in run.stderr


def test_survivors_on_changed_lines_are_annotated_in_github_actions(sums: Application) -> None:
    for words in (("init",), ("add", "."), ("commit", "-m", "first")):
        git(sums, *words)
    sums.write({"sums.ts": HANDLERS.replace("a / 2", "a / 4")})
    run = sums.run("mutate", "--since", "HEAD", env={**sums.environment, "GITHUB_ACTIONS": "true"})
    place = "file=assistants/demo/src/sums.ts,line=6,endLine=6,title=NumberLiteral"
    assert f"::warning {place}::Mutant survived: 5\n" in run.stdout


def test_parts_have_each_mutant_once(sums: Application) -> None:
    whole, _ = asked(sums)
    assert sum(asked(sums, "--shard", f"{part}/3")[0] for part in (1, 2, 3)) == whole


def test_a_sample_is_the_same_for_the_same_seed(sums: Application) -> None:
    runs = [sums.run("mutate", "--sample", "3", "--seed", "1", "--fresh", "-o", f"{name}.json") for name in "ab"]
    assert [run.code for run in runs] == [0, 0]
    first, second = ((sums.root / f"{name}.json").read_text() for name in "ab")
    assert first == second
    assert first.count('"mutatorName"') == 3


def test_the_end_of_the_time_leaves_a_report(app: MakeApplication) -> None:
    slow = "export async function TestSlow(t: testing.T) {\n  await new Promise((done) => setTimeout(done, 400));\n  t.assert.Equal(add(2, 3), 5);\n}\n"
    made = app({"sums.ts": HANDLERS, "sums_test.ts": TESTS.partition("export")[0] + slow})
    run = made.run("mutate", "--max-duration", "1s", "-o", "m.json", "--threshold", "0.1")
    assert run.code == 1
    assert "--max-duration 1s has passed" in run.stdout
    assert '"Pending"' in (made.root / "m.json").read_text()


def test_models_that_tests_ask_use_up_the_budget(app: MakeApplication) -> None:
    asks = 'export function TestAsks(t: testing.T) {\n  Process("agents.clerk.Stream", "Hi");\n  t.assert.Equal(add(2, 3), 5);\n}\n'
    clerk = {
        "/assistants/clerk/package.yao": '{"connector": "scripted"}',
        "/assistants/clerk/prompts.yml": "- role: system\n  content: x\n",
        "/assistants/clerk/replies.yml": "- reply: Hi\n",
    }
    made = app({"sums.ts": HANDLERS, "sums_test.ts": TESTS.partition("export")[0] + asks, **clerk})
    run = made.run("mutate", "--max-tokens", "1", "-o", "m.json", "--threshold", "0.1")
    assert run.code == 1, run
    assert "--max-tokens 1 is used up" in run.stdout


def test_only_named_mutators_are_used(sums: Application) -> None:
    whole, _ = asked(sums)
    standard, _ = asked(sums, "--fresh", "--mutators", "stryker")
    assert 0 < standard < whole
    assert asked(sums, "--fresh", "--mutators", "ReturnValue", "--mutators", "NumberLiteral")[0] == whole - standard
    run = sums.run("mutate", "--mutators", "Strings")
    assert run.code == 2
    assert "Cannot use --mutators Strings: unknown mutator" in run.stderr


def test_doctor_names_handlers_with_many_survivors_of_the_last_run(sums: Application) -> None:
    def weak() -> object:
        return json.loads(sums.run("doctor", "--json").stdout)["weak"]

    assert weak() == []
    last = json.loads(sums.run("mutate", "--run", "TestHalf", "--json").stdout)
    missed = last["counts"]["survived"] + last["counts"]["no coverage"]
    assert missed >= 5
    file = "assistants/demo/src/sums.ts"
    assert weak() == [{"file": file, "missed": missed, "score": last["score"]}]
    assert f"  {missed}  {file}, score {last['score']:.0%}\n" in sums.run("doctor").stdout
