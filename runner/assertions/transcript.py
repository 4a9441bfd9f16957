"""What judges and scripts get of a conversation, in addition to the answer that they judge.

| key | |
| --- | --- |
| messages | `{role, content, tool_calls?, tool_results?, turn}` of all messages, up to and including the answer |
| output | the answer that is judged |
| tools | `{name, server, arguments, result or error, turn}` of each tool call, in order |
| turns | `{turn, input, output}` of each turn; `output` as assertions see it |
| criteria | those of the case, in conversation mode, if it has any; validators get them as `background` |

Turns are numbered from 1; messages before the first have the turn 0. The content of files is left out; a part only says
its type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Said, ToolUse


def transcript_of(evidence: Evidence) -> dict[str, Any]:
    """`{messages, output, tools, turns, criteria?}`: JSON values, new at each call."""
    criteria = {"criteria": evidence.criteria} if evidence.criteria else {}
    return {**_seen(evidence), "output": evidence.output, **criteria}


def seen_of(evidence: Evidence) -> dict[str, Any]:
    """`{messages, tools, turns, background?}`, as validators get it beside the keys of their own; what the case tells
    them under one of these names wins."""
    background = {"background": evidence.criteria} if evidence.criteria else {}
    return {**_seen(evidence), **background}


def _seen(evidence: Evidence) -> dict[str, Any]:
    turns = evidence.turns
    return {
        "messages": _messages(evidence.messages, turns),
        "tools": [{**_tool(use), "turn": said.turn} for said in turns for use in said.tools],
        "turns": [{"turn": said.turn, "input": without_files(said.input), "output": said.output} for said in turns],
    }


def without_files(content: Any) -> Any:
    """The content of a message without that of its files, which would be sent to every judge."""
    if not isinstance(content, list):
        return content
    return [_part(part) if isinstance(part, Mapping) else part for part in content]


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    return part if part.get("type") == "text" else {"type": part.get("type")}


def _messages(messages: Sequence[Mapping[str, Any]], turns: Sequence[Said]) -> list[dict[str, Any]]:
    begin = turns[0].start if turns else len(messages)
    seen = [{**_message(message), "turn": 0} for message in messages[:begin]]
    ends = [*(said.start for said in turns[1:]), len(messages)]
    for said, end in zip(turns, ends, strict=False):
        *before, answer = map(_message, messages[said.start : end])
        if said.tools:
            answer["tool_calls"] = [_call(use) for use in said.tools]
            answer["tool_results"] = [{"name": use.name, **_outcome(use)} for use in said.tools]
        seen += [{**message, "turn": said.turn} for message in (*before, answer)]
    return seen


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    seen = {**message, "content": without_files(message.get("content"))}
    if isinstance(seen.get("tool_calls"), list):
        seen["tool_calls"] = [_written(call) for call in seen["tool_calls"]]
    return seen


def _written(call: Any) -> Any:
    """A tool call that a case has in its messages, in the form of the others."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return call
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    return {"name": function.get("name"), "arguments": arguments}


def _call(use: ToolUse) -> dict[str, Any]:
    return {"name": use.name, "server": use.server, "arguments": use.arguments}


def _outcome(use: ToolUse) -> dict[str, Any]:
    return {"result": use.result} if use.error is None else {"error": use.error}


def _tool(use: ToolUse) -> dict[str, Any]:
    return {**_call(use), **_outcome(use)}
