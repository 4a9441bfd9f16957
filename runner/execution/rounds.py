"""`--until-decided`: rounds of one run of each case in each variant, with a look after each round."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from runner.errors import ConfigurationError
from runner.results.change_verdict import Verdict
from runner.results.model import Suite, TestResult
from runner.results.report import Report
from runner.results.result_json import result_line
from runner.results.suite_json import suite_record
from runner.results.variants import verdicts_on


class Rounds:
    """Of one run."""

    def __init__(self, planned: int, suites: Iterable[Suite], results: Callable[[], Iterable[TestResult]]) -> None:
        """`results` gives those of all runs that have ended."""
        self.planned = planned
        self.made = 1
        self._suites = {suite.id: suite for suite in suites}
        self._results = results

    def goes_on(self) -> bool:
        """Whether another round is needed; counts it."""
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
            _, _, verdicts = verdicts_on(report)
        except ConfigurationError:  # nothing has a verdict yet
            return False
        return all(found.verdict is not Verdict.CANNOT_TELL for found in verdicts)
