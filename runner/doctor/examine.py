"""Looks at the machine and the application. Nothing is started, and nobody is asked over a network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runner.agents.assistant import Assistants
from runner.agents.mcp.servers import Servers
from runner.application.application import SUFFIXES, Application
from runner.application.dotenv import named_variables
from runner.connectors.load import Connectors
from runner.doctor.findings import AgentFindings, Findings, Part
from runner.errors import RunnerError
from scripttest import system_walls

PARTS = (
    ("crypto", "crypto processes and hashes of passwords", ("bcrypt", "cryptography")),
    ("formats", "HTML to Markdown, and XML", ("markdownify", "xmltodict")),
    ("mcp", "MCP servers over stdio and HTTP", ("mcp",)),
)
ANSWERED = ("agent", "agents", "ai", "assistants", "llm", "mcp", "scripts", "services", "store", "stores")
"""First words of the processes that a run answers beside those of `bindings.processes`."""
_CALL = re.compile(r"\bProcess\(\s*([\"'`])([A-Za-z_][\w-]*(?:\.[\w-]+)+)\1")
_CASES = (".jsonl", ".json", ".yaml", ".yml")


def examine(root: Path | None, variables: Mapping[str, str]) -> Findings:
    """What there is and what lacks.

    Args:
        root: of the application; None without one.
        variables: environment variables of the command.
    """
    return Findings(
        walls=system_walls(),
        parts=tuple(Part(name=name, use=use, missing=_absent(packages)) for name, use, packages in PARTS),
        root=str(root or ""),
        agents=tuple(_agents(Application(root), variables)) if root is not None else (),
    )


def _absent(packages: tuple[str, ...]) -> tuple[str, ...]:
    from importlib.util import find_spec

    return tuple(package for package in packages if find_spec(package) is None)


def _agents(application: Application, variables: Mapping[str, str]) -> Iterator[AgentFindings]:
    known = {**named_variables(application.root, variables), **variables}
    assistants = Assistants(application)
    connectors = Connectors(application.root, known)
    servers = Servers(application.root, known, _never)
    for id, folder in sorted(application.agents()):
        yield AgentFindings(id=id, lacks=tuple(_lacks(id, folder, assistants, connectors, servers)))


async def _never(*arguments: Any) -> Any:
    raise NotImplementedError("an examination calls no tool")


def _lacks(id: str, folder: Path, assistants: Assistants, connectors: Connectors, servers: Servers) -> Iterator[str]:
    try:
        agent = assistants.get(id)
    except RunnerError as error:
        yield error.message
        return
    if agent.prompts or agent.connector:
        try:
            connectors.get(connectors.resolve(agent.connector))
        except RunnerError as error:
            yield error.message
    for item in agent.servers:
        name = item if isinstance(item, str) else str(item.get("server_id") or item.get("id") or "")
        try:
            servers.server(name)
        except RunnerError as error:
            yield error.message
    for process in _unanswered(folder):
        yield f"Process {process} has no mock, and nothing answers it"


def _unanswered(folder: Path) -> list[str]:
    """Processes that the scripts of an agent call by a name that is written out, that no part of this package answers,
    and that none of its tests and cases names."""
    from bindings.processes import find, knows

    called: set[str] = set()
    tests = ""
    for path in sorted((folder / "src").rglob("*")):
        if path.suffix in SUFFIXES and path.is_file() and "node_modules" not in path.parts:
            text = path.read_text("utf-8", errors="replace")
            if path.stem.endswith("_test"):
                tests += text
            else:
                called |= {name for _, name in _CALL.findall(text)}
    for path in sorted((folder / "tests").rglob("*")):
        if path.suffix in (*_CASES, *SUFFIXES) and path.is_file():
            tests += path.read_text("utf-8", errors="replace")
    return sorted(
        name
        for name in called
        if name not in tests
        and name.partition(".")[0].lower() not in ANSWERED
        and (find(name) is None if knows(name) else True)
    )
