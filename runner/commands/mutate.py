"""`yao-test mutate`: plants small faults in handlers, and says which of them no script test notices; changes answers of
agents, and says which changes no case notices."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner import exit_codes
from runner.amounts import dollars
from runner.application.application import TestModule, repository_of
from runner.application.configuration import read_configuration
from runner.commands import tables
from runner.commands.inputs import check_outputs, keep_last, print_json, read_report, request_of, write_text
from runner.commands.words import meant
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.execution.outcome import refusal
from runner.execution.start import check_trust
from runner.mutation import documents
from runner.mutation.case_texts import cases_record, cases_text, rules_record, rules_text
from runner.mutation.documents import Bar, below_text, failed_text, summary_text, survivors_text
from runner.mutation.prompt_rules import Planned, find_rules
from runner.mutation.session import MutationOptions, keeping, run_mutants
from runner.mutation.trials import mutators_of
from runner.mutation.verdicts import Score, Status, is_below, score_of
from runner.mutation.weak_cases import Asked, find_weak_cases
from runner.options.flags import LINES, share_or_percent
from runner.options.options import absolute, texts_in
from runner.planning.inputs import resolve_inputs, with_inputs
from runner.planning.last_failed import store_of
from runner.planning.plan import RunRequest
from runner.reporters.console.style import Style, count
from runner.reporters.console.table import columns_of
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.record.report import Report


def mutate(environment: Environment, given: tables.Mutate, values: dict[str, Any]) -> int:
    """Tries all mutants, prints what came of them, and returns the exit code."""
    paths = check_outputs(environment, given.outputs, tuple(documents.FORMATS))
    request = request_of(environment, tables.Mutate, _named(given.tests, values, environment))
    options, environment, application = request.options, request.environment, request.application
    if options.json == LINES:
        raise ConfigurationError("--json=lines is for runs, and not for mutate", "Write --json for one document")
    check_trust(request)
    file = read_configuration(application)
    said = file.mutate if file is not None else {}
    least = given.threshold
    if least is None and "threshold" in said:
        least = share_or_percent(str(said["threshold"]), "threshold")
    directory = environment.directory
    found = resolve_inputs(with_inputs(options, application, directory), application, directory)
    modules = [item for item in found if isinstance(item, TestModule)]
    has_cases = len(found) > len(modules)
    _check_uses(given, is_spread=options.cluster is not None, handlers=bool(modules), answers=has_cases)
    if given.prompts:
        if not has_cases:
            raise ConfigurationError("Cannot test rules: the inputs have no cases", "Pass a case file")
        return mutate_prompts(request, least, paths, given)
    if has_cases and modules and (paths or options.json):
        raise ConfigurationError(
            "Cannot write one document about script tests and cases", "Pass either test modules or case files with -i"
        )
    own = _options_of(request, given, said, values=not options.quiet or bool(paths))
    code = mutate_answers(request, least, paths, given) if has_cases else exit_codes.PASSED
    return (_mutate_handlers(request, least, paths, own) or code) if modules else code


def _check_uses(given: tables.Mutate, *, is_spread: bool, handlers: bool, answers: bool) -> None:
    """Raises ConfigurationError for a flag that is for something else than what is mutated."""
    handlers, answers, rules = handlers and not given.prompts, answers and not given.prompts, given.prompts
    of_handlers = {
        "cluster": is_spread,
        "fresh": given.fresh,
        "mutate": given.files,
        "mutators": given.mutators,
        "shard": given.shard,
        "since": given.since,
    }
    of_answers = {"ask-judges": given.ask_judges, "from": given.origin}
    of_rules = {"resume": given.resume, "yes": given.yes}
    for flags, are_used, use, hint in (
        (of_handlers, handlers, "mutants of handlers", "Pass script tests"),
        (
            {"sample": given.sample},
            handlers or rules,
            "mutants and rules of prompts",
            "Pass script tests, or --prompts",
        ),
        (of_answers, answers, "changed answers of cases", "Pass a case file"),
        (of_rules, rules, "rules of prompts", "Add --prompts"),
    ):
        given_one = next((name for name, value in flags.items() if value), None)
        if given_one is not None and not are_used:
            others = f"Leave out --{given_one} or --prompts" if rules else f"{hint}, or leave it out"
            raise ConfigurationError(f"--{given_one} is for {use}, which are not tested here", others)


def _options_of(request: RunRequest, given: tables.Mutate, said: Mapping[str, Any], *, values: bool) -> MutationOptions:
    """What is asked of mutants of handlers. `said`: `[mutate]` of the configuration file. Raises ConfigurationError."""
    patterns = given.files or tuple(said.get("files", ()))
    is_whole = not (request.options.inputs or request.options.run or request.options.tags)
    return MutationOptions(
        files=patterns,
        adds=bool(given.files or is_whole) and not all(pattern.startswith("!") for pattern in patterns),
        ignore_calls=tuple(said.get("ignore-calls", ())),
        mutators=mutators_of(given.mutators),
        since=given.since,
        sample=given.sample,
        shard=given.shard,
        fresh=given.fresh,
        values=values,
    )


def _mutate_handlers(request: RunRequest, least: float | None, paths: Sequence[Path], own: MutationOptions) -> int:
    """Runs script tests with mutants. `least`: the lowest good score."""
    options, environment, application = request.options, request.environment, request.application
    bar, way = Bar(environment.stderr), run_mutants
    if options.cluster is not None:
        from runner.mutation.on_cluster import run_on_cluster

        way = run_on_cluster
    printer = _Printer(request, documents.LAST)
    outcome = keeping(request, lambda kept: way(request, own, bar.show, kept))
    bar.close()
    for warning in outcome.warnings:
        environment.stderr.write(f"Warning: {warning}\n")
    if outcome.failed:
        if options.json:
            message, _, hint = failed_text(outcome.failed).strip().removeprefix("Error: ").rpartition("\nHint: ")
            environment.stdout.write(refusal(message, hint, exit_codes.FAILED))
        else:
            environment.stderr.write(failed_text(outcome.failed))
        return exit_codes.FAILED
    score = score_of(one.status for one in outcome.verdicts)
    code = _exit_code(outcome.code, is_below(score.share, least) or _is_open(outcome.stopped, score, least))
    text = "" if options.quiet else survivors_text(outcome, printer.style)
    text += summary_text(outcome, columns_of(environment)) + below_text(score.share, least)
    printer.finish(documents.as_record(outcome, least), (), text, code)
    for path in paths:
        write_text(environment, path, documents.FORMATS[path.suffix.lower()](outcome, least), told=not options.json)
    if outcome.change is not None and environment.variables.get("GITHUB_ACTIONS") == "true" and not options.json:
        folder = os.path.relpath(application.root, repository_of(application.root))
        environment.stdout.write(documents.annotation_lines(outcome, "" if folder == os.curdir else f"{folder}/"))
    return code


def _named(words: Sequence[str], values: dict[str, Any], environment: Environment) -> dict[str, Any]:
    if not words:
        return values
    places = {"--app": values["app"], "--name": values["name"]}
    line = [f"{spelling}={value}" for spelling, value in places.items() if value is not None]
    meaning = texts_in(meant([*line, *words], environment, ()))
    assert meaning is not None
    return {**values, "inputs": (*values["inputs"], *meaning["inputs"]), "name": meaning["name"]}


def _exit_code(code: int | None, has_failed: bool) -> int:
    """The exit code: that of a signal which ended the run, else whether it has failed."""
    return code if code is not None else exit_codes.FAILED if has_failed else exit_codes.PASSED


def _is_open(stopped: str | None, score: Score, least: float | None) -> bool:
    """Whether a run has ended before it could tell that its score reaches the least good one."""
    is_whole = stopped is None or (score.counts and not score.counts[Status.UNDECIDED])
    return least is not None and not is_whole


class _Printer:
    """Prints the results of one command, and keeps them in the store."""

    def __init__(self, request: RunRequest, name: str, paths: Sequence[Path] = ()) -> None:
        """`name`: the file of the store that has the last results. `paths`: further files, which have to be `.json`."""
        self._options, self._environment, self._name = request.options, request.environment, name
        self._paths = paths
        for path in paths:
            if path.suffix.lower() != ".json":
                raise ConfigurationError(
                    f"Cannot write {path}: the report on cases is a .json file", "Choose a file name that ends in .json"
                )
        self.store = store_of(request.options, request.environment, request.application)
        self.style = Style(request.environment.colors and not request.options.no_color)

    def read(self, name: str) -> Report:
        """A report, or a run of the store."""
        return read_report(self._environment, name, quiet=True, store=self._options.store)

    def finish(self, document: Record, warnings: Sequence[str], text: str, code: int) -> int:
        """Prints the document, or the text, and returns the exit code."""
        for path in self._paths:
            written = json.dumps(document, indent=2, ensure_ascii=False)
            write_text(self._environment, path, f"{written}\n", told=False)
        keep_last(self._environment, self.store, self._name, document)
        if self._options.json:
            print_json(self._environment, document)
        else:
            self._environment.stderr.write("".join(f"Warning: {warning}\n" for warning in warnings))
            self._environment.stdout.write(text)
        return code


def mutate_answers(request: RunRequest, least: float | None, paths: Sequence[Path], given: tables.Mutate) -> int:
    """Grades changed answers. `least`: the lowest good score. `paths`: `.json` files that are written."""
    printer = _Printer(request, documents.LAST_OF_CASES, paths)

    def told(asked: Asked) -> None:
        if asked.calls:
            cost = "an unknown amount" if asked.cost is None else f"about {dollars(asked.cost)}"
            request.environment.stderr.write(
                f"Judges call real models up to {count(asked.calls, 'time')}, for {cost}\n"
            )

    found = find_weak_cases(
        request,
        printer.read,
        named=given.origin,
        store=printer.store,
        ask_judges=given.ask_judges,
        told=told,
    )
    is_untested = least is not None and found.total.share is None and any(file.left_out for file in found.files)
    is_low = is_untested or any(is_below(file.total.share, least) for file in found.files)
    code = _exit_code(found.code, is_low or _is_open(found.stopped, found.total, least))
    text = cases_text(found, printer.style, request.options.verbose > 0, columns_of(request.environment))
    text += "".join(below_text(file.total.share, least, file.file) for file in found.files)
    text += "There is no score for the threshold: all cases are left out\n" if is_untested else ""
    return printer.finish(cases_record(found, code), found.warnings, text, code)


def mutate_prompts(request: RunRequest, least: float | None, paths: Sequence[Path], given: tables.Mutate) -> int:
    """Leaves out each rule of the prompts; otherwise as `mutate_answers`. Raises ConfigurationError where neither
    `--yes` nor a budget allows it."""
    options, environment = request.options, request.environment
    printer = _Printer(request, documents.LAST_OF_PROMPTS, paths)

    def may_ask(planned: Planned) -> None:
        calls = f"{count(planned.rules, 'rule')} to test with at least {count(planned.calls, 'agent answer')}"
        cost = f"about {dollars(planned.cost)}" if planned.cost is not None else "which cost an unknown amount"
        said = f"{calls}, {'which cost nothing' if planned.is_free else cost}"
        if not (given.yes or options.max_cost is not None or options.max_tokens is not None):
            raise ConfigurationError(f"No model was called: {said}", "Add --yes, or a budget such as --max-cost 5")
        if not options.json:
            environment.stderr.write(f"{said}\n")

    found = find_rules(
        request,
        printer.read,
        may_ask=may_ask,
        sample=given.sample,
        resume=absolute(given.resume, environment.directory) if given.resume is not None else None,
        store=printer.store,
    )
    share = score_of(one.status for one in found.verdicts).share
    code = _exit_code(found.code, is_below(share, least) or found.stopped is not None)
    text = rules_text(found, printer.style) + below_text(share, least)
    return printer.finish(rules_record(found, code), found.warnings, text, code)
