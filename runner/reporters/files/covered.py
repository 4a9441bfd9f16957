"""What the report formats for coverage share."""

from __future__ import annotations

from runner.errors import ConfigurationError
from runner.results.coverage import CoverageReport, coverage_in
from runner.results.report import Report


def coverage_of(report: Report, format: str) -> CoverageReport:
    """The coverage in a report. Raises ConfigurationError when it has none."""
    found = coverage_in(report.summary)
    if found is None:
        raise ConfigurationError(f"Cannot write {format}: the report has no coverage", "Run the tests with --coverage")
    return found
