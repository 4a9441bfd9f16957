"""The connector `scripted`: a deterministic replacement for a model, without network or key.

It answers by the rules in `replies.yml` beside the `prompts.yml` of the agent that asks (`agent/replies.yml` when a
script asks a model directly). Nothing is kept between calls: what a rule looks at, `times` included, is in the request.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.connectors.base import Completion, ConnectorError, ModelRequest, ToolCall, Usage
from runner.connectors.parts import text_of
from runner.connectors.replies import Reply, Rule, ScriptedError, read_replies
from runner.connectors.reply_situation import Situation
from runner.connectors.reply_templates import TemplateError, as_json, as_text, render
from runner.connectors.rules import first_rule, used_before
from runner.errors import ConfigurationError
from runner.paths import shown_path

if TYPE_CHECKING:
    from runner.connectors.endpoint import Endpoint

FILE = "replies.yml"
_RETRIES = 3
"""As for real models; only what `retry_after` says is waited."""
_PIECES = 4
"""In how many pieces a text arrives."""
_SHOWN_RULES = 20
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


class ScriptedConnector:
    """Answers by rules. A file of rules is read once, which blocks."""

    id = "scripted"
    endpoint: Endpoint | None = None

    def __init__(self, application_root: Path) -> None:
        self._root = application_root
        self._files: dict[Path, tuple[Rule, ...] | ConnectorError] = {}
        self._labels: dict[Path, str] = {}

    async def complete(self, request: ModelRequest) -> Completion:
        """The answer of the first rule that applies. Raises ConnectorError when none does, when the rules are broken,
        and when a rule says so: what may pass is tried again, as with a real model."""
        path = (request.folder or self._root / "agent") / FILE
        rules, label = self._rules(path, request), self._label(path)
        situation = Situation(request)
        used = used_before(rules, situation)
        for attempt in range(_RETRIES + 1):
            rule = first_rule(rules, situation, used)
            if rule is None:
                raise _no_rule(rules, situation, label)
            if rule.reply.delay:
                await _sleep(rule.reply.delay)
            if rule.reply.error is None:
                return _answer(rule, situation, request, label)
            failure = _failure(rule.reply.error, rule, label, attempt)
            if not failure.retryable or attempt == _RETRIES:
                raise failure
            if rule.reply.error.retry_after:
                await _sleep(rule.reply.error.retry_after)
            used[rule.number] = used.get(rule.number, 0) + 1
        raise AssertionError("unreachable")

    def forget_outage(self) -> None:
        """No host, no outage."""

    async def close(self) -> None:
        """Nothing to close."""

    def _rules(self, path: Path, request: ModelRequest) -> tuple[Rule, ...]:
        found = self._files.get(path)
        if found is None:
            try:
                found = read_replies(path, self._label(path)) if path.is_file() else self._missing(path, request)
            except ConfigurationError as error:
                found = ConnectorError(error.message, hint=error.hint)
            self._files[path] = found
        if isinstance(found, ConnectorError):
            raise ConnectorError(found.message, hint=found.hint)
        return found

    def _missing(self, path: Path, request: ModelRequest) -> ConnectorError:
        who = f'agent "{request.agent}"' if request.agent else "a script"
        hint = (
            f"Write {self._label(path)}, for example:\n"
            "- when: { input: hello }\n"
            "  reply: Hello, what can I do for you?\n"
            '- reply: "You said: {{ input }}"'
        )
        return ConnectorError(
            f"Cannot answer {who} with the connector scripted: there is no {self._label(path)}", hint=hint
        )

    def _label(self, path: Path) -> str:
        label = self._labels.get(path)
        if label is None:
            label = self._labels[path] = shown_path(path, self._root)
        return label


def _answer(rule: Rule, situation: Situation, request: ModelRequest, label: str) -> Completion:
    try:
        completion = _completion(rule, situation, request)
    except TemplateError as error:
        hint = "A template needs a value; make it a condition of the rule that there is one"
        raise ConnectorError(f"Cannot answer by rule {rule.number} of {label}: {error}", hint=hint) from error
    if not (rule.reply.says or completion.refusal):
        hint = f'Rule {rule.number} of {label} says so; an empty answer is text: ""'
        raise ConnectorError(
            "The model scripted answered without a message: no content, no refusal and no call of a tool", hint=hint
        )
    if request.on_chunk is not None:
        for piece in _pieces(completion.content):
            request.on_chunk(piece)
    return completion


def _completion(rule: Rule, situation: Situation, request: ModelRequest) -> Completion:
    lookup = rule.lookup(situation)

    def text(value: Any) -> str:
        return value if isinstance(value, str) else as_text(render(value, lookup))

    reply = rule.reply
    content = as_json(render(reply.json, lookup)) if reply.has_json else text(reply.text)
    number = situation.answers + 1
    calls = tuple(
        ToolCall(
            id=f"call_{number}_{index}",
            name=_offered(call.name, request),
            arguments=text(call.arguments)
            if not isinstance(call.arguments, dict)
            else as_json(render(call.arguments, lookup)),
        )
        for index, call in enumerate(reply.tool_calls, 1)
    )
    return Completion(
        content=content,
        tool_calls=calls,
        finish_reason=reply.finish_reason or ("tool_calls" if calls else "stop"),
        usage=_usage(reply, request, content, calls),
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


def _usage(reply: Reply, request: ModelRequest, content: str, calls: tuple[ToolCall, ...]) -> Usage:
    """As the rule says; what it does not say is the number of words."""
    usage = Usage(
        input_tokens=sum(len(text_of(message).split()) for message in request.messages),
        output_tokens=sum(len(text.split()) for text in (content, *(call.arguments for call in calls))),
    )
    return usage.replace(**reply.usage) if reply.usage else usage


def _pieces(text: str) -> list[str]:
    size = -(-len(text) // _PIECES) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]


def _failure(error: ScriptedError, rule: Rule, label: str, attempt: int) -> ConnectorError:
    words = " ".join(str(word) for word in (error.status, _REASONS.get(error.status or 0)) if word)
    said = ": ".join(part for part in (words, error.message) if part)
    tried = f" (tried {attempt + 1} times)" if attempt else ""
    retryable = error.status is None or error.status in (408, 429) or error.status >= 500
    hint = f"Rule {rule.number} of {label} says so"
    return ConnectorError(f"The model scripted failed: {said}{tried}", error.status, retryable, hint)


async def _sleep(seconds: float) -> None:
    from asyncio import sleep

    await sleep(seconds)


def _no_rule(rules: tuple[Rule, ...], situation: Situation, label: str) -> ConnectorError:
    said = str(situation.value(("input",)))
    quoted = as_json(said if len(said) <= 300 else f"{said[:300]}...")
    tool = situation.value(("tool",))
    after = f"the result of {tool['name']}, after the message {quoted}" if tool else f"the message {quoted}"
    tried = "\n".join(f"  {rule.shown}" for rule in rules[:_SHOWN_RULES])
    more = f"\n  and {len(rules) - _SHOWN_RULES} more" if len(rules) > _SHOWN_RULES else ""
    return ConnectorError(
        f"No rule of {label} applies to {after} (turn {situation.value(('turn',))}):\n{tried}{more}",
        hint=f"Add a rule whose conditions hold, or end {label} with a rule without conditions: - reply: some text",
    )
