"""How the cases of a run are to run: what they run in, how many at the same time, what ends them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from runner.modes.case_environment import CaseEnvironment
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.cli.options import RunOptions
    from runner.execution.rounds import Rounds
    from runner.execution.stopping import Stop


class CaseSchedule(Value):
    """Of all case inputs."""

    environment: CaseEnvironment
    own: Mapping[str, tuple[RunOptions, CaseEnvironment]] = {}
    """Agent → the options and the environment of its cases, for those that have others."""
    parallel: int
    max_failures: int | None
    """With how many failed tests no case is to begin any more."""
    failure_flag: str
    """The flag that says so."""
    before: str | None
    """Hook before the cases of each input."""
    after: str | None
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

    def of(self, agent: str) -> CaseEnvironment:
        """What the cases of an agent run in."""
        return self.own[agent][1] if agent in self.own else self.environment

    def hooks(self, agent: str) -> tuple[str | None, str | None]:
        """The hooks before and after the cases of each input of an agent."""
        return (self.own[agent][0].before, self.own[agent][0].after) if agent in self.own else (self.before, self.after)
