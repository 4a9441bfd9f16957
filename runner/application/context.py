"""The `agent.Context` of a run: defaults, then `-u`, `-t` and `--locale`, then the `--ctx` file (seed 004, "Custom
Context"). Between the defaults and the flags stands what a case and the defaults of its file say."""

from __future__ import annotations

from pathlib import Path

from runner.errors import ConfigurationError, did_you_mean
from runner.options.options import RunOptions, absolute
from runner.paths import beside_missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS: dict[type, str] = {str: "a string", bool: "true or false", dict: "an object"}
_TEXTS = ("locale", "referer", "theme", "route", "accept", "chat_id", "assistant_id")
_FIELDS: dict[str, type] = dict.fromkeys(("authorized", "metadata", "client"), dict) | dict.fromkeys(_TEXTS, str)
_CLIENT: dict[str, type] = dict.fromkeys(("type", "user_agent", "ip"), str)
_CONSTRAINTS: dict[str, type] = {
    **dict.fromkeys(("owner_only", "creator_only", "editor_only", "team_only"), bool),
    "extra": dict,
}
_NAMES = ("user_name", "team_name")
_IDS = ("sub", "client_id", "scope", "session_id", "user_id", "team_id", "tenant_id")
_AUTHORIZED: dict[str, type] = {**dict.fromkeys((*_IDS, *_NAMES), str), "remember_me": bool, "constraints": dict}


def build_context(options: RunOptions, directory: Path, agent: str = "") -> dict[str, Any]:
    """The fields of `ContextData` in `bindings/src/kernel.ts`; `agent`: the id of the agent of `--name`. Raises
    ConfigurationError."""
    user = options.user or "test-user"
    team = options.team or "test-team"
    context: dict[str, Any] = {
        "chat_id": "",
        "assistant_id": agent,
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
    given = _read(options.ctx, directory)
    authorized = dict(given.get("authorized", {}))
    context |= {key: authorized.pop(key) for key in _NAMES if key in authorized}
    context["authorized"] |= authorized
    for id, follows in (("user_id", "sub"), ("tenant_id", "team_id"), ("team_id", "tenant_id")):
        if id in authorized and follows not in authorized:
            context["authorized"][follows] = authorized[id]
    context["client"] |= given.get("client", {})
    return context | {key: given[key] for key in ("metadata", *_TEXTS) if key in given}


def decided_ids(options: RunOptions, directory: Path) -> frozenset[str]:
    """Which of `user_id` and `team_id` the flags or the `--ctx` file say, so that no case does. Raises
    ConfigurationError."""
    named = set(_read(options.ctx, directory).get("authorized", {})) if options.ctx is not None else set()
    user = options.user is not None or "user_id" in named
    team = options.team is not None or bool(named & {"team_id", "tenant_id"})
    return frozenset(id for id, decided in (("user_id", user), ("team_id", team)) if decided)


def _read(ctx: str, directory: Path) -> dict[str, Any]:
    """The checked fields of a context file."""
    from runner.application.documents import read_json

    path = absolute(ctx, directory)
    if not path.exists():
        hint = beside_missing(path, lambda name: name.endswith((".json", ".jsonc")))
        raise ConfigurationError(f"Cannot read context file {path}: there is no such file", hint)
    given: dict[str, Any] = read_json(path, "context file", is_data=True)
    where = f"context file {path}"
    _check(given, _FIELDS, where, "")
    authorized = _block(given, "authorized", _AUTHORIZED, where)
    _block(authorized, "constraints", _CONSTRAINTS, where, "authorized.")
    _block(given, "client", _CLIENT, where)
    return given


def _block(given: dict[str, Any], name: str, known: dict[str, type], where: str, prefix: str = "") -> dict[str, Any]:
    block = given.get(name, {})
    _check(block, known, where, f"{prefix}{name}.")
    return dict(block)


def _check(block: Any, known: dict[str, type], where: str, prefix: str) -> None:
    if not isinstance(block, dict):
        raise ConfigurationError(f"Cannot use {where}: it must hold an object")
    unknown = [key for key in block if key not in known]
    if unknown:
        names = ", ".join(f'"{prefix}{key}"' for key in unknown)
        hint = did_you_mean(unknown[0], known) or f"The keys are {', '.join(known)}"
        raise ConfigurationError(f"Cannot use {where}: unknown key{'s' if len(unknown) > 1 else ''} {names}", hint)
    for key, value in block.items():
        if not isinstance(value, known[key]):
            raise ConfigurationError(f"Cannot use {where}: {prefix}{key} must be {_KINDS[known[key]]}")
