"""`yao-test mcp`: serves the tests of an application to coding agents, over the Model Context Protocol."""

from __future__ import annotations

from importlib.util import find_spec

import click

from runner import exit_codes
from runner.commands.inputs import store_folder, writing
from runner.commands.parser import Command, app_option, store_option
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import RunOptions
from runner.planning.inputs import resolve_application
from scripttest import install_command


@click.command(
    "mcp",
    cls=Command,
    help="Serves tests to coding agents over the Model Context Protocol, on standard input and output: running them, "
    "explaining failures, coverage, history. Real models are asked only with --allow-models and a budget.",
)
@app_option
@store_option
@click.option("--allow-models", is_flag=True, help="Let tests ask real models; needs --max-cost or --max-tokens.")
@click.option(
    "--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Budget of the server, in US dollars."
)
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Budget of the server, in tokens.")
@click.pass_obj
def mcp(
    environment: Environment,
    app: str | None,
    store: str | None,
    allow_models: bool,
    max_cost: float | None,
    max_tokens: int | None,
) -> int:
    """Serves until the input ends. Returns the exit code."""
    if find_spec("mcp") is None:
        raise ConfigurationError(
            "Cannot serve: mcp is not installed", f"Install it with: {install_command('mcp', 'mcp')}"
        )
    if allow_models and max_cost is None and max_tokens is None:
        raise ConfigurationError("--allow-models needs a budget", "Add --max-cost USD or --max-tokens N")
    import asyncio

    from runner.mcp_server.actions import Actions, Limits
    from runner.mcp_server.running import Calls
    from runner.mcp_server.server import serve_stdio, server_of

    application = resolve_application(RunOptions(app=app), environment.directory)
    folder = store_folder(environment, store, application.root)
    environment = environment.replace(directory=application.root)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)

    async def serve() -> None:
        variables = {**environment.variables, **environment.keys, "NO_COLOR": "1"}
        calls = Calls(application.root, folder, variables)
        limits = Limits(allow_models=allow_models, max_cost=max_cost, max_tokens=max_tokens)
        actions = Actions(application, environment, folder, calls, limits)
        await serve_stdio(server_of(actions, environment.secrets.text, allow_models), actions)

    asyncio.run(serve())
    return exit_codes.PASSED
