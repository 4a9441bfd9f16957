"""What `yao-test mutate` prints: survivors as diffs, with the tests that reached them, and the score."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from runner.amounts import in_words
from runner.mutation.session import FailedTest, Outcome, Progress
from runner.mutation.verdicts import MISSED, Status, Verdict, by_file, by_function, score_of
from runner.reporters.console.style import Style, count
from runner.reporters.console.table import table
from runner.security.terminal import own

MOST_FAILED = 20
"""At most this many failed tests are named."""
MOST_REASONS = 10
"""At most this many reasons are given why mutants are ignored."""
MOST_TESTS = 3
"""At most this many tests are named that reach a survivor."""
MOST_LINES = 12
"""At most this many lines of a diff are shown on each side."""
REFRESH = 0.2
"""Seconds between two drawings of the progress, at least."""
SAID = {
    Status.KILLED: "killed",
    Status.TIMEOUT: "ended by their rounds",
    Status.SURVIVED: "survived",
    Status.NO_COVERAGE: "not reached",
    Status.BROKEN: "broken",
    Status.UNDECIDED: "undecided",
    Status.IGNORED: "ignored",
}


def survivors_text(outcome: Outcome, style: Style) -> str:
    """The mutants that nothing notices, handler by handler; those that no test reaches are counted by function."""
    text = ""
    for file, found in by_file(outcome.verdicts).items():
        missed = [verdict for verdict in found if verdict.status in (*MISSED, Status.BROKEN, Status.UNDECIDED)]
        if not missed:
            continue
        text += style.paint(f"{file}", "bold") + "\n\n"
        for function, of_function in by_function(missed).items():
            unreached = [one for one in of_function if one.status is Status.NO_COVERAGE]
            text += "".join(
                _survivor(one, outcome, style) for one in of_function if one.status is not Status.NO_COVERAGE
            )
            if unreached:
                lines = sorted({one.mutant.line for one in unreached})
                where = f"{lines[0]}" if len(lines) == 1 else f"{lines[0]}-{lines[-1]}"
                named = f" in {function}" if function else ""
                text += f"  {file}:{where}: no test reaches {count(len(unreached), 'mutant')}{named}\n\n"
    return text


def diff_lines(verdict: Verdict, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The lines of a mutant's diff: the sign, `-` or `+`, and the line."""
    mutant = verdict.mutant
    lines = texts[mutant.file].split("\n")
    for sign, found in (("-", lines[mutant.line - 1 : mutant.end_line]), ("+", mutant.mutated.split("\n"))):
        for line in found[:MOST_LINES]:
            yield sign, line.rstrip("\r")
        if len(found) > MOST_LINES:
            yield sign, f"... {len(found) - MOST_LINES} more lines"


def reached_text(verdict: Verdict) -> str:
    """The tests that reached a mutant, in words."""
    names = [key.test for key in verdict.reached_by]
    more = f" and {len(names) - MOST_TESTS} more" if len(names) > MOST_TESTS else ""
    return f"{', '.join(names[:MOST_TESTS])}{more}"


def failed_text(failed: Sequence[FailedTest]) -> str:
    """The tests that fail before anything is planted."""
    verb = "fails" if len(failed) == 1 else "fail"
    text = f"Error: {count(len(failed), 'test')} {verb} without any mutant\n"
    text += "".join(f"  {test.name}: {test.why}\n" for test in failed[:MOST_FAILED])
    text += f"  ... and {len(failed) - MOST_FAILED} more\n" if len(failed) > MOST_FAILED else ""
    return text + "Hint: Fix them first; yao-test --last-failed reruns failed tests\n"


def below_text(verdicts: Iterable[Verdict], least: float | None) -> str:
    """What is said of a score that is below the threshold; empty when it is not."""
    share = score_of(verdicts).share
    if least is None or share is None or share >= least:
        return ""
    return f"The score {percent(share)} is below the threshold {percent(least)}\n"


def summary_text(outcome: Outcome, room: int | None) -> str:
    """The scores of handlers and functions, and of all; `room` is the width of the terminal."""
    verdicts = outcome.verdicts
    rows: list[tuple[str, ...]] = [("Handler", "Score", "Noticed", "Survived", "Not reached")]
    for file, found in by_file(verdicts).items():
        functions = by_function(found)
        named = (
            {f"  {name or '(top of the module)'}": one for name, one in functions.items()} if len(functions) > 1 else {}
        )
        for name, of_one in {file: found, **named}.items():
            score = score_of(of_one)
            missed = (str(score.counts.get(status) or "") for status in (Status.SURVIVED, Status.NO_COVERAGE))
            rows.append((name, percent(score.share), f"{score.noticed} of {score.counted}", *missed))
    text = table(rows, room, least=("Noticed",)) if len(rows) > 1 else ""
    kept = sum(verdict.is_kept for verdict in verdicts)
    text += f"\n{total_line(verdicts)}\n"
    text += f"{kept} of these verdicts come from an earlier run; --fresh tests all again\n" if kept else ""
    reasons = Counter(verdict.reason for verdict in verdicts if verdict.status is Status.IGNORED)
    text += "".join(f"  {number} ignored: {reason}\n" for reason, number in reasons.most_common(MOST_REASONS))
    return text + (f"{outcome.stopped}: undecided mutants were not fully tested\n" if outcome.stopped else "")


def total_line(verdicts: Iterable[Verdict]) -> str:
    """All counts, and the score."""
    score = score_of(verdicts)
    said = [f"{score.counts[status]} {word}" for status, word in SAID.items() if score.counts.get(status)]
    return f"{count(sum(score.counts.values()), 'mutant')}: {', '.join(said) or 'none'}. Score {percent(score.share)}"


def percent(share: float | None) -> str:
    """A share in words; one that is not 1 is never shown as 100 %."""
    if share is None:
        return "-"
    return f"{min(share, 0.999) * 100:.1f} %" if share < 1 else "100 %"


def _survivor(verdict: Verdict, outcome: Outcome, style: Style) -> str:
    mutant = verdict.mutant
    within = f" in {mutant.within}" if mutant.within else ""
    text = f"  {mutant.file}:{mutant.line}:{mutant.column}{within}: {mutant.mutator} {SAID[verdict.status]}\n"
    for sign, line in diff_lines(verdict, outcome.texts):
        text += "    " + style.paint(f"{sign} {line}", "red" if sign == "-" else "green") + "\n"
    if verdict.reason:
        text += f"    {verdict.reason.splitlines()[0]}\n"
    if verdict.status is Status.SURVIVED:
        text += f"    reached by {reached_text(verdict)}\n"
    if verdict.point is not None:
        text += f"    {verdict.point.text}\n"
    return text + "\n"


class Bar:
    """Shows on a terminal how far the run is, and how long it will still take."""

    def __init__(self, stream: TextIO) -> None:
        """Shows nothing yet."""
        self._stream = stream
        self._is_shown = stream.isatty()
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        """Shows it, unless it has just been shown."""
        now = time.monotonic()
        if not self._is_shown or not progress.done or now < self._next:
            return
        self._next = now + REFRESH
        rest = progress.seconds / progress.done * progress.left
        said = f"{progress.done} of {progress.done + progress.left} mutants, {in_words(round(rest))} left"
        self._stream.write(f"{_CLEAR}{said}")
        self._stream.flush()

    def close(self) -> None:
        """Takes it away."""
        if self._is_shown and self._next:
            self._stream.write(_CLEAR)
            self._stream.flush()


_CLEAR = own("\r") + own("\x1b[K")
