"""Combines several results of one test: its runs (`--runs`), or the trials of a conversation. The runs
of a report are combined in the same way, such as those that `merge` joins.

| | what is shown | the verdict |
| --- | --- | --- |
| runs | one of them; the worst if the test failed | by `--min-pass-rate` |
| trials | the worst | the mean score against the threshold; any failure fails |
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from runner.results.case_result import TrialResult, TrialsNoise
from runner.results.model import TestResult
from runner.results.stability import Attempt, answer_of_run, shown_of, stability_of
from runner.results.thresholds import below, error_of, undecided_by
from runner.results.verdict import Verdict
from scripttest import Cause, Failure, ResultWarning, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.results.repeating import Repeat

DIGITS = 6
"""Of figures of noise."""


def of_runs(results: list[TestResult], min_pass_rate: float) -> TestResult:
    """The result of a test from the results of its runs."""
    attempts = tuple(result.as_run.replace(answer=answer_of_run(result.outcome, result.case)) for result in results)
    repeat = _repeat_of(results[-1].policy, attempts)
    stability = stability_of(attempts, stops=repeat is not None)
    if repeat is None:
        shown = results[shown_of(attempts, min_pass_rate)]
    else:
        from runner.results.repeating import shown_of_repeat

        shown = _ended_by(repeat, results[shown_of_repeat(repeat, [attempt.verdict for attempt in attempts])])
    milliseconds = stability.avg_duration_ms if stability else shown.outcome.milliseconds
    return shown.replace(
        outcome=shown.outcome.replace(
            milliseconds=milliseconds,
            warnings=_warnings(results),
            not_judged=max(result.outcome.not_judged for result in results),
        ),
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
    return worst.replace(
        outcome=worst.outcome.replace(
            status=Status.FAILED if failures else Status.PASSED,
            milliseconds=sum(result.outcome.milliseconds for result in results),
            failures=tuple(failures),
            not_judged=max(result.outcome.not_judged for result in results),
            warnings=_warnings(results),
        ),
        logs=tuple(line for result in results for line in result.logs),
        fingerprint=_parts_of_all(results),
        case=worst.case.replace(
            score=score,
            **usage_of(results),
            trials=listed_trials(results),
            trials_noise=noise,
        ),
    )


def _noise_of(results: Sequence[TestResult], threshold: float) -> tuple[TrialsNoise | None, str | None]:
    """Whose noise the mean score of trials has, where two of them have a score, and what to say where their votes leave
    open whether it reaches the threshold."""
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


def _parts_of_all(results: list[TestResult]) -> dict[str, Any] | None:
    """The fingerprint of several trials: the parts that any of them used."""
    found: dict[str, Any] = {}
    for result in results:
        found |= result.fingerprint or {}
    return found or None


def listed_trials(results: list[TestResult]) -> tuple[TrialResult, ...]:
    """The trials as the combined result lists them. One whose score is below the threshold has failed, whatever their
    mean is."""
    return tuple(_listed_trial(number, result) for number, result in enumerate(results, 1))


def _listed_trial(number: int, result: TestResult) -> TrialResult:
    case, outcome = result.case, result.outcome
    status, error = outcome.status, outcome.failures[0].message if outcome.failures else None
    if status == Status.PASSED and case is not None and case.threshold is not None:
        error = below(case.score, case.threshold, ())
        status = status if error is None else Status.FAILED
    return TrialResult(
        trial=number,
        score=case.score if case else None,
        status=status,
        milliseconds=outcome.milliseconds,
        error=error,
    )


def _is_unjudged(result: TestResult) -> bool:
    """Whether a trial has no score because nothing of it was judged, and not because it failed."""
    return result.outcome.status == Status.PASSED and result.case is not None and result.case.score is None


def _score(result: TestResult) -> float:
    return result.case.score or 0.0 if result.case else 0.0


def _warnings(results: Sequence[TestResult]) -> tuple[ResultWarning, ...]:
    """The warnings of all results, each once."""
    return tuple(dict.fromkeys(warning for result in results for warning in result.outcome.warnings))


def usage_of(results: Sequence[TestResult], **known: Any) -> dict[str, Any]:
    """The tokens and costs of all results together, as fields of `CaseResult`, but for those that are `known`."""
    cases = [result.case for result in results if result.case is not None]
    costs = [case.cost for case in cases if case.cost is not None]
    return {
        "model_calls": sum(case.model_calls for case in cases),
        "input_tokens": sum(case.input_tokens for case in cases),
        "output_tokens": sum(case.output_tokens for case in cases),
        "cost": sum(costs) if costs else None,
        **known,
    }


def _repeat_of(written: Any, attempts: Sequence[Attempt]) -> Repeat | None:
    """The state of the case's policy after its runs, if it has one."""
    if written is None:
        return None
    from runner.results.repeating import repeat_of

    return repeat_of(written, [attempt.verdict for attempt in attempts])


def _ended_by(repeat: Repeat, shown: TestResult) -> TestResult:
    """The result of a case from the run that is shown: it ends as its policy says."""
    if repeat.verdict is None:
        outcome = shown.outcome.replace(status=Status.SKIPPED, failures=(), skip_reason=_cut(repeat))
        return shown.replace(outcome=outcome, cut_short=True)
    if repeat.verdict is not Verdict.INCONCLUSIVE or shown.verdict is Verdict.INCONCLUSIVE:
        return shown
    failure = Failure(cause=Cause.INCONCLUSIVE, message=_undecided(repeat))
    return shown.replace(outcome=shown.outcome.replace(status=Status.FAILED, failures=(failure,)))


def _cut(repeat: Repeat) -> str:
    return f"cut short: {repeat.judged} of {repeat.most} runs"


def _undecided(repeat: Repeat) -> str:
    return f"inconclusive: {repeat.passed} of {repeat.judged} runs passed, which {repeat.text} does not decide"
