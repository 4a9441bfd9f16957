"""The file `replies.yml`: a list of rules. Each rule has a condition and an answer.

`docs/scripted.md` describes it.

- when: { input: taxi, turn: 1 } times: 1 reply: Which day was that?
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.connectors.base import ENDINGS
from runner.connectors.reply_conditions import Condition, read_conditions
from runner.connectors.reply_situation import Situation, ValuePath
from runner.connectors.reply_templates import Lookup, compile_templates, names_in
from runner.connectors.rules import fields_in, read_rules
from runner.durations import FORMS, seconds_of
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

FINISH_REASONS = tuple(ENDINGS)
_RULE = ("when", "times", "reply")
_TEXTS = ("text", "reasoning", "refusal", "input_hint")
_REPLY = (*_TEXTS, "json", "tool_calls", "finish_reason", "awaiting_input", "usage", "delay", "error")
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "cost")
_ERROR = ("status", "message", "retry_after")


class ScriptedError(Value):
    """A model call that fails."""

    message: str
    status: int | None = None
    retry_after: float | None = None
    """Seconds to wait before the next attempt."""


class ScriptedCall(Value):
    """A tool call; `arguments` may have templates; a string is used as it is."""

    name: str
    arguments: Any


class Reply(Value):
    """The answer of a rule; texts and JSON may contain templates."""

    text: Any = ""
    json: Any = None
    has_json: bool = False
    tool_calls: tuple[ScriptedCall, ...] = ()
    reasoning: Any = ""
    refusal: Any = None
    finish_reason: str | None = None
    awaiting_input: bool | None = None
    input_hint: Any = None
    usage: Mapping[str, Any] | None = None
    delay: float = 0
    """Seconds."""
    error: ScriptedError | None = None
    says: bool = True
    """Whether there is a text, JSON or a tool call in it."""


class Rule(Value):
    """One entry of the file."""

    number: int
    """Counted from 1."""
    conditions: tuple[Condition, ...]
    times: int | None
    reply: Reply

    def holds(self, situation: Situation) -> bool:
        """Whether all its conditions do."""
        lookup = self.lookup(situation)
        return all(condition.holds(lookup) for condition in self.conditions)

    def lookup(self, situation: Situation) -> Lookup:
        """Finds the values of templates: those of the situation, and `match`, what the first regex took."""

        def find(path: ValuePath) -> Any:
            if path[0] != "match":
                return situation.value(path)
            found = (condition.groups(find) for condition in self.conditions if condition.has_pattern)
            return next((groups for groups in found if groups), {})[".".join(path[1:]) or "0"]

        return find

    @property
    def shown(self) -> str:
        """The conditions of the rule, in words."""
        conditions = " and ".join(condition.shown for condition in self.conditions) or "always"
        often = "" if self.times is None else f", {self.times} time{'' if self.times == 1 else 's'}"
        return f"rule {self.number}: {conditions}{often}"


def read_replies(path: Path, label: str) -> tuple[Rule, ...]:
    """The rules in a file, which messages call `label`. Raises ConfigurationError."""
    return read_rules(path, label, "- reply: some text", _rule)


def _rule(number: int, entry: Any, last: bool) -> Rule:
    fields = fields_in(entry, "a rule", _RULE)
    if "reply" not in fields:
        raise ConfigurationError('"reply" is missing', "It is the answer of the model")
    times = fields.get("times")
    if times is not None and (not isinstance(times, int) or isinstance(times, bool) or times < 1):
        raise ConfigurationError('"times" must be a whole number from 1 up')
    rule = Rule(
        number=number, conditions=read_conditions(fields.get("when")), times=times, reply=_reply(fields["reply"])
    )
    if not rule.conditions and times is None and not last:
        raise ConfigurationError("it always applies, so the rules after it are never used", "Make it the last one")
    names = _names_used(rule.reply).union(*[condition.names for condition in rule.conditions])
    if "match" in names and not any(condition.has_pattern for condition in rule.conditions):
        raise ConfigurationError("it uses match, but no condition is a regex", "Write one as { regex: pattern }")
    return rule


def _reply(value: Any) -> Reply:
    if isinstance(value, str):
        return Reply(text=compile_templates(value))
    fields = fields_in(value, '"reply"', _REPLY)
    if not fields:
        raise ConfigurationError('"reply" is empty', 'An empty answer is reply: ""')
    for name in _TEXTS:
        if name in fields and not isinstance(fields[name], str):
            raise ConfigurationError(f'"{name}" must be text', "Put it in quotes")
    if "text" in fields and "json" in fields:
        raise ConfigurationError('"text" and "json" cannot be used together')
    others = [name for name in fields if name not in ("error", "delay")]
    if "error" in fields and others:
        raise ConfigurationError(f'"error" and "{others[0]}" cannot be used together')
    awaiting = fields.get("awaiting_input")
    if awaiting is not None and not isinstance(awaiting, bool):
        raise ConfigurationError('"awaiting_input" must be true or false')
    finish = fields.get("finish_reason")
    if finish is not None and finish not in FINISH_REASONS:
        hint = did_you_mean(str(finish), FINISH_REASONS) or f"There are {', '.join(FINISH_REASONS)}"
        raise ConfigurationError(f'unknown finish_reason "{finish}"', hint)
    if finish == "error":  # what was said before it counts for nothing, as from a real host
        delay = {"delay": fields["delay"]} if "delay" in fields else {}
        fields = {"error": {"status": 502, "message": "finish_reason error"}, **delay}
    return Reply(
        **{name: compile_templates(fields[name]) for name in (*_TEXTS, "json") if name in fields},
        has_json="json" in fields,
        tool_calls=_tool_calls(fields.get("tool_calls", [])),
        finish_reason=finish,
        awaiting_input=awaiting,
        usage=_usage(fields["usage"]) if "usage" in fields else None,
        delay=_duration(fields["delay"], "delay") if "delay" in fields else 0,
        error=_error(fields["error"]) if "error" in fields else None,
        says=not fields.keys().isdisjoint(("text", "json")) or bool(fields.get("tool_calls")),
    )


def _tool_calls(value: Any) -> tuple[ScriptedCall, ...]:
    if not isinstance(value, list):
        raise ConfigurationError('"tool_calls" must be a list', "An item is a name, or { name, arguments }")
    calls = []
    for item in value:
        fields = {"name": item} if isinstance(item, str) else fields_in(item, "a tool call", ("name", "arguments"))
        name: Any = fields.get("name")
        arguments: Any = fields.get("arguments", {})
        if not isinstance(name, str) or not name:
            raise ConfigurationError('the "name" of a tool call is missing')
        if not isinstance(arguments, dict | str):
            raise ConfigurationError(f'"arguments" of {name} must be an object, or text that is sent as it is')
        calls.append(ScriptedCall(name=name, arguments=compile_templates(arguments)))
    return tuple(calls)


def _usage(value: Any) -> Mapping[str, Any]:
    fields = fields_in(value, '"usage"', _USAGE)
    for name, number in fields.items():
        kinds = (int, float) if name == "cost" else (int,)
        if not isinstance(number, kinds) or isinstance(number, bool) or number < 0:
            raise ConfigurationError(f'"{name}" of "usage" must be a number from 0 up')
    return fields


def _error(value: Any) -> ScriptedError:
    if isinstance(value, str):
        return ScriptedError(message=value)
    fields = fields_in(value, '"error"', _ERROR)
    status, message, retry_after = (fields.get(name) for name in _ERROR)
    if status is not None and (not isinstance(status, int) or isinstance(status, bool) or not 400 <= status <= 599):
        raise ConfigurationError('"status" of "error" must be an HTTP status from 400 to 599')
    if message is not None and not isinstance(message, str):
        raise ConfigurationError('"message" of "error" must be text', "Put it in quotes")
    if status is None and message is None:
        raise ConfigurationError('"error" is empty', "Write it as { status: 429, message: text }")
    seconds = None if retry_after is None else _duration(retry_after, "retry_after")
    return ScriptedError(message=message or "", status=status, retry_after=seconds)


def _duration(value: Any, name: str) -> float:
    if not isinstance(value, str):
        raise ConfigurationError(f'"{name}" must be a duration', f"Write it as {FORMS}")
    return seconds_of(value, name)


def _names_used(reply: Reply) -> set[str]:
    values = [reply.text, reply.json, reply.reasoning, reply.refusal, reply.input_hint]
    return names_in(values + [call.arguments for call in reply.tool_calls])
