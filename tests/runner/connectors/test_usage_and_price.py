"""What a call has used and cost, when its host says it several times, and when it writes to a cache."""

from __future__ import annotations

from typing import Any

import pytest
from connector_bench import Bench
from model_server import body, completes, in_pieces, sends

from runner.amounts import Estimate, cost_in, cost_record, dollars, mean
from runner.connectors.base import Usage

HI = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}]}
END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
KNOWN = {"prompt_tokens": 3000, "completion_tokens": 10}
ZERO = {"prompt_tokens": 0, "completion_tokens": 0}

OPENAI: dict[str, tuple[list[Any], Usage]] = {
    "once": ([KNOWN], Usage(input_tokens=3000, output_tokens=10)),
    "zero at the end": ([KNOWN, ZERO], Usage(input_tokens=3000, output_tokens=10)),
    "empty at the end": ([KNOWN, {}], Usage(input_tokens=3000, output_tokens=10)),
    "null at the end": ([KNOWN, None], Usage(input_tokens=3000, output_tokens=10)),
    "null figures at the end": ([KNOWN, dict.fromkeys(KNOWN)], Usage(input_tokens=3000, output_tokens=10)),
    "zero at the start": ([ZERO, KNOWN], Usage(input_tokens=3000, output_tokens=10)),
    "one figure at a time": (
        [{"prompt_tokens": 3000}, {"completion_tokens": 10}],
        Usage(input_tokens=3000, output_tokens=10),
    ),
    "the sum so far": (
        [{**KNOWN, "completion_tokens": 3}, {**KNOWN, "completion_tokens": 7}, KNOWN],
        Usage(input_tokens=3000, output_tokens=10),
    ),
    "twice": ([KNOWN, KNOWN], Usage(input_tokens=3000, output_tokens=10)),
    "texts": ([{"prompt_tokens": "3000", "completion_tokens": "10"}, ZERO], Usage(input_tokens=3000, output_tokens=10)),
    "details that are lost": (
        [
            {**KNOWN, "prompt_tokens_details": {"cached_tokens": 7}},
            {**KNOWN, "prompt_tokens_details": {"cached_tokens": 0}},
        ],
        Usage(input_tokens=3000, output_tokens=10, cached_tokens=7),
    ),
    "a cost that is lost": (
        [{**KNOWN, "cost": 0.5}, {**ZERO, "cost": 0}],
        Usage(input_tokens=3000, output_tokens=10, cost=0.5),
    ),
    "zero alone": ([ZERO], Usage()),
    "impossible at the end": ([KNOWN, {"prompt_tokens": -5}], Usage(unknown=True)),
    "an empty list at the end": ([KNOWN, []], Usage(input_tokens=3000, output_tokens=10)),
    "an empty text at the end": ([KNOWN, ""], Usage(input_tokens=3000, output_tokens=10)),
    "0 at the end": ([KNOWN, 0], Usage(input_tokens=3000, output_tokens=10)),
    "cached tokens of Kimi": (
        [{**KNOWN, "cached_tokens": 7}],
        Usage(input_tokens=3000, output_tokens=10, cached_tokens=7),
    ),
    "thinking in it": (
        [{**KNOWN, "total_tokens": 3010, "completion_tokens_details": {"reasoning_tokens": 7}}],
        Usage(input_tokens=3000, output_tokens=10),
    ),
    "thinking beside it": (
        [{**KNOWN, "total_tokens": 3017, "completion_tokens_details": {"reasoning_tokens": 7}}],
        Usage(input_tokens=3000, output_tokens=17),
    ),
    "thinking in the total alone": (
        [{**KNOWN, "total_tokens": 3417}],
        Usage(input_tokens=3000, output_tokens=417),
    ),
    "more thinking than it says": (
        [{**KNOWN, "completion_tokens_details": {"reasoning_tokens": 400}}],
        Usage(input_tokens=3000, output_tokens=410),
    ),
    "no object at the end": ([KNOWN, 5], Usage(unknown=True)),
    "written to a cache": (
        [{**KNOWN, "prompt_tokens_details": {"cache_write_tokens": 2000}}],
        Usage(input_tokens=3000, output_tokens=10, written_tokens=2000),
    ),
    "written, by another name": (
        [{**KNOWN, "cache_creation_input_tokens": 2000}],
        Usage(input_tokens=3000, output_tokens=10, written_tokens=2000),
    ),
}


@pytest.mark.parametrize(("said", "expected"), OPENAI.values(), ids=OPENAI)
def test_a_later_usage_takes_nothing_away(bench: Bench, said: list[Any], expected: Usage) -> None:
    told = [{"choices": [], "usage": usage} for usage in said]
    bench.server.plan(in_pieces(sends(HI, *told[:-1], END, told[-1]), 4))
    assert bench.ask().usage == expected


START = {"input_tokens": 3000, "output_tokens": 1}
WRITES = {"input_tokens": 3, "cache_creation_input_tokens": 10000, "cache_read_input_tokens": 0, "output_tokens": 1}

