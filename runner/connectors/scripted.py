"""The connector `scripted`: a deterministic replacement for a model, without network or key.

It answers by the rules in `replies.yml` beside the `prompts.yml` of the agent that asks (`agent/replies.yml` when a
script asks a model directly). `docs/scripted.md` describes the file:

- when: { input: taxi, turn: 1 } times: 1 reply: Which day was that?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from runner.connectors import scripted_rules as rules
from runner.connectors import scripted_templates as templates
from runner.connectors.base import ENDINGS, Completion, ConnectorError, ModelRequest, ToolCall, Usage, message_text, say
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

FILE = "replies.yml"
FINISH_REASONS = tuple(ENDINGS)
_RULE = ("when", "times", "reply")
_TEXTS = ("text", "reasoning", "refusal", "input_hint")
_REPLY = (*_TEXTS, "json", "tool_calls", "finish_reason", "awaiting_input", "usage", "delay", "error")
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "cost")
_ERROR = ("status", "message", "retry_after")
_RETRIES = 3
"""As for real models; only what `retry_after` says is waited."""
_PIECES = 4
"""In how many pieces a text arrives."""
_REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    408: "Request Timeout",
    413: "Content Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    529: "Overloaded",
}


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


class ReplyRule(rules.Rule):
    """One entry of the file."""

    reply: Reply


class ScriptedConnector(rules.RuleConnector[ReplyRule]):
    """Answers by the rules in `replies.yml`."""

    id = "scripted"

    async def complete(self, request: ModelRequest) -> Completion:
        """The answer of the first rule that applies. Raises ConnectorError when none does, when the rules are broken,
        and when a rule says so: what may pass is tried again, as with a real model."""
        path = (request.folder or self._root / "agent") / FILE
        label = self._label(path)
        found = self._rules(path, _rule, "- reply: some text", lambda: _missing(label, request))
        situation = templates.Situation(request)
        used = rules.used_before(found, situation)
        for attempt in range(_RETRIES + 1):
            rule = rules.first_rule(found, situation, used)
            if rule is None:
                raise _no_rule(found, situation, label)
            if rule.reply.delay:
                await asyncio.sleep(rule.reply.delay)
            if rule.reply.error is None:
                return _answer(rule, situation, request, label)
            failure = _failure(rule.reply.error, rule, label, attempt)
            if not failure.retryable or attempt == _RETRIES:
                raise failure
            if rule.reply.error.retry_after:
                await asyncio.sleep(rule.reply.error.retry_after)
            used[rule.number] = used.get(rule.number, 0) + 1
        raise AssertionError("unreachable")


def _missing(label: str, request: ModelRequest) -> ConnectorError:
    who = f'agent "{request.agent}"' if request.agent else "a script"
    hint = (
        f"Write {label}, for example:\n"
        "- when: { input: hello }\n"
        "  reply: Hello, what can I do for you?\n"
        '- reply: "You said: {{ input }}"'
    )
    return ConnectorError(f"Cannot answer {who} with the connector scripted: there is no {label}", hint=hint)


def _answer(rule: ReplyRule, situation: templates.Situation, request: ModelRequest, label: str) -> Completion:
    try:
        completion = _completion(rule, situation, request)
    except templates.TemplateError as error:
        hint = "The template needs a value; add a condition to the rule that requires it"
        raise ConnectorError(f"Cannot answer with rule {rule.number} of {label}: {error}", hint=hint) from error
    if not (rule.reply.says or completion.refusal):
        hint = f'Rule {rule.number} of {label} returns it; for an empty answer, use text: ""'
        raise ConnectorError(
            "The model scripted returned an empty message: no content, no refusal and no tool call", hint=hint
        )
    say(_pieces(completion.content), request)
    return completion


def _completion(rule: ReplyRule, situation: templates.Situation, request: ModelRequest) -> Completion:
    lookup = rule.lookup(situation)

    def text(value: Any) -> str:
        return value if isinstance(value, str) else templates.as_text(templates.render(value, lookup))

    reply = rule.reply
    content = templates.as_json(templates.render(reply.json, lookup)) if reply.has_json else text(reply.text)
    number = situation.answers + 1
    calls = tuple(
        ToolCall(
            id=f"call_{number}_{index}",
            name=_offered(call.name, request),
            arguments=text(call.arguments),
        )
        for index, call in enumerate(reply.tool_calls, 1)
    )
    return Completion(
        content=content,
        tool_calls=calls,
        finish_reason=reply.finish_reason or ("tool_calls" if calls else "stop"),
        usage=_used_tokens(reply, request, content, calls),
        model="scripted",
        id=f"scripted_{number}",
        reasoning=text(reply.reasoning),
        refusal=None if reply.refusal is None else text(reply.refusal),
        awaiting_input=reply.awaiting_input,
        input_hint=None if reply.input_hint is None else text(reply.input_hint),
    )


def _offered(name: str, request: ModelRequest) -> str:
    """The full name of an offered tool that is written without its server; any other name as it is."""
    names = [tool["name"] for tool in request.tools]
    return name if name in names else next((full for full in names if full.endswith(f"__{name}")), name)


def _used_tokens(reply: Reply, request: ModelRequest, content: str, calls: tuple[ToolCall, ...]) -> Usage:
    """As the rule says; what it does not say is the number of words."""
    usage = Usage(
        input_tokens=sum(len(message_text(message).split()) for message in request.messages),
        output_tokens=sum(len(text.split()) for text in (content, *(call.arguments for call in calls))),
    )
    return usage.replace(**reply.usage) if reply.usage else usage


def _pieces(text: str) -> list[str]:
    size = -(-len(text) // _PIECES) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]


def _failure(error: ScriptedError, rule: ReplyRule, label: str, attempt: int) -> ConnectorError:
    words = " ".join(str(word) for word in (error.status, _REASONS.get(error.status or 0)) if word)
    said = ": ".join(part for part in (words, error.message) if part)
    tried = f" (tried {attempt + 1} times)" if attempt else ""
    retryable = error.status is None or error.status in (408, 429) or error.status >= 500
    hint = f"Rule {rule.number} of {label} sets this error"
    return ConnectorError(f"The model scripted failed: {said}{tried}", error.status, retryable, hint)


def _no_rule(found: tuple[ReplyRule, ...], situation: templates.Situation, label: str) -> ConnectorError:
    said = str(situation.value(("input",)))
    quoted = templates.as_json(said if len(said) <= 300 else f"{said[:300]}...")
    tool = situation.value(("tool",))
    after = f"the result of {tool['name']}, after the message {quoted}" if tool else f"the message {quoted}"
    return ConnectorError(
        f"No rule of {label} applies to {after} (turn {situation.value(('turn',))}):\n{rules.listed(found)}",
        hint=f"Add a rule whose conditions match, or end {label} with a rule without conditions: - reply: some text",
    )


# reading the file


def _rule(number: int, entry: Any, last: bool) -> ReplyRule:
    fields = rules.fields_in(entry, "a rule", _RULE)
    if "reply" not in fields:
        raise ConfigurationError('"reply" is missing', "It sets the answer of the model")
    reply = _reply(fields["reply"])
    texts = [reply.text, reply.json, reply.reasoning, reply.refusal, reply.input_hint]
    used = templates.names_in(texts + [call.arguments for call in reply.tool_calls])
    rule = ReplyRule(number=number, reply=reply, **rules.conditions_in(fields, used))
    if not rule.conditions and rule.times is None and not last:
        raise ConfigurationError("it always matches, so later rules are never used", "Make it the last one")
    return rule


def _reply(value: Any) -> Reply:
    if isinstance(value, str):
        return Reply(text=templates.compile_templates(value))
    fields = rules.fields_in(value, '"reply"', _REPLY)
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
        **{name: templates.compile_templates(fields[name]) for name in (*_TEXTS, "json") if name in fields},
        has_json="json" in fields,
        tool_calls=_tool_calls(fields.get("tool_calls", [])),
        finish_reason=finish,
        awaiting_input=awaiting,
        usage=_usage(fields["usage"]) if "usage" in fields else None,
        delay=rules.duration_in(fields, "delay") or 0,
        error=_error(fields["error"]) if "error" in fields else None,
        says=not fields.keys().isdisjoint(("text", "json")) or bool(fields.get("tool_calls")),
    )


def _tool_calls(value: Any) -> tuple[ScriptedCall, ...]:
    if not isinstance(value, list):
        raise ConfigurationError('"tool_calls" must be a list', "Each item is a name, or {  name, arguments }")
    calls = []
    for item in value:
        fields = (
            {"name": item} if isinstance(item, str) else rules.fields_in(item, "a tool call", ("name", "arguments"))
        )
        name: Any = fields.get("name")
        arguments: Any = fields.get("arguments", {})
        if not isinstance(name, str) or not name:
            raise ConfigurationError('the "name" of a tool call is missing')
        if not isinstance(arguments, dict | str):
            raise ConfigurationError(f'"arguments" of {name} must be an object, or text that is sent unchanged')
        calls.append(ScriptedCall(name=name, arguments=templates.compile_templates(arguments)))
    return tuple(calls)


def _usage(value: Any) -> Mapping[str, Any]:
    fields = rules.fields_in(value, '"usage"', _USAGE)
    for name, number in fields.items():
        kinds = (int, float) if name == "cost" else (int,)
        if not isinstance(number, kinds) or isinstance(number, bool) or number < 0:
            raise ConfigurationError(f'"{name}" of "usage" must be a number of at least 0')
    return fields


def _error(value: Any) -> ScriptedError:
    if isinstance(value, str):
        return ScriptedError(message=value)
    fields = rules.fields_in(value, '"error"', _ERROR)
    status, message = fields.get("status"), fields.get("message")
    if status is not None and (not isinstance(status, int) or isinstance(status, bool) or not 400 <= status <= 599):
        raise ConfigurationError('"status" of "error" must be an HTTP status from 400 to 599')
    if message is not None and not isinstance(message, str):
        raise ConfigurationError('"message" of "error" must be text', "Put it in quotes")
    if status is None and message is None:
        raise ConfigurationError('"error" is empty', "Write it as { status: 429, message: text }")
    return ScriptedError(message=message or "", status=status, retry_after=rules.duration_in(fields, "retry_after"))
