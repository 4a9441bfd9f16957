"""The cases of a report in the form in which they are compared: what each asks and expects, and how its judged runs
ended."""

from __future__ import annotations

import json
from collections.abc import Mapping

from runner.amounts import cost_in
from runner.results.criteria import criteria_of, score_in
from runner.results.judging import Judging, judging_in
from runner.results.report import Report
from runner.results.result_keys import ResultKey, key_of
from runner.results.result_texts import tokens_of
from runner.results.suite_json import has_cases
from runner.results.verdict import Verdict, verdict_in
from scripttest.typing_names import Record
from scripttest.values import Value

DECIDED = (Verdict.PASSED, Verdict.FAILED)
PASSED, SCORE = "passed", "score"
"""Measures that every report has; all others are ids of criteria."""


class JudgedRun(Value):
    """One run that passed or failed."""

    passed: bool
    score: float | None
    """0 to 1; None: it has none, or one that is not a number between them."""
    criteria: Mapping[str, float]
    """Id of a criterion → 1 or 0, or its score."""
    milliseconds: float
    tokens: float | None
    cost: float | None
    """US dollars."""
    judging: Judging | None = None
    """The votes of several judges."""


class JudgedCase(Value):
    """A case of one report."""

    key: ResultKey
    runs: tuple[JudgedRun, ...]
    """The runs. If runs stopped when the verdict was decided, only those that were made in any case."""
    broken: int
    inconclusive: int
    skipped: int
    digest: str
    """Equal for cases with the same content, where both reports have a digest; else empty."""
    record: Record
    """The record of the last of its results."""
    connectors: frozenset[str]
    doubled: int
    """How many more results have the same name."""
    is_script: bool
    tags: tuple[str, ...] = ()


def judged_cases(report: Report) -> dict[ResultKey, JudgedCase]:
    """The cases of a report, in their order. Of several results with the same name, the last one counts."""
    found: dict[ResultKey, list[Record]] = {}
    for record in report.results:
        found.setdefault(key_of(record), []).append(record)
    suites = {suite["id"]: suite for suite in report.suites}
    return {key: _case(key, records, suites[key.suite]) for key, records in found.items()}


def says_the_same(one: JudgedCase, other: JudgedCase) -> bool:
    """Whether two cases are the same: by their digests, else by their content."""
    if one.digest and other.digest:
        return one.digest == other.digest
    return _says(one.record) == _says(other.record)


def measured(run: JudgedRun, measure: str) -> float | None:
    """The value of a measure in a run; None: it has none."""
    if measure == PASSED:
        return float(run.passed)
    return run.score if measure == SCORE else run.criteria.get(measure)


def _case(key: ResultKey, records: list[Record], suite: Record) -> JudgedCase:
    record = records[-1]
    made = [attempt for one in records for attempt in (one.get("runs") or one).get("attempts") or [one]]
    attempts: list[Record] = list({attempt.get("run", 0): attempt for attempt in made}.values())
    connector = record.get("connector") or suite.get("connector")
    verdicts = list(map(verdict_in, attempts))
    judged = [
        _run(attempt, verdict is Verdict.PASSED)
        for attempt, verdict in zip(attempts, verdicts, strict=True)
        if verdict in DECIDED
    ]
    tags = record.get("tags")
    wave = ((record.get("runs") or {}).get("repeat") or {}).get("wave")
    return JudgedCase(
        key=key,
        runs=tuple(judged[:wave]),
        broken=verdicts.count(Verdict.BROKEN),
        inconclusive=verdicts.count(Verdict.INCONCLUSIVE),
        skipped=verdicts.count(Verdict.SKIPPED),
        digest=_digest(record),
        record=record,
        connectors=frozenset([str(connector)] if connector else []),
        doubled=len(made) - len(attempts),
        is_script=not has_cases(suite),
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
    )


def _run(attempt: Record, passed: bool) -> JudgedRun:
    usage = attempt.get("usage") or {}
    return JudgedRun(
        passed=passed,
        score=score_in(attempt.get("score")),
        criteria=attempt["criteria"] if "criteria" in attempt else criteria_of(attempt),
        milliseconds=attempt.get("duration_ms") or 0,
        tokens=tokens_of(usage) if usage else attempt.get("tokens"),
        cost=cost_in(usage or attempt),
        judging=judging_in(attempt),
    )


def _digest(record: Record) -> str:
    fingerprint = record.get("fingerprint")
    if isinstance(fingerprint, Mapping) and fingerprint.get("case"):
        return str(fingerprint["case"])
    return str(record.get("digest") or "")


def _says(record: Record) -> str:
    """The content of a case: what it asks and expects. Of a script test, only the name."""
    if "input" not in record:
        return ""
    checks = [
        [check.get("type"), check.get("value")] for check in record.get("assertions") or () if isinstance(check, dict)
    ]
    return json.dumps([record["input"], record.get("expected"), checks], sort_keys=True, default=str)
