"""`yao-test config`, `schema` and `trust`: the settings of an application, schemas of files, their approval."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from runner.application import trust as approvals
from runner.application.application import find_root
from runner.application.configuration import FILE, Configuration, Setting, read_configuration
from runner.commands.inputs import print_json, writing
from runner.commands.parser import Command, app_option, json_option
from runner.environment import Environment
from runner.errors import ConfigurationError, shown_path
from runner.options.options import RunOptions
from runner.planning.inputs import resolve_application
from runner.reporters.console.table import columns_of, listed
from runner.security.files import check_target, read_text


@click.command(
    "config",
    cls=Command,
    help=f"Prints the settings in the application's {FILE} and where each comes from. Exit codes: 0 the file is "
    "valid, or there is none; 2 it is invalid.",
)
@app_option
@click.option("--profile", metavar="NAME", help="Show the settings with this profile.")
@json_option
@click.pass_obj
def config(environment: Environment, app: str | None, profile: str | None, as_json: bool) -> int:
    """Prints the settings. Raises ConfigurationError with everything that is wrong with the file."""
    application = resolve_application(RunOptions(inputs=(), app=app), environment.directory)
    file = read_configuration(application)
    if file is None:
        if profile is not None:
            raise ConfigurationError(f"Cannot use --profile {profile}: there is no {application.root / FILE}")
        if as_json:
            print_json(environment, {"file": None})
        else:
            environment.stdout.write(f"There is no {application.root / FILE}\n")
        return 0
    settings = file.settings(frozenset(), profile)
    agents = {agent: file.settings(frozenset(), profile, agent) for agent in file.agents}
    own = {agent: {name: one for name, one in of.items() if settings.get(name) != one} for agent, of in agents.items()}
    if as_json:
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
    return listed(places, columns_of(environment)) or f"{name} sets nothing\n"


def _toml(value: Any) -> str:
    """A value as TOML."""
    return json.dumps(value, ensure_ascii=False)


Schema = dict[str, Any]


def _of_files() -> Schema:
    from runner.cases.json_schema import file_schema

    return file_schema()


def _of_cases() -> Schema:
    from runner.cases.json_schema import case_schema

    return case_schema()


def _of_documents() -> Schema:
    from runner.execution.outcome_schema import outcome_schema

    return outcome_schema()


def _of_configurations() -> Schema:
    from runner.application.configuration_schema import configuration_schema

    return configuration_schema()


SCHEMAS: dict[str, Callable[[], Schema]] = {
    "file": _of_files,
    "case": _of_cases,
    "result": _of_documents,
    "config": _of_configurations,
}


@click.command(
    "schema",
    cls=Command,
    help="Prints a JSON Schema that lets editors complete and check files. file: case files. case: a single case, "
    "as on a line of JSONL. result: what --json prints. config: yao-test.toml.",
)
@click.argument("of", metavar="SCHEMA", type=click.Choice(SCHEMAS), default="file")
@click.option("-o", "--output", metavar="FILE", help="Write the schema to this file.")
@click.pass_obj
def schema(environment: Environment, of: str, output: str | None) -> int:
    """Writes the schema to standard output, or into the file."""
    text = json.dumps(SCHEMAS[of](), indent=2) + "\n"
    if output is None:
        environment.stdout.write(text)
        return 0
    path = Path(environment.directory, output)
    try:
        check_target(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigurationError(f"Cannot write the schema to {path}: {error.strerror}") from error
    environment.stdout.write(f"Wrote {path}\n")
    return 0


@click.command(
    "trust",
    cls=Command,
    help=f"Approves the connectors, MCP servers, prompts, hooks and .env of an application (default: the one here) "
    f"as they are now: writes their digests to {approvals.FILE} and shows what changed. With --require-trust, a run "
    "rejects files that differ from it.",
)
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.pass_obj
def trust(environment: Environment, folder: str | None) -> int:
    """Writes the file of approvals and returns the exit code."""
    start = Path(environment.directory, folder or ".")
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
