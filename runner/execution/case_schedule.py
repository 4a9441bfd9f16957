"""How the cases of a run are to run: what they run in, how many at the same time, what ends them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from runner.modes.case_environment import CaseEnvironment
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.execution.rounds import Rounds
    from runner.execution.stopping import Stop


class AgentCases(Value):
    """What the cases of an agent run in."""

    environment: CaseEnvironment
    before: str | None
    """Hook before the cases of each input."""
    after: str | None
    """Hook after them."""


class CaseSchedule(Value):
    """Of all case inputs."""

    cases: AgentCases
    own: Mapping[str, AgentCases] = {}
    """The same by agent, for those that have settings of their own."""
    parallel: int
    max_failures: int | None
    """With how many failed tests no case is to begin any more."""
    failure_flag: str
    """The flag that says so."""
    arrange: Callable[[str, Sequence[str]], Sequence[int]] | None = None
    """The places of the cases of a suite, by its id, in the order in which they run; None: as they stand."""
    repeat: str | None = None
    """When a case has run often enough that does not say so."""
    rounds: Rounds | None = None
    """Says after each run of all cases whether there is another one; None: each case makes all its runs at once."""
    retries: int = 0
    """Passes over what broke, after the first one."""
    stop: Stop | None = None
    """Says when no case is to begin any more, and when those under way are given up."""

    def of(self, agent: str) -> AgentCases:
        """What the cases of an agent run in."""
        return self.own.get(agent, self.cases)
