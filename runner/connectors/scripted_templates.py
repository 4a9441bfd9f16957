"""What rules of scripted models read: the values of a request, and templates with them.

| name | value |
| --- | --- |
| input | text of the last user message, or its fields if that text is JSON |
| system | text of all system messages |
| turn | number of user messages so far, from 1 |
| call | number of the model call in this turn, from 1; the second one comes after results of tools |
| tool | `{name, arguments, result}` of the last result of a tool; null if the user spoke last |
| tools | names of the offered tools, without their servers |
| metadata | `ctx.metadata` |
| agent | id of the asking agent |
| messages | all messages of the request |

Templates such as `{{ tool.result.id }}` and `{{ match.1 | number }}` stand in texts, or anywhere in a JSON value. A
string that is one template and nothing else becomes the value itself, so that JSON gets numbers and objects; in a
longer text a value is written as text, and what is not text as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from runner.connectors.base import message_text
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value, mapped

if TYPE_CHECKING:
    from runner.connectors.base import Message, ModelRequest


NAMES = ("input", "system", "turn", "call", "tool", "tools", "metadata", "agent", "messages")

ValuePath = tuple[str, ...]
"""`tool.result.id` in its parts."""


class Situation:
    """The values of one request, or of an earlier point of its conversation, each found when it is first looked at."""

    def __init__(self, request: ModelRequest, length: int | None = None) -> None:
        """`length` is how many of the messages had been there; all, when it is not given."""
        self._request = request
        self._messages = request.messages if length is None else request.messages[:length]
        self._known: dict[str, Any] = {}

    def value(self, path: ValuePath) -> Any:
        """The value at a path. Raises KeyError when there is none."""
        value = self._named(path[0])
        for step in path[1:]:
            if isinstance(value, str):
                value = _parsed(value)
            if isinstance(value, Mapping):
                value = value[step]
            elif (
                isinstance(value, list) and step.removeprefix("-").isdecimal() and -len(value) <= int(step) < len(value)
            ):
                value = value[int(step)]
            else:
                raise KeyError(step)
        return value

    def earlier(self) -> list[Situation]:
        """The situations in which the answers that are part of the conversation were given, oldest first."""
        return [
            Situation(self._request, length)
            for length, message in enumerate(self._messages)
            if role_of(message) == "assistant"
        ]

    @property
    def answers(self) -> int:
        """How many answers are part of the conversation."""
        return sum(role_of(message) == "assistant" for message in self._messages)

    def _named(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._found(name)
        return self._known[name]

    def _found(self, name: str) -> Any:
        request, messages = self._request, self._messages
        match name:
            case "input":
                return next((message_text(one) for one in reversed(messages) if role_of(one) == "user"), "")
            case "system":
                return "\n".join(message_text(one) for one in messages if role_of(one) in ("system", "developer"))
            case "turn":
                return request.turn - sum(role_of(one) == "user" for one in request.messages[len(messages) :])
            case "call":
                since = takewhile(lambda one: role_of(one) != "user", reversed(messages))
                return 1 + sum(role_of(one) == "assistant" for one in since)
            case "tool":
                return self._last_tool()
            case "tools":
                return [bare_name(tool["name"]) for tool in request.tools]
            case "messages":
                return messages
        return getattr(request, name)

    def _last_tool(self) -> dict[str, Any] | None:
        result = None
        for message in reversed(self._messages):
            role = role_of(message)
            if role == "tool":
                result = result or message
            elif role in ("user", "assistant"):
                return _tool_use(message, result) if result else None
        return _tool_use({}, result) if result else None


def role_of(message: Message) -> str:
    """The role of a message's author; `user` when the message has none."""
    return message.get("role") or "user"


def bare_name(tool: str) -> str:
    """A tool's name without its server: `create` of `expense__create`."""
    return tool.partition("__")[2] or tool


def _tool_use(asking: Message, result: Message) -> dict[str, Any]:
    """The tool of a result; the message before it has the call."""
    found = {"name": bare_name(result.get("name") or ""), "arguments": None, "result": _parsed(message_text(result))}
    for call in asking.get("tool_calls") or ():
        if call.get("id") == result.get("tool_call_id"):
            function = call.get("function") or call
            arguments = function.get("arguments")
            found["name"] = bare_name(function.get("name") or "")
            found["arguments"] = _parsed(arguments) if isinstance(arguments, str) else arguments
    return found


