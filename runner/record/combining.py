"""Combines several results of one test: its runs (`--runs`, or of a saved report), or the trials of a conversation.

| | what is shown | the verdict |
| --- | --- | --- |
| runs | one of them; the worst if the test failed | by `--min-pass-rate` |
| trials | the worst | the mean score against the threshold; any failure fails |"""

from __future__ import annotations

import math
from collections.abc import Sequence

from runner.assertions.results import shorten
from runner.record.case_result import CriterionResult, ScoreResult, ScoreVerdict, TrialResult, TrialsNoise
from runner.record.model import TestResult
from runner.record.outcomes import Verdict
from runner.record.stability import Repeat, answer_of_run, repeat_of, shown_of, shown_of_repeat, stability_of
from scripttest import Cause, Failure, ResultWarning, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


DIGITS = 6


def of_runs(results: list[TestResult], min_pass_rate: float) -> TestResult:
    """The result of a test from the results of its runs."""
    attempts = [result.as_run.replace(answer=answer_of_run(result.outcome, result.case)) for result in results]
    policy, repeat = results[-1].policy, None
    stability = stability_of(attempts, stops=policy is not None)
    if policy is None:
        shown = results[shown_of(attempts, min_pass_rate)]
    else:
        verdicts = [attempt.verdict for attempt in attempts]
        repeat = repeat_of(policy, verdicts)
        shown = _ended_by(repeat, results[shown_of_repeat(repeat, verdicts)])
    milliseconds = stability.avg_duration_ms if stability else shown.outcome.milliseconds
    return shown.replace(
        outcome=shown.outcome.replace(milliseconds=milliseconds, **_of_all(results)),
        run=0,
        is_resumed=False,
        policy=None,
        repeat=repeat,
        attempts=tuple(attempt.replace(answer="") for attempt in attempts),
        stability=stability,
        case=shown.case and shown.case.replace(**usage_of(results)),
    )


def of_trials(results: list[TestResult]) -> TestResult:
    """One result from those of several trials. It shows the conversation of the worst trial."""
    worst = min(
        results, key=lambda result: (result.outcome.status == Status.PASSED, _is_unjudged(result), _score(result))
    )
    assert worst.case is not None and worst.case.threshold is not None
    judged = [_score(result) for result in results if not _is_unjudged(result)]
    score = sum(judged) / len(judged) if judged else None
    failures = [
        failure.replace(message=f"trial {number}: {failure.message}")
        for number, result in enumerate(results, 1)
        for failure in result.outcome.failures
    ]
    noise, undecided = _noise_of(results, worst.case.threshold)
    said = below(score, worst.case.threshold, ())
    if undecided is not None:
        failures.append(Failure(cause=Cause.INCONCLUSIVE, message=undecided))
    elif said is not None:
        each = ", ".join("not judged" if _is_unjudged(result) else f"{_score(result):.2f}" for result in results)
        failures.append(Failure(cause=Cause.ASSERTION, message=f"{said} (trials: {each})"))
    parts = {name: digest for result in results for name, digest in (result.fingerprint or {}).items()}
    return worst.replace(
        outcome=worst.outcome.replace(
            status=Status.FAILED if failures else Status.PASSED,
            milliseconds=sum(result.outcome.milliseconds for result in results),
            failures=tuple(failures),
            **_of_all(results),
        ),
        logs=tuple(line for result in results for line in result.logs),
        fingerprint=parts or None,
        case=worst.case.replace(score=score, **usage_of(results), trials=listed_trials(results), trials_noise=noise),
    )


def _of_all(results: Sequence[TestResult]) -> dict[str, Any]:
    """What outcomes have of all results: the warnings, each once, and how many checks were not judged at most."""
    warnings = dict.fromkeys(warning for result in results for warning in result.outcome.warnings)
    return {"warnings": tuple(warnings), "not_judged": max(result.outcome.not_judged for result in results)}


