"""What `doctor` says of an application."""

from __future__ import annotations

import json
from typing import Any

from command import Run

FILES = {
    "/connectors/keyed.conn.yao": '{"type": "openai", "options": {"model": "m", "key": "$ENV.DOCTOR_KEY"}}',
    "/assistants/ready/package.yao": '{"name": "ready", "connector": "scripted"}',
    "/assistants/keyless/package.yao": '{"name": "keyless", "connector": "keyed"}',
    "/assistants/lost/package.yao": '{"name": "lost", "connector": "nowhere"}',
    "/assistants/serverless/package.yao": '{"name": "s", "connector": "scripted", "mcp": {"servers": ["gone"]}}',
    "/assistants/inline/package.yao": '{"name": "inline", "scripts": {"index": "function Create() {}"}}',
    "/assistants/broken/package.yao": '{"name": "broken", "connector": "scripted"}',
    "/assistants/broken/src/index.ts": "function Create( {",
    "/assistants/calls/package.yao": '{"name": "calls", "connector": "scripted"}',
    "/assistants/calls/src/tools.ts": 'Process("flows.a.b", 1);\nProcess(\'flows.c.d\');\nProcess("text.ExtractJSON");\n'
    'Process("text.Nothing");\nProcess("flows.e.f");\nProcess("flows.g.h");\n',
    "/assistants/calls/src/tools_test.ts": 'export function TestA(t: any) { t.mock.process("flows.c.d", 1); t.mock.process("flows.e.*", 1); }\n',
    "/assistants/calls/tests/cases.yaml": "- id: a\n  input: x\n  mocks:\n    process:\n      flows.g.h: 1\n",
}


def found(run: Run) -> dict[str, list[str]]:
    """What is missing for each agent, from `doctor --json`."""
    agents: list[dict[str, Any]] = json.loads(run.stdout)["agents"]
    return {agent["id"]: agent["lacks"] for agent in agents}


def needs_of(run: Run, agent: str) -> list[dict[str, Any]]:
    """What an agent needs, of `doctor --json`."""
    found: list[dict[str, Any]] = next(one["needs"] for one in json.loads(run.stdout)["agents"] if one["id"] == agent)
    return found
