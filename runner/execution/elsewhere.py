"""What runs the tests of a plan instead of this machine."""

from __future__ import annotations

from collections.abc import Callable
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
    """A plan while it runs."""

    plan: RunPlan
    send: Callable[[Event], None]
    """Takes events."""
    repetition: Repetition
    """Takes the results of tests and of their runs."""
    stop: Stop
    """Says when the run is to end."""
    services: RunServices
    """What the run has beside its tests: budgets, the journal."""
    rounds: Rounds | None
    """Says after each run of all cases whether there is another one; None: there are no rounds."""


class Elsewhere(Protocol):
    """Other machines, for one run."""

    def open(self, plan: RunPlan, services: RunServices) -> None:
        """Gets ready before anything is reported; blocks. Raises RunnerError when the plan cannot be had there."""

    def run(self, run: PlanRun) -> int:
        """Runs the tests of a plan and sends what happens; blocks. When the run is to stop, what is under way gets the
        time that is left then. How many tests were not even listed. Raises RunnerError when it cannot go on."""
