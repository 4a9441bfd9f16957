"""Comparisons as data of the page, which shows them and decides nothing: with an older report, and of the variants of a
run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from runner.compare.change_report import BeforeAfter, ChangeReport
from runner.compare.comparison import KINDS, Comparison, ResultChange, output_difference
from runner.compare.variants import VariantsCompared, marked, matrix, verdicts_on
from runner.errors import ConfigurationError
from runner.parts import described
from runner.record.model import ResultKey, key_of
from runner.record.report import Report
from runner.reporters.change_lines import cells_of, changed_parts, fact_of, overview, verdict_line
from runner.reporters.console.verdict_lines import MEASURES, case_rows, measure_rows, parts_shown, sentences
from runner.statistics.change import MeanDifference
from runner.statistics.intervals import Estimate, Interval
from scripttest.typing_names import Record

SHOWN = 2
"""Badges of one result."""
ROWS = 2000
"""Cases of the matrix."""


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
    counted = [(kind, len(found.of(kind.key))) for kind in KINDS if kind.key != "removed"]
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
            for name, written in [MEASURES[measure.key]]
        ],
        "parts": changed_parts(found),
        "kinds": [
            {"key": kind.key, "title": kind.title, "tone": kind.tone, "count": number}
            for kind, number in counted
            if number
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
        *(_figure(part.rates, part.change) for part in parts_shown(found)),
        *({"difference": _whiskers(ratio.interval, ratio.ratio, 1)} if ratio else {} for ratio in ratios),
    ]
    return {
        "name": name,
        "word": str(found.verdict),
        "said": sentences(found),
        "rows": [
            {"cells": cells, **{key: ends for key, ends in of.items() if ends}}
            for cells, of in zip(measure_rows(found), figures, strict=True)
        ],
        "cases": case_rows(found),
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
    return (found if is_said else [["looks worse", "bad"], *found])[:SHOWN]


def _places(report: Report, baseline: Report) -> list[int]:
    """For each result the place of the one in the baseline with its name, or -1; the second of a name goes with the
    second."""
    known: dict[ResultKey, list[int]] = defaultdict(list)
    for at in range(len(baseline.results) - 1, -1, -1):
        known[key_of(baseline.results[at])].append(at)
    keys = map(key_of, report.results)
    return [known[key].pop() if known.get(key) else -1 for key in keys]


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
        "said": [
            [
                f"{name}: {sentence}" if not at else sentence
                for at, sentence in enumerate(sentences(one, BeforeAfter(a=names[0], b=name)))
            ]
            for one, name in zip(verdicts, names[1:], strict=True)
        ],
        "head": ("Case", *names),
        "rows": [
            {
                "cells": (f"{row.key.suite} › {row.key.id}" if several else row.key.name, *cells_of(row)),
                "differs": row.differs,
                "answers": _answers(row.answers),
                "answers_differ": len(set(row.answers)) > 1,
            }
            for row in found[:ROWS]
        ],
        "left_out": max(0, len(found) - ROWS),
    }


def _answers(answers: Sequence[str]) -> list[list[list[Any]]]:
    both = [marked(answers[0], other) for other in answers[1:]]
    shown = [both[0].a, *(one.b for one in both)]
    return [[[piece.text, piece.differs] for piece in pieces] for pieces in shown]
