"""The console: the layouts of seeds 004 (modules) and 001 (cases). Each failure is told in full once, with what to run
to see it again; at the end of a long run, those that failed are named once more.

One suite, or `-v`: a header, and each test with its verdict. Several suites: one line each, failing tests at the end.
"""

from __future__ import annotations

from collections.abc import Callable

from runner.environment import Environment
from runner.options.options import RunOptions
from runner.record import events
from runner.record.fold import Execution
from runner.record.model import Suite, TestResult
from runner.record.outcomes import place
from runner.reporters.console.style import DOUBLE, MARKS, SINGLE, Style, command_of, count, in_milliseconds, usage_line
from runner.security.terminal import in_line
from scripttest import Failure, Outcome, ResultWarning, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.reporters.console.case_lines import CaseLines
    from runner.reporters.console.table import StabilityLines

MANY, SCREEN = 10, 100
"""With more failures, or lines since the first of them, those that failed are named once more at the end."""
CALLERS = 5
"""Most frames of one failure that are shown, in addition to the first and the last."""
SHORT_STORY = 10
"""Lines of a story with `--brief`."""


class ConsoleReporter:
    """Writes to standard output."""

    tells_errors = True

    def __init__(
        self, options: RunOptions, environment: Environment, write: Callable[[str], None], flags: tuple[str, ...] = ()
    ) -> None:
        """`write` puts text on the terminal, above the live display if there is one; `flags` are those that a result
        may depend on, until the run says them."""
        self._put = write
        self._options = options
        self._environment = environment
        self._directory = environment.directory
        self._style = Style(environment.colors and not options.no_color)
        self._paint = self._style.paint
        self._flags = flags
        self._detailed = False
        self._failed: list[tuple[Suite, TestResult]] = []
        self._told = 0
        """How many of them have been told in full."""
        self._since = 0
        """Lines that were written since the first of these."""
        self._warned: list[tuple[Suite, TestResult]] = []
        """Results whose warnings are shown at the end."""
        self._cases: CaseLines | None = None
        self._stability: StabilityLines | None = None
        self._took: list[tuple[float, str]] = []
        """Milliseconds and name of each test, for `--durations`."""

    def on_event(self, event: events.Event, so_far: Execution) -> None:
        """Prints what an event means to a person."""
        if isinstance(event, events.TestEnd):
            self._test(event.result, so_far)
        elif isinstance(event, events.SuiteStart):
            self._suite_start(event, so_far)
        elif isinstance(event, events.SuiteEnd):
            self._suite_end(event.suite, so_far)
        elif isinstance(event, events.RunStart):
            self._flags = event.flags
            self._write("".join(f"{note}\n" for note in event.notes))
            self._detailed = (len(event.suites) == 1 or bool(self._options.verbose)) and not self._options.quiet
        elif isinstance(event, events.RunError):
            hint = f"Hint: {event.hint}\n" if event.hint else ""
            self._write(self._paint(f"Error: {event.message}\n", "red") + hint)
        elif isinstance(event, events.HookOutput):
            if self._detailed:
                self._write(f"{in_line(event.hook)}:\n{self._style.output(event.logs, '  ')}\n")
        elif isinstance(event, events.Warned):
            self._write(self._paint(f"Warning: {in_line(event.message)}\n", "yellow"))
        elif isinstance(event, events.RunEnd) and not (self._options.watch and event.stopped == events.STALE):
            self._end(event, so_far)

    def close(self) -> None:
        """Does nothing."""

    def _write(self, text: str) -> None:
        self._put(text)
        if self._told:
            self._since += text.count("\n")

    def _suite_start(self, event: events.SuiteStart, run: Execution) -> None:
        suite = run.suites[event.suite]
        if self._detailed and suite.has_cases:
            self._write(self._lines().header(suite, event))
        elif self._detailed:
            assert run.start is not None
            functions = count(event.selected, "function")
            if event.selected != event.total:
                functions += f" of {event.total}"
            where = run.start.who_of.get(suite.agent, run.start.environment)
            lines = [
                DOUBLE,
                f"  Script Test: {self._paint(suite.id, 'bold')}",
                DOUBLE,
                f"  Script: {suite.label}",
                f"  Tests: {functions}",
                f"  User: {where['user_id']}",
                f"  Team: {where['team_id']}",
                SINGLE,
                "  Running Tests",
                SINGLE,
            ]
            self._write("\n".join(lines) + "\n")
        if not event.selected and not event.total and len(run.suites) > 1:
            self._write(self._paint(f"○ {in_line(suite.name)}  no tests\n", "dim"))
        elif not event.selected:
            unmatched = f"none of {event.total} matches {self._options.selecting}"
            reason = unmatched if event.total else "the module has no Test* functions"
            self._write(self._paint(f"  no tests to run in {in_line(suite.name)}: {reason}\n", "yellow"))

    def _lines(self) -> CaseLines:
        if self._cases is None:
            from runner.reporters.console.case_lines import CaseLines

            self._cases = CaseLines(self._style, self._options.verbose)
        return self._cases

    def _test(self, result: TestResult, run: Execution) -> None:
        outcome = result.outcome
        if outcome.status == Status.FAILED:
            self._failed.append((run.suites[result.suite], result))
        if self._options.durations is not None:
            took = sum(attempt.duration_ms for attempt in result.attempts) or outcome.milliseconds
            self._took.append((took, in_line(f"{run.suites[result.suite].name} › {result.name}")))
        if result.stability is not None:
            self._stabilities().add(run.suites[result.suite].name, result.name, result.stability)
        if outcome.warnings and not self._detailed:
            self._warned.append((run.suites[result.suite], result))
        if result.is_resumed:
            return
        if not self._detailed:
            if said := self._style.output(result.logs, "  ", every=False):
                self._write(f"{in_line(f'{run.suites[result.suite].name} › {result.name}')}\n{said}")
            return
        suite, failed = run.suites[result.suite], outcome.status == Status.FAILED
        again = self._again(suite, result) if failed else ""
        if failed:
            self._told += 1
        if result.case is not None:
            text = self._lines().case(suite, result)
            text = self._near(text) if outcome.status != Status.PASSED else text
            places = "".join(self._around(failure, "     ") for failure in outcome.failures) + self._at(suite, result)
            places += self._style.story(result.story, "  ")
            said = self._warnings(outcome, "  ") + self._runs(result)
            self._write(f"{text[:-1]}{self._near(places) if failed else ''}{said}{again}\n")
        else:
            shows_output = failed or self._options.verbose
            body = self._steps(outcome, "  ") + self._style.output(result.logs, "    ", bool(shows_output))
            if failed:
                body += "".join(
                    self._style.failure(failure, "    ") + self._around(failure, "       ")
                    for failure in outcome.failures
                    if failure.phase != "subtest"
                )
                body += self._style.story(result.story, "    ")
            elif reason := outcome.skip_text:
                body += f"    └─ {in_line(reason)}\n"
            body += self._warnings(outcome, "    ") + self._runs(result) + again
            body = self._near(body) if outcome.status != Status.PASSED else body
            self._write(f"► [{in_line(outcome.name)}] ...\n  {self._verdict(outcome)}\n{body}\n")

    def _warnings(self, outcome: Outcome, indent: str) -> str:
        return "".join(
            self._style.warning(warning, indent, self._short(where) if (where := place(warning)) else "")
            + self._called_from(warning, f"{indent}  ")
            for warning in outcome.warnings
        )

    def _called_from(self, told: Failure | ResultWarning, indent: str) -> str:
        frames = told.frames[1:]  # the next ones, and the outermost one: the test's own line
        places = [frame.location for frame in (*frames[:CALLERS], *frames[CALLERS:][-1:])]
        return "".join(
            self._paint(f"{indent}called from {self._short(at.file)}:{at.line}:{at.column}\n", "dim") for at in places
        )

    def _room(self) -> int | None:
        from runner.reporters.console.table import columns_of

        return columns_of(self._environment)

    def _stabilities(self) -> StabilityLines:
        if self._stability is None:
            from runner.reporters.console.table import StabilityLines

            self._stability = StabilityLines(self._style, bool(self._options.verbose))
        return self._stability

    def _runs(self, result: TestResult) -> str:
        return f"  {self._stabilities().line(result)}" if result.attempts else ""

    def _verdict(self, outcome: Outcome) -> str:
        mark, color = MARKS[outcome.status]
        checks = f", {count(outcome.assertions, 'assertion')}" if self._options.verbose and outcome.assertions else ""
        checks += f", {outcome.not_judged} not judged" if outcome.not_judged else ""
        time = in_milliseconds(outcome.milliseconds)
        return f"{self._paint(f'{mark} {outcome.status.upper()}', color)} ({time}{checks})"

    def _steps(self, outcome: Outcome, indent: str) -> str:
        text = ""
        for step in outcome.steps:
            reason = f": {in_line(said)}" if (said := step.skip_text) else ""
            time = in_milliseconds(step.milliseconds)
            text += f"{indent}  {self._style.mark(step.status)} {in_line(step.name)} ({time}){reason}\n"
            for failure in step.failures:
                text += self._style.failure(failure, indent + "    ") + self._around(failure, indent + "       ")
            text += self._steps(step, indent + "  ")
        return text

    def _suite_end(self, id: str, run: Execution) -> None:
        counts = run.counts_by_suite[id]
        if self._detailed or self._options.quiet or not counts.total:
            return
        status = "failed" if counts.bad else "skipped" if counts.skipped == counts.total else "passed"
        numbers = {"passed": counts.passed, "failed": counts.failed, "skipped": counts.skipped}
        numbers["error" if counts.errors == 1 else "errors"] = counts.errors
        parts = [f"{number} {word}" for word, number in numbers.items() if number]
        if counts.not_judged:
            from runner.record.summary import unjudged

            parts.append(unjudged(counts.not_judged))
        named = in_line(run.suites[id].name)
        time = in_milliseconds(counts.milliseconds)
        self._write(f"{self._style.mark(status)} {named}  {', '.join(parts)} ({time})\n")

    def _end(self, event: events.RunEnd, run: Execution) -> None:
        text = ""
        if self._warned and not self._options.quiet:
            text = f"{DOUBLE}\n  {self._paint('Warnings', 'bold')}\n{DOUBLE}\n"
            text += "".join(
                f"{self._style.mark(result.outcome.status)} {in_line(f'{suite.name} › {result.name}')}\n"
                + self._warnings(result.outcome, "  ")
                for suite, result in self._warned
            )
        if untold := [(suite, result) for suite, result in self._failed if result.is_resumed or not self._detailed]:
            told = "\n".join(self._near(self.repeated(suite, result)) for suite, result in untold) + "\n"
            text += f"{DOUBLE}\n  {self._paint('Failures', 'bold')}\n{DOUBLE}\n{told}"
            self._since += told.count("\n")
        if self._failed and (len(self._failed) > MANY or self._since > SCREEN):
            text += f"{DOUBLE}\n  {self._paint('Failed tests', 'bold')}\n{DOUBLE}\n"
            text += "".join(self._near(self._in_one_line(suite, result)) + "\n" for suite, result in self._failed)
        counts = run.counts
        if self._stability is not None and not self._options.quiet:
            text += self._stability.table(self._options.runs, self._room())
            if counts.repeated:
                from runner.record.summary import savings

                text += f"  {savings(counts)}\n"
        if counts.rates and not self._options.quiet:
            from runner.reporters.console.table import rate_table

            text += rate_table(counts, self._room(), bool(self._options.verbose))
        if self._cases is not None and all(suite.has_cases for suite in run.suites.values()):
            text += self._cases.summary(counts, event, usage_line(run))
        elif run.suites and (counts.total or not run.errors):
            time = in_milliseconds(event.seconds * 1000)
            errors = f", {count(counts.errors, 'error')}" if counts.errors else ""
            warnings = f", {count(counts.warnings, 'warning')}" if counts.warnings else ""
            missing = f", {count(counts.missing_calls, 'missing call')}" if counts.missing_calls else ""
            summary = f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped"
            summary += f"{errors}{warnings}{missing} ({time})"
            if len(run.suites) > 1:
                of_cases = any(suite.has_cases for suite in run.suites.values())
                summary += f" in {len(run.suites)} {'inputs' if of_cases else 'modules'}"
            if event.status == events.RunStatus.INTERRUPTED:
                summary = f"interrupted: {summary}"
            color = "red" if event.status != events.RunStatus.PASSED else "green"
            text += f"{DOUBLE}\n  Summary: {self._paint(summary, color)}\n{self._rates(run)}{usage_line(run)}{DOUBLE}\n"
        if counts.not_judged or counts.checks_nothing or counts.todo or counts.only:
            from runner.record.summary import remarks

            said = remarks(counts, with_calls=False)  # the line above has counted them
            text += "".join(self._paint(f"  {one}\n", "yellow") for one in said)
        if event.snapshots is not None:
            from runner.record.summary import in_lines

            text += "".join(f"  {self._paint(line, 'yellow')}\n" for line in in_lines(event.snapshots))
        if event.coverage is not None and not self._options.quiet:
            from runner.reporters.console.table import coverage_table

            text += coverage_table(event.coverage, self._style, self._room())
        if self._options.durations is not None:
            from runner.reporters.console.table import slowest_tests

            text += slowest_tests(self._took, self._options.durations, self._style, self._room())
        if event.stopped:
            left = f"; {event.not_run} not run" if event.not_run else ""
            text += self._paint(f"Stopped: {event.stopped}{left}\n", "yellow")
        self._write(text)

    def _rates(self, run: Execution) -> str:
        """How sure the figures of a run of cases are; of one with script tests too they would be half the truth."""
        if not run.counts.rates or self._options.quiet or not all(suite.has_cases for suite in run.suites.values()):
            return ""
        from runner.reporters.console.table import rate_lines

        return "".join(f"{line}\n" for line in rate_lines(run.counts, bool(self._options.verbose)))

    def repeated(self, suite: Suite, result: TestResult) -> str:
        """A failed test with all there is to say about it."""
        text = self._paint(f"✗ {in_line(f'{suite.name} › {result.name}')}\n", "red")
        with_tree = result.case is not None and result.case.in_turns and not self._detailed
        if with_tree:
            from runner.reporters.console.case_lines import CaseLines

            text += CaseLines(self._style, 0).tree(result)
        for outcome in _failing(result.outcome):
            if outcome is not result.outcome:
                text += f"  {in_line(outcome.name)}\n"
            for failure in outcome.failures:
                if failure.phase == "subtest" or (with_tree and failure.location is None):
                    continue
                text += self._style.failure(failure, "  ") + self._around(failure, "     ")
        story = result.story[-SHORT_STORY:] if self._options.brief else result.story
        text += self._at(suite, result) + self._style.story(story, "  ")
        if not self._detailed:
            text += self._style.output(result.logs, "     ") + self._runs(result)
        return text + self._again(suite, result)

    def _around(self, failure: Failure, indent: str) -> str:
        """Where a failure happened: its place, the code there, its callers, and the details of an error."""
        text = ""
        if location := failure.location:
            text += f"{indent}at {self._short(location.file)}:{location.line}:{location.column}\n"
        if failure.code_frame:
            text += "".join(f"{indent}{line}\n" for line in failure.code_frame.split("\n"))
        text += self._called_from(failure, indent)
        if failure.details:
            text += "".join(f"{indent[:-2]}{line}\n" for line in failure.details.split("\n"))
        return text

    def _at(self, suite: Suite, result: TestResult) -> str:
        """The place of a case that failed in no script."""
        if result.case is None or any(failure.location for failure in result.outcome.failures):
            return ""
        from runner.record.result_texts import case_place

        place = case_place(suite, result, self._directory)
        return f"     at {in_line(place)}\n" if place else ""

    def _in_one_line(self, suite: Suite, result: TestResult) -> str:
        """A failed test that has been told above."""
        failures = [failure for outcome in _failing(result.outcome) for failure in outcome.failures if failure.location]
        failures.sort(key=lambda failure: failure.phase == "subtest")
        at = failures[0].location if failures else None
        place = f"{self._short(at.file)}:{at.line}:{at.column}" if at else self._at(suite, result).strip()[3:]
        return self._paint(f"✗ {in_line(f'{suite.name} › {result.name}')}", "red") + (f" ({place})" if place else "")

    def _again(self, suite: Suite, result: TestResult) -> str:
        in_step = any(step.failures for step in result.outcome.steps)
        command = command_of(suite, self._flags)(result.name, in_step)
        return self._paint(f"  Rerun: {command}\n", "cyan")

    def _near(self, text: str) -> str:
        """A text with places as they are written in the working directory."""
        from runner.record.writing import near

        return near(text, str(self._directory))

    def _short(self, file: str) -> str:
        return in_line(file.removeprefix(f"{self._directory}/"))


def failure_text(suite: Suite, result: TestResult, flags: tuple[str, ...], environment: Environment) -> str:
    """The lines about a failed test at the end of a run; `flags` are those that its result may depend on."""
    reporter = ConsoleReporter(RunOptions(inputs=(), no_color=True), environment, lambda _: None, flags)
    return reporter.repeated(suite, result)


def _failing(outcome: Outcome) -> list[Outcome]:
    found = [outcome] if outcome.failures else []
    for step in outcome.steps:
        found += _failing(step)
    return found
