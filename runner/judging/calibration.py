"""How far judges can be trusted: compares their verdicts with the labels of people, and with each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from runner.judging.judgements import Judgement, JudgementKey, Prices, noise_of
from runner.judging.labels import Label
from runner.statistics import agreement
from runner.statistics.agreement import Calibration, Components, CorrectedRate, ScoreCalibration
from scripttest.typing_names import Record
from scripttest.values import Value, fields_of

FEWEST_ANSWERS = 10
"""The noise of a judge is reported from this many answers with two votes on."""
MOST_GRADES = 11
"""Scores are treated as grades as long as people and judge together use at most this many different ones."""


class Trust(Value):
    """How well the judges of a run agree with labels, for one criterion or for all criteria."""

    name: str
    """Name of the criterion; empty: all criteria."""
    found: Calibration
    corrected: CorrectedRate
    scores: ScoreCalibration | None
    weighted_kappa: float | None
    """Quadratic weighted kappa of scores as grades; None: there are no scores, only one, or too many different ones."""
    longer_is_better: float | None
    """Correlation between the length of an answer and how far the judge rates it above the label; None: one of them is
    constant."""


class Trusted(Value):
    """How well the judges of a run agree with labels and with each other."""

    judged: int
    """How many verdicts of judges there are."""
    labels: int
    """How many labels belong to answers of the run."""
    unknown: int
    """How many labels belong to answers that the run does not have."""
    tied: int
    """How many answers got as many labels for as against."""
    ceiling: float | None
    """Share of equal pairs of labels on one answer; None: nobody labelled an answer twice."""
    each: tuple[Trust, ...]
    """The figures for each criterion, then for all; empty without labels."""
    voted: int
    """How many answers have several votes."""
    agreement: float | None
    """Share of equal pairs of votes on one answer."""
    kappa: float | None
    """Fleiss' kappa of these votes, or Krippendorff's alpha."""
    components: Components | None
    """The variance of scores, by its sources; None: there are too few runs, or too few answers with two votes."""
    best_votes: int | None
    """Votes on an answer that buy most certainty for the money; None: components or prices are not known, or the agent
    has no noise."""
    preferences: int
    """How many comparisons of two answers there are."""
    turned: float | None
    """Share of the comparisons whose verdict changed when the order of the answers was reversed; None: there
    are none."""


class _Labelled(Value):
    """The labels of an answer of which more say one thing than the other."""

    passed: bool
    """What most of them say."""
    labels: Sequence[Label]


def trust_in(judgements: Sequence[Judgement], labels: Iterable[Label], prices: Prices | None = None) -> Trusted:
    """Computes these figures from the labels and votes of a run."""
    known = {one.key: one for one in judgements}
    said: dict[JudgementKey, list[Label]] = {}
    unknown = 0
    for label in labels:
        if label.passed is None:
            continue
        if label.key in known:
            said.setdefault(label.key, []).append(label)
        else:
            unknown += 1
    tables = [[sum(not one.passed for one in each), sum(bool(one.passed) for one in each)] for each in said.values()]
    majority = {
        key: _Labelled(passed=yes > no, labels=each)
        for (key, each), (no, yes) in zip(said.items(), tables, strict=True)
        if yes != no
    }
    names = dict.fromkeys(known[key].key.criterion for key in majority)
    each = [_trust(name, [key for key in majority if key.criterion == name], majority, known) for name in names]
    if majority:
        each.append(_trust("", list(majority), majority, known))
    voted = [one for one in judgements if len(one.votes) > 1]
    votes = agreement.agreement_of([[one.votes.count(False), one.votes.count(True)] for one in voted])
    several = votes.fleiss_kappa if votes.fleiss_kappa is not None else votes.krippendorff_alpha
    components = agreement.components_of(noise_of(voted)) if len(voted) >= FEWEST_ANSWERS else None
    turned = [one.turned for one in judgements if one.turned is not None]
    return Trusted(
        judged=len(judgements),
        labels=len(said),
        unknown=unknown,
        tied=len(said) - len(majority),
        ceiling=agreement.agreement_of([table for table in tables if sum(table) > 1]).agreement,
        each=tuple(each),
        voted=len(voted),
        agreement=votes.agreement,
        kappa=several,
        components=components,
        best_votes=_best_votes(components, prices),
        preferences=len(turned),
        turned=turned.count(True) / len(turned) if turned else None,
    )


def _best_votes(components: Components | None, prices: Prices | None) -> int | None:
    if components is None or prices is None:
        return None
    return agreement.best_samples(
        agent=components.agent, judge=components.judge, cost_agent=prices.run, cost_judge=prices.vote
    )


def _trust(
    name: str,
    keys: Sequence[JudgementKey],
    majority: dict[JudgementKey, _Labelled],
    known: dict[JudgementKey, Judgement],
) -> Trust:
    human, judge = [majority[key].passed for key in keys], [known[key].passed for key in keys]
    judged = [one for one in known.values() if not name or one.key.criterion == name]
    share = {verdict: sum(one.passed is verdict for one in judged) for verdict in (True, False)}
    weights = [share[verdict] / judge.count(verdict) for verdict in judge]
    found = agreement.calibrated(human, judge, weights)
    scored = [
        (label.score, score)
        for key in keys
        for label in majority[key].labels
        if label.score is not None and (score := known[key].score) is not None
    ]
    lengths = [float(len(known[key].output)) for key in keys]
    added = [float(verdict) - float(label) for verdict, label in zip(judge, human, strict=True)]
    return Trust(
        name=name,
        found=found,
        corrected=agreement.corrected_rate(found, share[True], len(judged)),
        scores=agreement.calibrated_scores(*zip(*scored, strict=True)) if scored else None,
        weighted_kappa=_weighted_kappa(scored),
        longer_is_better=agreement.correlation(agreement.ranks(added), agreement.ranks(lengths)),
    )


def _weighted_kappa(scored: Sequence[tuple[float, float]]) -> float | None:
    grades = sorted({grade for pair in scored for grade in pair})
    if not scored or len(grades) > MOST_GRADES:
        return None
    return agreement.weighted_kappa([people for people, _ in scored], [judge for _, judge in scored], grades)


def trust_record(found: Trusted) -> Record:
    """These figures as JSON; rates are from 0 to 1."""

    def plain(value: Any) -> Any:
        if isinstance(value, Value):
            return {name: plain(inner) for name, inner in fields_of(value).items()}
        return round(value, 6) if isinstance(value, float) else value

    record: Record = {name: plain(value) for name, value in fields_of(found).items() if name != "each"}
    record["criteria"] = [
        {"criterion": one.name or None, "words": one.found.words, **plain(one.found)}
        | {key: plain(getattr(one, key)) for key in ("corrected", "scores", "weighted_kappa", "longer_is_better")}
        for one in found.each
    ]
    return record
