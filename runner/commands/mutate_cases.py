"""`yao-test mutate` on case files: reads the answers of a run that is kept, and prints which changes of them no
assertion notices."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from runner import exit_codes
from runner.amounts import dollars
from runner.commands.inputs import keep_last, print_json, read_report, writing
from runner.errors import ConfigurationError
from runner.execution.outcome import MutantLines
from runner.mutation.console import percent
from runner.mutation.documents import LAST_OF_CASES
from runner.options.readers import LINES
from runner.planning.inputs import Modules, everything, resolve_inputs
from runner.planning.last_failed import store_of
from runner.reporters.console.style import Style, count
from runner.reporters.console.table import columns_of
from runner.reporters.document import write_whole
from runner.weak_cases.console import changes_of, json_of, text_of
from runner.weak_cases.grading import Asked, CaseVerdict, find_weak_cases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.planning.plan import RunRequest
    from runner.record.report import Report


def kinds_of_inputs(request: RunRequest) -> tuple[bool, bool]:
    """Whether there are test modules among the inputs, and whether there are cases. Raises ConfigurationError."""
    from runner.application.application import TestModule

    options, application, directory = request.options, request.application, request.environment.directory
    if not options.inputs:
        options = options.replace(inputs=(everything(options, application, directory),))
    found = resolve_inputs(options, application, directory, Modules(application))
    modules = sum(isinstance(item, TestModule) for item in found)
    return modules > 0, modules < len(found)


def weak_cases(
    request: RunRequest, least: float | None, paths: Sequence[Path], *, origin: str | None, ask_judges: bool
) -> int:
    """Grades changed answers, prints what came of it, and returns the exit code.

    Args:
        least: the lowest score that is good enough.
        paths: the `.json` files that are also written.
        origin: the report with the answers; None: the newest run.
        ask_judges: whether judges may ask real models."""
    options, environment = request.options, request.environment
    for path in paths:
        if path.suffix.lower() != ".json":
            raise ConfigurationError(
                f"Cannot write {path}: the report on cases is a .json file", "Choose a file name that ends in .json"
            )

    store = store_of(options, environment, request.application)

    def read(name: str) -> Report:
        return read_report(environment, name, quiet=True, store=options.store)

    def told(asked: Asked) -> None:
        if asked.calls:
            cost = "an unknown amount" if asked.cost is None else f"about {dollars(asked.cost)}"
            environment.stderr.write(f"Judges ask real models up to {count(asked.calls, 'time')}, for {cost}\n")

    lines = MutantLines(environment) if options.json == LINES else None

    def judged(file: str, case: CaseVerdict, left: int) -> None:
        if lines is not None:
            lines.show(changes_of(file, case), left)

    found = find_weak_cases(
        request,
        read,
        named=origin,
        store=store,
        ask_judges=ask_judges,
        told=told,
        judged=judged,
    )
    below = found.below(least)
    code = found.code if found.code is not None else exit_codes.FAILED if below else exit_codes.PASSED
    for path in paths:
        with writing(path):
            write_whole(path, json.dumps(json_of(found, code), indent=2, ensure_ascii=False) + "\n")
    keep_last(environment, store, LAST_OF_CASES, json_of(found, code))
    if lines is not None:
        lines.finish((), found.warnings, json_of(found, code), code)
        return code
    if options.json:
        print_json(environment, json_of(found, code))
        return code
    for warning in found.warnings:
        environment.stderr.write(f"Warning: {warning}\n")
    style = Style(environment.colors and not options.no_color)
    environment.stdout.write(text_of(found, style, options.verbose > 0, columns_of(environment)))
    if found.stopped is not None:
        environment.stdout.write(f"Stopped: {found.stopped}\n")
    for file in below:
        said = f"The score {percent(file.share)} of {file.label} is below the threshold {percent(least)}"
        environment.stdout.write(f"{said}\n")
    return code
