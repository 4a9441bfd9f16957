"""What the tests of `--otlp` run."""

from __future__ import annotations

import pytest
from agent_files import agent, server
from command import Application, MakeApplication
from traced_app import ASKING, CASES, JUDGE, KEY, REPLIES, SIMULATED, TESTS


@pytest.fixture(scope="module")
def application(shared_app: MakeApplication) -> Application:
    package = {"mcp": {"servers": ["shop"]}, "options": {"temperature": 0.5, "seed": 7, "max_tokens": 99}}
    files = agent(package=package, replies=REPLIES, cases=CASES)
    files |= server("shop", {"find": "scripts.shop.find"})
    files |= {"/scripts/shop.ts": f"export function find(asked: any) {{ return {{ id: asked.id, key: '{KEY}' }}; }}\n"}
    files |= agent("guest", replies=SIMULATED) | agent("judge", replies=JUDGE)
    files |= {
        "twice.ts": "export const twice = (n: number) => 2 * n;\n",
        "twice_test.ts": TESTS,
        "asking_test.ts": ASKING,
    }
    return shared_app({**files, "/.env": f"MY_TOKEN={KEY}\n"})
