"""`yao-test diff A B`: what changed from one saved run to another."""

from __future__ import annotations

import json
from collections.abc import Callable

import click

from runner import exit_codes
from runner.cli.commands.flags import Command
from runner.cli.commands.reports import check_outputs, read_report, understanding, write_text
from runner.durations import seconds_of
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.reporters.console.change_lines import error_of, fact_of, measures_of, parts_of, verdict_line
from runner.reporters.console.style import Style, count
from runner.reporters.files.markdown_parts import block, details, inline, table
from runner.results.changes import KINDS, STANDARD, Change, Comparison, Side, Thresholds
from runner.results.comparison import compare
from runner.results.made_of import described
from runner.results.report import Record, Report

COLORS = {"bad": "red", "warning": "yellow", "good": "green", "neutral": "cyan", "quiet": "dim"}
"""Tone of a kind of change → its colour."""
WITH_ERROR = ("new_failures", "dropped", "flaky", "errors")
"""Kinds of change that say the error."""


@click.command(
    "diff",
    cls=Command,
    help="Compares two saved .jsonl or .json reports: A is the older one, B the newer one.",
)
@click.argument("a")
@click.argument("b")
@click.option("-o", "--output", metavar="FILE", multiple=True, help="Write it too: .md, .json, .html. Repeatable.")
@click.option("--fail-on-regression", is_flag=True, help="Exit with 1 when something is worse.")
@click.option(
    "--slower-factor",
    type=click.FloatRange(min=1),
    default=STANDARD.slower_factor,
    show_default=True,
    help="Times as long.",
)
@click.option(
    "--slower-by",
    metavar="DURATION",
    default=f"{STANDARD.slower_by:g}ms",
    show_default=True,
    help="And at least so much longer.",
)
@click.option("--no-color", is_flag=True, help="No colours.")
@click.pass_obj
def diff(
    environment: Environment,
    a: str,
    b: str,
    output: tuple[str, ...],
    fail_on_regression: bool,
    slower_factor: float,
    slower_by: str,
    no_color: bool,
) -> int:
    """Prints the changes; the exit code."""
    thresholds = Thresholds(slower_factor=slower_factor, slower_by=seconds_of(slower_by, "--slower-by") * 1000)
    paths = check_outputs(environment, output, (*FORMATS, ".html"))
    before, after = read_report(environment, a), read_report(environment, b)
    if before.results and after.results and not _keys(before) & _keys(after):
        hint = "Results are matched by the suite and the id; were both runs started in the same folder?"
        raise ConfigurationError(f"Cannot compare {a} with {b}: they have no result in common", hint)
    with understanding(f"the comparison of {a} with {b}"):
        found = compare(before, after, thresholds)
    style = Style(environment.colors and not no_color)
    environment.stdout.write(as_tables(found, environment, style) if environment.terminal else as_text(found, style))
    for path in paths:
        make = FORMATS.get(path.suffix.lower())
        write_text(environment, path, make(found) if make else _page(after, before, found))
    return exit_codes.FAILED if fail_on_regression and found.is_worse else exit_codes.PASSED


def _page(report: Report, baseline: Report, found: Comparison) -> str:
    from runner.reporters.html.report import render

    return render(report, baseline, found)


def _keys(report: Report) -> set[tuple[str, str]]:
    return {(record["suite"], record["id"]) for record in report.results}


def as_text(found: Comparison, style: Style) -> str:
    """The changes for the console."""
    text = ""
    for kind in KINDS:
        if changes := found.of(kind.key):
            text += style.paint(f"{kind.title} ({len(changes)})\n", COLORS[kind.tone])
            text += "".join(_lines_of(kind.key, change) for change in changes) + "\n"
    return text + _end(found)


def as_tables(found: Comparison, environment: Environment, style: Style) -> str:
    """The changes for a terminal, with a table for each kind."""
    from runner.cli.commands.tables import table_of

    text = ""
    for kind in KINDS:
        if changes := found.of(kind.key):
            text += style.paint(f"{kind.title} ({len(changes)})\n", COLORS[kind.tone])
            text += table_of(kind.key, changes, environment, style.colors)
            if kind.key == "changed":
                text += "".join(f"{line}\n" for change in changes for line in (f"{change.id}:", *change.diff))
    return text + _end(found)


