"""Opens a reporter that is an agent of the application: sends it the report and takes its answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from runner.reporters import check_writable
from runner.reporters.agent import AgentReporter, ReportError
from scripttest.typing_names import Record

if TYPE_CHECKING:
    from runner.agents.service import AgentService
    from runner.reporters import Maker


def agent_maker(
    agent: str, target: Path | TextIO, service: AgentService, context: dict[str, Any], timeout: float, verbose: bool
) -> Maker:
    """Makes a reporter that asks an agent, with a time limit of `timeout` seconds. Raises ConfigurationError when there
    is no such agent."""
    service.runtime.assistants.get(agent)

    async def answer(payload: Record) -> Any:
        import asyncio

        from bindings import World
        from runner.agents.chat import Chat

        chat = Chat({**context, "chat_id": "report"}, World(suite="", test="@report", mocked=False))
        try:
            async with asyncio.timeout(timeout):
                return (await service.helpers.ask(agent, "reporter", payload, {}, chat)).output
        except TimeoutError as error:
            raise ReportError(f"it did not answer within {timeout:g}s") from error

    def make() -> AgentReporter:
        if isinstance(target, Path):
            check_writable(target)
        return AgentReporter(target, agent, lambda payload: service.run(answer(payload)), verbose)

    return make
