"""`yao-test calibrate REPORT LABELS...`: how far the judges of a run agree with people, and with themselves."""

from __future__ import annotations

import json

import click

from runner import exit_codes
from runner.commands.flags import Command, NumberRange
from runner.commands.label import labels_path
from runner.commands.reports import check_outputs, lines_of, write_text
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.reporters.console.style import count
from runner.reporters.console.trust_lines import text_of
from runner.results.calibration import trust_in, trust_record
from runner.results.judgements import judgements_in, prices_in
from runner.results.labels import read_labels


@click.command(
    "calibrate",
    cls=Command,
    help="Shows how far the judges of a saved run agree with labels of people, and with themselves. LABELS are "
    "files that yao-test label wrote, .jsonl or .csv; each person may have their own.",
)
@click.argument("report", metavar="REPORT")
@click.argument("labels", metavar="[LABELS]...", nargs=-1)
@click.option(
    "-o", "--output", metavar="FILE", multiple=True, help="Also write the result to a file: .json. Repeatable."
)
@click.option(
    "--min-kappa",
    metavar="KAPPA",
    type=NumberRange(min=-1, max=1),
    help="Exit with 1 when kappa may be below this value, or when there are too few labels.",
)
@click.pass_obj
def calibrate(
    environment: Environment, report: str, labels: tuple[str, ...], output: tuple[str, ...], min_kappa: float | None
) -> int:
    """Prints how well judges agree with the labels and with themselves. Returns the exit code."""
    paths = check_outputs(environment, output, (".json",))
    if min_kappa is not None and not labels:
        raise ConfigurationError("--min-kappa needs labels", "yao-test label makes them")
    results = lines_of(environment, report)
    judgements = judgements_in(results)
    if not judgements:
        raise ConfigurationError(
            f"Cannot calibrate {report}: it has no verdicts of judges",
            "Judges are asked by assertions of the types agent and preference, and by criteria of rubrics",
        )
    read = [label for name in labels for label in read_labels(labels_path(name, environment.directory), name)]
    said = [label for label in read if label.key.criterion]
    on_answers = len(read) - len(said)
    found = trust_in(judgements, said, prices_in(results))
    if labels and not found.labels:
        if on_answers and not found.unknown:
            raise ConfigurationError(
                f"Cannot calibrate {report}: {', '.join(labels)} has labels of whole answers only",
                "A judge is compared with labels of the criteria that it has judged",
            )
        if found.unknown:
            raise ConfigurationError(
                f"Cannot calibrate {report}: none of its answers has a label in {', '.join(labels)}",
                "Labels belong to the report that they were drawn from: suite, id, run, turn and criterion say which",
            )
        raise ConfigurationError(
            f"Cannot calibrate {report}: {', '.join(labels)} has no labels yet", "Fill in true or false under passed"
        )
    environment.stdout.write(text_of(found))
    if on_answers:
        environment.stdout.write(
            f"Left out: {count(on_answers, 'label')} of whole answers, which no judge has judged.\n"
        )
    if found.unknown:
        environment.stderr.write(f"Warning: {count(found.unknown, 'label')} of answers that {report} does not have\n")
    for path in paths:
        write_text(environment, path, json.dumps(trust_record(found), indent=2, ensure_ascii=False) + "\n")
    if min_kappa is None:
        return exit_codes.PASSED
    whole = found.each[-1].found if found.each else None
    interval = whole.kappa_interval if whole is not None else None
    few = whole is None or whole.words == "too few labels to say"
    return exit_codes.FAILED if few or interval is None or interval.low < min_kappa else exit_codes.PASSED
