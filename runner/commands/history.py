"""`yao-test history [TEST]`: tests over the runs that a store has."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from runner import exit_codes
from runner.commands.flags import Command
from runner.commands.history_lines import history_record, run_record, table_of, text_of
from runner.commands.stores import HELP, store_folder
from runner.environment import Environment
from runner.errors import ConfigurationError, did_you_mean
from runner.reporters.console.style import Style, count
from runner.store.history import histories
from runner.store.store import Store

RUNS = 100
"""How many runs are read where no number is given."""
MOST = 1_000_000
"""The largest number that can be given."""


@click.command(
    "history",
    cls=Command,
    help="Shows the history of tests in the store: how often each passes, whether it is flaky, slower or more "
    "expensive, and since which commit; the worst first. TEST is the name of one test, or a part of the names"
    " of several.",
)
@click.argument("test", required=False)
@click.option("--store", metavar="DIR", help=HELP)
@click.option("--branch", metavar="NAME", help="Only runs of this branch.")
@click.option("--profile", metavar="NAME", help="Only runs with this profile.")
@click.option(
    "--last", metavar="N", type=click.IntRange(1, MOST), default=RUNS, show_default=True, help="Only the newest N runs."
)
@click.option("--json", "as_json", is_flag=True, help="Print the history as JSON.")
@click.option("--no-color", is_flag=True, help="Use no colours.")
@click.pass_obj
def history(
    environment: Environment,
    test: str | None,
    store: str | None,
    branch: str | None,
    profile: str | None,
    last: int,
    as_json: bool,
    no_color: bool,
) -> int:
    """Prints the history and returns the exit code, which does not depend on the results."""
    with Store(store_folder(environment, store)) as opened:
        runs = opened.runs(branch=branch, profile=profile, limit=last)
        if not runs:
            of = "".join(f" of the {word} {name}" for word, name in (("branch", branch), ("profile", profile)) if name)
            known = sorted({run.branch for run in opened.runs() if run.branch})
            hint = f"There are runs of {', '.join(known[:10])}" if known else None
            raise ConfigurationError(f"The store {opened.folder} has no run{of}", hint)
        names = None if test is None else _matching(opened.tests([run.id for run in runs]), test)
        chosen = histories(opened, runs, names)
        is_one = test is not None and len(chosen) == 1
        if as_json:
            tests = [history_record(one, with_results=is_one) for one in chosen]
            document = {"runs": list(map(run_record, runs)), "tests": tests}
            environment.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
            return exit_codes.PASSED
        style = Style(environment.colors and not no_color)
        if is_one:
            text = text_of(chosen[0], opened, {run.id: run for run in runs}, style)
        else:
            text = table_of(chosen, style)
            text += f"{count(len(chosen), 'test')} in {count(len(runs), 'run')} since {runs[-1].started_at[:10]}\n"
        environment.stdout.write(text)
        return exit_codes.PASSED


def _matching(tests: Sequence[tuple[str, str]], name: str) -> list[tuple[str, str]]:
    """The tests with this name, else those whose names contain it. Raises ConfigurationError when there is none."""
    whole = {(suite, test): f"{suite} › {test}" for suite, test in tests}
    exact = [one for one in tests if name in (one[1], whole[one])]
    if chosen := exact or [one for one in tests if name in whole[one]]:
        return chosen
    raise ConfigurationError(f"No run has a test {name}", did_you_mean(name, [test for _, test in tests]))
