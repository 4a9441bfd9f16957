"""`yao-test config`, `schema` and `trust`: the settings of an application, schemas of files, their approval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner.amounts import PRICES
from runner.application import trust as approvals
from runner.application.application import find_root
from runner.application.configuration import FILE, OF_AGENTS, READABLE, Configuration, Setting, read_configuration
from runner.commands import tables
from runner.commands.inputs import print_json, write_file, writing
from runner.environment import Environment
from runner.errors import ConfigurationError, shown_path
from runner.options.flags import Flag
from runner.options.options import FLAGS, RunOptions
from runner.planning.inputs import resolve_application
from runner.reporters.console.table import columns_of, listed
from runner.security.files import check_target, read_text


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
