"""`yao-test config`: what the configuration file of an application sets, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from runner.application.configuration import FILE, Configuration, Setting, read_configuration
from runner.columns import aligned
from runner.commands.flags import Command
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import RunOptions
from runner.paths import shown_path
from runner.planning.inputs import resolve_application


@click.command(
    "config",
    cls=Command,
    help=f"Prints the settings of {FILE} of the application, and where each comes from. Exit codes: 0 the file can "
    "be used, or there is none; 2 it cannot be used.",
)
@click.option(
    "-a", "--app", metavar="DIR", help="Application root. Default: the nearest one at or above the working directory."
)
@click.option("--profile", metavar="NAME", help="Show the settings with this profile.")
@click.option("--json", "as_json", is_flag=True, help="Print the settings as JSON.")
@click.pass_obj
def config(environment: Environment, app: str | None, profile: str | None, as_json: bool) -> int:
    """Prints the settings. Raises ConfigurationError with everything that is wrong with the file."""
    application = resolve_application(RunOptions(inputs=(), app=app), environment.directory)
    file = read_configuration(application)
    if file is None:
        if profile is not None:
            raise ConfigurationError(f"Cannot use --profile {profile}: there is no {application.root / FILE}")
        text = f"There is no {application.root / FILE}\n"
        environment.stdout.write(json.dumps({"file": None}, indent=2) + "\n" if as_json else text)
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
        environment.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        environment.stdout.write(_lines(file, settings, own, environment.directory))
    return 0


def _record(setting: Setting) -> dict[str, Any]:
    table = {"table": setting.table} if setting.table else {}
    return {"flag": setting.flag, "value": setting.text, "line": setting.line, **table}


def _lines(
    file: Configuration, settings: dict[str, Setting], agents: dict[str, dict[str, Setting]], directory: Path
) -> str:
    name = shown_path(file.path, directory)
    rows = [(f"{one.flag} = {_toml(one.text)}", one.line, one.table) for one in settings.values()]
    for agent, own in agents.items():
        rows += [(f"{agent}: {one.flag} = {_toml(one.text)}", one.line, one.table) for one in own.values()]
    for connector, prices in file.prices.items():
        text = ", ".join(f"{kind} {price:g}" for kind, price in prices.items())
        rows.append((f"price of {connector}: {text}", file.price_lines[connector], ""))
    if file.readable:
        rows.append((f"readable = {_toml(file.readable)}", file.readable_line, ""))
    settings_column = (cell for (cell,) in aligned([(text,) for text, _, _ in rows]))
    lines = [
        f"{text}  {name}:{line}{f' [{table}]' if table else ''}"
        for text, (_, line, table) in zip(settings_column, rows, strict=True)
    ]
    return "\n".join(lines or [f"{name} sets nothing"]) + "\n"


def _toml(value: Any) -> str:
    """A value as TOML."""
    return json.dumps(value, ensure_ascii=False)
