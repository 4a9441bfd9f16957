"""`yao-test doctor`: what this machine enforces, what is installed, and what each agent lacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runner.cli.commands.flags import Command
from runner.environment import Environment
from runner.errors import ConfigurationError
from scripttest.values import fields_of

if TYPE_CHECKING:
    from runner.doctor.findings import Findings


@click.command(
    "doctor",
    cls=Command,
    help="Says which walls this machine has around scripts, which optional parts are installed, and what each agent of "
    "the application lacks. Exit codes: 0 no agent lacks anything, 1 some do, 2 configuration error.",
)
@click.option("-a", "--app", metavar="DIR", help="Application root. Default: found upward from here, if there is one.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def doctor(environment: Environment, app: str | None, as_json: bool) -> int:
    """Prints the findings; 1 when an agent lacks something."""
    from runner.doctor.examine import examine

    findings = examine(_root(environment, app), {**environment.variables, **environment.keys})
    text = json.dumps(_document(findings), indent=2) + "\n" if as_json else "\n".join(_lines(findings)) + "\n"
    environment.stdout.write(text)
    return int(any(agent.lacks for agent in findings.agents))


def _root(environment: Environment, app: str | None) -> Path | None:
    from runner.application.application import find_root

    if app is not None:
        root = environment.directory / app
        if not root.is_dir():
            raise ConfigurationError(f"Cannot use --app {app}: it is not a folder")
        return root
    try:
        return find_root(environment.directory)
    except ConfigurationError:
        return None


def _lines(findings: Findings) -> Iterator[str]:
    yield "Walls around scripts"
    for wall in findings.walls:
        yield f"  {'off' if wall.missing else 'on':<4}{wall.name:<14}{wall.missing or wall.holds}"
    yield ""
    yield "Optional parts"
    for part in findings.parts:
        absent = f"not installed: pip install 'yao-test[{part.name}]'"
        yield f"  {'off' if part.missing else 'on':<4}{part.name:<14}{part.use}{f'; {absent}' if part.missing else ''}"
    yield ""
    if not findings.root:
        yield "No application here"
        return
    yield f"Agents of {findings.root}"
    for agent in findings.agents:
        yield f"  {'lacks' if agent.lacks else 'ok':<7}{agent.id}"
        for lack in agent.lacks:
            yield f"         {lack}"


def _document(findings: Findings) -> dict[str, object]:
    """`{walls: [{name, holds, missing}], parts: [{name, use, missing}], root, agents: [{id, lacks}]}`"""
    return {
        "walls": [fields_of(wall) for wall in findings.walls],
        "parts": [fields_of(part) for part in findings.parts],
        "root": findings.root,
        "agents": [fields_of(agent) for agent in findings.agents],
    }
