"""What changed between two reports, and the verdict on it, for the console."""

from __future__ import annotations

from collections.abc import Sequence

from runner.reporters.console.change_lines import error_of, fact_of, parts_of, verdict_line
from runner.reporters.console.style import Style
from runner.reporters.console.variant_lines import aligned
from runner.reporters.console.verdict_lines import CASE_HEAD, HEAD, case_rows, measure_rows, sentences
from runner.results.change_report import ChangeReport
from runner.results.changes import KINDS, Change, Comparison
from runner.results.fingerprint_changes import change_text
from runner.security.terminal import in_line

COLORS = {"bad": "red", "warning": "yellow", "good": "green", "neutral": "cyan", "quiet": "dim"}
"""Tone of a kind of change → its colour."""
VERDICT_COLORS = {"regressed": "red", "improved": "green", "unchanged": "green", "cannot tell": "yellow"}
WITH_ERROR = ("new_failures", "dropped", "flaky", "errors")
"""Kinds of change that say the error."""


def as_text(found: Comparison, style: Style) -> str:
    """The changes for the console."""
    text = ""
    for kind in KINDS:
        if changes := found.of(kind.key):
            text += style.paint(f"{kind.title} ({len(changes)})\n", COLORS[kind.tone])
            text += "".join(_lines_of(kind.key, change) for change in changes) + "\n"
    return text + end_of(found)


def end_of(found: Comparison) -> str:
    """A summary of the lists, and which parts of the application have changed."""
    parts = parts_of(found)
    return (f"Since the older run, {parts}\n" if parts else "") + f"{verdict_line(found)}\n"


def as_rows(verdicts: Sequence[ChangeReport], names: Sequence[str], style: Style) -> str:
    """The verdicts for the console: a row for each figure, the cases that fell, and what it means."""
    text = ""
    for verdict, name in zip(verdicts, names, strict=True):
        text += "\n" + (style.paint(f"{name}\n", "bold") if len(verdicts) > 1 else "")
        text += aligned([HEAD, *measure_rows(verdict)])
        if cases := case_rows(verdict):
            text += aligned([CASE_HEAD, *cases])
        first, *rest = sentences(verdict)
        text += style.paint(first, VERDICT_COLORS[verdict.verdict]) + "\n"
        text += "".join(f"  {line}\n" for line in rest)
    return text


def _lines_of(kind: str, change: Change) -> str:
    fact = fact_of(kind, change)
    text = f"  {in_line(f'{change.suite} › {change.id}')}{': ' if fact else ''}{fact}\n"
    if kind in WITH_ERROR and (error := error_of(change)):
        text += f"    {error}\n"
    if change.parts:
        text += f"    {change_text(change.parts)}\n"
    if kind == "changed":
        text += "".join(f"    {line}\n" for line in change.diff)
    return text
