"""`yao-test doctor`: what this machine enforces, what is installed, and what each agent calls that needs more."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.commands import tables
from runner.commands.inputs import print_json, root_of, writing
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.errors import listed as named
from runner.reporters.console.table import columns_of, listed
from scripttest import install_command
from scripttest.values import fields_of

if TYPE_CHECKING:
    from runner.doctor.findings import Findings, Need


MOST_PLACES = 3
"""Places of a call that are shown."""
MANY_MISSED = 5
"""From so many mutants on that no test noticed a handler is named."""
_MISSED = ("survived", "no coverage")


def doctor(environment: Environment, given: tables.Doctor) -> int:
    """Prints the findings. Returns 1 if an agent lacks something and `--strict` is given, otherwise 0."""
    from runner.application.context import with_files
    from runner.doctor.needs import examine

    environment = with_files(environment, given.env_files)
    root = root_of(environment, given.app)
    target = _mocks_target(environment, root, given.write_mocks) if given.write_mocks is not None else None
    findings = examine(root, {**environment.variables, **environment.keys})
    weak = _weak(root) if root is not None else []
    if given.as_json:
        print_json(environment, {**_document(findings), "weak": weak})
    else:
        environment.stdout.write(_text(findings, weak, columns_of(environment)))
    if target is not None:
        _write_mocks(environment, findings, target)
    return int(given.strict and any(agent.lacks for agent in findings.agents))


def _weak(root: Path) -> list[dict[str, object]]:
    """The handlers in which tests missed many mutants in the last run of `mutate` that the store keeps, the weakest
    first: `{file, missed, score}`."""
    from runner.mutation.documents import LAST, last_document
    from runner.planning.last_failed import STORE

    kept = last_document(root / STORE, LAST)
    if kept is None:
        return []
    missed = {file: sum(one["counts"].get(word, 0) for word in _MISSED) for file, one in kept["files"].items()}
    weak = [file for file, number in missed.items() if number >= MANY_MISSED]
    weak.sort(key=lambda file: kept["files"][file]["score"])
    return [{"file": file, "missed": missed[file], "score": kept["files"][file]["score"]} for file in weak]


def _mocks_target(environment: Environment, root: Path | None, name: str) -> Path:
    """The new file that the mocks are written to. Raises ConfigurationError."""
    target = environment.directory / name
    why, hint = "", None
    if root is None:
        why, hint = "there is no application here", "Pass it with --app"
    elif target.suffix != ".ts":
        why, hint = "mocks are written in TypeScript", "Choose a file name that ends in .ts"
    elif os.path.lexists(target):
        why, hint = (
            "the file already exists, and is not overwritten",
            "Choose another file, and copy the new mocks over",
        )
    elif not target.parent.is_dir():
        why = f"there is no folder {target.parent}"
    if why:
        raise ConfigurationError(f"Cannot write mocks to {name}: {why}", hint)
    return target


def _write_mocks(environment: Environment, findings: Findings, target: Path) -> None:
    from runner.doctor.findings import lacking, mock_module

    lacks = lacking(findings.agents)
    if not lacks:
        environment.stderr.write(f"Wrote no {target.name}: no agent needs one\n")
        return
    tests = Path(findings.root, "assistants", *lacks[0][0].split("."), "src")
    path = Path(os.path.relpath(target.with_suffix(""), tests)).as_posix()
    with writing(target), open(target, "x", encoding="utf-8") as file:
        file.write(mock_module(lacks, path if path.startswith(".") else f"./{path}"))
    environment.stderr.write(f"Wrote {target}\n")


def _text(findings: Findings, weak: Sequence[Mapping[str, Any]], room: int | None) -> str:
    walls = [("off" if wall.missing else "on", wall.name, wall.missing or wall.holds) for wall in findings.walls]
    parts = []
    for part in findings.parts:
        absent = f"; not installed: {install_command(part.name, *part.missing)}" if part.missing else ""
        parts.append(("off" if part.missing else "on", part.name, f"{part.use}{absent}"))
    agents = [("lacks" if one.lacks else "ok", "\n".join([one.id, *map(_need, one.needs)])) for one in findings.agents]
    lists: dict[str, Sequence[tuple[str, ...]]] = {"Sandbox walls": walls, "Optional parts": parts}
    lists[f"Agents of {findings.root}" if findings.root else "No application here"] = agents
    if weak:
        lists["Undetected mutants per handler, from the last yao-test mutate"] = [
            (str(one["missed"]), f"{one['file']}, score {one['score']:.0%}") for one in weak
        ]
    return "\n".join(f"{title}\n{listed(rows, room)}" for title, rows in lists.items())


def _need(need: Need) -> str:
    from runner.doctor.findings import NeedKind

    state = "unknown" if need.kind is NeedKind.UNKNOWN else "missing" if need.missing else "there"
    places = f" ({named(need.places, MOST_PLACES)})" if need.places else ""
    return f"{state:<9}{need.kind:<5} {need.name}: {need.message}{places}"


def _document(findings: Findings) -> dict[str, object]:
    """Without `weak`: `{walls: [{name, holds, missing}], parts: [{name, use, missing}], root,
    agents: [{id, needs: [{kind, name, missing, message, places}], lacks: [message]}]}`"""
    shown = ("kind", "name", "missing", "message", "places")
    return {
        "walls": [fields_of(wall) for wall in findings.walls],
        "parts": [fields_of(part) for part in findings.parts],
        "root": findings.root,
        "agents": [
            {
                "id": agent.id,
                "needs": [{name: getattr(need, name) for name in shown} for need in agent.needs],
                "lacks": [need.message for need in agent.lacks],
            }
            for agent in findings.agents
        ],
    }
