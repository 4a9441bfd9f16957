"""Which tool a file is of, and the cases in it: samples of Inspect, goldens of DeepEval. How answers are scored is in
code there; here, `SCORERS` say it.

Sources: https://inspect.aisi.org.uk/datasets.html, https://deepeval.com/docs/evaluation-datasets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from runner.conversion.sources import SAME_MEANING, Converted, judged, one_of, parsed, value_of
from runner.errors import ConfigurationError
from scripttest.typing_names import Record

FORMATS = ("promptfoo", "inspect", "deepeval")
_OF_PROMPTFOO = ("prompts", "providers", "targets", "defaultTest", "scenarios", "redteam")
_OF_GOLDENS = ("goldens", "conversational_goldens", "test_cases", "conversational_test_cases", "cases", "tests", "data")
_MARKS = {
    "inspect": ("target", "choices"),
    "promptfoo": ("vars", "__expected", "__expected1"),
    "deepeval": tuple("expected_output actual_output retrieval_context context scenario expected_tools turns".split()),
}
"""Format → fields of its records that no other one has."""
SCORERS = ("includes", "match", "exact", "pattern", "model_graded_qa")
"""An answer contains the target, ends with it, is it, matches it, means it."""
IN_CODE = f"the scorer, which is code: pass --scorer with one of {', '.join(SCORERS)}; the cases use includes()"
FIELDS = {
    "inspect": ("input", "target", "id", "choices", "metadata"),
    "deepeval": (
        *("input", "expected_output", "name", "expected_tools", "turns", "scenario", "expected_outcome"),
        *("user_description", "additional_metadata", "context", "comments"),
    ),
}
"""Format → the fields that are read."""
PARTS = ("image", "audio", "text", "image_url", "input_audio")
MOST_TURNS = 10
SIMULATOR = "workers.test.user-simulator"
_SAID = ("prompt", "input", "question", "query", "message", "text", "user_input")
"""Variables that hold what is said, where a configuration has no prompts."""


def converted(path: Path, shown: str, format: str | None, scorer: str | None) -> tuple[str, Converted]:
    """The format of a file, and its cases. Raises ConfigurationError.

    Args:
        shown: the name of the file in messages.
        format: one of `FORMATS`; None: the one that its fields speak of.
        scorer: one of `SCORERS`; None: the usual one of the format."""
    value = value_of(path, shown)
    format = format or _format_of(value)
    if format is None:
        raise ConfigurationError(
            f"Cannot convert {shown}: its fields match none of {', '.join(FORMATS)}",
            "Pass the format with --from, such as --from inspect",
        )
    made = Converted()
    try:
        if format == "promptfoo":
            from runner.conversion.promptfoo import Promptfoo

            Promptfoo(path, _configuration(value, path), made).convert()
        elif format == "deepeval":
            _add_goldens(made, [_snake(record) for record in _records(value, shown)])
        else:
            _add_samples(made, _records(value, shown), scorer)
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # of values that are not what they should be
        why = str(error) if isinstance(error, ValueError) else f"a value has another type than {format} writes"
        place = f"{shown}, {made.at}" if made.at else shown
        raise ConfigurationError(f"Cannot convert {place}: {why}") from error
    return format, made


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


def _add_samples(converted: Converted, records: list[Record], scorer: str | None) -> None:
    """Samples of Inspect. Without a scorer, they are scored by `includes`, or by their choices."""
    if scorer is None and not all(one.get("choices") for one in records):
        converted.lacks(IN_CODE)
    for id, sample in _read(converted, "inspect", "sample", records):
        said = _said(sample.get("input"), converted, id)
        targets = _targets(sample.get("target"))
        checks = list(_scored(targets, scorer or "includes"))
        if choices := _list(sample.get("choices")):
            letters = ascii_uppercase[: len(choices)]
            options = "\n".join(f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=False))
            ask = f"\n\n{options}\n\nThe last line of your answer is ANSWER: and the letters of all right choices."
            said = _with_more(said, ask)
            right = [letters[choices.index(one)] if one in choices and one not in letters else one for one in targets]
            pattern = r"(?i)answer\s*:\s*\W*" + r"\W*(?:and\W*)?".join(map(re.escape, right)) + r"\b"
            checks = [{"type": "regex", "value": pattern}] if right else []
        converted.add(id, said, checks, metadata=_object(sample.get("metadata")))


def _add_goldens(converted: Converted, records: list[Record]) -> None:
    """Goldens and conversational goldens of DeepEval."""
    converted.lacks("the metrics, which are code: cases use expected_output and expected_tools")
    for id, golden in _read(converted, "deepeval", "golden", records):
        metadata = _object(golden.get("additional_metadata"))
        if context := _list(golden.get("context")):
            metadata["context"] = context
        more = {"name": golden.get("name") or golden.get("comments"), "metadata": metadata}
        checks = [check for tool in golden.get("expected_tools") or () for check in _called(tool)]
        if golden.get("scenario") or golden.get("turns"):
            _conversation(converted, id, golden, more)
            continue
        if golden.get("expected_output"):
            checks.insert(0, judged(SAME_MEANING.format(golden["expected_output"])))
        said = {"input": golden["input"]} if golden.get("input") else {}
        converted.add(id, said, checks, **more)


def _read(converted: Converted, format: str, noun: str, records: list[Record]) -> Iterator[tuple[str, Record]]:
    """Each record with its id; takes note of its fields that are not read."""
    for number, record in enumerate(records, 1):
        id = str(("id" in FIELDS[format] and record.get("id")) or f"{noun}-{number}")
        converted.at = id
        for name in sorted(record.keys() - FIELDS[format]):
            if record[name] not in (None, "", [], {}):
                converted.lacks(f"`{name}`", id)
        yield id, record


def _conversation(converted: Converted, id: str, golden: Record, more: Record) -> None:
    outcome = golden.get("expected_outcome")
    said = [one for one in golden.get("turns") or () if one.get("role", "user") == "user"]
    wanted = [judged(outcome)] if outcome else []
    if said:
        turns = [{"input": one.get("content") or ""} for one in said]
        converted.add(id, {"turns": turns}, wanted, **more)
        return
    persona = {"persona": golden["user_description"]} if golden.get("user_description") else {}
    plays = {"use": SIMULATOR, "goal": golden["scenario"], **persona}
    checkpoint = {"id": "outcome", "assert": wanted[0] if wanted else {"type": "type", "value": "string"}}
    converted.add(id, {"simulator": plays, "checkpoints": [checkpoint]}, [], max_turns=MOST_TURNS, **more)


def _called(tool: Any) -> Iterator[Record]:
    name = tool if isinstance(tool, str) else tool.get("name")
    given = None if isinstance(tool, str) else tool.get("input_parameters") or tool.get("inputParameters")
    yield {"type": "tool_called", **({"value": {"name": name, "arguments": given}} if given else {"name": name})}


def _scored(targets: list[str], scorer: str) -> Iterator[Record]:
    """The assertions of a scorer."""
    if not targets:
        return
    if scorer == "match":
        yield one_of("regex", (rf"(?i){re.escape(target)}\W*$" for target in targets))
    elif scorer == "model_graded_qa":
        yield judged(SAME_MEANING.format(" or: ".join(targets)))
    else:
        types = {"includes": "icontains", "exact": "equals", "pattern": "regex"}
        yield one_of(types[scorer], targets)


def _said(given: Any, converted: Converted, id: str) -> Record:
    """What is said to the agent: a text, or the messages of a chat."""
    if not isinstance(given, list):
        return {"input": given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)}
    return {"messages": [_message(one, converted, id) for one in given]}


def _message(given: Record, converted: Converted, id: str) -> Record:
    message = {name: given[name] for name in ("role", "content", "name", "tool_call_id") if given.get(name) is not None}
    if isinstance(given.get("content"), list):
        message["content"] = [part for one in given["content"] for part in _part(one, converted, id)]
    calls = given.get("tool_calls") or ()
    if calls:
        message["tool_calls"] = [one if "arguments" not in one else _call(one) for one in calls]
    return message


def _call(given: Record) -> Record:
    arguments = given["arguments"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": given.get("id", ""), "type": "function", "function": {"name": given["function"], "arguments": text}}


def _part(given: Record, converted: Converted, id: str) -> Iterator[Record]:
    type = given.get("type", "text")
    if type not in PARTS:
        converted.lacks(f"a part `{type}` of a message", id)
        return
    content = given.get(type)
    if type in ("image", "audio") and isinstance(content, str):
        source = content if re.match(r"[a-z]+:", content) else f"file://{content}"
        yield {"type": type, "source": source}
    else:
        yield {"type": type, type: content}


def _with_more(said: Record, more: str) -> Record:
    """The same with a text behind the last message."""
    if "input" in said:
        return {"input": said["input"] + more}
    *before, last = said["messages"]
    content = last.get("content") or ""
    parts = [*content, {"type": "text", "text": more.strip()}] if isinstance(content, list) else content + more
    return {"messages": [*before, {**last, "content": parts}]}


def _targets(given: Any) -> list[str]:
    found = given if isinstance(given, list) else _list(given) if str(given).startswith("[") else [given]
    return [one if isinstance(one, str) else json.dumps(one) for one in found if one not in (None, "")]


def _list(given: Any) -> list[Any]:
    """A list; a cell of a table has it as JSON, or with commas between its elements."""
    if isinstance(given, str) and given:
        given = parsed(given, otherwise=[part.strip() for part in given.split(",")])
        return given if isinstance(given, list) else [given]
    return given if isinstance(given, list) else []


def _object(given: Any) -> Record:
    if isinstance(given, str) and given:
        given = parsed(given, otherwise={"metadata": given})
    return dict(given) if isinstance(given, dict) else {}
