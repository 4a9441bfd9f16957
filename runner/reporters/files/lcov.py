"""`lcov.info`: the tracefile of lcov, for genhtml, editors and services."""

from __future__ import annotations

from runner.reporters.files.covered import coverage_of
from runner.reporters.files.document import DocumentReporter
from runner.results.coverage import figures, lines
from runner.results.report import Report
from scripttest.typing_names import Record


class LcovReporter(DocumentReporter):
    """Writes the coverage of a run; paths are from the application's root."""

    def keep(self, record: Record) -> None:
        """Nothing of a result."""

    def render(self, report: Report) -> str:
        """The document."""
        files = coverage_of(report, "lcov.info").files
        return "".join(line for path, file in files.items() for line in _lines_of(path, file))


def _lines_of(path: str, file: Record) -> list[str]:
    found = figures(file)
    names = _names(file)
    written = ["TN:", f"SF:{path}"]
    written += [f"FN:{file['fnMap'][key]['decl']['start']['line']},{name}" for key, name in names.items()]
    written += [f"FNF:{found['functions'].total}", f"FNH:{found['functions'].covered}"]
    written += [f"FNDA:{file['f'][key]},{name}" for key, name in names.items()]
    written += [f"DA:{line},{count}" for line, count in lines(file).items()]
    written += [f"LF:{found['lines'].total}", f"LH:{found['lines'].covered}"]
    for key, arms in file["b"].items():
        line = file["branchMap"][key]["loc"]["start"]["line"]
        written += [f"BRDA:{line},{key},{arm},{count}" for arm, count in enumerate(arms)]
    written += [f"BRF:{found['branches'].total}", f"BRH:{found['branches'].covered}", "end_of_record"]
    return [f"{line}\n" for line in written]


def _names(file: Record) -> dict[str, str]:
    """Key of each function → its name, with the line, and the key, behind a name that has been there before: the format
    knows functions by their names."""
    names: dict[str, str] = {}
    for key, function in file["fnMap"].items():
        name = " ".join(function["name"].split()) or "(anonymous)"
        if name in names.values():
            name = f"{name}:{function['decl']['start']['line']}"
        names[key] = name if name not in names.values() else f"{name}:{key}"
    return names
