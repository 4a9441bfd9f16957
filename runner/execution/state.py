"""Where a report stands: what `--resume` would keep of it, and what would run. Nothing runs for it; test modules are
listed, since only they know their tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bindings import SCRIPT_GLOBALS
from runner.application.context import build_context
from runner.cli.options import FLAGS, RunOptions, absolute
from runner.errors import ConfigurationError
from runner.execution.run import selection_of
from runner.execution.scripts import host_module
from runner.execution.services import RunServices, TestServices
from runner.planning.configured import with_configuration
from runner.planning.gaps import Gap, Reason
from runner.planning.inputs import is_generator, resolve_application
from runner.planning.resume import Retained, retain, with_saved_options
from runner.planning.saved_run import read_saved
from scripttest import Listed, ScriptHost, start_processes
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.environment import Environment
    from runner.planning.plan import RunPlan

STANDING = "tell where {} stands"
ELSEWHERE = "Ask in the folder of that application"


class State(Value):
    """Of one report."""

    tests: int
    """How many tests the run has."""
    gaps: tuple[Gap, ...]
    """Those that have no result that holds."""
    said: tuple[str, ...]
    """What else is to be known of the results, a sentence each."""

    @property
    def open(self) -> int:
        """How many tests would run."""
        return sum(len(gap.ids) for gap in self.gaps if gap.reason is not Reason.GONE)


def state_of(report: str, environment: Environment, parts: Path) -> State:
    """Where a report stands; blocks. Raises ConfigurationError, also when the report begins with no whole line.

    Args:
        report: its path, as the user wrote it.
        parts: the folder of the script half of the bindings.
    """
    directory = environment.directory
    saved = read_saved(absolute(report, directory), STANDING)
    if not saved.start:
        raise ConfigurationError(f"{saved.subject}: it has no whole line")
    options = with_saved_options(RunOptions(inputs=(), resume=report), directory, STANDING, ELSEWHERE)
    generated = tuple(filter(is_generator, options.inputs))
    application = resolve_application(options, directory)
    options, settings = with_configuration(options, {flag.field: flag.not_given for flag in FLAGS}, application)
    options = options.replace(
        inputs=tuple(input for input in options.inputs if input not in generated),
        dry_run=True,
        record=None,
        record_missing=None,
    )
    context = build_context(options, directory)
    selection = selection_of(options)
    with RunServices(
        options=options,
        environment=environment,
        application=application,
        context=context,
        parts=parts,
        settings=settings,
    ) as services:
        plan = services.plan(selection)
        tests = TestServices(services, plan, selection, environment)
        results = [record for record in saved.results if record["suite"] not in generated]
        retained = retain(saved.replace(results=results), options, plan.sources, plan.suites, services.fingerprints())
        listed = dict(_listed(plan, tests, environment, parts))
    said = [warning for warning in retained.warnings if warning not in {gap.text for gap in retained.gaps}]
    if generated:
        said.append(f"cases that {', '.join(generated)} generates are not looked at")
    count = sum(source.selected for source in plan.sources) + sum(map(len, listed.values()))
    return State(tests=count, gaps=(*retained.gaps, *_missing(plan, listed, retained)), said=tuple(said))


def _listed(
    plan: RunPlan, tests: TestServices, environment: Environment, parts: Path
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each module with its tests; one that cannot be listed has one of its own name."""
    if not plan.modules:
        return
    options = plan.options
    with ScriptHost(
        plan.application.root,
        start_processes(parts, plan.application.root),
        tests.router,
        SCRIPT_GLOBALS,
        workers=environment.cpus,
        timeout=options.script_timeout,
        filter=bool(options.pattern),
        list_only=True,
    ) as host:
        for record in host.run([host_module(module, plan) for module in plan.modules]):
            names = record.tests if isinstance(record, Listed) else (record.module.rpartition(".")[2],)
            yield record.module, names


def _missing(plan: RunPlan, listed: dict[str, tuple[str, ...]], retained: Retained) -> Iterator[Gap]:
    """The tests of modules that no result is of."""
    said = {(gap.suite, id) for gap in retained.gaps for id in gap.ids}
    for module in plan.modules:
        kept = retained.statuses(module.id)
        ids = [id for id in listed.get(module.id, ()) if id not in kept and (module.label, id) not in said]
        if ids:
            yield Gap(suite=module.label, reason=Reason.MISSING, parts=(), ids=tuple(ids))
