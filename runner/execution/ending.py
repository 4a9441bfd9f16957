"""The end of a run: its status in reports, its exit code, the last messages, and what becomes of exceptions that break
it."""

from __future__ import annotations

from runner import exit_codes
from runner.errors import RunnerError, shown_path
from runner.options.options import RunOptions, report_path
from runner.record.events import RunError, RunStatus
from runner.record.fold import Execution, status_of
from runner.reporters.stream import describe
from runner.security.terminal import UnwrittenError
from scripttest import ScriptError, written_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path
    from typing import TextIO

    from runner.environment import Environment
    from runner.execution.stopping import Stop
    from runner.planning.plan import RunPlan


AGAIN = "Rerun with -v -v to see where it failed"
NO_TESTS = "No tests to run"
NO_TESTS_HINT = "Tests are functions in *_test.ts files whose names start with Test"


def ending_of(
    run: Execution, stop: Stop, unlisted: int, options: RunOptions, *, broke: bool, misses: bool
) -> tuple[RunStatus, str | None, int]:
    """Decides how a run ended: its status, why it was stopped, and how many tests have no verdict because of that.
    `unlisted`: number of tests in suites that have not begun. `broke`: whether an exception ended the run. `misses`:
    whether a threshold is missed, so that it does not pass."""
    left = sum(listed.selected for listed in run.listed.values()) - run.counts.total + unlisted
    all_ran = not left and not run.cut and len(run.ended) == len(run.suites)
    may_break = options.max_errors is not None and options.max_errors.covers(run.counts.errors, run.counts.total + left)
    status, stopped = status_of(run.counts, bool(run.errors), may_break), None
    if stop.reason is not None and not (stop.code is None and all_ran and not stop.spoils):
        status, stopped = RunStatus.INTERRUPTED, stop.reason
    elif options.failure_limit is not None and run.counts.bad >= options.failure_limit and left + run.cut:
        stopped = options.failure_flag
    elif broke and not all_ran:
        stopped = "the run was aborted"
    status = RunStatus.FAILED if misses and status == RunStatus.PASSED else status
    return status, stopped, left + run.cut if stopped is not None else 0


def exit_code_of(run: Execution, options: RunOptions, environment: Environment, stop: Stop) -> int:
    """The exit code of a run that has ended (specification, section 2). What is odd about it goes to standard error."""
    assert run.end is not None
    if written_files.refused:
        named = ", ".join(written_files.refused)
        environment.stderr.write(f"Error: Not used, because a script wrote it in this run: {named}\n")
        return exit_codes.CONFIGURATION
    if run.end.status == RunStatus.INTERRUPTED:
        return stop.code or exit_codes.FAILED
    codes = {RunStatus.ERROR: exit_codes.RUNTIME, RunStatus.FAILED: exit_codes.FAILED}
    if run.errors:  # also those of reporters that broke on the end of the run
        return exit_codes.RUNTIME
    if run.end.status in codes:
        return codes[run.end.status]
    if not run.suites and options.shard is not None:
        environment.stderr.write(f"Warning: no tests are in --shard {options.shard}\n")
        return exit_codes.PASSED
    if not any(suite.total for suite in run.listed.values()):
        environment.stderr.write(f"Error: {NO_TESTS}\nHint: {NO_TESTS_HINT}\n")
        return exit_codes.CONFIGURATION
    if not run.counts.total:
        environment.stderr.write(f"Warning: no test matches {options.selecting}\n")
    return exit_codes.PASSED


def name_written(
    written: Collection[Path], options: RunOptions, environment: Environment, write: Callable[[str], object]
) -> None:
    """Prints which files of `--output` were written; devices and pipes are not mentioned."""
    if options.quiet:
        return
    directory = environment.directory
    for path in dict.fromkeys(report_path(output, directory) for output in options.outputs):
        if path in written and path.is_file():
            write(f"Wrote {shown_path(path, directory)}\n")


def write_comparison(plan: RunPlan, write: Callable[[str], object]) -> None:
    """Prints how a run that has ended differs from the newest runs of `--baseline` in its store, in the words of
    `yao-test diff`. A failed comparison changes no result."""
    from runner.compare.change_report import BeforeAfter
    from runner.compare.change_verdict import change_between
    from runner.compare.comparison import compare
    from runner.reporters.change_lines import changes_text, verdicts_text
    from runner.reporters.console.style import DOUBLE, Style, count
    from runner.reporters.console.table import columns_of
    from runner.store.baseline import baseline_of
    from runner.store.store import Store

    place, name, environment = plan.store, plan.options.kept_baseline, plan.environment
    assert place is not None
    assert name is not None
    style = Style(environment.colors and not plan.options.no_color)
    try:
        with Store(place.folder) as store:
            baseline = baseline_of(store, name, store.report(place.run), leave_out=place.run)
        run = baseline.compared
        newest = baseline.runs[0]
        of = f"{count(len(baseline.runs), 'run')}, the newest run on {newest.started_at[:10]}"
        head = f"{DOUBLE}\n  {style.paint(f'Compared with {name}', 'bold')} ({of})\n{DOUBLE}\n"
        verdict = change_between(baseline.report, run, names=BeforeAfter(a=name, b="this run"))
        room, verbose = columns_of(environment), bool(plan.options.verbose)
        said = verdicts_text([verdict], [name, "this run"], style, room, verbose)
        write(head + said + changes_text(compare(baseline.report, run), style))
    except RunnerError as error:
        hint = f"Hint: {error.hint}\n" if error.hint else ""
        environment.stderr.write(f"Warning: {error.message}\n{hint}")


def error_of(error: BaseException, doing: str = "") -> RunError:
    """The error of a run that an exception becomes; `doing` is what was being done, if that is known."""
    during = f" while {doing}" if doing else ""
    if isinstance(error, RunnerError | ScriptError):
        return RunError(message=error.message, hint=error.hint)
    if isinstance(error, MemoryError):
        return RunError(message=f"Out of memory{during}", hint="Run fewer tests at a time, with --parallel")
    if isinstance(error, UnwrittenError):
        return RunError(message=f"Cannot write the output: {error.strerror}")
    if isinstance(error, OSError):
        return RunError(message=f"Cannot continue{doing and f' {doing}'}: {describe(error)}")
    return RunError(message=f"yao-test crashed{during}: {describe(error)}", hint=AGAIN)


def goes_well(
    step: Callable[[], None], doing: str, send: Callable[[RunError], None], stop: Stop, tracebacks: TextIO | None
) -> bool:
    """Carries out a step of a run; False when an exception ends it, which is sent as an error of the run. `doing` says
    what it does, `tracebacks` takes that of the exception. KeyboardInterrupt stops the run."""
    try:
        step()
    except KeyboardInterrupt:
        stop.code = stop.code or exit_codes.INTERRUPTED
        stop.request("interrupted", 0)
    except BaseException as error:
        if tracebacks is not None:
            from traceback import format_exception

            tracebacks.write("".join(format_exception(error)))
        send(error_of(error, doing))
        return False
    return True
