"""Where `yao-test mutate` gets the talks of cases from: from agents with scripted models by asking them outside of a
reported run, which costs nothing; of all others from the newest run that is kept, a report or a run of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from runner.execution.attempts import AttemptRun
from runner.execution.run import Run
from runner.execution.services import RunServices
from runner.execution.stopping import Signals, Stop
from runner.execution.suite_run import SuiteRun
from runner.modes.base import CaseAttempt
from runner.modes.transcripts import problem_with_transcript
from runner.planning.plan import CaseSource, RunRequest
from runner.planning.planner import looking, make_plan
from runner.record.model import TestResult
from runner.record.report import Report
from runner.security.files import JOURNAL
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.agents.assistant import AgentVariant
    from runner.cases.model import Case
    from runner.connectors.base import ClosedModels
    from runner.environment import Environment

KEPT = "output-*.jsonl"
"""Reports that runs write beside a case file."""


@contextmanager
def planned(request: RunRequest, closed: ClosedModels | None = None) -> Iterator[Run]:
    """The run of a request that keeps nothing of its own, with its services, until a signal ends it."""
    stop = Stop()
    request = looking(request)
    with Signals(stop), RunServices(request, closed=closed) as services:
        plan = make_plan(request, agents=services.agents, fingerprints=services.fingerprints)
        yield Run(plan, services, stop)


class Asking:
    """The cases of a run while their agents are asked. For one event loop."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._suites: dict[str, SuiteRun] = {}
        self._fingerprints = run.services.fingerprints()

    async def result(
        self, source: CaseSource, case: Case, line: int, *, run: int = 0, variant: AgentVariant | None = None
    ) -> TestResult | str:
        """The result of a case, with what regrading needs; or why the hook before all cases has failed."""
        if source.suite.id not in self._suites:
            self._suites[source.suite.id] = SuiteRun(source, self._run, lambda event: None, False)
        suite = self._suites[source.suite.id]
        if problem := await suite.problem():
            return problem
        environment = suite.environment.replace(fingerprints=self._fingerprints)
        attempt = CaseAttempt(environment, source.suite, source.folder, source.assistant, case, 0, line, run=run)
        attempt.chat.variant = variant
        async with suite.within(attempt):
            return await AttemptRun(attempt).run()

    async def finish(self) -> None:
        """Runs the hooks after all cases."""
        for suite in self._suites.values():
            await suite.finish()


class Talks(Value):
    """The talks of a case file in a saved run."""

    origin: str
    """The report, as messages call it."""
    of_cases: Mapping[str, TestResult | str] = {}
    """Id of a case → its first run with a transcript, or why there is none."""


def talks_of(origin: str, report: Report) -> dict[str, Talks]:
    """Label of a case file → its talks in a report."""
    files: dict[str, dict[str, TestResult | str]] = {}
    for suite, found in report.by_suite():
        of_cases = files.setdefault(suite.label.partition(" [")[0], {})
        for result in found:
            if result.case is None:
                continue
            problem = problem_with_transcript(result)
            known = of_cases.setdefault(result.name, problem or result)
            if isinstance(known, str) and problem is None:
                of_cases[result.name] = result
    return {label: Talks(origin=origin, of_cases=of_cases) for label, of_cases in files.items()}


def newest_talks(
    sources: Sequence[CaseSource],
    named: str | None,
    read: Callable[[str], Report],
    environment: Environment,
    store: Path | None,
) -> dict[str, Talks]:
    """Label of a case file → the talks of the report or run of the store that is `named`, or else of the newest run
    that has the file: in the folder of the store, or in a report that runs write beside a case file. Files that no run
    has are missing. Blocks.

    Args:
        read: reads a report.
        store: None: there is none.
    """
    labels = {source.suite.label for source in sources}
    if named is not None:
        there = talks_of(named, read(named))
        return {label: there.get(label) or Talks(origin=named) for label in labels}
    folders = {source.folder for source in sources} | {environment.directory}
    files = [path for folder in folders for path in folder.glob(KEPT)]
    found = [(path.stat().st_mtime, str(path)) for path in files if not path.name.endswith(JOURNAL)]
    found += _stored(store) if store is not None and labels else []
    newest: dict[str, Talks] = {}
    for _, name in sorted(found, reverse=True):
        if labels <= newest.keys():
            break
        there = talks_of(name, read(name))
        newest |= {label: talks for label, talks in there.items() if label in labels - newest.keys()}
    return newest


def _stored(folder: Path) -> list[tuple[float, str]]:
    """When each run of a store began, and what it is called where a report is read."""
    from runner.store.store import Store

    with Store(folder) as store:
        return [(datetime.fromisoformat(run.started_at).timestamp(), f"run:{run.id}") for run in store.runs()]
