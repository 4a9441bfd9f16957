"""`yao-test diff A B`: what changed from one saved run to another."""

from __future__ import annotations

import json
from pathlib import Path

import click

from runner import exit_codes
from runner.commands import tables
from runner.commands.inputs import RUN, check_outputs, read_report, store_folder, understanding, write_text
from runner.compare.change_report import ChangeVerdict, Noise, verdict_record
from runner.compare.comparison import KINDS, Comparison, ResultChange, Thresholds, compare
from runner.compare.variants import VariantsCompared, matrix, part_of, side_by_side, variants_of
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.parts import described
from runner.record.events import ONCE
from runner.record.report import Report
from runner.reporters import change_lines
from runner.reporters.console.style import Style
from runner.reporters.console.table import columns_of, table
from runner.reporters.console.verdict_lines import CASE_HEAD, HEAD, case_rows, measure_rows, sentences
from runner.reporters.markdown_pieces import block, details, inline
from runner.reporters.markdown_pieces import table as markdown_table
from scripttest.typing_names import Record


def diff(environment: Environment, given: tables.Diff) -> int:
    """Prints the changes and returns the exit code."""
    thresholds = Thresholds(slower_factor=given.slower_factor, slower_by=given.slower_by * 1000)
    paths = check_outputs(environment, given.outputs, (*FORMATS, ".html"))
    names, (before, *others) = _sides(environment, given)
    is_of_variants = given.baseline is None and given.b is None
    with understanding(f"the comparison of {names[0]} with {', '.join(names[1:])}"):
        compared = side_by_side(
            names,
            [before, *others],
            measure=given.measure,
            margin=given.margin / 100,
            noise=Noise(given.noise) if given.noise else None,
            looks=before.end.looks if is_of_variants else ONCE,
        )
        verdicts = compared.verdicts
        found = compare(before, others[0], thresholds)
    style = Style(environment.colors and not given.no_color)
    room = columns_of(environment)
    text = change_lines.verdicts_text(verdicts, names, style, room, given.verbose)
    if is_of_variants:
        rows = matrix([before, *others])
        text += change_lines.matrix_text(rows, names, style, room) + "\n"
    if len(others) > 1 or is_of_variants:
        what = "Variant" if is_of_variants else "Report"
        text += table(change_lines.overview(verdicts, names, what, given.verbose), room, least=change_lines.LEAST)
    else:
        text += change_lines.changes_text(found, style)
    if given.as_json:
        environment.stdout.write(as_json(found, compared, is_of_variants))
    else:
        environment.stdout.write(text)
    for path in paths:
        text = _document(path, compared, found, is_of_variants)
        write_text(environment, path, text, told=not given.as_json)
    if given.fail_on and any(verdict.fails(on_unsure=given.fail_on == "unsure") for verdict in verdicts):
        return exit_codes.FAILED
    if given.fail_on and any(verdict.verdict is ChangeVerdict.CANNOT_TELL for verdict in verdicts):
        told = environment.stderr if given.as_json else environment.stdout
        told.write('--fail-on regressed accepts the verdict "cannot tell"; --fail-on unsure does not.\n')
    return exit_codes.FAILED if given.fail_on_regression and found.is_worse else exit_codes.PASSED


def _sides(environment: Environment, given: tables.Diff) -> tuple[list[str], list[Report]]:
    """The names of the reports that are compared, and the reports; the older one first. Raises ConfigurationError."""
    a, b = given.a, given.b
    if given.baseline is not None:
        if b is not None:
            raise ConfigurationError(
                "--baseline replaces A: pass one report only", "Or pass both reports without --baseline"
            )
        return _with_baseline(environment, a, given.baseline, given.store)
    if given.store is not None:
        raise ConfigurationError("--store needs --baseline", "Refer to a run in a store as run:ID")
    if a is None:
        raise click.UsageError("yao-test diff needs A: the older report, or --baseline with a run of the store")
    names = [a, *([b] if b else []), *given.more]
    reports = [read_report(environment, name) for name in names]
    return (names, reports) if b else _variants(reports[0], a)


def _with_baseline(
    environment: Environment, name: str | None, baseline: str, store: str | None
) -> tuple[list[str], list[Report]]:
    from runner.store.baseline import baseline_of
    from runner.store.store import LATEST, Store

    with Store(store_folder(environment, store)) as opened:
        if name is None or name.startswith(RUN):
            run = opened.run((name or LATEST).removeprefix(RUN))
            name, report = name or f"{RUN}{run.id}", opened.report(run.id)
        else:
            report = read_report(environment, name)
        found = baseline_of(opened, baseline, report, leave_out=report.start.run_id)
    return [baseline, name], [found.report, found.compared]


def _variants(report: Report, name: str) -> tuple[list[str], list[Report]]:
    """The names of the variants in a report, and the results of each. Raises ConfigurationError when it has none."""
    names = variants_of(report)
    if len(names) < 2:
        raise ConfigurationError(
            f"Cannot compare {name}: there is no second report, and it has no variants",
            "Pass a second report, or run the tests with --variant",
        )
    return names, [part_of(report, variant) for variant in names]