def _noise_of(results: Sequence[TestResult], threshold: float) -> tuple[TrialsNoise | None, str | None]:
    """Whose noise the mean score of trials has, and what to say where it leaves the verdict open."""
    cases = [result.case for result in results if result.case is not None and not _is_unjudged(result)]
    scores = [case.score or 0.0 for case in cases]
    errors = [error_of(score, case.scores) for score, case in zip(scores, cases, strict=True)]
    if len(scores) < 2:
        return None, None
    from statistics import fmean, variance

    between, judge = variance(scores), fmean(error * error for error in errors)
    noise = TrialsNoise(
        error=round(math.sqrt(max(between, judge) / len(scores)), DIGITS),
        judge=round(judge, DIGITS),
        agent=round(max(0.0, between - judge), DIGITS),
    )
    return noise, undecided_by(math.hypot(*errors) / len(errors), fmean(scores), threshold)


def listed_trials(results: list[TestResult]) -> tuple[TrialResult, ...]:
    """The trials as the combined result lists them; one whose score is below the threshold has failed."""
    found = []
    for number, result in enumerate(results, 1):
        case, outcome = result.case, result.outcome
        status, error = outcome.status, outcome.failures[0].message if outcome.failures else None
        if status == Status.PASSED and case is not None and case.threshold is not None:
            error = below(case.score, case.threshold, ())
            status = status if error is None else Status.FAILED
        milliseconds, score = outcome.milliseconds, case.score if case else None
        found.append(TrialResult(trial=number, score=score, status=status, milliseconds=milliseconds, error=error))
    return tuple(found)


def _is_unjudged(result: TestResult) -> bool:
    """Whether a trial has no score because nothing of it was judged, and not because it failed."""
    return result.outcome.status == Status.PASSED and result.case is not None and result.case.score is None


def _score(result: TestResult) -> float:
    return result.case.score or 0.0 if result.case else 0.0


def usage_of(results: Sequence[TestResult]) -> dict[str, Any]:
    """The tokens and costs of all results together, as fields of `CaseResult`."""
    cases = [result.case for result in results if result.case is not None]
    costs = [case.cost for case in cases if case.cost is not None]
    names = ("model_calls", "input_tokens", "output_tokens")
    return {name: sum(getattr(case, name) for case in cases) for name in names} | {
        "cost": sum(costs) if costs else None
    }


def _ended_by(repeat: Repeat, shown: TestResult) -> TestResult:
    """The result of a case from the run that is shown: it ends as its policy says."""
    outcome = shown.outcome
    if repeat.verdict is None:
        said = f"cut short: {repeat.judged} of {repeat.most} runs"
        return shown.replace(
            outcome=outcome.replace(status=Status.SKIPPED, failures=(), skip_reason=said), cut_short=True
        )
    if repeat.verdict is not Verdict.INCONCLUSIVE or shown.verdict is Verdict.INCONCLUSIVE:
        return shown
    said = f"inconclusive: {repeat.passed} of {repeat.judged} runs passed, which {repeat.text} does not decide"
    failure = Failure(cause=Cause.INCONCLUSIVE, message=said)
    return shown.replace(outcome=outcome.replace(status=Status.FAILED, failures=(failure,)))


TOLERANCE = 1e-9
"""A score that is lower than the threshold by at most this much reaches it, because sums of fractions are inexact."""
FEWEST_VOTES = 3
"""The scatter of votes counts from so many votes with a score on one criterion on."""
ERRORS = 2
"""Whether the threshold is reached is undecided when it is within so many standard errors of the score."""


def reaches(score: float, threshold: float) -> bool:
    """Whether a score reaches the threshold."""
    return score >= threshold - TOLERANCE


def below(score: float | None, threshold: float, scores: Sequence[ScoreResult]) -> str | None:
    """What to say of a score below the threshold, with the entries that are to blame; None where there is none."""
    if score is None or reaches(score, threshold):
        return None
    blamed = "; ".join(f"{entry.name}: {_why(entry)}" for entry in scores if entry.verdict != ScoreVerdict.PASS)
    shown = next((text for digits in (2, 4) if float(text := f"{score:.{digits}f}") < threshold), f"{score!r}")
    text = f"score {shown} is below the threshold {threshold:g}"
    return f"{text} ({shorten(blamed, 1000)})" if blamed else text


