"""`sandbox.yao` beside `package.yao`: an agent that a runner answers for, such as Claude Code, and not a model.

The key `sandbox` of `package.yao` means the same with `version: "2.0"`; without it the agent is a plain one, as in Yao.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.application.documents import read_json
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

FILE = "sandbox.yao"
VERSION = "2.0"
RUNNERS = ("yaocode", "tai", "claude", "opencode", "dsh", "pi")
_ALIASES = {"yao": "yaocode", "deepseek": "dsh"}
WORKSPACE = "test-workspace"
"""Id of the workspace, where the context names none."""
ACTIONS = ("copy", "exec", "file", "process")
LIFECYCLES = ("oneshot", "session", "longrunning", "persistent")


class Step(Value):
    """A step of `prepare`."""

    action: str
    source: str = ""
    target: str = ""
    command: str = ""
    once: bool = False
    ignores_errors: bool = False


class Sandbox(Value):
    """The content of `sandbox.yao`."""

    runner: str
    """The name of the runner, without its alias."""
    image: str
    lifecycle: str
    prepare: tuple[Step, ...]

    def context(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a context in which there is this sandbox: with what `ctx.computer.Info` says, which is always
        the same box."""
        system = {"os": "linux", "arch": "amd64", "hostname": "test", "num_cpu": 2, "shell": "/bin/sh"}
        info = {
            "kind": "box",
            "node_id": "test",
            "tai_id": "test",
            "status": "running",
            "system": system,
            "box_id": "test-box",
            "container_id": "test-box",
            "image": self.image,
            "policy": self.lifecycle,
        }
        metadata = {"workspace_id": WORKSPACE, **(context.get("metadata") or {})}
        return {**context, "sandbox": info, "metadata": metadata}


def read_sandbox(folder: Path, package: Mapping[str, Any] | None = None) -> Sandbox | None:
    """The sandbox of the agent in a folder; None when it has none. `package` is the value of its `package.yao`, where
    that is known. Raises ConfigurationError."""
    path = folder / FILE
    if path.is_file():
        value = read_json(path, "sandbox")
    else:
        value = package.get("sandbox") if package else None
        if not isinstance(value, Mapping) or value.get("version") != VERSION:
            return None
        path = folder / "package.yao"
    where = f"Cannot use {path}"
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{where}: it must contain an object")
    if value.get("version") != VERSION:
        raise ConfigurationError(f'{where}: sandbox.yao version must be "2.0", got "{value.get("version") or ""}"')
    runner = _object(value, "runner", where)
    name = str(runner.get("name") or "").partition("/")[0]
    name = _ALIASES.get(name, name)
    if name in ("", "use::default"):
        name = "claude"
    if name not in RUNNERS:
        hint = did_you_mean(name, RUNNERS) or f"There are {', '.join(RUNNERS)}"
        raise ConfigurationError(f'{where}: there is no runner "{name}"', hint)
    lifecycle = str(value.get("lifecycle") or "oneshot")
    if lifecycle not in LIFECYCLES:
        raise ConfigurationError(f'{where}: there is no lifecycle "{lifecycle}"', f"There are {', '.join(LIFECYCLES)}")
    steps = value.get("prepare") or []
    if not isinstance(steps, list):
        raise ConfigurationError(f'{where}: "prepare" must be a list of steps')
    return Sandbox(
        runner=name,
        image=str(_object(value, "computer", where).get("image") or ""),
        lifecycle=lifecycle,
        prepare=tuple(_step(step, f"{where}: prepare step {number}") for number, step in enumerate(steps)),
    )


def _object(value: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    found = value.get(key) or {}
    if not isinstance(found, Mapping):
        raise ConfigurationError(f'{where}: "{key}" must be an object')
    return found


def _step(step: Any, where: str) -> Step:
    if not isinstance(step, Mapping) or step.get("action") not in ACTIONS:
        raise ConfigurationError(f"{where}: its action must be one of {', '.join(ACTIONS)}")
    return Step(
        action=step["action"],
        source=str(step.get("src") or ""),
        target=str(step.get("dst") or step.get("path") or ""),
        command=str(step.get("cmd") or ""),
        once=bool(step.get("once")),
        ignores_errors=bool(step.get("ignore_error")),
    )
