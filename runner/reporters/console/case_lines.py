"""The lines of cases on the console (seed 001, "Console Output"): of one answer, of several turns as a tree with a
branch for each turn (seed 000), and the summary of a run that has only cases."""

from __future__ import annotations

from typing import Any

from runner.assertions.base import AssertionResult
from runner.record import case_result
from runner.record.events import RunEnd, RunStatus, SuiteStart
from runner.record.fold import Counts
from runner.record.model import Suite, TestResult
from runner.record.result_texts import as_text, assertion_text, called, cut, message_text, one_line, trials_text
from runner.reporters.console.style import DOUBLE, SINGLE, Style, count, in_milliseconds, indented
from runner.security.terminal import in_line
from scripttest import Failure, Status
from scripttest.values import Value

OUTPUT_LIMIT = 4000
"""Characters of an output that are shown."""
VALUE_LIMIT = 200
"""Characters of an argument or result of a tool that are shown."""
WHOLE_TEXT_LIMIT = 4000
"""Characters of an answer that are shown with `-v`."""
MORE_TURNS = "Add more turns, use --interactive, or configure a simulator"
"""What helps where nobody could answer an agent."""
_SOURCES = {"initial": "[Initial] ", "simulated": "[Simulated] ", "human": "[Human] "}
_COLORS: dict[str, str] = {
    Status.PASSED: "green",
    Status.FAILED: "red",
    Status.SKIPPED: "yellow",
    case_result.ScoreVerdict.PASS: "green",
    case_result.ScoreVerdict.FAIL: "red",
    case_result.ScoreVerdict.SKIP: "yellow",
}


class _Branch(Value):
    head: str
    details: list[str]
    """Each perhaps of several lines."""
    indent: int = 2
    """Blanks before the details of a branch that others follow."""


