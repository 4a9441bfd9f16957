"""`coverage-final.json`: Istanbul's own format, for `nyc report`."""

from __future__ import annotations

import json

from runner.reporters.files.covered import coverage_of
from runner.reporters.files.document import DocumentReporter
from runner.results.report import Report
from scripttest.typing_names import Record


class IstanbulReporter(DocumentReporter):
    """Writes the coverage of a run; paths are absolute if the application is on this machine."""

    def keep(self, record: Record) -> None:
        """Nothing of a result."""

    def render(self, report: Report) -> str:
        """The document."""
        files = coverage_of(report, "coverage-final.json").files
        named = {path: {**file, "path": path} for path, file in files.items()}
        return json.dumps(named, ensure_ascii=False, indent=1) + "\n"
