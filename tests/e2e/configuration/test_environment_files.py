"""`--env-file`: variables of a file stand over those of the environment and of `.env`; secret ones are never shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import agent, case_file, lines
from command import MakeApplication
from model_server import ModelServer, says

KEY = "sk-of-the-file-4711-0815"
HOST = {"type": "openai", "options": {"host": "$ENV.MODEL_HOST", "model": "m1", "key": "$ENV.DEMO_API_KEY"}}
SCRIPT = """\
export function TestRead(t) {
  const read = (name) => Process("utils.env.Get", name) || "-";
  t.log(["ONE", "TWO", "THREE", "DEMO_API_KEY"].map(read).join("|"));
}
"""


def test_a_key_of_a_file_reaches_its_host_and_no_report(app: MakeApplication) -> None:
    with ModelServer() as server:
        server.plan(says("Hello from the north"))
        here = app(
            {
                **agent(
                    package={"connector": "host"},
                    prompts="- { role: system, content: '$ENV.PLACE' }",
                    replies=None,
                    cases=[{"id": "a", "input": KEY}],
                ),
                "/connectors/host.conn.yao": json.dumps(HOST),
                "/.env": "PLACE=south\nMODEL_HOST=http://127.0.0.1:9\nDEMO_API_KEY=other\n",
                "/base.env": f"PLACE=east\nMODEL_HOST={server.url}\n",
                "/own.env": f"\ufeff# keys\r\nexport DEMO_API_KEY = '{KEY}' # it's mine\r\nPLACE=\"north # pole\"\r\n",
            }
        )
        env = {**here.environment, "PLACE": "west"}
        run = here.run("-i", case_file(), "-e", "base.env", "--env-file=own.env", "-v", "-o", "r.jsonl", env=env)

    assert run.code == 0, run
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["messages"] == [
        {"role": "system", "content": "north # pole"},
        {"role": "user", "content": KEY},
    ]
    report = (here.root / "r.jsonl").read_text()
    assert KEY not in report + run.stdout + run.stderr
    assert "***DEMO_API_KEY***" in report


def test_scripts_read_what_a_file_names_but_no_secret(app: MakeApplication) -> None:
    here = app({"a_test.ts": SCRIPT, "/.env": "ONE=1\nTWO=2\n", "/x.env": f"TWO=b\nTHREE=#3\nDEMO_API_KEY={KEY}\n"})

    said = here.run("-i", "scripts.demo.a", "-e", "x.env", "-v", env={**here.environment, "ONE": "a", "TWO": "a"})
    without = here.run("-i", "scripts.demo.a", "-v")

    assert (said.code, "a|b|#3|-" in said.stdout) == (0, True), said
    assert "1|2|-|-" in without.stdout, without


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"A=1\n\n# c\nsk-left-alone-4711\n", "x.env:4: the line does not set a variable"),
        (b"A=1\n=sk-left-alone-4711\n", "x.env:2: the line does not set a variable"),
        (b"MY KEY=sk-left-alone-4711\n", "x.env:1: the line does not set a variable"),
        (b'A="sk-left-alone-4711\nb"\n', "x.env:1: the line does not set a variable"),
        (b"A=1\nB=\0\n", "x.env:2: the line does not set a variable"),
        (b"A=1\nB=\xff\n", "x.env:2: it is not UTF-8"),
        (None, "x.env: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_line_but_without_its_text(
    app: MakeApplication, text: bytes | None, place: str
) -> None:
    here = app({"a_test.ts": SCRIPT})
    if text is not None:
        (here.root / "x.env").write_bytes(text)

    run = here.run("-i", "scripts.demo.a", "-e", "x.env")

    assert run.code == 2
    assert run.stderr.startswith(f"Error: Cannot read variables from {place}\n")
    assert "left-alone" not in run.stderr


def test_neither_the_configuration_nor_a_report_brings_variables(app: MakeApplication, tmp_path: Path) -> None:
    (tmp_path / "x.env").write_text("ONE=1\n")
    file = str(tmp_path / "x.env")
    here = app({"a_test.ts": SCRIPT, "/assistants/demo/tests/cases.jsonl": lines({"id": "a", "input": "Hi"})})
    here.write(agent())
    assert here.run("-i", "scripts.demo.a", "-i", case_file(), "-e", file, "-o", "r.jsonl").code == 0

    resumed, state = here.run("--resume", "r.jsonl"), here.run("status", "r.jsonl")
    again, graded = here.run("--resume", "r.jsonl", "-e", file), here.run("regrade", "r.jsonl", "-e", file)
    here.write({"/yao-test.toml": f'env-file = ["{file}"]\n'})
    configured = here.run("-i", "scripts.demo.a")

    assert (resumed.code, f"run: yao-test --resume r.jsonl --env-file {file}" in resumed.stderr) == (2, True), resumed
    assert f"--env-file {file}" in state.stdout, state
    assert (again.code, "2 results of r.jsonl are kept" in again.stdout + again.stderr) == (0, True), again
    assert graded.code == 0, graded
    assert (configured.code, "weakens security" in configured.stderr) == (2, True), configured


def test_a_file_may_name_the_application(app: MakeApplication, tmp_path: Path) -> None:
    here = app({**agent(), "/x.env": ""})
    (tmp_path / "x.env").write_text(f"YAO_ROOT={here.root}\n")
    assert here.run("eval", "demo", "Hi", "-e", "x.env", directory=str(tmp_path)).code == 0


def test_results_depend_on_the_variables_that_scripts_have_read(app: MakeApplication) -> None:
    hooks = "function Next() { return { data: Process('utils.env.GetMany', 'TWO', 'GONE') } }"
    script = "export function TestRead(t) { Process('utils.env.Get', 'ONE') }"
    here = app({"a_test.ts": script, **agent(hooks=hooks, cases=[{"id": "a", "input": "Hi"}])})
    here.write({"/.env": "ONE=1\nTHREE=1\n", "/x.env": "TWO=2\n"})
    assert here.run("-i", "scripts.demo.a", "-i", case_file(), "-e", "x.env", "-o", "r.jsonl").code == 0

    def stale() -> list[str]:
        said = here.run("status", "r.jsonl", "-e", "x.env").stdout.splitlines()[1:]
        return [line.strip().partition(": ")[2] for line in said]

    here.write({"/.env": "ONE=1\nTHREE=3\n"})
    assert stale() == []
    here.write({"/.env": "ONE=changed\n"})
    assert stale() == ["re-run because $ENV.ONE changed: TestRead"]
    here.write({"/.env": "ONE=1\n", "/x.env": "TWO=changed\n"})
    assert stale() == ["re-run because $ENV.TWO changed: a"]


def test_doctor_misses_no_key_that_a_file_has(app: MakeApplication) -> None:
    keyed = {"type": "openai", "options": {"model": "m", "key": "$ENV.DEMO_API_KEY"}}
    here = app({**agent(package={"connector": "keyed"}), "/connectors/keyed.conn.yao": json.dumps(keyed)})
    here.write({"/own.env": f"DEMO_API_KEY={KEY}\n"})
    missing, found, none = (
        here.run("doctor", "--strict", *words) for words in ([], ["-e", "own.env"], ["-e", "gone.env"])
    )
    assert (missing.code, "DEMO_API_KEY" in missing.stdout) == (1, True), missing
    assert (found.code, KEY in found.stdout + found.stderr) == (0, False), found
    assert (none.code, "Cannot read variables from gone.env" in none.stderr) == (2, True), none
