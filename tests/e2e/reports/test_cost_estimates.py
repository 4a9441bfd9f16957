"""Costs that rest on a price nobody has named have a mark, wherever they are shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file
from command import MakeApplication
from faults import with_model
from model_server import ModelServer, body

USAGE = {"input_tokens": 3, "cache_creation_input_tokens": 10000, "output_tokens": 10}
SAID = {"type": "message", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn", "usage": USAGE}
CASE = {"id": "a", "input": "x", "assert": {"type": "cost", "value": 0.2}}
DEAR = {"id": "b", "input": "x", "assert": {"type": "cost", "value": 0.1}}


def test_estimated_costs_are_marked_everywhere(app: MakeApplication) -> None:
    with ModelServer(body(200, SAID)) as server:
        files = agent(package={"connector": "local"}, cases=[CASE, DEAR])
        price = "[prices.local]\ninput = 10\noutput = 100\n"
        here = app({**files, **with_model(server, "anthropic", streaming=False), "/yao-test.toml": price})
        outputs = [part for name in ("r.jsonl", "r.json", "r.md", "r.html") for part in ("-o", name)]
        first = here.run("-i", case_file(), "--record", "calls", "--store", "kept", *outputs)
        again = here.run("-i", case_file(), "--replay", "calls", "--store", "kept", "-o", "again.jsonl")

    for run in (first, again):
        assert "(~$0.2521)" in run.stdout, run
        assert "found ~0.12603 US dollars" in run.stdout
    markdown = (here.root / "r.md").read_text()
    assert "~$0.2521" in markdown.replace("\\", "")
    report = json.loads((here.root / "r.json").read_text())
    assert report["summary"]["usage"]["cost_estimated"] is True
    result = report["results"][0]
    assert result["usage"]["cost_estimated"] is result["trace"]["steps"][0]["cost_estimated"] is True
    compared = here.run("diff", "r.jsonl", "again.jsonl").stdout
    assert compared.count("~$0.126030") == 2, compared
    history = here.run("history", "b", "--store", "kept").stdout
    assert history.count("~$0.1260") == 2, history


PRICES: dict[str, tuple[str, Any, str]] = {
    "[prices]": ("[prices.local]\ninput = 10\noutput = 100\ncache_write = 20\n", None, "($0.2010)"),
    "[prices] of 0": ("[prices.local]\ninput = 10\noutput = 100\ncache_write = 0\n", None, "($0.0010)"),
    "the connector": ("", {"input": 10, "output": 100, "cache_write": 0}, "($0.0010)"),
}


@pytest.mark.parametrize(("settings", "price", "shown"), PRICES.values(), ids=PRICES)
def test_a_price_for_writes_makes_the_cost_known(app: MakeApplication, settings: str, price: Any, shown: str) -> None:
    with ModelServer(body(200, SAID)) as server:
        options = {} if price is None else {"price": price}
        files = agent(package={"connector": "local"}, cases=[{"id": "a", "input": "x"}])
        run = app(
            {**files, **with_model(server, "anthropic", streaming=False, **options), "/yao-test.toml": settings}
        ).run("-i", case_file())
    assert shown in run.stdout, run
