"""Asks agents of cases outside of a reported run, with the hooks around the cases."""

from __future__ import annotations

from runner.execution.attempts import AttemptRun
from runner.execution.suite_run import SuiteRun
from runner.modes.base import CaseAttempt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.agents.assistant import AgentVariant
    from runner.cases.model import Case
    from runner.execution.run import Run
    from runner.planning.case_source import CaseSource
    from runner.record.events import Event
    from runner.record.model import TestResult


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
            self._suites[source.suite.id] = SuiteRun(source, self._run, _ignore, False)
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


def _ignore(event: Event) -> None:
    """Takes what nobody reports."""
