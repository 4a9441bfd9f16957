"""The output of `yao-test diff` as documents: as Markdown, such as for a pull request, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from runner.reporters.console.change_lines import WITH_ERROR, fact_of, overview, parts_of, verdict_line
from runner.reporters.console.verdict_lines import CASE_HEAD, HEAD, case_rows, measure_rows, sentences
from runner.reporters.markdown_pieces import block, details, inline, table
from runner.results.change_report import ChangeReport
from runner.results.changes import KINDS, Change, Comparison, Side
from runner.results.fingerprint_changes import change_text
from runner.results.verdict_json import verdict_record
from scripttest.typing_names import Record

COMMAND = ": yao-test "
"""Matches the command at the end of a sentence."""


def as_markdown(
    found: Comparison, verdicts: Sequence[ChangeReport], names: Sequence[str], is_of_variants: bool = False
) -> str:
    """The verdicts and the changes as a document, such as a comment on a pull request."""
    text = "# Variants\n\n" if is_of_variants else "# Changes\n\n"
    if len(verdicts) > 1 or is_of_variants:
        head, *rows = overview(verdicts, names, "Variant" if is_of_variants else "Report")
        text += table(head, [tuple(map(inline, row)) for row in rows])
    for verdict, name in zip(verdicts, names[1:], strict=True):
        first, *rest = sentences(verdict)
        text += f"## {inline(name)}\n\n" if len(verdicts) > 1 or is_of_variants else ""
        text += f"**{inline(first)}**\n\n"
        text += table(HEAD, [tuple(map(inline, row)) for row in measure_rows(verdict)])
        if cases := case_rows(verdict):
            text += table(CASE_HEAD, [tuple(map(inline, row)) for row in cases])
        text += "".join(map(_point, rest)) + ("\n" if rest else "")
    if len(verdicts) > 1:
        return text
    rows = [(kind.title, str(number)) for kind in KINDS if (number := len(found.of(kind.key)))]
    text += f"{verdict_line(found)}\n\n" + (table(("Kind", "Results"), rows) if rows else "")
    if parts := parts_of(found):
        text += f"Since the older run, {inline(parts)}.\n\n"
    for kind in KINDS:
        changes = found.of(kind.key)
        if not changes:
            continue
        text += f"## {kind.title}\n\n"
        for change in changes:
            fact = fact_of(kind.key, change)
            parts = f"; {inline(change_text(change.parts))}" if change.parts else ""
            text += f"- {inline(change.suite)} › **{inline(change.id)}**{': ' if fact else ''}{inline(fact)}{parts}\n"
        text += "\n"
        for change in changes:
            if kind.key == "changed":
                text += details(f"{change.suite} › {change.id}", block("\n".join(change.diff)))
            elif change.error and kind.key in WITH_ERROR:
                text += f"{inline(change.id)}:\n\n{block(change.error)}"
    return text


def _point(sentence: str) -> str:
    """A sentence as an item of a Markdown list; a command at its end is written as code."""
    said, is_command, command = sentence.partition(COMMAND)
    if not is_command:
        return f"- {inline(sentence)}\n"
    lines = block(f"yao-test {command}", "sh").rstrip("\n").split("\n")
    return f"- {inline(said)}:\n\n" + "".join(f"  {line}\n" for line in lines)


def as_json(
    found: Comparison, verdicts: Sequence[ChangeReport], names: Sequence[str], is_of_variants: bool = False
) -> str:
    """The changes as a JSON document: a list for each kind, the number of `regressions`, whether the run is `worse`,
    `changed_parts`: `{part: results}`, and `measures`: `{name: {before, after}}`, means of one run over the results
    that were judged in both."""
    document: Record = {kind.key: [_record(change) for change in found.of(kind.key)] for kind in KINDS}
    document["regressions"] = len(found.regressions)
    document["worse"] = found.is_worse
    document["compared"] = found.compared
    document["changed_parts"] = found.parts
    document["measures"] = {
        measure.key: {"before": round(measure.before, 6), "after": round(measure.after, 6)}
        for measure in found.measures
    }
    if len(verdicts) == 1 and not is_of_variants:
        document["verdict"] = verdict_record(verdicts[0])
    else:
        document["verdicts"] = [
            {"a": names[0], "b": name, **verdict_record(one)} for name, one in zip(names[1:], verdicts, strict=True)
        ]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _record(change: Change) -> Record:
    """`{suite, id, before?, after?, before_ms?, after_ms?, regression?, before_runs?, after_runs?, before_score?,
    after_score?, before_tokens?, after_tokens?, before_cost?, after_cost?, error?, changed_parts?, diff?}`;
    `before_runs` is `{passed, count}`, there where a result ran several times."""
    record: Record = {"suite": change.suite, "id": change.id}
    sides = [(name, side) for name, side in (("before", change.before), ("after", change.after)) if side is not None]
    record |= {name: side.status for name, side in sides}
    record |= {f"{name}_ms": round(side.milliseconds) for name, side in sides}
    if change.regression:
        record["regression"] = True
    if change.is_repeated:
        record |= {f"{name}_runs": {"passed": side.passed, "count": side.judged} for name, side in sides}
    for key, of in FIGURES.items():
        record |= {f"{name}_{key}": round(figure, 6) for name, side in sides if (figure := of(side)) is not None}
    if change.error:
        record["error"] = change.error
    if change.parts:
        record["changed_parts"] = list(change.parts)
    if change.diff:
        record["diff"] = list(change.diff)
    return record


FIGURES: dict[str, Callable[[Side], float | None]] = {
    "score": lambda side: side.score,
    "tokens": lambda side: side.tokens,
    "cost": lambda side: side.cost,
}
FORMATS = {".md": as_markdown, ".json": as_json}
"""Extension of a file of `-o` → the function that makes the text of it."""
