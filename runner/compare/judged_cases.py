"""The cases of a report as they are compared: what each asks and expects, and how its judged runs ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from runner.compare.change_report import Figures
from runner.record.model import ResultKey, Suite, TestResult, by_key, key_of
from runner.record.report import Report
from runner.record.stability import Attempt
from runner.record.verdict import DECIDED, Verdict
from runner.record.votes import PASSED, SCORE, score_in
from scripttest.values import Value


class JudgedCase(Value):
    """A case of one report."""

    result: TestResult
    """The last of its results."""
    runs: tuple[Attempt, ...]
    """Those that passed or failed. If runs stopped when the verdict was decided, only those made in any case."""
    broken: int
    inconclusive: int
    skipped: int
    doubled: int
    """How many more results have the same name."""
    is_steady: bool
    """Whether its runs must all end the same: a script test, or a case of scripted models."""

    @property
    def key(self) -> ResultKey:
        """Its key in the report."""
        return key_of(self.result)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the case."""
        return self.result.case.tags if self.result.case is not None else ()


def judged_cases(report: Report) -> dict[ResultKey, JudgedCase]:
    """The cases of a report, in their order. Of several results with the same name, the last one counts."""
    return cases_of(report.results, {suite.id: suite for suite in report.suites})


def cases_of(results: Iterable[TestResult], suites: Mapping[str, Suite]) -> dict[ResultKey, JudgedCase]:
    """The same of results; `suites` are theirs by the names that the results have for them."""
    return {key: judged_case(made, suites[key.suite]) for key, made in by_key(results).items()}


def judged_case(results: Sequence[TestResult], suite: Suite) -> JudgedCase:
    """The case that all these results of a suite are of."""
    result = results[-1]
    made = [run for one in results for run in one.runs]
    runs = list({run.run: run for run in made}.values())
    connector = (result.case.connector if result.case is not None else "") or suite.connector
    verdicts = [run.verdict for run in runs]
    first = result.repeat.wave if result.repeat is not None else None
    return JudgedCase(
        result=result,
        runs=tuple([run for run in runs if run.verdict in DECIDED][:first]),
        broken=verdicts.count(Verdict.BROKEN),
        inconclusive=verdicts.count(Verdict.INCONCLUSIVE),
        skipped=verdicts.count(Verdict.SKIPPED),
        doubled=len(made) - len(runs),
        is_steady=not suite.has_cases or connector == "scripted",
    )


def says_the_same(one: JudgedCase, other: JudgedCase) -> bool:
    """Whether two cases are the same: by their digests, if both have one, else by their content."""
    results = (one.result, other.result)
    digests = [str((result.fingerprint or {}).get("case") or result.digest) for result in results]
    return digests[0] == digests[1] if all(digests) else _says(one.result) == _says(other.result)


def _says(result: TestResult) -> str:
    """The content of a case: what it asks and expects. Of a script test, only the name."""
    case = result.case
    if case is None:
        return ""
    checks = [[check.type, check.expected] for check in case.assertions]
    return json.dumps([case.input, case.expected, checks], sort_keys=True, default=str)


def measured(run: Attempt, measure: str) -> float | None:
    """The value of a measure in a run; None: it has none."""
    if measure == PASSED:
        return float(run.passed)
    return score_in(run.score) if measure == SCORE else (run.criteria or {}).get(measure)


def figures_of(runs: Sequence[Attempt], measure: str) -> Figures:
    """The values of a measure in some runs, without runs that do not have it."""
    return tuple([value for run in runs if (value := measured(run, measure)) is not None])
