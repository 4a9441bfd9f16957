"""What would run: `--dry-run` prints the plan of a run; the state of a report is which results
`--resume` would keep, and what would run. Modules are loaded to list their tests; no test runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from shlex import quote

from bindings import SCRIPT_PARTS
from runner import exit_codes
from runner.application.configuration import with_configuration
from runner.errors import ConfigurationError
from runner.execution.ending import NO_TESTS, NO_TESTS_HINT
from runner.execution.run import Run
from runner.execution.scripts import broken_failure, host_modules
from runner.execution.services import RunServices
from runner.execution.stopping import Stop
from runner.options.options import FLAGS, TYPED, RunOptions, absolute, taken_over
from runner.planning.inputs import is_generator, resolve_application
from runner.planning.plan import Reason, Rerun, Retained, RunPlan, RunRequest
from runner.planning.planner import make_plan, with_contexts
from runner.record.events import RunStatus, looks_in
from runner.record.writing import near
from runner.reporters.console.style import Style, count
from runner.security.terminal import in_line
from scripttest import Broken, Failure, Listed, start_processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.cases.model import Case
    from runner.environment import Environment
    from scripttest import HostRecord

    Suites = Iterable[tuple[str, Iterable[str] | Failure]]
    """Each suite that would run: its name and its tests, or why it cannot be loaded."""


def print_plan(plan: RunPlan, records: Iterator[HostRecord]) -> int:
    """Prints what would run, suite by suite. `records` are from a host that only lists the modules. Returns the exit
    code. Blocks while modules are listed. Raises ConfigurationError if `--run` matches nothing, HostError if the host
    itself fails."""
    options, selection, stderr = plan.options, plan.selection, plan.environment.stderr
    listed = {record.module: record for record in records if isinstance(record, Listed | Broken)}
    tests = [record for record in listed.values() if isinstance(record, Listed)]
    is_broken = len(tests) < len(listed)
    if selection is not None and not plan.matched and not is_broken and not any(record.tests for record in tests):
        names = chain((name for record in tests for name in record.known), *(source.ids() for source in plan.sources))
        raise selection.nothing(names)
    is_empty_shard = not plan.suites and options.shard is not None
    has_tests = any(record.known for record in tests) or any(source.total for source in plan.sources)
    code = exit_codes.FAILED if is_broken else exit_codes.PASSED
    if not (has_tests or is_empty_shard or is_broken):
        code = exit_codes.CONFIGURATION
    if options.json:
        _print_json(plan, _suites(plan, listed, lambda case: case.id), code)
        return code
    _print_text(plan, _suites(plan, listed, lambda case: _planned(case, options.repeat)))
    if is_empty_shard and not is_broken:
        stderr.write(f"Warning: no tests are in --shard {options.shard}\n")
    elif code == exit_codes.CONFIGURATION:
        stderr.write(f"Error: {NO_TESTS}\nHint: {NO_TESTS_HINT}\n")
    return code


def _suites(plan: RunPlan, listed: dict[str, Listed | Broken], named: Callable[[Case], str]) -> Suites:
    sources = {source.suite.id: source for source in plan.sources}
    for suite in plan.suites:
        record = listed.get(suite.id)
        if suite.id in sources:
            yield suite.label, (named(one.case) for one in sources[suite.id].cases())
        elif isinstance(record, Listed):
            yield suite.id, record.tests
        elif record is not None:
            yield suite.id, broken_failure(record)


def _planned(case: Case, repeat: str | None) -> str:
    if case.repeat is None and repeat is None:
        return case.id
    from runner.cases.validation import policy_of, repeat_of

    policy = policy_of(repeat_of(case, repeat))
    assert policy is not None
    runs = f"{policy.wave} to {policy.most}" if policy.wave < policy.most else str(policy.most)
    return f"{case.id} ({policy.text}: {runs} runs)"


def _print_text(plan: RunPlan, suites: Suites) -> None:
    environment = plan.environment
    style = Style(environment.colors and not plan.options.no_color)
    total = 0

    def line(text: str) -> None:
        environment.stdout.write(f"{environment.secrets.text(text)}\n")

    for note in plan.notes:
        line(note)
    for warning in plan.warnings:
        line(style.paint(f"Warning: {in_line(warning)}", "yellow"))
    for name, tests in suites:
        before = total
        line(in_line(name))
        if isinstance(tests, Failure):
            total += 1  # a module that cannot be loaded counts as one test
            line(style.failure(tests, "  ").rstrip("\n"))
            if at := tests.location:
                line(f"     at {near(f'{at.file}:{at.line}:{at.column}', str(environment.directory))}")
            for code in tests.code_frame.split("\n") if tests.code_frame else ():
                line(f"     {code}")
            continue
        for test in tests:
            total += 1
            line(f"  {in_line(test)}")
        if total == before:
            line(style.paint("  no tests to run", "dim"))
    line(f"{count(total, 'test')} in {count(len(plan.suites), 'input' if plan.sources else 'module')}")


def _print_json(plan: RunPlan, suites: Suites, code: int) -> None:
    from runner.execution.outcome import document_of, document_text

    listed, errors = [], []
    for name, tests in suites:
        if isinstance(tests, Failure):
            errors.append({"message": f"{name}: {tests.message}"})
        else:
            listed += [{"suite": name, "test": test} for test in tests]
    if code == exit_codes.CONFIGURATION:
        errors.append({"message": NO_TESTS, "hint": NO_TESTS_HINT})
    said = {"errors": errors, "warnings": [*plan.warnings], "notes": [*plan.notes], "tests": listed}
    document = document_of(code, "listed" if code == exit_codes.PASSED else None, **said)
    environment = plan.environment
    environment.stdout.write(environment.secrets.text(document_text(document)))


STANDING = "show the status of {}"


def print_state(report: str, typed: RunOptions, environment: Environment) -> bool:
    """Prints which tests of a report have no valid result, and says whether there are any; `report` is its path as the
    user wrote it, `typed` are flags that it may not set. Blocks. Raises ConfigurationError, also when its first line is
    not complete."""
    from runner.planning.resume import differences, read_saved, with_saved_options
    from runner.planning.still_valid import retain

    directory = environment.directory
    saved = read_saved(absolute(report, directory), STANDING)
    if not saved.start:
        raise ConfigurationError(f"{saved.subject}: it has no complete line")
    options = with_saved_options(saved, typed.replace(resume=report), directory, only_compares=True)
    generated = tuple(filter(is_generator, options.inputs))
    application = resolve_application(options, directory)
    found = with_configuration(options, {flag.field: flag.not_given for flag in FLAGS}, application)
    options = found.options.replace(
        inputs=tuple(input for input in found.options.inputs if input not in generated),
        dry_run=True,
    )
    looks = looks_in(saved.end)
    is_decided = options.until_decided and looks.ended_early and saved.end.get("status") != RunStatus.INTERRUPTED
    rounds = looks.made if is_decided else None
    request = with_contexts(
        RunRequest(
            options=options,
            settings=found.settings,
            environment=environment,
            application=application,
            resumed=saved.start,
        )
    )
    with RunServices(request, permitting=typed) as services:
        plan = make_plan(request, agents=services.agents, fingerprints=services.fingerprints)
        run = Run(plan, services, Stop())
        results = [result for result in saved.results if result.suite not in generated]
        retained = retain(results, saved.subject, plan, services.fingerprints(), rounds)
        listed = dict(_listed(run))
    said = list(differences(saved, options))
    if again := {name: value for name in TYPED if (value := getattr(options, name)) and not getattr(typed, name)}:
        said.append(f"to resume it, run: yao-test --resume {quote(report)} {taken_over(again)}")
    if generated:
        said.append(f"cases that {', '.join(generated)} generates are not checked")
    tests = sum(source.selected for source in plan.sources) + sum(map(len, listed.values()))
    reruns = (*retained.reruns, *_missing(plan, listed, retained))
    left = sum(len(rerun.ids) for rerun in reruns if rerun.reason is not Reason.GONE)
    verb = "has" if tests == 1 else "have"
    environment.stdout.write(f"{report}: {tests - left} of {count(tests, 'test')} {verb} a current result\n")
    for line in (*(rerun.text for rerun in reruns), *said):
        environment.stdout.write(f"  {in_line(line)}\n")
    return left > 0


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
    said = {(rerun.suite, id) for rerun in retained.reruns for id in rerun.ids}
    for module in plan.modules:
        kept = retained.statuses(module.id)
        ids = [id for id in listed.get(module.id, ()) if id not in kept and (module.label, id) not in said]
        if ids:
            yield Rerun(suite=module.label, reason=Reason.MISSING, parts=(), ids=tuple(ids))