class CaseLines:
    """Makes the text for headers, cases, trees of turns and the summary."""

    def __init__(self, style: Style, verbose: int) -> None:
        self._style = style
        self._verbose = verbose
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
            self._turns += _spoken(case)
            self._with_turns += 1
            shows_all = bool(self._verbose) or outcome.status == Status.FAILED
            logs = self._style.output(result.logs, "  ", shows_all)
            return self.title(result) + self.tree(result) + logs + "\n"
        time = in_milliseconds(outcome.milliseconds)
        text = f"{self._style.mark(outcome.status)} {_named(outcome.name, case)} ({time})\n"
        if outcome.status == Status.SKIPPED:
            return text + (f"  {in_line(outcome.skip_reason)}\n" if outcome.skip_reason else "") + "\n"
        text += self._facts(case)
        shows_all = bool(self._verbose) or outcome.status == Status.FAILED
        if suite.is_message or shows_all:
            text += self._output(case.output)
        text += (self._tools(case) if shows_all else "") + self._style.output(result.logs, "  ", shows_all)
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
        lines += [f"  Errors:  {self._style.paint(str(counts.errors), 'red')}"] if counts.errors else []
        lines += [f"  Skipped: {counts.skipped}"] if counts.skipped else []
        for title, number in (("Warnings", counts.warnings), ("Missing calls", counts.missing_calls)):
            lines += [f"  {title}: {self._style.paint(str(number), 'yellow')}"] if number else []
        lines += [tokens.rstrip("\n")] if tokens else []
        if self._with_turns:
            lines += ["", f"  Total turns: {self._turns}", f"  Avg turns/test: {self._turns / self._with_turns:.1f}"]
        lines.append(f"  Time:    {in_milliseconds(end.seconds * 1000)}")
        from runner.reporters.console.table import rate_lines

        lines += rate_lines(counts, bool(self._verbose)) if self._rated else []
        return "\n".join(lines) + "\n"

    def title(self, result: TestResult) -> str:
        """The line above a tree."""
        case = result.case
        assert case is not None
        turns = _spoken(case)
        more = f" ({count(turns, 'turn')})" if turns > 1 else ""
        more = f" (simulator: {case.simulator})" if case.simulator else more
        return f"► {_named(result.outcome.name, case)}{more}\n"

    def tree(self, result: TestResult) -> str:
        """The turns of a case, what was checked at its end, and how it ended."""
        case = result.case
        assert case is not None
        shows_all = bool(self._verbose) or not case.simulator or result.outcome.status == Status.FAILED
        scores = {score.name: score for score in case.scores}
        branches = []
        for turn in case.turns:
            score = scores.pop(f"turn-{turn.turn}", None)
            branches.append(self._turn(turn, score, shows_all))
        if case.checkpoints:
            branches.append(self._checkpoints(case.checkpoints))
        branches += [self._score(score) for score in scores.values()]
        if case.trials:
            branches.append(self._trials(case.trials, case.trials_noise))
        if case.final_assertions is not None:
            branches.append(self._final(case.final_assertions, shows_all))
        rest = _unsaid(case, result.outcome.failures)
        if rest or case.final_assertions is None:
            branches.append(self._end(result, case, rest))
        return "".join(self._drawn(branch, last=branch is branches[-1]) for branch in branches)

    def _facts(self, case: case_result.CaseResult) -> str:
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

    def _tools(self, case: case_result.CaseResult) -> str:
        text = ""
        for tool in case.tools:
            result = f"error: {tool.error}" if tool.error is not None else _short(tool.result)
            text += f"  Tool: {tool.name}({_short(tool.arguments)}) → {_short(result)}\n"
        return text

    def _assertions(self, case: case_result.CaseResult) -> str:
        text = ""
        for assertion in case.assertions:
            mark = self._style.mark(_status_of(assertion))
            expected = "" if assertion.expected is None else f" {in_line(_short(assertion.expected))}"
            score = "" if assertion.score is None else f" (score {assertion.score:g})"
            judged = "" if assertion.judged else " (not judged)"
            measured = assertion.measured_by is not None
            by = in_line(f" ({assertion.similarity:g} by {assertion.measured_by})") if measured else ""
            text += f"  {mark} {assertion.type}{expected}{score}{by}{judged}\n"
        return text

    @staticmethod
    def _drawn(branch: _Branch, last: bool) -> str:
        bar = "     " if last else "  │" + " " * branch.indent
        lines = [f"  {'└' if last else '├'}─ {branch.head}"]
        for detail in branch.details:
            first, *others = detail.split("\n")
            lines += [bar + first, *(f"{bar}  {line}" for line in others)]
        if branch.details and not last:
            lines.append("  │")
        return "\n".join(lines) + "\n"

    def _turn(self, turn: case_result.TurnResult, score: case_result.ScoreResult | None, shows_all: bool) -> _Branch:
        said = "" if turn.input is None else f'"{one_line(message_text(turn.input))}" → '
        head = f"Turn {turn.turn}: {_SOURCES.get(turn.source, '')}{said}{self._status(turn.status)}"
        if turn.input is not None and turn.status != Status.SKIPPED:
            head += f" ({in_milliseconds(turn.milliseconds)})"
        details = self._answer(turn) if shows_all else []
        if score is None:
            details += self._checked(turn.assertions, shows_all)
        elif score.assertions or score.verdict == case_result.ScoreVerdict.FAIL:
            details += [self._graded(score), *map(self._criterion, score.assertions)]
        if turn.skip_reason:
            details.append(f"Reason: {turn.skip_reason}")
        if turn.error and not (score and score.assertions):
            details.append(self._style.paint(f"Error: {turn.error}", "red"))
        if turn.question:
            details.append(f'Agent asked: "{one_line(turn.question).removesuffix(".")}"')
        if turn.no_next_turn:
            details.append(f"Hint: {MORE_TURNS}")
        if turn.note:
            details.append(turn.note)
        return _Branch(head=head, details=details, indent=10)

    def _answer(self, turn: case_result.TurnResult) -> list[str]:
        lines = [f"Agent: [tool: {called(tool)}]" for tool in turn.tools]
        text = "" if turn.answer is None else as_text(turn.answer)
        if text and text != " ".join(tool.label for tool in turn.tools):
            lines.append(f'Agent: "{cut(text.strip(), WHOLE_TEXT_LIMIT) if self._verbose else one_line(text)}"')
        if self._verbose and turn.awaiting_input:
            hint = f", hint: {turn.input_hint}" if turn.input_hint else ""
            lines.append(self._style.paint(f"Awaiting input: {turn.awaiting_reason}{hint}", "dim"))
        return lines

    def _checked(self, results: tuple[AssertionResult, ...], shows_all: bool) -> list[str]:
        lines = []
        for result in results:
            if not result.passed:
                said = [f"{self._style.mark('failed')} {assertion_text(result)}", result.message]
                lines.append("\n".join([*filter(None, said), *self._style.difference(result)]))
            elif not result.judged:
                lines.append(f"{self._style.mark(_status_of(result))} {assertion_text(result)} (not judged)")
            elif shows_all:
                lines.append(f"{self._style.mark('passed')} {assertion_text(result)}")
        return lines

    def _checkpoints(self, checkpoints: tuple[case_result.CheckpointResult, ...]) -> _Branch:
        reached = sum(checkpoint.reached_at_turn is not None for checkpoint in checkpoints)
        lines = []
        for checkpoint in checkpoints:
            optional = "" if checkpoint.required else " (optional)"
            about = f" - {checkpoint.description}" if checkpoint.description else ""
            if checkpoint.reached_at_turn is not None:
                judged = "" if checkpoint.judged else ", not judged"
                said = f"reached at turn {checkpoint.reached_at_turn}{judged}{optional}{about}"
                mark = self._style.mark("passed" if checkpoint.judged else "skipped")
                lines.append(f"{mark} {checkpoint.id}: {said}")
                continue
            mark = self._style.mark("failed" if checkpoint.required else "skipped")
            why = f"\n{checkpoint.message}" if checkpoint.message else ""
            said = "undecided" if checkpoint.inconclusive else "missing"
            lines.append(f"{mark} {checkpoint.id}: {said}{optional}{about}{why}")
        return _Branch(head=f"Checkpoints: {reached} of {len(checkpoints)} reached", details=lines)

    def _score(self, score: case_result.ScoreResult) -> _Branch:
        turn = case_result.graded_turn(score.name)
        head = f"Turn {turn}" if turn else "Conversation"
        return _Branch(head=f"{head}: {self._graded(score)}", details=[*map(self._criterion, score.assertions)])

    def _graded(self, score: case_result.ScoreResult) -> str:
        number = "not judged" if score.score is None else f"{score.score:.2f}"
        return f"Score: {number} → {self._style.paint(score.verdict.upper(), _COLORS[score.verdict])}"

    def _criterion(self, criterion: case_result.CriterionResult) -> str:
        facts = [f"weight {criterion.weight:g}"] if criterion.weight != 1 else []
        facts += ["required"] if criterion.required else []
        facts += [f"score {criterion.score:.2f}"] if criterion.score not in (0, 1, None) else []
        facts += [] if criterion.judged else ["not judged"]
        text = f"{self._style.mark(_status_of(criterion))} {one_line(criterion.text)}"
        text += f" ({', '.join(facts)})" if facts else ""
        shows_why = criterion.reason and (self._verbose or not criterion.passed)
        return text + (f"\n{one_line(criterion.reason)}" if shows_why else "")

    def _trials(self, trials: tuple[case_result.TrialResult, ...], noise: case_result.TrialsNoise | None) -> _Branch:
        """The trials of a conversation; the turns above are those of the worst one."""
        lines = []
        for trial in trials:
            score = "" if trial.score is None else f"score {trial.score:.2f} "
            time = in_milliseconds(trial.milliseconds)
            lines.append(f"{self._style.mark(trial.status)} Trial {trial.trial}: {score}({time})")
        passed = sum(trial.status == Status.PASSED for trial in trials)
        if noise is not None:
            lines.append(trials_text(noise))
        return _Branch(head=f"Trials: {passed} of {len(trials)} passed", details=lines)

    def _final(self, results: tuple[AssertionResult, ...], shows_all: bool) -> _Branch:
        status = "passed" if all(result.passed for result in results) else "failed"
        return _Branch(head=f"Final Assertions: {self._status(status)}", details=self._checked(results, shows_all))

    def _end(self, result: TestResult, case: case_result.CaseResult, rest: list[Failure]) -> _Branch:
        outcome = result.outcome
        status = self._status(outcome.status)
        head = f"Result: {status}"
        if case.score is not None:
            threshold = "" if case.threshold is None else f" (threshold {case.threshold:.2f})"
            head = f"Score: {case.score:.2f}{threshold} → {status}"
        details = [self._style.failure(failure, "").rstrip("\n") for failure in rest]
        told = {turn.skip_reason for turn in case.turns}
        if outcome.status == Status.SKIPPED and outcome.skip_reason and outcome.skip_reason not in told:
            details.append(f"Reason: {outcome.skip_reason}")
        return _Branch(head=head, details=details)

    def _status(self, status: str) -> str:
        return self._style.paint(status.upper(), _COLORS[status])


def _short(value: Any) -> str:
    text = as_text(value)
    return text if len(text) <= VALUE_LIMIT else f"{text[:VALUE_LIMIT]}..."


def _spoken(case: case_result.CaseResult) -> int:
    return sum(turn.status != Status.SKIPPED and turn.input is not None for turn in case.turns)


def _unsaid(case: case_result.CaseResult, failures: tuple[Failure, ...]) -> list[Failure]:
    results = [result for turn in case.turns for result in turn.assertions] + list(case.final_assertions or ())
    told = {(result.type, result.message or f"{result.type} failed") for result in results if not result.passed}
    errors = [turn.error for turn in case.turns if turn.error] if case.score is None else []
    return [
        failure
        for failure in failures
        if (failure.type, failure.message) not in told and not any(error in failure.message for error in errors)
    ]


def _named(name: str, case: case_result.CaseResult) -> str:
    return f"[{in_line(name)}]" + (f" {in_line(case.title)}" if case.title else "")


def _status_of(check: AssertionResult | case_result.CriterionResult) -> str:
    return "failed" if not check.passed else "passed" if check.judged else "skipped"
