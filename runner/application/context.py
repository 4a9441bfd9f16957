"""The `agent.Context` of a run: defaults, then `-u`, `-t` and `--locale`, then the `--ctx` file (seed 004, "Custom
Context")."""

from __future__ import annotations

from pathlib import Path

from runner.cli.options import RunOptions, absolute
from runner.errors import ConfigurationError, did_you_mean
from runner.paths import beside_missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_AUTHORIZED = [
    "sub",
    "client_id",
    "scope",
    "session_id",
    "user_id",
    "team_id",
    "tenant_id",
    "remember_me",
    "constraints",
    "user_name",
    "team_name",
]
_FIELDS = [
    "authorized",
    "metadata",
    "client",
    "locale",
    "referer",
    "theme",
    "route",
    "accept",
    "chat_id",
    "assistant_id",
]
_CLIENT = ["type", "user_agent", "ip"]
_CONSTRAINTS = ["owner_only", "creator_only", "editor_only", "team_only", "extra"]


def build_context(options: RunOptions, directory: Path) -> dict[str, Any]:
    """The fields of `ContextData` in `bindings/src/kernel.ts`. Raises ConfigurationError."""
    user = options.user or "test-user"
    team = options.team or "test-team"
    context: dict[str, Any] = {
        "chat_id": "",
        "assistant_id": options.name or "",
        "locale": options.locale or "en-us",
        "theme": "",
        "route": "",
        "referer": "test",
        "accept": "standard",
        "client": {"type": "test", "user_agent": "yao-agent-test/1.0", "ip": "127.0.0.1"},
        "metadata": {},
        "authorized": {"sub": user, "user_id": user, "team_id": team, "tenant_id": team},
    }
    if options.ctx is None:
        return context
    from runner.application.documents import read_json

    path = absolute(options.ctx, directory)
    if not path.exists():
        hint = beside_missing(path, lambda name: name.endswith((".json", ".jsonc")))
        raise ConfigurationError(f"Cannot read context file {path}: there is no such file", hint)
    given = read_json(path, "context file")
    where = f"context file {path}"
    _check(given, _FIELDS, where, "")
    authorized = _block(given, "authorized", _AUTHORIZED, where)
    _check(authorized.get("constraints", {}), _CONSTRAINTS, where, "authorized.constraints.")
    for key in ("user_name", "team_name"):
        if key in authorized:
            context[key] = authorized.pop(key)
    context["authorized"] |= authorized
    if "user_id" in authorized and "sub" not in authorized:
        context["authorized"]["sub"] = authorized["user_id"]
    context["client"] |= _block(given, "client", _CLIENT, where)
    metadata = given.get("metadata", {})
    if not isinstance(metadata, dict):
        raise ConfigurationError(f"Cannot use {where}: metadata must be an object")
    context["metadata"] = metadata
    for key in ("locale", "referer", "theme", "route", "accept", "chat_id", "assistant_id"):
        if key in given:
            if not isinstance(given[key], str):
                raise ConfigurationError(f"Cannot use {where}: {key} must be a string")
            context[key] = given[key]
    return context


def _block(given: dict[str, Any], name: str, known: list[str], where: str) -> dict[str, Any]:
    block = given.get(name, {})
    _check(block, known, where, f"{name}.")
    return dict(block)


def _check(block: Any, known: list[str], where: str, prefix: str) -> None:
    if not isinstance(block, dict):
        what = f"{prefix.rstrip('.')} must be" if prefix else "it must hold"
        raise ConfigurationError(f"Cannot use {where}: {what} an object")
    unknown = [key for key in block if key not in known]
    if unknown:
        names = ", ".join(f'"{prefix}{key}"' for key in unknown)
        hint = did_you_mean(unknown[0], known) or f"The keys are {', '.join(known)}"
        raise ConfigurationError(f"Cannot use {where}: unknown key{'s' if len(unknown) > 1 else ''} {names}", hint)
