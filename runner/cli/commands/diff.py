"""`yao-test diff A B`: what changed from one saved run to another."""

from __future__ import annotations

import json

import click

from runner import exit_codes
from runner.cli.commands.flags import Command
from runner.cli.commands.reports import check_outputs, read_report, understanding, write_text
from runner.durations import seconds_of
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.reporters.console.text import Style, count, in_milliseconds
from runner.reporters.files.document import Record, Report
from runner.reporters.files.markdown_parts import block, details, inline, table
from runner.results.comparison import Change, Comparison, compare
from scripttest.values import fields_of

TITLES = {
    "new_failures": ("New failures", "red"),
    "flaky": ("Flaky", "yellow"),
    "still_failing": ("Still failing", "red"),
    "fixed": ("Fixed", "green"),
    "slower": ("Slower", "yellow"),
    "changed": ("Changed outputs", "cyan"),
    "added": ("Added", "dim"),
    "removed": ("Removed", "dim"),
}
"""Kind of change → its title and colour."""


@click.command(
    "diff",
    cls=Command,
    help="Compares two saved .jsonl or .json reports: A is the older one, B the newer one.",
)
@click.argument("a")
@click.argument("b")
@click.option("-o", "--output", metavar="FILE", multiple=True, help="Write it too: .md, .json, .html. Repeatable.")
@click.option("--fail-on-regression", is_flag=True, help="Exit with 1 when something fails that did not fail.")
@click.option("--slower-factor", type=click.FloatRange(min=1), default=2.0, show_default=True, help="Times as long.")
@click.option(
    "--slower-by", metavar="DURATION", default="200ms", show_default=True, help="And at least so much longer."
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
    least = seconds_of(slower_by, "--slower-by") * 1000
    paths = check_outputs(environment, output, (*FORMATS, ".html"))
    before, after = read_report(environment, a), read_report(environment, b)
    if before.results and after.results and not _keys(before) & _keys(after):
        hint = "Results are matched by the suite and the id; were both runs started in the same folder?"
        raise ConfigurationError(f"Cannot compare {a} with {b}: they have no result in common", hint)
    with understanding(f"the comparison of {a} with {b}"):
        found = compare(before, after, slower_factor, least)
    style = Style(environment.colors and not no_color)
    environment.stdout.write(as_tables(found, environment, style) if environment.terminal else as_text(found, style))
    for path in paths:
        make = FORMATS.get(path.suffix.lower())
        write_text(environment, path, make(found) if make else _page(after, before))
    return exit_codes.FAILED if fail_on_regression and found.regressions else exit_codes.PASSED


def _page(report: Report, baseline: Report) -> str:
    from runner.reporters.html.report import render

    return render(report, baseline)


def _keys(report: Report) -> set[tuple[str, str]]:
    return {(record["suite"], record["id"]) for record in report.results}


def as_text(found: Comparison, style: Style) -> str:
    """The changes for the console."""
    text = ""
    for kind, (title, color) in TITLES.items():
        changes: list[Change] = getattr(found, kind)
        if changes:
            text += style.paint(f"{title} ({len(changes)})\n", color)
            text += "".join(_text_of(kind, change) for change in changes) + "\n"
    return text + _verdict(found) + "\n"


def as_tables(found: Comparison, environment: Environment, style: Style) -> str:
    """The changes for a terminal, with a table for each kind."""
    from runner.cli.commands.tables import table_of

    text = ""
    for kind, (title, color) in TITLES.items():
        changes: list[Change] = getattr(found, kind)
        if changes:
            text += style.paint(f"{title} ({len(changes)})\n", color)
            text += table_of(changes, environment, style.colors)
        if kind == "changed":
            text += "".join(f"{line}\n" for change in changes for line in (f"{change.id}:", *change.diff))
    return text + _verdict(found) + "\n"


def _verdict(found: Comparison) -> str:
    regressions = found.regressions
    if regressions:
        return count(len(regressions), "regression")
    return "No regressions" if any(fields_of(found).values()) else "No changes"


def _text_of(kind: str, change: Change) -> str:
    text = f"  {change.suite} › {change.id}{_facts(kind, change)}\n"
    if change.error and kind in ("new_failures", "flaky"):
        text += f"    {' '.join(change.error.split())[:500]}\n"
    if kind == "changed":
        text += "".join(f"    {line}\n" for line in change.diff)
    return text


def _facts(kind: str, change: Change) -> str:
    if kind == "slower":
        times = (change.before_ms or 0, change.after_ms or 0)
        factor = f", {times[1] / times[0]:.1f} times as long" if times[0] else ""
        return f": {in_milliseconds(times[0])} → {in_milliseconds(times[1])}{factor}"
    if kind == "added":
        return f": {change.after}"
    if kind == "removed":
        return f": was {change.before}"
    if kind in ("still_failing", "changed"):
        return ""
    return f": {change.before or 'not there'} → {change.after}"


def as_markdown(found: Comparison) -> str:
    """The changes as a document."""
    rows = [(title, str(len(getattr(found, kind)))) for kind, (title, _) in TITLES.items()]
    text = f"# Changes\n\n{_verdict(found)}\n\n" + table(("Kind", "Results"), rows)
    for kind, (title, _) in TITLES.items():
        changes: list[Change] = getattr(found, kind)
        if not changes:
            continue
        text += f"## {title}\n\n"
        for change in changes:
            text += f"- {inline(change.suite)} › **{inline(change.id)}**{inline(_facts(kind, change))}\n"
        text += "\n"
        for change in changes:
            if kind == "changed":
                text += details(f"{change.suite} › {change.id}", block("\n".join(change.diff)))
            elif change.error and kind in ("new_failures", "flaky"):
                text += f"{inline(change.id)}:\n\n{block(change.error)}"
    return text


def as_json(found: Comparison) -> str:
    """The changes as a JSON document: a list for each kind, and the number of `regressions`."""
    document: Record = {kind: [change.record() for change in getattr(found, kind)] for kind in TITLES}
    document["regressions"] = len(found.regressions)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


FORMATS = {".md": as_markdown, ".json": as_json}
"""Extension of `-o` → what makes the text."""
