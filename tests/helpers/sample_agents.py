"""Agents that several test modules run: with tools, and with cases in several files."""

from __future__ import annotations

import json
from typing import Any

from agent_files import agent, server
from model_server import ModelServer

TOOLS = """\
function Add(args) { return { total: args.items.length }; }
function Fail(args) { throw new Exception("out of " + args.item, 409); }
function Nested(args, ctx) { return Process("agents.helper.Call", "count " + args.n).content; }
"""
SHOP = {
    **server(
        "shop",
        {
            "add": "scripts.shop.Add",
            "fail": "scripts.shop.Fail",
            "lost": "scripts.shop.Lost",
            "ask": "scripts.shop.Nested",
        },
    ),
    "/scripts/shop.ts": TOOLS,
    "/mcps/mapping/shop/schemes/add.in.yao": json.dumps(
        {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
    ),
    **agent("helper", replies="- reply: '{{ agent }}: {{ input }}'"),
}
TWO = {
    **agent(replies="- reply: '{{ agent }}: {{ input }}'", cases=[{"id": "a", "name": "First case", "input": "x"}, {"id": "b", "input": "y"}]),
    **agent("workers.other", replies="- reply: '{{ agent }}: {{ input }}'", cases=[{"id": "a", "input": "z"}]),
    "/assistants/workers/other/tests/more.yaml": "- { id: yaml, input: w }\n",
    "/assistants/workers/other/tests/output-20241217100000.jsonl": '{"type": "start"}\n',
    "/assistants/workers/other/tests/output-20241217100000-2.jsonl": '{"type": "start"}\n',
    "sum_test.ts": "function TestSum(t) { t.assert.Equal(1 + 1, 2); }",
}  # fmt: skip


def connector(server: ModelServer, model: str, **more: Any) -> str:
    """The file of a connector to a server of the test."""
    return json.dumps({"type": "openai", "options": {"host": server.url, "model": model, "key": "$ENV.KEY", **more}})
