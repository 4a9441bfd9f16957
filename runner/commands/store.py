"""`yao-test store list|merge|prune`: lists, merges and removes the runs of a store."""

from __future__ import annotations

from shlex import quote

import click

from runner import exit_codes
from runner.commands import tables
from runner.commands.history import list_of, run_record
from runner.commands.inputs import named_store, print_json, store_folder
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.reporters.console.style import count
from runner.reporters.console.table import columns_of
from runner.store.database import open_store
from runner.store.store import Store
from runner.store.stored import CUT_SHORT
from runner.store.upkeep import join, prune, size_of


@click.group("store", no_args_is_help=False, help="Lists the runs in a store, merges stores, and removes old runs.")
def store() -> None:
    """The group of these commands."""


def list_runs(environment: Environment, given: tables.StoreList) -> int:
    """Prints the runs of the store."""
    with Store(store_folder(environment, given.store)) as opened:
        runs = opened.runs(branch=given.branch)
    if given.as_json:
        print_json(environment, {"runs": list(map(run_record, runs))})
        return exit_codes.PASSED
    environment.stdout.write(list_of(runs, columns_of(environment)) if runs else "")
    named = f" --store {quote(given.store)}" if given.store is not None else ""
    for run in runs:
        if run.state == CUT_SHORT:
            report = quote(run.reports[0]) if run.reports else "FILE.jsonl"
            again = "" if run.reports else f"yao-test show run:{run.id}{named} -o {report} && "
            again += f"yao-test --resume {report}{named}"
            environment.stdout.write(f"{run.id} was interrupted. To continue it: {again}\n")
    environment.stdout.write(f"{count(len(runs), 'run')}\n")
    return exit_codes.PASSED


def merge(environment: Environment, given: tables.StoreMerge) -> int:
    """Copies the runs of other stores into this one and prints how many are new."""
    target = named_store(environment, given.into)
    damaged: list[str] = []
    for name in given.stores:
        source = named_store(environment, name)
        if source == target:
            raise ConfigurationError(f"Cannot merge {name} into itself", "Pass two stores, the target first")
        found = join(target, source)
        said = [f"{count(found.added, 'run')} added"]
        said += [
            f"{number} {word}" for number, word in ((found.completed, "completed"), (found.known, "known")) if number
        ]
        said += [
            f"{count(number, 'label')} {word}"
            for number, word in ((found.labels, "added"), (found.removed, "removed"))
            if number
        ]
        environment.stdout.write(f"{name}: {', '.join(said)}\n")
        damaged += [f"{count(found.unread, 'run')} of {name}"] if found.unread else []
    if damaged:
        raise ConfigurationError(f"Cannot read {', '.join(damaged)}: damaged", "All other runs were copied")
    return exit_codes.PASSED


def prune_runs(environment: Environment, given: tables.StorePrune) -> int:
    """Removes old runs and prints how many. Runs with labels and the newest run stay."""
    place = store_folder(environment, given.store)
    with Store(place):
        pass
    with open_store(place) as database:
        removed = prune(database, place, given.keep, environment.now())
        left, size = database.execute("SELECT count(*) FROM runs").fetchone()[0], size_of(database)
    environment.stdout.write(f"{count(len(removed), 'run')} removed, {left} left, {size / 1e6:.1f} MB\n")
    return exit_codes.PASSED
