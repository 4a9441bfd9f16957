"""What an application is run with: the environment variables that its `.env` and `--env-file` give, and the
`agent.Context` of a run: defaults, then `-u`, `-t` and `--locale`, then the `--ctx` file (seed 004, "Custom
Context"). Between the defaults and the flags stands what a case and the defaults of its file say."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from runner.errors import ConfigurationError, beside_missing, did_you_mean
from runner.options.options import RunOptions, absolute
from runner.security.files import read_text
from scripttest import RefusedFileError
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.environment import Environment

_KINDS: dict[type, str] = {str: "a string", bool: "true or false", dict: "an object"}
_TEXTS = ("locale", "referer", "theme", "route", "accept", "chat_id", "assistant_id")
_NAMES = ("user_name", "team_name")
_IDS = ("sub", "client_id", "scope", "session_id", "user_id", "team_id", "tenant_id")
Fields = Mapping[str, "type | Fields"]
"""Key → the type of its value, or the keys of the object that it is."""
_FIELDS: Fields = {
    **dict.fromkeys(_TEXTS, str),
    "metadata": dict,
    "client": dict.fromkeys(("type", "user_agent", "ip"), str),
    "authorized": {
        **dict.fromkeys((*_IDS, *_NAMES), str),
        "remember_me": bool,
        "constraints": {
            **dict.fromkeys(("owner_only", "creator_only", "editor_only", "team_only"), bool),
            "extra": dict,
        },
    },
}
_QUOTED = r"""(?s)(?:"(.*?)"|'(.*?)')(?:\s+#.*)?"""
"""A value in quotation marks, and a comment behind it."""


class Variables(Value):
    """Environment variables, as an application has them."""

    named: Mapping[str, str]
    """The variables that its `.env` file names, and those of `--env-file` that are not secret."""
    every: Mapping[str, str]
    """These, and all others of the environment."""


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


def variables_of(root: Path, given: Mapping[str, str], names: Collection[str] = ()) -> Variables:
    """The variables of the application in a folder. A value among those that are `given` wins over the one of `.env`;
    `names` are those that are named beside `.env`. Raises ConfigurationError for a `.env` that is refused, such as a
    link out of the application, or cannot be read."""
    try:
        written = {name: _unquoted(value) for _, name, value in _lines(read_text(root / ".env", "replace")) if name}
    except RefusedFileError as error:
        hint = "Remove it, and set its variables in the environment instead"
        raise ConfigurationError(f"Cannot read {root / '.env'}: {error.strerror}", hint) from error
    except FileNotFoundError:
        written = {}
    except OSError as error:
        hint = "Make it readable, or remove it and set its variables in the environment"
        raise ConfigurationError(f"Cannot read {root / '.env'}: {error.strerror}", hint) from error
    named = {name: given.get(name, value) for name, value in written.items()}
    return Variables(named={**named, **{name: given[name] for name in names}}, every={**written, **given})


def all_variables(root: Path, environment: Environment) -> Variables:
    """The same of an environment with its keys, for those who connect. From here on the secrets of the application are
    known."""
    variables = variables_of(root, {**environment.variables, **environment.keys}, environment.named)
    environment.secrets.add_application(root, variables.every)
    return variables


def with_files(environment: Environment, files: Sequence[str]) -> Environment:
    """An environment with the variables of the files of `--env-file`, of which later ones win. Raises
    ConfigurationError for a file that cannot be read, and for a line that sets no variable; it is not quoted, as a key
    may be in it."""
    given: dict[str, str] = {}
    for file in files:
        path = absolute(file, environment.directory)
        try:
            text = read_text(path)
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise ConfigurationError(f"Cannot read variables from {file}:{line}: it is not UTF-8") from error
        except OSError as error:
            raise ConfigurationError(f"Cannot read variables from {file}: {error.strerror}") from error
        for line, name, value in _lines(text):
            if not name or "\0" in value or (value[:1] in ("'", '"') and not re.fullmatch(_QUOTED, value)):
                hint = 'Write each variable on a line of its own, as NAME=value or NAME="value"'
                raise ConfigurationError(
                    f"Cannot read variables from {file}:{line}: the line does not set a variable", hint
                )
            given[name] = _unquoted(value)
    return environment.with_variables(given)


def _read(ctx: str, directory: Path) -> dict[str, Any]:
    """The checked fields of a context file."""
    from runner.application.documents import read_json

    path = absolute(ctx, directory)
    if not path.exists():
        hint = beside_missing(path, lambda name: name.endswith((".json", ".jsonc")))
        raise ConfigurationError(f"Cannot read context file {path}: there is no such file", hint)
    given: dict[str, Any] = read_json(path, "context file", is_data=True)
    if not isinstance(given, dict):
        raise ConfigurationError(f"Cannot use context file {path}: it must contain an object")
    _check(given, _FIELDS, f"context file {path}")
    return given


def _check(block: dict[str, Any], known: Fields, where: str, prefix: str = "") -> None:
    unknown = [key for key in block if key not in known]
    if unknown:
        names = ", ".join(f'"{prefix}{key}"' for key in unknown)
        hint = did_you_mean(unknown[0], known) or f"The keys are {', '.join(known)}"
        raise ConfigurationError(f"Cannot use {where}: unknown key{'s' if len(unknown) > 1 else ''} {names}", hint)
    for key, value in block.items():
        kind = known[key]
        plain: Any = kind if isinstance(kind, type) else dict
        if not isinstance(value, plain):
            raise ConfigurationError(f"Cannot use {where}: {prefix}{key} must be {_KINDS[plain]}")
        if isinstance(kind, Mapping):
            _check(value, kind, where, f"{prefix}{key}.")


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """The number, name and value, as it is written, of each line that is neither empty nor a comment; no name where it
    sets nothing."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.strip().startswith("#"):
            sets = re.match(r"\s*(?:export\s+)?([\w.-]+)\s*=(.*)", line, re.DOTALL)
            yield (number, sets[1], re.split(r"^\s+#", sets[2])[0].strip()) if sets else (number, "", "")


def _unquoted(value: str) -> str:
    quoted = re.fullmatch(_QUOTED, value)
    return quoted[1] or quoted[2] or "" if quoted else re.split(r"\s#", value, maxsplit=1)[0].rstrip()
