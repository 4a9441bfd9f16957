"""The flags that select tests, and that order them: `--run`, `--fuzz` and `--bench` by name, `--tag` and
`--last-failed` before any module is loaded, `--shuffle` and `--failed-first`. Reports list tests in their usual order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from runner.errors import ConfigurationError
from runner.filters import Filter
from runner.planning.last_failed import Failures, known_failures, suite_key
from runner.planning.names import tags_in
from runner.security.files import read_text
from scripttest import Broken, Ended, HostError, HostRecord, Listed, Outcome, Status, kind_of
from scripttest.typing_names import TypeVar
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.application.application import Application, TestModule
    from runner.cases.model import Case
    from runner.cases.reader import Chosen
    from runner.environment import Environment
    from runner.options.options import RunOptions


SHOWN = 5
"""At most this many existing names are shown."""
KEPT = 1000
"""At most this many names are kept, and looked at for those that may be meant."""

_MATCHED = {
    "--run": ("test or case", "tests and cases"),
    "--fuzz": ("Fuzz function", "Fuzz functions"),
    "--bench": ("Benchmark function", "Benchmark functions"),
}
"""What the pattern of a flag matches: behind "no", and in the plural."""
_NOTHING = "No known failures: running all tests"
_NOT_IN_CI = "CI has no earlier runs without a store: running all tests"
T = TypeVar("T")


class Selection:
    """Selects tests and subtests by a pattern, and remembers whether any matched."""

    def __init__(self, text: str, flags: str, flag: str = "--run") -> None:
        """Raises ConfigurationError for an invalid pattern. `flags`: all flags that leave tests out, as they are
        written. `flag`: the one that has the pattern: `--run`, `--fuzz` or `--bench`."""
        self._flags, self._flag = flags, flag
        self._filter = Filter(text, flag)
        self._reached: set[tuple[str, str]] = set()
        """Module and name of each test of which a subtest ran that matches the whole pattern."""
        self._offered: dict[str, None] = {}
        """Names of subtests that were met."""

    @property
    def names_subtests(self) -> bool:
        """Whether it selects among subtests."""
        return self._filter.names_subtests

    def test(self, name: str) -> bool:
        """Whether a test runs."""
        return self._filter.match(name) is not None

    def subtest(self, module: str, arguments: list[Any]) -> bool:
        """Whether a subtest runs; its full name is the only argument. Answers a host call of scripts."""
        name = str(arguments[0])
        match = self._filter.match(name)
        if match is not None and not match.partly:
            self._reached.add((module, name.partition("/")[0]))
        elif len(self._offered) < KEPT:
            self._offered[name] = None
        return match is not None

    def checked(self, module: str, outcome: Outcome) -> Outcome:
        """The outcome of a test, as skipped when it passed and ran only for subtests that it does not have."""
        missed = self._only_partly(outcome.name) and (module, outcome.name) not in self._reached
        if missed and outcome.status == Status.PASSED:
            return outcome.replace(status=Status.SKIPPED, skip_reason=f"no subtest matches {self._flags}")
        return outcome

    def begun(
        self,
        records: Iterator[HostRecord],
        done: Callable[[str], Collection[str]],
        cases: Iterable[str],
        stopped: Callable[[], bool],
    ) -> Iterator[HostRecord]:
        """Reads the records of a host until it is certain that the filter matches something. Raises ConfigurationError
        when it is certain that it does not.

        Args:
            records: of running modules.
            done: the tests of a module that have results of an earlier run.
            cases: ids of the cases of the run; the filter matches none of them.
            stopped: whether the run shall end, so that nothing is certain."""
        read: list[HostRecord] = []
        try:
            for record in records:
                read.append(record)
                if isinstance(record, Listed):
                    certain = not all(map(self._only_partly, record.tests)) or bool(done(record.module))
                else:  # a test that fails before its subtests says so itself
                    failed = isinstance(record, Ended) and record.outcome.status == Status.FAILED
                    certain = isinstance(record, Broken) or failed or bool(self._reached)
                if certain:
                    return chain(read, records)
        except HostError as error:
            return chain(read, _raising(error))
        if stopped():
            return iter(read)
        listed = [record for record in read if isinstance(record, Listed)]
        if any(record.tests for record in listed):
            subtests = hint_of(self._filter.text, self._offered, "subtests")
            raise ConfigurationError(f"No subtest matches {self._flags}", subtests)
        raise self.nothing(chain(_known(listed), cases))

    def may_match(self, records: Iterator[HostRecord], cases: Iterable[str]) -> set[str]:
        """Reads what a host lists until the filter matches something. Where it may match subtests alone, the modules
        that may have them; else none. `cases` as above. Raises ConfigurationError when it matches nothing."""
        listed: list[Listed] = []
        for record in records:
            if not isinstance(record, Listed) or not all(map(self._only_partly, record.tests)):
                return set()
            listed.append(record)
        modules = {record.module for record in listed if record.tests}
        if not modules:
            raise self.nothing(chain(_known(listed), cases))
        return modules

    def _only_partly(self, name: str) -> bool:
        match = self._filter.match(name)
        return match is not None and match.partly

    def nothing(self, names: Iterable[str]) -> ConfigurationError:
        """The error for a run in which no test and no case matches; `names` are those that exist."""
        one, all_of_them = _MATCHED[self._flag]
        return ConfigurationError(f"No {one} matches {self._flags}", hint_of(self._filter.text, names, all_of_them))


def _known(listed: list[Listed]) -> Iterator[str]:
    """The names of tests in the order of their modules, which are listed in any order."""
    return (name for record in sorted(listed, key=lambda record: record.module) for name in record.known)


def _raising(error: HostError) -> Iterator[HostRecord]:
    yield from ()
    raise error


def hint_of(text: str, names: Iterable[str], kind: str) -> str:
    """The nearest names and some others that exist; all names when there are few."""
    from difflib import get_close_matches
    from itertools import islice

    left = iter(names)
    known = list(islice(left, KEPT))
    if not known:
        return f"There are no {kind}"
    more = len(known) + sum(1 for _ in left) - SHOWN
    plain = {name.lower(): name for name in known}
    wanted = "".join(letter for letter in text.lower() if letter not in "^$\\()[]")
    near = [name for name in plain if wanted in name] or get_close_matches(wanted, plain, n=3, cutoff=0.5)
    ends = {name.rpartition("/")[2]: name for name in plain}
    near = near or [ends[end] for end in get_close_matches(wanted.rpartition("/")[2], ends, n=3, cutoff=0.5)]
    shown = ", ".join(known[:SHOWN]) + (f" and {more} more" if more > 0 else "")
    meant = f"Did you mean {' or '.join(plain[name] for name in near[:3])}? " if near else ""
    return f"{meant}There are: {shown}"


class Order(Value):
    """The order of one run, in which a part of the tests runs as they do in the whole."""

    root: Path
    """The root of the application."""
    seed: int | None
    """The seed of the random order; None: failed tests come first."""
    failed: Mapping[str, Sequence[str]]
    """Suite key → its tests that failed."""

    def suites(self, items: Sequence[T], id_of: Callable[[T], str]) -> list[T]:
        """Sorts suites into the order in which they run."""
        keys = [suite_key(id_of(item), self.root) for item in items]
        return [items[place] for place in self._sorted(keys, [key in self.failed for key in keys])]

    def tests(self, suite: str, names: Sequence[str]) -> list[int]:
        """Positions of the tests of a suite, in the order in which they run."""
        key = suite_key(suite, self.root)
        failed = frozenset(self.failed.get(key, ()))
        return self._sorted([f"{key}\0{name}" for name in names], [name in failed for name in names])

    def _sorted(self, keys: Sequence[str], are_first: Sequence[bool]) -> list[int]:
        from hashlib import blake2b

        def number(place: int) -> bytes:
            return blake2b(f"{self.seed}\0{keys[place]}".encode("utf-8", "surrogatepass"), digest_size=8).digest()

        places = range(len(keys))
        return (
            sorted(places, key=lambda place: not are_first[place]) if self.seed is None else sorted(places, key=number)
        )


class Choice:
    """Which tests and cases of a run are selected by tags and earlier failures, and in which order they run."""

    def __init__(
        self,
        options: RunOptions,
        environment: Environment,
        application: Application,
        named: Callable[[str], bool] | None,
        saved: Mapping[str, list[str]] | None,
    ) -> None:
        """Raises ConfigurationError.

        Args:
            named: whether `--run` selects a test of a module; None: it selects all.
            saved: suite key → its tests that `--last-failed` selected in the run that is resumed; empty: all. None:
                there is no such run. Suites stay in a run when none of these tests is there any more."""
        self._root, self._named, self._resumes = application.root, named, saved is not None
        self._tags = frozenset(options.tags)
        self._seen: set[str] = set()
        """All tags that were met."""
        self.tag_warnings: list[str] = []
        """Of the tests that were looked at."""
        self.order: Order | None = None
        """The order; None: that of the files."""
        known = Failures()
        notes: tuple[str, ...] = ()
        if options.last_failed or options.failed_first:
            known = Failures(tests=saved) if saved is not None else known_failures(options, environment, application)
            if not known.tests and not (options.watch and options.failed_first):
                notes = (_NOTHING if known.is_known else _NOT_IN_CI,)
        if options.shuffle is not None:
            self.order = Order(root=self._root, seed=options.shuffle, failed={})
            notes = (*notes, f"Order: shuffled; to repeat it: --shuffle={options.shuffle}")
        elif options.failed_first and known.tests:
            self.order = Order(root=self._root, seed=None, failed=known.tests)
        self._notes, self.problem = notes, known.problem
        self._failed = known.tests if options.last_failed and known.tests else None
        """Key of a suite → its tests that failed, which are selected; None: all are."""

    @property
    def selects(self) -> bool:
        """Whether only some of the tests are selected."""
        return bool(self._tags) or self.by_failure

    def select_all(self, options: RunOptions) -> None:
        """Selects by names and tags only, since no failed test is there."""
        self._failed, self.tag_warnings = None, []
        flags = options.replace(last_failed=False).selecting
        note = f"No known failures with {flags}: running all of its tests" if flags else _NOTHING
        self._notes = (note, *self._notes)

    def notes(self, picked: Mapping[str, Collection[str] | None], cases: int) -> tuple[str, ...]:
        """The notes of a run of these tests of modules (None: all tests of the module) and so many cases."""
        if not self.by_failure:
            return self._notes
        tests = cases + sum(len(names) for names in picked.values() if names is not None)
        modules = sum(names is None for names in picked.values())
        parts = [f"{tests} test{'s' * (tests != 1)}"] * (tests > 0 or not modules)
        parts += [f"{modules} module{'s' * (modules != 1)}"] * (modules > 0)
        return (*self._notes, f"Running only tests that failed last time: {' and '.join(parts)}")

    @property
    def by_failure(self) -> bool:
        """Whether only tests that failed are selected."""
        return self._failed is not None

    def _failed_in(self, suite: str) -> Sequence[str]:
        return (self._failed or {}).get(suite_key(suite, self._root), ())

    def failed_of(self, suites: Iterable[str]) -> dict[str, list[str]]:
        """Key → the tests that failed, for those of these suites that have some."""
        return {suite_key(id, self._root): [*names] for id in suites if (names := self._failed_in(id))}

    def keeps(self, suite: str) -> bool:
        """Whether a suite stays in the run although none of its tests is selected."""
        return self._resumes and bool(self._failed_in(suite))

    def modules(self, modules: Sequence[TestModule]) -> dict[str, frozenset[str] | None]:
        """Module → its selected tests, None for all; modules without selected tests are left out."""
        found = {module.id: self._of_module(module) for module in modules}
        return {id: names for id, names in found.items() if names is None or names or self.keeps(id)}

    def chosen(self, suite: str) -> Chosen:
        """Returns the function that says whether a case of this suite is selected."""
        failed = frozenset(self._failed_in(suite))

        def is_picked(case: Case) -> bool:
            self._seen.update(case.tags)
            is_wanted = not self.by_failure or case.id in failed
            return is_wanted and (not self._tags or not self._tags.isdisjoint(case.tags))

        return is_picked

    def nothing(self) -> ConfigurationError:
        """The error for a run in which no test has one of the tags."""
        tags = sorted(self._tags)
        what = f"one of the tags {', '.join(tags)}" if len(tags) > 1 else f"the tag {tags[0]}"
        return ConfigurationError(f"No test or case has {what}", hint_of(tags[0], sorted(self._seen), "tags"))

    def _of_module(self, module: TestModule) -> frozenset[str] | None:
        failed = self._failed_in(module.id)
        if self.by_failure and not failed:
            return frozenset()
        try:
            source = read_text(module.test, "replace")
        except OSError:  # said when the module is compiled
            return None
        names = None
        if failed and all(map(kind_of, failed)):
            names = frozenset(name for name in failed if re.search(rf"\b{re.escape(name)}\b", source))
            if self._named is not None:
                names = frozenset(filter(self._named, names))
        if not self._tags:
            return names
        tags = tags_in(source)
        self._seen.update(*tags.of.values())
        self.tag_warnings += [
            f"{module.label}:{line}: @tag {text} is not above a test and has no effect" for line, text in tags.stray
        ]
        tagged = frozenset(name for name, of in tags.of.items() if not self._tags.isdisjoint(of))
        return tagged if names is None else tagged & names
