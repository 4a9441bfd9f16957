"""The cases of one input while they run: which have ended, which wait for others, and the hooks around all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from copy import deepcopy
from typing import Any

from bindings import DATABASE, World
from runner.agents.answer import AgentError
from runner.agents.chat import Chat, Scope
from runner.agents.references import ScriptReferenceError, call_function
from runner.amounts import in_words
from runner.cases.messages import input_of
from runner.connectors.usage import CaseTime
from runner.planning.plan import CaseSource
from runner.record.events import Event, HookOutput, SuiteEnd, Warned
from runner.record.model import TestResult
from scripttest import Cause, Failure, HostError, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bindings import Contents
    from runner.agents.assistant import Assistant
    from runner.cases.model import Case
    from runner.execution.run import Run
    from runner.modes.base import CaseAttempt, CaseEnvironment
    from runner.parts import Dependency


class SuiteRun:
    """Runs the hooks around the cases of one input, and records which cases have ended."""

    def __init__(self, source: CaseSource, run: Run, send: Callable[[Event], None], in_rounds: bool) -> None:
        """`in_rounds`: with `--until-decided`, where the first run of a case is enough for those that depend on it."""
        self.source = source
        self._send = send
        self.left = source.selected - len(source.ended)
        first = {id: runs[1] for id, runs in source.done.items() if 1 in runs} if in_rounds else {}
        known = {**source.ended, **first}
        self._statuses = {id: status for id, status in known.items() if id in source.waited}
        """How the cases ended that others depend on."""
        environment = run.case_environment(source.assistant.id)
        self._before, self._after = environment.options.before, environment.options.after
        if source.variant is not None and source.variant.connector:
            environment = environment.replace(options=environment.options.replace(connector=source.variant.connector))
        self.environment = environment
        self._open()
        self._ended: set[str] = set()
        self._prepared: asyncio.Task[Any] | None = None
        self._first_rows: Contents | None = None
        """The database that the hook before all cases has left; None: it has used none."""
        self._locks: dict[str, asyncio.Lock] = {}
        """Chat that several cases have → held by the case that is in it."""
        self._left: dict[str, tuple[str, list[Any]]] = {}
        """The same chat → the last case in it, and the memory that it left."""
        self._results: list[dict[str, Any]] = []
        """The results that the hook after all cases gets; collected only if there is one."""

    def _open(self) -> None:
        source, environment = self.source, self.environment
        context = {**environment.context, "assistant_id": source.assistant.id}
        context["chat_id"] = context["chat_id"] or "agent-test"
        seed = "" if environment.options.seed is None else f"{environment.options.seed} @hooks"
        world = World(suite=source.suite.id, test="@hooks", seed=seed, mocked=False)
        self._database = world.opened(DATABASE, lambda world: environment.database(world, source.folder, strict=False))
        self._chat = Chat(context, world, of_suite=True)

    def has_ended(self, case: Case) -> bool:
        """Whether a case has its result."""
        return case.id in self._ended or case.id in self.source.ended

    async def end_case(self, case: Case) -> None:
        """Records that a case has its result; runs the hook after all cases when it was the last one."""
        self._ended.add(case.id)
        self.left -= 1
        if not self.left:
            await self.finish()

    def end(self, id: str, status: Status) -> bool:
        """Records the status of a case, the first one in rounds; whether other cases wait for it."""
        if id not in self.source.waited or id in self._statuses:
            return False
        self._statuses[id] = status
        return True

    def waits(self, case: Case) -> bool:
        """Whether a case has to wait for another one to end, and none keeps it from running."""
        return any(id not in self._statuses for id in case.depends_on) and self.obstacle(case) is None

    def obstacle(self, case: Case) -> str | None:
        """Why a case cannot run; None when all cases that it depends on and that have ended have passed."""
        for id in case.depends_on:
            status = self._statuses.get(id, Status.PASSED)
            if status != Status.PASSED:
                return f'depends on "{id}", which {"failed" if status == Status.FAILED else "was skipped"}'
        return None

    @property
    def parts(self) -> Mapping[Dependency, str]:
        """The parts of the application that the hooks around all cases have used, with the digests."""
        return self._chat.parts

    def note(self, result: TestResult, run: int) -> None:
        """Records a result, or one run of a case, for the hook after all cases."""
        if self._after is None:
            return
        outcome, output = result.outcome, result.case.output if result.case else None
        told = told_of_result(outcome.name, outcome.status, outcome.milliseconds, output, outcome.failures)
        self._results.append({**told, "run": run} if run else told)

    async def prepare(self) -> None:
        """Runs the hook before all cases, once. Raises HookError."""
        if self._before is None:
            return
        if self._prepared is None:
            self._prepared = asyncio.create_task(self._prepare(self._before))
        await asyncio.shield(self._prepared)

    async def problem(self) -> str | None:
        """Runs the hook before all cases, once; why it failed, or None."""
        try:
            await self.prepare()
        except HookError as error:
            return error.failure.message
        return None

    async def _prepare(self, reference: str) -> Any:
        cases = [told_of_case(located.case) for located in self.source.cases()]
        data = await self._hook(reference, "before", [cases])
        self._first_rows = self._database.contents()
        return data

    def within(self, attempt: CaseAttempt) -> AbstractAsyncContextManager[None]:
        """What the hook before all cases has written is there when an attempt begins: rows, session, stores, memory.
        Attempts in one chat, which the context names, follow each other, and find the memory of the chat."""
        chat, hooks = attempt.chat, self._chat
        attempt.database.begin_with(self._first_rows)
        if hooks.world.session:
            attempt.world.session = deepcopy(hooks.world.session)
        if hooks.world.stores:
            own = {f"memory:{space}:{hooks.id}": f"memory:{space}:{chat.id}" for space in ("chat", "context")}
            attempt.world.stores = {own.get(id, id): entries for id, entries in hooks.world.stores.items()}
        return self._in_chat(attempt) if self.environment.context["chat_id"] else nullcontext()

    @asynccontextmanager
    async def _in_chat(self, attempt: CaseAttempt) -> AsyncIterator[None]:
        chat = attempt.chat
        memory = f"memory:chat:{chat.id}"
        async with self._locks.setdefault(chat.id, asyncio.Lock()):
            if chat.id in self._left:
                last, attempt.world.stores[memory] = self._left[chat.id]
                chat.note_once(f"the chat {chat.id} continues, with its memory, after {last}")
            yield
            self._left[chat.id] = attempt.case.id, attempt.world.stores.get(memory, [])

    def begin_again(self) -> None:
        """Lets the hook before all cases run again, if it failed."""
        if self._prepared is not None and self._prepared.done() and self._prepared.exception() is not None:
            self._prepared = None
            self._chat.world.close()
            self._open()

    async def finish(self) -> None:
        """Runs the hook after all cases. If it fails, that is reported, and no case fails."""
        if self._after is not None:
            data = None
            if self._prepared is not None:
                await asyncio.wait([self._prepared])
                data = None if self._prepared.exception() else self._prepared.result()
            try:
                await self._hook(self._after, "after", [self._results, data])
            except HookError as error:
                self._send(Warned(message=f"{self.source.suite.label}: {error.failure.message}"))
        for call in self._chat.world.ledger.missing:
            self._send(
                Warned(message=f"{self.source.suite.label}: in the hooks before or after all cases: {call.warning}")
            )
        self._chat.world.close()
        self._send(SuiteEnd(suite=self.source.suite.id))

    async def _hook(self, reference: str, kind: str, arguments: list[Any]) -> Any:
        seconds = self.environment.options.case_timeout
        try:
            async with CaseTime(seconds):
                return await call_hook(self.environment, self.source.assistant, self._chat, reference, kind, arguments)
        except TimeoutError as error:
            words = f"{kind} {reference}: timeout after {in_words(seconds)}"
            raise HookError(Failure(cause=Cause.SETUP, message=words)) from error
        finally:
            logs, self._chat.logs = tuple(self._chat.logs), []
            if logs:
                self._send(HookOutput(suite=self.source.suite.id, hook=f"{kind} {reference}", logs=logs))


class HookError(Exception):
    """A hook failed."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


