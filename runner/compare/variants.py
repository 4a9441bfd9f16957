"""A run with variants as one report for each, so that they are compared like any two reports; and several reports of
the same cases as one, in which each case has the runs of all."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from runner.compare.change_report import BeforeAfter, ChangeReport, JudgedCase, judged_cases, says_the_same
from runner.compare.change_verdict import adjusted, change_between, change_of
from runner.errors import ConfigurationError
from runner.record.combining import usage_of
from runner.record.events import InterimLooks, RunEnd
from runner.record.fold import counted, status_of
from runner.record.lines import as_read, result_of, with_members
from runner.record.model import ResultKey, TestResult
from runner.record.report import Report, in_order
from runner.record.result_texts import as_text
from runner.record.stability import Attempt, answer_of_run, normalised, shown_of, stability_of
from runner.statistics import PassCount
from scripttest.values import Value

LONGEST = 4000
"""At most this many characters of an answer are compared."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


class DiffSegment(Value):
    """A piece of an answer."""

    text: str
    differs: bool
    """Whether it is missing in the answer that it is compared with."""


class VariantsCompared(Value):
    """Several runs side by side: the variants of one run, or runs of their own."""

    names: Sequence[str]
    parts: Sequence[Report]
    verdicts: Sequence[ChangeReport]
    """On all but the first, against that."""


class MatrixRow(Value):
    """One case in all variants."""

    key: ResultKey
    cases: tuple[JudgedCase | None, ...]
    """None: a variant has no result of it."""

    @property
    def answers(self) -> tuple[str, ...]:
        """What the agent answered in the run that is shown, as text."""
        answers = (one.result.case.answer if one and one.result.case else None for one in self.cases)
        return tuple("" if answer is None else as_text(answer) for answer in answers)

    @property
    def rates(self) -> list[PassCount]:
        """The runs in each variant."""
        runs = (case.runs if case is not None else () for case in self.cases)
        return [PassCount(passed=sum(run.passed for run in made), judged=len(made)) for made in runs]

    @property
    def differs(self) -> bool:
        """Whether its pass rate differs between variants."""
        rates = self.rates
        return len({rate.rate for rate in rates if rate.judged}) > 1 or any(not rate.judged for rate in rates)


def variants_of(report: Report) -> list[str]:
    """The names of the variants of a run, in their order; none where it has none."""
    return list(dict.fromkeys(suite.variant for suite in report.suites if suite.variant))


def part_of(report: Report, variant: str) -> Report:
    """The results of one variant, whose suites bear the names that they have in all variants."""
    names = {suite.id: suite.label for suite in report.suites if suite.variant == variant}
    suites = tuple(suite.replace(variant="", id=suite.label) for suite in report.suites if suite.id in names)
    results = [
        with_members(result, variant="", suite=names[result.suite])
        for result in report.results
        if result.suite in names
    ]
    return report.replace(start=report.start.replace(suites=suites, resume=None), results=results, text="")


def verdicts_on(report: Report) -> VariantsCompared:
    """The variants of a run, compared with the first. Raises ConfigurationError."""
    names = variants_of(report)
    return side_by_side(names, [part_of(report, name) for name in names], looks=report.end.looks)


def side_by_side(names: Sequence[str], parts: Sequence[Report], **how: Any) -> VariantsCompared:
    """Reports compared with the first of them; `how`, as `change_between` takes it. Raises ConfigurationError."""
    others = zip(names[1:], parts[1:], strict=True)
    found = [change_between(parts[0], part, names=BeforeAfter(a=names[0], b=name), **how) for name, part in others]
    return VariantsCompared(names=names, parts=parts, verdicts=adjusted(found))


def verdicts_between(variants: Mapping[str, Mapping[ResultKey, JudgedCase]], looks: InterimLooks) -> list[ChangeReport]:
    """The verdicts on all variants but the first while the run is under way. Raises ConfigurationError."""
    (first, before), *others = variants.items()
    return adjusted([change_of(before, cases, BeforeAfter(a=first, b=name), looks=looks) for name, cases in others])


def matrix(parts: Sequence[Report]) -> list[MatrixRow]:
    """One row for each case, with all variants. Cases that differ come first."""
    known = [judged_cases(part) for part in parts]
    keys = dict.fromkeys(key for cases in known for key in cases)
    rows = [MatrixRow(key=key, cases=tuple(cases.get(key) for cases in known)) for key in keys]
    return sorted(rows, key=lambda row: not row.differs)


def marked(first: str, other: str) -> BeforeAfter[tuple[DiffSegment, ...]]:
    """Two answers in pieces; the pieces that only one of them has are marked."""
    first, other = first[:LONGEST], other[:LONGEST]
    if first == other:
        whole = (DiffSegment(text=first, differs=False),) if first else ()
        return BeforeAfter(a=whole, b=whole)
    a, b = _WORDS.findall(first), _WORDS.findall(other)
    left: list[DiffSegment] = []
    right: list[DiffSegment] = []
    for kind, start_a, end_a, start_b, end_b in difflib.SequenceMatcher(None, a, b).get_opcodes():
        for pieces, words in ((left, a[start_a:end_a]), (right, b[start_b:end_b])):
            if words:
                pieces.append(DiffSegment(text="".join(words), differs=kind != "equal"))
    return BeforeAfter(a=tuple(left), b=tuple(right))


