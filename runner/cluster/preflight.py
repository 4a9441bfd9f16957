"""Checks before the first test whether workers have what a run needs, and names what is missing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from runner.cluster import worker_side
from runner.cluster.connection import Connection, DaskWorker
from runner.errors import ConfigurationError, RunnerError
from runner.security.files import read_text
from runner.version import VERSION
from scripttest import install_command
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
    from runner.cluster.archive import travels

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
