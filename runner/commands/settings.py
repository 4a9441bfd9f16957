"""`yao-test config`, `schema` and `trust`: the settings of an application, schemas of files, their approval. `doctor`:
what this machine enforces, what is installed, and what each agent calls that needs more."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.amounts import PRICES
from runner.application import trust as approvals
from runner.application.application import find_root
from runner.application.configuration import FILE, OF_AGENTS, READABLE, Configuration, Setting, read_configuration
from runner.commands import tables
from runner.commands.inputs import print_json, root_of, write_file, writing
from runner.environment import Environment
from runner.errors import ConfigurationError, shown_path
from runner.errors import listed as named
from runner.options.flags import Flag
from runner.options.options import FLAGS, RunOptions
from runner.planning.inputs import resolve_application
from runner.reporters.console.table import columns_of, listed
from runner.security.files import check_target, read_text
from runner.shapes.codec import json_of
from scripttest import install_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.doctor.needs import Findings, Need


def config(environment: Environment, given: tables.Config) -> int:
    """Prints the settings. Raises ConfigurationError with everything that is wrong with the file."""
    application = resolve_application(RunOptions(inputs=(), app=given.app), environment.directory)
    file = read_configuration(application)
    if file is None:
        if given.profile is not None:
            raise ConfigurationError(f"Cannot use --profile {given.profile}: there is no {application.root / FILE}")
        if given.as_json:
            print_json(environment, {"file": None})
        else:
            environment.stdout.write(f"There is no {application.root / FILE}\n")
        return 0
    settings = file.settings(frozenset(), given.profile)
    agents = {agent: file.settings(frozenset(), given.profile, agent) for agent in file.agents}
    own = {agent: {name: one for name, one in of.items() if settings.get(name) != one} for agent, of in agents.items()}
    if given.as_json:
        document = {
            "file": str(file.path),
            "settings": [_record(one) for one in settings.values()],
            "agents": {agent: [_record(one) for one in of.values()] for agent, of in own.items()},
            "prices": file.prices,
            "readable": file.readable,
        }
        print_json(environment, document)
    else:
        environment.stdout.write(_lines(file, settings, own, environment))
    return 0


def _record(setting: Setting) -> dict[str, Any]:
    table = {"table": setting.table} if setting.table else {}
    return {"flag": setting.flag, "value": setting.text, "line": setting.line, **table}


def _lines(
    file: Configuration, settings: dict[str, Setting], agents: dict[str, dict[str, Setting]], environment: Environment
) -> str:
    name = shown_path(file.path, environment.directory)
    rows = [(f"{one.flag} = {_toml(one.text)}", one.line, one.table) for one in settings.values()]
    for agent, own in agents.items():
        rows += [(f"{agent}: {one.flag} = {_toml(one.text)}", one.line, one.table) for one in own.values()]
    for connector, prices in file.prices.items():
        text = ", ".join(f"{kind} {price:g}" for kind, price in prices.items())
        rows.append((f"price of {connector}: {text}", file.price_lines[connector], ""))
    if file.readable:
        rows.append((f"readable = {_toml(file.readable)}", file.readable_line, ""))
    places = [(text, f"{name}:{line}{f' [{table}]' if table else ''}") for text, line, table in rows]
    return listed(places, columns_of(environment)) or f"{name} has no settings\n"


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def schema(environment: Environment, given: tables.Schema) -> int:
    """Writes the schema to standard output, or into the file."""
    from runner.cases.json_schema import case_schema, file_schema
    from runner.record.outcome_schema import outcome_schema

    makers = {"file": file_schema, "case": case_schema, "result": outcome_schema, "config": configuration_schema}
    text = json.dumps(makers[given.of](), indent=2) + "\n"
    if given.output is None:
        environment.stdout.write(text)
        return 0
    path = Path(environment.directory, given.output)
    write_file(path, text, "the schema to ")
    environment.stdout.write(f"Wrote {path}\n")
    return 0


def configuration_schema() -> dict[str, Any]:
    """The JSON Schema of `yao-test.toml`, for editors."""
    flags = {flag.name: _of_flag(flag) for flag in FLAGS if flag.in_file}
    flags["strictDatabase"] = flags["strict-db"]
    of_agents = {name: flags[name] for name in OF_AGENTS}
    text = {"type": ["string", "number"]}
    texts = {"type": "array", "items": {"type": "string"}}
    price = {"type": "number", "minimum": 0, "description": "US dollars per million tokens."}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "yao-test.toml",
        **_table(
            {
                **flags,
                READABLE: {**texts, "description": "Files and folders that scripts may read and cases attach."},
                "profile": _tables(flags, "Settings applied by --profile NAME."),
                "agent": _tables(of_agents, "Settings for the tests of one agent."),
                "mutate": {
                    **_table({"threshold": text, "ignore-calls": texts, "files": texts}),
                    "description": "Settings of yao-test mutate only.",
                },
                "prices": _tables(dict.fromkeys(PRICES, price), "Prices of a connector whose file has none."),
            }
        ),
    }


def _of_flag(flag: Flag) -> dict[str, Any]:
    text = {"type": ["string", "number"]}
    kinds: dict[str, dict[str, Any]] = {
        "text": text,
        "maybe": {"type": ["boolean", "integer"]},
        "switch": {"type": "boolean"},
        "count": {"type": ["boolean", "integer"]},
        "repeated": {"anyOf": [text, {"type": "array", "items": text, "minItems": 1}]},
    }
    return {**kinds[flag.kind], "description": flag.help}


def _table(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _tables(properties: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": _table(properties), "description": description}


def trust(environment: Environment, given: tables.Trust) -> int:
    """Writes the file of approvals and returns the exit code."""
    start = Path(environment.directory, given.folder or ".")
    if not start.is_dir():
        raise ConfigurationError(f"Cannot approve the files of {start}: it is not a folder")
    root = find_root(start)
    path, text = root / approvals.FILE, approvals.approvals_text(approvals.digests_of(root))
    now = approvals.read(text, approvals.FILE)
    with writing(path):
        check_target(path)
    before = approvals.read(read_text(path, "replace"), approvals.FILE) if path.is_file() else {}
    different = [(one.kind, one.path) for one in approvals.differences(before, now)]
    environment.stdout.write(listed(different, columns_of(environment)))
    with writing(path):
        path.write_text(text, "utf-8")
    environment.stdout.write(f"Approved {len(now)} {'file' if len(now) == 1 else 'files'} in {path}\n")
    return 0


MOST_PLACES = 3
"""Places of a call that are shown."""
MANY_MISSED = 5
"""From so many mutants on that no test noticed a handler is named."""
_MISSED = ("survived", "no coverage")
_HEAD = """\
// Mocks for calls of this application's agents that nothing answers in a test. Each one fails the test that calls it
// until you fill it in: with a value, or a function of the call's arguments. A test begins with the function of its
// agent:
//
//   import {{ {example} }} from "{path}";
//   export function TestX(t: testing.T) {{ {example}(t); ... }}

