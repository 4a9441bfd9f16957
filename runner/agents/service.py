"""The agents of a run, on an event loop in a thread of their own, so that script tests and cases can call them."""

from __future__ import annotations

import _thread
import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from bindings import HostProcesses, ProcessError, World
from runner.agents.assistant import Assistants
from runner.agents.chat import CHAT, Chat, Scope
from runner.agents.mcp.servers import Servers
from runner.agents.processes import AgentProcesses
from runner.agents.runtime import PromptVariables, Runtime, UsedParts
from runner.application.application import Application
from runner.connectors.load import Connectors
from runner.connectors.usage import CaseTime

if TYPE_CHECKING:
    from runner.answers.recording import Recording
    from runner.parts import Dependency
    from scripttest import FunctionPool, FunctionServices, TestKey

T = TypeVar("T")
CLOSING = 5.0
"""Seconds that connections and processes get to end."""
LOOK = 0.1
"""Seconds between looks for an interrupt: one that comes just before a wait does not wake it."""


class AgentService:
    """The runtime and its thread. To be closed."""

    def __init__(
        self,
        *,
        application: Application,
        host: HostProcesses,
        context: Mapping[str, Any],
        variables: Mapping[str, str],
        prompt_variables: PromptVariables,
        functions: Callable[[FunctionServices], FunctionPool],
        connector: str,
        timeout: float,
        recording: Recording | None = None,
        parts: UsedParts | None = None,
        prices: Mapping[str, Any] | None = None,
    ) -> None:
        """Starts the thread.

        Args:
            host: answers the processes that do not concern agents.
            context: the fields of the run's context.
            variables: the environment with the application's `.env` and with keys, for connectors and MCP servers.
            prompt_variables: the variables that prompts may use.
            functions: makes what calls the functions of scripts, which ask these processes.
            connector: for helper agents without a connector.
            timeout: time limit of a call from a script test, in seconds.
            recording: records or answers model calls.
            parts: makes the digests of what chats use.
            prices: prices of connectors whose files have none."""
        self._application = application
        self._context = context
        self._timeout = timeout
        self._asked: set[TestKey] = set()
        """The runs of script tests that have asked for something."""
        self._agents: dict[str, str] = {}
        """Test module → the agent to which it belongs."""
        self._used: dict[TestKey, Mapping[Dependency, str]] = {}
        """Run of a script test → what it has used."""
        self._running: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._processes = AgentProcesses(host)
        self.runtime = Runtime(
            Assistants(application),
            Connectors(application.root, variables, prices=prices, kept=application.kept),
            lambda: functions(self._processes),
            Servers(application.root, variables, self._processes.call_tool),
            prompt_variables,
            lambda: datetime.now().astimezone(),
            host.scratch,
            recording,
            parts,
        )
        self.runtime.fallback = connector
        self._processes.runtime = self.runtime
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def parts(self, test: TestKey) -> Mapping[Dependency, str]:
        """What a run of a script test has used so far, by way of the agents."""
        return self._used.get(test, {})

    def run(self, work: Coroutine[Any, Any, T], is_over: Callable[[], bool] | None = None) -> T:
        """Runs a coroutine to its end; blocks. An interrupt cancels it, and goes on its way when it has ended. When
        `is_over` says so it is cancelled too, and after `close` nothing runs: CancelledError."""
        if self._loop.is_closed():
            work.close()
            raise asyncio.CancelledError
        ended = _thread.allocate_lock()
        ended.acquire()
        tasks: list[asyncio.Task[T]] = []

        def start() -> None:
            task = self._loop.create_task(work)
            tasks.append(task)
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            task.add_done_callback(lambda _: ended.release())

        def cancel() -> None:
            self._loop.call_soon_threadsafe(lambda: tasks[0].cancel())
            ended.acquire(timeout=CLOSING)

        self._loop.call_soon_threadsafe(start)
        try:
            while not ended.acquire(timeout=LOOK):
                if is_over is not None and is_over():
                    cancel()
                    raise asyncio.CancelledError
        except KeyboardInterrupt:
            cancel()
            raise
        return tasks[0].result()

    def answer(self, world: World, name: str, args: list[Any]) -> Any:
        """Answers a process that a script test calls; blocks. Raises ProcessError."""
        chat = world.opened(CHAT, self._chat)
        scope = Scope(chat=chat, assistant=None, context=chat.context, depth=0)

        async def work() -> Any:
            try:
                async with CaseTime(self._timeout):
                    return await self._processes.process(scope, name, args)
            except TimeoutError as error:
                raise ProcessError(f"{name} did not answer within {self._timeout:g}s", 408) from error

        try:
            return self.run(work())
        except asyncio.CancelledError as error:
            raise ProcessError(f"{name} was cancelled: the run is ending", 503) from error

    def forget(self, module: str, tests: Collection[str] | None) -> None:
        """Forgets the calls of tests of a module, because they run again; None: of all its tests."""
        for asked in list(self._asked):
            if asked.suite == module and (tests is None or asked.test in tests):
                self._asked.discard(asked)
                self.runtime.begin_again(asked)

    def _chat(self, world: World) -> Chat:
        self._asked.add(world.key)
        context = {**self._context}
        context["chat_id"] = context.get("chat_id") or f"script-test-{world.test}"
        context["assistant_id"] = context["assistant_id"] or self._agent_of(world.suite)
        chat = Chat(context, world)
        self._used[world.key] = chat.parts
        return chat

    def _agent_of(self, suite: str) -> str:
        if suite not in self._agents:
            self._agents[suite] = self._application.agent_of_script(suite).id
        return self._agents[suite]

    def close(self) -> None:
        """Ends processes, connections and the thread; blocks for a short time at the most."""
        future = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
        try:
            future.result(CLOSING)
        except TimeoutError:
            future.cancel()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSING)
        if not self._thread.is_alive():
            self._loop.close()

    async def _close(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self.runtime.close()
