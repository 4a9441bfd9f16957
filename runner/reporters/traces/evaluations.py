"""What was said of answers, as events `gen_ai.evaluation.result` of the conventions for generative AI: one for each
assertion, checkpoint, criterion and score of a case. They say why, which may quote the answer, only where contents are
wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from runner.reporters.traces.attributes import DESCRIPTION_LIMIT, Attributes
from runner.results.case_result import ScoreVerdict
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.results.case_result import CaseResult

EVENT = "gen_ai.evaluation.result"


class Evaluation(Value):
    """One event."""

    turn: int
    """The turn that it is about; 0: the only answer, or the whole case."""
    attributes: Attributes


def evaluations_of(case: CaseResult, contents: bool) -> Iterator[Evaluation]:
    """The events of a case, in the order of its report."""

    def evaluation(
        turn: int, name: str, passed: bool | None, score: float | None = None, why: str = "", error: bool = False
    ) -> Evaluation:
        found: Attributes = {"gen_ai.evaluation.name": name}
        if passed is not None:
            found["gen_ai.evaluation.score.label"] = "pass" if passed else "fail"
        if score is not None:
            found["gen_ai.evaluation.score.value"] = float(score)
        if why and contents:
            found["gen_ai.evaluation.explanation"] = why[:DESCRIPTION_LIMIT]
        return Evaluation(turn=turn, attributes=found | ({"error.type": "evaluation"} if error else {}))

    asserted = [(turn.turn, one) for turn in case.turns for one in turn.assertions]
    asserted += [(0, one) for one in (*case.assertions, *(case.final_assertions or ()))]
    for about, one in asserted:
        yield evaluation(about, one.type, one.passed if one.judged else None, one.score, one.message, one.error)
    for checkpoint in case.checkpoints or ():
        is_reached = checkpoint.reached_at_turn is not None
        passed = is_reached if checkpoint.judged and not checkpoint.inconclusive else None
        yield evaluation(0, checkpoint.id, passed, why=checkpoint.message)
    for score in case.scores:
        for criterion in score.assertions:
            passed = criterion.passed if criterion.judged and not criterion.inconclusive else None
            name = criterion.id or score.type
            yield evaluation(0, name, passed, criterion.score, criterion.reason, criterion.error)
        passed = {ScoreVerdict.PASS: True, ScoreVerdict.FAIL: False}.get(score.verdict)
        yield evaluation(0, score.name, passed, score.score)
