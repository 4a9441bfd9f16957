"""The replacement of a sandbox in tests: the steps of `prepare`, and the connector `runner` in place of the runner,
whose files go to the workspace.

The connector follows the rules in `runner.yml` beside `package.yao`, which `docs/sandbox.md` describes. Its answer
is what the runner does, as JSON, so that recordings keep it as they keep those of models:

- when: { message: add a readme } files: { README.md: "# Hello", old.txt: null } events: [{ type: text, text: Done }]"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import ProcessError, Workspace, workspace_of
from runner.agents.answer import AgentError, mock_reply
from runner.assertions.base import ToolUse
from runner.assertions.results import shorten
from runner.connectors import scripted_rules as rules
from runner.connectors import scripted_templates as templates
from runner.connectors.base import Completion, ConnectorError, ModelRequest, Usage
from runner.connectors.load import RUNNER
from runner.errors import ConfigurationError, did_you_mean
from runner.security.files import read_named
from scripttest import RefusedFileError

if TYPE_CHECKING:
    from runner.agents.chat import Scope
    from runner.agents.runtime import Runtime
    from runner.application.sandbox import Step

FILE = "runner.yml"
_RULE = ("when", "times", "files", "events", "exit", "error", "delay")
_EVENTS: dict[str, tuple[str, ...]] = {"text": ("type", "text"), "tool": ("type", "name", "input")}
"""Type of an event → its fields."""


class RunnerRule(rules.Rule):
    """One entry of the file."""

    product: Mapping[str, Any]
    """What the runner does, `{files, events, exit, error, delay}`: the files that it writes, null for one that it
    removes; texts and tools, in their order; how many seconds it takes. Files and events may have templates."""


class ScriptedRunner(rules.RuleConnector[RunnerRule]):
    """Answers by the rules in `runner.yml`."""

    id = "runner"

    async def complete(self, request: ModelRequest) -> Completion:
        """The result of the first rule that applies. Raises ConnectorError when none does, or the rules are broken."""
        assert request.folder is not None
        path = request.folder / FILE
        label = self._label(path)
        found = self._rules(path, _rule, "- files: { a.txt: text }", lambda: _missing(label, request.agent))
        situation = templates.Situation(request)
        rule = rules.first_rule(found, situation, rules.used_before(found, situation))
        if rule is None:
            said = templates.as_json(str(situation.value(("input",)))[:300])
            raise ConnectorError(
                f"No rule of {label} applies to the message {said}:\n{rules.listed(found)}",
                hint=f"Add a rule whose conditions match, or end {label} with one without conditions",
            )
        try:
            product = templates.render(rule.product, rule.lookup(situation))
        except templates.TemplateError as error:
            raise ConnectorError(f"Cannot answer with rule {rule.number} of {label}: {error}") from error
        written = {
            path: content if content is None else templates.as_text(content)
            for path, content in product["files"].items()
        }
        if request.on_chunk is not None:
            for text in _texts(product):
                request.on_chunk(text)
        return Completion(content=json.dumps({**product, "files": written}, ensure_ascii=False), usage=Usage())


def _texts(product: Mapping[str, Any]) -> list[str]:
    return [templates.as_text(event["text"]) for event in product["events"] if event["type"] == "text"]


def _missing(label: str, agent: str) -> ConnectorError:
    hint = (
        f"Write {label}, for example:\n"
        "- when: { message: add a readme }\n"
        '  files: { README.md: "# Hello" }\n'
        "  events: [{ type: text, text: Done }]"
    )
    return ConnectorError(f'Cannot run the sandbox of agent "{agent}": there is no {label}', hint=hint)


def _rule(number: int, entry: Any, _: bool) -> RunnerRule:
    fields = rules.fields_in(entry, "a rule", _RULE)
    if fields.keys().isdisjoint(("files", "events", "exit", "error")):
        raise ConfigurationError("it does nothing", "Add files, events, exit or error")
    when = fields.get("when")
    if isinstance(when, dict) and "message" in when:
        fields = {**fields, "when": {"input" if name == "message" else name: item for name, item in when.items()}}
    code, error = fields.get("exit", 0), fields.get("error")
    if not isinstance(code, int) or isinstance(code, bool):
        raise ConfigurationError('"exit" must be a whole number')
    if error is not None and not isinstance(error, str):
        raise ConfigurationError('"error" must be text', "Put it in quotes")
    files = templates.compile_templates(_files(fields.get("files") or {}))
    events = templates.compile_templates([_event(event) for event in _list(fields.get("events") or [])])
    delay = rules.duration_in(fields, "delay") or 0
    product = {"files": files, "events": events, "exit": code, "error": error or "", "delay": delay}
    return RunnerRule(number=number, product=product, **rules.conditions_in(fields, templates.names_in(product)))


def _files(given: Any) -> dict[str, str | None]:
    if not isinstance(given, dict):
        raise ConfigurationError('"files" must be an object', "Write it as files: { path: text, removed.txt: null }")
    for path, content in given.items():
        if content is not None and not isinstance(content, str):
            raise ConfigurationError(f'the content of "{path}" must be text, or null to remove it', "Put it in quotes")
    return {str(path): content for path, content in given.items()}


def _list(given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise ConfigurationError(
            '"events" must be a list', "Each item is { type: text, text } or { type: tool, name, input }"
        )
    return given


def _event(given: Any) -> dict[str, Any]:
    kind = given.get("type") if isinstance(given, dict) else None
    if kind not in _EVENTS:
        hint = did_you_mean(str(kind), _EVENTS) or f"Types are {', '.join(_EVENTS)}"
        raise ConfigurationError(f'unknown type "{kind}" of an event', hint)
    fields = rules.fields_in(given, f"an event of type {kind}", _EVENTS[kind])
    needed = "text" if kind == "text" else "name"
    if not isinstance(fields.get(needed), str):
        raise ConfigurationError(f'an event of type {kind} needs "{needed}", a string')
    return fields if kind == "text" else {"input": {}, **fields}


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
    mock = world.mocks.find("exec", step.command) if world.mocks else None
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
    product = json.loads(completion.content)
    if product["delay"]:
        await asyncio.sleep(product["delay"])
    _write(product["files"], _workspace(runtime, scope))
    scope.chat.uses += [
        ToolUse(name=event["name"], server="", arguments=event["input"])
        for event in product["events"]
        if event["type"] == "tool"
    ]
    if product["error"]:
        raise AgentError(f"runner.Stream: {product['error']}")
    if product["exit"]:
        raise AgentError(f"runner.Stream: exit {product['exit']}")
    return Completion(content="".join(_texts(product)), finish_reason="stop", usage=completion.usage)


def _write(files: Mapping[str, str | None], workspace: Workspace) -> None:
    for path, content in files.items():
        try:
            if content is None:
                workspace.remove_all(path)
            else:
                workspace.write(path, content)
        except ProcessError as error:
            raise AgentError(f"runner.yml: {error.message}") from error
