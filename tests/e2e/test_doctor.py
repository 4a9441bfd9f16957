"""`yao-test doctor`: what each agent of an application lacks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from command import COMMAND, MakeApplication, Run

FILES = {
    "/connectors/keyed.conn.yao": '{"type": "openai", "options": {"model": "m", "key": "$ENV.DOCTOR_KEY"}}',
    "/assistants/ready/package.yao": '{"name": "ready", "connector": "scripted"}',
    "/assistants/keyless/package.yao": '{"name": "keyless", "connector": "keyed"}',
    "/assistants/lost/package.yao": '{"name": "lost", "connector": "nowhere"}',
    "/assistants/serverless/package.yao": '{"name": "s", "connector": "scripted", "mcp": {"servers": ["gone"]}}',
    "/assistants/calls/package.yao": '{"name": "calls", "connector": "scripted"}',
    "/assistants/calls/src/tools.ts": 'Process("flows.a.b", 1);\nProcess(\'flows.c.d\');\nProcess("text.ExtractJSON");\n'
    'Process("text.Nothing");\nProcess("scripts.x.Y");\n',
    "/assistants/calls/src/tools_test.ts": 'export function TestA(t: any) { t.mock.process("flows.c.d", 1); }\n',
}


def found(run: Run) -> dict[str, list[str]]:
    """What each agent lacks, of `doctor --json`."""
    agents: list[dict[str, Any]] = json.loads(run.stdout)["agents"]
    return {agent["id"]: agent["lacks"] for agent in agents}


def test_doctor_says_what_each_agent_lacks(app: MakeApplication) -> None:
    application = app(FILES)
    done = application.run("doctor", "--json")
    assert done.code == 1
    lacks = found(done)
    assert lacks["ready"] == []
    assert "DOCTOR_KEY" in lacks["keyless"][0]
    assert lacks["lost"] == ['Cannot find connector "nowhere": no such file below <app>/connectors']
    assert "gone" in lacks["serverless"][0]
    assert lacks["calls"] == [
        "Process flows.a.b has no mock, and nothing answers it",
        "Process text.Nothing has no mock, and nothing answers it",
    ]
    assert list(lacks) == sorted(lacks)


def test_a_key_that_is_set_is_not_missing(app: MakeApplication) -> None:
    application = app(FILES)
    keyed = application.run("doctor", "--json", env={**application.environment, "DOCTOR_KEY": "sk-0123456789abcdef"})
    assert found(keyed)["keyless"] == []


def test_doctor_prints_a_table(app: MakeApplication) -> None:
    done = app(FILES).run("doctor")
    assert done.code == 1
    assert "\n  ok     ready\n" in done.stdout
    assert '\n  lacks  lost\n         Cannot find connector "nowhere"' in done.stdout


def test_doctor_works_without_an_application(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "doctor"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.endswith("No application here\n")


def test_doctor_refuses_an_application_that_is_no_folder(app: MakeApplication) -> None:
    done = app(FILES).run("doctor", "-a", "nowhere")
    assert (done.code, done.stderr) == (2, "Error: Cannot use --app nowhere: it is not a folder\n")