def _parsed(text: str) -> Any:
    """The JSON value that a text is, or the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


_BRACES = re.compile(r"\{\{(.*?)\}\}", re.S)
_EXPRESSION = re.compile(r"\s*([A-Za-z]\w*(?:\.[\w-]+)*)\s*((?:\|\s*\w+\s*)*)")

Lookup = Callable[[ValuePath], Any]
"""Finds the value of a path; raises KeyError."""


class TemplateError(Exception):
    """A template has no value here; the message says which and why."""


class Expression(Value):
    """The expression between the braces of a template."""

    source: str
    path: ValuePath
    filters: tuple[str, ...]

    def value(self, lookup: Lookup) -> Any:
        """Its value. Raises TemplateError."""
        try:
            value = lookup(self.path)
        except KeyError as error:
            raise TemplateError(f"there is no {'.'.join(self.path)}") from error
        for name in self.filters:
            try:
                value = _FILTERS[name](value)
            except ValueError as error:
                raise TemplateError(f"{'.'.join(self.path)} is not a number: {as_json(value)}") from error
        return value


class Template(Value):
    """A string with expressions in it."""

    parts: tuple[str | Expression, ...]

    def value(self, lookup: Lookup) -> Any:
        """The text, or the value of the only expression. Raises TemplateError."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Expression):
            return self.parts[0].value(lookup)
        return "".join(part if isinstance(part, str) else as_text(part.value(lookup)) for part in self.parts)


def compile_templates(value: Any) -> Any:
    """The same JSON value with a Template for each string that is one. Raises ConfigurationError, whose message is the
    detail only."""
    return mapped(value, lambda leaf: _compile(leaf) if isinstance(leaf, str) and "{{" in leaf else leaf)


def render(value: Any, lookup: Lookup) -> Any:
    """The JSON value with the templates filled in. Raises TemplateError."""
    return mapped(value, lambda leaf: leaf.value(lookup) if isinstance(leaf, Template) else leaf)


def names_in(value: Any) -> set[str]:
    """The first names of all paths in a compiled value."""
    if isinstance(value, Template):
        return {part.path[0] for part in value.parts if isinstance(part, Expression)}
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {name for item in items for name in names_in(item)}


def path_of(text: str, names: tuple[str, ...] = NAMES) -> ValuePath:
    """The parts of a dotted path whose first must be a known name. Raises ConfigurationError, detail only."""
    path = tuple(text.split("."))
    if path[0] not in names:
        hint = did_you_mean(path[0], names) or f"The names are {', '.join(names)}"
        raise ConfigurationError(f'unknown name "{path[0]}"', hint)
    return path


def as_text(value: Any) -> str:
    """Text as it is, nothing for null, anything else as JSON."""
    return value if isinstance(value, str) else "" if value is None else as_json(value)


def as_json(value: Any) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _compile(text: str) -> Template:
    end = text.rfind("}}") + 2  # behind it, each pair of braces would be searched to the end
    pieces = _BRACES.split(text[:end]) if end > 1 else [""]
    pieces[-1] += text[end:] if end > 1 else text
    parts = [_expression(piece) if index % 2 else piece for index, piece in enumerate(pieces)]
    return Template(parts=tuple(part for part in parts if part != ""))


def _expression(source: str) -> Expression:
    shown = f"{{{{{source}}}}}"
    match = _EXPRESSION.fullmatch(source)
    if match is None:
        raise ConfigurationError(
            f'cannot read the template "{shown}"', "Write it as {{ name.field }} or {{ name | json }}"
        )
    try:
        path = path_of(match[1], (*NAMES, "match"))
    except ConfigurationError as error:
        raise ConfigurationError(f'{error.message} in the template "{shown}"', error.hint) from error
    filters = tuple(name.strip() for name in match[2].split("|")[1:])
    for name in filters:
        if name not in _FILTERS:
            hint = did_you_mean(name, _FILTERS) or f"The filters are {', '.join(_FILTERS)}"
            raise ConfigurationError(f'unknown filter "{name}" in the template "{shown}"', hint)
    return Expression(source=source, path=path, filters=filters)


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(value)
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(value)
    return int(number) if number.is_integer() else number


_FILTERS: dict[str, Callable[[Any], Any]] = {"json": as_json, "number": _number}
