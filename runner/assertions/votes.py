"""Several votes on one answer: samples of one judge, and several judges. They are asked in waves: no vote is asked for
that could not change the verdict."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.assertions.base import CheckResult, NotEvaluated, Vote
from runner.assertions.results import result_in, show
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.assertions.base import Judges
    from runner.assertions.model import JudgeOptions

QUORUM = 2 / 3
"""Share of the votes that decide."""
_SLACK = 1e-9


class CastVote(Value):
    """The vote of one judge, or why there is none."""

    judge: str
    verdict: CheckResult | NotEvaluated


async def judged_by(
    judges: Judges,
    agent: str,
    panel: JudgeOptions | None,
    payload: Mapping[str, Any],
    options: Mapping[str, Any],
    expected: Any,
    actual: Any,
) -> CheckResult:
    """The verdict of one or several votes on an answer. Raises NotEvaluated if no vote could be cast.

    Args:
        agent: id of the judge, if the panel names no others.
        panel: how many votes, and which judges; None: as the run says.
        payload: what the judges get.
        options: the options of the assertion.
        expected: what is judged, for the result.
        actual: the output, for the result."""
    waiting, quorum = _ballot(agent, panel, judges.samples)
    asked_with = {key: value for key, value in options.items() if value} or None
    if judges.connector:
        options = {**options, "connector": judges.connector}

    async def ask(name: str) -> CheckResult | NotEvaluated:
        try:
            answer = await judges.validate(name, payload, options)
            verdict = result_in(answer, expected, actual)
            if verdict is None:
                raise NotEvaluated(f"{name} answered {show(answer)}, which is not a verdict on the output")
        except NotEvaluated as error:
            return error
        return verdict.replace(judge=name, judge_connector=answer.get("connector") or None)

    if len(waiting) == 1:
        only = await ask(waiting[0])
        if isinstance(only, NotEvaluated):
            raise only
        return only.replace(options=asked_with)
    cast: list[CastVote] = []
    while waiting and (wave := _wave([_vote_of(one) for one in cast], len(waiting), quorum)):
        now, waiting = waiting[:wave], waiting[wave:]
        verdicts = await asyncio.gather(*map(ask, now))
        cast += [CastVote(judge=judge, verdict=verdict) for judge, verdict in zip(now, verdicts, strict=True)]
    return _together(cast, quorum, expected, actual).replace(options=asked_with)


def next_judge(agent: str, panel: JudgeOptions | None, samples: int, votes: Sequence[bool | None]) -> str | None:
    """The next judge, if judges are asked one after another; None if the votes decide, or there are no more.
    `agent`: as for `judged_by`, as is `panel`. `samples`: votes of each judge, if the panel does not say. `votes`:
    the votes so far; None: the judge broke, or could not judge."""
    every, quorum = _ballot(agent, panel, samples)
    waiting = every[len(votes) :]
    is_open = bool(waiting) and (not votes or _wave(votes, len(waiting), quorum) > 0)
    return waiting[0] if is_open else None


def counted(agent: str, panel: JudgeOptions | None, samples: int, cast: Sequence[CastVote]) -> CheckResult:
    """The verdict of votes that were cast one after another. Raises NotEvaluated if there is none."""
    every, quorum = _ballot(agent, panel, samples)
    if len(every) > 1:
        return _together(cast, quorum, None, None)
    only = cast[0].verdict
    if isinstance(only, NotEvaluated):
        raise only
    return only


def _ballot(agent: str, panel: JudgeOptions | None, samples: int) -> tuple[list[str], float]:
    """The judges in their order, one for each vote, and the share that decides."""
    judges = [agent_id(name) for name in (panel.judges if panel and panel.judges else [agent])]
    quorum = (panel.quorum if panel else None) or QUORUM
    return judges * ((panel.samples if panel else None) or samples), quorum


def _vote_of(cast: CastVote) -> bool | None:
    """None: the vote broke, or the judge could not judge."""
    return cast.verdict.passed if isinstance(cast.verdict, CheckResult) and cast.verdict.judged else None


def _wave(votes: Sequence[bool | None], left: int, quorum: float) -> int:
    """The fewest further votes that could decide; 0: it is decided."""
    cast = [vote for vote in votes if vote is not None]
    most = max(cast.count(True), cast.count(False))
    needed = _needed(len(cast) + left, quorum)
    return 0 if most >= needed else min(needed - most, left)


def _needed(votes: int, quorum: float) -> int:
    return max(math.ceil(quorum * votes - _SLACK), votes // 2 + 1)


def _as_vote(cast: CastVote) -> Vote:
    verdict = cast.verdict
    if isinstance(verdict, NotEvaluated):
        return Vote(passed=None, score=None, reason=str(verdict), judge=cast.judge, connector=None)
    return Vote(
        passed=_vote_of(cast),
        score=verdict.score if verdict.judged else None,
        reason=verdict.message,
        judge=cast.judge,
        connector=verdict.judge_connector,
    )


def _together(cast: Sequence[CastVote], quorum: float, expected: Any, actual: Any) -> CheckResult:
    votes = tuple(map(_as_vote, cast))
    valid = [vote for vote in votes if vote.passed is not None]
    if not valid:
        broken = next((one.verdict for one in cast if isinstance(one.verdict, NotEvaluated)), None)
        if broken is not None:
            raise broken
        first = cast[0].verdict
        assert isinstance(first, CheckResult)
        return first.replace(votes=votes)
    passed = sum(bool(vote.passed) for vote in valid)
    needed = _needed(len(valid), quorum)
    pairs = math.comb(len(valid), 2)
    agreement = (math.comb(passed, 2) + math.comb(len(valid) - passed, 2)) / pairs if pairs else None
    scores = [vote.score for vote in valid if vote.score is not None]
    verdict = CheckResult(
        passed=passed >= needed,
        expected=expected,
        actual=actual,
        score=math.fsum(scores) / len(scores) if scores else None,
        votes=votes,
        agreement=agreement,
        judge=", ".join(dict.fromkeys(one.judge for one in cast)),
        judge_connector=", ".join(dict.fromkeys(vote.connector for vote in votes if vote.connector)) or None,
    )
    if max(passed, len(valid) - passed) < needed:
        said = "; ".join(
            f"{vote.judge}: {'yes' if vote.passed else 'no'}, {vote.reason or 'no reason'}" for vote in valid
        )
        text = f"inconclusive: {passed} of {len(valid)} votes passed, {needed} decide ({said})"
        return verdict.replace(inconclusive=True, message=text)
    reason = next(vote.reason for vote in valid if vote.passed is verdict.passed)
    return verdict.replace(message=f"{reason} ({passed} of {len(valid)} votes passed)".strip())
