"""How the cases of a run are scheduled: their environment, how many run at the same time, and what stops them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from runner.modes.case_environment import CaseEnvironment
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.execution.stopping import Stop
    from runner.execution.tally import Rounds
    from runner.planning.case_source import Arrange


class AgentCases(Value):
    """The environment and the hooks for the cases of one agent."""

    environment: CaseEnvironment
    before: str | None
    """The hook before the cases of each input."""
    after: str | None
    """The hook after them."""


class CaseSchedule(Value):
    """The schedule for the cases of all inputs."""

    cases: AgentCases
    own: Mapping[str, AgentCases] = {}
    """The same by agent, for agents with settings of their own."""
    parallel: int
    max_failures: int | None
    """After how many failed tests no further case begins."""
    failure_flag: str
    """The flag that sets this limit."""
    arrange: Arrange | None = None
    """Decides the order in which the cases of a suite run; None: that of the file."""
    repeat: str | None = None
    """The policy of repeated runs for cases that have none of their own."""
    rounds: Rounds | None = None
    """Decides after each round, one run of every case, whether there is another round; None: each case makes all its
    runs at once."""
    retries: int = 0
    """How many further passes run the cases that broke."""
    stop: Stop | None = None
    """Says when no further case begins, and when running cases are given up."""

    def of(self, agent: str) -> AgentCases:
        """The environment and the hooks for the cases of an agent."""
        return self.own.get(agent, self.cases)
