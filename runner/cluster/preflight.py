"""What a run needs on workers: the checks before the first test, which name what is missing, and the application as one
archive, named by the digest of its content, which is sent to a worker once.

| part of the application | is it sent? |
| --- | --- |
| names that begin with a dot, or are not UTF-8; virtual environments, caches of Python | no |
| reports: those that this run writes, and `output-<time>.jsonl` of earlier ones | no |
| `node_modules` | yes, at the root, in `assistants/` and in `scripts/` |
| files that commonly hold keys | no |
| definitions of connectors and MCP servers | yes; one that contains a key is refused, because keys are never sent |
| links | their target, if it is in the application |
| everything else | yes |"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.cluster import worker_side
from runner.cluster.connection import Connection, DaskWorker
from runner.errors import ConfigurationError, RunnerError
from runner.security.files import DEFINING, is_report, read_text, reader_below, walk
from runner.version import VERSION
from scripttest import holds_secrets, install_command
from scripttest.values import Value

SUFFIXES = (".yao", ".jsonc", ".json", ".yml", ".yaml")
_VARIABLE = re.compile(r"\$ENV\.(\w+)")
_SHOWN = 5


def named_in(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Variable → the first of some files, below the root, that names it as `$ENV.NAME`."""
    found: dict[str, str] = {}
    for name in names:
        if name.endswith(SUFFIXES):
            try:
                text = read_text(root / name, "replace")
            except OSError:
                continue
            for variable in _VARIABLE.findall(text):
                found.setdefault(variable, name)
    return found


class WorkerCheck(Value):
    """What was found out about some workers."""

    usable: Mapping[str, DaskWorker] = {}
    """By address: those that are fine, and have the application."""
    problems: Mapping[str, str] = {}
    """Address → what keeps a worker from running tests."""
    warnings: tuple[str, ...] = ()
    """What else the user should know, one sentence each."""
    missing_walls: Mapping[str, str] = {}
    """Name of a wall around scripts → why one of those that are fine does not have it, and which one."""


class Preflight(Value):
    """What a run needs on each worker."""

    connection: Connection
    application: str
    """As in a `Job`."""
    archive: Callable[[], bytes]
    """Makes its archive, for workers that do not have it."""
    variables: Mapping[str, str]
    """Name of a variable that the command has → the file that names it."""
    needs_walls: bool
    """Whether workers need all walls around scripts."""

    def look(self, workers: Mapping[str, int]) -> WorkerCheck:
        """Looks at workers, and gives them the application; blocks. `workers` is address → how many units it runs at a
        time. Raises ConfigurationError if the application has changed, and somebody lacks it."""
        if not workers:
            return WorkerCheck()
        addresses = list(workers)
        answers = self.connection.ask(worker_side.look, tuple(self.variables), self.application, workers=addresses)
        usable: dict[str, DaskWorker] = {}
        problems: dict[str, str] = {}
        lost: list[str] = []
        missing: dict[str, list[str]] = {}
        walls: dict[str, str] = {}
        lacking: dict[str, str] = {}
        for address in addresses:
            if address not in answers:
                lost.append(f"The worker {address} was lost before it started a test")
                continue
            answer = answers[address]
            problem = self._problem(address, answer, missing)
            if problem is not None:
                problems[address] = problem
                continue
            for wall, why in answer["missing_walls"].items():
                walls.setdefault(wall, f"{why}, on {_who(address, answer)}")
            usable[address] = DaskWorker(address=address, id=answer["id"], threads=workers[address])
            if not answer["has_application"]:
                lacking[address] = _who(address, answer)
        warnings = [
            f"{variable}, which {self.variables[variable]} names, is set here but not on {_listed(where)}: "
            "variables are not sent, set it where the workers run"
            for variable, where in missing.items()
        ]
        if lacking:
            broken = self.connection.spread(
                worker_side.install, self.archive(), self.application, workers=list(lacking)
            )
            for address, error in broken.items():
                del usable[address]
                problems[address] = f"{lacking[address]} cannot take the application: {_said(error)}"
        return WorkerCheck(usable=usable, problems=problems, warnings=(*lost, *warnings), missing_walls=walls)

    def _problem(self, address: str, answer: Any, missing: dict[str, list[str]]) -> str | None:
        if isinstance(answer, BaseException):
            missing_module = re.search(r"No module named '([\w.]+)'", str(answer))
            if missing_module:  # when what is asked was unpickled there
                return f"{address} has no {missing_module[1]}: yao-test {VERSION} must be installed there"
            return f"{address} cannot be queried: {_said(answer)}"
        who = _who(address, answer)
        if answer["version"] != VERSION:
            return f"{who} has yao-test {answer['version']}, and this is {VERSION}"
        extras = [extra for extra in worker_side.extras() if extra not in answer["extras"]]
        if extras:
            shown = "; ".join(f"{extra} ({install_command(extra)})" for extra in extras)
            return f"{who} lacks optional parts that are installed here: {shown}"
        if self.needs_walls and answer["missing_walls"]:
            missing_walls = "; ".join(f"{wall}: {why}" for wall, why in answer["missing_walls"].items())
            return f"{who} lacks sandbox walls, and --sandbox=require needs all of them ({missing_walls})"
        for variable in self.variables:
            if variable not in answer["variables"]:
                missing.setdefault(variable, []).append(who)
        return None


