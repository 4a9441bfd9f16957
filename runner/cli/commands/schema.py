"""`yao-test schema`: prints the JSON Schema of case files, so that editors complete and check them."""

from __future__ import annotations

import json
from pathlib import Path

import click

from runner.cli.commands.flags import Command
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.security.files import check_target


@click.command(
    "schema",
    cls=Command,
    help="Prints the JSON Schema of case files, or of a single case as in a line of JSONL: editors complete and check "
    "with them.",
)
@click.argument("of", type=click.Choice(["file", "case"]), default="file")
@click.option("-o", "--output", metavar="FILE", help="Write it into a file.")
@click.pass_obj
def schema(environment: Environment, of: str, output: str | None) -> int:
    """Writes the schema to standard output, or into the file."""
    from runner.cases.json_schema import case_schema, file_schema

    text = json.dumps(case_schema() if of == "case" else file_schema(), indent=2) + "\n"
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
