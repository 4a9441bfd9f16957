"""The state of a report: which results `--resume` would keep, and what would run. No test runs; test modules are loaded
to list their tests."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING

from bindings import SCRIPT_PARTS
from runner.application.configuration import with_configuration
from runner.errors import ConfigurationError
from runner.execution.run import Run
from runner.execution.scripts import host_modules
from runner.execution.services import RunServices
from runner.execution.stopping import Stop
from runner.options.carried import TYPED, taken_over
from runner.options.options import FLAGS, RunOptions, absolute
from runner.planning.inputs import is_generator, resolve_application
from runner.planning.plan import RunRequest
from runner.planning.planner import make_plan, with_contexts
from runner.planning.resume import differences, read_saved, with_saved_options
from runner.planning.still_valid import Reason, Rerun, Retained, retain
from runner.record.events import RunStatus, looks_in
from scripttest import Listed, start_processes
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.environment import Environment
    from runner.planning.plan import RunPlan

STANDING = "show the status of {}"
ELSEWHERE = "Run the command in that application's folder"


class ReportState(Value):
    """The state of one report."""

    tests: int
    reruns: tuple[Rerun, ...]
    """The tests that have no valid result."""
    said: tuple[str, ...]
    """Notes on the results, one sentence each."""

    @property
    def open(self) -> int:
        """How many tests would run."""
        return sum(len(rerun.ids) for rerun in self.reruns if rerun.reason is not Reason.GONE)


def state_of(report: str, typed: RunOptions, environment: Environment) -> ReportState:
    """Finds the state of a report; `report` is its path as the user wrote it, `typed` are flags that it may not set.
    Blocks. Raises ConfigurationError, also when its first line is not complete."""
    directory = environment.directory
    saved = read_saved(absolute(report, directory), STANDING)
    if not saved.start:
        raise ConfigurationError(f"{saved.subject}: it has no complete line")
    asked = typed.replace(resume=report)
    options = with_saved_options(asked, directory, STANDING, ELSEWHERE, "status", opens_walls=False)
    generated = tuple(filter(is_generator, options.inputs))
    application = resolve_application(options, directory)
    found = with_configuration(options, {flag.field: flag.not_given for flag in FLAGS}, application)
    options = found.options.replace(
        inputs=tuple(input for input in found.options.inputs if input not in generated),
        dry_run=True,
    )
    looks = looks_in(saved.end)
    if options.until_decided and looks.ended_early and saved.end.get("status") != RunStatus.INTERRUPTED:
        options = options.replace(runs=looks.made)
    request = RunRequest(options=options, settings=found.settings, environment=environment, application=application)
    request = with_contexts(request)
    with RunServices(request, permitting=typed) as services:
        plan = make_plan(request, agents=services.agents, fingerprints=services.fingerprints)
        run = Run(plan, services, Stop())
        results = [result for result in saved.results if result.suite not in generated]
        retained = retain(results, saved.subject, options, plan.sources, plan.suites, services.fingerprints())
        listed = dict(_listed(run))
    said = list(differences(saved, options))
    if again := {name: value for name in TYPED if (value := getattr(options, name)) and not getattr(typed, name)}:
        said.append(f"to resume it, run: yao-test --resume {quote(report)} {taken_over(again)}")
    if generated:
        said.append(f"cases that {', '.join(generated)} generates are not checked")
    count = sum(source.selected for source in plan.sources) + sum(map(len, listed.values()))
    return ReportState(tests=count, reruns=(*retained.reruns, *_missing(plan, listed, retained)), said=tuple(said))


def _listed(run: Run) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each module with its tests; a module that cannot be listed has one test with the name of the module."""
    if not run.plan.modules:
        return
    processes = start_processes(SCRIPT_PARTS, run.application.root)
    with run.open_host(processes, run.environment.cpus) as host:
        for record in host.run(host_modules(run.plan)):
            names = record.tests if isinstance(record, Listed) else (record.module.rpartition(".")[2],)
            yield record.module, names


def _missing(plan: RunPlan, listed: dict[str, tuple[str, ...]], retained: Retained) -> Iterator[Rerun]:
    """The tests of modules that have no result."""
    said = {(rerun.suite, id) for rerun in retained.reruns for id in rerun.ids}
    for module in plan.modules:
        kept = retained.statuses(module.id)
        ids = [id for id in listed.get(module.id, ()) if id not in kept and (module.label, id) not in said]
        if ids:
            yield Rerun(suite=module.label, reason=Reason.MISSING, parts=(), ids=tuple(ids))
