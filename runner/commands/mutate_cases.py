"""`yao-test mutate` on cases: which changed answers no assertion notices and, with `--prompts`, which rules of the
prompts no case holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from runner import exit_codes
from runner.amounts import dollars
from runner.commands import tables
from runner.commands.inputs import keep_last, print_json, read_report, writing
from runner.errors import ConfigurationError
from runner.execution.outcome import MutantLines
from runner.mutation.console import percent
from runner.mutation.documents import LAST_OF_CASES, LAST_OF_PROMPTS
from runner.options.options import absolute
from runner.options.readers import LINES
from runner.planning.last_failed import store_of
from runner.reporters.console.style import Style, count
from runner.reporters.console.table import columns_of
from runner.reporters.document import write_whole
from runner.weak_cases.console import changes_of, json_of, rule_record, rules_record, rules_text, text_of
from runner.weak_cases.grading import Asked, CaseVerdict, find_weak_cases
from runner.weak_cases.prompt_rules import Planned, RuleVerdict, find_rules
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.planning.plan import RunRequest
    from runner.record.report import Report


class _Printer:
    """Prints the results of one command as they come, and what they are together; keeps that in the store."""

    def __init__(self, request: RunRequest, name: str) -> None:
        """`name`: the file of the store that has the last results."""
        self._options, self._environment, self._name = request.options, request.environment, name
        self.store = store_of(request.options, request.environment, request.application)
        self._lines = MutantLines(request.environment) if request.options.json == LINES else None
        self.style = Style(request.environment.colors and not request.options.no_color)

    def read(self, name: str) -> Report:
        """A report, or a run of the store."""
        return read_report(self._environment, name, quiet=True, store=self._options.store)

    def show(self, results: Sequence[Record], left: int) -> None:
        """Prints results with `--json=lines`; so many more will come."""
        if self._lines is not None:
            self._lines.show(results, left)

    def finish(self, document: Record, warnings: Sequence[str], text: Callable[[], str], code: int) -> int:
        """Prints the document, or the text, and returns the exit code."""
        keep_last(self._environment, self.store, self._name, document)
        if self._lines is not None:
            self._lines.finish((), warnings, document, code)
        elif self._options.json:
            print_json(self._environment, document)
        else:
            self._environment.stderr.write("".join(f"Warning: {warning}\n" for warning in warnings))
            self._environment.stdout.write(text())
        return code


def mutate_answers(request: RunRequest, least: float | None, paths: Sequence[Path], given: tables.Mutate) -> int:
    """Grades changed answers. `least`: the lowest good score. `paths`: `.json` files that are written."""
    for path in paths:
        if path.suffix.lower() != ".json":
            raise ConfigurationError(
                f"Cannot write {path}: the report on cases is a .json file", "Choose a file name that ends in .json"
            )
    printer = _Printer(request, LAST_OF_CASES)

    def told(asked: Asked) -> None:
        if asked.calls:
            cost = "an unknown amount" if asked.cost is None else f"about {dollars(asked.cost)}"
            request.environment.stderr.write(
                f"Judges call real models up to {count(asked.calls, 'time')}, for {cost}\n"
            )

    def judged(file: str, case: CaseVerdict, left: int) -> None:
        printer.show(changes_of(file, case), left)

    found = find_weak_cases(
        request,
        printer.read,
        named=given.origin,
        store=printer.store,
        ask_judges=given.ask_judges,
        told=told,
        judged=judged,
    )
    below = found.below(least)
    code = found.code if found.code is not None else exit_codes.FAILED if below else exit_codes.PASSED
    document = json_of(found, code)
    for path in paths:
        with writing(path):
            write_whole(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")

    def text() -> str:
        said = text_of(found, printer.style, request.options.verbose > 0, columns_of(request.environment))
        said += f"Stopped: {found.stopped}\n" if found.stopped is not None else ""
        return said + "".join(f"The score {percent(one.share)} of {one.label} is {_low(least)}" for one in below)

    return printer.finish(document, found.warnings, text, code)


def mutate_prompts(request: RunRequest, least: float | None, given: tables.Mutate) -> int:
    """Leaves out each rule of the prompts. Raises ConfigurationError where neither `--yes` nor a budget allows it."""
    options, environment = request.options, request.environment
    printer = _Printer(request, LAST_OF_PROMPTS)

    def may_ask(planned: Planned) -> None:
        calls = f"{count(planned.rules, 'rule')} to test with at least {count(planned.calls, 'agent answer')}"
        cost = f"about {dollars(planned.cost)}" if planned.cost is not None else "which cost an unknown amount"
        said = f"{calls}, {'which cost nothing' if planned.is_free else cost}"
        if not (given.yes or options.max_cost is not None or options.max_tokens is not None):
            raise ConfigurationError(f"No model was called: {said}", "Add --yes, or a budget such as --max-cost 5")
        if not options.json:
            environment.stderr.write(f"{said}\n")

    def told(verdict: RuleVerdict, left: int) -> None:
        printer.show([rule_record(verdict)], left)

    found = find_rules(
        request,
        printer.read,
        may_ask=may_ask,
        sample=given.sample,
        resume=absolute(given.resume, environment.directory) if given.resume is not None else None,
        store=printer.store,
        told=told,
    )
    is_low = least is not None and found.share is not None and found.share < least
    code = found.code or (exit_codes.FAILED if found.stopped is not None else exit_codes.PASSED)
    if found.code is None and is_low:
        code = exit_codes.FAILED

    def text() -> str:
        below = f"The score {percent(found.share)} is {_low(least)}" if is_low else ""
        return rules_text(found, printer.style) + below

    return printer.finish(rules_record(found, code), found.warnings, text, code)


def _low(least: float | None) -> str:
    return f"below the threshold {percent(least)}\n"
