"""The protocol of what runs the tests of a plan on other machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from scripttest.values import Value

if TYPE_CHECKING:
    from runner.execution.repetition import Repetition
    from runner.execution.rounds import Rounds
    from runner.execution.services import RunServices
    from runner.execution.stopping import Stop
    from runner.planning.plan import RunPlan
    from runner.results.events import Event


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
