"""`yao-test regrade REPORT`: grades the transcripts of a saved run again, with the assertions and judges of today.
`yao-test status REPORT...`: which results of saved runs are still valid, and which tests would run again."""

from __future__ import annotations

from shlex import quote
from typing import Any

from runner import exit_codes
from runner.application.configuration import FILE, read_configuration
from runner.application.context import with_files
from runner.commands import tables
from runner.commands.inputs import configured_request
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.execution.listing import state_of
from runner.execution.start import run
from runner.options.carried import taken_over
from runner.options.flags import Regrade
from runner.options.options import FLAGS, absolute, options_from
from runner.planning.inputs import resolve_application
from runner.planning.regrading import saved_options
from runner.planning.resume import OTHER_APPLICATION, check_application, check_walls
from runner.reporters.console.style import count
from runner.security.terminal import in_line


def regrade(environment: Environment, given: tables.Regrade, values: dict[str, Any]) -> int:
    """Grades a report again. The exit code is the same as for a run."""
    report, directory, warn = given.report, environment.directory, environment.stderr.write
    path = absolute(report, directory)
    subject = f"Cannot regrade {path}"
    files, saved = saved_options(report, path)
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
    return run(configured_request(options, said, environment, application, wanted).replace(regraded_from=report), None)


def status(environment: Environment, given: tables.Status, values: dict[str, Any]) -> int:
    """Prints the state of each report. The exit code says whether `--resume` would run something."""
    typed = options_from(values)
    environment = with_files(environment, typed.env_files)
    is_open = False
    for report in given.reports:
        state = state_of(report, typed, environment)
        verb = "has" if state.tests == 1 else "have"
        current = f"{state.tests - state.open} of {count(state.tests, 'test')} {verb} a current result"
        environment.stdout.write(f"{report}: {current}\n")
        for line in (*(rerun.text for rerun in state.reruns), *state.said):
            environment.stdout.write(f"  {in_line(line)}\n")
        is_open = is_open or bool(state.open)
    return exit_codes.FAILED if is_open else exit_codes.PASSED
