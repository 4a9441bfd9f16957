"""`--dry-run`: prints the plan of a run. Modules are loaded to find their tests; no test runs."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from runner import exit_codes
from runner.execution.ending import NO_TESTS, NO_TESTS_HINT
from runner.execution.scripts import broken_failure
from runner.planning.plan import LeftOut, RunPlan
from runner.reporters.console.style import Style, count
from runner.results.places import near
from runner.security.terminal import in_line
from scripttest import Broken, Listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.cases.model import Case
    from runner.environment import Environment
    from runner.planning.selection import Selection
    from scripttest import HostRecord


def print_plan(
    plan: RunPlan, records: Iterator[HostRecord], selection: Selection | None, environment: Environment
) -> int:
    """Prints what would run, suite by suite, and what is left out. Returns the exit code. Blocks while modules are
    listed. Raises ConfigurationError if `--run` matches nothing, HostError if the host itself fails.

    Args:
        records: from the host, which only lists the modules.
        selection: what `--run` selects.
    """
    listed = {record.module: record for record in records if isinstance(record, Listed | Broken)}
    tests = [record for record in listed.values() if isinstance(record, Listed)]
    is_broken = len(tests) < len(listed)
    if selection is not None and not plan.matched and not is_broken and not any(record.tests for record in tests):
        names = chain((name for record in tests for name in record.known), *(source.ids() for source in plan.sources))
        raise selection.nothing(names)
    printed: _Printed | _Told = _Told(plan, environment) if plan.options.json else _Printed(plan, environment)
    for note in plan.notes:
        printed.note(note)
    for warning in plan.warnings:
        printed.warn(warning)
    sources = {source.suite.id: source for source in plan.sources}
    for suite in plan.suites:
        record = listed.get(suite.id)
        if suite.id in sources:
            printed.suite(suite.label, (_planned(one.case, plan.options.repeat) for one in sources[suite.id].cases()))
        elif isinstance(record, Listed):
            printed.suite(suite.id, record.tests)
        elif isinstance(record, Broken):
            printed.broken(suite.id, record)
    known = sum(len(record.known) for record in tests)
    code = exit_codes.FAILED if is_broken else exit_codes.PASSED
    is_empty_shard = not plan.suites and plan.options.shard is not None
    if not (known or any(source.total for source in plan.sources) or is_empty_shard or is_broken):
        code = exit_codes.CONFIGURATION
    printed.end(known - sum(len(record.tests) for record in tests), code)
    if is_broken or plan.options.json:
        return code
    if is_empty_shard:
        environment.stderr.write(f"Warning: no test belongs to --shard {plan.options.shard}\n")
    elif code == exit_codes.CONFIGURATION:
        environment.stderr.write(f"Error: {NO_TESTS}\nHint: {NO_TESTS_HINT}\n")
    return code


def _left_out(plan: RunPlan, filtered: int) -> list[LeftOut]:
    """What flags leave out; `filtered` is the number of tests of modules that names and tags leave out."""
    left = {one.flag: one for one in plan.left_out}
    if filtered:
        flags = plan.options.selecting
        left[flags] = left.get(flags, LeftOut(flag=flags)).plus(filtered)
    return list(left.values())


def _planned(case: Case, repeat: str | None) -> str:
    """The id of a case, and how often it will run, if that depends on the results of its runs."""
    if case.repeat is None and repeat is None:
        return case.id
    from runner.cases.checks import policy_of, repeat_of

    policy = policy_of(repeat if case.repeat is None else repeat_of(case))
    assert policy is not None
    runs = f"{policy.wave} to {policy.most}" if policy.wave < policy.most else str(policy.most)
    return f"{case.id} ({policy.text}: {runs} runs)"


class _Printed:
    """Prints the plan as text."""

    def __init__(self, plan: RunPlan, environment: Environment) -> None:
        self._plan = plan
        self._environment = environment
        self._style = Style(environment.colors and not plan.options.no_color)
        self._tests = 0

    def _line(self, text: str) -> None:
        self._environment.stdout.write(f"{self._environment.secrets.text(text)}\n")

    def note(self, text: str) -> None:
        self._line(text)

    def warn(self, message: str) -> None:
        self._line(self._style.paint(f"Warning: {in_line(message)}", "yellow"))

    def suite(self, name: str, tests: Iterable[str]) -> None:
        before = self._tests
        self._line(in_line(name))
        for test in tests:
            self._tests += 1
            self._line(f"  {in_line(test)}")
        if self._tests == before:
            self._line(self._style.paint("  no tests to run", "dim"))

    def broken(self, module: str, record: Broken) -> None:
        """A module that cannot be loaded counts as one test."""
        failure = broken_failure(record)
        self._tests += 1
        self._line(module)
        self._line(self._style.failure(failure, "  ").rstrip("\n"))
        if at := failure.location:
            place = near(f"{at.file}:{at.line}:{at.column}", str(self._environment.directory))
            self._line(f"     at {place}")
        for line in failure.code_frame.split("\n") if failure.code_frame else ():
            self._line(f"     {line}")

    def end(self, filtered: int, code: int) -> None:
        """Prints the totals; `filtered` is the number of tests of modules that names and tags leave out."""
        plan = self._plan
        suites = count(len(plan.suites), "input" if plan.sources else "module")
        self._line(f"{count(self._tests, 'test')} in {suites}")
        parts = [f"{one.words} by {one.flag}" for one in _left_out(plan, filtered)]
        if parts:
            self._line(f"Left out: {', '.join(parts)}")


class _Told:
    """Collects the plan as the JSON document of `--json`."""

    def __init__(self, plan: RunPlan, environment: Environment) -> None:
        self._plan = plan
        self._environment = environment
        self._tests: list[dict[str, str]] = []
        self._notes: list[str] = []
        self._warnings: list[str] = []
        self._broken: list[tuple[str, str]] = []

    def note(self, text: str) -> None:
        self._notes.append(text)

    def warn(self, message: str) -> None:
        self._warnings.append(message)

    def suite(self, name: str, tests: Iterable[str]) -> None:
        self._tests += [{"suite": name, "test": test} for test in tests]

    def broken(self, module: str, record: Broken) -> None:
        """Adds a module that cannot be loaded, as an error of the plan."""
        self._broken.append((module, broken_failure(record).message))

    def end(self, filtered: int, code: int) -> None:
        """Prints the document."""
        from runner.execution.outcome import listing, text_of

        left = {one.flag: one.tests + one.modules for one in _left_out(self._plan, filtered)}
        document = listing(self._tests, self._notes, self._warnings, left, code)
        document["errors"] = [{"message": f"{module}: {message}"} for module, message in self._broken]
        if code == exit_codes.CONFIGURATION:
            document["errors"].append({"message": NO_TESTS, "hint": NO_TESTS_HINT})
        self._environment.stdout.write(self._environment.secrets.text(text_of(document)))
