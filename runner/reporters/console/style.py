"""Pieces of text that console layouts share, and the command that runs one test again, which the HTML report copies: in
the folder in which a run was started, it gives the result of that run once more. Colours are escape codes written by
hand, because loading a library for them takes longer than most runs."""

from __future__ import annotations

from runner.amounts import dollars
from runner.record.outcomes import error_text
from runner.security.terminal import own
from scripttest import BENCHMARK, Failure, LogLine, ResultWarning, Status, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from runner.assertions.base import AssertionResult
    from runner.options.options import RunOptions
    from runner.record.events import RunStart
    from runner.record.fold import Execution
    from runner.record.model import Suite

WIDTH = 79
DOUBLE = "═" * WIDTH
SINGLE = "─" * WIDTH
FIRST_LINES, LAST_LINES = 50, 200
"""Captured lines of one test that are shown: those before a failure are the last ones."""
CASE_RATE = "Case pass rate"
"""The share of cases that pass, in which each case has the same weight however often it ran."""
MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("○", "yellow")}

_COLORS = {"red": 31, "green": 32, "yellow": 33, "cyan": 36, "dim": 2, "bold": 1}
_CODES = {name: own(f"\x1b[{number}m") for name, number in _COLORS.items()}
_PLAIN = own("\x1b[0m")


class Style:
    """Text in colours, or without them."""

    def __init__(self, colors: bool) -> None:
        self.colors = colors

    def paint(self, text: str, color: str) -> str:
        """Text in a colour; line breaks at its end stay outside."""
        if not self.colors:
            return text
        body = text.rstrip("\n")
        return f"{_CODES[color]}{body}{_PLAIN}{text[len(body) :]}"

    def mark(self, status: str) -> str:
        """The sign of a status."""
        return self.paint(*MARKS[status])

    def failure(self, failure: Failure, indent: str) -> str:
        """Lines that say what failed, and what was compared."""
        lines = [f"{indent}└─ {self.paint(indented(error_text(failure), indent + ' '), 'red')}"]
        inner = indent + "   "
        if failure.type:
            told = self.compared(failure)
            if failure.reason and failure.reason != failure.message and not told:
                lines.append(f"{inner}{failure.reason}")
            lines += [f"{inner}{indented(line, inner)}" for line in told]
        return "\n".join(lines) + "\n"

    def compared(self, check: Failure | AssertionResult) -> list[str]:
        """What a check compared, a diff in colours."""
        from runner.record.result_texts import HEAD, compared

        told = compared(check)
        if told[:1] != [HEAD]:
            return told
        head = f"{self.paint('- expected', 'red')} {self.paint('+ actual', 'green')}"
        return [head, *(self.paint(line, {"-": "red", "+": "green"}.get(line[:1], "dim")) for line in told[1:])]

    def difference(self, check: AssertionResult) -> list[str]:
        """How values differ that should be equal."""
        from runner.record.result_texts import difference_of

        return self.compared(check) if difference_of(check) else []

    def warning(self, warning: ResultWarning, indent: str, where: str) -> str:
        """Lines of a warning; `where` is its place, empty when it has none."""
        lines = [f"{indent}{self.paint(f'⚠ {indented(warning.message, indent)}', 'yellow')}"]
        return "\n".join([*lines, *([f"{indent}  at {where}"] if where else [])]) + "\n"

    def story(self, story: Sequence[dict[str, Any]], indent: str) -> str:
        """What happened in a failed test."""
        if not story:
            return ""
        from runner.record.story import shown_lines

        lines = [f"{indent}  {line}\n" for line in shown_lines(story)]
        return f"{indent}What happened before it failed:\n" + "".join(self.paint(line, "dim") for line in lines)

    def output(self, logs: tuple[LogLine, ...], indent: str, every: bool = True) -> str:
        """Captured lines; those of watched values, or `every` one."""
        if not logs:
            return ""
        shown = (line for line in logs if every or line.level == "watch")
        marked = (line.text if line.level in ("info", "watch") else f"[{line.level}] {line.text}" for line in shown)
        lines = [indent + line for text in marked for line in text.split("\n")]
        return "".join(self.paint(line, "dim") + "\n" for line in first_and_last(lines, indent))


