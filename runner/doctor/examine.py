"""Looks at the machine and the application. Nothing is started but the compiler, and nobody is asked over a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runner.agents.mcp.servers import Servers
from runner.application.application import Application
from runner.application.dotenv import variables_of
from runner.doctor.findings import AgentFindings, Findings, Part
from runner.doctor.needs import Needs
from scripttest import system_walls

PARTS = (
    ("crypto", "crypto processes and hashes of passwords", ("bcrypt", "cryptography")),
    ("formats", "HTML to Markdown, and XML", ("markdownify", "xmltodict")),
    ("otlp", "spans for OpenTelemetry", ("opentelemetry", "requests")),
    ("fuzz", "searches with --fuzz", ("hypothesis",)),
    ("mcp", "MCP servers over stdio and HTTP", ("mcp",)),
    ("view", "the page of yao-test view", ("starlette", "uvicorn")),
    ("dask", "runs on a cluster with --cluster", ("cryptography", "distributed")),
    ("pytest", "tests as items of pytest", ("pytest",)),
)


def examine(root: Path | None, variables: Mapping[str, str]) -> Findings:
    """What is available and what is missing. Blocks while scripts are compiled. Raises HostError if there is no
    compiler.

    Args:
        root: the application; None if there is none.
        variables: environment variables of the command.
    """
    parts = tuple(Part(name=name, use=use, missing=_absent(packages)) for name, use, packages in PARTS)
    return Findings(
        walls=system_walls(),
        parts=parts,
        root=str(root or ""),
        agents=tuple(_agents(Application(root), variables, parts)) if root is not None else (),
    )


def _absent(packages: tuple[str, ...]) -> tuple[str, ...]:
    from importlib.util import find_spec

    return tuple(package for package in packages if find_spec(package) is None)


def _agents(application: Application, variables: Mapping[str, str], parts: tuple[Part, ...]) -> Iterator[AgentFindings]:
    known = variables_of(application.root, variables).every
    absent = {part.name for part in parts if part.missing}
    needs = Needs(application, known, absent, Servers(application.root, known, _never))
    for agent in sorted(application.agents(), key=lambda agent: agent.id):
        yield AgentFindings(id=agent.id, needs=tuple(needs.of(agent.id, agent.folder)))


async def _never(*arguments: Any) -> Any:
    raise NotImplementedError("an examination calls no tool")
