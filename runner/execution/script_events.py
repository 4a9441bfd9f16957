"""Turns what the script host reports about script tests into events."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from runner.execution.passes import Passes
from runner.execution.repetition import Repetition
from runner.results.events import Event, SuiteEnd, SuiteStart, TestStart
from runner.results.model import TestResult
from runner.results.test_place import TestPlace
from scripttest import (
    Broken,
    Ended,
    Failure,
    HostRecord,
    Line,
    Listed,
    LogLine,
    Outcome,
    Started,
    Status,
    TestKey,
)
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings import RunSnapshots, World, Worlds
    from runner.planning.selection import Selection

_NO_PLACE = -1
"""Position of the placeholder for a module that cannot be loaded, until it is sent; no test has it."""
LOG_LINES = 1 << 17
"""At most this many captured lines of one test are kept."""


class _Test(Value):
    """A test that runs again."""

    module: str
    name: str | None
    """None: its module could not be loaded."""


class ScriptEvents:
    """Makes events of the records that the host reports, and says which tests run again because they broke."""

    def __init__(
        self,
        *,
        send: Callable[[Event], None],
        repetition: Repetition,
        retained: Mapping[str, Collection[int]],
        selection: Selection | None,
        fingerprint: Callable[[TestKey], Mapping[str, Any]] | None,
        passes: Passes[_Test],
        worlds: Worlds,
        snapshots: RunSnapshots,
        calls: Callable[[World], dict[str, Any] | None] | None,
    ) -> None:
        """Sends nothing yet.

        Args:
            retained: module → positions of the tests that have results of an earlier run.
            selection: what `--run` selects.
            fingerprint: what a run of a test was made of; None when no report needs it.
            passes: run broken tests again.
            worlds: the worlds of the tests; each ends with its test.
            snapshots: take the inline snapshots of tests.
            calls: the calls of agents that a test has made; None if they are not needed.
        """
        self._calls = calls
        self._snapshots = snapshots
        self._passes = passes
        self._again: dict[str, set[TestPlace]] = {}
        """Module → its tests, or runs of them, that run again in this pass."""
        self._all_places: dict[str, dict[str, int]] = {}
        """Module → position in the suite of each test by its name."""
        self._send = send
        self._worlds = worlds
        self._repetition = repetition
        self._retained = retained
        self._selection = selection
        self._fingerprint = fingerprint
        self._places: dict[str, list[int]] = {}
        """Module → position in the suite of each test that runs."""
        self._logs: dict[TestPlace, list[LogLine]] = {}
        self._left: dict[str, int] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self.known: set[str] = set()
        """Modules whose tests were sent."""

    def take(self, record: HostRecord) -> None:
        """Sends the events for a record."""
        module = record.module
        send = self._send
        if isinstance(record, Started):
            place = self._place(record)
            if record.again:
                self._logs.pop(place, None)
            elif not self._passes.is_again(place) and not self._is_over(place):
                name = self._names[module][record.position]
                send(TestStart(suite=module, name=name, position=place.position, run=place.run))
        elif isinstance(record, Line):
            lines = self._logs.setdefault(self._place(record), [])
            if len(lines) < LOG_LINES:
                lines.append(record.line)
        elif isinstance(record, Ended):
            place = self._place(record)
            captured = tuple(self._logs.pop(place, ()))
            outcome = record.outcome
            if outcome.inlined:
                from runner.execution.snapshots import with_inlined

                outcome = with_inlined(module, outcome, self._snapshots.inline())
            if self._selection is not None:
                outcome = self._selection.checked(module, outcome)
            key = TestKey(suite=module, test=outcome.name, run=record.run)
            fingerprint = self._fingerprint(key) if self._fingerprint is not None else None
            result = TestResult(
                suite=module,
                name=outcome.name,
                position=place.position,
                outcome=outcome,
                logs=captured,
                run=place.run,
                fingerprint=fingerprint,
            )
            if self._calls is not None and (asked := self._worlds.known(key)) is not None:
                result = result.replace(calls=self._calls(asked))
            world = self._worlds.end(key)
            if world is not None or outcome.mocked:
                from runner.execution.outside import with_outside

                result = with_outside(result, world)
            if self._is_over(place):
                return
            if self._passes.holds(result):
                self._passes.hold(_Test(module=module, name=outcome.name), result)
                return
            self._ended(self._passes.told(result))
        elif isinstance(record, Listed) and module in self.known:
            self._names[module] = record.tests
            self._places[module] = [self._all_places[module][name] for name in record.tests]
        elif isinstance(record, Listed):
            self.known.add(module)
            self._names[module] = record.tests
            self._left[module] = len(record.tests)
            retained = self._retained.get(module, ())
            selected = len(record.tests) + len(retained)
            self._places[module] = [place for place in range(selected) if place not in retained]
            self._all_places[module] = dict(zip(record.tests, self._places[module], strict=True))
            send(SuiteStart(suite=module, selected=selected, total=len(record.known), tests=record.tests))
            if not record.tests:
                send(SuiteEnd(suite=module))
        else:
            self._broken(record)

    def next_pass(self) -> dict[str, set[str] | None] | None:
        """Waits for the next pass and begins it: module → its tests that run again, None for all of them. None: there
        is no further pass. Blocks."""
        if self._passes.goes_on():
            for pause in self._passes.pauses():
                time.sleep(pause)
        if not self._passes.goes_on():
            return None
        held = self._passes.begin()
        tests: dict[str, set[str] | None] = {}
        for test in (one.item for one in held):
            known = tests.setdefault(test.module, set() if test.name is not None else None)
            if known is not None and test.name is not None:
                known.add(test.name)
        self._again = {module: set() for module, names in tests.items() if names is not None}
        for one in held:
            if one.item.name is not None:
                self._again[one.item.module].add(one.result.place)
        return tests

    def give_up_held(self) -> None:
        """Sends the results of tests that were held back for another pass, which will not come."""
        for held in self._passes.take():
            if held.item.name is None:
                self._send_broken(held.result)
            else:
                self._ended(self._passes.told(held.result))

    def _is_over(self, place: TestPlace) -> bool:
        """Whether one run of a test already has its result, while the test runs again because another of its
        runs broke."""
        return place.suite in self._again and place not in self._again[place.suite]

    def _ended(self, result: TestResult) -> None:
        if self._repetition.end(result) is not None:
            self._left[result.suite] -= 1
            if not self._left[result.suite]:
                self._send(SuiteEnd(suite=result.suite))

    def _place(self, record: Started | Line | Ended) -> TestPlace:
        """Where the test of a record stands in the run."""
        run = record.run if self._repetition.runs > 1 else 0
        return TestPlace(suite=record.module, position=self._places[record.module][record.position], run=run)

    def _broken(self, record: Broken) -> None:
        """Reports a module that cannot be loaded as one broken test with the name of the module."""
        name = record.module.rpartition(".")[2]
        outcome = Outcome(name=name, status=Status.FAILED, milliseconds=0, failures=(broken_failure(record),))
        result = TestResult(suite=record.module, name=name, position=_NO_PLACE, outcome=outcome)
        if self._passes.holds(result):
            self._passes.hold(_Test(module=record.module, name=None), result)
        else:
            self._send_broken(self._passes.told(result))

    def _send_broken(self, result: TestResult) -> None:
        module = result.suite
        self.known.add(module)
        self._send(SuiteStart(suite=module, selected=1, total=1, tests=(result.name,)))
        self._send(TestStart(suite=module, name=result.name, position=0))
        self._repetition.end(result.replace(position=0))
        self._send(SuiteEnd(suite=module))


def broken_failure(record: Broken) -> Failure:
    """The failure of a module that cannot be loaded, with the compiler's messages."""
    lines = ["the module cannot be loaded: " + record.failure.message, *map(str, record.others[:20])]
    lines += [record.hint] if record.hint else []
    return record.failure.replace(message="\n".join(lines))
