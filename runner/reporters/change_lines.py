"""What changed from one run to another, and between the variants of one run, in words: the same on the console, in
Markdown and on the HTML page; as lists and tables for the console; and as data of the page, which decides nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from runner.cells import in_cell, width
from runner.compare.change_report import BeforeAfter, ChangeReport
from runner.compare.comparison import KINDS, Comparison, ResultChange, output_difference
from runner.compare.variants import DiffSegment, MatrixRow, VariantsCompared, marked, matrix, verdicts_on
from runner.errors import ConfigurationError
from runner.parts import described
from runner.record.model import ResultKey, key_of
from runner.record.outcomes import shown
from runner.record.report import Report
from runner.record.votes import SCORE
from runner.reporters.console import verdict_lines
from runner.reporters.console.style import DOUBLE, Style, count, in_milliseconds
from runner.reporters.console.table import grouped, table
from runner.security.terminal import in_line
from runner.statistics.change import MeanDifference
from runner.statistics.intervals import Estimate, Interval
from scripttest.typing_names import Record

ERROR_LIMIT = 500
"""Characters of an error that are shown."""
COLORS = {"bad": "red", "warning": "yellow", "good": "green", "neutral": "cyan", "quiet": "dim"}
"""Tone of a kind of change → its colour."""
VERDICT_COLORS = {"regressed": "red", "improved": "green", "unchanged": "green", "cannot tell": "yellow"}
LEAST = ("Tokens", "Cost", "Duration", "Difference")
"""Columns of the overview that matter least."""
_FIGURES: dict[str, tuple[str, str, Callable[[float], str]]] = {
    "lower_scores": ("score", "score {} → {}", "{:.3g}".format),
    "more_tokens": ("tokens", "{} → {} tokens", verdict_lines.MEASURES["tokens"][1]),
    "higher_costs": ("cost", "{} → {}", verdict_lines.MEASURES["cost"][1]),
}
"""Kind of change → the figure that changed, how both sides of it are told, and how one is written."""
WITH_ERROR = ("new_failures", "dropped", "flaky", "errors")
"""Kinds of change that say the error."""


def verdict_line(found: Comparison) -> str:
    """A summary of the lists, which may be noise: `2 results look worse, 1 error`."""
    errors, worse = len(found.of("errors")), len(found.regressions)
    if found.all_broke:
        return f"No verdict: {count(errors, 'result')} ended with an error"
    said = f"{count(worse, 'result')} {'looks' if worse == 1 else 'look'} worse" if worse else "Nothing looks worse"
    if errors:
        return f"{said}, {count(errors, 'error')}"
    return said if any(change.kinds for change in found.changes) else "No changes"


def fact_of(kind: str, change: ResultChange) -> str:
    """What changed in the sense of a kind: `passed → failed`, `100ms → 900ms, 9.0 times as long`; empty where the kind
    says all."""
    was, now = change.before, change.after
    if was is None:
        return shown(now.status) if now is not None and kind == "added" else f"new → {shown(now.status) if now else ''}"
    if now is None:
        return shown(was.status)
    if kind in ("slower", "faster"):
        factor = f", {now.milliseconds / was.milliseconds:.1f} times as long" if was.milliseconds else ""
        text = f"{in_milliseconds(was.milliseconds)} → {in_milliseconds(now.milliseconds)}"
        return text + factor if kind == "slower" else text
    if kind == "dropped":
        return f"{runs_of(change)} runs passed" + (", looks worse" if change.regression else "")
    if kind in _FIGURES:
        field, form, written = _FIGURES[kind]
        figures = (getattr(side, field) for side in (was, now))
        return form.format(*("none" if figure is None else written(figure) for figure in figures))
    if kind in ("still_failing", "changed"):
        return ""
    runs = f" ({runs_of(change)} runs passed)" if change.is_repeated else ""
    return f"{shown(was.status)} → {shown(now.status)}{runs}"


def changed_parts(found: Comparison) -> str:
    """What the results of the two runs were made of that is not the same: `prompts of refunds, connector (a → b) (12
    results)`; empty when there is nothing, or it is not known."""
    numbers = dict.fromkeys(found.parts.values())
    groups = ([part for part, count in found.parts.items() if count == number] for number in numbers)
    return "; ".join(
        f"{described(group)} ({count(number, 'result')})" for number, group in zip(numbers, groups, strict=True)
    )


def runs_of(change: ResultChange) -> str:
    """How many of its runs passed: `9 of 10 → 8 of 10`."""
    sides = [side for side in (change.before, change.after) if side is not None]
    return " → ".join(f"{side.passed} of {side.judged}" for side in sides)


def changes_text(found: Comparison, style: Style) -> str:
    """The changes for the console, and which parts of the application have changed."""
    text = ""
    for kind in KINDS:
        if changes := found.of(kind.key):
            text += style.paint(f"{kind.title} ({len(changes)})\n", COLORS[kind.tone])
            text += "".join(_lines_of(kind.key, change) for change in changes) + "\n"
    parts = changed_parts(found)
    return f"{text}{verdict_line(found)}\n" + (f"Changed since the baseline: {parts}\n" if parts else "")


def verdicts_text(
    verdicts: Sequence[ChangeReport], names: Sequence[str], style: Style, room: int | None, detailed: bool
) -> str:
    """The verdicts for the console: what each means, the cases that got worse, and a row for each figure.

    Args:
        verdicts: of all reports except the first.
        names: names of all reports.
        style: with colours or without.
        room: columns of the terminal.
        detailed: with intervals, and what the runs could have shown."""
    text = ""
    for verdict, name in zip(verdicts, names[1:], strict=True):
        told = [*verdict_lines.sentences(verdict, detailed=detailed), f"A: {names[0]}, B: {name}"]
        if len(verdicts) > 1:
            told[0] = f"{name}: {told[0]}"
        text += _told(told, verdict, style) + "\n"
        if cases := verdict_lines.case_rows(verdict, detailed):
            text += table([verdict_lines.CASE_HEAD, *cases], room, least=("p",)) + "\n"
        rows = [verdict_lines.HEAD, *verdict_lines.measure_rows(verdict, detailed)]
        text += table(rows, room, least=("Difference",)) + "\n"
    return text


def _told(said: Sequence[str], verdict: ChangeReport, style: Style) -> str:
    head, *rest = said
    lines = [style.paint(head, VERDICT_COLORS[verdict.verdict]), *(f"  {line}" for line in rest)]
    return "\n".join(lines) + "\n"


def _lines_of(kind: str, change: ResultChange) -> str:
    fact = fact_of(kind, change)
    text = f"  {in_line(f'{change.suite} › {change.id}')}{': ' if fact else ''}{fact}\n"
    error = " ".join((change.error or "").split()) if kind in WITH_ERROR else ""
    text += f"    {error[:ERROR_LIMIT]}\n" if error else ""
    if change.parts:
        text += f"    changed: {described(change.parts)}\n"
    if kind == "changed":
        text += "".join(f"    {line}\n" for line in change.diff)
    return text


def overview(
    verdicts: Sequence[ChangeReport], names: Sequence[str], title: str = "Report", detailed: bool = True
) -> list[verdict_lines.Row]:
    """A head, the first report, then the others with their verdicts. Columns without any value are left out.

    Args:
        verdicts: of all reports except the first.
        names: names of all reports.
        title: what is compared.
        detailed: with intervals."""
    first = verdicts[0]
    took = (verdict_lines.MEASURES[name][0] for name in verdict_lines.RESOURCES)
    head = (title, verdict_lines.measure_name(first.measure), "Score", *took, "Difference", "Verdict")
    rows = [head, (names[0], *_figures_of(first, "a", detailed), "", "")]
    for found, name in zip(verdicts, names[1:], strict=True):
        difference = verdict_lines.difference_of(found.change, detailed)
        rows.append((name, *_figures_of(found, "b", detailed), difference, str(found.verdict)))
    known = [at for at in range(len(head)) if any(row[at] for row in rows[1:])]
    return [tuple(row[at] for at in known) for row in rows]


def _figures_of(found: ChangeReport, side: str, detailed: bool) -> list[str]:
    """The measure, the score and what it took, of one side of a comparison."""
    score = next((part.rates for part in found.parts if part.kind == SCORE), None)
    rates = (verdict_lines.rate_of(getattr(one, side), detailed) if one else "" for one in (found.rates, score))
    took = {one.name: verdict_lines.MEASURES[one.name][1](getattr(one.means, side)) for one in found.beside}
    return [*rates, *(took.get(name, "") for name in verdict_lines.RESOURCES)]


ROWS = 50
"""Cases of the matrix."""
ANSWERS = 10
"""Cases of which the answers are shown."""
LENGTH = 400
"""Characters of an answer that are shown."""


OF_ANSWERS = ("messages", "turns", "tools", "logs", "attachments", "sent", "failures")
"""Members of a result that variants are not compared by."""


def variants_text(report: Report, style: Style, room: int | None, detailed: bool) -> str:
    """What differs between the variants of a run, or why they cannot be compared. `room` is the width of the terminal;
    `detailed` shows the statistics behind the verdicts."""
    try:
        compared = verdicts_on(report)
    except ConfigurationError as error:
        return f"The variants cannot be compared: {error.message}\n"
    names, verdicts = compared.names, compared.verdicts
    text = f"{DOUBLE}\n  {style.paint('Variants', 'bold')}\n{DOUBLE}\n"
    for verdict, said in zip(verdicts, _said_of(compared, detailed), strict=True):
        text += _told(said, verdict, style)
    text += "\n" + matrix_text(matrix(compared.parts), names, style, room)
    return f"{text}\n{table(overview(verdicts, names, 'Variant', detailed), room, least=LEAST)}"


def matrix_text(rows: Sequence[MatrixRow], names: Sequence[str], style: Style, room: int | None) -> str:
    """How often each case passes in each variant, suite by suite; then the answers of those that differ, below each
    other."""
    cells = ((row.key.suite, (row.key.name, *_cells_of(row))) for row in rows[:ROWS])
    text = table(grouped(("Case", *names), cells), room)
    if len(rows) > ROWS:
        text += f"  ... and {len(rows) - ROWS} more, {sum(row.differs for row in rows)} of all differ\n"
    shown_names = [in_cell(name) for name in names]
    longest = max(map(width, shown_names))
    for row in [row for row in rows if row.differs and len(set(row.answers)) > 1][:ANSWERS]:
        text += f"\n  {row.key.name}\n"
        for at, (name, pieces) in enumerate(zip(shown_names, _pieces_of(row.answers), strict=True)):
            shown = _painted(pieces, style, "green" if at else "red") if pieces else style.paint("no answer", "dim")
            text += f"    {name}{' ' * (longest - width(name))}  {shown.rstrip()}\n"
    return text


def _said_of(compared: VariantsCompared, detailed: bool = True) -> list[list[str]]:
    """What is said of each variant but the first; its name comes first."""
    names, said = compared.names, []
    for verdict, name in zip(compared.verdicts, names[1:], strict=True):
        first, *rest = verdict_lines.sentences(verdict, BeforeAfter(a=names[0], b=name), detailed)
        said.append([f"{name}: {first}", *rest])
    return said


def _cells_of(row: MatrixRow) -> list[str]:
    return [f"{rate.passed}/{rate.judged}" if rate.judged else "none" for rate in row.rates]


def _pieces_of(answers: Sequence[str]) -> list[Sequence[DiffSegment]]:
    """Each answer in pieces: those marked that the first one does not have, or, of the first, that the second lacks."""
    both = [marked(answers[0], other) for other in answers[1:]]
    return [both[0].a, *(one.b for one in both)]


def _painted(pieces: Sequence[DiffSegment], style: Style, color: str) -> str:
    """Pieces in one line; without colours, marked ones are in brackets."""
    text, size = "", 0
    for piece in pieces:
        if size + len(piece.text) > LENGTH:
            return f"{text} ..."
        size += len(piece.text)
        plain = piece.text.replace("\n", " ")
        if piece.differs and plain.strip():
            plain = style.paint(plain, color) if style.colors else f"[{plain}]"
        text += plain
    return text


BADGES = 2
"""Those that a page shows of one result."""
MOST_ROWS = 2000
"""Cases of the matrix on a page."""


def comparison_record(
    found: Comparison, report: Report, baseline: Report, verdicts: Sequence[tuple[str, ChangeReport]] = ()
) -> Record:
    """`{changes: [change, ...], overview: [[text, ...], ...], verdict, worse, compared, measures: [[name, before,
    after], ...], parts, kinds: [{key, title, tone, count}, ...], rows: {position: {kinds: [[key, fact], ...], badges:
    [[text, tone], ...], made_of?}}, was: [position, ...], outputs: {position: diff}, removed: [id, ...]}`. `_change`
    makes a change from one of the `verdicts`, `(name of the report, verdict)`.

    Positions are those of rows in the index of a report. `rows` has only rows with a change; `was` has, for each row of
    the report, the row of the baseline, or -1; `outputs` how outputs differ from the earlier ones. `fact` is the change
    in a few words. `parts` and `made_of` say which parts of the application have changed, for all results and for one.
    """
    changes = {(change.suite, change.id): change for change in found.changes}
    rows: dict[int, Record] = {}
    for at, result in enumerate(report.results):
        change = changes[result.suite, result.name]
        if change.kinds or change.regression:
            kinds = [[kind, fact_of(kind, change)] for kind in change.kinds]
            made_of = {"made_of": f"changed: {described(change.parts)}"} if change.parts else {}
            rows[at] = {"kinds": kinds, "badges": _badges(change), **made_of}
    return {
        "changes": [_change(name, verdict) for name, verdict in verdicts],
        "overview": overview([verdict for _, verdict in verdicts], ["A", *(name for name, _ in verdicts)])
        if len(verdicts) > 1
        else [],
        "verdict": verdict_line(found),
        "worse": found.is_worse,
        "compared": found.compared,
        "measures": [
            (name, written(measure.before), written(measure.after))
            for measure in found.measures
            for name, written in [verdict_lines.MEASURES[measure.key]]
        ],
        "parts": changed_parts(found),
        "kinds": [
            {"key": kind.key, "title": kind.title, "tone": kind.tone, "count": number}
            for kind in KINDS
            if kind.key != "removed" and (number := len(found.of(kind.key)))
        ],
        "rows": rows,
        "was": (was := _places(report, baseline)),
        "outputs": {
            at: diff
            for at, place in enumerate(was)
            if place >= 0 and (diff := output_difference(baseline.results[place], report.results[at]))
        },
        "removed": [change.id for change in found.of("removed")],
    }


def _change(name: str, found: ChangeReport) -> Record:
    """`{name, word, said: [sentence, ...], rows: [{cells: [text, ...], a?, b?, difference?}, ...], cases: [[text, ...],
    ...]}`. `a`, `b` and `difference` are `[low, value, high]` for whiskers, as shares, where there is an interval; of a
    ratio, how much more than 1 it is."""
    ratios = [beside.ratio for beside in found.beside]
    figures = [
        _figure(found.rates, found.change),
        *(_figure(part.rates, part.change) for part in verdict_lines.parts_shown(found)),
        *({"difference": _whiskers(ratio.interval, ratio.ratio, 1)} if ratio else {} for ratio in ratios),
    ]
    return {
        "name": name,
        "word": str(found.verdict),
        "said": verdict_lines.sentences(found),
        "rows": [
            {"cells": cells, **{key: ends for key, ends in of.items() if ends}}
            for cells, of in zip(verdict_lines.measure_rows(found), figures, strict=True)
        ],
        "cases": verdict_lines.case_rows(found),
    }


def _figure(rates: BeforeAfter[Estimate], change: MeanDifference) -> Record:
    ends = {side: _whiskers(getattr(rates, side).interval, getattr(rates, side).value) for side in ("a", "b")}
    return {**ends, "difference": _whiskers(change.interval, change.difference)}


def _whiskers(interval: Interval | None, value: float | None, zero: int = 0) -> list[float] | None:
    if interval is None or value is None:
        return None
    return [interval.low - zero, value - zero, interval.high - zero]


def _badges(change: ResultChange) -> list[list[str]]:
    """What the list shows of a change: no more than there is room for."""
    found = [[kind.badge, kind.tone] for kind in KINDS if kind.key in change.kinds]
    is_said = not change.regression or "new_failures" in change.kinds
    return (found if is_said else [["looks worse", "bad"], *found])[:BADGES]


def _places(report: Report, baseline: Report) -> list[int]:
    """For each result the place of the one in the baseline with its name, or -1; the second of a name goes with the
    second."""
    known: dict[ResultKey, list[int]] = defaultdict(list)
    for at, result in reversed([*enumerate(baseline.results)]):
        known[key_of(result)].append(at)
    return [known[key].pop() if known[key] else -1 for key in map(key_of, report.results)]


def variants_of(report: Report) -> Record | None:
    """What the page says of the variants of a run; None when they cannot be compared."""
    try:
        return variants_record(verdicts_on(report))
    except ConfigurationError:
        return None


def variants_record(compared: VariantsCompared) -> Record:
    """`{overview: [[text, ...], ...], said: [[sentence, ...], ...], head: [text, ...], rows: [{cells: [text, ...],
    differs, answers: [[[text, differs], ...], ...], answers_differ}, ...], left_out}`; `said` has a list for each
    variant but the first, `answers` the pieces of each answer, those marked that the first answer does not have."""
    names, verdicts, found = compared.names, compared.verdicts, matrix(compared.parts)
    several = len({row.key.suite for row in found}) > 1
    return {
        "overview": overview(verdicts, names, "Variant"),
        "said": _said_of(compared),
        "head": ("Case", *names),
        "rows": [
            {
                "cells": (f"{row.key.suite} › {row.key.id}" if several else row.key.name, *_cells_of(row)),
                "differs": row.differs,
                "answers": [[[piece.text, piece.differs] for piece in pieces] for pieces in _pieces_of(row.answers)],
                "answers_differ": len(set(row.answers)) > 1,
            }
            for row in found[:MOST_ROWS]
        ],
        "left_out": max(0, len(found) - MOST_ROWS),
    }