function missing(t: testing.T, what: string, where: string): never {{
  t.fatal(`${{what}} is not mocked yet: fill in its mock. It is called in ${{where}}`);
}}
"""


def doctor(environment: Environment, given: tables.Doctor) -> int:
    """Prints the findings, as JSON `{walls: [{name, holds, missing}], parts: [{name, use, missing}], root,
    agents: [{id, needs: [{kind, name, missing, message, places}], lacks: [message]}], weak}`. Returns 1 if an agent
    lacks something and `--strict` is given, otherwise 0."""
    from runner.application.context import with_files
    from runner.doctor.needs import examine

    environment = with_files(environment, given.env_files)
    root = root_of(environment, given.app)
    target = _mocks_target(environment, root, given.write_mocks) if given.write_mocks is not None else None
    findings = examine(root, {**environment.variables, **environment.keys})
    weak = _weak(root) if root is not None else []
    if given.as_json:
        print_json(environment, {**json_of(findings), "weak": weak})
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
    lacks = [(agent.id, agent.unmocked) for agent in findings.agents if agent.unmocked]
    if not lacks:
        environment.stderr.write(f"Wrote no {target.name}: no agent needs one\n")
        return
    tests = Path(findings.root, "assistants", *lacks[0][0].split("."), "src")
    path = Path(os.path.relpath(target.with_suffix(""), tests)).as_posix()
    with writing(target), open(target, "x", encoding="utf-8") as file:
        file.write(_mock_module(lacks, path if path.startswith(".") else f"./{path}"))
    environment.stderr.write(f"Wrote {target}\n")


def _mock_module(lacks: Sequence[tuple[str, Sequence[Need]]], path: str) -> str:
    """The text of the module in TypeScript; `path` is how a test would import it."""
    names: dict[str, str] = {}
    for id, _ in lacks:
        name = "mock" + "".join(word[:1].upper() + word[1:] for word in re.split(r"\W+|_", id))
        while name in names.values():
            name += "_"
        names[id] = name
    parts = [_HEAD.format(example=next(iter(names.values())), path=path)]
    for id, needs in lacks:
        lines = [f"\n/** Mocks for the agent {id}. */", f"export function {names[id]}(t: testing.T): void {{"]
        for need in needs:
            pattern = need.name.removeprefix("* ") if need.mocked == "http" else need.name
            what, where = json.dumps(need.name), json.dumps(", ".join(need.places))
            lines.append(f"  t.mock.{need.mocked}({json.dumps(pattern)}, () => missing(t, {what}, {where}));")
        parts.append("\n".join([*lines, "}\n"]))
    return "".join(parts)


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
    from runner.doctor.needs import NeedKind

    state = "unknown" if need.kind is NeedKind.UNKNOWN else "missing" if need.missing else "there"
    places = f" ({named(need.places, MOST_PLACES)})" if need.places else ""
    return f"{state:<9}{need.kind:<5} {need.name}: {need.message}{places}"
