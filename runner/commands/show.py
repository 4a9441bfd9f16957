"""`yao-test show REPORT` and `extract REPORT`: a saved run on the console, in another format, or in many files.
`regrade REPORT`: grades its transcripts again, with the assertions and judges of today. `status REPORT...`: which
results of saved runs are still valid, and which tests would run again."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from shlex import quote
from typing import Any

from runner import exit_codes
from runner.application.configuration import FILE, read_configuration
from runner.application.context import with_files
from runner.cases.csv_rows import row_of
from runner.cells import table_text
from runner.commands import tables
from runner.commands.inputs import configured_request, read_report, understanding, write_file, write_reports
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.flags import Regrade
from runner.options.options import FLAGS, RunOptions, absolute, options_from, taken_over
from runner.planning.inputs import resolve_application
from runner.record.model import TestResult
from runner.record.report import Report
from runner.record.result_texts import as_text, name_of
from runner.reporters.markdown_pieces import body, heading
from runner.security.files import TABLES
from scripttest import Status
from scripttest.typing_names import Record


def show(environment: Environment, given: tables.Show) -> int:
    """Prints a report, or writes it to files. The exit code does not depend on the results."""
    if given.reporter and given.outputs:
        raise ConfigurationError("--reporter prints a report, --output writes one to a file", "Remove one of them")
    if given.quiet and given.verbose:
        raise ConfigurationError("--quiet and --verbose cannot be used together")
    saved = read_report(environment, given.report, quiet=not (given.outputs or given.reporter), store=given.store)
    if given.outputs:
        write_reports(environment, saved, given.outputs)
    elif given.reporter:
        from runner.reporters import maker_by_id

        with understanding(given.reporter):
            maker_by_id(given.reporter, environment.stdout)().write(saved)
    else:
        with understanding(f"the lines of {given.report}"):
            _on_console(environment, saved, given.verbose, given.quiet, given.no_color)
    return 0


def _on_console(environment: Environment, report: Report, verbose: int, quiet: bool, no_color: bool) -> None:
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


def extract(environment: Environment, given: tables.Extract) -> int:
    """Writes the files and prints how many."""
    saved = read_report(environment, given.report)
    kind = given.kind.replace("markdown", "md")
    chosen = [result for result in saved.results if not given.statuses or result.status in given.statuses]
    path = absolute(given.report, environment.directory)
    folder = absolute(given.directory, environment.directory) if given.directory else path.with_suffix("")
    if folder == path:
        raise ConfigurationError(f"Cannot write results into {folder}: it is the report", "Name a folder with -d")
    if folder.exists() and not folder.is_dir() and folder.suffix.lower() not in TABLES:
        raise ConfigurationError(f"Cannot write results into {folder}: it is not a folder")
    if folder.suffix.lower() in TABLES:
        chosen = [result for result in chosen if result.case is not None]
        cases = [result for result in chosen if result.line.get("input") is not None or _stored(result)]
        left = len(chosen) - len(cases)
        without = f", without {left} with several turns, which only a .jsonl report has in full" if left else ""
        write_file(folder, table_of(cases, "\t" if folder.suffix.lower() == ".tsv" else ","))
        environment.stdout.write(f"Wrote {len(cases)} case{'' if len(cases) == 1 else 's'} to {folder}{without}\n")
        return 0
    suites = {suite.id: suite for suite in saved.suites}
    for name, result in named(chosen, several=len(suites) > 1):
        file = folder / f"{name}.{kind}"
        suite = suites[result.suite]
        with understanding(file):
            text = json.dumps(result.line, indent=2, ensure_ascii=False) + "\n"
            if kind == "md":
                text = heading(result).removeprefix("##") + body(result, suite, names_suite=True)
        write_file(file, text)
    environment.stdout.write(f"Wrote {len(chosen)} file{'' if len(chosen) == 1 else 's'} into {folder}\n")
    return 0


def table_of(results: Iterable[TestResult], between: str) -> str:
    """A case file with the cases of results, as far as the report has them, and beside them what came of them."""
    rows = []
    for result in results:
        line = result.line
        case = _case_of(result, line)
        row = row_of({name: line.get(name) for name in ("id", "name", "input")} | case)
        told = {f"x-{name}": as_text(value) for name in ("status", "output", "error") if (value := line.get(name))}
        rows.append(row | told)
    fields = dict.fromkeys([*("id", "name", "input"), *sorted({name for row in rows for name in row})])
    return table_text((name for name in fields if any(name in row for row in rows)), rows, between)


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


def named(results: list[TestResult], several: bool) -> Iterator[tuple[str, TestResult]]:
    """Each result with a file name that is unique whatever its case, in a folder for its suite if `several`."""
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
    return text or "result"


def regrade(environment: Environment, given: tables.Regrade, values: dict[str, Any]) -> int:
    """Grades a report again. The exit code is the same as for a run."""
    from runner.execution.start import run
    from runner.planning.regrading import read_regraded
    from runner.planning.resume import OTHER_APPLICATION, check_application, check_walls

    report, directory, warn = given.report, environment.directory, environment.stderr.write
    path = absolute(report, directory)
    subject = f"Cannot regrade {path}"
    files, saved, transcripts = read_regraded(report, path)
    if not values["app"]:
        check_application(saved.get("app"), directory, subject, OTHER_APPLICATION)
    profile = saved.pop("profile", None)
    typed = options_from(values)
    options = options_from({**values, "inputs": values["inputs"] or files})
    environment = with_files(environment, options.env_files)
    if any(absolute(output, directory) == path for output in options.outputs):
        raise ConfigurationError(
            f"Cannot write over {report}, the report being regraded", "Choose another file with -o"
        )
    taken = {key: value for key, value in saved.items() if values[key] in (None, False, ())}
    if options.require_trust:  # approvals of the report's revision would be weaker
        taken.pop("trust_from", None)
    check_walls(taken, typed, directory, subject, f"yao-test regrade {quote(report)}")
    options = options.replace(**taken)
    if shown := {key: value for key, value in taken.items() if key not in ("runs", "min_pass_rate")}:
        warn(f"Warning: flags taken from {report}: {taken_over(shown)}\n")
    application = resolve_application(options, directory)
    if options.profile is None and profile is not None:
        file = read_configuration(application)
        if file is not None and file.has_profile(profile):
            options = options.replace(profile=profile)
        else:
            warn(f"Warning: {FILE} no longer has the profile {profile}, which {report} had\n")
    said = {flag.name for flag in FLAGS if flag.field in taken or flag.is_given(values)}
    wanted = {flag.name for flag in FLAGS if flag.regrade is Regrade.YES}
    return run(
        configured_request(options, said, environment, application, wanted).replace(transcripts=transcripts), None
    )


def status(environment: Environment, given: tables.Status, values: dict[str, Any]) -> int:
    """Prints the state of each report. The exit code says whether `--resume` would run something."""
    from runner.execution.listing import print_state

    typed = options_from(values)
    environment = with_files(environment, typed.env_files)
    are_open = [print_state(report, typed, environment) for report in given.reports]
    return exit_codes.FAILED if any(are_open) else exit_codes.PASSED
