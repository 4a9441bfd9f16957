"""Agents that help to test (facts of the runtime, "Helper agents"): validators judge an answer, simulators play the
user, generators make cases, reporters write reports. All are asked in the same way, with a payload.

For `t.assert.Agent` the script asks one judge after another, and `count_votes` counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bindings import ProcessError, agent_id
from runner.agents.answer import AgentError, answer_of
from runner.agents.call import call_other
from runner.agents.chat import AgentRequest, Chat
from runner.assertions.base import AssertionResult, CheckResult, NotEvaluated
from runner.assertions.results import SCALE, not_evaluated, off_scale, result_of, score_of, shorten
from runner.errors import ConfigurationError
from runner.reading.helper_answers import Unclear, lone_score, read_verdict
from runner.shapes.fields import parameters_in

if TYPE_CHECKING:
    from bindings import World
    from runner.agents.answer import Answer
    from runner.agents.runtime import Runtime

AGENT = "agent"
"""The type of the assertion of `t.assert.Agent`, as in cases."""
MOST_JUDGEMENTS = 1000
"""Judgements of one test that are kept."""
_FORM = 'It must return {"passed": true or false, "reason": "..."}'
_SHOWN = 300
"""Characters that an error quotes of an answer."""


async def ask_helper(
    runtime: Runtime, agent: str, role: str, payload: Mapping[str, Any], options: Mapping[str, Any], chat: Chat
) -> Answer:
    """Calls a helper once, in a chat of its own with the identity of the chat that it helps. Raises AgentError: it
    failed; ConfigurationError: there is no such agent.

    Args:
        agent: its id.
        role: `validator`, `simulator`, `generator` or `reporter`; the helper gets it as `test_mode`.
        payload: its message and its metadata, JSON values.
        options: `connector`, `metadata`, `mode`, `search`, `disable_global_prompts`, and parameters of the model."""
    metadata = {**payload, **(options.get("metadata") or {}), "test_mode": role}
    connector = options.get("connector")
    if not connector and not _has_connector(runtime, agent):
        connector = runtime.fallback or chat_connector(chat) or _tested_connector(runtime, chat)
    call = {key: options[key] for key in ("mode", "search", "disable_global_prompts") if options.get(key)}
    call |= {"metadata": metadata, "skip": {"history": True, "trace": True, "output": True}}
    if connector:
        call["connector"] = connector
    own = chat.beside(role, {**chat.context, "chat_id": f"{chat.id}-{role}", "metadata": {}})
    content = json.dumps(payload, ensure_ascii=False)
    if role == "validator" and "output" in payload:
        own.framed = {content: json.dumps(framed(payload), ensure_ascii=False)}
    messages = [{"role": "user", "content": content}]
    try:
        request = AgentRequest(
            agent=agent, messages=messages, options=call, chat=own, parameters=parameters_in(options)
        )
        answer = await call_other(runtime, request)
    except AgentError as error:
        error.infrastructure = error.infrastructure or error.cut
        raise
    finally:
        chat.model_calls += own.model_calls
    return whole(role, answer)


def _has_connector(runtime: Runtime, agent: str) -> bool:
    """Whether a helper has a connector, be it the application's; also of one that is not there, which a mock may answer
    for."""
    try:
        assistant = runtime.assistants.get(agent)
    except ConfigurationError:
        return True
    return bool(assistant.connector) or runtime.connectors.has_role("default")


def _tested_connector(runtime: Runtime, chat: Chat) -> str:
    id = chat.context.get("assistant_id")
    return runtime.assistants.get(id).connector if id else ""


def whole(role: str, answer: Answer) -> Answer:
    """The answer of a helper. Raises AgentError if it says that it is not whole."""
    if answer.cut:
        raise AgentError(f"the answer of the {role} {answer.agent} was {answer.cut}", infrastructure=True)
    return answer


def framed(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What a model gets that judges `output`: the same, with a boundary before the output and after it. The boundary is
    a digest of the output: no output can have its own in it, and equal ones have the same."""
    from hashlib import sha256

    written = json.dumps(payload["output"], sort_keys=True)
    boundary = f"answer-{sha256(written.encode()).hexdigest()[:32]}"
    others = {key: value for key, value in payload.items() if key != "output"}
    return {"output_begins": boundary, "output": payload["output"], "output_ends": boundary, **others}


