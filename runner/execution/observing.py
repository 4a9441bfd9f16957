"""The connection between a run and the watcher that starts it again after each change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from runner.connectors.base import ClosedModels
    from runner.execution.repetition import Repetition
    from runner.execution.services import RunServices
    from runner.execution.stopping import Stop
    from runner.execution.tally import Rounds
    from runner.fingerprints.parts import PartDigests
    from runner.planning.plan import RunPlan
    from runner.results.events import Event
    from runner.results.fold import Execution
    from scripttest import Processes


class Observer:
    """Observes one run, as a reporter does, and can stop it. This one does nothing."""

    with_fingerprints = False
    """Whether results get fingerprints, which say what they depend on."""
    keeps = False
    """Whether the store keeps the run, where there is a store."""
    held_back: Callable[[str], str | None] | None = None
    """See `Recording`."""
    closed: ClosedModels | None = None
    """Why real models are not asked; None: they are."""

    def __init__(self, stop: Stop, processes: Processes | None = None) -> None:
        """`stop` stops the run; `processes` are the compiler and the idle workers, kept for the next run."""
        self.stop = stop
        self.processes = processes

    def begin(self, parts: PartDigests) -> None:
        """Called before anything runs. `parts` learns what results depend on while tests run."""

    def writes(self, path: Path, content: bytes) -> None:
        """Called before the run changes a source file; `content` is its new content."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Receives an event, as a reporter."""

    def close(self) -> None:
        """Closes, as a reporter."""


class PlanRun(Value):
    """What is needed to run a plan on other machines."""

    plan: RunPlan
    send: Callable[[Event], None]
    """Sends events."""
    repetition: Repetition
    """Collects the results of tests and of their runs."""
    stop: Stop
    """Says when the run has to stop."""
    services: RunServices
    """The services of the run, such as budgets and the journal."""
    rounds: Rounds | None
    """Decides after each round, one run of every case, whether there is another one; None: there are no rounds."""


class Remote(Protocol):
    """Runs the tests of one run on other machines."""

    @property
    def missing_walls(self) -> Mapping[str, str]:
        """Name of a wall around scripts → why one of these machines does not have it. For after `open`."""

    def open(self, plan: RunPlan, services: RunServices) -> None:
        """Connects and prepares, before anything is reported; blocks. Raises RunnerError when the other machines cannot
        run the plan."""

    def run(self, run: PlanRun) -> int:
        """Runs the tests of a plan and sends their events; blocks. When the run has to stop, tests under way get the
        time that is left. Returns how many tests were not even listed. Raises RunnerError if it cannot continue."""
