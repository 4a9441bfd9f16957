"""What assertions of one case may call: validator agents, functions of scripts, snapshots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from bindings import ProcessError
from runner.agents.answer import AgentError
from runner.agents.chat import Chat, JudgeUse
from runner.agents.helpers import whole
from runner.agents.mocked import answer_of
from runner.agents.references import ScriptReferenceError, call_function
from runner.agents.requests import Scope
from runner.assertions.base import NotEvaluated
from runner.assertions.results import SCALE, off_scale, shorten
from runner.errors import RunnerError
from runner.reading.helper_answers import Unclear, lone_score, read_verdict
from scripttest import HostError

if TYPE_CHECKING:
    from bindings import World
    from runner.agents.assistant import Assistant
    from runner.agents.helpers import Helpers
    from runner.agents.runtime import Runtime
    from runner.application.application import Application

Setting = TypeVar("Setting", bool, int, str)
_FORM = 'It must answer {"passed": true or false, "reason": "..."}'
_SHOWN = 300
"""Characters that an error quotes of an answer."""
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
        self._required = required
        self._samples = samples
        self._connector = connector
        self._application = application
        self._runtime = runtime
        self._helpers = helpers
        self._assistant = assistant
        self._chat = chat
        self._snapshot = snapshot

    @property
    def required(self) -> bool:
        """See `Judges`; its result then depends on the flags of judges, as with `samples` and `connector`."""
        return self._noted(self._required)

    @property
    def samples(self) -> int:
        """See `Judges`."""
        return self._noted(self._samples)

    @property
    def connector(self) -> str:
        """See `Judges`."""
        return self._noted(self._connector)

    def _noted(self, setting: Setting) -> Setting:
        self._chat.world.is_judged = True
        return setting

    async def validate(self, agent: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Asks a validator; see `Judges`."""
        try:
            with self._chat.world.branch(agent, payload):
                answer = await self._helpers.ask(agent, "validator", payload, options, self._chat)
            if not self._runtime.connectors_of(self._chat).is_scripted(answer.connector):
                self._chat.judged_by.append(JudgeUse(judge=agent, connector=answer.connector))
            return {**verdict_of(agent, answer.output, self._chat.world), "connector": answer.connector}
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
            with self._chat.world.branch(reference, arguments):
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

    def warn(self, text: str) -> None:
        """Adds a warning to the result; see `Judges`."""
        self._chat.world.warn("judge", text)

    def match_snapshot(self, name: str, value: Any) -> str | None:
        """Compares with a stored snapshot; see `Judges`."""
        from runner.assertions.snapshots import difference, printed

        text = printed(value)
        try:
            found = self._snapshot(name, text)
        except ProcessError as error:
            raise NotEvaluated(error.message) from error
        if found["passed"]:
            return None
        reason, expected = found.get("reason"), found.get("expected")
        return reason if expected is None else f"{reason or 'Not as stored'}:\n{difference(expected, text)}"


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
            f"validator {agent} did not answer with a verdict{why}: {said}",
            hint=(f"A score alone is no verdict, and {SCALE}. " if alone else "") + _FORM,
            infrastructure=True,
        )
    if "off_scale" in verdict:
        world.warn("judge", off_scale(agent, verdict.pop("off_scale")))
    return verdict
