"""Cases run by the scheduler in this process, with all real parts, on an application that a test wrote."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from command import PATIENCE, Record
from command import Application as Files

from runner.agents.assistant import Assistants
from runner.application.application import Application
from runner.cases.kinds import model_of
from runner.cases.reader import LocatedCase
from runner.environment import Environment
from runner.execution.repetition import Repetition
from runner.execution.run import Run
from runner.execution.scheduler import run_cases
from runner.execution.services import RunServices
from runner.execution.stopping import Stop
from runner.options.options import DEFAULT_THRESHOLD, RunOptions
from runner.planning.plan import CaseSource, RunPlan, RunRequest
from runner.planning.planner import with_contexts
from runner.record.case_result import CaseResult
from runner.record.events import Event, TestEnd
from runner.record.model import AGENT_TEST, Suite, TestResult
from runner.security.secrets import Secrets
from scripttest.values import fields_of


def run_here(
    files: Files,
    *cases: Record,
    threshold: float = DEFAULT_THRESHOLD,
    parallel: int = 1,
    fail_fast: bool = False,
    runs: int = 1,
    min_pass_rate: float = 100,
) -> list[Event]:
    """The events of the cases of `demo`."""
    stream = io.StringIO()
    options = RunOptions(
        inputs=(),
        threshold=threshold,
        parallel=parallel,
        fail_fast=fail_fast,
        runs=runs,
        min_pass_rate=min_pass_rate,
        timeout=PATIENCE,
    )
    environment = Environment(
        directory=files.root, variables={}, stdout=stream, stderr=stream, cpus=1, secrets=Secrets()
    )
    application = Application(files.root)
    request = with_contexts(RunRequest(options=options, environment=environment, application=application))
    assistant = Assistants(application).get("demo")
    entries = [{"id": f"case-{number}", **case} for number, case in enumerate(cases, 1)]
    models = [model_of(entry).model_validate(entry) for entry in entries]
    waited = frozenset(id for case in models for id in case.depends_on)
    suite = Suite(id="cases", kind=AGENT_TEST, label="cases", file="", agent=assistant.id)
    source = CaseSource(
        suite=suite,
        assistant=assistant,
        folder=Path(files.root),
        selected=len(models),
        total=len(models),
        cases=lambda: [LocatedCase(line=line, case=case) for line, case in enumerate(models, 1)],
        waited=waited,
    )
    plan = RunPlan(
        **fields_of(request),
        suites=(suite,),
        modules=(),
        sources=(source,),
        selection=None,
        picked={},
        order=None,
        resumable=False,
    )
    events: list[Event] = []
    with RunServices(request) as services:
        run = Run(plan, services, Stop())
        services.agents().run(run_cases(run, Repetition(events.append, options)), lambda: False)
    return events


def results_of(events: Sequence[Event]) -> dict[str, TestResult]:
    """The results by id, in the order in which the cases ended."""
    return {event.result.name: event.result for event in events if isinstance(event, TestEnd)}


def one_result(files: Files, case: Record, **more: float) -> tuple[TestResult, CaseResult]:
    """The result of a single case."""
    (result,) = results_of(run_here(files, case, **more)).values()  # type: ignore[arg-type]
    assert result.case is not None
    return result, result.case
