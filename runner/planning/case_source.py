"""What has cases, and the cases of one input. They are read from the file again for each use, so that they need little
memory, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from runner.record.model import Suite
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.agents.assistant import AgentVariant, Assistant
    from runner.cases.model import Case, Reference
    from runner.cases.reader import LocatedCase
    from scripttest import Status


class CaseInput(Value):
    """A case file, or a message."""

    agent: str
    """Id of the tested agent."""
    path: Path | None
    """Absolute path of the case file; None for a message."""
    message: str = ""

    @property
    def id(self) -> str:
        """The id of this input, unique in a run."""
        return str(self.path) if self.path else f"message {self.message}"


class GeneratorInput(Value):
    """An input whose cases an agent or a script makes."""

    agent: str
    """Id of the tested agent."""
    id: str
    """As the user wrote it."""
    reference: Reference
    """Who makes them."""
    named: str
    """The same as the user wrote it: `agents:workers.test.generator`, `scripts:tests.expense.generate`."""
    parameters: dict[str, Any]
    """The parameters after the `?`: texts, numbers and booleans."""


Arrange = Callable[[str, Sequence[str]], Sequence[int]]
"""(id of a suite, names of its tests) → their positions, in the order in which they run."""


class PlacedCase(Value):
    """A case of an input, with its place in the suite."""

    position: int
    """From 0."""
    line: int
    """As of `LocatedCase`."""
    case: Case


class CaseSource(Value):
    """The cases of one input."""

    suite: Suite
    assistant: Assistant
    folder: Path
    """The folder that relative paths in the cases start from."""
    selected: int
    """How many cases will run."""
    total: int
    """How many cases there are before filters such as `--run`."""
    cases: Callable[[], Iterable[LocatedCase]]
    """Reads the cases that will run."""
    ids: Callable[[], Iterable[str]] = tuple
    """Reads the ids of all cases, before filters such as `--run`."""
    waited: frozenset[str] = frozenset()
    """Ids of the cases that other cases depend on."""
    refers: bool = True
    """Whether its cases may name agents, scripts or connectors."""
    broken: str = ""
    """What is wrong with the files of the agent, if that keeps all of its cases from running."""
    done: Mapping[str, Mapping[int, Status]] = {}
    """Case → the status of each of its runs that has a result of an earlier run, by the number of the run; 0 is the
    only run of a case that runs once."""
    variant: AgentVariant | None = None
    """The variant of the agent that these cases run with; None: the run has no variants."""
    ended: Mapping[str, Status] = {}
    """Case → its status, for cases that are complete in an earlier run."""
    runs: Mapping[str, tuple[int, ...]] = {}
    """Case → the numbers of its runs that will run; cases that are not in it run as often as flags and the case file
    say."""

    def running(self) -> Iterator[LocatedCase]:
        """Reads the cases that are not skipped and not complete in an earlier run."""
        return (one for one in self.cases() if not (one.case.skip or one.case.id in self.ended))

    def placed(self, arrange: Arrange | None) -> Iterator[PlacedCase]:
        """Reads the cases in the order in which they run; an order that is given has all of them in memory."""
        placed: Iterable[tuple[int, LocatedCase]] = enumerate(self.cases())
        if arrange is not None:
            cases = list(self.cases())
            placed = ((at, cases[at]) for at in arrange(self.suite.id, [located.case.id for located in cases]))
        for position, located in placed:
            yield PlacedCase(position=position, line=located.line, case=located.case)

    def cleaned(self, clean: Callable[[str], str]) -> CaseSource:
        """The same cases with the secrets removed from their ids, as results, recordings and snapshots name them."""
        return self.replace(
            cases=lambda: (located.replace(case=_cleaned(located.case, clean)) for located in self.cases()),
            ids=lambda: map(clean, self.ids()),
            waited=frozenset(map(clean, self.waited)),
        )


def _cleaned(case: Case, clean: Callable[[str], str]) -> Case:
    id, needed = clean(case.id), [clean(other) for other in case.depends_on]
    if id == case.id and needed == case.depends_on:
        return case
    return case.model_copy(update={"id": id, "depends_on": needed})
