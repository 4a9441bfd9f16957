"""What commands share: saved reports and stores that they read, and files that they write."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from runner.application.application import Application, find_root, repository_of
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import RunOptions, absolute, options_from, report_path
from runner.planning.inputs import resolve_application
from runner.planning.last_failed import STORE
from runner.record.model import TestResult
from runner.record.report import Report
from runner.record.saved import load
from runner.record.writing import plain, without_halves
from runner.reporters import check_writable, maker_for_file
from runner.reporters.document import write_whole
from runner.security.files import check_target
from runner.security.terminal import in_line
from runner.store.places import FILE
from runner.version import VERSION
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.commands.tables import CommandTable
    from runner.planning.plan import RunRequest

RUN = "run:"
"""The prefix of the id of a run, where a command takes a report or a run of the store."""


def keep_last(environment: Environment, store: Path | None, name: str, document: Record) -> None:
    """Keeps what the last command of a kind has printed, with the time as `when`, in the store, if there is one."""
    if store is not None:
        with writing(store / name):
            write_whole(store / name, environment.secrets.text(json.dumps({"when": environment.now(), **document})))


def read_report(environment: Environment, path: str, quiet: bool = False, *, store: str | None = None) -> Report:
    """A saved report, or a run of the store, such as `run:latest`; its warnings go to standard error, with `quiet` only
    what is wrong with the file. `store` is what `--store` says. Raises
    ConfigurationError."""
    report = _loaded(environment, path, store).replace(
        root=_root(environment.directory), clean=environment.secrets.text
    )
    for warning in report.damage if quiet else report.warnings:
        environment.stderr.write(f"Warning: {in_line(warning)}\n")
    return report


def _loaded(environment: Environment, path: str, folder: str | None) -> Report:
    place = absolute(path, environment.directory)
    if not path.startswith(RUN) or place.exists():
        return load(place)
    from runner.store.store import Store

    with Store(store_folder(environment, folder)) as store:
        return store.report(path.removeprefix(RUN))


def _root(directory: Path) -> str:
    """The folder from which the places of a report are named: the repository here, else the application."""
    try:
        return str(repository_of(find_root(directory)))
    except ConfigurationError:
        return str(repository_of(directory))


def write_reports(environment: Environment, report: Report, outputs: Sequence[str]) -> None:
    """Writes a report to files, each in the format of its extension. Raises ConfigurationError."""
    paths = [report_path(output, environment.directory) for output in outputs]
    reporters = [(path, make()) for path, make in [(path, maker_for_file(path)) for path in paths]]
    for path, reporter in reporters:
        with writing(path), understanding(path):
            reporter.write(report)
            reporter.close()
        environment.stdout.write(f"Wrote {path}\n")


def check_outputs(environment: Environment, outputs: Sequence[str], extensions: Collection[str]) -> list[Path]:
    """Resolves the paths of the files that will be written. Raises ConfigurationError."""
    paths = [report_path(output, environment.directory) for output in outputs]
    for path in paths:
        if path.suffix.lower() not in extensions:
            hint = f"The extensions are {', '.join(extensions)}"
            raise ConfigurationError(f'Cannot write {path}: unknown extension "{path.suffix}"', hint)
        check_writable(path)
    return paths


def print_json(environment: Environment, value: object) -> None:
    """Prints a JSON document that every reader accepts."""
    text = json.dumps(plain(value), indent=2, ensure_ascii=False)
    environment.stdout.write(without_halves(text) + "\n")


def write_text(environment: Environment, path: Path, text: str, *, told: bool = True) -> None:
    """Writes a text file, without secrets, and prints its path, if it shall be `told`. Raises ConfigurationError."""
    with writing(path):
        write_whole(path, environment.secrets.text(text))
    environment.stdout.write(f"Wrote {path}\n" if told else "")


def write_file(path: Path, text: str, what: str = "") -> None:
    """Writes a file and its folder; `what` is written. Raises ConfigurationError."""
    with writing(path, what):
        check_target(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)


@contextmanager
def writing(path: Path, what: str = "") -> Iterator[None]:
    """Within it, an OSError from writing becomes a ConfigurationError; `what` is written to the file."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"Cannot write {what}{path}: {error.strerror}") from error


@contextmanager
def understanding(what: object) -> Iterator[None]:
    """Within it, an error from a result that this version cannot read becomes a ConfigurationError."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise ConfigurationError(
            f"Cannot make {what}: a result is not valid for yao-test {VERSION} ({detail})",
            "It may have been edited, or written by another version",
        ) from error


def results_in(environment: Environment, name: str) -> list[TestResult]:
    """The results of a saved report: of a .jsonl one for each run. Raises ConfigurationError."""
    from runner.record.lines import result_of

    report = read_report(environment, name)
    if not report.text:
        return report.results
    records = (json.loads(line) for line in report.text.split("\n") if line.strip(" \t\r\0"))
    return [result_of(record) for record in records if record.get("type") == "result"]


def root_of(environment: Environment, app: str | None) -> Path | None:
    """The root of the application of `--app`, else of that here; None where there is none. Raises ConfigurationError if
    `--app` is no folder."""
    if app is not None:
        return resolve_application(RunOptions(app=app), environment.directory).root
    try:
        return find_root(environment.directory)
    except ConfigurationError:
        return None


def store_folder(environment: Environment, given: str | None, application: Path | None = None) -> Path:
    """The folder of the store of `--store`, else of the runs of the application. Raises ConfigurationError."""
    if given is not None:
        return named_store(environment, given)
    try:
        root = application or find_root(environment.directory)
    except ConfigurationError as error:
        hint = "Pass the store with --store, or run the command in an application"
        raise ConfigurationError("No store given, and there is no application here", hint) from error
    from runner.application.configuration import read_configuration

    file = read_configuration(Application(root))
    said = file.tables[""].get("store") if file is not None else None
    return Path(said.value) if said is not None else root / STORE


def named_store(environment: Environment, name: str) -> Path:
    """The folder of a store, from its path or that of its database. Raises ConfigurationError if it is empty."""
    if not name:
        raise ConfigurationError("Cannot use the store: its name is empty", "Pass the folder of the store")
    place = absolute(name, environment.directory)
    return place.parent if place.name == FILE else place


def request_of(environment: Environment, table: type[CommandTable], values: dict[str, Any]) -> RunRequest:
    """What a command with flags of a run asks for; `values` are their texts by field. Raises ConfigurationError."""
    from runner.application.context import with_files

    options = options_from(values)
    environment = with_files(environment, options.env_files)
    application = resolve_application(options, environment.directory)
    given = {flag.name for flag in table.__of_run__ if flag.is_given(values)}
    return configured_request(options, given, environment, application, {flag.name for flag in table.__of_run__})


def configured_request(
    options: RunOptions, given: Collection[str], environment: Environment, application: Application, wanted: set[str]
) -> RunRequest:
    """The same with options; the configuration file may set those `wanted` flags that are not `given`."""
    from runner.application.configuration import configured
    from runner.execution.start import check_sandbox
    from runner.planning.plan import RunRequest

    found = configured(options, frozenset(given), application, wanted)
    check_sandbox(found.options, environment)
    return RunRequest(options=found.options, settings=found.settings, environment=environment, application=application)
