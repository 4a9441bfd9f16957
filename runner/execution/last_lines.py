"""Prints the last lines of a run: which files it wrote, and how it differs from its baseline."""

from __future__ import annotations

from runner.errors import RunnerError
from runner.options.options import report_path
from runner.paths import shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from runner.environment import Environment
    from runner.options.options import RunOptions
    from runner.planning.plan import RunPlan


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


def say_baseline(plan: RunPlan, environment: Environment, write: Callable[[str], object]) -> None:
    """Prints how the run differs from its baseline in the store. A failed comparison changes no result."""
    from runner.execution.baseline import comparison_text

    store, baseline = plan.store, plan.options.kept_baseline
    assert store is not None
    assert baseline is not None
    try:
        write(comparison_text(store, baseline, environment.colors and not plan.options.no_color))
    except RunnerError as error:
        hint = f"Hint: {error.hint}\n" if error.hint else ""
        environment.stderr.write(f"Warning: {error.message}\n{hint}")
