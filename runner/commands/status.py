"""`yao-test status REPORT...`: says whether reports have results of all tests, and whether these are still valid."""

from __future__ import annotations

from typing import Any

import click

from runner import exit_codes
from runner.application.dotenv import with_files
from runner.commands.flags import Command
from runner.commands.flags import options_of as flags_of
from runner.environment import Environment
from runner.execution.state import state_of
from runner.options.options import FLAGS, options_from
from runner.reporters.console.style import count
from runner.security.terminal import in_line


@click.command(
    "status",
    cls=Command,
    help="Lists which tests --resume would run for .jsonl reports, and why, and runs nothing. Exit codes: 0 "
    "nothing would run; 1 something is missing, stale or broken; 2 a report, or a file that it depends on, "
    "cannot be read.",
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
        for line in (*(gap.text for gap in state.gaps), *state.said):
            environment.stdout.write(f"  {in_line(line)}\n")
        is_open = is_open or bool(state.open)
    return exit_codes.FAILED if is_open else exit_codes.PASSED


status.params += flags_of(flag for flag in FLAGS if flag.may_open_walls)
