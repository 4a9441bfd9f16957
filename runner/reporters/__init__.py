"""Reporters: consumers of the event stream. A new one is a module here and a line in this table. The files of a run are
opened before it begins, so that a path that cannot be written is said then."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path

from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from runner.environment import Environment
    from runner.options.options import RunOptions
    from runner.record.writing import LineFile
    from runner.reporters.console.terminal import Progress
    from runner.reporters.document import DocumentReporter, JsonlReporter
    from runner.reporters.stream import Reporter

    FileReporter = DocumentReporter | JsonlReporter
    Maker = Callable[[], FileReporter]
    """Opens the file and makes its reporter. Raises ConfigurationError when the file cannot be written."""


class Format(Value):
    """A format of reports."""

    end: str
    """The end of the name of a file in this format, such as `.json`."""
    text: str
    """Module and function, which makes the text of a `Report`; empty for the format that is written line by line."""
    id: str | None = None
    """Its name for `-r`, which does not depend on the name of the file."""
    only_bad: bool = False
    """Whether it needs only the results that failed or have warnings."""
    unused: str = ""
    """Large members of a result, of which it says nothing."""

    @property
    def of_coverage(self) -> bool:
        """Whether it has only what a run with `--coverage` measures."""
        return self.text.startswith("coverage:")


FORMATS = (
    Format(end="cobertura.xml", text="coverage:cobertura", only_bad=True),
    Format(end="coverage-final.json", text="coverage:istanbul", only_bad=True),
    Format(end="lcov.info", text="coverage:lcov", only_bad=True),
    Format(
        end=".ctrf.json",
        text="json_report:ctrf_report",
        id="report.ctrf",
        unused="assertions transcript tools sent scores trials trace",
    ),
    Format(end=".html", text="html:page", id="report.html"),
    Format(end=".json", text="json_report:json_report", id="report.json"),
    Format(end=".jsonl", text=""),
    Format(end=".md", text="markdown:markdown", id="report.markdown"),
    Format(
        end=".txt",
        text="markdown:summary",
        id="report.summary",
        only_bad=True,
        unused="output transcript turns tools sent trace logs attempts runs regrade",
    ),
    Format(end=".xml", text="junit:junit", id="report.junit", unused="transcript tools sent metadata trials trace"),
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
    from runner.reporters.document import DocumentReporter, JsonlReporter

    if not format.text:
        assert isinstance(target, Path)
        return JsonlReporter(target)
    module, _, name = format.text.partition(":")
    found = import_module(f"runner.reporters.{module}")
    if module == "html":
        found.check()
    reporter = DocumentReporter(target, getattr(found, name), format.unused.split())
    reporter.only_bad = format.only_bad
    return reporter


class Console:
    """Where people read along: standard output, or standard error when a reporter without a file has the former."""

    def __init__(self, options: RunOptions, environment: Environment) -> None:
        self.options = options
        self.environment = environment
        self.is_error = bool(options.reporter and not options.outputs)
        self.write: Callable[[str], Any] = (environment.stderr if self.is_error else environment.stdout).write
        if options.json:
            self.write = lambda _: None
        self.progress: Progress | None = None
        """The live line, on a terminal."""
        if environment.terminal and not options.quiet and not options.json and not self.is_error:
            from runner.reporters.console.style import Style
            from runner.reporters.console.table import columns_of
            from runner.reporters.console.terminal import Progress

            style = Style(environment.colors and not options.no_color)
            self.progress = Progress(environment.stdout, style, partial(columns_of, environment))
            self.write = self.progress.write


def open_reporters(
    console: Console,
    case_folders: Iterable[Path],
    outputs: tuple[str, ...],
    resumed_report: LineFile | None,
    chosen: Callable[[str, Path | TextIO], Maker],
) -> list[Reporter]:
    """All reporters of a run; those on the console come first. Raises ConfigurationError.

    Args:
        case_folders: the folders of case files; without `-o` and `--no-writes`, a report is written into the first one.
        outputs: the paths of `-o`.
        resumed_report: the report of an earlier run that this run continues.
        chosen: returns the reporter of `--reporter` for a file or a stream."""
    from runner.options.options import report_path
    from runner.reporters.console.console import ConsoleReporter
    from runner.reporters.stream import Ordered

    options, environment = console.options, console.environment
    reporters: list[Reporter] = [console.progress] if console.progress else []
    reporters.append(Ordered(ConsoleReporter(options, environment, console.write), as_they_end=options.reorders))
    if options.variants:
        from runner.reporters.change_lines import OF_ANSWERS, variants_text
        from runner.reporters.console.style import Style
        from runner.reporters.console.table import columns_of
        from runner.reporters.document import Collector

        told = partial(
            variants_text,
            style=Style(environment.colors and not options.no_color),
            room=columns_of(environment),
            detailed=bool(options.verbose),
        )
        reporters.append(Collector(lambda report: console.write(told(report)), OF_ANSWERS))
    files: dict[str, Path] = {}
    for output in outputs:
        path = report_path(output, environment.directory)
        if is_of_coverage(path) and not options.coverage:
            raise ConfigurationError(f"Cannot write {output}: coverage is not measured", "Add --coverage")
        files.setdefault(os.path.realpath(path), path)
    if resumed_report is not None:
        files.pop(str(resumed_report.path), None)
    paths = list(files.values())
    makers = [maker_for_file(path) for path in (paths[1:] if options.reporter else paths)]
    if resumed_report is not None:
        from runner.reporters.document import JsonlReporter

        makers.append(partial(JsonlReporter, resumed_report))
    elif not (options.outputs or options.no_writes):
        stamp = environment.now().translate(str.maketrans("", "", "-:TZ"))
        makers += [partial(_default_report, folder, f"output-{stamp}") for folder in sorted(case_folders)[:1]]
    if options.reporter and (paths or console.is_error):
        makers.append(chosen(options.reporter, paths[0] if paths else environment.stdout))
    try:
        reporters += [make() for make in makers]
        if options.otlp is not None:
            reporters.append(_sender_of_spans(options.otlp, environment))
    except BaseException:
        for reporter in reporters:
            reporter.close()
        raise
    if environment.variables.get("GITHUB_ACTIONS") == "true":
        from runner.reporters.github import GithubReporter
        from runner.security.terminal import own_commands

        reporters.append(GithubReporter(lambda lines: console.write(own_commands(lines)), environment.variables))
    return reporters


def _sender_of_spans(endpoint: str, environment: Environment) -> Reporter:
    try:
        from runner.reporters.otlp import OtlpReporter
    except ModuleNotFoundError as error:
        from scripttest import install_command

        raise ConfigurationError(
            f"Cannot use --otlp: it needs the package {error.name}",
            f"Install it with: {install_command('otlp', str(error.name))}",
        ) from error
    return OtlpReporter(endpoint, environment)


def _default_report(folder: Path, stem: str) -> FileReporter:
    """A report under a name that no other run has, such as one that began in the same second."""
    from runner.security.files import check_target

    for number in count(1):
        path = folder / (f"{stem}.jsonl" if number == 1 else f"{stem}-{number}.jsonl")
        try:
            check_target(path)
            path.open("x").close()
        except FileExistsError:
            continue
        except OSError as error:
            hint = "Choose another file with -o, or write none with --no-writes"
            raise ConfigurationError(f"Cannot write a report to {path}: {error.strerror}", hint) from error
        return maker_for_file(path)()
    raise AssertionError
