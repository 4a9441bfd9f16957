"""Mocks of a case where the runtime itself makes the call: processes behind tools, agents that hooks delegate to.

What scripts call is mocked in their realm (`bindings/src/parts/mocked.ts`); patterns and replies mean the same here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runner.agents.answer import AgentError, Answer
from runner.connectors.base import Completion
from scripttest.values import Value


class Reply(Value):
    """What a mock answers."""

    value: Any


def mocked_process(mocks: Mapping[str, Any], name: str) -> Reply | None:
    """The mock that answers a process, in any case."""
    return _find(mocks.get("process"), name, re.IGNORECASE)


def mocked_agent(mocks: Mapping[str, Any], id: str) -> Answer | None:
    """What an agent answers by its mock: a text, a response with `content`, `next` or `data`, or what it concludes.
    Raises AgentError for one that has an error."""
    id = id.removeprefix("agents:")
    reply = _find(mocks.get("agent"), id)
    if reply is None:
        return None
    value = reply.value
    if not isinstance(value, dict):
        return Answer(agent=id, completion=Completion(content="" if value is None else str(value)))
    if isinstance(value.get("error"), str) and "content" not in value:
        raise AgentError(value["error"])
    if not {"content", "next", "data"} & value.keys():
        return Answer(agent=id, next=value)
    return Answer(
        agent=id,
        completion=Completion(content=str(value.get("content") or "")),
        next=value.get("next", value.get("data")),
    )


def _find(given: Mapping[str, Any] | None, name: str, flags: int = 0) -> Reply | None:
    """The reply of the last pattern that fits; `*` stands for any run of characters."""
    for pattern, value in reversed(tuple((given or {}).items())):
        expression = ".*".join(map(re.escape, pattern.split("*")))
        if re.fullmatch(expression, name, flags | re.DOTALL):
            return Reply(value=value)
    return None
