"""What runs the tests of a plan in the place of this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from runner.execution.repetition import Repetition
    from runner.execution.services import RunServices
    from runner.execution.stopping import Stop
    from runner.planning.plan import RunPlan
    from runner.results.events import Event


class Elsewhere(Protocol):
    """Other machines, for one run."""

    def open(self, plan: RunPlan, services: RunServices) -> None:
        """Gets ready before anything is reported; blocks. Raises RunnerError when the plan cannot be had there."""

    def run(
        self,
        plan: RunPlan,
        send: Callable[[Event], None],
        repetition: Repetition,
        stop: Stop,
        services: RunServices,
    ) -> int:
        """Runs the tests of a plan and sends what happens; blocks. When the run is to stop, what is under way gets the
        time that `stop` gives it. How many tests were not even listed. Raises RunnerError when it cannot go on.

        Args:
            plan: what is to run.
            send: takes events.
            repetition: takes the results of tests and of their runs.
            stop: says when the run is to end.
            services: what the run has beside its tests: budgets, the journal.
        """
