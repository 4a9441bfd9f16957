"""Reports for people. The `.md` report of seed 004: tables, and a section for each result, failures first; it is never
longer than what GitHub takes as the summary of a job. `report.summary`, `.txt`: a few lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runner.amounts import dollars
from runner.record.events import RunStatus
from runner.record.fold import Counts
from runner.record.model import Suite
from runner.record.outcomes import Verdict, error_text
from runner.record.report import Report
from runner.record.result_texts import agents_of, connectors_of, counts_text, cut, warnings_of
from runner.record.stability import pass_rate
from runner.record.summary import (
    cost_of,
    in_lines,
    in_words,
    judges_text,
    part_rows,
    rate_text,
    remarks,
    savings,
    score_text,
)
from runner.record.writing import utf8
from runner.reporters.markdown_pieces import (
    LINE_LIMIT,
    MARKS,
    block,
    body,
    duration,
    heading,
    inline,
    narrow_table,
    table,
    visible,
)
from scripttest import Status

LIMIT = 1_000_000
"""Bytes of a document; GitHub takes 1 MiB."""
RESERVE = 500
"""Bytes that are reserved for the note about results that are left out."""
WHOLE = 0.8
"""Share of the document from which on results have no details."""
ORDER = (MARKS["failed"], MARKS["broken"], MARKS["passed"], MARKS["skipped"])
"""Signs of suites, in the order in which these are listed."""
RATES = ("Case pass rate", "Mean score")
PART_ROWS = 20
"""Tags, criteria and checkpoints that are listed, of each."""
ROWS = 200
"""Suites, errors and warnings that are listed."""
_SETTINGS = (("User", "user_id"), ("Team", "team_id"), ("Locale", "locale"))


def markdown(report: Report, limit: int = LIMIT) -> str:
    """The document, in at most `limit` bytes of UTF-8: when it becomes long, the last results have no details, and then
    results are left out, which is said. Failures come first."""
    parts = [_head(report, limit // 4), "## Results\n\n"]
    size = sum(map(_size, parts))
    suites = {suite.id: suite for suite in report.suites}
    left_out = Counter[str]()
    for result in sorted(report.results, key=lambda result: result.status != Status.FAILED):
        text = title = heading(result)
        if size < limit * WHOLE:
            text += body(result, suites[result.suite], len(suites) > 1)
        if left_out or size + _size(text) > limit - RESERVE:
            text = title
        if left_out or size + _size(text) > limit - RESERVE:
            left_out[result.verdict.counted] += 1
            continue
        parts.append(text)
        size += _size(text)
    if left_out:
        words = list(dict.fromkeys(verdict.counted for verdict in Verdict))
        counts = ", ".join(f"{left_out[word]} {word}" for word in words if left_out[word])
        parts.append(f"Omitted to limit the length of the report: {counts}. A .json report has all of them.\n")
    return "".join(parts)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(utf8(text))


def _head(report: Report, limit: int) -> str:
    """Everything above the results, in about `limit` bytes at the most."""
    text = f"# {_title(report)}\n\n## Summary\n\n"
    text += table(("Metric", "Value"), _metrics(report))
    text += "".join(f"{inline(said, LINE_LIMIT)}\n\n" for said in remarks(report.counts))
    text += f"{inline(saved)}\n\n" if (saved := savings(report.counts)) else ""
    text += _parts(report)
    who = report.start.environment
    rows = [(title, inline(who.get(key, ""))) for title, key in _SETTINGS if who.get(key)]
    text += f"## Environment\n\n{table(('Setting', 'Value'), rows)}" if rows else ""
    for title, said in (("Errors", report.errors), ("Warnings", report.warnings)):
        if said:
            text += f"## {title}\n\n"
            for message in said[:ROWS]:
                text += block(message) if _size(text) < limit else ""
            text += f"{len(said)} in all.\n\n" if len(said) > ROWS or _size(text) >= limit else ""
    if len(report.suites) > 1:
        broke = bool(report.counts.errors)
        rows_of_suites = (row for row in part_rows(report.certainty) if row.kind == "suite")
        rates = {row.name: (row.rate, row.score) for row in rows_of_suites}
        none = ("",) * len(RATES)
        heads = [head for at, head in enumerate(RATES) if any(row[at] for row in rates.values())]
        found = (
            _suite_row(suite, report.counts_of(suite, results), broke, rates.get(suite.id, none)[: len(heads)])
            for suite, results in report.by_suite()
        )
        suites = sorted(found, key=lambda row: ORDER.index(row[0]))
        counted = ("Passed", "Failed", "Skipped", *(("Errors",) if broke else ()))
        text += "## Suites\n\n" + table(("", "Suite", *counted, *heads, "Duration"), suites[:ROWS])
        text += f"... and {len(suites) - ROWS} more\n\n" if len(suites) > ROWS else ""
    return text


def _parts(report: Report) -> str:
    parts = (row for row in part_rows(report.certainty, PART_ROWS) if row.kind != "suite")
    rows = [(f"{row.kind} {inline(row.name)}", row.cases, row.rate, row.score) for row in parts]
    return "## Rates\n\n" + narrow_table(("Part", "Cases", *RATES), rows) if rows else ""


def _title(report: Report) -> str:
    kinds = {suite.has_cases for suite in report.suites}
    return "Test Report" if len(kinds) != 1 else "Agent Test Report" if kinds == {True} else "Script Test Report"


def _metrics(report: Report) -> list[tuple[str, str]]:
    counts, end = report.counts, report.end
    agents = agents_of(report.suites)
    rows = [("Agents" if ", " in agents else "Agent", inline(agents))] if agents else []
    alone = report.suites[0] if len(report.suites) == 1 else None
    rows += [("Script", inline(alone.id))] if alone is not None and not alone.has_cases else []
    connectors = connectors_of(report.suites, report.results)
    rows += [("Connector", inline(connectors))] if connectors else []
    rows += [("Total", str(counts.total)), ("Passed", str(counts.passed)), ("Failed", str(counts.failed))]
    some = {
        "Skipped": counts.skipped,
        "Errors": counts.errors,
        "Warnings": counts.warnings,
        "Missing calls": counts.missing_calls,
        "Not judged": counts.not_judged,
        "Todo": counts.todo,
        "Check nothing": counts.checks_nothing,
    }
    rows += [(title, str(number)) for title, number in some.items() if number]
    rows += [
        ("Pass Rate", _rate(report)),
        *((("Mean Score", said),) if (said := score_text(report.certainty)) else ()),
        *((("Judge Noise", said),) if (said := judges_text(report.certainty)) else ()),
        ("Duration", duration(end.milliseconds)),
    ]
    if counts.tokens or counts.cost:
        rows.append(("Tokens", f"{counts.input_tokens} in, {counts.output_tokens} out"))
        rows += [("Cost", inline(dollars(cost)))] if (cost := cost_of(counts)) is not None else []
    if end.stopped:
        rows += [("Stopped", inline(end.stopped)), ("Not Run", str(end.not_run))]
    if end.snapshots is not None:
        rows.append(("Snapshots", inline(in_words(end.snapshots))))
        rows += [("Obsolete", inline(name)) for name in end.snapshots.obsolete[:ROWS]]
    if end.status in (RunStatus.ERROR, RunStatus.INTERRUPTED):
        rows.append(("Status", end.status))
    rows += [("Input", inline(alone.label))] if alone is not None and alone.has_cases else []
    return rows


def _rate(report: Report) -> str:
    """The pass rate of cases with its interval; with script tests among them, without an interval."""
    judged = report.counts.passed + report.counts.failed
    of_cases = rate_text(report.certainty) if all(suite.has_cases for suite in report.suites) else ""
    rate = f"{pass_rate(report.counts.passed, judged)}%" if judged else "none: nothing was judged"
    return of_cases or rate


def _suite_row(suite: Suite, counts: Counts, broke: bool, rates: Sequence[str]) -> tuple[str, ...]:
    """A suite in the table; `broke`: with its errors, as some suite has some; `rates`: its pass rate and mean score."""
    verdict = "failed" if counts.failed else "broken" if counts.errors else "passed" if counts.passed else "skipped"
    numbers = [counts.passed, counts.failed, counts.skipped, *([counts.errors] if broke else [])]
    return (MARKS[verdict], inline(suite.shown), *map(str, numbers), *rates, duration(counts.milliseconds))


WORDS = {Verdict.FAILED: "FAILED", Verdict.BROKEN: "ERROR", Verdict.INCONCLUSIVE: "INCONCLUSIVE"}
"""What the line of a result begins with."""


def summary(report: Report) -> str:
    """Counts, tests that failed or broke, warnings, and what broke outside of tests, in lines."""
    counts, end = report.counts, report.end
    interrupted = "interrupted: " if end.status == RunStatus.INTERRUPTED else ""
    lines = [f"{interrupted}{counts_text(counts)} in {end.milliseconds / 1000:.2f}s{_more(report)}"]
    lines += _rates(report)
    for result in report.results:
        if result.status == Status.FAILED:
            error = error_text(result.outcome.decisive) if result.outcome.decisive else "it failed"
            lines.append(f"{WORDS[result.verdict]} {_line(result.suite)} {_line(result.name)}: {_line(error)}")
    lines += [
        f"WARNING {_line(result.suite)} {_line(result.name)}: {_line(message)}"
        for result in report.results
        for message, _ in warnings_of(result)
    ]
    lines += [_line(said) for said in remarks(counts)]
    if end.snapshots is not None:
        lines += map(visible, in_lines(end.snapshots))
    return "\n".join([*lines, *(f"ERROR {_line(error)}" for error in report.errors)]) + "\n"


def _rates(report: Report) -> list[str]:
    """The intervals of the figures: of all cases, if there are no script tests, then of each part."""
    known = report.certainty
    said = {"Case pass rate": rate_text(known), "Mean score": score_text(known), "Judge noise": judges_text(known)}
    of_cases = all(suite.has_cases for suite in report.suites)
    lines = [f"{title}: {text}" for title, text in said.items() if text and of_cases]
    return lines + [
        f"{row.kind} {_line(row.name)}: "
        f"{', '.join(filter(None, (row.rate, row.score and f'score {row.score}'))) or row.cases}"
        for row in part_rows(known)
    ]


def _more(report: Report) -> str:
    counts, end = report.counts, report.end
    text = f", {counts.tokens} tokens" if counts.tokens or counts.cost else ""
    text += f", {dollars(cost)}" if text and (cost := cost_of(counts)) is not None else ""
    return text + (f"; stopped: {_line(end.stopped)}, {end.not_run} not run" if end.stopped else "")


def _line(text: str) -> str:
    """A text in one line, of which a long one is cut and control characters are escapes."""
    return visible(cut(" ".join(text.split()), LINE_LIMIT))
