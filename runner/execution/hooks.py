"""Calls hooks around cases: functions of the agent's scripts that a case or a flag names (facts of the
runtime, (g))."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError
from runner.agents.references import ScriptReferenceError, call_function
from runner.agents.requests import Scope
from runner.cases.messages import input_of
from scripttest import Cause, Failure, HostError
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.assistant import Assistant
    from runner.agents.chat import Chat
    from runner.cases.model import Case
    from runner.modes.case_environment import CaseEnvironment


class HookError(Exception):
    """A hook failed."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Hook(Value):
    """Calls hooks for one case or suite."""

    environment: CaseEnvironment
    assistant: Assistant
    chat: Chat

    async def call(self, reference: str, kind: str, arguments: list[Any]) -> Any:
        """Calls a hook and returns its result, or the field `data` of it, if there is one. `kind` is used in messages.
        Raises HookError."""
        scope = Scope(chat=self.chat, assistant=self.assistant, context=self.chat.context, depth=0)
        try:
            value = await call_function(
                reference,
                (),
                [None, *arguments],
                scope,
                self.environment.runtime,
                self.environment.application,
                what=f"{kind} {reference}",
                context_at=0,
            )
        except ScriptReferenceError as error:
            message = error.message + (f". {error.hint}" if error.hint else "")
            raise HookError(
                Failure(cause=Cause.INFRASTRUCTURE if error.infrastructure else Cause.SETUP, message=message)
            ) from error
        except AgentError as error:
            cause = Cause.INFRASTRUCTURE if error.infrastructure else Cause.SETUP
            raise HookError(error.failure.replace(cause=cause, message=error.message)) from error
        except HostError as error:
            raise HookError(Failure(cause=Cause.INFRASTRUCTURE, message=error.message)) from error
        return value["data"] if isinstance(value, dict) and "data" in value else value


def told_of_case(case: Case) -> dict[str, Any]:
    """The description of a case that hooks get: `{id, input, metadata, assert?}`."""
    record: dict[str, Any] = {"id": case.id, "input": input_of(case), "metadata": case.metadata}
    if case.assertions:
        record["assert"] = [_written(assertion) for assertion in case.assertions]
    return record


def _written(assertion: Any) -> Any:
    """An assertion as a JSON value; in conversations it may be a text."""
    return assertion if isinstance(assertion, str) else assertion.model_dump(exclude_defaults=True)
