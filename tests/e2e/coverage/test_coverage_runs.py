"""`--coverage` over several runs: those of `--watch`, and one that is resumed."""

from __future__ import annotations

import re

from command import MakeApplication
from terminal import on_open_terminal

READY = "Waiting for changes.*\n"


def test_a_resumed_run_says_that_coverage_is_why_scripts_run_again(app: MakeApplication) -> None:
    """Cases that call no script are as they were."""
    here = app(
        {
            "shapes.ts": "export const area = (a) => a * a;\n",
            "shapes_test.ts": "import { area } from './shapes';\nexport function TestArea(t) { area(2); }\n",
            "/assistants/plain/package.yao": '{"connector": "scripted"}',
            "/assistants/plain/prompts.yml": "- {role: system, content: Hi}\n",
            "/assistants/plain/replies.yml": "- reply: Hello\n",
            "/assistants/plain/tests/plain.jsonl": '{"id": "greets", "input": "Hi"}\n',
        }
    )
    inputs = ("-i", "scripts.demo.shapes", "-i", "assistants/plain/tests/plain.jsonl")
    report = f"{here.home}/counted.jsonl"
    here.run(*inputs, "--coverage", "-o", report)
    again = here.run("--resume", report)
    said = re.findall(r".*re-run.*", again.stdout)
    assert len(said) == 1, again
    assert said[0].startswith("Warning: demo/src/shapes_test.ts: re-run because --coverage changed: TestArea"), again
    assert not re.findall(r".*re-run.*", here.run("--resume", report).stdout)


def test_watched_runs_count_together(app: MakeApplication) -> None:
    here = app(
        {
            "one.ts": "export function one(a) {\n  if (a) return 1;\n  return 2;\n}\n",
            "two.ts": "export const two = () => 2;\nexport const more = () => 3;\n",
            "one_test.ts": "import { one } from './one';\nexport function TestOne(t) { one(true); }\n",
            "two_test.ts": "import { two } from './two';\nexport function TestTwo(t) { two(); }\n",
        }
    )

    def shares(text: str) -> dict[str, str]:
        return dict(re.findall(r"(one|two)\.ts +([\d.]+)", text))

    with on_open_terminal(here, "--watch", "--coverage", "-o", "lcov.info") as terminal:
        first = shares(terminal.wait(READY))
        here.write({"two_test.ts": "import { more } from './two';\nexport function TestTwo(t) { more(); }\n"})
        joined = shares(terminal.wait(READY))
        here.write({"one.ts": "export function one(a) {\n  return 1;\n}\n"})
        changed = shares(terminal.wait(READY))
        lcov = (here.root / "lcov.info").read_text()
        terminal.press("a")
        anew = shares(terminal.wait(READY))
    assert (first["one"], first["two"]) == ("66.66", "75.00"), first
    assert joined == {**first, "two": "100.00"}, "the first run of two() still counts"
    assert changed == {"one": "100.00", "two": "100.00"}
    assert lcov.count("SF:") == 2
    assert anew == {"one": "100.00", "two": "75.00"}, "`a` counts anew"
