"""`--dry-run`: prints the plan of a run, with what it leaves out. Modules are loaded to find their tests; no test
runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from runner import exit_codes
from runner.execution.ending import NO_TESTS, NO_TESTS_HINT
from runner.execution.scripts import broken_failure
from runner.planning.plan import LeftOut, RunPlan
from runner.record.texts import near
from runner.reporters.console.style import Style, count
from runner.security.terminal import in_line
from scripttest import Broken, Failure, Listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.cases.model import Case
    from scripttest import HostRecord

    Suites = Iterable[tuple[str, Iterable[str] | Failure]]
    """Each suite that would run: its name and its tests, or why it cannot be loaded."""


def print_plan(plan: RunPlan, records: Iterator[HostRecord]) -> int:
    """Prints what would run, suite by suite, and what is left out. `records` are from a host that only lists the
    modules. Returns the exit code. Blocks while modules are listed. Raises ConfigurationError if `--run` matches
    nothing, HostError if the host itself fails."""
    options, selection, stderr = plan.options, plan.selection, plan.environment.stderr
    listed = {record.module: record for record in records if isinstance(record, Listed | Broken)}
    tests = [record for record in listed.values() if isinstance(record, Listed)]
    is_broken = len(tests) < len(listed)
    if selection is not None and not plan.matched and not is_broken and not any(record.tests for record in tests):
        names = chain((name for record in tests for name in record.known), *(source.ids() for source in plan.sources))
        raise selection.nothing(names)
    known = sum(len(record.known) for record in tests)
    is_empty_shard = not plan.suites and options.shard is not None
    code = exit_codes.FAILED if is_broken else exit_codes.PASSED
    if not (known or any(source.total for source in plan.sources) or is_empty_shard or is_broken):
        code = exit_codes.CONFIGURATION
    beside = sum(record.beside for record in tests)
    left_out = _left_out(plan, known - beside - sum(len(record.tests) for record in tests), beside)
    if options.json:
        _print_json(plan, _suites(plan, listed, lambda case: case.id), left_out, code)
        return code
    _print_text(plan, _suites(plan, listed, lambda case: _planned(case, options.repeat)), left_out)
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


def _left_out(plan: RunPlan, filtered: int, beside: int) -> list[LeftOut]:
    """What flags and `t.only` leave out; `filtered` is the number of tests of modules that names and tags leave out,
    `beside` that of tests beside those that call `t.only`."""
    left = {one.flag: one for one in plan.left_out}
    if filtered:
        flags = plan.options.selecting
        left[flags] = left.get(flags, LeftOut(flag=flags)).plus(filtered)
    return [*left.values(), *([LeftOut(flag="t.only", tests=beside)] if beside else [])]


def _planned(case: Case, repeat: str | None) -> str:
    """The id of a case, and how often it will run, if that depends on the results of its runs."""
    if case.repeat is None and repeat is None:
        return case.id
    from runner.cases.validation import policy_of, repeat_of

    policy = policy_of(repeat if case.repeat is None else repeat_of(case))
    assert policy is not None
    runs = f"{policy.wave} to {policy.most}" if policy.wave < policy.most else str(policy.most)
    return f"{case.id} ({policy.text}: {runs} runs)"


def _print_text(plan: RunPlan, suites: Suites, left_out: list[LeftOut]) -> None:
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
    if left_out:
        line(f"Left out: {', '.join(f'{one.words} by {one.flag}' for one in left_out)}")


def _print_json(plan: RunPlan, suites: Suites, left_out: list[LeftOut], code: int) -> None:
    """Prints the plan as the document of `--json`."""
    from runner.execution.outcome import document_text, listing

    listed, errors = [], []
    for name, tests in suites:
        if isinstance(tests, Failure):
            errors.append({"message": f"{name}: {tests.message}"})
        else:
            listed += [{"suite": name, "test": test} for test in tests]
    if code == exit_codes.CONFIGURATION:
        errors.append({"message": NO_TESTS, "hint": NO_TESTS_HINT})
    left = {one.flag: one.tests + one.modules for one in left_out}
    document = {**listing(listed, plan.notes, plan.warnings, left, code), "errors": errors}
    environment = plan.environment
    environment.stdout.write(environment.secrets.text(document_text(document)))
