"""Data sets of other tools: samples of Inspect, goldens of DeepEval, samples of OpenAI evals. How answers are scored is
in code there; here, `Scorer` says it.

Sources: https://inspect.aisi.org.uk/datasets.html, https://deepeval.com/docs/evaluation-datasets,
https://github.com/openai/evals/blob/main/docs/build-eval.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from string import ascii_uppercase
from typing import Any

from runner.conversion.sources import SAME_MEANING, Converted, Record, judged, one_of

SCORERS = ("includes", "match", "exact", "pattern", "model_graded_qa")
"""An answer contains the target, ends with it (of OpenAI evals: begins), is it, matches it, means it."""
IN_CODE = "the scorer, which is code: pass --scorer with one of {}; the cases use {}"
FIELDS = {
    "inspect": ("input", "target", "id", "choices", "metadata"),
    "deepeval": (
        *("input", "expected_output", "name", "expected_tools", "turns", "scenario", "expected_outcome"),
        *("user_description", "additional_metadata", "context", "comments"),
    ),
    "openai-evals": ("input", "ideal"),
}
"""Format → the fields that are read."""
PARTS = {"image": "image", "audio": "audio", "text": "text", "image_url": "image_url", "input_audio": "input_audio"}
MOST_TURNS = 10


def inspect_samples(records: list[Record], scorer: str | None) -> Converted:
    """Samples of Inspect. `scorer` is one of `SCORERS`; None: `includes`, the choice for samples with choices."""
    converted = Converted()
    if scorer is None and not all(one.get("choices") for one in records):
        converted.lacks(IN_CODE.format(", ".join(SCORERS), "includes()"))
    for number, sample in enumerate(records, 1):
        id = str(sample.get("id") or f"sample-{number}")
        _rest(converted, "inspect", sample, id)
        said = _said(sample.get("input"), converted, id)
        metadata = _object(sample.get("metadata"))
        targets = _targets(sample.get("target"))
        if choices := _list(sample.get("choices")):
            letters = ascii_uppercase[: len(choices)]
            options = "\n".join(f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=False))
            ask = f"\n\n{options}\n\nThe last line of your answer is ANSWER: and the letters of all right choices."
            said = _with_more(said, ask)
            right = [letters[choices.index(one)] if one in choices and one not in letters else one for one in targets]
            pattern = r"(?i)answer\s*:\s*\W*" + r"\W*(?:and\W*)?".join(map(re.escape, right)) + r"\b"
            converted.add(id, said, [{"type": "regex", "value": pattern}] if right else [], metadata=metadata)
        else:
            checks = list(_scored(targets, scorer or "includes", begins=False))
            converted.add(id, said, checks, metadata=metadata)
    return converted


def openai_samples(records: list[Record], scorer: str | None) -> Converted:
    """Samples of OpenAI evals. `scorer` is one of `SCORERS`; None: `match`."""
    converted = Converted()
    if scorer is None:
        converted.lacks(IN_CODE.format(", ".join(SCORERS), "Match"))
    for number, sample in enumerate(records, 1):
        id = f"sample-{number}"
        _rest(converted, "openai-evals", sample, id)
        said = _said(sample.get("input"), converted, id)
        converted.add(id, said, _scored(_targets(sample.get("ideal")), scorer or "match", begins=True))
    return converted


def goldens(records: list[Record], simulator: str) -> Converted:
    """Goldens and conversational goldens of DeepEval. `simulator` plays the users of scenarios."""
    converted = Converted()
    converted.lacks("the metrics, which are code: cases use expected_output and expected_tools")
    for number, golden in enumerate(records, 1):
        id = f"golden-{number}"
        _rest(converted, "deepeval", golden, id)
        metadata = _object(golden.get("additional_metadata"))
        if context := _list(golden.get("context")):
            metadata["context"] = context
        more = {"name": golden.get("name") or golden.get("comments"), "metadata": metadata}
        checks = [check for tool in golden.get("expected_tools") or () for check in _called(tool)]
        if golden.get("scenario") or golden.get("turns"):
            _conversation(converted, id, golden, simulator, more)
            continue
        if golden.get("expected_output"):
            checks.insert(0, judged(SAME_MEANING.format(golden["expected_output"])))
        converted.add(id, {"input": golden.get("input") or ""}, checks, **more)
    return converted


def _conversation(converted: Converted, id: str, golden: Record, simulator: str, more: Record) -> None:
    outcome = golden.get("expected_outcome")
    said = [one for one in golden.get("turns") or () if one.get("role", "user") == "user"]
    wanted = [judged(outcome)] if outcome else []
    if said:
        turns = [{"input": one.get("content") or ""} for one in said]
        converted.add(id, {"turns": turns}, wanted, **more)
        return
    persona = {"persona": golden["user_description"]} if golden.get("user_description") else {}
    plays = {"use": simulator, "goal": golden["scenario"], **persona}
    checkpoint = {"id": "outcome", "assert": wanted[0] if wanted else {"type": "type", "value": "string"}}
    converted.add(id, {"simulator": plays, "checkpoints": [checkpoint]}, [], max_turns=MOST_TURNS, **more)


def _called(tool: Any) -> Iterator[Record]:
    name = tool if isinstance(tool, str) else tool.get("name")
    given = None if isinstance(tool, str) else tool.get("input_parameters") or tool.get("inputParameters")
    yield {"type": "tool_called", **({"value": {"name": name, "arguments": given}} if given else {"name": name})}


def _scored(targets: list[str], scorer: str, begins: bool) -> Iterator[Record]:
    """The assertions of a scorer; `begins`: to match means to begin with the target, and not to end with it."""
    if not targets:
        return
    if scorer == "match" and not begins:
        yield one_of("regex", (rf"(?i){re.escape(target)}\W*$" for target in targets))
    elif scorer == "model_graded_qa":
        yield judged(SAME_MEANING.format(" or: ".join(targets)))
    else:
        types = {"includes": "icontains", "match": "starts_with", "exact": "equals", "pattern": "regex"}
        yield one_of(types[scorer], targets)


def _rest(converted: Converted, format: str, record: Record, id: str) -> None:
    for name in sorted(record.keys() - FIELDS[format]):
        if record[name] not in (None, "", [], {}):
            converted.lacks(f"`{name}`", id)


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
        try:
            found = json.loads(given)
        except ValueError:
            return [part.strip() for part in given.split(",")]
        return found if isinstance(found, list) else [found]
    return given if isinstance(given, list) else []


def _object(given: Any) -> Record:
    if isinstance(given, str) and given:
        try:
            given = json.loads(given)
        except ValueError:
            return {"metadata": given}
    return dict(given) if isinstance(given, dict) else {}
