"""Messages between the command, a Dask worker and a runner process: work units, and what is said of them.

A message is a kind and a pickled value, and goes through pipes by `multiprocessing.connection`. Both ends are of the
same version, and trust each other as everything in a Dask cluster does: whoever reaches its scheduler runs any code."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.application import TestModule
from runner.options.options import RunOptions, RunSettings
from runner.planning.selection import Order
from scripttest.values import Value, fields_of

if TYPE_CHECKING:
    from runner.planning.plan import CaseSource


EVENT, DONE, FAILED, SETUP, UNIT, TELL = b"E", b"D", b"F", b"S", b"P", b"T"
_PROTOCOL = 5


def packed(value: Any) -> bytes:
    """A value as bytes."""
    return pickle.dumps(value, _PROTOCOL)


def unpacked(data: bytes) -> Any:
    """The value of `packed`."""
    return pickle.loads(data)


class PathTranslation:
    """Puts the place of the application on one machine into the place of that on another, in all texts of a value."""

    def __init__(self, here: Path | str, there: Path | str) -> None:
        self._here, self._there = str(here), str(there)
        self._stays = self._here == self._there
        self._bytes = self._here.encode("utf-8", "surrogatepass")

    def packed(self, value: Any) -> bytes:
        """The value as bytes, moved; most values name no place, which their bytes show."""
        data = packed(value)
        return packed(self.value(value)) if self._bytes in data and not self._stays else data

    def value(self, value: Any) -> Any:
        """The value, moved; cases stay as they are, since they name files from their folder."""
        if self._stays:
            return value
        if isinstance(value, str):
            return value.replace(self._here, self._there) if type(value) is str else value
        if isinstance(value, Path):
            return Path(str(value).replace(self._here, self._there, 1))
        if isinstance(value, Value):
            return type(value)(**{name: self.value(item) for name, item in fields_of(value).items()})
        if isinstance(value, dict):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return type(value)([self.value(item) for item in value])
        return value


class Setup(Value):
    """What all units of a run have in common, for a runner process."""

    root: str
    """The application's root on the machine of the command; paths in this value are below it."""
    directory: Path
    options: RunOptions
    settings: RunSettings
    context: Mapping[str, Any]
    contexts: Mapping[str, Mapping[str, Any]]
    picked: Mapping[str, frozenset[str] | None]
    order: Order | None
    resumable: bool
    """Whether results have fingerprints."""
    key: str
    """What values of variables are hashed with in results."""
    content_in_spans: bool
    """Whether spans contain messages, as the environment of the command says."""
    named: frozenset[str]
    """The variables of `-e` that scripts may read."""
    has_modules: bool
    """Whether units have script tests, so that a process needs a compiler and a worker for them."""
    listed: tuple[str, ...] | None
    """Files that were sent and belong to the application since Git lists them; None without a repository."""


class WorkUnit(Value):
    """What one worker runs at a time: a part of the plan."""

    modules: tuple[TestModule, ...] = ()
    sources: tuple[CaseSource, ...] = ()
    """Their agents are read where they run."""
    elsewhere: Mapping[str, Mapping[str, int]] = {}
    """See `RunPlan`."""
    answers: tuple[str, ...] = ()
    """Lines of the journal: what models have answered in these tests before."""
    begins_pass: bool = False
    """Whether hosts that were down are to be asked again."""


class Job(Value):
    """A work unit that is sent to a worker."""

    run: str
    attempt: str = ""
    """A unique id of this unit on this worker."""
    worker: str = ""
    """The id of the worker that it is for."""
    application: str
    """Its digest; its path if the worker is on the machine of the command."""
    setup: bytes
    """A `Setup`."""
    unit: bytes = b""
    """A `WorkUnit`."""
    topic: str
    """What its events are sent under."""


class RunnerMessage(Value):
    """A message of a runner process that is not an event."""

    usage: tuple[Any, ...] | None = None
    """Connector, usage, and whether it is free: one model call."""
    answer: tuple[int, str] | None = None
    """A line of the journal, with its number."""
    file: tuple[str, bytes | None] | None = None
    """A recording: its path below the folder, and its content; None: there is none any more."""
    call: tuple[Any, ...] | None = None
    """Connector, limits, number, and the question to the limits of a connector."""


class Instruction(Value):
    """A message to a runner process while a work unit runs."""

    stop: tuple[str, float, bool] | None = None
    """Why no further test begins, and how many seconds running tests still have."""
    let: int | None = None
    """The number of a call that the limits now allow."""
    kept: int | None = None
    """The number up to which the command has written the lines of the journal."""
