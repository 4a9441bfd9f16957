"""The votes of `t.assert.Agent`: the script asks one judge after another, and this counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bindings import ProcessError, agent_id
from runner.assertions.base import AssertionResult, CheckResult, NotEvaluated
from runner.assertions.model import JudgeOptions
from runner.assertions.results import not_evaluated, result_of, score_of
from runner.assertions.votes import Cast, counted, next_judge
from scripttest.values import Value

if TYPE_CHECKING:
    from bindings import World

AGENT = "agent"
"""The type of the assertion, as in cases."""
MOST = 1000
"""Judgements of one test that are kept."""


class _Asked(Value):
    """The arguments of `agent.Vote`."""

    agent: str
    judge: Any
    votes: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any]


def count_votes(world: World, samples: int, connector: str, required: bool, args: list[Any]) -> dict[str, Any]:
    """The next judge to ask, `{ask, connector}`; or the result of the votes, `{passed, judged, inconclusive, reason}`,
    or `{failed, broke, reason}` if no judge could be asked. The result is stored in the world. Raises ProcessError for
    a `judge` that cannot be used.

    Args:
        world: the world of the test.
        samples: votes of each judge, if `judge` does not say.
        connector: connector of judges instead of their own; empty for their own.
        required: `--require-judge`.
        args: `[agent, judge, votes, about]`. Each vote is `{judge, passed?, score?, reason?, failed?, broke?}`; `about`
            is `{output, criteria?, metadata?, connector?}`.
    """
    asked = _checked(args)
    agent, votes, about = asked.agent, asked.votes, asked.about
    try:
        panel = None if asked.judge is None else JudgeOptions.model_validate(asked.judge)
    except ValueError as error:
        first = error.errors()[0]  # type: ignore[attr-defined]
        place = ".".join(map(str, ("judge", *first["loc"])))
        raise ProcessError(f"{place}: {first['msg']}. It takes samples, quorum and judges, as in cases") from error
    following = next_judge(agent, panel, samples, [vote.get("passed") for vote in votes])
    if following is not None:
        return {"ask": following, "connector": connector}
    cast = [Cast(judge=str(vote.get("judge") or ""), verdict=_verdict_of(vote)) for vote in votes]
    expected, output = about.get("criteria", about.get("metadata")), about.get("output")
    try:
        found = counted(agent, panel, samples, cast)
    except NotEvaluated as error:
        _keep(world, not_evaluated(AGENT, error, str(error), expected, output))
        return {"failed": True, "broke": error.infrastructure, "reason": str(error)}
    options = {key: about[key] for key in ("connector", "metadata") if about.get(key)}
    judged = found.replace(expected=expected, actual=output, judge=found.judge or agent, options=options or None)
    _keep(world, result_of(AGENT, judged, required))
    return {
        "passed": found.passed,
        "judged": found.judged,
        "inconclusive": found.inconclusive,
        "reason": found.message,
    }


def _checked(args: list[Any]) -> _Asked:
    agent, judge, votes, about = (*args, None, None, None, None)[:4]
    votes, about = votes or [], about or {}
    lists = isinstance(votes, list) and all(isinstance(vote, dict) for vote in votes)
    if not isinstance(agent, str) or not lists or not isinstance(about, dict):
        raise ProcessError("agent.Vote is for t.assert.Agent: it takes a judge, options, votes and what is judged", 400)
    return _Asked(agent=agent_id(agent), judge=judge, votes=votes, about=about)


def _verdict_of(vote: Mapping[str, Any]) -> CheckResult | NotEvaluated:
    said = str(vote.get("reason") or "")
    if vote.get("failed"):
        return NotEvaluated(said, infrastructure=bool(vote.get("broke")))
    passed = vote.get("passed")
    return CheckResult(passed=passed is not False, judged=passed is not None, message=said, score=score_of(vote))


def _keep(world: World, result: AssertionResult) -> None:
    if len(world.judgements) < MOST:
        world.judgements.append(result)
