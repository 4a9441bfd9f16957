"""The lines of cases on the console (seed 001, "Console Output"), and the summary of a run that has only cases."""

from __future__ import annotations

from typing import Any

from runner.reporters.console.style import DOUBLE, SINGLE, Style, count, in_milliseconds, indented
from runner.reporters.console.turn_lines import TurnLines, spoken, status_of
from runner.results.case_result import CaseResult
from runner.results.counts import Counts
from runner.results.events import RunEnd, RunStatus, SuiteStart
from runner.results.model import Suite, TestResult
from runner.results.value_texts import as_text
from runner.security.terminal import in_line
from scripttest import Status

OUTPUT_LIMIT = 4000
"""Characters of an output that are shown."""
VALUE_LIMIT = 200
"""Characters of an argument or result of a tool that are shown."""


class CaseLines:
    """Makes the text for headers, cases and the summary."""

    def __init__(self, style: Style, verbose: int) -> None:
        self._style = style
        self._verbose = verbose
        self._trees = TurnLines(style, verbose)
        self._turns = 0
        self._with_turns = 0
        """Cases of several turns."""
        self._rated = False
        """Whether there are cases of a file: one message of the command line has no rate."""

    def header(self, suite: Suite, start: SuiteStart) -> str:
        """The lines above the cases of one input."""
        self._rated = self._rated or not suite.is_message
        cases = f"({count(start.selected, 'test case')}"
        cases += ")" if start.selected == start.total else f" of {start.total})"
        title = "  Agent Test" + (" (Multi-Turn)" if suite.multi_turn else "")
        lines = [DOUBLE, title, DOUBLE, f"ℹ Agent: {self._style.paint(suite.agent, 'bold')}"]
        lines.append(f"ℹ Input: {suite.name}" + ("" if suite.is_message else f" {cases}"))
        if suite.connector:
            lines.append(f"ℹ Connector: {suite.connector}")
        return "\n".join([*lines, "", SINGLE, "  Running Tests", SINGLE, ""]) + "\n"

    def case(self, suite: Suite, result: TestResult) -> str:
        """One case with its verdict."""
        outcome, case = result.outcome, result.case
        assert case is not None
        if case.in_turns:
            self._turns += spoken(case)
            self._with_turns += 1
            logs = self._style.output(result.logs, "  ") if self._verbose or outcome.status == Status.FAILED else ""
            return self._trees.title(result) + self._trees.tree(result) + logs + "\n"
        name = f"[{in_line(outcome.name)}]" + (f" {in_line(case.title)}" if case.title else "")
        text = f"{self._style.mark(outcome.status)} {name} ({in_milliseconds(outcome.milliseconds)})\n"
        if outcome.status == Status.SKIPPED:
            return text + (f"  {in_line(outcome.skip_reason)}\n" if outcome.skip_reason else "") + "\n"
        text += self._facts(case)
        shows_all = bool(self._verbose) or outcome.status == Status.FAILED
        if suite.is_message or shows_all:
            text += self._output(case.output)
        if shows_all:
            text += self._tools(case) + self._style.output(result.logs, "  ")
        if self._verbose:
            text += self._assertions(case)
        for failure in outcome.failures:
            text += self._style.failure(failure, "  ")
        return text + "\n"

    def summary(self, counts: Counts, end: RunEnd, tokens: str) -> str:
        """The last lines of a run that has only cases; `tokens` is the line about what they took, if there is one."""
        lines = [SINGLE, "  Summary" + (" (interrupted)" if end.status == RunStatus.INTERRUPTED else ""), SINGLE]
        lines += [
            f"  Total:   {count(counts.total, 'test')}",
            f"  Passed:  {self._style.paint(str(counts.passed), 'green') if counts.passed else 0}",
            f"  Failed:  {self._style.paint(str(counts.failed), 'red') if counts.failed else 0}",
        ]
        if counts.errors:
            lines.append(f"  Errors:  {self._style.paint(str(counts.errors), 'red')}")
        if counts.skipped:
            lines.append(f"  Skipped: {counts.skipped}")
        if counts.warnings:
            lines.append(f"  Warnings: {self._style.paint(str(counts.warnings), 'yellow')}")
        if counts.missing_calls:
            lines.append(f"  Missing calls: {self._style.paint(str(counts.missing_calls), 'yellow')}")
        lines += [tokens.rstrip("\n")] if tokens else []
        if self._with_turns:
            lines += ["", f"  Total turns: {self._turns}", f"  Avg turns/test: {self._turns / self._with_turns:.1f}"]
        lines.append(f"  {'Total time: ' if self._with_turns else 'Time:    '}{in_milliseconds(end.seconds * 1000)}")
        from runner.reporters.console.rate_lines import rate_lines

        lines += rate_lines(counts) if self._rated else []
        return "\n".join(lines) + "\n"

    def _facts(self, case: CaseResult) -> str:
        held = sum(assertion.passed and assertion.judged for assertion in case.assertions)
        facts = [f"Messages: {case.messages}"]
        if case.assertions:
            facts.append(f"Assertions: {held}/{len(case.assertions)} passed")
        if case.score is not None and case.threshold is not None:
            facts.append(f"Score: {case.score:.2f} (threshold {case.threshold:.2f})")
        if not_judged := sum(assertion.not_judged for assertion in case.assertions):
            facts.append(f"{not_judged} not judged")
        return f"  {', '.join(facts)}\n"

    def _output(self, output: Any) -> str:
        if output is None:
            return ""
        text = as_text(output, indent=2)
        if len(text) > OUTPUT_LIMIT:
            text = f"{text[:OUTPUT_LIMIT]}... ({len(text)} characters)"
        return f"  Output: {indented(text, '')}\n"

    def _tools(self, case: CaseResult) -> str:
        text = ""
        for tool in case.tools:
            result = f"error: {tool.error}" if tool.error is not None else _short(tool.result)
            text += f"  Tool: {tool.name}({_short(tool.arguments)}) → {_short(result)}\n"
        return text

    def _assertions(self, case: CaseResult) -> str:
        text = ""
        for assertion in case.assertions:
            mark = self._style.mark(status_of(assertion))
            expected = "" if assertion.expected is None else f" {in_line(_short(assertion.expected))}"
            score = "" if assertion.score is None else f" (score {assertion.score:g})"
            judged = "" if assertion.judged else " (not judged)"
            text += f"  {mark} {assertion.type}{expected}{score}{judged}\n"
        return text


def _short(value: Any) -> str:
    text = as_text(value)
    return text if len(text) <= VALUE_LIMIT else f"{text[:VALUE_LIMIT]}..."
