"""What commands on a store share: they find its folder."""

from __future__ import annotations

from pathlib import Path

from runner.application.application import Application, find_root
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.options import absolute
from runner.planning.last_failed import STORE
from runner.store.places import FILE

RUN = "run:"
"""The prefix of the id of a run, where a command takes a report or a run of the store."""
HELP = "Folder of the store. Default: the one in yao-test.toml, else .yao-test of the application."


def store_folder(environment: Environment, given: str | None, application: Path | None = None) -> Path:
    """The folder of the store that a flag names, else of the store that runs of this application write to, which
    without an application is that of the working directory. Raises ConfigurationError when there is no store."""
    if given is not None:
        return named_store(environment, given)
    try:
        root = application or find_root(environment.directory)
    except ConfigurationError as error:
        hint = "Name the store with --store, or start the command in an application"
        raise ConfigurationError("Cannot tell which store is meant: there is no application here", hint) from error
    from runner.application.configuration import read_configuration

    file = read_configuration(Application(root))
    said = file.tables[""].get("store") if file is not None else None
    return Path(said.value) if said is not None else root / STORE


def named_store(environment: Environment, name: str) -> Path:
    """The folder of a store, from its path or from that of its database file. Raises ConfigurationError if it is
    empty."""
    if not name:
        raise ConfigurationError("Cannot use the store: its name is empty", "Name the folder of the store")
    place = absolute(name, environment.directory)
    return place.parent if place.name == FILE else place
