"""Replaces the variables of prompts when a call is made (facts of the runtime, "Prompts").

`$SYS.*` is the time, `$ENV.NAME` an environment variable that the application's `.env` names, and `$CTX.NAME` a field
of the context or a scalar of its metadata. A missing value becomes an empty text; an unknown `$SYS` name is left as it
is. `{{ $CTX.NAME }}`, as in Yao's documents, is read as `$CTX.NAME`.

The text of a prompt goes to a model, which may repeat it to anybody. So a prompt may use no secret, and no variable of
the machine that is not meant for it: both are errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from runner.errors import BrokenError
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.assistant import Assistant

_VARIABLE = r"\{\{\s*\$(SYS|ENV|CTX)\.(\w+)\s*\}\}|\$(SYS|ENV|CTX)\.(\w+)"
_TIMES = {
    "TIME": "%H:%M:%S",
    "DATE": "%Y-%m-%d",
    "DATETIME": "%Y-%m-%d %H:%M:%S",
    "WEEKDAY": "%A",
    "YEAR": "%Y",
    "MONTH": "%m",
    "DAY": "%d",
    "HOUR": "%H",
    "MINUTE": "%M",
    "SECOND": "%S",
}


class PromptVariables(Value):
    """The environment variables that prompts may use."""

    named: Mapping[str, str] = {}
    """The variables in the application's `.env`, by name."""
    environment: Mapping[str, str] = {}
    """All others that are set."""
    clean: Callable[[str], str] = str
    """Takes secrets out of a text."""

    def value(self, name: str, agent: str) -> str:
        """The value of `$ENV.NAME` in the prompts of an agent; empty for a variable that is not set. Raises
        BrokenError for one that prompts may not use."""
        value = self.named.get(name, "")
        if self.clean(value) != value or self.clean(self.environment.get(name, "")) != self.environment.get(name, ""):
            raise BrokenError(
                f"Cannot use the prompts of {agent}: $ENV.{name} is a secret, and prompts are sent to a model",
                "Remove it from the prompts; keys belong in connectors and in the env of MCP servers",
            )
        if name not in self.named and self.environment.get(name):
            raise BrokenError(
                f"Cannot use the prompts of {agent}: $ENV.{name} is set, but the application's .env does not name it",
                f"Add the line {name}= to .env: the environment overrides the value in the file",
            )
        return value


def fill(
    prompts: Iterable[Mapping[str, Any]],
    assistant: Assistant,
    context: Mapping[str, Any],
    variables: PromptVariables,
    now: Callable[[], datetime],
) -> list[dict[str, Any]]:
    """Prompts as messages, their variables replaced. Raises BrokenError for an environment variable that they may not
    use. `now` is asked when a prompt has variables."""
    prompts = list(prompts)
    if not any("$" in prompt["content"] for prompt in prompts):
        return [dict(prompt) for prompt in prompts]
    fields, time = _context_fields(assistant, context), now()

    def value(match: re.Match[str]) -> str:
        kind, name = match[1] or match[3], match[2] or match[4]
        if kind == "SYS":
            if name == "TIMEZONE":
                return str(time.tzname() or "UTC")
            return time.strftime(_TIMES[name]) if name in _TIMES else match[0]
        if kind == "ENV":
            return variables.value(name, assistant.id)
        return fields.get(name, fields.get(name.upper(), ""))

    return [{**prompt, "content": re.sub(_VARIABLE, value, prompt["content"])} for prompt in prompts]


def _context_fields(assistant: Assistant, context: Mapping[str, Any]) -> dict[str, str]:
    authorized = context.get("authorized") or {}
    fields = {
        "ASSISTANT_ID": assistant.id,
        "ASSISTANT_NAME": assistant.name,
        "ASSISTANT_DESCRIPTION": assistant.description,
        "ASSISTANT_TYPE": assistant.type,
        "CHAT_ID": context.get("chat_id"),
        "LOCALE": context.get("locale"),
        "THEME": context.get("theme"),
        "ROUTE": context.get("route"),
        "REFERER": context.get("referer"),
        "CLIENT_TYPE": (context.get("client") or {}).get("type"),
        "USER_ID": authorized.get("user_id"),
        "TEAM_ID": authorized.get("team_id"),
        "TENANT_ID": authorized.get("tenant_id"),
        "WORKSPACE_ID": authorized.get("workspace_id"),
    }
    named = {name: str(value or "") for name, value in fields.items()}
    for name, value in (context.get("metadata") or {}).items():
        if isinstance(value, str | int | float):
            named.setdefault(name, str(value).lower() if isinstance(value, bool) else str(value))
    return named
