"""`yao-test view`: serves pages about the runs of a store on this machine."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Mapping
from importlib.util import find_spec
from pwd import getpwuid
from types import FrameType

from runner import exit_codes
from runner.commands import tables
from runner.commands.inputs import print_json, root_of, store_folder
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.planning.last_failed import STORE
from runner.store.places import FILE
from scripttest import install_command

PACKAGES = ("starlette", "uvicorn")
"""The packages that the extra `view` installs."""
ENDS = {int(signal.SIGINT): exit_codes.INTERRUPTED, int(signal.SIGTERM): exit_codes.TERMINATED}
"""Signal that ends the server → exit code."""


def view(environment: Environment, given: tables.View) -> int:
    """Serves the pages until Ctrl-C; blocks. Returns the exit code."""
    if missing := [package for package in PACKAGES if not _is_here(package)]:
        raise ConfigurationError(
            f"Cannot serve the page: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed",
            f"Install it with: {install_command('view', *missing)}",
        )
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
    again = Reruns(application, {**variables, **environment.keys}) if application else None
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
        if again is not None:
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


def _is_here(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:
        return False


class _EndedError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _ended(number: int, _: FrameType | None) -> None:
    raise _EndedError(ENDS[number])
