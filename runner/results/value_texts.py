"""What people are shown of values, answers, messages, assertions and calls of tools."""

from __future__ import annotations

import json
import re

from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.assertions.base import AssertionResult, ToolUse

TEXT_LIMIT = 300
"""At most this many characters of a text are shown in one line."""

_NAME = r"[A-Za-z_$][\w$]*"


def written(result: AssertionResult) -> str:
    """An assertion as a short text: `contains "x"`, `$.status = "open"`."""
    from runner.assertions import EQUATIONS

    value = result.expected
    expected = (
        "" if value is None else f' "{one_line(value)}"' if isinstance(value, str) else f" {one_line(_literal(value))}"
    )
    score = "" if result.score is None else f" (score {result.score:g})"
    if result.type in EQUATIONS:
        return f"{result.path or '$'} ={expected or ' null'}{score}"
    return result.type + (f" {result.path}" if result.path else "") + expected + score


def text_of(said: Any) -> str:
    """A message, or its content, as text; files as `[image]`. An answer is shown by `as_text`."""
    if isinstance(said, dict) and "content" in said:
        return text_of(said["content"])
    if isinstance(said, list) and said and all(isinstance(part, dict) and "type" in part for part in said):
        return " ".join(str(part.get("text") or f"[{part['type']}]") for part in said)
    if said is None:
        return ""
    return as_text(said)


def as_text(value: Any, indent: int | None = None) -> str:
    """A text as it is, any other value as JSON; with `indent` blanks for each level, over several lines."""
    return value if isinstance(value, str) else json.dumps(value, indent=indent, ensure_ascii=False)


def shown_answer(output: Any, response: str) -> Any:
    """The output of the agent, `data` of its Next hook first of all, else the text of the completion; None where it
    has answered nothing."""
    return response or None if output is None or output == "" else output


def answer_of(record: Record) -> Any:
    """The answer in the record of a result or of a turn; of a conversation the last one."""
    output = record.get("final_output") if "test_id" in record else record.get("output")
    return shown_answer(output, record.get("response") or "")


def as_value(output: Any) -> Any:
    """An output. A text that is JSON is parsed, so that objects and lists are compared as values."""
    if not isinstance(output, str) or not output.lstrip().startswith(("{", "[")):
        return output
    try:
        return json.loads(output)
    except (ValueError, RecursionError):
        return output


def called(tool: ToolUse) -> str:
    """A call of a tool: `create_expense({amount: 3500})`, and its error if it failed."""
    text = f"{tool.name}({cut(_literal(tool.arguments), TEXT_LIMIT)})"
    return text if tool.error is None else f"{text} → error: {one_line(tool.error)}"


def _literal(value: Any) -> str:
    """A JSON value as one writes it in JavaScript: `{amount: 3500, type: "travel"}`."""
    if isinstance(value, dict):
        items = (
            f"{key if re.fullmatch(_NAME, key) else json.dumps(key, ensure_ascii=False)}: {_literal(item)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False)


def one_line(text: str) -> str:
    """A text without line breaks, shortened if it is long."""
    return cut(" ".join(text.split()), TEXT_LIMIT)


def cut(text: str, limit: int) -> str:
    """The beginning of a text, with its length."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"
