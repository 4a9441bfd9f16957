"""From a check, or the answer of a judge, to the result of an assertion, a checkpoint or a criterion, and its message:
`Expected the output to contain "a", found "b"`, long values shortened. Of several votes on one answer, samples of one
judge or several judges, no vote is asked for that could not change the verdict: they are asked in waves."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from bindings import agent_id
from runner.assertions.base import AssertionResult, CheckResult, Judged, NotEvaluated, Vote
from scripttest.values import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runner.assertions.base import Judges
    from runner.assertions.model import Assertion, JudgeOptions

SCALE = "scores are from 0 to 1, such as 0.8 for 8 of 10"
QUORUM = 2 / 3
"""Share of the votes that decide."""
_SLACK = 1e-9
Voted = CheckResult | NotEvaluated
"""The verdict of one vote, or why there is none."""
LIMIT = 500
"""Longest value in a message, in characters."""


def decide(
    assertion: Assertion,
    held: bool,
    expected: Any,
    actual: Any,
    verb: str,
    *,
    subject: str = "the output",
    wanted: str | None = None,
    found: str | None = None,
    form: Callable[[], str] | None = None,
) -> CheckResult:
    """The verdict on a check, with a message if the assertion fails.

    Args:
        held: the result of the check, before `negate`
        verb: for example `to contain`; `negate` puts "not" before it, or removes it
        wanted: the expected value as text; by default as JSON
        found: the actual value as text; by default as JSON
        form: says whether only the form of texts differs; see `form_only`"""
    if held is not assertion.negate:
        return CheckResult(passed=held, expected=expected, actual=actual)
    if assertion.negate:
        verb = verb.removeprefix("not ") if verb.startswith("not ") else f"not {verb}"
    wanted = show(expected) if wanted is None else wanted
    found = show(actual) if found is None else found
    if wanted != found:
        from runner.look_alikes import apart

        wanted, found = apart(wanted, found)
    message = f"Expected {subject} {verb} {wanted}, found {found}"
    if form is not None and not assertion.negate and (said := form()):
        message += f"; {said}"
    return CheckResult(passed=held, expected=expected, actual=actual, message=message)


def nothing_to_judge(assertion: Assertion, expected: Any, actual: Any, message: str) -> CheckResult:
    """A failure for want of anything to look at, which `negate` does not turn into success."""
    if assertion.negate:
        raise NotEvaluated(message[0].lower() + message[1:])
    return CheckResult(passed=False, expected=expected, actual=actual, message=message)


def score_of(answer: Mapping[str, Any]) -> float | None:
    """The score in a judge's answer, if it is a number from 0 to 1."""
    score = answer.get("score")
    return score if isinstance(score, (int, float)) and _is_number(score) and 0 <= score <= 1 else None


def off_scale(judge: str, score: Any) -> str:
    """The warning about a score of a judge that is a number, but not from 0 to 1; empty for all else."""
    if not _is_number(score) or 0 <= score <= 1:
        return ""
    return f"{judge} gave the score {score:g}, which does not count: {SCALE}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def show(value: Any, limit: int = LIMIT) -> str:
    """A value as compact JSON, shortened in the middle."""
    if isinstance(value, str):
        return json.dumps(shorten(value, limit), ensure_ascii=False)
    return shorten(json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str), limit)


LONGEST = 1_000_000
"""Characters of what an assertion has looked at that its result keeps."""


