"""The JSON Schema of `yao-test.toml`, for editors, made from the table of flags."""

from __future__ import annotations

from typing import Any

from runner.amounts import PRICES
from runner.application.configuration import OF_AGENTS, READABLE
from runner.options.flags import Flag
from runner.options.options import FLAGS

Schema = dict[str, Any]


def configuration_schema() -> Schema:
    """Describes the file."""
    flags = {flag.name: _of_flag(flag) for flag in FLAGS if flag.in_file}
    flags["strictDatabase"] = flags["strict-db"]
    of_agents = {name: flags[name] for name in OF_AGENTS}
    text = {"type": ["string", "number"]}
    texts = {"type": "array", "items": {"type": "string"}}
    price = {"type": "number", "minimum": 0, "description": "US dollars per million tokens."}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "yao-test.toml",
        **_table(
            {
                **flags,
                READABLE: {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Files and folders that scripts may read and cases attach.",
                },
                "profile": _tables(flags, "Settings applied by --profile NAME."),
                "agent": _tables(of_agents, "Settings for the tests of one agent."),
                "mutate": {
                    **_table({"threshold": text, "ignore-calls": texts, "files": texts}),
                    "description": "Settings of yao-test mutate only.",
                },
                "prices": _tables(dict.fromkeys(PRICES, price), "Prices of a connector whose file has none."),
            }
        ),
    }


def _of_flag(flag: Flag) -> Schema:
    text: Schema = {"type": ["string", "number"]}
    kinds: dict[str, Schema] = {
        "text": text,
        "maybe": {"type": ["boolean", "integer"]},
        "switch": {"type": "boolean"},
        "count": {"type": ["boolean", "integer"]},
        "repeated": {"anyOf": [text, {"type": "array", "items": text, "minItems": 1}]},
    }
    return {**kinds[flag.kind], "description": flag.help}


def _table(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _tables(properties: Schema, description: str) -> Schema:
    return {"type": "object", "additionalProperties": _table(properties), "description": description}
