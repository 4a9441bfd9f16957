"""Cases run by the scheduler in this process, with all real parts, on an application that a test wrote."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

from command import PATIENCE, Record
from command import Application as Files

from bindings import SCRIPT_GLOBALS, HostProcesses, Policy, RunSnapshots
from runner.agents.assistant import Assistants
from runner.agents.helpers import Helpers
from runner.agents.mcp.servers import Servers
from runner.agents.processes import AgentProcesses
from runner.agents.prompts import PromptVariables
from runner.agents.runtime import Runtime
from runner.application.application import Application
from runner.application.context import build_context
from runner.cases.kinds import all_cases
from runner.cases.reader import LocatedCase
from runner.connectors.load import Connectors
from runner.execution.case_schedule import AgentCases, CaseSchedule
from runner.execution.databases import RunDatabases
from runner.execution.repetition import Repetition
from runner.execution.scheduler import run_cases
from runner.modes.case_environment import CaseEnvironment
from runner.options.options import DEFAULT_THRESHOLD, RunOptions
from runner.planning.case_source import CaseSource
from runner.results.case_result import CaseResult
from runner.results.events import Event, TestEnd
from runner.results.model import Suite, SuiteKind, TestResult
from scripttest import FunctionPool


def run_here(
    files: Files,
    *cases: Record,
    threshold: float = DEFAULT_THRESHOLD,
    parallel: int = 1,
    fail_fast: bool = False,
    runs: int = 1,
    min_pass_rate: float = 100,
) -> list[Event]:
    """The events of the cases of `demo`. Its hooks and script functions are not available."""
    application = Application(files.root)
    assistant = Assistants(application).get("demo")
    context = build_context(RunOptions(inputs=()), files.root)
    databases = RunDatabases(application, RunOptions(inputs=()), files.root)
    models = all_cases().validate_python([{"id": f"case-{number}", **case} for number, case in enumerate(cases, 1)])
    waited = frozenset(id for case in models for id in case.depends_on)
    suite = Suite(id="cases", kind=SuiteKind.CASE_FILE, label="cases", file="", agent=assistant.id)
    source = CaseSource(
        suite=suite,
        assistant=assistant,
        folder=Path(files.root),
        selected=len(models),
        total=len(models),
        cases=lambda: [LocatedCase(line=line, case=case) for line, case in enumerate(models, 1)],
        ids=waited,
    )
    events: list[Event] = []

    async def work() -> None:
        agents = SimpleNamespace()
        host = HostProcesses(files.root, Policy, application.script, databases.of_script)
        processes = AgentProcesses(host, agents)
        agents.runtime = runtime = Runtime(
            Assistants(application),
            Connectors(files.root, {}),
            lambda: FunctionPool(files.root, [], processes, SCRIPT_GLOBALS, 1),
            Servers(files.root, {}, processes.call_tool),
            PromptVariables(),
            datetime.now,
            host.scratch,
        )
        agents.helpers = Helpers(runtime, "")
        environment = CaseEnvironment(
            application=application,
            runtime=runtime,
            helpers=agents.helpers,
            context=context,
            decided_ids=frozenset(),
            connector="",
            timeout=PATIENCE,
            snapshot=RunSnapshots({}, False, False, str).matcher,
            threshold=threshold,
            database=databases.of_case,
        )
        try:
            await run_cases(
                [source],
                CaseSchedule(
                    cases=AgentCases(environment=environment, before=None, after=None),
                    parallel=parallel,
                    max_failures=1 if fail_fast else None,
                    failure_flag="--fail-fast",
                ),
                events.append,
                Repetition(events.append, runs, min_pass_rate),
            )
        finally:
            await runtime.close()

    asyncio.run(work())
    return events


def results_of(events: Sequence[Event]) -> dict[str, TestResult]:
    """The results by id, in the order in which the cases ended."""
    return {event.result.name: event.result for event in events if isinstance(event, TestEnd)}


def one_result(files: Files, case: Record, **more: float) -> tuple[TestResult, CaseResult]:
    """The result of a single case."""
    (result,) = results_of(run_here(files, case, **more)).values()  # type: ignore[arg-type]
    assert result.case is not None
    return result, result.case
