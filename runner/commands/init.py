"""`yao-test init [FOLDER]`: an agent with a test and a case, in an empty folder or in an application."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from runner.application.application import find_root, repository_of
from runner.commands.flags import Command
from runner.commands.init_files import CI_FILES, CI_SYSTEMS, IGNORED, REQUIREMENTS, NewFile, agent_files, ci_text
from runner.commands.reports import writing
from runner.commands.types import CONFIG, TSCONFIG, lacks, type_files
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.security.files import check_target, read_text


@click.command(
    "init",
    cls=Command,
    help="Creates an agent with a handler, a test, a scripted model and a case, the TypeScript declarations, and a"
    " CI file; in an application, adds them to it. A file that exists is not changed.",
)
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.option("-n", "--name", default="hello", metavar="ID", help="Agent to create. Default: hello.")
@click.option("--ci", type=click.Choice(CI_SYSTEMS), help="CI file to write. Default: ask at a terminal, else github.")
@click.pass_obj
def init(environment: Environment, folder: str | None, name: str, ci: str | None) -> int:
    """Writes the files, prints what was done to each, and returns the exit code."""
    if not re.fullmatch(r"\w[\w-]*(\.\w[\w-]*)*", name):
        raise ConfigurationError(
            f'Cannot make agent "{name}": an id has letters, digits, _ and -, and dots between folders',
            "Such as hello or workers.hello",
        )
    root = _root(environment.directory, folder)
    system = ci or _asked(environment)
    maker = _Maker(root, environment)
    agent = agent_files(name)
    for file in agent:
        maker.make(file)
    for path, text in type_files(root).items():
        maker.make(NewFile(path=path, text=text))
    maker.make(NewFile(path=CONFIG, text=TSCONFIG))
    repository = repository_of(root)
    if system in CI_FILES:
        inside = root.relative_to(repository).as_posix() if root != repository else ""
        _Maker(repository, environment).make(NewFile(path=CI_FILES[system], text=ci_text(system, inside)))
    _say_what_is_left(root, repository, system, environment)
    where = "" if root == environment.directory else f"in {_shown(root, environment)}: "
    environment.stdout.write(f"Run the tests, {where}yao-test\n" if where else "Run the tests: yao-test\n")
    return 0


class _Maker:
    """Writes files below a folder, and leaves existing files as they are."""

    def __init__(self, root: Path, environment: Environment) -> None:
        self._root = root
        self._environment = environment
        self._foreign: set[str] = set()
        """Paths of files that are not as `init` writes them."""

    def make(self, file: NewFile) -> None:
        """Writes a file, unless it exists, or a file that it depends on has another content than `init` writes. Raises
        ConfigurationError."""
        path = self._root / file.path
        others = [other for other in file.goes_with if other in self._foreign]
        if os.path.lexists(path):
            if not _has(path, file.text):
                self._foreign.add(file.path)
            self._say("Left as it is", path)
        elif others:
            self._foreign.add(file.path)
            self._say("Not written", path, f", since the {others[0].rpartition('/')[2]} that exists is another one")
        else:
            with writing(path):
                check_target(path)
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("x", encoding="utf-8") as stream:
                    stream.write(file.text)
            self._say("Wrote", path)

    def _say(self, what: str, path: Path, more: str = "") -> None:
        self._environment.stdout.write(f"{what} {_shown(path, self._environment)}{more}\n")


def _root(directory: Path, folder: str | None) -> Path:
    """The root to write to: the folder that is named, which is created; else the application of the working directory,
    or that directory."""
    if folder is not None:
        root = Path(directory, folder).resolve()
        with writing(root):
            root.mkdir(parents=True, exist_ok=True)
        return root
    try:
        return find_root(directory)
    except ConfigurationError:
        return directory


def _asked(environment: Environment) -> str:
    """Asks at the terminal which CI system is used."""
    if not environment.terminal or not sys.stdin.isatty():
        return "github"
    try:
        answer: str = click.prompt("CI file for", type=click.Choice(CI_SYSTEMS), default="github")
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return answer


def _has(path: Path, text: str) -> bool:
    """Whether a file contains a text."""
    try:
        return read_text(path, "replace") == text
    except OSError:
        return False


def _say_what_is_left(root: Path, repository: Path, system: str, environment: Environment) -> None:
    """Prints what is missing in files that already existed."""
    write = environment.stdout.write
    for line in lacks(root, type_files(root), _shown(root / CONFIG, environment)):
        write(f"{line}\n")
    ignored = {line.strip().strip("/") for folder in {root, repository} for line in _lines(folder / ".gitignore")}
    ignore = _shown(root / ".gitignore", environment)
    for line in IGNORED:
        if line.strip("/") not in ignored:
            write(f"Add this line to {ignore}: {line}\n")
    if system in CI_FILES and not (root / REQUIREMENTS).exists():
        requirements = _shown(root / REQUIREMENTS, environment)
        write(f"Name a wheel or a Git address of this tool in {requirements}: the CI job installs it from there\n")


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path, "replace").splitlines()
    except OSError:
        return []


def _shown(path: Path, environment: Environment) -> str:
    return os.path.relpath(path, environment.directory)