def count(number: int, word: str) -> str:
    """`1 test`, `2 tests`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def first_and_last(lines: list[str], indent: str = "") -> list[str]:
    """Captured lines as they are shown, without those between the first and the last ones."""
    between = len(lines) - FIRST_LINES - LAST_LINES
    if between <= 0:
        return lines
    return [*lines[:FIRST_LINES], f"{indent}... {count(between, 'line')} left out", *lines[-LAST_LINES:]]


def indented(text: str, indent: str) -> str:
    """Text whose further lines begin below its first."""
    return text.replace("\n", f"\n{indent}  ")


def in_milliseconds(value: float) -> str:
    """A duration of this many milliseconds, for people; of whole ones, as reports have them."""
    seconds = round(value) / 1000
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    return f"{seconds:.2f}s" if seconds < 60 else f"{int(seconds // 60)}m{seconds % 60:.0f}s"


def usage_line(run: Execution) -> str:
    """What all cases of a run took of their models, as a line of the summary; empty where that is nothing."""
    if not (run.counts.tokens or run.counts.cost):
        return ""
    cost = "" if run.counts.cost is None else f" ({dollars(run.counts.cost)})"
    return f"  Tokens:  {run.counts.tokens}{cost}\n"


DEFAULTS = {"--user": "test-user", "--team": "test-team"}
"""Flags that need not be said."""
SEARCH = "--fuzz-time"
"""Among the flags of a run that searches with `--fuzz`."""


def flags_of(options: RunOptions) -> tuple[str, ...]:
    """The flags of a run that a result may depend on, as words of its command."""
    return tuple(options.words(lambda flag: flag.of_test and (flag.field != "fuzz_time" or bool(options.fuzz))))


def flags_in(suite: Suite, start: RunStart) -> Sequence[str]:
    """The flags that results of a suite of a report may depend on; where it does not say, those that they show."""
    if start.flags:
        return start.flags
    who = start.environment
    shown = {"--connector": suite.connector, "--user": who.get("user_id"), "--team": who.get("team_id")}
    return [word for flag, value in shown.items() if value and value != DEFAULTS.get(flag) for word in (flag, value)]


def command_of(suite: Suite, flags: Sequence[str]) -> Callable[..., str]:
    """What runs one test of a suite again, by its name and whether a step of it failed; `flags` is what `flags_of`
    gave. An input that a search has found is a step, which needs no search any more."""
    from shlex import quote

    from runner.filters import pattern_of

    more, search = list(flags), ""
    if SEARCH in more:
        at = more.index(SEARCH)
        search = f" {SEARCH} {quote(more[at + 1])}"
        del more[at : at + 2]
    if "--name" not in flags and (suite.is_message or suite.is_generated):
        more += ["--name", suite.agent]
    command = f"yao-test -i {quote(suite.input)}"
    rest = "".join(f" {quote(word)}" for word in more)

    def of(test: str, in_step: bool = True) -> str:
        if suite.is_message or (not suite.has_cases and not kind_of(test)):  # a broken module has no tests
            return command + rest
        pattern = quote(pattern_of([test]))
        flag = "--bench" if not suite.has_cases and kind_of(test) == BENCHMARK else "--run"
        if search and not in_step:
            return f"{command} --fuzz {pattern}{search}{rest}"
        return f"{command} {flag} {pattern}{rest}"

    return of


def has_failed_step(record: Mapping[str, Any]) -> bool:
    """Whether a step of a result failed, which is a line of a report."""
    return any(step.get("status") == Status.FAILED for step in record.get("steps") or ())
