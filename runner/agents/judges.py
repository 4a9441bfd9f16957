"""What the assertions of one case may ask: validator agents, script functions, snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bindings import ProcessError
from runner.agents.answer import AgentError
from runner.agents.chat import Chat
from runner.agents.helper_answers import verdict_of
from runner.agents.references import ScriptReferenceError, call_function
from runner.agents.runtime import Scope
from runner.assertions.base import NotEvaluated
from runner.errors import RunnerError
from scripttest import HostError

if TYPE_CHECKING:
    from runner.agents.assistant import Assistant
    from runner.agents.helpers import Helpers
    from runner.agents.runtime import Runtime
    from runner.application.application import Application

MatchSnapshot = Callable[[str, str], dict[str, Any]]
"""(key, text) → `{passed, expected?, reason?}`."""


class CaseJudges:
    """Implements `runner.assertions.base.Judges` for one case."""

    def __init__(
        self,
        application: Application,
        runtime: Runtime,
        helpers: Helpers,
        assistant: Assistant,
        chat: Chat,
        snapshot: MatchSnapshot,
        required: bool,
        samples: int = 1,
        connector: str = "",
    ) -> None:
        self.required = required
        self.samples = samples
        self.connector = connector
        self._application = application
        self._runtime = runtime
        self._helpers = helpers
        self._assistant = assistant
        self._chat = chat
        self._snapshot = snapshot

    async def validate(self, agent: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Asks a validator; see `Judges`."""
        try:
            answer = await self._helpers.ask(agent, "validator", payload, options, self._chat)
            if not self._runtime.connectors_of(self._chat).is_scripted(answer.connector):
                self._chat.judged_by.append((agent, answer.connector))
            return {**verdict_of(agent, answer.output), "connector": answer.connector}
        except (AgentError, RunnerError) as error:
            message = error.placed if isinstance(error, AgentError) else error.message
            hint = f". {error.hint}" if error.hint else ""
            broken = isinstance(error, AgentError) or error.infrastructure
            raise NotEvaluated(message + hint, infrastructure=broken) from error

    async def call_script(self, reference: str, roles: tuple[str, ...], arguments: list[Any]) -> Any:
        """Calls a script function; see `Judges`."""
        context = {**self._chat.context, "assistant_id": self._assistant.id}
        scope = Scope(chat=self._chat, assistant=self._assistant, context=context, depth=0)
        try:
            return await call_function(
                reference, roles, arguments, scope, self._runtime, self._application, what=reference
            )
        except ScriptReferenceError as error:
            message = error.message + (f". {error.hint}" if error.hint else "")
            raise NotEvaluated(message, infrastructure=error.infrastructure) from error
        except AgentError as error:
            raise NotEvaluated(error.placed, infrastructure=error.infrastructure) from error
        except HostError as error:
            raise NotEvaluated(error.message, infrastructure=True) from error

    def match_snapshot(self, name: str, value: Any) -> str | None:
        """Compares with a stored snapshot; see `Judges`."""
        from runner.assertions.snapshot_texts import difference, printed

        text = printed(value)
        try:
            found = self._snapshot(name, text)
        except ProcessError as error:
            raise NotEvaluated(error.message) from error
        if found["passed"]:
            return None
        reason, expected = found.get("reason"), found.get("expected")
        return reason if expected is None else f"{reason or 'Not as stored'}:\n{difference(expected, text)}"


def count_votes(samples: int, connector: str, agent: str, judge: Any, votes: list[dict[str, Any]]) -> dict[str, Any]:
    """Who votes next in `t.assert.Agent`, `{ask, connector}`, or what the `votes`, each `{judge, passed?, reason?,
    failed?, broke?}`, come to: `{passed, judged, inconclusive, reason}`, or `{failed, broke, reason}` where nobody
    could be asked. Raises ProcessError for a `judge` that cannot be.

    Args:
        samples: votes of each judge where `judge` does not say how many.
        connector: what judges use in the place of their own; empty: nothing.
    """
    from runner.assertions.base import Verdict
    from runner.assertions.model import JudgeOptions
    from runner.assertions.votes import counted, next_judge

    try:
        panel = None if judge is None else JudgeOptions.model_validate(judge)
    except ValueError as error:
        first = error.errors()[0]  # type: ignore[attr-defined]
        place = ".".join(map(str, ("judge", *first["loc"])))
        raise ProcessError(f"{place}: {first['msg']}. It takes samples, quorum and judges, as in cases") from error
    following = next_judge(agent, panel, samples, [vote.get("passed") for vote in votes])
    if following is not None:
        return {"ask": following, "connector": connector}

    def cast(vote: dict[str, Any]) -> Verdict | NotEvaluated:
        said = vote.get("reason") or ""
        if vote.get("failed"):
            return NotEvaluated(said, infrastructure=bool(vote.get("broke")))
        passed = vote.get("passed")
        return Verdict(passed=passed is not False, judged=passed is not None, message=said)

    try:
        found = counted(agent, panel, samples, [(vote["judge"], cast(vote)) for vote in votes])
    except NotEvaluated as error:
        return {"failed": True, "broke": error.infrastructure, "reason": str(error)}
    return {
        "passed": found.passed,
        "judged": found.judged,
        "inconclusive": found.inconclusive,
        "reason": found.message,
    }
