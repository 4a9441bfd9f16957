"""Whether a score reaches the threshold, and what is said when it does not."""

from __future__ import annotations

from collections.abc import Sequence

from runner.assertions.verdicts import shorten
from runner.results.model import ScoreResult, ScoreVerdict

TOLERANCE = 1e-9
"""How far below the threshold sums of fractions may end that reach it."""


def reaches(score: float, threshold: float) -> bool:
    """Whether a score is good enough."""
    return score >= threshold - TOLERANCE


def below(score: float | None, threshold: float, scores: Sequence[ScoreResult]) -> str | None:
    """What to say when the score of a case does not reach the threshold, with the entries that are to blame; None when
    it does, and when nothing was judged."""
    if score is None or reaches(score, threshold):
        return None
    blamed = "; ".join(f"{entry.name}: {_why(entry)}" for entry in scores if entry.verdict != ScoreVerdict.PASS)
    text = f"score {_shown(score, threshold)} is below the threshold {threshold:g}"
    return f"{text} ({shorten(blamed, 1000)})" if blamed else text


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
    """With two digits, or with more when these hide that it is below the threshold."""
    return next((text for digits in (2, 4) if float(text := f"{score:.{digits}f}") < threshold), f"{score!r}")