async def call_hook(
    environment: CaseEnvironment, assistant: Assistant, chat: Chat, reference: str, kind: str, arguments: list[Any]
) -> Any:
    """Calls a hook of a case or suite; its result, or the field `data` of it, if there is one. `kind` is used in
    messages. Raises HookError."""
    scope = Scope(chat=chat, assistant=assistant, context=chat.context, depth=0)
    try:
        value = await call_function(
            reference,
            (),
            [None, *arguments],
            scope,
            environment.runtime,
            what=f"{kind} {reference}",
            context_at=0,
        )
    except (ScriptReferenceError, AgentError) as error:
        cause = Cause.INFRASTRUCTURE if error.infrastructure else Cause.SETUP
        if isinstance(error, AgentError):
            raise HookError(error.failure.replace(cause=cause, message=error.message)) from error
        raise HookError(
            Failure(cause=cause, message=error.message + (f". {error.hint}" if error.hint else ""))
        ) from error
    except HostError as error:
        raise HookError(Failure(cause=Cause.INFRASTRUCTURE, message=error.message)) from error
    return value["data"] if isinstance(value, dict) and "data" in value else value


def told_of_case(case: Case) -> dict[str, Any]:
    """The description of a case that hooks get: `{id, input, metadata, assert?}`."""
    record: dict[str, Any] = {"id": case.id, "input": input_of(case), "metadata": case.metadata}
    if case.assertions:
        record["assert"] = [_written(assertion) for assertion in case.assertions]
    return record


def told_of_result(
    id: str, status: Status, milliseconds: float, output: Any, failures: Sequence[Failure]
) -> dict[str, Any]:
    """The description of a result that hooks get."""
    error = failures[0].message if failures else None
    return {"id": id, "status": status, "duration_ms": round(milliseconds), "output": output, "error": error}


def _written(assertion: Any) -> Any:
    """An assertion as a JSON value; in conversations it may be a text."""
    return assertion if isinstance(assertion, str) else assertion.model_dump(exclude_defaults=True)