class PooledRuns(Value):
    """Several reports as one."""

    report: Report
    said: tuple[str, ...] = ()
    """Where they disagree, a sentence each."""


def as_runs(reports: Sequence[Report], names: Sequence[str]) -> PooledRuns:
    """One report, the runs of each case numbered in the order of the reports; all else is as the last one with the case
    has it. Runs of a case that said something else are left out, and that is said. Raises ConfigurationError for a
    report with a run that an earlier one has."""
    runs = _distinct(reports, names)
    cases = [judged_cases(report) for report in reports]
    last = {key: case for known in cases for key, case in known.items()}
    suites = {suite.id: suite for report in reports for suite in report.suites}
    found: dict[ResultKey, list[TestResult]] = {}
    said = []
    for name, known in zip(names, cases, strict=True):
        other = [key.name for key, case in known.items() if not says_the_same(case, last[key])]
        if other:
            which = ", ".join(other[:3]) + (f" and {len(other) - 3} more" if len(other) > 3 else "")
            said.append(f"{name}: cases that were changed in a later report are left out: {which}")
        for key, case in known.items():
            if says_the_same(case, last[key]):
                found.setdefault(key, []).append(case.result)
    for key, results in found.items():
        asked = sorted({one.case.connector for one in results if one.case is not None} - {""})
        if len(asked) > 1:
            said.append(f"the runs of {key.name} used different connectors: {', '.join(asked)}")
    newest = reports[-1]
    least = newest.start.min_pass_rate
    pooled = [as_read(_pooled(made, least), suites[key.suite], key.suite) for key, made in found.items()]
    results = in_order(tuple(suites.values()), pooled)
    errors = list(dict.fromkeys(error for report in reports for error in report.errors))
    flags = {
        name: flags if all(getattr(report.start, name) == flags for report in reports) else ()
        for name, flags in (("flags", newest.start.flags), ("result_flags", newest.start.result_flags))
    }
    start = newest.start.replace(
        suites=tuple(suites.values()),
        runs=max((len(result.attempts) for result in results), default=1),
        shard=None,
        run_id=None,
        run_ids=tuple(runs),
        resume=None,
        **flags,
    )
    end = RunEnd(
        status=status_of(counted(results), bool(errors)),
        seconds=sum(report.end.seconds for report in reports),
        completed_at=newest.end.completed_at,
    )
    warnings = list(dict.fromkeys(warning for report in reports for warning in report.warnings))
    whole = newest.replace(start=start, results=results, errors=errors, warnings=warnings, end=end, partial=(), text="")
    return PooledRuns(report=whole, said=tuple(said))


def _distinct(reports: Sequence[Report], names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, report in zip(names, reports, strict=True):
        for id in report.start.all_run_ids:
            if id in found:
                hint = "Each run counts once: remove the copy"
                raise ConfigurationError(f"Cannot merge {name}: {found[id]} also has the run {id}", hint)
        found |= dict.fromkeys(report.start.all_run_ids, name)
    return found


def _pooled(results: Sequence[TestResult], least: float) -> TestResult:
    owned = [(result, run) for result in results for run in _runs(result)]
    attempts = tuple(run.replace(run=number) for number, (_, run) in enumerate(owned, 1))
    stability = stability_of(attempts)
    at = shown_of(attempts, least)
    run = attempts[at]
    verdict = run.verdict
    shown = next((result for result in reversed(results) if result.verdict is verdict), owned[at][0])
    outcome = shown.outcome
    if shown.verdict is not verdict:  # what its own runs came to is not what all come to
        said = {"name": outcome.name, "status": run.status, "error": run.error, "cause": run.cause}
        outcome = outcome.replace(status=run.status, failures=result_of(said).outcome.failures, skip_reason=None)
    milliseconds = stability.avg_duration_ms if stability is not None else outcome.milliseconds
    return shown.replace(
        outcome=outcome.replace(milliseconds=milliseconds),
        case=shown.case and shown.case.replace(**usage_of(results) | {"model_calls": shown.case.model_calls}),
        run=0,
        policy=None,
        repeat=None,
        attempts=attempts,
        stability=stability,
    )


def _runs(result: TestResult) -> list[Attempt]:
    if not result.attempts:
        return [result.as_run.replace(answer=answer_of_run(result.outcome, result.case))]
    said = [run.output if result.case is not None else [run.status, run.error] for run in result.attempts]
    return [run.replace(answer=normalised(each)) for run, each in zip(result.attempts, said, strict=True)]
