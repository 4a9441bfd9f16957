"""A piece of a run for one worker: some modules and cases, with everything that the run has decided about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.application import TestModule
from runner.options.options import RunOptions, Settings
from runner.planning.selection import Order
from runner.results.model import Suite
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.assistant import AgentVariant
    from runner.planning.case_source import PlacedCase
    from scripttest import Status


class Setup(Value):
    """What all pieces of a run have in common, for a runner process."""

    version: str
    root: str
    """The application's root on the machine of the command; paths in this value are below it."""
    directory: Path
    options: RunOptions
    settings: Settings
    context: Mapping[str, Any]
    contexts: Mapping[str, Mapping[str, Any]]
    order: Order | None
    resumable: bool
    """Whether results have fingerprints."""
    key: str
    """What values of variables are hashed with in results."""
    content_in_spans: bool
    """Whether spans contain messages, as the environment of the command says."""
    counts_usage: bool
    """Whether the run has a budget."""
    parallel: int
    """Tests at a time; 0: one module, one case."""
    has_modules: bool
    """Whether pieces have script tests, so that a process needs a compiler and a worker for them."""
    listed: tuple[str, ...] | None
    """Files that were sent and belong to the application since Git lists them; None without a repository."""


class Done(Value):
    """A result that a test has."""

    name: str
    position: int
    run: int
    status: Status


class ModulePart(Value):
    """A test module, or what is left of it."""

    module: TestModule
    picked: frozenset[str] | None
    """The tests that flags pick; None: all."""
    done: tuple[Done, ...] = ()
    """Results that it has; these tests do not run."""


class CasesPart(Value):
    """Some cases of an input."""

    suite: Suite
    folder: Path
    cases: tuple[PlacedCase, ...]
    waited: frozenset[str]
    """Ids of those that others depend on."""
    broken: str
    """Why none of them can run."""
    variant: AgentVariant | None
    done: Mapping[str, Mapping[int, Status]] = {}
    """Case → how its runs with results ended; the number 0 stands for the only run."""
    ended: Mapping[str, Status] = {}
    """Other cases that they depend on → how these ended."""
    runs: Mapping[str, tuple[int, ...]] = {}
    """Case → the numbers of its runs, where flags and case do not say them."""


class Piece(Value):
    """What one worker runs at a time."""

    modules: tuple[ModulePart, ...] = ()
    cases: tuple[CasesPart, ...] = ()
    answers: tuple[str, ...] = ()
    """Lines of the journal: what models have answered in these tests before."""
    begins_pass: bool = False
    """Whether hosts that were down are to be asked again."""

    @property
    def suites(self) -> tuple[str, ...]:
        """The ids of all suites in it."""
        return (*(part.module.id for part in self.modules), *(part.suite.id for part in self.cases))


class Job(Value):
    """A piece that is sent to a worker."""

    run: str
    attempt: str
    """A unique id of this piece on this worker."""
    worker: str
    """The id of the worker that it is for."""
    application: str
    """Its digest; its path if the worker is on the machine of the command."""
    setup: bytes
    """A `Setup`."""
    piece: bytes
    """A `Piece`."""
    topic: str
    """What its events are sent under."""


class Heard(Value):
    """A message of a runner process that is not an event."""

    usage: tuple[Any, ...] | None = None
    """Connector, usage, and whether it is free: one model call."""
    answer: tuple[int, str] | None = None
    """A line of the journal, with its number."""
    file: tuple[str, bytes | None] | None = None
    """A recording: its path below the folder, and its content; None: there is none any more."""
    call: tuple[Any, ...] | None = None
    """Connector, limits, number, and the question to the limits of a connector."""


class Told(Value):
    """A message to a runner process while a piece runs."""

    stop: tuple[str, float, bool] | None = None
    """Why no further test begins, and how many seconds running tests still have."""
    let: int | None = None
    """The number of a call that the limits now allow."""
    kept: int | None = None
    """The number up to which the command has written the lines of the journal."""
