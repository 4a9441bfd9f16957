"""Makes the reporters of a run. Their files are opened before it begins, so that a path that cannot be written is said
then."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from pathlib import Path

from runner.errors import ConfigurationError
from runner.options.options import RunOptions, report_path
from runner.reporters import is_of_coverage, maker_for_file
from runner.reporters.console.console import ConsoleReporter
from runner.reporters.stream import Ordered
from runner.security.files import check_target
from runner.security.terminal import own_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from runner.environment import Environment
    from runner.record.writing import LineFile
    from runner.reporters import Maker
    from runner.reporters.console.terminal import Progress
    from runner.reporters.stream import FileReporter, Reporter


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
    options, environment = console.options, console.environment
    reporters: list[Reporter] = [console.progress] if console.progress else []
    reporters.append(Ordered(ConsoleReporter(options, environment, console.write), as_they_end=options.reorders))
    if options.variants:
        from runner.reporters.change_lines import VariantReporter
        from runner.reporters.console.style import Style
        from runner.reporters.console.table import columns_of

        style = Style(environment.colors and not options.no_color)
        reporters.append(VariantReporter(console.write, style, columns_of(environment), bool(options.verbose)))
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
