"""The replacement of a sandbox in tests: the steps of `prepare`, and a scripted runner, whose files go to the
workspace."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

from bindings import ProcessError, Workspace, workspace_of
from runner.agents.answer import AgentError, mock_reply
from runner.assertions.base import ToolUse
from runner.assertions.results import shorten
from runner.connectors.base import Completion, ModelRequest
from runner.connectors.load import RUNNER
from runner.scripted.runner import Product
from runner.security.files import read_named
from scripttest import RefusedFileError

if TYPE_CHECKING:
    from runner.agents.chat import Scope
    from runner.agents.runtime import Runtime
    from runner.application.sandbox import Step

SHOWN_ERROR = 200
"""Letters of what a step wrote to its standard error."""


def _workspace(runtime: Runtime, scope: Scope) -> Workspace:
    try:
        return workspace_of(scope.chat.world, runtime.scratch)
    except ProcessError as error:
        raise AgentError(error.message) from error


async def prepare(runtime: Runtime, scope: Scope) -> None:
    """The steps before the Create hook. Raises AgentError for one that fails."""
    assistant = scope.assistant
    assert assistant is not None and assistant.sandbox is not None
    workspace = _workspace(runtime, scope)
    for number, step in enumerate(assistant.sandbox.prepare):
        marker = f".yao/prepare/{assistant.id}/done-{number}"
        if step.once and workspace.exists(marker):
            continue
        try:
            if step.action == "copy":
                target = step.target.removeprefix("~/")
                await asyncio.to_thread(_copy, assistant.folder, step.source, target, workspace)
            elif step.action == "exec":
                await _exec(step, scope)
        except (ProcessError, OSError) as error:
            if not step.ignores_errors:
                raise AgentError(f"runner.Prepare: prepare step {number} ({step.action}): {error}") from error
        if step.once:
            workspace.write(marker, "")


def _copy(folder: Path, source: str, target: str, workspace: Workspace) -> None:
    if "://" in source:
        raise ProcessError(f"copy {source}: host files are not available offline")
    top = (folder / source).resolve()
    if not top.is_relative_to(folder.resolve()):
        raise ProcessError(f"copy {source}: it is outside the agent's folder")
    if not top.exists():
        raise ProcessError(f"copy {source}: no such file or directory")
    for path in [top] if top.is_file() else sorted(path for path in top.rglob("*") if path.is_file()):
        place = target if path == top else f"{target}/{path.relative_to(top).as_posix()}"
        try:
            workspace.write_bytes(place, read_named(path, folder))
        except RefusedFileError as error:
            raise ProcessError(f"copy {source}: {path.relative_to(folder.resolve())}: {error.strerror}") from error


async def _exec(step: Step, scope: Scope) -> None:
    """A command of `prepare`. Its mock answers; without a mock it is skipped, with a line in the log."""
    world = scope.chat.world
    mock = world.mocks.find_exec(step.command) if world.mocks else None
    if mock is None:
        text = f'prepare: "{step.command}" was skipped: nothing answers it; {world.mock("exec", step.command)} would'
        scope.chat.warn(text)
        return
    command = step.command
    reply = await mock_reply(world, mock, command, [["sh", "-c", command], command], f"exec {command}")
    if isinstance(reply, dict) and (code := reply.get("exit_code")):
        raise ProcessError(f"exec: exit {code}: {shorten(str(reply.get('stderr') or ''), SHOWN_ERROR)}")


async def run(runtime: Runtime, request: ModelRequest, scope: Scope) -> Completion:
    """Calls the runner of an agent, writes its files, and returns its answer. Raises AgentError."""
    completion = await runtime.ask(RUNNER, request, scope)
    product = Product(**json.loads(completion.content))
    if product.delay:
        await asyncio.sleep(product.delay)
    _write(product, _workspace(runtime, scope))
    scope.chat.uses += [
        ToolUse(name=event["name"], server="", arguments=event["input"])
        for event in product.events
        if event["type"] == "tool"
    ]
    if product.error:
        raise AgentError(f"runner.Stream: {product.error}")
    if product.exit:
        raise AgentError(f"runner.Stream: exit {product.exit}")
    return Completion(content=product.text, finish_reason="stop", usage=completion.usage)


def _write(product: Product, workspace: Workspace) -> None:
    for path, content in product.files.items():
        try:
            if content is None:
                workspace.remove_all(path)
            else:
                workspace.write(path, content)
        except ProcessError as error:
            raise AgentError(f"runner.yml: {error.message}") from error
