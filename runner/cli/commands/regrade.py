"""`yao-test regrade REPORT`: grades the transcripts of a saved run again, with the assertions and judges of today."""

from __future__ import annotations

from typing import Any

import click

from runner.cli.commands.flags import Command, options_of
from runner.cli.options import FLAGS, absolute, options_from
from runner.environment import Environment
from runner.errors import ConfigurationError

OWN = (
    "input output app reporter run timeout parallel threshold require-judge judge-samples judge-connector "
    "on-inconclusive record replay record-missing max-cost max-tokens max-duration retry-errors max-errors strict "
    "allow-net require-trust trust-from sandbox fail-fast max-failures durations trace verbose quiet no-color profile"
).split()
"""Flags of a run that this command has too, with the same meaning."""
OF_A_RUN = "input output app reporter run profile record replay record-missing".split()
"""Flags of these that are not taken from the configuration file: there they are meant for runs that ask agents."""
OF_CASES = "user team locale ctx simulator on-missing-input strict lenient".split()
"""Flags of the saved run that the configuration file sets where the command line of that run did not."""


@click.command(
    "regrade",
    cls=Command,
    help="Grades the answers of a saved .jsonl report again, with the assertions and judges that the case files "
    "have now. A case that is in no file any more is graded with those of the report. No agent is asked. The "
    "exit codes are those of a run.",
)
@click.argument("report", metavar="REPORT")
@click.pass_obj
def regrade(environment: Environment, /, report: str, **values: Any) -> int:
    """Grades a report again. The exit code is the same as for a run."""
    from runner.application.configuration import FILE, configured, read_configuration
    from runner.execution.run import run
    from runner.planning.inputs import resolve_application
    from runner.planning.regrading import saved_options
    from runner.planning.resume_origin import OTHER_APPLICATION, check_application, taken_over

    path = absolute(report, environment.directory)
    files, saved = saved_options(report, path)
    if not values.get("app"):
        check_application(saved.get("app"), environment.directory, f"Cannot regrade {path}", OTHER_APPLICATION)
    profile = saved.pop("profile", None)
    given = {flag.field: values.get(flag.field, flag.not_given) for flag in FLAGS}
    given["inputs"] = given["inputs"] or files
    options = options_from(given)
    if any(absolute(output, environment.directory).resolve() == path.resolve() for output in options.outputs):
        raise ConfigurationError(f"Cannot write over {report}, which is regraded", "Name another file with -o")
    untold = {key: value for key, value in saved.items() if values.get(key) in (None, False, ())}
    options = options.replace(**untold)
    shown = {key: value for key, value in untold.items() if key not in ("runs", "min_pass_rate")}
    if shown:
        environment.stderr.write(f"Warning: flags taken from {report}: {taken_over(shown)}\n")
    application = resolve_application(options, environment.directory)
    said = {flag.name for flag in FLAGS if flag.field in untold or (flag.field in values and flag.is_given(values))}
    wanted = {*OWN, *OF_CASES} - {*OF_A_RUN}
    if options.profile is None and profile is not None:
        file = read_configuration(application)
        if file is not None and file.has_profile(profile):
            options = options.replace(profile=profile)
        else:
            environment.stderr.write(f"Warning: {FILE} no longer has the profile {profile}, which {report} had\n")
    found = configured(options, frozenset(said), application, wanted)
    if found.options.sandbox is not None or found.options.verbose:
        from runner.execution.walls import look_at_walls

        look_at_walls(found.options, environment)
    return run(found.options, environment, application, None, report, found.settings)


regrade.params += options_of(flag for flag in FLAGS if flag.name in OWN)
