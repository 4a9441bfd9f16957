"""`yao-test mcp`: serves the tests of an application to coding agents, over the Model Context Protocol."""

from __future__ import annotations

import asyncio
import secrets
from importlib.util import find_spec
from typing import TYPE_CHECKING

from runner import exit_codes
from runner.commands import tables
from runner.commands.inputs import store_folder, writing
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.execution.stopping import REASONS, leave
from runner.options.options import RunOptions
from runner.planning.inputs import resolve_application
from scripttest import install_command

if TYPE_CHECKING:
    from runner.mcp_server.running import Calls


TOKEN = "YAO_TEST_MCP_TOKEN"
"""The variable with the token of `--http`."""


_LEAVING: set[asyncio.Task[None]] = set()


def mcp(environment: Environment, given: tables.Mcp) -> int:
    """Serves until the input ends. Returns the exit code."""
    if find_spec("mcp") is None:
        raise ConfigurationError(
            "Cannot serve: mcp is not installed", f"Install it with: {install_command('mcp', 'mcp')}"
        )
    if given.allow_models and given.max_cost is None and given.max_tokens is None:
        raise ConfigurationError("--allow-models needs a budget", "Add --max-cost USD or --max-tokens N")
    from runner.mcp_server.actions import Actions, Limits
    from runner.mcp_server.running import Calls
    from runner.mcp_server.server import serve_stdio, server_of

    application = resolve_application(RunOptions(app=given.app), environment.directory)
    folder = store_folder(environment, given.store, application.root)
    environment = environment.replace(directory=application.root)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)

    async def serve() -> None:
        calls = Calls(application.root, folder, {**environment.variables, **environment.keys, "NO_COLOR": "1"})
        limits = Limits(allow_models=given.allow_models, max_cost=given.max_cost, max_tokens=given.max_tokens)
        actions = Actions(application, environment, folder, calls, limits)
        server = server_of(actions, environment.secrets.text, given.allow_models)
        loop = asyncio.get_running_loop()
        for number in REASONS:
            loop.add_signal_handler(number, _begin_to_leave, calls, number)
        if given.http is None:
            await serve_stdio(server, actions)
        else:
            from runner.mcp_server.over_http import Listening

            token = environment.keys.get(TOKEN) or secrets.token_urlsafe(32)
            listening = Listening(server, token, 0 if given.http == "*" else int(given.http))
            environment.stdout.write(f"{listening.address}\nAuthorization: Bearer {token}\nPress Ctrl-C to stop.\n")
            environment.stdout.flush()
            await listening.serve()

    asyncio.run(serve())
    return exit_codes.PASSED


def _begin_to_leave(calls: Calls, number: int) -> None:
    _LEAVING.add(asyncio.ensure_future(_leave(calls, number)))


async def _leave(calls: Calls, number: int) -> None:
    """Ends the process, whose main thread may wait for input, with all that it has started."""
    await calls.end(0)
    leave(number)
