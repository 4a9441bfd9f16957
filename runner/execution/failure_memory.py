"""Remembers which tests failed, for `--last-failed` and `--failed-first` of later runs."""

from __future__ import annotations

from pathlib import Path

from runner.results.events import Event, RunEnd, TestEnd
from scripttest import Status, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.results.fold import Execution


class FailureMemory:
    """A reporter that remembers the names of tests that failed, and forgets those that passed since."""

    def __init__(self, path: Path, root: Path) -> None:
        """`root` is the application's."""
        self._path = path
        self._root = root
        self._failed: dict[str, set[str]] = {}
        self._held: dict[str, set[str]] = {}
        """Tests that ran and did not fail."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects results, and writes them at the end of the run."""
        if isinstance(event, TestEnd):
            result = event.result
            if not result.cut_short:
                kept = self._failed if result.outcome.status == Status.FAILED else self._held
                kept.setdefault(result.suite, set()).add(result.name)
        elif isinstance(event, RunEnd) and (self._failed or self._path.exists()):
            self._write(so_far)

    def close(self) -> None:
        """Does nothing."""

    def _write(self, run: Execution) -> None:
        from runner.planning.last_failed import read_failed, write_failed
        from runner.planning.suite_key import suite_key

        known = read_failed(self._path)
        failed = dict(known)
        for suite, listed in run.listed.items():
            key = suite_key(suite, self._root)
            names = set(known.get(key, ())) - self._held.get(suite, set())
            if suite in run.ended and listed.selected == listed.total:
                names = set()  # all that there is has run
            elif not run.suites[suite].has_cases:
                names = {name for name in names if kind_of(name)}  # the module could be loaded
            failed[key] = sorted(names | self._failed.get(suite, set()))
        failed = {key: names for key, names in failed.items() if names}
        if failed == known:
            return
        try:
            write_failed(self._path, failed)
        except OSError:  # said where a flag asks for it, see `memory_problem`
            return
