"""The capabilities of a model, from the connector file, or else from the model's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripttest.values import Value


class Capabilities(Value):
    """The capabilities of a model. What it does not accept is left out of requests to it."""

    vision: bool = True
    tool_calls: bool = True
    temperature: bool = True


_BY_NAME: tuple[tuple[str, Capabilities], ...] = (
    ("gpt-3.5", Capabilities(vision=False)),
    ("gpt-4o", Capabilities()),
    ("gpt-4.", Capabilities()),
    ("gpt-4-turbo", Capabilities()),
    ("gpt-4-vision", Capabilities()),
    ("gpt-4", Capabilities(vision=False)),
    ("gpt-5", Capabilities(temperature=False)),
    ("o1-mini", Capabilities(vision=False, tool_calls=False, temperature=False)),
    ("o3-mini", Capabilities(vision=False, temperature=False)),
    ("o1", Capabilities(temperature=False)),
    ("o3", Capabilities(temperature=False)),
    ("o4", Capabilities(temperature=False)),
    ("claude", Capabilities()),
    ("deepseek", Capabilities(vision=False)),
    ("qwen-vl", Capabilities()),
    ("qwen", Capabilities(vision=False)),
)
"""Start of a model's name, after a prefix such as `openai/` → what it can do; the first that fits counts."""


def capabilities_of(options: Mapping[str, Any], model: str) -> Capabilities:
    """The capabilities of a connector's model.

    In `capabilities` of the connector file what is not named is not there, as in Yao. Without them the name decides;
    a model of an unknown name gets everything, so that nothing disappears from a request without a word.
    """
    given = options.get("capabilities")
    if isinstance(given, dict):
        return Capabilities(
            vision=bool(given.get("vision")),
            tool_calls=bool(given.get("tool_calls")),
            temperature=given.get("temperature_adjustable") is not False,
        )
    name = model.lower().rpartition("/")[2]
    if name.startswith("qwen") and ("-vl" in name or "omni" in name):
        return Capabilities()
    return next((found for start, found in _BY_NAME if name.startswith(start)), Capabilities())
