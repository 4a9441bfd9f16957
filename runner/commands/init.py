"""`yao-test init [FOLDER]`: an agent with tests, or a fuller application, in an empty folder or in an application."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from runner.application.application import find_root, repository_of
from runner.commands import tables
from runner.commands.inputs import writing
from runner.commands.types import CONFIG, TSCONFIG, content_of, lacks, type_files
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import absolute
from runner.planning.last_failed import STORE
from runner.security.files import check_target
from scripttest.values import Value

CI_SYSTEMS = ("github", "gitlab", "none")
CI_FILES = {"github": ".github/workflows/yao-test.yml", "gitlab": ".gitlab-ci.yml"}
"""CI system → its file, from the root of the repository."""
REQUIREMENTS = "requirements-test.txt"
"""The package that the CI job installs."""
APPLICATIONS = Path(__file__).resolve().parents[1] / "shipped/applications"
"""What `init` makes, as it is written."""
GUIDE = "AGENTS.md"
"""What coding agents read first."""
HELLO = "hello"
APART = APPLICATIONS.parent / "init"
"""Files that do not belong to an application: of CI systems, where `INSIDE` and `BELOW` are its folder, and tasks of VS
Code, whose problem matcher finds the places of failures."""
IGNORED = ("output-*.jsonl", ".yao-test/")
"""Lines of `.gitignore`: reports of case files, and what the tool keeps between runs."""


class NewFile(Value):
    """A file that is written if there is none."""

    path: str
    """From the root of the application, with slashes."""
    text: str
    goes_with: tuple[str, ...] = ()
    """Files that have to be as `init` writes them; this one would not fit to others."""


def init(environment: Environment, given: tables.Init) -> int:
    """Writes the files, prints what was done to each, and returns the exit code."""
    if given.example is not None and (given.name is not None or given.data is not None):
        flag = "-n" if given.data is None else "--data"
        raise ConfigurationError(
            f"{flag} and --example cannot be used together", "An example comes with its own agents"
        )
    if given.name is not None and not re.fullmatch(r"\w[\w-]*(\.\w[\w-]*)*", given.name):
        raise ConfigurationError(
            f'Invalid agent id "{given.name}": use letters, digits, _ and -, with dots between folders',
            "For example: hello or workers.hello",
        )
    root = _root(environment.directory, given.folder)
    system = given.ci or _asked(environment)
    maker = _Maker(root, environment)
    if given.data is not None:
        from runner.commands.convert import data_files

        files = data_files(absolute(given.data, environment.directory), given.data, given.name).items()
        made = [NewFile(path=path, text=text) for path, text in files]
    else:
        made = list(agent_files(given.name or HELLO) if given.example is None else application_files(given.example))
    for file in made:
        maker.make(file)
    for path, text in type_files(root).items():
        maker.make(NewFile(path=path, text=text))
    maker.make(NewFile(path=CONFIG, text=TSCONFIG.read_text("utf-8")))
    maker.make(NewFile(path=GUIDE, text=(APPLICATIONS.parent / GUIDE).read_text("utf-8")))
    if given.vscode:
        maker.make(NewFile(path=".vscode/tasks.json", text=(APART / "tasks.json").read_text("utf-8")))
    repository = repository_of(root)
    if system in CI_FILES:
        inside = root.relative_to(repository).as_posix() if root != repository else ""
        _Maker(repository, environment).make(NewFile(path=CI_FILES[system], text=ci_text(system, inside)))
    _ignore(root, repository, environment)
    if not os.path.lexists(root / STORE):
        with writing(root / STORE):
            (root / STORE).mkdir()
        environment.stdout.write(
            f"Created {_shown(root / STORE, environment)}/, where runs are stored for history and view\n"
        )
    _say_what_is_left(root, system, environment)
    if given.name is None and given.folder is not None and (around := _application_around(root)) is not None:
        environment.stdout.write(
            f"{given.folder} is a separate application inside {around.name}; "
            f"to add an agent to {around.name} instead: yao-test init -n {root.name}\n"
        )
    where = "" if root == environment.directory else f" in {_shown(root, environment)}"
    environment.stdout.write(f"Run the tests{where}: yao-test\n")
    return 0


class _Maker:
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
            if content_of(path) != file.text:
                self._foreign.add(file.path)
            self._say("Kept", path)
        elif others:
            self._foreign.add(file.path)
            self._say("Not written", path, f", because there is another {others[0].rpartition('/')[2]}")
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
    """The folder that is named, which is created; else the application here; else the working directory."""
    if folder is not None:
        root = Path(directory, folder).resolve()
        with writing(root):
            root.mkdir(parents=True, exist_ok=True)
        return root
    try:
        return find_root(directory)
    except ConfigurationError:
        return directory


def _application_around(root: Path) -> Path | None:
    try:
        return find_root(root.parent)
    except ConfigurationError:
        return None


def _asked(environment: Environment) -> str:
    if not environment.terminal or not sys.stdin.isatty():
        return "github"
    try:
        answer: str = click.prompt("CI file for", type=click.Choice(CI_SYSTEMS), default="github")
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return answer


def _ignore(root: Path, repository: Path, environment: Environment) -> None:
    """Adds to `.gitignore` what is to be ignored and is not yet, there or in that of the repository."""
    path = root / ".gitignore"
    texts = (content_of(folder / ".gitignore") or "" for folder in {root, repository})
    ignored = {line.strip().strip("/") for text in texts for line in text.splitlines()}
    lines = [line for line in IGNORED if line.strip("/") not in ignored]
    if not lines:
        return
    is_new = not os.path.lexists(path)
    with writing(path):
        check_target(path)
        with path.open("ab+") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            ends = file.read() in (b"", b"\n")
            file.write(("" if ends else "\n").encode() + "".join(f"{line}\n" for line in lines).encode())
    shown = _shown(path, environment)
    environment.stdout.write(f"Wrote {shown}\n" if is_new else f"Added to {shown}: {', '.join(lines)}\n")


def _say_what_is_left(root: Path, system: str, environment: Environment) -> None:
    write = environment.stdout.write
    for line in lacks(root, type_files(root), _shown(root / CONFIG, environment)):
        write(f"{line}\n")
    if system in CI_FILES and not (root / REQUIREMENTS).exists():
        requirements = _shown(root / REQUIREMENTS, environment)
        write(f"Add a wheel or Git URL of yao-test to {requirements} so that CI can install it\n")


def _shown(path: Path, environment: Environment) -> str:
    return os.path.relpath(path, environment.directory)


def agent_files(agent: str) -> Iterator[NewFile]:
    """The files of the first agent, by the id that it is to have."""
    name = agent.rpartition(".")[2].replace("_", " ").replace("-", " ").capitalize()
    for file in application_files(HELLO):
        text = file.text.replace(f"agents.{HELLO}.", f"agents.{agent}.").replace('"name": "Hello"', f'"name": "{name}"')
        paths = [
            one.replace(f"assistants/{HELLO}", f"assistants/{agent.replace('.', '/')}")
            for one in (file.path, *file.goes_with)
        ]
        yield NewFile(path=paths[0], text=text, goes_with=tuple(paths[1:]))


def application_files(name: str) -> Iterator[NewFile]:
    """The files of an application to begin with. Tests go with all other files, these with `package.yao`."""
    top = APPLICATIONS / name
    paths = sorted(path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file())
    tests = [path for path in paths if "/tests/" in path or "_test." in path]
    packages = [path for path in paths if path.endswith("/package.yao")]
    others = [path for path in paths if path not in (*tests, *packages)]
    for path in [*packages, *others, *tests]:
        package = max((one for one in packages if path.startswith(one.removesuffix("package.yao"))), key=len)
        needed = sorted(others, key=lambda other: other.rpartition(".")[0] != path.partition("_test.")[0])
        with_it = (*[package] * (path != package), *(needed if path in tests else ()))
        yield NewFile(path=path, text=(top / path).read_text("utf-8"), goes_with=with_it)


def ci_text(system: str, folder: str) -> str:
    """The file for a CI system. `folder`: path of the application in the repository, with slashes; empty: its root."""
    from json import dumps
    from shlex import quote

    inside = {
        "github": f"    defaults:\n      run:\n        working-directory: {dumps(folder)}\n",
        "gitlab": f"    - {dumps(f'cd {quote(folder)}')}\n",
    }
    text = (APART / f"{system}.yml").read_text("utf-8")
    return text.replace("INSIDE\n", inside[system] if folder else "").replace("BELOW", f"{folder}/" if folder else "")
