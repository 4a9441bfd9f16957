"""One turn of a conversation with the agent that is tested."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from runner.agents.answer import Answer
from runner.assertions.base import Evidence, ToolUse
from runner.modes.base import Trial


class Exchange(NamedTuple):
    """What was said and what came back."""

    answer: Answer
    tools: tuple[ToolUse, ...]
    """Those of this turn."""
    milliseconds: float
    evidence: Evidence
    """What assertions on this turn look at."""


async def exchange(trial: Trial, message: Mapping[str, Any], options: Mapping[str, Any]) -> Exchange:
    """Says something to the agent, with everything that was said before, and adds both to the transcript.

    Args:
        message: of the user, in OpenAI's form.
        options: `context.Options` of the call.

    Raises:
        AgentError: the agent could not answer; the message is in the transcript then.
    """
    trial.begin_turn()
    trial.transcript.append(dict(message))
    trial.messages = len(trial.transcript)
    before, calls = len(trial.chat.uses), len(trial.chat.model_calls)
    started = time.monotonic()
    answer = await trial.setting.runtime.call(trial.assistant.id, list(trial.transcript), dict(options), trial.chat)
    milliseconds = (time.monotonic() - started) * 1000
    trial.answer = answer
    trial.transcript.append({"role": "assistant", "content": text_of(answer)})
    tools = tuple(trial.chat.uses[before:])
    made = trial.chat.model_calls[calls:]
    costs = [call.usage.cost for call in made if call.usage.cost is not None]
    evidence = Evidence(
        output=answer.output,
        content=answer.content,
        input=message.get("content"),
        tools=tools,
        milliseconds=milliseconds,
        tokens=sum(call.usage.input_tokens + call.usage.output_tokens for call in made),
        cost=sum(costs) if costs else None,
        messages=tuple(trial.transcript),
        metadata=trial.case.metadata,
        case=trial.case.id,
    )
    return Exchange(answer, tools, milliseconds, evidence)


def text_of(answer: Answer) -> str:
    """What the agent said, as text: the completion, else its output."""
    if answer.content:
        return answer.content
    output = answer.output
    return output if isinstance(output, str) else "" if output is None else json.dumps(output, ensure_ascii=False)
