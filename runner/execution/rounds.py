"""`--until-decided`: runs each case once in each variant, compares the variants, and repeats that in rounds until they
differ clearly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from runner.errors import ConfigurationError
from runner.results.change_report import Verdict
from runner.results.model import TestResult
from runner.results.report import Report
from runner.results.result_json import result_line
from runner.results.suite_json import suite_record
from runner.results.variants import verdicts_on

if TYPE_CHECKING:
    from runner.planning.case_source import CaseSource
    from scripttest import Status


class Rounds:
    """The rounds of one run."""

    def __init__(
        self, planned: int, sources: Sequence[CaseSource], results: Callable[[], Iterable[TestResult]]
    ) -> None:
        """`results` returns the results of all runs that have ended."""
        self.planned = planned
        self.made = 0
        """How many rounds have begun."""
        self._sources = sources
        self._suites = {source.suite.id: source.suite for source in sources}
        self._results = results

    def begin(self) -> None:
        """Begins the first round, or the one that a resumed run had reached; none when the variants already differ
        clearly."""
        ended = [_ended(source.done.get(located.case.id, {})) for source in self._sources for located in source.cases()]
        known = [rounds for rounds in ended if rounds is not None]
        self.made = min([self.planned, *known])
        if not self.made or max(known) > self.made:  # there was a look after these rounds, which did not decide
            self.made = min(self.made + 1, self.planned)
        else:
            self.goes_on()

    def goes_on(self) -> bool:
        """Decides whether another round is needed, and counts it."""
        if self.made >= self.planned or self._is_decided():
            return False
        self.made += 1
        return True

    def _is_decided(self) -> bool:
        lines = [result_line(result, self._suites[result.suite]) for result in self._results()]
        report = Report(
            start={"timestamp": "", "suites": [suite_record(suite) for suite in self._suites.values()]},
            results=lines,
            errors=[],
            warnings=[],
            summary={"rounds": {"made": self.made, "planned": self.planned}},
        )
        try:
            verdicts = verdicts_on(report).verdicts
        except ConfigurationError:  # nothing has a verdict yet
            return False
        return all(found.verdict is not Verdict.CANNOT_TELL for found in verdicts)


def _ended(done: Mapping[int, Status]) -> int | None:
    """In how many rounds a case has a result; None: it has no runs, because it is skipped."""
    return None if 0 in done else next(number for number in count() if number + 1 not in done)