def _end(found: Comparison) -> str:
    """What the comparison comes to; above it the means that differ, where some result has changed."""
    is_changed = any(change.kinds for change in found.changes)
    measures = [measure for measure in measures_of(found) if is_changed and measure[1] != measure[2]]
    text = f"Of {count(found.compared, 'result')} judged in both, each run:\n" if measures else ""
    text += "".join(f"  {name + ':':10} {before} → {after}\n" for name, before, after in measures)
    if parts := parts_of(found):
        text += f"Since the older run, {parts}\n"
    return f"{text}\n{verdict_line(found)}\n" if measures else f"{verdict_line(found)}\n"


def _lines_of(kind: str, change: Change) -> str:
    fact = fact_of(kind, change)
    text = f"  {change.suite} › {change.id}{': ' if fact else ''}{fact}\n"
    if kind in WITH_ERROR and (error := error_of(change)):
        text += f"    {error}\n"
    if change.parts:
        text += f"    {described(change.parts)} changed\n"
    if kind == "changed":
        text += "".join(f"    {line}\n" for line in change.diff)
    return text


def as_markdown(found: Comparison) -> str:
    """The changes as a document."""
    rows = [(kind.title, str(len(found.of(kind.key)))) for kind in KINDS]
    text = f"# Changes\n\n{verdict_line(found)}\n\n" + table(("Kind", "Results"), rows)
    if found.measures:
        text += f"Of {count(found.compared, 'result')} judged in both, each run:\n\n"
        measures = [(name, inline(before), inline(after)) for name, before, after in measures_of(found)]
        text += table(("Measure", "Before", "After"), measures)
    if parts := parts_of(found):
        text += f"Since the older run, {inline(parts)}.\n\n"
    for kind in KINDS:
        changes = found.of(kind.key)
        if not changes:
            continue
        text += f"## {kind.title}\n\n"
        for change in changes:
            fact = fact_of(kind.key, change)
            parts = f"; {inline(described(change.parts))} changed" if change.parts else ""
            text += f"- {inline(change.suite)} › **{inline(change.id)}**{': ' if fact else ''}{inline(fact)}{parts}\n"
        text += "\n"
        for change in changes:
            if kind.key == "changed":
                text += details(f"{change.suite} › {change.id}", block("\n".join(change.diff)))
            elif change.error and kind.key in WITH_ERROR:
                text += f"{inline(change.id)}:\n\n{block(change.error)}"
    return text


def as_json(found: Comparison) -> str:
    """The changes as a JSON document: a list for each kind, the number of `regressions`, whether the run is `worse`,
    `changed_parts`: `{part: results}`, and `measures`: `{name: {before, after}}`, means of one run over the results
    that were judged in both."""
    document: Record = {kind.key: [_record(change) for change in found.of(kind.key)] for kind in KINDS}
    document["regressions"] = len(found.regressions)
    document["worse"] = found.is_worse
    document["compared"] = found.compared
    document["changed_parts"] = found.parts
    document["measures"] = {
        measure.key: {"before": round(measure.before, 6), "after": round(measure.after, 6)}
        for measure in found.measures
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _record(change: Change) -> Record:
    """`{suite, id, before?, after?, before_ms?, after_ms?, regression?, before_runs?, after_runs?, before_score?,
    after_score?, before_tokens?, after_tokens?, before_cost?, after_cost?, error?, changed_parts?, diff?}`;
    `before_runs` is `{passed, count}`, there where a result ran several times."""
    record: Record = {"suite": change.suite, "id": change.id}
    sides = [(name, side) for name, side in (("before", change.before), ("after", change.after)) if side is not None]
    record |= {name: side.status for name, side in sides}
    record |= {f"{name}_ms": round(side.milliseconds) for name, side in sides}
    if change.regression:
        record["regression"] = True
    if change.is_repeated:
        record |= {f"{name}_runs": {"passed": side.passed, "count": side.judged} for name, side in sides}
    for key, of in FIGURES.items():
        record |= {f"{name}_{key}": round(figure, 6) for name, side in sides if (figure := of(side)) is not None}
    if change.error:
        record["error"] = change.error
    if change.parts:
        record["changed_parts"] = list(change.parts)
    if change.diff:
        record["diff"] = list(change.diff)
    return record


FIGURES: dict[str, Callable[[Side], float | None]] = {
    "score": lambda side: side.score,
    "tokens": lambda side: side.tokens,
    "cost": lambda side: side.cost,
}
FORMATS = {".md": as_markdown, ".json": as_json}
"""Extension of `-o` → what makes the text."""
