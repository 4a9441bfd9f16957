"""Splits a run with variants into one report for each variant, so that they are compared like any two reports."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from runner.compare.change_report import BeforeAfter, ChangeReport
from runner.compare.change_verdict import adjusted, change_between, change_of
from runner.compare.judged_cases import JudgedCase, judged_cases
from runner.record.events import InterimLooks
from runner.record.lines import with_members
from runner.record.model import ResultKey
from runner.record.report import Report
from runner.record.result_texts import as_text
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
