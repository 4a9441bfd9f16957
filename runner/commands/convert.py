"""`yao-test convert FILE`: cases of other tools as a case file."""

from __future__ import annotations

import json

import click

from runner.cases.reader import cases_from_values
from runner.commands.inputs import writing
from runner.commands.parser import Command
from runner.conversion.datasets import SCORERS
from runner.conversion.formats import FORMATS, converted
from runner.environment import Environment
from runner.errors import ConfigurationError, shown_path
from runner.options.options import absolute
from runner.reporters.document import write_whole
from runner.security.files import check_target
from runner.security.terminal import in_line

FORMS = (".jsonl", ".json", ".yaml", ".yml")
MOST_PLACES = 5
"""How many cases are named for one thing that has no counterpart."""


@click.command(
    "convert",
    cls=Command,
    help="Converts a promptfoo configuration, or a dataset of Inspect, DeepEval or OpenAI evals, to a"
    " case file, and lists what cannot be converted.",
)
@click.argument("file", metavar="FILE")
@click.option(
    "-o", "--output", metavar="FILE", help="Case file to write: .jsonl, .json or .yaml. Default: print JSONL."
)
@click.option("--from", "format", type=click.Choice(FORMATS), help="Format of FILE. Default: detected from its fields.")
@click.option("--scorer", type=click.Choice(SCORERS), help="Scorer that Inspect or OpenAI evals used.")
@click.option("--simulator", default="workers.test.user-simulator", metavar="ID", help="Agent that simulates users.")
@click.pass_obj
def convert(
    environment: Environment, file: str, output: str | None, format: str | None, scorer: str | None, simulator: str
) -> int:
    """Writes the cases, and what has no counterpart to standard error; returns the exit code."""
    path = absolute(file, environment.directory)
    target = absolute(output, environment.directory) if output else None
    if target is not None and (target.suffix.lower() not in FORMS or target == path):
        why = "that is the file to convert" if target == path else f"the name of a case file ends in {', '.join(FORMS)}"
        raise ConfigurationError(f"Cannot write {output}: {why}", "Choose another file with -o")
    format, found = converted(path, file, format, scorer, simulator)
    if not found.cases:
        raise ConfigurationError(f"Cannot convert {file}: it contains no cases")
    made = cases_from_values(found.cases, file, target.parent if target else path.parent, lenient=True)
    kept = {case.id for case in made.cases}
    cases = [case for case in found.cases if case["id"] in kept]
    if target is None:
        environment.stdout.write("".join(f"{_json(case)}\n" for case in cases))
    else:
        with writing(target):
            check_target(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, _text(cases, target.suffix.lower()))
        count = f"{len(cases)} case{'' if len(cases) == 1 else 's'}"
        environment.stdout.write(f"Wrote {count} of {format} to {shown_path(target, environment.directory)}\n")
    lines = [f"{what}{_places(ids)}" for what, ids in found.lacking.items()]
    if lines:
        environment.stderr.write("No counterpart:\n" + "".join(f"  {in_line(line)}\n" for line in lines))
    for warning in made.warnings:
        environment.stderr.write(f"Warning: {in_line(warning)}\n")
    return 0


def _json(case: object) -> str:
    return json.dumps(case, ensure_ascii=False)


def _text(cases: list[dict[str, object]], suffix: str) -> str:
    """A case file; each line of YAML is a list element with a value in JSON."""
    if suffix == ".json":
        return json.dumps(cases, ensure_ascii=False, indent=2) + "\n"
    start = "" if suffix == ".jsonl" else "- "
    return "".join(f"{start}{_json(case)}\n" for case in cases)


def _places(ids: list[str]) -> str:
    more = f" and {len(ids) - MOST_PLACES} more" if len(ids) > MOST_PLACES else ""
    return f" ({', '.join(ids[:MOST_PLACES])}{more})" if ids else ""