def shortfall(score: float | None, threshold: float, scores: Sequence[ScoreResult], aggregation: str) -> Failure | None:
    """What a case fails for by its score; None when it does not. Votes may leave it inconclusive."""
    if score is None:
        return None
    if (undecided := undecided_by(error_of(score, scores, aggregation), score, threshold)) is not None:
        return Failure(cause=Cause.INCONCLUSIVE, message=undecided)
    lacking = below(score, threshold, scores)
    return None if lacking is None else Failure(cause=Cause.ASSERTION, message=lacking)


def undecided_by(error: float, score: float, threshold: float) -> str | None:
    """What to say where votes, by their standard error, leave open whether the threshold is reached; else None."""
    if not error or abs(score - threshold) > ERRORS * error:
        return None
    said = f"inconclusive: by the votes, the score is {score:.2f} ± {ERRORS * error:.2f}"
    return f"{said}, and the threshold {threshold:g} lies within that"


def error_of(score: float, scores: Sequence[ScoreResult], aggregation: str | None = None) -> float:
    """The standard error of a case's score that comes from votes; 0 when there are too few. Without an `aggregation`,
    the one that fits the score is used."""
    known = [entry.score for entry in scores if entry.score is not None]
    errors = [_error_of_entry(entry) for entry in scores if entry.score is not None]
    is_mean = aggregation == "mean"
    if aggregation is None:
        is_mean = bool(known) and math.isclose(math.fsum(known) / len(known), score, abs_tol=TOLERANCE)
    if is_mean:
        return math.hypot(*errors) / max(1, len(errors))
    return max((error for error, one in zip(errors, known, strict=True) if one == score), default=0.0)


def _error_of_entry(entry: ScoreResult) -> float:
    scored = [criterion for criterion in entry.assertions if criterion.score is not None]
    weight = math.fsum(criterion.weight for criterion in scored)
    errors = (criterion.weight * _error_of_votes(criterion) for criterion in scored)
    return math.hypot(*errors) / weight if weight else 0.0


def _error_of_votes(criterion: CriterionResult) -> float:
    given = [vote.score for vote in criterion.votes if vote.score is not None]
    if len(given) < FEWEST_VOTES or criterion.score is None:
        return 0.0
    mean = math.fsum(given) / len(given)
    if not math.isclose(mean, criterion.score, abs_tol=TOLERANCE):
        return 0.0  # the score is not theirs
    return math.sqrt(math.fsum((score - mean) ** 2 for score in given) / (len(given) - 1) / len(given))


def _why(entry: ScoreResult) -> str:
    if entry.verdict == ScoreVerdict.SKIP:
        return "not asked"
    if not entry.assertions:
        return "no answer"
    failed = [item for item in entry.assertions if not item.passed]
    said = ", ".join(f'"{item.text}"' + (f": {item.reason}" if item.reason else "") for item in failed)
    return said or ("not judged" if entry.score is None else f"{entry.score:.2f}")


FLAG = "--on-inconclusive"


def apply_inconclusive_policy(result: TestResult, how: str | None) -> TestResult:
    """A result as it counts, when inconclusive ones pass, fail or are skipped; None: they are errors."""
    if how is None or result.verdict is not Verdict.INCONCLUSIVE:
        return result
    outcome = result.outcome
    said = outcome.failures[0].message
    if how == "fail":
        causes = {Cause.INCONCLUSIVE: Cause.ASSERTION}
        failures = (failure.replace(cause=causes.get(failure.cause, failure.cause)) for failure in outcome.failures)
        changes: dict[str, Any] = {"failures": tuple(failures)}
    elif how == "skip":
        changes = {"status": Status.SKIPPED, "failures": (), "skip_reason": said}
    else:
        warning = ResultWarning(kind="inconclusive", message=said)
        changes = {"status": Status.PASSED, "failures": (), "warnings": (*outcome.warnings, warning)}
    return result.replace(outcome=outcome.replace(**changes))


def policy_in(flags: Sequence[str]) -> str | None:
    """What the flags of a run say of inconclusive results; None: nothing."""
    return flags[flags.index(FLAG) + 1] if FLAG in flags else None
