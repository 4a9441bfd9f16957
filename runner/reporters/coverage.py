"""Reports of coverage: `lcov.info`, `cobertura.xml` and `coverage-final.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from posixpath import basename, dirname
from xml.sax.saxutils import quoteattr

from runner.errors import ConfigurationError
from runner.record.coverage import Figure, figures, lines, totals
from runner.record.report import Report
from scripttest.typing_names import Record

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
"""


def lcov(report: Report) -> str:
    """The tracefile of lcov, for genhtml, editors and services: a record for each file. Raises ConfigurationError."""
    files = _covered(report, "lcov.info")
    return "".join(line for path, file in files.items() for line in _lines_of(path, file))


def istanbul(report: Report) -> str:
    """Istanbul's own format, for `nyc report`, an object with a member for each file; paths are absolute if the
    application is on this machine. Raises ConfigurationError."""
    named = {path: {**file, "path": path} for path, file in _covered(report, "coverage-final.json").items()}
    return json.dumps(named, ensure_ascii=False, indent=1) + "\n"


def cobertura(report: Report) -> str:
    """Cobertura's document, which GitLab, Azure and Jenkins show in merge requests: a package is a folder, a class is a
    file. Raises ConfigurationError."""
    files = _covered(report, "cobertura.xml")
    whole = totals(files.values())
    ended = report.end.completed_at or report.start.started_at
    stamp = int(datetime.fromisoformat(ended).timestamp() * 1000)
    figures = {
        "lines-valid": whole["lines"].total,
        "lines-covered": whole["lines"].covered,
        "line-rate": _rate(whole["lines"]),
        "branches-valid": whole["branches"].total,
        "branches-covered": whole["branches"].covered,
        "branch-rate": _rate(whole["branches"]),
        "timestamp": stamp,
        "complexity": 0,
        "version": report.start.version,
    }
    packages: dict[str, dict[str, Record]] = {}
    for path, file in files.items():
        packages.setdefault(dirname(path), {})[path] = file
    body = "".join(_package(folder, inside) for folder, inside in packages.items())
    sources = "<sources><source>.</source></sources>"
    return f"{_HEAD}<coverage{_attributes(figures)}>\n{sources}\n<packages>\n{body}</packages>\n</coverage>\n"


def _covered(report: Report, name: str) -> Mapping[str, Record]:
    """The coverage of each file, by its path from the application's root; `name`: of the file that is written."""
    found = report.end.coverage
    if found is None:
        raise ConfigurationError(f"Cannot write {name}: the report has no coverage", "Run the tests with --coverage")
    return found.files


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


def _package(folder: str, files: dict[str, Record]) -> str:
    figures = {"name": folder.replace("/", "."), **_rates(files.values())}
    classes = "".join(_class(path, file) for path, file in files.items())
    return f"<package{_attributes(figures)}>\n<classes>\n{classes}</classes>\n</package>\n"


def _class(path: str, file: Record) -> str:
    methods = ""
    for key, function in file["fnMap"].items():
        count = file["f"][key]
        hit = {"line-rate": int(count > 0), "branch-rate": int(count > 0), "complexity": 0}
        attributes = _attributes({"name": function["name"], "signature": "()V", **hit})
        line = _line(function["decl"]["start"]["line"], count, [])
        methods += f"<method{attributes}><lines>{line}</lines></method>\n"
    arms: dict[int, list[int]] = {}
    for key, counts in file["b"].items():
        arms.setdefault(file["branchMap"][key]["loc"]["start"]["line"], []).extend(counts)
    found = lines(file)
    numbers = sorted(found.keys() | arms.keys())
    rows = "".join(
        f"{_line(number, found.get(number, max(arms.get(number, [0]))), arms.get(number, []))}\n" for number in numbers
    )
    about = {"name": basename(path), "filename": path, **_rates([file])}
    return f"<class{_attributes(about)}>\n<methods>\n{methods}</methods>\n<lines>\n{rows}</lines>\n</class>\n"


def _line(number: int, count: int, arms: list[int]) -> str:
    figures: Record = {"number": number, "hits": count, "branch": "false"}
    if arms:
        figure = Figure(covered=sum(1 for arm in arms if arm), total=len(arms))
        share = f"{int(figure.percent)}% ({figure.covered}/{figure.total})"
        figures |= {"branch": "true", "condition-coverage": share}
    return f"<line{_attributes(figures)}/>"


def _rates(files: Iterable[Record]) -> Record:
    found = totals(files)
    return {"line-rate": _rate(found["lines"]), "branch-rate": _rate(found["branches"]), "complexity": 0}


def _rate(figure: Figure) -> str:
    return f"{figure.percent / 100:.4f}".rstrip("0").rstrip(".")


def _attributes(figures: Record) -> str:
    return "".join(f" {name}={quoteattr(str(value))}" for name, value in figures.items())
