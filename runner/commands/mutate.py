"""`yao-test mutate`: plants small faults in handlers, and says which of them no script test notices."""

from __future__ import annotations

from typing import Any

import click

from runner import exit_codes
from runner.application.context import with_files
from runner.commands.parser import Command, options_of
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import FLAGS, options_from
from runner.options.readers import share_or_percent
from runner.reporters.console.style import Style

TAKEN = frozenset(
    "inputs name app profile user team locale ctx env_files run tags timeout parallel max_duration max_cost max_tokens"
    " runs seed allow_net allow_exec require_trust trust_from sandbox strict store json verbose quiet no_color".split()
)
"""The fields of the flags of a run that the command has, too."""
OWN = [flag for flag in FLAGS if flag.field in TAKEN]


@click.command(
    "mutate",
    cls=Command,
    help="Plants small faults, mutants, in the handlers that script tests reach, and runs the tests with each: a "
    "mutant that no test notices is a test that is missing. Of case files, it changes the answers of the agent in ways "
    "that a user would hate, and grades them again. Files are not changed. Exit codes: 0, or 1 below "
    "--threshold or when tests fail before anything is planted.",
)
@click.option(
    "--mutate",
    "files",
    metavar="GLOB",
    multiple=True,
    help="Handlers to plant mutants in, by their paths in the application; !GLOB leaves some out. Default: those that "
    "the tests load. Repeatable.",
)
@click.option(
    "--from",
    "origin",
    metavar="REPORT",
    help="Report, or run:ID, whose answers of cases are changed. Default: the newest run that is kept; scripted models "
    "are asked.",
)
@click.option("--ask-judges", is_flag=True, help="Let judges of cases ask real models about changed answers.")
@click.option(
    "--prompts", is_flag=True, help="Leave out each rule of the agents' prompts in turn, and run the cases without it."
)
@click.option("--yes", is_flag=True, help="With --prompts: ask the models, whatever it costs.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="With --prompts: only N rules, drawn by --seed.")
@click.option(
    "--resume", metavar="FILE", help="With --prompts: keep the answers of models beside this file, and go on from them."
)
@click.option(
    "--threshold", metavar="SCORE", help="Lowest score of the run that is good enough, such as 0.8 or 80%. Below it: 1."
)
@click.pass_obj
def mutate(
    environment: Environment,
    /,
    files: tuple[str, ...],
    origin: str | None,
    ask_judges: bool,
    prompts: bool,
    yes: bool,
    sample: int | None,
    resume: str | None,
    threshold: str | None,
    **values: Any,
) -> int:
    """Tries all mutants, prints what came of them, and returns the exit code."""
    from runner.application.configuration import configured, read_configuration
    from runner.commands.mutate_cases import kinds_of_inputs, weak_cases
    from runner.mutation.console import percent, summary_text, survivors_text
    from runner.mutation.session import MutationOptions, run_mutants
    from runner.mutation.verdicts import score_of
    from runner.planning.inputs import resolve_application
    from runner.planning.plan import RunRequest

    least = None if threshold is None else share_or_percent(threshold, "--threshold")
    options = options_from({flag.field: values.get(flag.field, flag.not_given) for flag in FLAGS})
    environment = with_files(environment, options.env_files)
    application = resolve_application(options, environment.directory)
    given = frozenset(flag.name for flag in OWN if flag.is_given(values))
    found = configured(options, given, application, {flag.name for flag in OWN})
    file = read_configuration(application)
    said = file.mutate if file is not None else {}
    if least is None and "threshold" in said:
        least = share_or_percent(str(said["threshold"]), "threshold")
    request = RunRequest(
        options=found.options, settings=found.settings, environment=environment, application=application
    )
    modules, cases = kinds_of_inputs(request)
    if prompts:
        from runner.commands.mutate_prompts import mutate_prompts

        if not cases:
            raise ConfigurationError("Cannot leave out rules: there are no cases among the inputs", "Name a case file")
        return mutate_prompts(request, least, is_allowed=yes, sample=sample, resume=resume)
    of_cases = exit_codes.PASSED
    if cases:
        of_cases = weak_cases(request, least, origin=origin, ask_judges=ask_judges)
        if not modules:
            return of_cases
    outcome = run_mutants(
        request,
        MutationOptions(files=files or tuple(said.get("files", ())), ignore_calls=tuple(said.get("ignore-calls", ()))),
    )
    out, style = environment.stdout, Style(environment.colors and not options.no_color)
    for warning in outcome.warnings:
        environment.stderr.write(f"Warning: {warning}\n")
    if outcome.failed:
        number = len(outcome.failed)
        environment.stderr.write(
            f"Error: {number} {'test fails' if number == 1 else 'tests fail'} before anything is planted\n"
        )
        for test in outcome.failed[:20]:
            environment.stderr.write(f"  {test.name}: {test.why}\n")
        environment.stderr.write("Mend them first: yao-test runs them alone\n")
        return exit_codes.FAILED
    out.write(survivors_text(outcome.verdicts, outcome.texts, style))
    out.write(summary_text(outcome.verdicts, style))
    if outcome.code is not None:
        return outcome.code
    share = score_of(outcome.verdicts).share
    if least is not None and share is not None and share < least:
        out.write(f"The score {percent(share)} is below the threshold {percent(least)}\n")
        return exit_codes.FAILED
    return of_cases


mutate.params += options_of(OWN)
