"""`yao-test regrade REPORT`: grades the transcripts of a saved run again, with the assertions and judges of today.
`yao-test status REPORT...`: which results of saved runs are still valid, and which tests would run again."""

from __future__ import annotations

from shlex import quote
from typing import Any

import click

from runner import exit_codes
from runner.application.context import with_files
from runner.commands.parser import Command, options_of
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.execution.status import state_of
from runner.options.flags import Regrade
from runner.options.options import FLAGS, absolute, options_from
from runner.reporters.console.style import count
from runner.security.terminal import in_line


@click.command(
    "regrade",
    cls=Command,
    help="Grades the answers in a saved .jsonl report again, with the current assertions and judges of the case "
    "files. Cases that no longer exist are graded with the assertions stored in the report. No agent is called. "
    "Exit codes are as in a run.",
)
@click.argument("report", metavar="REPORT")
@click.pass_obj
def regrade(environment: Environment, /, report: str, **values: Any) -> int:
    """Grades a report again. The exit code is the same as for a run."""
    from runner.application.configuration import FILE, configured, read_configuration
    from runner.execution.start import check_sandbox, run
    from runner.options.carried import taken_over
    from runner.planning.inputs import resolve_application
    from runner.planning.plan import RunRequest
    from runner.planning.regrading import saved_options
    from runner.planning.saved_run import OTHER_APPLICATION, check_application, check_walls

    path = absolute(report, environment.directory)
    files, saved = saved_options(report, path)
    if not values.get("app"):
        check_application(saved.get("app"), environment.directory, f"Cannot regrade {path}", OTHER_APPLICATION)
    profile = saved.pop("profile", None)
    given = {flag.field: values.get(flag.field, flag.not_given) for flag in FLAGS}
    given["inputs"] = given["inputs"] or files
    options = options_from(given)
    environment = with_files(environment, options.env_files)
    if any(absolute(output, environment.directory).resolve() == path.resolve() for output in options.outputs):
        raise ConfigurationError(
            f"Cannot write over {report}, the report being regraded", "Choose another file with -o"
        )
    untold = {key: value for key, value in saved.items() if values.get(key) in (None, False, ())}
    if options.require_trust:  # approvals of the report's revision would be weaker
        untold.pop("trust_from", None)
    typed = options.replace(inputs=values["inputs"])
    check_walls(untold, typed, environment.directory, f"Cannot regrade {path}", f"yao-test regrade {quote(report)}")
    options = options.replace(**untold)
    shown = {key: value for key, value in untold.items() if key not in ("runs", "min_pass_rate")}
    if shown:
        environment.stderr.write(f"Warning: flags taken from {report}: {taken_over(shown)}\n")
    application = resolve_application(options, environment.directory)
    said = {flag.name for flag in FLAGS if flag.field in untold or (flag.field in values and flag.is_given(values))}
    wanted = {flag.name for flag in FLAGS if flag.regrade is Regrade.YES}
    if options.profile is None and profile is not None:
        file = read_configuration(application)
        if file is not None and file.has_profile(profile):
            options = options.replace(profile=profile)
        else:
            environment.stderr.write(f"Warning: {FILE} no longer has the profile {profile}, which {report} had\n")
    found = configured(options, frozenset(said), application, wanted)
    if found.options.sandbox is not None or found.options.verbose:
        check_sandbox(found.options, environment)
    request = RunRequest(
        options=found.options,
        settings=found.settings,
        environment=environment,
        application=application,
        regraded_from=report,
    )
    return run(request, None)


regrade.params += options_of(flag for flag in FLAGS if flag.regrade is not Regrade.NO)


@click.command(
    "status",
    cls=Command,
    help="Shows what --resume would run for .jsonl reports, and why, without running it. Exit codes: 0 nothing to "
    "run; 1 results are missing, stale or ended with an error; 2 a report, or a file it depends on, cannot be read.",
)
@click.argument("reports", metavar="REPORT...", nargs=-1, required=True)
@click.pass_obj
def status(environment: Environment, /, reports: tuple[str, ...], **values: Any) -> int:
    """Prints the state of each report. The exit code says whether `--resume` would run something."""
    typed = options_from({flag.field: values.get(flag.field, flag.not_given) for flag in FLAGS})
    environment = with_files(environment, typed.env_files)
    is_open = False
    for report in reports:
        state = state_of(report, typed, environment)
        current = f"{state.tests - state.open} of {count(state.tests, 'test')}"
        verb = "has a current result" if state.tests == 1 else "have a current result"
        environment.stdout.write(f"{report}: {current} {verb}\n")
        for line in (*(rerun.text for rerun in state.reruns), *state.said):
            environment.stdout.write(f"  {in_line(line)}\n")
        is_open = is_open or bool(state.open)
    return exit_codes.FAILED if is_open else exit_codes.PASSED


status.params += options_of(flag for flag in FLAGS if flag.may_open_walls)