ANTHROPIC: dict[str, tuple[Any, Any, Usage]] = {
    "as documented": (START, {"output_tokens": 10}, Usage(input_tokens=3000, output_tokens=10)),
    "zero at the end": (START, {"input_tokens": 0, "output_tokens": 10}, Usage(input_tokens=3000, output_tokens=10)),
    "empty at the end": ({**START, "output_tokens": 10}, {}, Usage(input_tokens=3000, output_tokens=10)),
    "the sum again": (START, {**START, "output_tokens": 10}, Usage(input_tokens=3000, output_tokens=10)),
    "known at the end only": (
        {"input_tokens": 0},
        {**START, "output_tokens": 10},
        Usage(input_tokens=3000, output_tokens=10),
    ),
    "found in the cache at last": (
        START,
        {"input_tokens": 3, "cache_read_input_tokens": 2997, "output_tokens": 10},
        Usage(input_tokens=3000, output_tokens=10, cached_tokens=2997),
    ),
    "writes that are lost": (
        WRITES,
        {"input_tokens": 3, "cache_creation_input_tokens": 0, "output_tokens": 10},
        Usage(input_tokens=10003, output_tokens=10, written_tokens=10000),
    ),
    "writes of two lifetimes": (
        {**WRITES, "cache_creation": {"ephemeral_5m_input_tokens": 4000, "ephemeral_1h_input_tokens": 6000}},
        {"output_tokens": 10},
        Usage(input_tokens=10003, output_tokens=10, written_tokens=10000, written_for_an_hour=6000),
    ),
    "writes told by their lifetimes alone": (
        {"input_tokens": 3, "output_tokens": 1, "cache_creation": {"ephemeral_1h_input_tokens": 6000}},
        {"output_tokens": 10},
        Usage(input_tokens=6003, output_tokens=10, written_tokens=6000, written_for_an_hour=6000),
    ),
}


@pytest.mark.parametrize(("start", "end", "expected"), ANTHROPIC.values(), ids=ANTHROPIC)
def test_the_usage_at_the_end_of_a_message_takes_nothing_away(
    bench: Bench, start: Any, end: Any, expected: Usage
) -> None:
    bench.type = "anthropic"
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}}
    stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": end}
    events = {"type": "message_start", "message": {"usage": start}}, block, stop, {"type": "message_stop"}
    bench.server.plan(in_pieces(sends(*events, done=False), 4))
    assert bench.ask().usage == expected


# Prices

PRICE = {"input": 10, "cached": 1, "output": 100}
LIVES = {"ephemeral_5m_input_tokens": 4000, "ephemeral_1h_input_tokens": 6000}
MADE = {**WRITES, "output_tokens": 10}
READS = {"input_tokens": 3, "cache_read_input_tokens": 10000, "output_tokens": 10}

PRICES: dict[str, tuple[Any, Any, str]] = {
    "five minutes": (MADE, PRICE, "~$0.12603"),
    "an hour": ({**MADE, "cache_creation": {"ephemeral_1h_input_tokens": 10000}}, PRICE, "~$0.20103"),
    "both": ({**MADE, "cache_creation": LIVES}, PRICE, "~$0.17103"),
    "a price": (MADE, {**PRICE, "cache_write": 20}, "$0.20103"),
    "a price for an hour": ({**MADE, "cache_creation": LIVES}, {**PRICE, "cache_write": 20}, "$0.20103"),
    "nothing": (MADE, {**PRICE, "cache_write": 0}, "$0.00103"),
    "input that is free": (MADE, {"input": 0, "output": 100}, "$0.00100"),
    "reads": (READS, PRICE, "$0.01103"),
    "no cache": ({"input_tokens": 3, "output_tokens": 10}, PRICE, "$0.00103"),
}


@pytest.mark.parametrize(("usage", "price", "shown"), PRICES.values(), ids=PRICES)
def test_what_is_written_to_a_cache_has_a_price(bench: Bench, usage: Any, price: Any, shown: str) -> None:
    bench.type = "anthropic"
    said = {"type": "message", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn", "usage": usage}
    bench.server.plan(body(200, said))
    cost = bench.ask(streaming=False, price=price).usage.cost
    assert cost is not None
    assert dollars(cost, 5) == shown


def test_a_cost_that_the_provider_tells_is_no_estimate(bench: Bench) -> None:
    bench.server.plan(
        completes({"message": {"content": "Hi"}}, {**KNOWN, "cost": 0.5, "cache_creation_input_tokens": 9})
    )
    assert dollars(bench.ask(streaming=False, price=PRICE).usage.cost or 0) == "$0.5000"


def test_what_is_made_of_an_estimate_is_one() -> None:
    cost = Estimate(0.5)
    made = [cost + 1, 1 + cost, sum([1.0, cost, 2]), round(cost, 2), cost / 2, cost * 2, 2 * cost, mean([cost, 1.5])]
    assert all(isinstance(one, Estimate) for one in made)
    assert [float(one) for one in made] == [1.5, 1.5, 3.5, 0.5, 0.25, 1.0, 1.0, 1.0]
    assert not isinstance(mean([1.0, 2.0]), Estimate)
    assert [cost_record(one) for one in (None, 0.5, cost)] == [{}, {"cost": 0.5}, {"cost": 0.5, "cost_estimated": True}]
    assert [dollars(cost_in(cost_record(one))) for one in (0.5, cost)] == ["$0.5000", "~$0.5000"]
