"""Applies `--run`, `--fuzz` or `--bench` to tests and subtests, and makes the error if nothing matches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain

from runner.errors import ConfigurationError
from runner.filters import Filter
from scripttest import Broken, Ended, HostError, HostRecord, Listed, Outcome, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHOWN = 5
"""At most this many existing names are shown."""
KEPT = 1000
"""At most this many names are kept, and looked at for those that may be meant."""

_MATCHED = {
    "--run": ("test and no case", "tests and cases"),
    "--fuzz": ("Fuzz function", "Fuzz functions"),
    "--bench": ("Benchmark function", "Benchmark functions"),
}
"""What the pattern of a flag matches: behind "no", and in the plural."""


class Selection:
    """Selects tests and subtests by a pattern, and remembers whether any matched."""

    def __init__(self, text: str, flags: str, flag: str = "--run") -> None:
        """Raises ConfigurationError when a pattern is invalid.

        Args:
            text: the patterns.
            flags: all flags that leave tests out, as they are written.
            flag: the flag that has the patterns: `--run`, `--fuzz` or `--bench`.
        """
        self._flags = flags
        self._flag = flag
        self._filter = Filter(text, flag)
        self._reached: set[tuple[str, str]] = set()
        """Module and name of each test of which a subtest ran that matches the whole pattern."""
        self._offered: dict[str, None] = {}
        """Names of subtests that were met."""

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
        """The outcome of a test. A test that passed becomes skipped when it ran only for subtests that it does not
        have."""
        missed = self._only_partly(outcome.name) and (module, outcome.name) not in self._reached
        if missed and outcome.status == Status.PASSED:
            return outcome.replace(status=Status.SKIPPED, skip_reason=f"no subtest matches {self._flags}")
        return outcome

    def begun(
        self,
        records: Iterator[HostRecord],
        done: Mapping[str, Collection[str]],
        cases: Iterable[str],
        stopped: Callable[[], bool],
    ) -> Iterator[HostRecord]:
        """Reads the records of a host until it is certain that the filter matches something. Raises ConfigurationError
        when it is certain that it does not.

        Args:
            records: records of running modules.
            done: module → tests that have results of an earlier run.
            cases: ids of the cases of the run; the filter matches none of them.
            stopped: whether the run shall end, so that nothing is certain.
        """
        read: list[HostRecord] = []
        while True:
            try:
                record = next(records)
            except StopIteration:
                break
            except HostError as error:
                return chain(read, _Broken(error))
            read.append(record)
            if isinstance(record, Listed):
                whole = not all(map(self._only_partly, record.tests))
                certain = whole or bool(done.get(record.module))
            else:  # a test that fails before its subtests says so itself
                failed = isinstance(record, Ended) and record.outcome.status == Status.FAILED
                certain = isinstance(record, Broken) or failed or bool(self._reached)
            if certain:
                return chain(read, records)
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


class _Broken:
    """A stream of records that ended with an error."""

    def __init__(self, error: HostError) -> None:
        self._error = error

    def __iter__(self) -> _Broken:
        return self

    def __next__(self) -> HostRecord:
        raise self._error


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
