"""Which tool a file is of, and the cases in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from runner.conversion.sources import Converted, Record, value_of
from runner.errors import ConfigurationError

FORMATS = ("promptfoo", "inspect", "deepeval", "openai-evals")
_OF_PROMPTFOO = ("prompts", "providers", "targets", "defaultTest", "scenarios", "redteam")
_OF_GOLDENS = ("goldens", "conversational_goldens", "test_cases", "conversational_test_cases", "cases", "tests", "data")
_MARKS = {
    "openai-evals": ("ideal",),
    "inspect": ("target", "choices"),
    "promptfoo": ("vars", "__expected", "__expected1"),
    "deepeval": (
        "expected_output",
        "actual_output",
        "retrieval_context",
        "context",
        "scenario",
        "expected_tools",
        "turns",
    ),
}
"""Format → fields of its records that no other one has."""
_SAID = ("prompt", "input", "question", "query", "message", "text", "user_input")
"""Variables that hold what is said, where a configuration has no prompts."""


def converted(path: Path, shown: str, format: str | None, scorer: str | None, simulator: str) -> tuple[str, Converted]:
    """The format of a file, and its cases. Raises ConfigurationError.

    Args:
        shown: the name of the file in messages.
        format: one of `FORMATS`; None: the one that its fields speak of.
        scorer: see `runner.conversion.datasets`.
        simulator: plays the users of scenarios."""
    value = value_of(path, shown)
    format = format or _format_of(value)
    if format is None:
        raise ConfigurationError(
            f"Cannot convert {shown}: its fields match none of {', '.join(FORMATS)}",
            "Pass the format with --from, such as --from inspect",
        )
    if format == "promptfoo":
        from runner.conversion.promptfoo import Promptfoo

        return format, Promptfoo(path, _configuration(value, path)).convert()
    from runner.conversion import datasets

    records = _records(value, shown)
    if format == "inspect":
        return format, datasets.inspect_samples(records, scorer)
    if format == "openai-evals":
        return format, datasets.openai_samples(records, scorer)
    return format, datasets.goldens([_snake(record) for record in records], simulator)


def _format_of(value: Any) -> str | None:
    if isinstance(value, dict) and not value.keys().isdisjoint(_OF_PROMPTFOO):
        return "promptfoo"
    found = value if isinstance(value, list) else _goldens_in(value)
    records = [_snake(record) for record in found if isinstance(record, dict)]
    for format, marks in _MARKS.items():
        if any(not record.keys().isdisjoint(marks) for record in records):
            return format
    return None


def _goldens_in(value: Any) -> list[Any]:
    held = [value.get(name) for name in _OF_GOLDENS] if isinstance(value, dict) else []
    return [record for one in held if isinstance(one, list) for record in one]


def _records(value: Any, shown: str) -> list[Record]:
    found = value if isinstance(value, list) else _goldens_in(value) or [value]
    if wrong := [number for number, record in enumerate(found, 1) if not isinstance(record, dict)]:
        raise ConfigurationError(f"Cannot convert {shown}: entry {wrong[0]} is not an object")
    return found


def _snake(record: Record) -> Record:
    """A record of DeepEval, whose platform exports names in camel case."""
    return {re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower(): value for name, value in record.items()}


def _configuration(value: Any, path: Path) -> Record:
    """A configuration of promptfoo; that of a file with tests only has the variable with what is said as its prompt."""
    config: Record = {"tests": [f"file://{path.name}"]} if isinstance(value, list) else dict(value or {})
    if config.get("prompts"):
        return config
    tests = value if isinstance(value, list) else [one for one in config.get("tests") or [] if isinstance(one, dict)]
    first: Record = next((one for one in tests if isinstance(one, dict)), {})
    variables = [name for name in first.get("vars", first) if not str(name).startswith("__")]
    named = [name for name in _SAID if name in variables] or variables
    return {**config, "prompts": [f"{{{{ {named[0]} }}}}" if named else "{{ prompt }}"]}
