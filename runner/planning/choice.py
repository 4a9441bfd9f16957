"""The flags that select tests by tag or earlier failure and that order tests, and the notes that the run prints about
them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from runner.planning.order import Order
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.application.application import Application
    from runner.environment import Environment
    from runner.options.options import RunOptions
    from runner.planning.case_source import CaseSource
    from runner.planning.picks import Picks

_NOTHING = "No failure is known: all tests run"
_NOT_IN_CI = "In CI, earlier runs are known only from a store: all tests run"


class Choice(Value):
    """Which tests of a run are selected, and in which order they run."""

    picks: Picks | None = None
    """Selects by tags and earlier failures; None: all tests."""
    order: Order | None = None
    """The order; None: that of the files."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def notes_on(self, picked: Mapping[str, Collection[str] | None], sources: Iterable[CaseSource]) -> tuple[str, ...]:
        """The notes of a run of these tests of modules (None: all tests of the module) and these cases."""
        if self.picks is None or not self.picks.by_failure:
            return self.notes
        tests = sum(len(names) for names in picked.values() if names is not None)
        tests += sum(source.selected for source in sources)
        modules = sum(names is None for names in picked.values())
        parts = ((tests, "test"), (modules, "module"))
        counts = " and ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in parts if number)
        return (*self.notes, f"Only what failed last time runs: {counts}")

    def of_all(self, options: RunOptions, application: Application) -> Choice:
        """The same choice for a run in which no failed test is known: it selects by names and tags only."""
        from runner.planning.picks import Picks

        tags = Picks(application.root, options.tags, None) if options.tags else None
        flags = options.replace(last_failed=False).selecting
        note = f"No failure is known of what {flags} selects: all of it runs" if flags else _NOTHING
        return self.replace(picks=tags, notes=(note, *self.notes))


def choice_of(
    options: RunOptions,
    environment: Environment,
    application: Application,
    named: Callable[[str], bool] | None = None,
) -> Choice:
    """The choice that the flags make; `named` says which tests of modules `--run` selects. Raises
    ConfigurationError."""
    root = application.root
    failed: Mapping[str, list[str]] = {}
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    saved = _resumed(options, environment)
    if options.last_failed or options.failed_first:
        from runner.planning.last_failed import Failures, known_failures

        known = Failures(tests=saved) if saved is not None else known_failures(options, environment, application)
        failed = known.tests
        warnings = (known.problem,) if known.problem is not None else ()
        if not failed and not (options.watch and options.failed_first):
            notes = (_NOTHING if known.is_known else _NOT_IN_CI,)
    order = None
    if options.shuffle is not None:
        order = Order(root=root, seed=options.shuffle, failed={})
        notes = (*notes, f"Order: shuffled, and the same with --shuffle={options.shuffle}")
    elif options.failed_first and failed:
        order = Order(root=root, seed=None, failed=failed)
    picks = None
    if options.tags or (options.last_failed and failed):
        from runner.planning.picks import Picks

        known_to_fail = failed if options.last_failed and failed else None
        picks = Picks(root, options.tags, known_to_fail, named=named, resumes=saved is not None)
    return Choice(picks=picks, order=order, notes=notes, warnings=warnings)


def _resumed(options: RunOptions, environment: Environment) -> Mapping[str, list[str]] | None:
    """Suite key → its tests, as `--last-failed` of the run that is resumed selected them; empty: it selected all. None
    when no such run is resumed."""
    if options.resume is None or not options.last_failed:
        return None
    from runner.options.options import absolute
    from runner.planning.saved_run import read_saved

    saved = read_saved(absolute(options.resume, environment.directory))
    return saved.start["resume"].get("failed", {}) if saved.start else None
