"""`yao-test convert FILE`: cases of other tools as a case file."""

from __future__ import annotations

import json

from runner.cases.reader import cases_from_values
from runner.commands import tables
from runner.commands.inputs import write_file
from runner.conversion.formats import converted
from runner.environment import Environment
from runner.errors import ConfigurationError, listed, shown_path
from runner.options.options import absolute
from runner.security.terminal import in_line

FORMS = (".jsonl", ".json", ".yaml", ".yml")
MOST_PLACES = 5
"""How many cases are named for one thing that has no counterpart."""


def convert(environment: Environment, given: tables.Convert) -> int:
    """Writes the cases, and what has no counterpart to standard error; returns the exit code."""
    path = absolute(given.file, environment.directory)
    target = absolute(given.output, environment.directory) if given.output else None
    if target is not None and (target.suffix.lower() not in FORMS or target == path):
        why = "that is the file to convert" if target == path else f"the name of a case file ends in {', '.join(FORMS)}"
        raise ConfigurationError(f"Cannot write {given.output}: {why}", "Choose another file with -o")
    kind, found = converted(path, given.file, given.format, given.scorer, given.simulator)
    if not found.cases:
        raise ConfigurationError(f"Cannot convert {given.file}: it contains no cases")
    made = cases_from_values(found.cases, given.file, target.parent if target else path.parent, lenient=True)
    kept = {case.id for case in made.cases}
    cases = [case for case in found.cases if case["id"] in kept]
    if target is None:
        environment.stdout.write("".join(f"{_json(case)}\n" for case in cases))
    else:
        write_file(target, _text(cases, target.suffix.lower()))
        count = f"{len(cases)} case{'' if len(cases) == 1 else 's'}"
        environment.stdout.write(f"Wrote {count} from {kind} to {shown_path(target, environment.directory)}\n")
    lines = [f"{what} ({listed(ids, MOST_PLACES)})" if ids else what for what, ids in found.lacking.items()]
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
