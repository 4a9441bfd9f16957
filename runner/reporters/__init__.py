"""Reporters: consumers of the event stream. A new one is a module here and a line in this table."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from runner.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from runner.reporters.base import FileReporter

    Maker = Callable[[], FileReporter]
    """Opens the file and makes its reporter. Raises ConfigurationError when the file cannot be written."""

FILE_REPORTERS = {
    ".ctrf.json": "files.ctrf:CtrfReporter",
    ".html": "html.report:HtmlReporter",
    ".json": "files.json_report:JsonReporter",
    ".jsonl": "files.jsonl:JsonlReporter",
    ".md": "files.markdown:MarkdownReporter",
    ".txt": "files.summary:SummaryReporter",
    ".xml": "files.junit:JunitReporter",
}
"""Extension of `-o` → module and class, made with the path; the first that fits decides."""
COVERAGE_REPORTERS = {
    "cobertura.xml": "files.cobertura:CoberturaReporter",
    "coverage-final.json": "files.istanbul:IstanbulReporter",
    "lcov.info": "files.lcov:LcovReporter",
}
"""The same for what only a run with `--coverage` has; these come before the others."""


BUILT_IN = {
    "report.ctrf": "files.ctrf:CtrfReporter",
    "report.html": "html.report:HtmlReporter",
    "report.json": "files.json_report:JsonReporter",
    "report.junit": "files.junit:JunitReporter",
    "report.markdown": "files.markdown:MarkdownReporter",
    "report.summary": "files.summary:SummaryReporter",
}
"""Id of `-r` → module and class, made with the path of `-o`, whatever its extension, or with a stream."""


def maker_for_file(path: Path) -> Maker:
    """The reporter for a file, by its extension. Raises ConfigurationError when that is unknown."""
    reporters = {**COVERAGE_REPORTERS, **FILE_REPORTERS}
    entry = next((entry for end, entry in reporters.items() if path.name.lower().endswith(end)), None)
    if entry is None:
        hint = did_you_mean(path.suffix, FILE_REPORTERS) or f"The extensions are {', '.join(FILE_REPORTERS)}"
        raise ConfigurationError(f'Cannot write a report to {path}: no format for the extension "{path.suffix}"', hint)
    return lambda: _make(entry, path)


def is_of_coverage(path: Path) -> bool:
    """Whether a report has only coverage."""
    return path.name.lower().endswith(tuple(COVERAGE_REPORTERS))


def maker_by_id(id: str, target: Path | TextIO) -> Maker:
    """A built-in reporter that writes to a file or a stream. Raises ConfigurationError when there is none of that
    name."""
    entry = BUILT_IN.get(id)
    if entry is None:
        hint = did_you_mean(id, BUILT_IN) or f"The built-in ones are {', '.join(BUILT_IN)}"
        raise ConfigurationError(f'Cannot use --reporter "{id}": there is no such reporter', hint)
    return lambda: _make(entry, target)


def check_writable(path: Path) -> None:
    """Makes the folder of a report. Raises ConfigurationError when the report cannot be written."""
    folder = Path(os.path.realpath(path)).parent
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"Cannot write a report to {path}: {folder} is not a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_fifo():  # its reader takes the first end for the last one
            return
        with open(path, "a", encoding="utf-8"):
            pass
    except OSError as error:
        raise ConfigurationError(f"Cannot write a report to {path}: {error.strerror}") from error


def _make(entry: str, target: Path | TextIO) -> FileReporter:
    if isinstance(target, Path):
        check_writable(target)
    module, _, name = entry.partition(":")
    make: Callable[[Path | TextIO], FileReporter] = getattr(import_module(f"runner.reporters.{module}"), name)
    return make(target)
