"""`yao-test show REPORT`: shows a saved run on the console, or writes it in any format."""

from __future__ import annotations

import click

from runner.commands.flags import Command
from runner.commands.reports import EXTENSION_LIST, read_report, understanding, write_reports
from runner.commands.stores import HELP
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.results.report import Report


@click.command(
    "show",
    cls=Command,
    help="Shows a saved .jsonl or .json report, or a run of the store (run:ID), on the console, or writes it in"
    " another format.",
)
@click.argument("report", metavar="REPORT")
@click.option(
    "-o", "--output", metavar="FILE", multiple=True, help=f"Write the report to a file: {EXTENSION_LIST}. Repeatable."
)
@click.option(
    "-r", "--reporter", metavar="ID", help="Print the report with a built-in reporter, such as report.markdown."
)
@click.option("--store", metavar="DIR", help=HELP)
@click.option(
    "-v", "--verbose", count=True, help="Show each test, also with several suites, and the output of passing tests."
)
@click.option("-q", "--quiet", is_flag=True, help="Show only failures and the summary.")
@click.option("--no-color", is_flag=True, help="Use no colours.")
@click.pass_obj
def show(
    environment: Environment,
    report: str,
    output: tuple[str, ...],
    reporter: str | None,
    store: str | None,
    verbose: int,
    quiet: bool,
    no_color: bool,
) -> int:
    """Prints a report, or writes it to files. The exit code does not depend on the results."""
    if reporter and output:
        raise ConfigurationError("--reporter prints a report, and --output writes one", "Leave one of them out")
    if quiet and verbose:
        raise ConfigurationError("--quiet and --verbose cannot be used together")
    saved = read_report(environment, report, quiet=not (output or reporter), store=store)
    if output:
        write_reports(environment, saved, output)
    elif reporter:
        from runner.reporters import maker_by_id

        with understanding(reporter):
            maker_by_id(reporter, environment.stdout)().write(saved)
    else:
        with understanding(f"the lines of {report}"):
            _on_console(environment, saved, verbose, quiet, no_color)
    return 0


def _on_console(environment: Environment, report: Report, verbose: int, quiet: bool, no_color: bool) -> None:
    from runner.options.options import RunOptions
    from runner.reporters.console.console import ConsoleReporter
    from runner.results.fold import Execution
    from runner.results.replay import events_of

    runs = report.start.get("runs_per_case", 1)
    options = RunOptions(inputs=(), runs=runs, verbose=verbose, quiet=quiet, no_color=no_color)
    run = Execution()
    console = ConsoleReporter(options, environment, lambda text: print(text, end="", file=environment.stdout))
    for event in events_of(report):
        run.add(event)
        console.on_event(event, run)
