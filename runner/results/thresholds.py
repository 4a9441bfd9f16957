"""Decides whether a score reaches its threshold, and explains it when it does not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runner.assertions.results import shorten
from runner.results.case_result import CriterionResult, ScoreResult, ScoreVerdict
from scripttest import Cause, Failure

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
    """What to say when the score of a case does not reach the threshold, with the entries that are to blame; None when
    it does, and when nothing was judged."""
    if score is None or reaches(score, threshold):
        return None
    blamed = "; ".join(f"{entry.name}: {_why(entry)}" for entry in scores if entry.verdict != ScoreVerdict.PASS)
    text = f"score {_shown(score, threshold)} is below the threshold {threshold:g}"
    return f"{text} ({shorten(blamed, 1000)})" if blamed else text


def shortfall(
    score: float | None, threshold: float, scores: Sequence[ScoreResult], aggregation: str = "mean"
) -> Failure | None:
    """What a case fails for by its score; None when it does not. It is inconclusive where the votes of
    judges scatter so that the threshold lies within two standard errors of the score."""
    if score is None:
        return None
    undecided = undecided_by(error_of(score, scores, aggregation), score, threshold)
    if undecided is not None:
        return Failure(cause=Cause.INCONCLUSIVE, message=undecided)
    lacking = below(score, threshold, scores)
    return None if lacking is None else Failure(cause=Cause.ASSERTION, message=lacking)


def undecided_by(error: float, score: float, threshold: float) -> str | None:
    """What to say where the votes, by the standard error that they give a score, do not decide whether it reaches the
    threshold; None where they do."""
    if not error or abs(score - threshold) > ERRORS * error:
        return None
    said = f"inconclusive: the votes put the score at {score:.2f} ± {ERRORS * error:.2f}"
    return f"{said}, and the threshold {threshold:g} lies within that"


def error_of(score: float, scores: Sequence[ScoreResult], aggregation: str | None = None) -> float:
    """The standard error of a case's score that comes from votes; 0 when there are too few votes. Without an
    `aggregation`, the one that fits the score is used."""
    if aggregation is None:
        known = [entry.score for entry in scores if entry.score is not None]
        is_mean = bool(known) and math.isclose(math.fsum(known) / len(known), score, abs_tol=TOLERANCE)
        aggregation = "mean" if is_mean else "one of them"
    entries = [entry for entry in scores if entry.score is not None]
    if aggregation != "mean":
        return max((_error_of_entry(entry) for entry in entries if entry.score == score), default=0.0)
    return math.hypot(*map(_error_of_entry, entries)) / max(1, len(entries))


def _error_of_entry(entry: ScoreResult) -> float:
    scored = [criterion for criterion in entry.assertions if criterion.score is not None]
    weight = math.fsum(criterion.weight for criterion in scored)
    return (
        math.hypot(*(criterion.weight * _error_of_votes(criterion) for criterion in scored)) / weight if weight else 0.0
    )


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
    failed = [f'"{item.text}"' + (f": {item.reason}" if item.reason else "") for item in entry.assertions]
    return ", ".join(said for said, item in zip(failed, entry.assertions, strict=True) if not item.passed) or (
        "not judged" if entry.score is None else f"{entry.score:.2f}"
    )


def _shown(score: float, threshold: float) -> str:
    """The score with two decimals, or with more if these would hide that it is below the threshold."""
    return next((text for digits in (2, 4) if float(text := f"{score:.{digits}f}") < threshold), f"{score!r}")
