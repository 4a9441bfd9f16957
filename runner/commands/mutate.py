"""`yao-test mutate`: plants small faults in handlers, and says which of them no script test notices; changes answers of
agents, and says which changes no case notices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from runner import exit_codes
from runner.application.application import repository_of
from runner.application.configuration import configured, read_configuration
from runner.application.context import with_files
from runner.commands.inputs import check_outputs, keep_last, print_json, write_text
from runner.commands.mutate_cases import kinds_of_inputs, weak_cases
from runner.commands.parser import Command, options_of
from runner.commands.words import meant
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.execution.outcome import MutantLines, refusal
from runner.execution.start import check_sandbox, check_trust
from runner.mutation.chosen import mutators_of
from runner.mutation.console import Bar, below_text, failed_text, summary_text, survivors_text
from runner.mutation.documents import FORMATS, LAST, annotation_lines, as_record, mutant_record
from runner.mutation.session import MutationOptions, Outcome, Progress, keeping, run_mutants
from runner.mutation.verdicts import Status, score_of
from runner.options.options import FLAGS, RunOptions, options_from, texts_in
from runner.options.readers import LINES, share_or_percent
from runner.options.values import read_shard
from runner.planning.inputs import resolve_application
from runner.planning.last_failed import store_of
from runner.planning.plan import RunRequest
from runner.reporters.console.style import Style
from runner.reporters.console.table import columns_of

OWN = [flag for flag in FLAGS if flag.mutate]
"""The flags of a run that the command has, too."""


@click.command(
    "mutate",
    cls=Command,
    help="Plants small faults, mutants, in the handlers that script tests load, and runs the tests with each: a mutant "
    "that survives shows a missing test. For case files, makes the agent's answers worse and grades them again. No "
    "files are changed. Exit codes: 0, or 1 below --threshold or when tests fail before anything is planted.",
)
@click.argument("tests", nargs=-1)
@click.option(
    "--mutate",
    "files",
    metavar="GLOB",
    multiple=True,
    help="Paths of the handlers to mutate; !GLOB excludes some. Default: handlers that the tests load. Repeatable.",
)
@click.option(
    "--from",
    "origin",
    metavar="REPORT",
    help="Report, or run:ID, with the answers to change. Default: the newest stored run; scripted models are called.",
)
@click.option("--ask-judges", is_flag=True, help="Let judges call real models to grade changed answers.")
@click.option(
    "--prompts", is_flag=True, help="Remove each rule of the agents' prompts in turn, and run the cases without it."
)
@click.option("--yes", is_flag=True, help="With --prompts: call the models without a cost limit.")
@click.option(
    "--resume", metavar="FILE", help="With --prompts: save model responses beside this file, and resume from them."
)
@click.option("--threshold", metavar="SCORE", help="Minimum score, such as 0.8 or 80%; exit with 1 if it is lower.")
@click.option(
    "--since",
    metavar="REF",
    help="Only mutants on lines changed since the merge base with a revision, and all mutants of handlers whose "
    "tests changed.",
)
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="Number of mutants, or rules, to sample, using --seed."
)
@click.option(
    "--mutators", metavar="NAME", multiple=True, help="Mutators to use; stryker is the set of StrykerJS. Repeatable."
)
@click.option("--shard", metavar="I/N", help="Run one part of the mutants, such as the second of four: 2/4.")
@click.option("--fresh", is_flag=True, help="Test all mutants again, ignoring verdicts of earlier runs.")
@click.option(
    "-o", "--output", metavar="FILE", multiple=True, help="Also write a report: .json, .html, .md. Repeatable."
)
@click.pass_obj
def mutate(
    environment: Environment,
    /,
    tests: tuple[str, ...],
    files: tuple[str, ...],
    origin: str | None,
    ask_judges: bool,
    prompts: bool,
    yes: bool,
    resume: str | None,
    threshold: str | None,
    since: str | None,
    sample: int | None,
    mutators: tuple[str, ...],
    shard: str | None,
    fresh: bool,
    output: tuple[str, ...],
    **values: Any,
) -> int:
    """Tries all mutants, prints what came of them, and returns the exit code."""
    least = None if threshold is None else share_or_percent(threshold, "--threshold")
    paths = check_outputs(environment, output, tuple(FORMATS))
    if tests:
        values = _named(tests, values, environment)
    options = options_from({flag.field: values.get(flag.field, flag.not_given) for flag in FLAGS})
    environment = with_files(environment, options.env_files)
    application = resolve_application(options, environment.directory)
    given = frozenset(flag.name for flag in OWN if flag.is_given(values))
    found = configured(options, given, application, {flag.name for flag in OWN})
    file = read_configuration(application)
    said = file.mutate if file is not None else {}
    if least is None and "threshold" in said:
        least = share_or_percent(str(said["threshold"]), "threshold")
    if found.options.sandbox is not None:
        check_sandbox(found.options, environment)
    request = RunRequest(
        options=found.options, settings=found.settings, environment=environment, application=application
    )
    check_trust(request)
    modules, cases = kinds_of_inputs(request)
    if found.options.cluster is not None and (prompts or not modules):
        raise ConfigurationError("--cluster is for mutants of handlers: there are no script tests", "Leave it out")
    if prompts:
        from runner.commands.mutate_prompts import mutate_prompts

        if not cases:
            raise ConfigurationError("Cannot test rules: the inputs have no cases", "Pass a case file")
        return mutate_prompts(request, least, is_allowed=yes, sample=sample, resume=resume)
    if cases and modules and (paths or options.json):
        raise ConfigurationError(
            "Cannot write one document about script tests and cases", "Pass either test modules or case files with -i"
        )
    patterns = files or tuple(said.get("files", ()))
    is_whole = not (found.options.inputs or found.options.run or found.options.tags)
    own = MutationOptions(
        files=patterns,
        adds=bool(files or is_whole) and not all(pattern.startswith("!") for pattern in patterns),
        ignore_calls=tuple(said.get("ignore-calls", ())),
        mutators=mutators_of(mutators),
        since=since,
        sample=sample,
        shard=None if shard is None else read_shard(shard, "--shard"),
        fresh=fresh,
        values=not found.options.quiet or bool(paths),
    )
    of_cases = weak_cases(request, least, paths, origin=origin, ask_judges=ask_judges) if cases else exit_codes.PASSED
    if not modules:
        return of_cases
    bar, way = Bar(environment.stderr), run_mutants
    if found.options.cluster is not None:
        from runner.mutation.on_cluster import run_on_cluster

        way = run_on_cluster
    lines = MutantLines(environment) if options.json == LINES else None

    def told(progress: Progress) -> None:
        if lines is not None:
            lines.show(map(mutant_record, progress.verdicts), progress.left)
        else:
            bar.show(progress)

    outcome = keeping(request, lambda kept: way(request, own, told, kept))
    bar.close()
    for warning in outcome.warnings if lines is None else ():
        environment.stderr.write(f"Warning: {warning}\n")
    if outcome.failed:
        if options.json:
            message, _, hint = failed_text(outcome.failed).strip().removeprefix("Error: ").rpartition("\nHint: ")
            environment.stdout.write(refusal(message, hint, exit_codes.FAILED, lines=lines is not None))
        else:
            environment.stderr.write(failed_text(outcome.failed))
        return exit_codes.FAILED
    code = _exit_code(outcome, least)
    if lines is not None:
        lines.finish(map(mutant_record, outcome.verdicts), outcome.warnings, as_record(outcome, least), code)
    else:
        _print(environment, outcome, least, found.options)
    keep_last(environment, store_of(found.options, environment, application), LAST, as_record(outcome, least))
    for path in paths:
        write_text(environment, path, FORMATS[path.suffix.lower()](outcome, least), told=not options.json)
    if outcome.change is not None and environment.variables.get("GITHUB_ACTIONS") == "true" and not options.json:
        folder = os.path.relpath(application.root, repository_of(application.root))
        environment.stdout.write(annotation_lines(outcome, "" if folder == os.curdir else f"{folder}/"))
    return code or of_cases


mutate.params += options_of(OWN)


def _named(words: Sequence[str], values: dict[str, Any], environment: Environment) -> dict[str, Any]:
    """The values of flags with what words name, as in a run. Raises ConfigurationError."""
    places = {"--app": values["app"], "--name": values["name"]}
    line = [f"{spelling}={value}" for spelling, value in places.items() if value is not None]
    meaning = texts_in(meant([*line, *words], environment, ()))
    assert meaning is not None
    return {**values, "inputs": (*values["inputs"], *meaning["inputs"]), "name": meaning["name"]}


def _print(environment: Environment, outcome: Outcome, least: float | None, options: RunOptions) -> None:
    if options.json:
        print_json(environment, as_record(outcome, least))
        return
    style = Style(environment.colors and not options.no_color)
    if not options.quiet:
        environment.stdout.write(survivors_text(outcome, style))
    environment.stdout.write(summary_text(outcome, columns_of(environment)) + below_text(outcome.verdicts, least))


def _exit_code(outcome: Outcome, least: float | None) -> int:
    if outcome.code is not None:
        return outcome.code
    score = score_of(outcome.verdicts)
    is_below = least is not None and score.share is not None and score.share < least
    is_cut = outcome.stopped is not None and (not outcome.verdicts or score.counts.get(Status.UNDECIDED, 0) > 0)
    return exit_codes.FAILED if is_below or (is_cut and least is not None) else exit_codes.PASSED
