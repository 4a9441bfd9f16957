"""Reporters: consumers of the event stream. A new one is a module here and a line in this table."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from runner.reporters.stream import FileReporter

    Maker = Callable[[], FileReporter]
    """Opens the file and makes its reporter. Raises ConfigurationError when the file cannot be written."""


class Format(Value):
    """A format of reports."""

    end: str
    """The end of the name of a file in this format, such as `.json`."""
    maker: str
    """Module and class, which is made with the path of `-o`, or with a stream."""
    id: str | None = None
    """Its name for `-r`, which does not depend on the name of the file."""
    of_coverage: bool = False
    """It has only what a run with `--coverage` measures."""


FORMATS = (
    Format(end="cobertura.xml", maker="coverage:CoberturaReporter", of_coverage=True),
    Format(end="coverage-final.json", maker="coverage:IstanbulReporter", of_coverage=True),
    Format(end="lcov.info", maker="coverage:LcovReporter", of_coverage=True),
    Format(end=".ctrf.json", maker="json_report:CtrfReporter", id="report.ctrf"),
    Format(end=".html", maker="html:HtmlReporter", id="report.html"),
    Format(end=".json", maker="json_report:JsonReporter", id="report.json"),
    Format(end=".jsonl", maker="document:JsonlReporter"),
    Format(end=".md", maker="markdown:MarkdownReporter", id="report.markdown"),
    Format(end=".txt", maker="markdown:SummaryReporter", id="report.summary"),
    Format(end=".xml", maker="junit:JunitReporter", id="report.junit"),
)
"""All formats. The first whose end a name has is that of the file."""
EXTENSIONS = tuple(one.end for one in FORMATS if not one.of_coverage)
BUILT_IN = {one.id: one for one in FORMATS if one.id is not None}
"""Id of `-r` → format."""


def maker_for_file(path: Path) -> Maker:
    """The reporter for a file, by its extension. Raises ConfigurationError when that is unknown."""
    format = _format_of(path)
    if format is None:
        hint = did_you_mean(path.suffix, EXTENSIONS) or f"The extensions are {', '.join(EXTENSIONS)}"
        raise ConfigurationError(f'Cannot write a report to {path}: unknown extension "{path.suffix}"', hint)
    return lambda: _make(format, path)


def is_of_coverage(path: Path) -> bool:
    """Whether a report has only coverage."""
    format = _format_of(path)
    return format is not None and format.of_coverage


def _format_of(path: Path) -> Format | None:
    return next((format for format in FORMATS if path.name.lower().endswith(format.end)), None)


def maker_by_id(id: str, target: Path | TextIO) -> Maker:
    """A built-in reporter that writes to a file or a stream. Raises ConfigurationError when there is none of that
    name."""
    format = BUILT_IN.get(id)
    if format is None:
        hint = did_you_mean(id, BUILT_IN) or f"The built-in reporters are {', '.join(BUILT_IN)}"
        raise ConfigurationError(f'Cannot use --reporter "{id}": there is no such reporter', hint)
    return lambda: _make(format, target)


def check_writable(path: Path) -> None:
    """Makes the folder of a report, and leaves nothing else behind: a report is whole, or not there. Raises
    ConfigurationError when the report cannot be written."""
    folder = Path(os.path.realpath(path)).parent
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"Cannot write a report to {path}: {folder} is not a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_fifo():  # its reader takes the first end for the last one
            return
        try:
            os.stat(path)
        except FileNotFoundError:
            trial = folder / f".yao-test.{os.getpid()}"
            trial.open("xb").close()
            trial.unlink()
        else:
            path.open("ab").close()
    except OSError as error:
        raise ConfigurationError(f"Cannot write a report to {path}: {error.strerror}") from error


def _make(format: Format, target: Path | TextIO) -> FileReporter:
    if isinstance(target, Path):
        check_writable(target)
    module, _, name = format.maker.partition(":")
    make: Callable[[Path | TextIO], FileReporter] = getattr(import_module(f"runner.reporters.{module}"), name)
    return make(target)
