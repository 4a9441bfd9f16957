"""`docs/mcp.md`: its files make the servers that it says they make."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from mcp_application import Processes, use, write

from runner.agents.mcp.toolbox import open_toolbox

PAGE = (Path(__file__).parents[4] / "docs/mcp.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    for _, text in BLOCKS:
        path = re.match(r"// (\S+)\n", text)
        if path:
            write(tmp_path, {path[1]: text})
    return tmp_path


def test_the_tools_are_called_as_the_page_says(app: Path) -> None:
    async def action(servers: Any) -> Any:
        box = await open_toolbox(servers, ["agents.shop.orders"], "package.yao")
        run = await box.run("agents_shop_orders__find_order", '{"customer": {"id": 7}, "state": "open"}', "ctx")
        server = servers.server("agents.shop.orders")
        await server.read_resource("orders://A7?page=2", "ctx")
        prompt = await server.get_prompt("remind", {"name": "Ann", "days": 3})
        return box.warnings, run.use.name, box.samples_message(), prompt

    processes = Processes({"agents.shop.orders.Find": [], "agents.shop.orders.Read": {}})
    (example,) = [text for language, text in BLOCKS if language == "text"]
    assert use(app, action, processes) == (
        (),
        "find_order",
        example.rstrip("\n"),
        {
            "description": "Reminds a customer of an order",
            "messages": [{"role": "user", "content": {"type": "text", "text": "Remind Ann, who is 3 days late."}}],
        },
    )
    assert processes.calls == [
        ("agents.shop.orders.Find", [7, "open", 10], "ctx"),
        ("agents.shop.orders.Read", ["A7", "2"], "ctx"),
    ]


def test_the_servers_have_the_ids_that_the_page_says(app: Path) -> None:
    async def action(servers: Any) -> Any:
        return [(id, servers.server(id).transport) for id in servers.ids()]

    assert use(app, action, variables={"STOCK_KEY": "k", "SHIPPING_TOKEN": "t"}) == [
        ("agents.shop.orders", "process"),
        ("agents.shop.stock", "stdio"),
        ("shipping", "http"),
    ]
