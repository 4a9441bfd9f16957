"""`yao-test mutate --prompts`: says what it costs, leaves out each rule of the prompts in turn, and prints which rules
a case holds."""

from __future__ import annotations

from runner import exit_codes
from runner.amounts import dollars
from runner.commands.inputs import keep_last, print_json, read_report
from runner.errors import ConfigurationError
from runner.execution.outcome import MutantLines
from runner.mutation.console import percent
from runner.mutation.documents import LAST_OF_PROMPTS
from runner.options.options import absolute
from runner.options.readers import LINES
from runner.planning.last_failed import store_of
from runner.reporters.console.style import Style, count
from runner.weak_cases.console import rule_record, rules_record, rules_text
from runner.weak_cases.prompt_rules import Planned, RuleVerdict, find_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.planning.plan import RunRequest
    from runner.record.report import Report


def mutate_prompts(
    request: RunRequest, least: float | None, *, is_allowed: bool, sample: int | None, resume: str | None
) -> int:
    """Prints which rules of prompts a case holds, and returns the exit code. Raises ConfigurationError, without asking
    a model, if neither `--yes` nor a budget allows the calls.

    Args:
        least: the lowest score that is good enough.
        is_allowed: `--yes`.
        sample: only so many rules.
        resume: the file beside which answers of models are kept."""
    options, environment = request.options, request.environment

    store = store_of(options, environment, request.application)

    def read(name: str) -> Report:
        return read_report(environment, name, quiet=True, store=options.store)

    def may_ask(planned: Planned) -> None:
        calls = f"{count(planned.rules, 'rule')}: at least {count(planned.calls, 'answer')} of agents"
        cost = f"about {dollars(planned.cost)}" if planned.cost is not None else "which cost an unknown amount"
        said = f"{calls}, {'which cost nothing' if planned.is_free else cost}"
        if not (is_allowed or options.max_cost is not None or options.max_tokens is not None):
            raise ConfigurationError(f"No model was called: {said}", "Add --yes, or a budget such as --max-cost 5")
        if not options.json:
            environment.stderr.write(f"{said}\n")

    lines = MutantLines(environment) if options.json == LINES else None

    def told(verdict: RuleVerdict, left: int) -> None:
        if lines is not None:
            lines.show([rule_record(verdict)], left)

    found = find_rules(
        request,
        read,
        may_ask=may_ask,
        sample=sample,
        resume=absolute(resume, environment.directory) if resume is not None else None,
        store=store,
        told=told,
    )
    share = found.share
    is_low = least is not None and share is not None and share < least
    code = found.code if found.code is not None else exit_codes.FAILED if is_low else exit_codes.PASSED
    if found.stopped is not None and code == exit_codes.PASSED:
        code = exit_codes.FAILED
    keep_last(environment, store, LAST_OF_PROMPTS, rules_record(found, code))
    if lines is not None:
        lines.finish((), found.warnings, rules_record(found, code), code)
        return code
    if options.json:
        print_json(environment, rules_record(found, code))
        return code
    for warning in found.warnings:
        environment.stderr.write(f"Warning: {warning}\n")
    environment.stdout.write(rules_text(found, Style(environment.colors and not options.no_color)))
    if is_low and least is not None:
        environment.stdout.write(f"The score {percent(share)} is below the threshold {percent(least)}\n")
    return code
