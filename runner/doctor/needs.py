"""What the machine offers, and what each agent needs that this tool does not provide (mocks, keys, optional parts,
files), with what of it exists. Nothing is started but the compiler, and nobody is asked over a network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import ModelFiles, agent_id, is_served
from bindings.processes import EXTRAS, knows
from runner.agents.assistant import Assistant, Assistants
from runner.agents.mcp.servers import Servers, server_files
from runner.agents.mcp.toolbox import ServerChoice, read_choices
from runner.application.application import Application
from runner.application.context import variables_of
from runner.application.models import ApplicationData
from runner.connectors.load import Connectors
from runner.doctor import script_calls
from runner.doctor.script_calls import MOST_NAMED, Reader, ScriptCall, WrittenMocks, text_of
from runner.errors import ConfigurationError, MissingError, RunnerError, did_you_mean, sentences
from scripttest import Wall, system_walls
from scripttest.values import Value

if TYPE_CHECKING:
    from collections.abc import Collection

ANSWERED = ("agent.call", "agent.validate", "llm.stream", "llm.chatcompletions")
"""Processes that the agents of a run answer, in addition to those of `bindings.processes`."""
_GROUPS = ("mcp", "store", "stores", "http", "session")
"""First words of processes all of which a run answers, or that are looked at in another way."""
_NO_HANDLER = ("builtin", "disabled", "default")
"""Values of `uses` that name no agent."""
_VARIABLE = re.compile(r"\"\$ENV\.(\w+)\"")
_UNKNOWN_COLUMNS = "The columns of {} are not known, only its name"
PARTS = (
    ("crypto", "crypto processes and password hashes", ("bcrypt", "cryptography")),
    ("formats", "HTML to Markdown, and XML", ("markdownify", "xmltodict")),
    ("otlp", "OpenTelemetry spans", ("opentelemetry", "requests")),
    ("fuzz", "searches with --fuzz", ("hypothesis",)),
    ("mcp", "MCP servers over stdio and HTTP", ("mcp",)),
    ("view", "the page of yao-test view", ("starlette", "uvicorn")),
    ("dask", "runs on a cluster with --cluster", ("cryptography", "distributed")),
    ("pytest", "tests as items of pytest", ("pytest",)),
)


class Extra(Value):
    """An optional part of this package."""

    name: str
    """The name of the extra of this package."""
    use: str
    """What it is for."""
    missing: tuple[str, ...]
    """Packages that are not installed; none: the part is."""


class NeedKind(StrEnum):
    """What would answer what an agent calls. Reports write the same words."""

    MOCK = "mock"
    """A mock of its tests: nothing here answers it."""
    KEY = "key"
    """A variable of the environment."""
    EXTRA = "extra"
    """An optional part of this package."""
    FILE = "file"
    """A file of the application, which is not there or cannot be used."""
    UNKNOWN = "unknown"
    """Nobody knows: the name is made at run time."""


class Need(Value):
    """What one agent needs that this tool does not provide."""

    __beside__ = "mocked"

    kind: NeedKind
    name: str
    """The name of a process, agent, variable, part or file, or `METHOD address`; `*` is what is known only
    at run time."""
    missing: bool
    """Whether it is not there: no test has such a mock, the variable is not set, the part is not installed."""
    message: str
    """Why it is needed, as a sentence without its full stop."""
    places: tuple[str, ...]
    """Where it is called, as `file:line`, or the file that names it; below the application."""
    mocked: str = ""
    """For a mock: its method of `t.mock`."""


class AgentFindings(Value):
    """What one agent needs."""

    __members__ = "id needs lacks"
    __writers__ = {"lacks": lambda agent: [need.message for need in agent.lacks]}  # noqa: RUF012

    id: str
    needs: tuple[Need, ...]

    @property
    def lacks(self) -> tuple[Need, ...]:
        """The part of it that is missing."""
        return tuple(need for need in self.needs if need.missing)

    @property
    def unmocked(self) -> tuple[Need, ...]:
        """Its calls that need mocks which are not there."""
        return tuple(need for need in self.lacks if need.kind is NeedKind.MOCK)


class Findings(Value):
    """All of it."""

    walls: tuple[Wall, ...]
    parts: tuple[Extra, ...]
    root: str
    """The root of the application; empty when there is none here."""
    agents: tuple[AgentFindings, ...]
    """Sorted by id."""


class Needs:
    """Looks at the agents of one application."""

    def __init__(
        self, application: Application, variables: Mapping[str, str], missing_parts: Collection[str], servers: Servers
    ) -> None:
        """Reads nothing yet. `variables`: the environment, with the application's `.env` file. `missing_parts`:
        optional parts that are not installed. `servers`: the MCP servers of the application; they are not called."""
        self._application = application
        self._variables = variables
        self._missing_parts = missing_parts
        self._assistants = Assistants(application)
        self._connectors = Connectors(application.root, variables)
        self._servers = servers
        self._server_files = server_files(application)
        self._reader = Reader(application)

    def of(self, id: str, folder: Path) -> list[Need]:
        """What an agent needs, by kind and name: for each kind of what is asked, a method says it. Raises HostError
        when there is no compiler."""
        try:
            agent = self._assistants.get(id)
        except RunnerError as error:
            return [_file(id, error.message, self._package(folder))]
        written = WrittenMocks(folder, self._application.root, self._reader)
        found: dict[tuple[NeedKind, str], Need] = {}
        runner = agent.sandbox.runner if agent.sandbox is not None and (agent.prompts or agent.servers) else ""
        if runner and not (folder / "runner.yml").is_file():
            place = self._package(folder).replace("package.yao", "sandbox.yao")
            found[NeedKind.FILE, "runner.yml"] = _file(
                "runner.yml", f"No file stands in for its runner {runner}", place
            )
        for one in self._asked(agent):
            for need in getattr(self, f"_{one.kind}")(one.name):
                known = found.get((need.kind, need.name))
                found[need.kind, need.name] = _joined(known, need.replace(places=(one.place,)))
        needs = [
            need.replace(missing=not written.has(need.mocked, need.name)) if need.kind is NeedKind.MOCK else need
            for need in found.values()
        ]
        return sorted(needs, key=lambda need: (list(NeedKind).index(need.kind), need.name))

    def _asked(self, agent: Assistant) -> Iterator[ScriptCall]:
        package = self._package(agent.folder)
        if (agent.prompts or agent.connector) and agent.sandbox is None:
            yield ScriptCall(kind=script_calls.CONNECTOR, name=agent.connector, place=package)
        choices = _choices(agent)
        for choice in choices:
            yield ScriptCall(kind=script_calls.SERVER, name=choice.server, place=package)
            for tool in choice.tools:
                yield ScriptCall(kind=script_calls.TOOL, name=f"{choice.server} {tool}", place=package)
        for use, name in agent.uses.items():
            if isinstance(name, str) and name:
                yield ScriptCall(kind=script_calls.HANDLER, name=f"{use} {name}", place=package)
        for process in self._searches(agent):
            yield ScriptCall(kind=script_calls.PROCESS, name=process, place=package)
        yield from self._reader.of_agent(agent.folder, [choice.server for choice in choices])

    def _searches(self, agent: Assistant) -> Iterator[str]:
        """The processes of the search before the model is asked that only mocks answer."""
        asks = agent.uses.get("search") or agent.search
        if not asks or agent.uses.get("search") == "disabled" or not (agent.prompts or agent.servers):
            return
        if agent.uses.get("web", "builtin") in _NO_HANDLER:
            yield "search.Web"
        if any(not any(self._application.root.rglob(f"fixtures/{name}.jsonl")) for name in agent.collections):
            yield "search.KB"

    def _package(self, folder: Path) -> str:
        return (folder / "package.yao").relative_to(self._application.root).as_posix()

    def _process(self, name: str) -> Iterator[Need]:
        lower = name.lower()
        group = lower.partition(".")[0]
        if group in _GROUPS or lower in ANSWERED:
            return
        if "*" in name:
            served = knows(name) or group in ("models", "model", "schemas", "query", "agent", "llm")
        elif group == "models":
            served = is_served(name)
            yield from self._model(name)
        else:
            served = is_served(name) and not (group == "query" and lower.split(".")[1] != "default")
        if not served:
            yield _mock("process", name, f"Nothing implements the process {name}")
        if extra := EXTRAS.get(lower):
            yield self._extra(extra, f"The process {name} needs it")

    def _model(self, name: str) -> Iterator[Need]:
        """What the model of a process needs."""
        id, _, method = name.partition(".")[2].lower().rpartition(".")
        is_write = method.startswith(("create", "save", "insert", "update", "upsert", "each", "migrate"))
        model = next((model for model in self._model_files.models if model.id.lower() == id), None)
        if model is None:
            yield from self._no_model(name, id)
        elif not model.answers(method):
            yield _mock("process", name, _UNKNOWN_COLUMNS.format(id))
        elif any(column.crypt == "PASSWORD" for column in model.columns) and is_write:
            yield self._extra("crypto", f"The model {id} has passwords")
        yield from self._broken_models()

    def _table(self, name: str) -> Iterator[Need]:
        """What a query needs that asks of a table, or of the model of one."""
        process, _, table = name.partition(" ")
        id, models = table.removeprefix("$").lower(), self._model_files.models
        named = [one.id if table.startswith("$") else one.table for one in models]
        model = next((one for one, name in zip(models, named, strict=True) if name.lower() == id), None)
        if model is not None and not model.has_columns:
            yield _mock("process", process, _UNKNOWN_COLUMNS.format(model.id))
        elif model is None and table.startswith("$"):
            yield from self._no_model(process, id)
        elif model is None and not self._model_files.broken:
            yield _mock("process", process, f"No model has the table {table}")
        yield from self._broken_models()

    @cached_property
    def _model_files(self) -> ModelFiles:
        return ApplicationData(self._application).models()

    def _no_model(self, process: str, id: str) -> Iterator[Need]:
        """Why there is no model of an id."""
        if known := [why for refused, why in self._model_files.refused.items() if refused.lower() == id]:
            yield _file(id, known[0])
        elif not self._model_files.broken:
            yield _mock("process", process, f"There is no model {id}")

    def _broken_models(self) -> Iterator[Need]:
        for problem in self._model_files.broken:
            yield _file(problem.partition(":")[0], problem)

    def _http(self, name: str) -> Iterator[Need]:
        yield _mock("http", name, "A request needs a mock, or --allow-net and network access")

    def _exec(self, name: str) -> Iterator[Need]:
        yield _mock("exec", name, "A command needs a mock, or --allow-exec")

    def _agent(self, name: str) -> Iterator[Need]:
        if "*" in name:
            return
        try:
            self._assistants.find(agent_id(name))
        except ConfigurationError:
            yield _mock("agent", name, f"There is no agent {name}")

    def _handler(self, name: str) -> Iterator[Need]:
        """The agent, or the MCP server, that a field of `uses` names."""
        use, _, named = name.partition(" ")
        if named in _NO_HANDLER or named.startswith(("$ENV.", "__yao.")):
            return
        if named.startswith("mcp:"):
            yield from self._server(named.removeprefix("mcp:").rpartition(".")[0] or named.removeprefix("mcp:"))
            return
        try:
            self._assistants.find(agent_id(named))
        except ConfigurationError:
            text = f'There is no agent {named}, which "uses.{use}" names'
            yield _file(f"agent {named}", text)

    def _tool(self, name: str) -> Iterator[Need]:
        server, _, tool = name.partition(" ")
        if (tools := self._reader.tools(server)) is not None and tool not in tools:
            has = did_you_mean(tool, tools) or (f"It has {', '.join(tools[:MOST_NAMED])}" if tools else None)
            text = sentences(f"The MCP server {server} has no tool {tool}", has)
            yield _file(f"tool {tool} of MCP server {server}", text)

    def _script(self, name: str) -> Iterator[Need]:
        lacking = "" if "*" in name else self._reader.lacking(name)
        if lacking:
            yield _mock("process", name, lacking)

    def _server(self, name: str) -> Iterator[Need]:
        file = self._server_files.get(name)
        if file is not None:
            yield from self._keys(file.path, f"The MCP server {name} needs it")
        try:
            self._servers.server(name)
        except MissingError as error:
            if file is None:
                yield _file(f"MCP server {name}", error.message)
            else:
                yield self._extra("mcp", f"The MCP server {name} needs it")
        except RunnerError as error:
            if "environment variable" not in error.message:
                yield _file(f"MCP server {name}", error.message)

    def _connector(self, name: str) -> Iterator[Need]:
        keys: list[Need] = []
        try:
            id = self._connectors.resolve(name)
            path = self._connectors.find(id)
            if path is not None:
                keys = list(self._keys(path, f"The connector {id} needs it"))
                yield from keys
            self._connectors.get(id)
        except RunnerError as error:
            if not any(key.missing for key in keys):
                shown = f"connector {name}" if name else "connector"
                yield _file(shown, error.message)

    def _made(self, name: str) -> Iterator[Need]:
        message = "The process name is computed at run time, so it cannot be checked"
        yield Need(kind=NeedKind.UNKNOWN, name="Process", missing=False, message=message, places=())

    def _broken(self, name: str) -> Iterator[Need]:
        yield _file("script", f"Cannot be compiled: {name}")

    def _keys(self, path: Path, message: str) -> Iterator[Need]:
        """The variables that a file names."""
        for name in dict.fromkeys(_VARIABLE.findall(text_of(path))):
            yield Need(kind=NeedKind.KEY, name=name, missing=not self._variables.get(name), message=message, places=())

    def _extra(self, name: str, message: str) -> Need:
        return Need(kind=NeedKind.EXTRA, name=name, missing=name in self._missing_parts, message=message, places=())


def examine(root: Path | None, variables: Mapping[str, str]) -> Findings:
    """What is available and what is missing. Blocks while scripts are compiled. Raises HostError if there is no
    compiler. `root`: the application; None if there is none. `variables`: environment variables of the command."""
    from importlib.util import find_spec

    parts = tuple(
        Extra(name=name, use=use, missing=tuple(package for package in packages if find_spec(package) is None))
        for name, use, packages in PARTS
    )
    absent = {part.name for part in parts if part.missing}
    return Findings(
        walls=system_walls(),
        parts=parts,
        root=str(root or ""),
        agents=tuple(_agents(root, variables, absent)) if root is not None else (),
    )


def _choices(agent: Assistant) -> list[ServerChoice]:
    """The items of `mcp.servers` that can be read."""
    choices: list[ServerChoice] = []
    for item in agent.servers:
        with suppress(ConfigurationError):  # reported where the agent runs
            choices += read_choices([item], agent.id)
    return choices


def _file(name: str, message: str, *places: str) -> Need:
    return Need(kind=NeedKind.FILE, name=name, missing=True, message=message, places=places)


def _mock(method: str, name: str, message: str) -> Need:
    return Need(kind=NeedKind.MOCK, name=name, missing=True, message=message, places=(), mocked=method)


def _joined(known: Need | None, need: Need) -> Need:
    """A need as all places name it that have it."""
    if known is None:
        return need
    messages = dict.fromkeys([*known.message.split("; "), need.message])
    return need.replace(places=tuple(dict.fromkeys((*known.places, *need.places))), message="; ".join(messages))


def _agents(root: Path, variables: Mapping[str, str], absent: Collection[str]) -> Iterator[AgentFindings]:
    application, known = Application(root), variables_of(root, variables).every
    needs = Needs(application, known, absent, Servers(root, known, _never))
    for agent in sorted(application.agents(), key=lambda agent: agent.id):
        yield AgentFindings(id=agent.id, needs=tuple(needs.of(agent.id, agent.folder)))


async def _never(*arguments: Any) -> Any:
    raise NotImplementedError("doctor does not call tools")
