"""Decides how a run ended: its status in reports, and its exit code."""

from __future__ import annotations

from runner import exit_codes
from runner.results.counts import status_of
from runner.results.events import RunStatus
from scripttest import written_files
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.environment import Environment
    from runner.execution.stopping import Stop
    from runner.options.options import RunOptions
    from runner.results.fold import Execution

NO_TESTS = "No tests to run"
NO_TESTS_HINT = "A test is a function of a *_test.ts file whose name starts with Test"


class Ending(Value):
    """How a run ended."""

    status: RunStatus
    stopped: str | None = None
    """Why it stopped early; None: it did not."""
    not_run: int = 0
    """How many tests have no verdict because of that."""


def ending_of(run: Execution, stop: Stop, unlisted: int, options: RunOptions, broke: bool) -> Ending:
    """Decides how a run ended.

    Args:
        unlisted: number of tests in suites that have not begun.
        options: `--fail-fast` and `--max-failures` end a run after this many failures; `--max-errors` allows broken
            tests.
        broke: whether an exception ended the run.
    """
    left = sum(listed.selected for listed in run.listed.values()) - run.counts.total + unlisted
    all_ran = not left and not run.cut and len(run.ended) == len(run.suites)
    if stop.reason is not None and not (stop.code is None and all_ran and not stop.spoils):
        return Ending(status=RunStatus.INTERRUPTED, stopped=stop.reason, not_run=left + run.cut)
    may_break = options.max_errors is not None and options.max_errors.covers(run.counts.errors, run.counts.total + left)
    status = status_of(run.counts, bool(run.errors), may_break)
    if options.failure_limit is not None and run.counts.bad >= options.failure_limit and left + run.cut:
        return Ending(status=status, stopped=options.failure_flag, not_run=left + run.cut)
    if broke and not all_ran:
        return Ending(status=status, stopped="the run broke", not_run=left + run.cut)
    return Ending(status=status)


def exit_code_of(run: Execution, options: RunOptions, environment: Environment, stop: Stop) -> int:
    """Returns the exit code of a run that has ended (specification, section 2). Prints on standard error what is odd
    about it."""
    assert run.end is not None
    if written_files.refused:
        named = ", ".join(written_files.refused)
        environment.stderr.write(f"Error: Not used, since a script wrote it in this run: {named}\n")
        return exit_codes.CONFIGURATION
    if run.end.status == RunStatus.INTERRUPTED:
        return stop.code or exit_codes.FAILED
    codes = {RunStatus.ERROR: exit_codes.RUNTIME, RunStatus.FAILED: exit_codes.FAILED}
    if run.errors:  # also those of reporters that broke on the end of the run
        return exit_codes.RUNTIME
    if run.end.status in codes:
        return codes[run.end.status]
    if not run.suites and options.shard is not None:
        environment.stderr.write(f"Warning: no test belongs to --shard {options.shard}\n")
        return exit_codes.PASSED
    if not any(suite.total for suite in run.listed.values()):
        environment.stderr.write(f"Error: {NO_TESTS}\nHint: {NO_TESTS_HINT}\n")
        return exit_codes.CONFIGURATION
    if not run.counts.total:
        environment.stderr.write(f"Warning: no test matches {options.selecting}\n")
    return exit_codes.PASSED
