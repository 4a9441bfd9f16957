"""What serves until somebody ends it: `yao-test view`, pages about the runs of a store on this machine, and
`yao-test mcp`, the tests of an application, to coding agents over the Model Context Protocol."""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
import signal
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pwd import getpwuid
from types import FrameType

from runner import exit_codes
from runner.commands import tables
from runner.commands.inputs import print_json, root_of, store_folder, writing
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.execution.stopping import REASONS, leave
from runner.options.options import RunOptions
from runner.planning.inputs import resolve_application
from runner.planning.last_failed import STORE
from runner.store.places import FILE
from scripttest import install_command

ENDS = {int(signal.SIGINT): exit_codes.INTERRUPTED, int(signal.SIGTERM): exit_codes.TERMINATED}
"""Signal that ends the server → exit code."""


def view(environment: Environment, given: tables.View) -> int:
    """Serves the pages until Ctrl-C; blocks. Returns the exit code."""
    _need("Cannot serve the page", "view", "starlette", "uvicorn")
    from runner.store.database import open_store
    from runner.view.page_actions import PageActions
    from runner.view.reruns import Reruns
    from runner.view.runs import StoredRuns
    from runner.view.server import Serving

    application = root_of(environment, given.app)
    folder = store_folder(environment, given.store, application)
    if application and folder == application / STORE and folder.is_dir() and not (folder / FILE).exists():
        with open_store(folder):
            pass  # runs may come while it serves
    variables = environment.variables
    runs = StoredRuns(folder, application, environment.secrets.text)
    again = Reruns({**variables, **environment.keys})
    before = {number: signal.signal(number, _ended) for number in ENDS}
    gc.enable()  # a process that stays
    try:
        serving = Serving(PageActions(runs, again, _person(variables), environment.now), given.port or 0)
        if given.as_json:
            print_json(environment, {"link": serving.link, "store": str(folder)})
        else:
            environment.stdout.write(f"{serving.link}\nShowing runs from {folder}. Press Ctrl-C to stop.\n")
        environment.stdout.flush()
        serving.run()
    except _EndedError as error:
        return error.code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        again.stop()
        runs.close()
    return exit_codes.PASSED


def _person(variables: Mapping[str, str]) -> str:
    """The name under which labels are kept: user and machine, since in containers all are `root`."""
    try:
        user = variables.get("USER") or variables.get("LOGNAME") or getpwuid(os.getuid()).pw_name
    except KeyError:  # a user whom the system does not know, as in containers
        user = f"user {os.getuid()}"
    return f"{user}@{os.uname().nodename}"


def _need(what: str, part: str, *packages: str) -> None:
    """Raises ConfigurationError, which says `what` cannot be done, where packages of an optional part are missing."""
    missing = []
    for package in packages:
        with suppress(ImportError):
            if find_spec(package) is not None:
                continue
        missing.append(package)
    if missing:
        raise ConfigurationError(
            f"{what}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed",
            f"Install it with: {install_command(part, *missing)}",
        )


class _EndedError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _ended(number: int, _: FrameType | None) -> None:
    raise _EndedError(ENDS[number])


TOKEN = "YAO_TEST_MCP_TOKEN"
"""The variable with the token of `mcp --http`."""


def mcp(environment: Environment, given: tables.Mcp) -> int:
    """Serves until the input ends. Returns the exit code."""
    _need("Cannot serve", "mcp", "mcp")
    if given.allow_models and given.max_cost is None and given.max_tokens is None:
        raise ConfigurationError("--allow-models needs a budget", "Add --max-cost USD or --max-tokens N")
    from runner.mcp_server.actions import Actions, Limits
    from runner.mcp_server.running import Calls
    from runner.mcp_server.server import serve_http, serve_stdio, server_of

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
        leaving: list[asyncio.Future[None]] = []

        async def end(number: int) -> None:
            await calls.end(0)
            leave(number)  # the main thread may wait for input

        def tell(address: str) -> None:
            environment.stdout.write(f"{address}\nAuthorization: Bearer {token}\nPress Ctrl-C to stop.\n")
            environment.stdout.flush()

        for number in REASONS:
            loop.add_signal_handler(number, lambda number: leaving.append(asyncio.ensure_future(end(number))), number)
        if given.http is None:
            await serve_stdio(server, actions)
        else:
            token = environment.keys.get(TOKEN) or secrets.token_urlsafe(32)
            await serve_http(server, token, 0 if given.http == "*" else int(given.http), tell)

    asyncio.run(serve())
    return exit_codes.PASSED
