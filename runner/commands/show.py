"""`yao-test show REPORT` and `extract REPORT`: a saved run on the console, in another format, or in many files."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from runner.cases.csv_rows import row_of
from runner.cells import as_cell
from runner.commands.inputs import EXTENSION_LIST, read_report, understanding, write_reports, writing
from runner.commands.parser import Command, no_color_option, store_option
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import absolute
from runner.record.model import TestResult
from runner.record.report import Report
from runner.record.result_texts import name_of
from runner.reporters.document import write_whole
from runner.reporters.markdown_pieces import body, heading
from runner.security.files import check_target
from runner.security.walk import TABLES
from scripttest import Status
from scripttest.typing_names import Record


@click.command(
    "show",
    cls=Command,
    help="Shows a saved .jsonl or .json report, or a run from the store (run:ID), on the console, or writes it in "
    "another format.",
)
@click.argument("report", metavar="REPORT")
@click.option(
    "-o", "--output", metavar="FILE", multiple=True, help=f"Write the report to a file: {EXTENSION_LIST}. Repeatable."
)
@click.option(
    "-r", "--reporter", metavar="ID", help="Print the report with a built-in reporter, such as report.markdown."
)
@store_option
@click.option("-v", "--verbose", count=True, help="Show every test of every suite, and the output of passing tests.")
@click.option("-q", "--quiet", is_flag=True, help="Show only failures and the summary.")
@no_color_option
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
        raise ConfigurationError("--reporter prints a report, --output writes one to a file", "Remove one of them")
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
    from runner.record.fold import Execution
    from runner.record.report import events_of
    from runner.reporters.console.console import ConsoleReporter

    options = RunOptions(inputs=(), runs=report.start.runs, verbose=verbose, quiet=quiet, no_color=no_color)
    run = Execution()
    console = ConsoleReporter(options, environment, lambda text: print(text, end="", file=environment.stdout))
    for event in events_of(report):
        run.add(event)
        console.on_event(event, run)


NAME_LIMIT = 100
"""At most this many bytes of a file name, without the number that makes it unique and without its extension."""
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
"""Names that Windows keeps for devices, with any extension."""


@click.command(
    "extract",
    cls=Command,
    help="Writes one file per result of a saved .jsonl or .json report; with -o FILE.csv, a table of its cases that "
    "can be used as a case file.",
)
@click.argument("report", metavar="REPORT")
@click.option(
    "-d",
    "-o",
    "--directory",
    metavar="DIR|FILE.csv",
    help="Folder for the files, or a table (.csv, .tsv). Default: a folder beside the report, named like it.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["md", "markdown", "json"]),
    default="md",
    help="Format of the files: Markdown or JSON.",
)
@click.option(
    "--status",
    type=click.Choice(["passed", "failed", "skipped"]),
    multiple=True,
    help="Only results with this status. Repeatable.",
)
@click.pass_obj
def extract(environment: Environment, report: str, directory: str | None, kind: str, status: tuple[str, ...]) -> int:
    """Writes the files and prints how many."""
    saved = read_report(environment, report)
    kind = kind.replace("markdown", "md")
    path = absolute(report, environment.directory)
    folder = absolute(directory, environment.directory) if directory else path.with_suffix("")
    if folder == path:
        raise ConfigurationError(f"Cannot write results into {folder}: it is the report", "Name a folder with -d")
    if folder.exists() and not folder.is_dir() and folder.suffix.lower() not in TABLES:
        raise ConfigurationError(f"Cannot write results into {folder}: it is not a folder")
    if folder.suffix.lower() in TABLES:
        results = [result for result in saved.results if result.case is not None]
        chosen = [result for result in results if not status or result.status in status]
        cases = [result for result in chosen if result.line.get("input") is not None or _stored(result)]
        left = len(chosen) - len(cases)
        without = f", without {left} of several turns, which only a .jsonl report has whole" if left else ""
        with writing(folder):
            check_target(folder)
            write_whole(folder, table_of(cases, "\t" if folder.suffix.lower() == ".tsv" else ","))
        environment.stdout.write(f"Wrote {len(cases)} case{'' if len(cases) == 1 else 's'} to {folder}{without}\n")
        return 0
    suites = {suite.id: suite for suite in saved.suites}
    chosen = [result for result in saved.results if not status or result.status in status]
    for name, result in named(chosen, several=len(suites) > 1):
        file = folder / f"{name}.{kind}"
        suite = suites[result.suite]
        with understanding(file):
            text = json.dumps(result.line, indent=2, ensure_ascii=False) + "\n"
            if kind == "md":
                text = heading(result).removeprefix("##") + body(result, suite, names_suite=True)
        with writing(file):
            check_target(file)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, text)
    environment.stdout.write(f"Wrote {len(chosen)} file{'' if len(chosen) == 1 else 's'} into {folder}\n")
    return 0


def table_of(results: Iterable[TestResult], between: str) -> str:
    """A case file with the cases of results, as far as the report has them, and beside them what came of them."""
    rows = []
    for result in results:
        line = result.line
        case = _case_of(result, line)
        row = row_of({name: line.get(name) for name in ("id", "name", "input")} | case)
        rows.append(
            row | {f"x-{name}": _text(value) for name in ("status", "output", "error") if (value := line.get(name))}
        )
    fields = dict.fromkeys([*("id", "name", "input"), *sorted({name for row in rows for name in row})])
    table = io.StringIO(newline="")
    used = [name for name in fields if any(name in row for row in rows)]
    writer = csv.DictWriter(table, used, delimiter=between, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: as_cell(value) for name, value in row.items()})
    return table.getvalue()


def _case_of(result: TestResult, line: Record) -> Record:
    """The case of a result as its file had it, but for its input; else what the result tells of it."""
    if stored := _stored(result):
        return dict(stored)
    case = {name: line.get(name) for name in ("expected", "tags", "metadata")}
    reason = line.get("skip_reason") or "true"
    if line["status"] == Status.SKIPPED and not line.get("messages_count") and not reason.startswith("depends on "):
        case["skip"] = reason
    kept = ("type", "value", "path")
    checks = [{name: check[name] for name in kept if name in check} for check in line.get("assertions", ())]
    return {**case, "assertions": [check for check in checks if "value" in check]}


def _stored(result: TestResult) -> Mapping[str, Any] | None:
    return None if result.regradable is None else result.regradable.case


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def named(results: list[TestResult], several: bool) -> Iterator[tuple[str, TestResult]]:
    """Each result with a file name that is unique even where case does not count. Results of several suites get a
    folder for each suite."""
    taken: set[str] = set()
    for result in results:
        name = f"{safe(result.suite)}/{safe(name_of(result))}" if several else safe(name_of(result))
        unique, number = name, 1
        while unicodedata.normalize("NFKC", unique).casefold() in taken:
            number += 1
            unique = f"{name}-{number}"
        taken.add(unicodedata.normalize("NFKC", unique).casefold())
        yield unique, result


def safe(name: str) -> str:
    """A name that every file system accepts: letters, digits, `-`, `_`, and dots within it."""
    text = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", name)).strip("-.")
    while len(text.encode()) > NAME_LIMIT:
        text = text[:-1].rstrip("-.")
    if RESERVED.fullmatch(text.partition(".")[0]):
        text = f"_{text}"
    return text or "result"
