"""The line after the first run in an application, and after the first that failed: what helps next."""

from __future__ import annotations

from pathlib import Path

from runner.planning.last_failed import memory_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.planning.plan import RunPlan
    from runner.record.fold import Execution

FILE = "advice"
"""Remembers what has been said, a word in each line: in the store, else where failures are remembered."""
_LINES = {
    "failed": "Next: yao-test --last-failed -v reruns failed tests; yao-test watch reruns tests as you save\n",
    "ran": "Next: yao-test watch reruns tests as you save; yao-test view shows all runs\n",
}


def advice(plan: RunPlan, run: Execution) -> str:
    """The line, and that it has been said is kept; empty where it has been said, where nothing can be kept, and where
    nobody or no person reads it."""
    options, environment = plan.options, plan.environment
    is_quiet = options.quiet or options.json or options.watch or options.no_writes
    if not environment.terminal or is_quiet or not run.counts.total:
        return ""
    what = "failed" if run.counts.failed else "ran"
    store = plan.store.folder if plan.store is not None else None
    memory = store / FILE if store is not None else memory_of(plan.application.root, environment)
    if memory is None:
        return ""
    path = memory if store is not None else memory.with_name(FILE)
    said = _said(path)
    if what in said or not _keep(path, {*said, what, "ran"}):
        return ""
    return _LINES[what]


def _said(path: Path) -> set[str]:
    try:
        return set(path.read_text("utf-8").split())
    except (OSError, ValueError):
        return set()


def _keep(path: Path, said: set[str]) -> bool:
    """Whether it can be kept."""
    from runner.security.files import check_target

    try:
        check_target(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{word}\n" for word in sorted(said)), "utf-8")
    except OSError:
        return False
    return True
