"""How far judges can be trusted: compares their verdicts with the labels of people, and with each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from runner.judging.judgements import Judgement, JudgementKey, Label, Prices, noise_of
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
    """Correlation of the length of an answer and how far the judge rates it above the label; None: one is constant."""


class Trusted(Value):
    """How well the judges of a run agree with labels and with each other."""

    judged: int
    labels: int
    """How many answers of the run have labels."""
    unknown: int
    """How many labels belong to answers that the run does not have."""
    tied: int
    """How many answers got as many labels for as against."""
    ceiling: float | None
    """Share of equal pairs of labels on one answer; None: nobody labelled an answer twice."""
    each: tuple[Trust, ...]
    """The figures for each criterion, then for all; empty without labels."""
    voted: int
    agreement: float | None
    kappa: float | None
    """Fleiss' kappa of these votes, or Krippendorff's alpha."""
    components: Components | None
    """The variance of scores, by its sources; None: there are too few runs, or too few answers with two votes."""
    best_votes: int | None
    """Votes on an answer that buy most certainty for the money; None: it is not known, or the agent has no noise."""
    preferences: int
    turned: float | None
    """Share of the comparisons whose verdict changed with the order of the answers; None: there are none."""


Majority = dict[JudgementKey, Sequence[Label]]
"""The labels of answers of which more say one thing than the other."""


def trust_in(judgements: Sequence[Judgement], labels: Iterable[Label], prices: Prices | None = None) -> Trusted:
    """Computes these figures from the labels and votes of a run."""
    known = {one.key: one for one in judgements}
    given = [label for label in labels if label.passed is not None]
    said: dict[JudgementKey, list[Label]] = {}
    for label in given:
        if label.key in known:
            said.setdefault(label.key, []).append(label)
    tables = {key: [sum(not one.passed for one in each), sum(map(_passed, each))] for key, each in said.items()}
    majority: Majority = {key: each for key, each in said.items() if tables[key][0] != tables[key][1]}
    names = dict.fromkeys(key.criterion for key in majority)
    each = [_trust(name, [key for key in majority if key.criterion == name], majority, known) for name in names]
    if majority:
        each.append(_trust("", list(majority), majority, known))
    voted = [one for one in judgements if len(one.votes) > 1]
    votes = agreement.agreement_of([[one.votes.count(False), one.votes.count(True)] for one in voted])
    components = agreement.components_of(noise_of(voted)) if len(voted) >= FEWEST_ANSWERS else None
    best = None
    if components is not None and prices is not None:
        costs = {"cost_agent": prices.run, "cost_judge": prices.vote}
        best = agreement.best_samples(agent=components.agent, judge=components.judge, **costs)
    turned = [one.turned for one in judgements if one.turned is not None]
    return Trusted(
        judged=len(judgements),
        labels=len(said),
        unknown=sum(label.key not in known for label in given),
        tied=len(said) - len(majority),
        ceiling=agreement.agreement_of([table for table in tables.values() if sum(table) > 1]).agreement,
        each=tuple(each),
        voted=len(voted),
        agreement=votes.agreement,
        kappa=votes.fleiss_kappa if votes.fleiss_kappa is not None else votes.krippendorff_alpha,
        components=components,
        best_votes=best,
        preferences=len(turned),
        turned=turned.count(True) / len(turned) if turned else None,
    )


def _passed(label: Label) -> bool:
    return bool(label.passed)


def _trust(name: str, keys: Sequence[JudgementKey], majority: Majority, known: dict[JudgementKey, Judgement]) -> Trust:
    human = [2 * sum(map(_passed, majority[key])) > len(majority[key]) for key in keys]
    judge = [known[key].passed for key in keys]
    judged = [one.passed for one in known.values() if not name or one.key.criterion == name]
    weights = [judged.count(verdict) / judge.count(verdict) for verdict in judge]
    found = agreement.calibrated(human, judge, weights)
    scored = [
        (label.score, score)
        for key in keys
        for label in majority[key]
        if label.score is not None and (score := known[key].score) is not None
    ]
    grades = sorted({grade for pair in scored for grade in pair})
    people, theirs = zip(*scored, strict=True) if scored else ((), ())
    lengths = [float(len(known[key].output)) for key in keys]
    added = [float(verdict) - float(label) for verdict, label in zip(judge, human, strict=True)]
    return Trust(
        name=name,
        found=found,
        corrected=agreement.corrected_rate(found, judged.count(True), len(judged)),
        scores=agreement.calibrated_scores(people, theirs) if scored else None,
        weighted_kappa=agreement.weighted_kappa(people, theirs, grades) if 0 < len(grades) <= MOST_GRADES else None,
        longer_is_better=agreement.correlation(agreement.ranks(added), agreement.ranks(lengths)),
    )


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
