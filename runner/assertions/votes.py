"""Several votes on one answer: samples of one judge, and several judges. They are asked in waves: no vote is asked for
that could not change the verdict."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.assertions.base import NotEvaluated, Verdict, Vote
from runner.assertions.judged import verdict_in
from runner.assertions.verdicts import show

if TYPE_CHECKING:
    from runner.assertions.base import Judges
    from runner.assertions.model import JudgeOptions

QUORUM = 2 / 3
"""Share of the votes that decide."""
_SLACK = 1e-9


async def judged_by(
    judges: Judges,
    agent: str,
    panel: JudgeOptions | None,
    payload: Mapping[str, Any],
    options: Mapping[str, Any],
    expected: Any,
    actual: Any,
) -> Verdict:
    """The verdict of one or several votes on an answer. Raises NotEvaluated if no vote could be cast.

    Args:
        agent: id of the judge, if the panel names no others.
        panel: how many votes, and which judges; None: as the run says.
        payload: what the judges get.
        options: the options of the assertion.
        expected: what is judged, for the result.
        actual: the output, for the result.
    """
    names, samples, quorum = _ballot(agent, panel, judges.samples)
    asked_with = {key: value for key, value in options.items() if value} or None
    if judges.connector:
        options = {**options, "connector": judges.connector}

    async def ask(name: str) -> Verdict | NotEvaluated:
        try:
            answer = await judges.validate(name, payload, options)
            verdict = verdict_in(answer, expected, actual)
            if verdict is None:
                raise NotEvaluated(f"{name} answered {show(answer)}, which does not say whether the output passes")
        except NotEvaluated as error:
            return error
        return verdict.replace(judge=name, judge_connector=answer.get("connector") or None)

    waiting = names * samples
    if len(waiting) == 1:
        only = await ask(waiting[0])
        if isinstance(only, NotEvaluated):
            raise only
        return only.replace(options=asked_with)
    asked: list[tuple[str, Verdict | NotEvaluated]] = []
    while waiting and (wave := _wave([_cast(one) for _, one in asked], len(waiting), quorum)):
        now, waiting = waiting[:wave], waiting[wave:]
        asked += zip(now, await asyncio.gather(*map(ask, now)), strict=True)
    return _together(asked, quorum, expected, actual).replace(options=asked_with)


def next_judge(agent: str, panel: JudgeOptions | None, samples: int, votes: Sequence[bool | None]) -> str | None:
    """The next judge, if judges are asked one after another; None if the votes decide, or there are no more.

    Args:
        agent: as for `judged_by`, as is `panel`.
        samples: votes of each judge, if the panel does not say.
        votes: the votes so far; None: the judge broke, or could not judge.
    """
    names, each, quorum = _ballot(agent, panel, samples)
    waiting = (names * each)[len(votes) :]
    is_open = bool(waiting) and (not votes or _wave(votes, len(waiting), quorum) > 0)
    return waiting[0] if is_open else None


def counted(
    agent: str, panel: JudgeOptions | None, samples: int, asked: Sequence[tuple[str, Verdict | NotEvaluated]]
) -> Verdict:
    """The verdict of votes that were cast one after another. Raises NotEvaluated if there is none."""
    names, each, quorum = _ballot(agent, panel, samples)
    if len(names) * each > 1:
        return _together(asked, quorum, None, None)
    only = asked[0][1]
    if isinstance(only, NotEvaluated):
        raise only
    return only


def _ballot(agent: str, panel: JudgeOptions | None, samples: int) -> tuple[list[str], int, float]:
    """The judges, how often each votes, and the share that decides."""
    names = [agent_id(name) for name in (panel.judges if panel and panel.judges else [agent])]
    return names, (panel.samples if panel else None) or samples, (panel.quorum if panel else None) or QUORUM


def _cast(one: Verdict | NotEvaluated) -> bool | None:
    """None: the vote broke, or the judge could not judge."""
    return one.passed if isinstance(one, Verdict) and one.judged else None


def _wave(votes: Sequence[bool | None], left: int, quorum: float) -> int:
    """The fewest further votes that could decide; 0: it is decided."""
    cast = [vote for vote in votes if vote is not None]
    most = max(cast.count(True), cast.count(False))
    needed = _needed(len(cast) + left, quorum)
    return 0 if most >= needed else min(needed - most, left)


def _needed(votes: int, quorum: float) -> int:
    return max(math.ceil(quorum * votes - _SLACK), votes // 2 + 1)


def _together(
    asked: Sequence[tuple[str, Verdict | NotEvaluated]], quorum: float, expected: Any, actual: Any
) -> Verdict:
    votes = tuple(
        Vote(
            passed=_cast(one),
            score=one.score if isinstance(one, Verdict) and one.judged else None,
            reason=one.message if isinstance(one, Verdict) else str(one),
            judge=name,
            connector=one.judge_connector if isinstance(one, Verdict) else None,
        )
        for name, one in asked
    )
    cast = [vote for vote in votes if vote.passed is not None]
    if not cast:
        broken = next((one for _, one in asked if isinstance(one, NotEvaluated)), None)
        if broken is not None:
            raise broken
        first = asked[0][1]
        assert isinstance(first, Verdict)
        return first.replace(votes=votes)
    passed = sum(bool(vote.passed) for vote in cast)
    needed = _needed(len(cast), quorum)
    pairs = math.comb(len(cast), 2)
    agreement = (math.comb(passed, 2) + math.comb(len(cast) - passed, 2)) / pairs if pairs else None
    scores = [vote.score for vote in cast if vote.score is not None]
    verdict = Verdict(
        passed=passed >= needed,
        expected=expected,
        actual=actual,
        score=math.fsum(scores) / len(scores) if scores else None,
        votes=votes,
        agreement=agreement,
        judge=", ".join(dict.fromkeys(name for name, _ in asked)),
        judge_connector=", ".join(dict.fromkeys(vote.connector for vote in votes if vote.connector)) or None,
    )
    if max(passed, len(cast) - passed) < needed:
        said = "; ".join(
            f"{vote.judge}: {'yes' if vote.passed else 'no'}, {vote.reason or 'no reason'}" for vote in cast
        )
        text = f"inconclusive: {passed} of {len(cast)} votes passed, {needed} decide ({said})"
        return verdict.replace(inconclusive=True, message=text)
    reason = next(vote.reason for vote in cast if vote.passed is verdict.passed)
    return verdict.replace(message=f"{reason} ({passed} of {len(cast)} votes passed)".strip())