def _document(path: Path, compared: VariantsCompared, found: Comparison, is_of_variants: bool) -> str:
    if path.suffix.lower() == ".html":
        from runner.reporters.change_lines import variants_record
        from runner.reporters.html import render

        before, after, *_ = compared.parts
        variants = variants_record(compared) if is_of_variants else None
        return render(after, before, found, list(zip(compared.names[1:], compared.verdicts, strict=True)), variants)
    return FORMATS[path.suffix.lower()](found, compared, is_of_variants)


COMMAND = ": yao-test "
"""Matches the command at the end of a sentence."""


def as_markdown(found: Comparison, compared: VariantsCompared, is_of_variants: bool) -> str:
    """The verdicts and the changes as a document, such as a comment on a pull request."""
    names, verdicts = compared.names, compared.verdicts
    text = "# Variants\n\n" if is_of_variants else "# Changes\n\n"
    if len(verdicts) > 1 or is_of_variants:
        head, *rows = change_lines.overview(verdicts, names, "Variant" if is_of_variants else "Report")
        text += markdown_table(head, [tuple(map(inline, row)) for row in rows])
    for verdict, name in zip(verdicts, names[1:], strict=True):
        first, *rest = sentences(verdict)
        text += f"## {inline(name)}\n\n" if len(verdicts) > 1 or is_of_variants else ""
        text += f"**{inline(first)}**\n\n"
        text += markdown_table(HEAD, [tuple(map(inline, row)) for row in measure_rows(verdict)])
        text += markdown_table(CASE_HEAD, [tuple(map(inline, row)) for row in case_rows(verdict)])
        text += "".join(map(_point, rest)) + ("\n" if rest else "")
    if len(verdicts) > 1:
        return text
    rows = [(kind.title, str(number)) for kind in KINDS if (number := len(found.of(kind.key)))]
    text += f"{change_lines.verdict_line(found)}\n\n" + markdown_table(("Kind", "Results"), rows)
    if parts := change_lines.changed_parts(found):
        text += f"Changed since the baseline: {inline(parts)}\n\n"
    for kind in KINDS:
        changes = found.of(kind.key)
        text += f"## {kind.title}\n\n" if changes else ""
        for change in changes:
            fact = change_lines.fact_of(kind.key, change)
            parts = f"; changed: {inline(described(change.parts))}" if change.parts else ""
            text += f"- {inline(change.suite)} › **{inline(change.id)}**{': ' if fact else ''}{inline(fact)}{parts}\n"
        text += "\n" if changes else ""
        for change in changes:
            if kind.key == "changed":
                text += details(f"{change.suite} › {change.id}", block("\n".join(change.diff)))
            elif change.error and kind.key in change_lines.WITH_ERROR:
                text += f"{inline(change.id)}:\n\n{block(change.error)}"
    return text


def _point(sentence: str) -> str:
    """A sentence as an item of a Markdown list; a command at its end is written as code."""
    said, is_command, command = sentence.partition(COMMAND)
    if not is_command:
        return f"- {inline(sentence)}\n"
    lines = block(f"yao-test {command}", "sh").rstrip("\n").split("\n")
    return f"- {inline(said)}:\n\n" + "".join(f"  {line}\n" for line in lines)


def as_json(found: Comparison, compared: VariantsCompared, is_of_variants: bool) -> str:
    """The changes as a JSON document: a list for each kind, the number of `regressions`, whether the run is `worse`,
    `changed_parts`: `{part: results}`, and `measures`: `{name: {before, after}}`, means of one run over the results
    that were judged in both."""
    document: Record = {kind.key: [_record(change) for change in found.of(kind.key)] for kind in KINDS}
    document |= {"regressions": len(found.regressions), "worse": found.is_worse, "compared": found.compared}
    document["changed_parts"] = found.parts
    document["measures"] = {
        measure.key: {"before": round(measure.before, 6), "after": round(measure.after, 6)}
        for measure in found.measures
    }
    first, *others = compared.names
    records = list(map(verdict_record, compared.verdicts))
    if len(records) == 1 and not is_of_variants:
        document["verdict"] = records[0]
    else:
        document["verdicts"] = [{"a": first, "b": b, **one} for b, one in zip(others, records, strict=True)]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _record(change: ResultChange) -> Record:
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
    for key in ("score", "tokens", "cost"):
        figures = {f"{name}_{key}": getattr(side, key) for name, side in sides}
        record |= {name: round(figure, 6) for name, figure in figures.items() if figure is not None}
    if change.error:
        record["error"] = change.error
    if change.parts:
        record["changed_parts"] = list(change.parts)
    if change.diff:
        record["diff"] = list(change.diff)
    return record


FORMATS = {".md": as_markdown, ".json": as_json}
"""Extension of a file of `-o` → the function that makes the text of it."""