def shorten(text: str, limit: int = LIMIT) -> str:
    """A text of at most about `limit` characters, without its middle if it is longer."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} …{len(text) - 2 * half} more… {text[-half:]}"


def result_in(answer: Mapping[str, Any]) -> CheckResult | None:
    """The verdict that a judge answered, `{passed, judged?, reason?, score?}`, also as `pass` and `message`; None when
    it says neither, or both and they contradict each other. `judged: false` says that it could not judge, unless it
    says no."""
    passed = answer.get("passed", answer.get("pass"))
    if isinstance(passed, bool) and answer.get("pass") is (not passed):
        return None
    why = answer.get("reason") or answer.get("message") or ""
    said = why if isinstance(why, str) else show(why)
    if answer.get("judged") is False and passed is not False:
        return CheckResult(passed=True, message=said, judged=False)
    if not isinstance(passed, bool):
        return None
    return CheckResult(passed=passed, message=said, score=score_of(answer))


def result_of(
    type: str,
    verdict: CheckResult,
    required: bool,
    *,
    negate: bool = False,
    message: str | None = None,
    **written: Any,
) -> AssertionResult:
    """The result of an assertion, from its verdict. `required`: `--require-judge`: whether an assertion that was not
    judged fails. Otherwise it passes, also if negated. `message`: message of a failure, instead of the verdict's.
    `written`: its `path` and `name`."""
    passed = verdict.passed is not negate if verdict.judged else not required
    if verdict.inconclusive:
        passed = False
    said = verdict.message if passed or not verdict.judged or verdict.inconclusive else message or verdict.message
    if not passed and not verdict.judged and not verdict.details:
        said = f"Not judged, but --require-judge is set{': ' if said else ''}{said}"
    return AssertionResult(
        type=type,
        passed=passed,
        expected=verdict.expected,
        actual=_kept(verdict.actual),
        message=said,
        score=verdict.score if verdict.judged else None,
        details=verdict.details,
        judged=verdict.judged,
        **how_judged(verdict),
        **written,
    )


def _kept(actual: Any) -> Any:
    """What an assertion has looked at, as results keep it: of a very long text the beginning and the end. The answer
    itself stands in its result."""
    if not isinstance(actual, str) or len(actual) <= LONGEST:
        return actual
    half = LONGEST // 2
    return f"{actual[:half]} ... {len(actual) - 2 * half} more characters ... {actual[-half:]}"


def how_judged(result: CheckResult | AssertionResult) -> dict[str, Any]:
    """Fields about the judges of a verdict, or of its result."""
    return {name: getattr(result, name) for name in names_of(Judged)}


def not_evaluated(
    type: str, error: NotEvaluated, message: str, expected: Any, actual: Any, **written: Any
) -> AssertionResult:
    """The result of an assertion that could not be made, whether it is negated or not."""
    failed = CheckResult(passed=False, expected=expected, actual=actual, message=message, details=error.details)
    found = result_of(type, failed, False, **written)
    return found.replace(error=True, infrastructure=error.infrastructure)


async def judged_by(
    judges: Judges,
    agent: str,
    panel: JudgeOptions | None,
    payload: Mapping[str, Any],
    options: Mapping[str, Any],
) -> CheckResult:
    """The verdict of one or several votes on an answer. Raises NotEvaluated if no vote could be cast.

    Args:
        agent: id of the judge, if the panel names no others.
        panel: how many votes, and which judges; None: as the run says.
        payload: what the judges get.
        options: the options of the assertion."""
    from asyncio import gather

    flags = judges.flags
    waiting, quorum = _ballot(agent, panel, flags.samples)
    asked_with = {key: value for key, value in options.items() if value} or None
    if flags.connector:
        options = {**options, "connector": flags.connector}

    async def ask(name: str) -> Voted:
        try:
            answer = await judges.validate(name, payload, options)
            verdict = result_in(answer)
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
    cast: list[tuple[str, Voted]] = []
    while waiting and (wave := _wave([_vote_of(verdict) for _, verdict in cast], len(waiting), quorum)):
        now, waiting = waiting[:wave], waiting[wave:]
        cast += zip(now, await gather(*map(ask, now)), strict=True)
    return _together(cast, quorum).replace(options=asked_with)


def next_judge(agent: str, panel: JudgeOptions | None, samples: int, votes: Sequence[bool | None]) -> str | None:
    """The next judge, if judges are asked one after another; None if the votes decide, or there are no more.
    `agent`: as for `judged_by`, as is `panel`. `samples`: votes of each judge, if the panel does not say. `votes`:
    the votes so far; None: the judge broke, or could not judge."""
    every, quorum = _ballot(agent, panel, samples)
    waiting = every[len(votes) :]
    is_open = bool(waiting) and (not votes or _wave(votes, len(waiting), quorum) > 0)
    return waiting[0] if is_open else None


def counted(agent: str, panel: JudgeOptions | None, samples: int, cast: Sequence[tuple[str, Voted]]) -> CheckResult:
    """The verdict of votes that were cast one after another, each by a judge. Raises NotEvaluated if there is none."""
    every, quorum = _ballot(agent, panel, samples)
    if len(every) > 1:
        return _together(cast, quorum)
    only = cast[0][1]
    if isinstance(only, NotEvaluated):
        raise only
    return only


def _ballot(agent: str, panel: JudgeOptions | None, samples: int) -> tuple[list[str], float]:
    """The judges in their order, one for each vote, and the share that decides."""
    judges = [agent_id(name) for name in (panel.judges if panel and panel.judges else [agent])]
    quorum = (panel.quorum if panel else None) or QUORUM
    return judges * ((panel.samples if panel else None) or samples), quorum


def _vote_of(verdict: Voted) -> bool | None:
    """None: the vote broke, or the judge could not judge."""
    return verdict.passed if isinstance(verdict, CheckResult) and verdict.judged else None


def _wave(votes: Sequence[bool | None], left: int, quorum: float) -> int:
    """The fewest further votes that could decide; 0: it is decided."""
    cast = [vote for vote in votes if vote is not None]
    most = max(cast.count(True), cast.count(False))
    needed = _needed(len(cast) + left, quorum)
    return 0 if most >= needed else min(needed - most, left)


def _needed(votes: int, quorum: float) -> int:
    return max(math.ceil(quorum * votes - _SLACK), votes // 2 + 1)


def _as_vote(judge: str, verdict: Voted) -> Vote:
    if isinstance(verdict, NotEvaluated):
        return Vote(passed=None, reason=str(verdict), judge=judge)
    return Vote(
        passed=_vote_of(verdict),
        score=verdict.score if verdict.judged else None,
        reason=verdict.message,
        judge=judge,
        connector=verdict.judge_connector,
    )


def _together(cast: Sequence[tuple[str, Voted]], quorum: float) -> CheckResult:
    votes = tuple(_as_vote(*one) for one in cast)
    valid = [vote for vote in votes if vote.passed is not None]
    if not valid:
        broken = next((verdict for _, verdict in cast if isinstance(verdict, NotEvaluated)), None)
        if broken is not None:
            raise broken
        first = cast[0][1]
        assert isinstance(first, CheckResult)
        return first.replace(votes=votes)
    passed = sum(bool(vote.passed) for vote in valid)
    needed = _needed(len(valid), quorum)
    pairs = math.comb(len(valid), 2)
    agreement = (math.comb(passed, 2) + math.comb(len(valid) - passed, 2)) / pairs if pairs else None
    scores = [vote.score for vote in valid if vote.score is not None]
    verdict = CheckResult(
        passed=passed >= needed,
        score=math.fsum(scores) / len(scores) if scores else None,
        votes=votes,
        agreement=agreement,
        judge=", ".join(dict.fromkeys(judge for judge, _ in cast)),
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
