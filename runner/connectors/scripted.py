"""The connector `scripted`: a deterministic replacement for a model, without network or key.

It answers by the rules in `replies.yml` beside the `prompts.yml` of the agent that asks (`agent/replies.yml` when a
script asks a model directly). `docs/scripted.md` describes the file:

- when: { input: taxi, turn: 1 } times: 1 reply: Which day was that?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from runner.connectors import scripted_rules as rules
from runner.connectors import scripted_templates as templates
from runner.connectors.base import ENDINGS, Completion, ConnectorError, ModelRequest, ToolCall, Usage, message_text, say
from runner.errors import ConfigurationError, did_you_mean

FILE = "replies.yml"
_RULE = ("when", "times", "reply")
_TEXTS = ("text", "reasoning", "refusal", "input_hint")
_REPLY = (*_TEXTS, "json", "tool_calls", "finish_reason", "awaiting_input", "usage", "delay", "error")
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "cost")
_ERROR = ("status", "message", "retry_after")
_KINDS: Mapping[str, tuple[Any, str, str | None]] = {
    **dict.fromkeys(_TEXTS, (str, "text", "Put it in quotes")),
    "awaiting_input": (bool | None, "true or false", None),
    "tool_calls": (list, "a list", "Each item is a name, or {  name, arguments }"),
}
"""Field of a reply → what it has to be, for messages too, and what to do about another value."""
_RETRIES = 3
"""As for real models; only what `retry_after` says is waited."""
_PIECES = 4
"""In how many pieces a text arrives."""


class ReplyRule(rules.Rule):
    """One entry of the file."""

    reply: Mapping[str, Any]
    """Its fields, as in the file, with the templates in them compiled; durations in seconds, `tool_calls` a list of
    `{name, arguments}`, `error` an object."""


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
            if delay := rule.reply.get("delay"):
                await asyncio.sleep(delay)
            error = rule.reply.get("error")
            if error is None:
                return _answer(rule, situation, request, label)
            failure = _failure(error, rule, label, attempt)
            if not failure.retryable or attempt == _RETRIES:
                raise failure
            if wait := error.get("retry_after"):
                await asyncio.sleep(wait)
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
    if not (rule.reply.keys() & {"text", "json"} or completion.tool_calls or completion.refusal):
        hint = f'Rule {rule.number} of {label} returns it; for an empty answer, use text: ""'
        raise ConnectorError(
            "The model scripted returned an empty message: no content, no refusal and no tool call", hint=hint
        )
    say(_pieces(completion.content), request)
    return completion


def _completion(rule: ReplyRule, situation: templates.Situation, request: ModelRequest) -> Completion:
    reply, lookup, number = rule.reply, rule.lookup(situation), situation.answers + 1

    def text(value: Any) -> str:
        return templates.as_text(templates.render(value, lookup))

    texts: dict[str, Any] = {name: text(reply[name]) for name in _TEXTS if name in reply}
    content = texts.pop("text", "")
    if "json" in reply:
        content = templates.as_json(templates.render(reply["json"], lookup))
    calls = tuple(
        ToolCall(id=f"call_{number}_{at}", name=_offered(call["name"], request), arguments=text(call["arguments"]))
        for at, call in enumerate(reply.get("tool_calls", ()), 1)
    )
    return Completion(
        content=content,
        tool_calls=calls,
        finish_reason=reply.get("finish_reason") or ("tool_calls" if calls else "stop"),
        usage=_used_tokens(reply, request, content, calls),
        model="scripted",
        id=f"scripted_{number}",
        awaiting_input=reply.get("awaiting_input"),
        **texts,
    )


def _offered(name: str, request: ModelRequest) -> str:
    """The full name of an offered tool that is written without its server; any other name as it is."""
    names = [tool["name"] for tool in request.tools]
    return name if name in names else next((full for full in names if full.endswith(f"__{name}")), name)


def _used_tokens(reply: Mapping[str, Any], request: ModelRequest, content: str, calls: tuple[ToolCall, ...]) -> Usage:
    """As the rule says; what it does not say is the number of words."""
    usage = Usage(
        input_tokens=sum(len(message_text(message).split()) for message in request.messages),
        output_tokens=sum(len(text.split()) for text in (content, *(call.arguments for call in calls))),
    )
    return usage.replace(**reply.get("usage", {}))


def _pieces(text: str) -> list[str]:
    size = -(-len(text) // _PIECES) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]


def _failure(error: Mapping[str, Any], rule: ReplyRule, label: str, attempt: int) -> ConnectorError:
    from http import HTTPStatus

    status = error.get("status")
    words = " ".join([str(one) for one in (status, *(one.phrase for one in HTTPStatus if one == status)) if one])
    said = ": ".join(part for part in (words, error.get("message")) if part)
    tried = f" (tried {attempt + 1} times)" if attempt else ""
    retryable = status is None or status in (408, 429) or status >= 500
    hint = f"Rule {rule.number} of {label} sets this error"
    return ConnectorError(f"The model scripted failed: {said}{tried}", status, retryable, hint)


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
    rule = ReplyRule(number=number, reply=reply, **rules.conditions_in(fields, templates.names_in(reply)))
    if not rule.conditions and rule.times is None and not last:
        raise ConfigurationError("it always matches, so later rules are never used", "Make it the last one")
    return rule


def _reply(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"text": templates.compile_templates(value)}
    fields = {**rules.fields_in(value, '"reply"', _REPLY)}
    if not fields:
        raise ConfigurationError('"reply" is empty', 'An empty answer is reply: ""')
    for name, (kind, needed, hint) in _KINDS.items():
        if name in fields and not isinstance(fields[name], kind):
            raise ConfigurationError(f'"{name}" must be {needed}', hint)
    if "text" in fields and "json" in fields:
        raise ConfigurationError('"text" and "json" cannot be used together')
    others = [name for name in fields if name not in ("error", "delay")]
    if "error" in fields and others:
        raise ConfigurationError(f'"error" and "{others[0]}" cannot be used together')
    finish = fields.get("finish_reason")
    if finish is not None and str(finish) not in ENDINGS:
        hint = did_you_mean(str(finish), ENDINGS) or f"There are {', '.join(ENDINGS)}"
        raise ConfigurationError(f'unknown finish_reason "{finish}"', hint)
    fields["delay"] = rules.duration_in(fields, "delay")
    if finish == "error":  # what was said before it counts for nothing, as from a real host
        return {"error": {"status": 502, "message": "finish_reason error"}, "delay": fields["delay"]}
    return {name: _READERS[name](value) if name in _READERS else value for name, value in fields.items()}


def _tool_call(item: Any) -> dict[str, Any]:
    call: dict[str, Any] = (
        {"name": item} if isinstance(item, str) else rules.fields_in(item, "a tool call", ("name", "arguments"))
    )
    name, arguments = call.get("name"), call.get("arguments", {})
    if not isinstance(name, str) or not name:
        raise ConfigurationError('the "name" of a tool call is missing')
    if not isinstance(arguments, dict | str):
        raise ConfigurationError(f'"arguments" of {name} must be an object, or text that is sent unchanged')
    return {"name": name, "arguments": templates.compile_templates(arguments)}


def _usage(value: Any) -> Mapping[str, Any]:
    fields = rules.fields_in(value, '"usage"', _USAGE)
    for name, number in fields.items():
        kinds = (int, float) if name == "cost" else (int,)
        if not isinstance(number, kinds) or isinstance(number, bool) or number < 0:
            raise ConfigurationError(f'"{name}" of "usage" must be a number of at least 0')
    return fields


def _error(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        return {"message": value}
    fields = rules.fields_in(value, '"error"', _ERROR)
    status, message = fields.get("status"), fields.get("message")
    if status is not None and (not isinstance(status, int) or isinstance(status, bool) or not 400 <= status <= 599):
        raise ConfigurationError('"status" of "error" must be an HTTP status from 400 to 599')
    if message is not None and not isinstance(message, str):
        raise ConfigurationError('"message" of "error" must be text', "Put it in quotes")
    if status is None and message is None:
        raise ConfigurationError('"error" is empty', "Write it as { status: 429, message: text }")
    return {**fields, "retry_after": rules.duration_in(fields, "retry_after")}


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys((*_TEXTS, "json"), templates.compile_templates),
    "tool_calls": lambda calls: [_tool_call(item) for item in calls],
    "usage": _usage,
    "error": _error,
}
"""Field of a reply → what reads it. Raises ConfigurationError, whose message is the detail only."""