def chat_connector(chat: Chat) -> str:
    """The connector that the chat's agents have used, newest first; empty when none was."""
    return next((call.connector for call in reversed(chat.model_calls) if not call.embeds), "")


def mocked_verdict(agent: str, reply: Any, world: World) -> dict[str, Any]:
    """The verdict in what a mock of a validator replies; see `verdict_of`."""
    return verdict_of(agent, whole("validator", answer_of(agent, reply)).output, world)


def verdict_of(agent: str, output: Any, world: World) -> dict[str, Any]:
    """The verdict in what a validator answered, `{passed, judged?, reason?, score?, suggestions?}`; see `read_verdict`.
    A score that is not from 0 to 1 is a warning of the world's test. Raises AgentError when there is no verdict."""
    verdict = read_verdict(output)
    if isinstance(verdict, Unclear):
        why = f", since {verdict.why}" if verdict.why else ""
        said = shorten(json.dumps(output, ensure_ascii=False), _SHOWN)
        alone = not why and lone_score(output) is not None
        raise AgentError(
            f"validator {agent} did not return a verdict{why}: {said}",
            hint=(f"A score alone is not a verdict, and {SCALE}. " if alone else "") + _FORM,
            infrastructure=True,
        )
    if "off_scale" in verdict:
        world.warn("judge", off_scale(agent, verdict.pop("off_scale")))
    return verdict


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
            is `{output, criteria?, metadata?, connector?}`."""
    from runner.assertions.model import JudgeOptions
    from runner.assertions.results import counted, next_judge
    from runner.shapes.shape import Misfit

    agent, judge, votes, about = (*args, None, None, None, None)[:4]
    votes, about = votes or [], about or {}
    lists = isinstance(votes, list) and all(isinstance(vote, dict) for vote in votes)
    if not isinstance(agent, str) or not lists or not isinstance(about, dict):
        raise ProcessError(
            "agent.Vote is internal to t.assert.Agent: it takes a judge, options, votes and the judged output", 400
        )
    agent = agent_id(agent)
    try:
        panel = None if judge is None else JudgeOptions.model_validate(judge)
    except Misfit as error:
        first = error.complaints[0].replace(path=("judge", *error.complaints[0].path))
        said = first.sentence({"judge": judge})
        raise ProcessError(f"{said}. Allowed fields: samples, quorum and judges, as in cases") from error
    following = next_judge(agent, panel, samples, [vote.get("passed") for vote in votes])
    if following is not None:
        return {"ask": following, "connector": connector}
    cast = [(str(vote.get("judge") or ""), _verdict_of(vote)) for vote in votes]
    expected, output = about.get("criteria", about.get("metadata")), about.get("output")
    try:
        found = counted(agent, panel, samples, cast)
    except NotEvaluated as error:
        _keep(world, not_evaluated(AGENT, error, str(error), expected, output))
        return {"failed": True, "broke": error.infrastructure, "reason": str(error)}
    options = {key: about[key] for key in ("connector", "metadata") if about.get(key)}
    judged = found.replace(expected=expected, actual=output, judge=found.judge or agent, options=options or None)
    _keep(world, result_of(AGENT, judged, required))
    return {"passed": found.passed, "judged": found.judged, "inconclusive": found.inconclusive, "reason": found.message}


def _verdict_of(vote: Mapping[str, Any]) -> CheckResult | NotEvaluated:
    said = str(vote.get("reason") or "")
    if vote.get("failed"):
        return NotEvaluated(said, infrastructure=bool(vote.get("broke")))
    passed = vote.get("passed")
    return CheckResult(passed=passed is not False, judged=passed is not None, message=said, score=score_of(vote))


def _keep(world: World, result: AssertionResult) -> None:
    if len(world.judgements) < MOST_JUDGEMENTS:
        world.judgements.append(result)
