"""The cases of one input, which are read again each time somebody needs them: no number of them fills the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runner.results.model import Suite
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.assistant import Assistant
    from runner.agents.variants import AgentVariant
    from runner.cases.model import Case
    from scripttest import Status


class CaseSource(Value):
    """The cases of one input."""

    suite: Suite
    assistant: Assistant
    folder: Path
    """Where relative files of the cases are looked for."""
    selected: int
    """How many cases are to run."""
    total: int
    """How many there are without `--run`."""
    cases: Callable[[], Iterable[tuple[int, Case]]]
    """The cases that are to run, with their lines, read again."""
    ids: Callable[[], Iterable[str]] = tuple
    """The ids of all cases that there are without `--run`, read again."""
    waited: frozenset[str] = frozenset()
    """Ids of those that others depend on."""
    refers: bool = True
    """Whether its cases may name agents, scripts or connectors."""
    broken: str = ""
    """Why none of its cases can run: what is wrong with the files of the agent."""
    done: Mapping[str, Mapping[int, Status]] = {}
    """Case → how its runs ended that have results of an earlier run; 0 stands for the only one."""
    variant: AgentVariant | None = None
    """What the agent has of its own in these runs of the cases; None: there is one way to run them."""
    ended: Mapping[str, Status] = {}
    """Case → how it ended, of those that an earlier run has ended."""
    runs: Mapping[str, tuple[int, ...]] = {}
    """Case → the numbers of its runs; those that are not here run as often as flags and case say."""

    def cleaned(self, clean: Callable[[str], str]) -> CaseSource:
        """The same cases, with ids that hold no secret: as results, recordings and snapshots name them."""
        return self.replace(
            cases=lambda: ((line, _cleaned(case, clean)) for line, case in self.cases()),
            ids=lambda: map(clean, self.ids()),
            waited=frozenset(map(clean, self.waited)),
        )


def _cleaned(case: Case, clean: Callable[[str], str]) -> Case:
    id, needed = clean(case.id), [clean(other) for other in case.depends_on]
    if id == case.id and needed == case.depends_on:
        return case
    return case.model_copy(update={"id": id, "depends_on": needed})


class Sources(Value):
    """The cases of the inputs of a run."""

    sources: list[CaseSource]
    warnings: list[str]
