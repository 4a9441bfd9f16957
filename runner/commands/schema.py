"""`yao-test schema`: prints the JSON Schema of case files, with which editors complete and check them, or that of the
output of `--json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from runner.commands.flags import Command
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.security.files import check_target

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
    "json": _of_documents,
    "config": _of_configurations,
}


@click.command(
    "schema",
    cls=Command,
    help="Prints a JSON Schema with which editors complete and check files. file: case files. case: a single case,"
    " as on a line of JSONL. json: the documents of --json. config: yao-test.toml.",
)
@click.argument("of", type=click.Choice(SCHEMAS), default="file")
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
