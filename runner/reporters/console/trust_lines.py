"""How far judges can be trusted, on the console."""

from __future__ import annotations

from collections.abc import Sequence

from runner.judging.calibration import Trust, Trusted
from runner.reporters.console.style import count
from runner.reporters.console.table import table
from runner.reporters.console.verdict_lines import Row, percent
from runner.statistics.agreement import FEWEST_LABELS, Calibration

HEAD: Row = ("Criterion", "Labels", "Agree", "Kappa (95% interval)", "Passes found", "Failures found", "Verdict")
LEAST = ("Passes found", "Failures found", "Agree")
"""Columns that matter least."""
ROWS = 50
"""Criteria of the table."""
LEANS = 0.3
"""Correlation with the length of answers from which on it is said."""
LONG = 60
"""Characters of a criterion."""


def trust_text(found: Trusted, room: int | None = None) -> str:
    """A table of the criteria, and its conclusion; `room` is the width of the terminal."""
    text = table([HEAD, *map(_row, found.each[-ROWS:])], room, least=LEAST) if found.each else ""
    return text + "".join(f"{line}\n" for line in [*_of_labels(found), *_of_votes(found), *_of_orders(found)])


def _row(one: Trust) -> Row:
    found = one.found
    name = one.name if len(one.name) <= LONG else f"{one.name[:LONG]}..."
    low, high = percent(found.agreement_interval.low), percent(found.agreement_interval.high)
    return (
        name.replace("\n", " ") or "all",
        str(_labels(found)),
        f"{percent(found.agreement)} ({low.removesuffix('%')}-{high})",
        _kappa(found),
        _share(found.passes_found),
        _share(found.failures_found),
        found.words,
    )


def _labels(found: Calibration) -> int:
    return found.both_pass + found.both_fail + found.judge_too_strict + found.judge_too_lenient


def _kappa(found: Calibration) -> str:
    if found.kappa is None:
        return "none"
    if found.kappa_interval is None:
        return f"{found.kappa:.2f}"
    return f"{found.kappa:.2f} ({found.kappa_interval.low:.2f} to {found.kappa_interval.high:.2f})"


def _share(value: float | None) -> str:
    return "none" if value is None else percent(value)


def _of_labels(found: Trusted) -> Sequence[str]:
    if not found.each:
        return ()
    whole = found.each[-1]
    of = whole.found
    said = [
        f"The judge is too strict in {of.judge_too_strict} of {count(_labels(of), 'label')}, and too lenient in "
        f"{of.judge_too_lenient}."
    ]
    if whole.corrected.rate is not None and whole.corrected.interval is not None:
        low, high = percent(whole.corrected.interval.low), percent(whole.corrected.interval.high)
        said.append(f"Corrected for its errors, {percent(whole.corrected.rate)} pass ({low} to {high}).")
    if whole.scores is not None and whole.scores.spearman is not None:
        said.append(
            f"Scores: rank correlation {whole.scores.spearman:.2f}, mean difference {whole.scores.bias:+.2f}, "
            f"mean absolute error {whole.scores.mean_absolute_error:.2f}."
        )
    if whole.weighted_kappa is not None:
        said.append(f"Weighted kappa of the scores, taken as grades: {whole.weighted_kappa:.2f}.")
    leans = whole.longer_is_better is not None and abs(whole.longer_is_better) >= LEANS
    if leans and _labels(of) >= FEWEST_LABELS and whole.longer_is_better is not None:
        which = "longer" if whole.longer_is_better > 0 else "shorter"
        said.append(f"It prefers {which} answers (rank correlation {whole.longer_is_better:.2f}).")
    if found.ceiling is not None:
        said.append(f"People agree with each other on {percent(found.ceiling)} of pairs, which is the upper bound.")
    if found.tied:
        said.append(f"{count(found.tied, 'answer')} with tied labels excluded.")
    return said


def _of_votes(found: Trusted) -> Sequence[str]:
    if found.agreement is None:
        judged = count(found.judged, "judge verdict")
        return [f"{judged}, one vote each: --judge-samples 3 would measure how consistent they are."]
    kappa = "" if found.kappa is None else f", kappa {found.kappa:.2f}"
    said = [
        f"Votes on one answer agree in {percent(found.agreement)} of pairs{kappa} ({count(found.voted, 'answer')})."
    ]
    parts = found.components
    if parts is not None and parts.judge + parts.agent > 0:
        share = parts.judge / (parts.judge + parts.agent)
        said.append(f"The judge causes {percent(share)} of the noise of one run, the agent {percent(1 - share)}.")
    if found.best_votes is not None:
        verb = "is" if found.best_votes == 1 else "are"
        said.append(f"{count(found.best_votes, 'vote')} per answer {verb} most cost-effective.")
    return said


def _of_orders(found: Trusted) -> Sequence[str]:
    if found.turned is None:
        return ()
    compared = count(found.preferences, "comparison")
    return [f"{percent(found.turned)} of {compared} depended on the order of the two answers, and count as ties."]
