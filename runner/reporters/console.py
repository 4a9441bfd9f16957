"""The console: the layout of seed 004, failures repeated at the end with what to run to see one again.

One module, or `-v`: header, a `►` line and a verdict for each test. Several modules: one line each, failing tests
beneath. Colours are escape codes written by hand, because loading a library for them takes longer than most runs.
"""

from __future__ import annotations

from collections.abc import Callable

from runner.environment import Environment
from runner.events import Event, RunEnd, RunError, RunStart, Suite, SuiteEnd, SuiteStart, TestEnd, TestResult
from runner.execution import Execution
from runner.options import RunOptions
from runner.reporters.records import error_text
from scripttest import Failure, Outcome

WIDTH = 79
DOUBLE = "═" * WIDTH
SINGLE = "─" * WIDTH
VALUE_LIMIT = 2000
"""Characters of a printed value that are shown."""
OUTPUT_LINES = 200
"""Captured lines of one test that are shown."""

_CODES = {"red": 31, "green": 32, "yellow": 33, "cyan": 36, "dim": 2, "bold": 1}
_MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("○", "yellow")}


class ConsoleReporter:
    """Writes to standard output."""

    def __init__(self, options: RunOptions, environment: Environment, write: Callable[[str], None]) -> None:
        """`write` puts text on the terminal, above the live display if there is one."""
        self._write = write
        self._options = options
        self._directory = environment.directory
        self._colors = environment.colors and not options.no_color
        self._same = "".join(
            f" --{name} {_quoted(value)}"
            for name in ("app", "name", "user", "team", "ctx")
            if (value := getattr(options, name)) is not None
        )
        """The flags that a test's outcome may depend on."""
        self._detailed = False
        self._failed: list[tuple[Suite, TestResult]] = []

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Prints what an event means to a person."""
        if isinstance(event, TestEnd):
            self._test(event.result, so_far)
        elif isinstance(event, SuiteStart):
            self._suite_start(event, so_far)
        elif isinstance(event, SuiteEnd):
            self._suite_end(event.suite, so_far)
        elif isinstance(event, RunStart):
            self._detailed = (len(event.suites) == 1 or bool(self._options.verbose)) and not self._options.quiet
        elif isinstance(event, RunError):
            self._write(
                self._paint(f"Error: {event.message}\n", "red") + (f"Hint: {event.hint}\n" if event.hint else "")
            )
        elif isinstance(event, RunEnd):
            self._end(event, so_far)

    def close(self) -> None:
        """Nothing is left to do."""

    def _suite_start(self, event: SuiteStart, run: Execution) -> None:
        if self._options.dry_run:
            self._write("".join([f"{event.suite}\n", *[f"  {name}\n" for name in event.tests]]))
        elif self._detailed:
            suite = run.suites[event.suite]
            assert run.start is not None
            functions = _count(len(event.tests), "function")
            if len(event.tests) != event.total:
                functions += f" of {event.total}"
            where = run.start.environment
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
        if not event.tests:
            reason = f"none of {event.total} matches --run" if event.total else "the module has no Test* function"
            self._write(self._paint(f"  no tests to run in {event.suite}: {reason}\n", "yellow"))

    def _test(self, result: TestResult, run: Execution) -> None:
        outcome = result.outcome
        if outcome.status == "failed":
            self._failed.append((run.suites[result.suite], result))
        if self._detailed:
            shows_output = outcome.status == "failed" or self._options.verbose
            body = self._steps(outcome, "  ") + (self._output(result, "    ") if shows_output else "")
            if outcome.status == "failed":
                body += "".join(
                    self._failure(failure, "    ") for failure in outcome.failures if failure.phase != "subtest"
                )
            elif outcome.skip_reason:
                body += f"    └─ {outcome.skip_reason}\n"
            self._write(f"► [{outcome.name}] ...\n  {self._verdict(outcome)}\n{body}\n")

    def _verdict(self, outcome: Outcome) -> str:
        mark, color = _MARKS[outcome.status]
        checks = f", {_count(outcome.assertions, 'assertion')}" if self._options.verbose and outcome.assertions else ""
        return (
            self._paint(f"{mark} {outcome.status.upper()}", color) + f" ({_milliseconds(outcome.milliseconds)}{checks})"
        )

    def _steps(self, outcome: Outcome, indent: str) -> str:
        text = ""
        for step in outcome.steps:
            mark, color = _MARKS[step.status]
            reason = f": {step.skip_reason}" if step.skip_reason else ""
            text += f"{indent}  {self._paint(mark, color)} {step.name} ({_milliseconds(step.milliseconds)}){reason}\n"
            text += "".join(self._failure(failure, indent + "    ") for failure in step.failures)
            text += self._steps(step, indent + "  ")
        return text

    def _failure(self, failure: Failure, indent: str, values: bool = True) -> str:
        lines = [f"{indent}└─ {self._paint(_indented(error_text(failure), indent + ' '), 'red')}"]
        inner = indent + "   "
        if failure.type:
            shown = values and failure.expected_text is not None
            if failure.reason and failure.reason != failure.message and not shown:
                lines.append(f"{inner}{failure.reason}")
            for label, text in (("expected", failure.expected_text), ("actual", failure.actual_text)):
                if values and text is not None:
                    lines.append(f"{inner}{label}: {_indented(text[:VALUE_LIMIT], inner)}")
        return "\n".join(lines) + "\n"

    def _output(self, result: TestResult, indent: str) -> str:
        shown = result.logs[:OUTPUT_LINES]
        marked = [text if level == "info" else f"[{level}] {text}" for level, text in shown]
        lines = [indent + text.replace("\n", f"\n{indent}") for text in marked]
        if len(result.logs) > len(shown):
            lines.append(f"{indent}... {len(result.logs) - len(shown)} more lines")
        return "".join(self._paint(line, "dim") + "\n" for line in lines)

    def _suite_end(self, id: str, run: Execution) -> None:
        if self._detailed or self._options.quiet or (id not in run.listed and not run.of_suite[id].total):
            return
        counts = run.of_suite[id]
        if not counts.total:
            return
        status = "failed" if counts.failed else "skipped" if counts.skipped == counts.total else "passed"
        mark, color = _MARKS[status]
        parts = [
            f"{number} {word}"
            for number, word in ((counts.passed, "passed"), (counts.failed, "failed"), (counts.skipped, "skipped"))
            if number
        ]
        self._write(f"{self._paint(mark, color)} {id}  {', '.join(parts)} ({_milliseconds(counts.milliseconds)})\n")

    def _end(self, event: RunEnd, run: Execution) -> None:
        text = ""
        if self._failed:
            text = f"{DOUBLE}\n  {self._paint('Failures', 'bold')}\n{DOUBLE}\n"
            text += "\n".join(self._repeat(suite, result) for suite, result in self._failed) + "\n"
        counts = run.counts
        if self._options.dry_run:
            tests = sum(len(start.tests) for start in run.listed.values())
            text += f"{_count(tests, 'test')} in {_count(len(run.suites), 'module')}\n"
        elif run.suites and (counts.total or not run.errors):
            summary = (
                f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped ({_seconds(event.seconds)})"
            )
            if len(run.suites) > 1:
                summary += f" in {len(run.suites)} modules"
            if event.status == "interrupted":
                summary = f"interrupted: {summary}"
            color = "red" if event.status != "passed" else "green"
            text += f"{DOUBLE}\n  Summary: {self._paint(summary, color)}\n{DOUBLE}\n"
        self._write(text)

    def _repeat(self, suite: Suite, result: TestResult) -> str:
        """A failed test with all there is to say about it."""
        text = self._paint(f"✗ {suite.id} › {result.name}\n", "red")
        for outcome in _failing(result.outcome):
            if outcome is not result.outcome:
                text += f"  {outcome.name}\n"
            for failure in outcome.failures:
                if failure.phase == "subtest":
                    continue
                shows_diff = failure.diff is not None and _is_long(failure)
                text += self._failure(failure, "  ", values=not shows_diff)
                if failure.diff is not None and shows_diff:
                    text += f"     {self._paint('- expected', 'red')} {self._paint('+ actual', 'green')}\n"
                    text += "".join(f"     {self._diff_line(line)}\n" for line in failure.diff.split("\n"))
                if location := failure.location:
                    text += f"     at {self._short(location.file)}:{location.line}:{location.column}\n"
                if failure.code_frame:
                    text += "".join(f"     {line}\n" for line in failure.code_frame.split("\n"))
                for frame in failure.frames[1:6]:
                    where = frame.location
                    text += self._paint(
                        f"     called from {self._short(where.file)}:{where.line}:{where.column}\n", "dim"
                    )
        if not self._detailed:
            text += self._output(result, "     ")
        command = f"yao-test -i {_quoted(suite.id)}"
        if result.name.startswith("Test"):  # else the module broke, and no test has that name
            command += f" --run {_quoted(f'^{result.name}$')}"
        return text + self._paint(f"  Run it again: {command}{self._same}\n", "cyan")

    def _diff_line(self, line: str) -> str:
        return self._paint(line, {"-": "red", "+": "green"}.get(line[:1], "dim"))

    def _short(self, file: str) -> str:
        prefix = f"{self._directory}/"
        return file.removeprefix(prefix)

    def _paint(self, text: str, color: str) -> str:
        if not self._colors:
            return text
        body = text.rstrip("\n")
        return f"\x1b[{_CODES[color]}m{body}\x1b[0m{text[len(body) :]}"


def _failing(outcome: Outcome) -> list[Outcome]:
    """An outcome and its subtests, those that failed, outermost first."""
    found = [outcome] if outcome.failures else []
    for step in outcome.steps:
        found += _failing(step)
    return found


def _quoted(text: str) -> str:
    from shlex import quote

    return quote(text)


def _is_long(failure: Failure) -> bool:
    """Whether a diff says more than the two values beside each other."""
    texts = (failure.expected_text or "", failure.actual_text or "")
    return any("\n" in text or len(text) > 60 for text in texts)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _indented(text: str, indent: str) -> str:
    return text.replace("\n", f"\n{indent}  ")


def _milliseconds(value: float) -> str:
    return _seconds(value / 1000)


def _seconds(value: float) -> str:
    if value < 1:
        return f"{value * 1000:.0f}ms"
    return f"{value:.2f}s" if value < 60 else f"{int(value // 60)}m{value % 60:.0f}s"