def refusal(problems: Mapping[str, str]) -> RunnerError:
    """The error when workers cannot run the tests."""
    said = list(problems.values())
    more = f", and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    return ConfigurationError(
        f"Cannot run on {'a worker' if len(said) == 1 else f'{len(said)} workers'} of the cluster: "
        f"{'; '.join(said[:_SHOWN])}{more}",
        "Install the same yao-test with the same extras on all workers, or remove those workers",
    )


def check_paths(root: Path, paths: Mapping[str, Path]) -> None:
    """Looks whether what flags and inputs name is in the application, which is all that travels. Raises
    ConfigurationError. `paths` is what names it → the path."""
    for named, path in paths.items():
        below = os.path.relpath(path, root)
        if below.startswith("..") or not travels(below):
            raise ConfigurationError(
                f"Cannot use {named} with --cluster: {path} is not sent to the workers",
                f"Put it below {root}, under a name that does not begin with a dot",
            )


def _who(address: str, answer: Mapping[str, Any]) -> str:
    return f"{address} ({answer['host']})"


def _said(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "it did not respond"
    return f"{type(error).__name__}: {error}"


def _listed(who: list[str]) -> str:
    more = f" and {len(who) - _SHOWN} more workers" if len(who) > _SHOWN else ""
    return ", ".join(who[:_SHOWN]) + more


MOST_BYTES = 1 << 30
"""At most this many bytes in all files together."""
_LEFT_OUT = frozenset(("__pycache__",))
_PACKAGES = "node_modules"
_OF_SCRIPTS = ("assistants/", "scripts/")
"""Folders, other than the root, in which imports from `node_modules` are searched."""
_DEFINITIONS = (".conn.yao", ".conn.jsonc", ".conn.json", ".mcp.yao", ".mcp.jsonc", ".mcp.json")
"""Suffixes of files that workers need although they may contain keys."""
_EARLY = (1980, 1, 1, 0, 0, 0)


class Content(Value):
    """What of an application is sent."""

    digest: str
    """The digest of its files: equal files have the same digest."""
    names: tuple[str, ...]
    """The paths of the files, from the root."""


def content_of(root: Path, reports: Collection[str], redact: Callable[[str], str]) -> Content:
    """The content of an application, which is read for it. Raises ConfigurationError. `reports`: paths below the
    root, of what this run writes. `redact`: removes secrets from a text. If it changes a definition, that contains a
    key."""

    def check(name: str, data: bytes) -> None:
        if name.endswith(_DEFINITIONS):
            _check_definition(root / name, data, redact)

    return _digested(root, reports, check)


def archive_of(root: Path, reports: Collection[str], content: Content | None) -> bytes:
    """A zip with the content of an application. Raises ConfigurationError if it is not the same any more.
    `reports` are as for `content_of`."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:

        def write(name: str, data: bytes) -> None:
            archive.writestr(zipfile.ZipInfo(name, _EARLY), data, zipfile.ZIP_DEFLATED)

        found = _digested(root, reports, write)
    if found != content:
        raise ConfigurationError(
            f"Cannot send {root} to workers: its files changed during the run", "Rerun the command"
        )
    return packed.getvalue()


def _digested(root: Path, reports: Collection[str], take: Callable[[str, bytes], None]) -> Content:
    """The content of an application, after `take` was called with each of its files."""
    names, digest = [], sha256()
    for name, data in _contents(root, reports):
        take(name, data)
        encoded = name.encode()
        digest.update(b"%d:%b%d:" % (len(encoded), encoded, len(data)))
        digest.update(data)
        names.append(name)
    return Content(digest=digest.hexdigest()[:32], names=tuple(names))


def check_definitions(root: Path, redact: Callable[[str], str]) -> None:
    """Looks whether an application that stays where it is could be sent: raises ConfigurationError for a key in a
    definition, as `content_of` does."""
    read = reader_below(root, MOST_BYTES)
    for name in _files(root):
        if name.endswith(_DEFINITIONS):
            with suppress(OSError):  # which is told when it is needed
                _check_definition(root / name, read(name), redact)


def _contents(root: Path, reports: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The files that are sent, by their paths from the root."""

    read, total = reader_below(root, MOST_BYTES), 0
    for name in _files(root):
        if name in reports or is_report(os.path.basename(name)):
            continue
        try:
            data = read(name)
        except PermissionError:  # a link out of the application, or one to a file with keys
            continue
        except OSError as error:
            raise ConfigurationError(f"Cannot send {root / name} to workers: {error.strerror}") from error
        total += len(data)
        if total > MOST_BYTES:
            raise ConfigurationError(
                f"Cannot send {root} to workers: it has more than {MOST_BYTES >> 30} GB",
                "Name the folder of the application with --app, and keep unrelated data out of it",
            )
        yield name, data


def travels(name: str) -> bool:
    """Whether a file travels, by its path below the root."""
    parts = tuple(name.split("/"))
    if not name.isascii() and os.fsencode(name) != name.encode("utf-8", "replace"):
        return False
    if any(part.startswith(".") or part in _LEFT_OUT for part in parts):
        return False
    return name.endswith(_DEFINITIONS) or not holds_secrets(parts)


def _files(root: Path) -> Iterator[str]:
    top = f"{root}/"

    def enters(folder: str, name: str) -> bool:
        if name.startswith(".") or name in _LEFT_OUT:
            return False
        if name == _PACKAGES and folder != str(root) and not f"{folder}/".removeprefix(top).startswith(_OF_SCRIPTS):
            return False
        return not os.path.exists(f"{folder}/{name}/pyvenv.cfg")

    met: set[str] = set()
    for place in (root, *(root / name for name in DEFINING)):  # a folder has more than one name if links lead to it
        for folder in walk(place, root=root, enters=enters, follows=place != root):
            names = (f"{folder.path}/{name}".removeprefix(top) for name in folder.files)
            new = [name for name in names if name not in met and travels(name) and os.path.isfile(root / name)]
            met.update(new)
            yield from new


def _check_definition(path: Path, data: bytes, redact: Callable[[str], str]) -> None:
    text = data.decode("utf-8", "replace")
    if redact(text) != text:
        raise ConfigurationError(
            f"Cannot send {path} to workers: it contains a key, and keys are never sent",
            'Replace it with "$ENV.NAME", and set NAME where the workers run',
        )
