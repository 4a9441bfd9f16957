"""What counts as a find of `--fuzz` and what does not, and how both are reported."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import Application, MakeApplication, Run
from model_server import Behaviour, ModelServer, silence, status

CORPUS = "testdata/fuzz"
BUSY = ["300ms", "5s"]
"""Time limits of an input: the second where the machine is so busy that other inputs took as long as the first."""
ASKS = (
    "export function FuzzAsks(f) { f.add('known'); f.fuzz((t, text) => {\n"
    "  if (text !== 'known') Process('agents.asked.Call', text); }); }\n"
)


def search(app: Application, *more: str, seconds: int = 100) -> Run:
    """It ends with what it finds, long before these seconds."""
    return app.run("-i", "scripts.demo.parse", "--fuzz", ".", "--fuzz-time", f"{seconds}s", "--seed", "1", *more)


def corpus(app: Application) -> list[Path]:
    return sorted((app.source / CORPUS).glob("*/*"))


def forget_others(app: Application, *wanted: list[int]) -> bool:
    """Removes finds that are not these; whether there were some."""
    others = [file for file in corpus(app) if json.loads(file.read_text())["args"] not in wanted]
    for file in others:
        file.unlink()
    return bool(others)


def asking(shared_app: MakeApplication, server: ModelServer) -> Application:
    options = {"host": server.url, "model": "m", "key": "sk-local", "retries": 0}
    return shared_app(
        {
            "parse_test.ts": ASKS,
            "/assistants/asked/package.yao": '{"connector": "local"}',
            "/assistants/asked/prompts.yml": "- {role: system, content: Hi}\n",
            "/connectors/local.conn.yao": json.dumps({"type": "openai", "options": options}),
        }
    )


def test_the_input_stands_beside_the_failure_of_its_subtest(shared_app: MakeApplication) -> None:
    test = (
        "export function FuzzInner(f) { f.add([1]); f.fuzz((t, list) => {\n"
        "  t.run('inner', (t) => t.run('most', (t) => t.assert.NotEqual(list.length, 3))); }); }\n"
    )
    app = shared_app({"parse_test.ts": test})
    run = search(app)
    (file,) = corpus(app)
    assert (run.code, json.loads(file.read_text())) == (1, {"args": [[0, 0, 0]]}), run
    said = run.stdout.split("FuzzInner/" + file.stem + "/inner/most (")[1]
    assert "input: [[0, 0, 0]]" in said and f"--run '^FuzzInner$/{file.stem}'" in said, run.stdout


def test_the_input_stands_beside_what_failed_after_it(shared_app: MakeApplication) -> None:
    test = (
        "export function FuzzLate(f) { f.add(1); f.fuzz((t, n) => {\n"
        "  setTimeout(() => { if (n === 33) throw new Error('late'); }, 5); }); }\n"
    )
    app = shared_app({"parse_test.ts": test})
    run = search(app)
    (file,) = corpus(app)
    assert (run.code, json.loads(file.read_text())) == (1, {"args": [33]}), run
    assert re.search(rf"└─ late .*\n(.*\n)*     input: \[33\]\n     file : .*{file.name}\n", run.stdout), run.stdout


@pytest.mark.parametrize(
    ("answer", "timeouts"),
    [(status(503, "we are closed"), ["20s"]), (silence(), BUSY)],
    ids=["down", "silent"],
)
def test_a_model_that_does_not_answer_is_no_find(
    shared_app: MakeApplication, answer: Behaviour, timeouts: list[str]
) -> None:
    with ModelServer() as server:
        server.default = answer
        app = asking(shared_app, server)
        for timeout in timeouts:
            run = search(app, "--timeout", timeout)
            if not forget_others(app):
                break
    assert corpus(app) == []
    assert (run.code, "0 failed, 0 skipped, 1 error" in run.stdout) == (1, True), run
    assert "Cannot search FuzzAsks: a dependency failed: " in run.stdout


def test_a_find_counts_although_other_inputs_break(shared_app: MakeApplication) -> None:
    with ModelServer() as server:
        server.default = status(503, "we are closed")
        app = asking(shared_app, server)
        app.write(
            {
                "parse_test.ts": "export function FuzzSome(f) { f.add(1); f.fuzz((t, n) => {\n"
                "  if (n === 64) Process('agents.asked.Call', 'x'); if (n === 4097) throw new Error('own'); }); }\n"
            }
        )
        run = search(app)
    assert [json.loads(file.read_text()) for file in corpus(app)] == [{"args": [4097]}], run
    assert (run.code, "1 failed, 0 skipped" in run.stdout) == (1, True), run


def test_a_process_that_is_called_for_ever_is_a_hang(shared_app: MakeApplication) -> None:
    """A call is running at almost any moment, and none of them takes long."""
    test = (
        "export function FuzzPages(f) { f.add(1); f.fuzz((t, size) => {\n"
        "  while (size === 64) Process('utils.str.Concat', 'a', 'b'); }); }\n"
    )
    app = shared_app({"parse_test.ts": test})
    for timeout in BUSY:
        run = search(app, "--timeout", timeout)
        if not forget_others(app, [64]):
            break
    assert [json.loads(file.read_text()) for file in corpus(app)] == [{"args": [64]}], run
    assert run.code == 1
