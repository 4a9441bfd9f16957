"""The cases of a report in the form in which they are compared: what each asks and expects, and how its judged runs
ended."""

from __future__ import annotations

import json
from collections.abc import Sequence

from runner.results.criteria import score_in
from runner.results.model import TestResult
from runner.results.report import Report
from runner.results.result_keys import ResultKey, key_of
from runner.results.stability import Attempt
from runner.results.suite_json import has_cases
from runner.results.verdict import DECIDED, Verdict
from scripttest.typing_names import Record
from scripttest.values import Value

PASSED, SCORE = "passed", "score"
"""Measures that every report has; all others are ids of criteria."""


class JudgedCase(Value):
    """A case of one report."""

    key: ResultKey
    runs: tuple[Attempt, ...]
    """Those that passed or failed. If runs stopped when the verdict was decided, only those made in any case."""
    broken: int
    inconclusive: int
    skipped: int
    digest: str
    """Equal for cases with the same content, where both reports have a digest; else empty."""
    result: TestResult
    """The last of its results."""
    connectors: frozenset[str]
    doubled: int
    """How many more results have the same name."""
    is_script: bool
    tags: tuple[str, ...] = ()


def judged_cases(report: Report) -> dict[ResultKey, JudgedCase]:
    """The cases of a report, in their order. Of several results with the same name, the last one counts."""
    found: dict[ResultKey, list[TestResult]] = {}
    for result in report.results:
        found.setdefault(key_of(result), []).append(result)
    suites = {suite["id"]: suite for suite in report.suites}
    return {key: judged_case(results, suites[key.suite]) for key, results in found.items()}


def judged_case(results: Sequence[TestResult], suite: Record) -> JudgedCase:
    """The case that all these results of a suite are of."""
    result = results[-1]
    made = [run for one in results for run in one.runs]
    runs = list({run.run: run for run in made}.values())
    connector = (result.case.connector if result.case is not None else "") or suite.get("connector")
    verdicts = [run.verdict for run in runs]
    first = result.repeat.wave if result.repeat is not None else None
    return JudgedCase(
        key=key_of(result),
        runs=tuple([run for run in runs if run.verdict in DECIDED][:first]),
        broken=verdicts.count(Verdict.BROKEN),
        inconclusive=verdicts.count(Verdict.INCONCLUSIVE),
        skipped=verdicts.count(Verdict.SKIPPED),
        digest=_digest(result),
        result=result,
        connectors=frozenset([connector] if connector else []),
        doubled=len(made) - len(runs),
        is_script=not has_cases(suite),
        tags=result.case.tags if result.case is not None else (),
    )


def says_the_same(one: JudgedCase, other: JudgedCase) -> bool:
    """Whether two cases are the same: by their digests, else by their content."""
    if one.digest and other.digest:
        return one.digest == other.digest
    return _says(one.result) == _says(other.result)


def measured(run: Attempt, measure: str) -> float | None:
    """The value of a measure in a run; None: it has none."""
    if measure == PASSED:
        return float(run.verdict is Verdict.PASSED)
    return score_in(run.score) if measure == SCORE else (run.criteria or {}).get(measure)


def _digest(result: TestResult) -> str:
    fingerprint = result.fingerprint
    return str(fingerprint["case"]) if fingerprint and fingerprint.get("case") else result.digest


def _says(result: TestResult) -> str:
    """The content of a case: what it asks and expects. Of a script test, only the name."""
    case = result.case
    if case is None:
        return ""
    checks = [[check.type, check.expected] for check in case.assertions]
    return json.dumps([case.input, case.expected, checks], sort_keys=True, default=str)
