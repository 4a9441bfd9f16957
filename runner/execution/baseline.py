"""`--baseline`: compares a run that has ended with earlier runs."""

from __future__ import annotations

from runner.reporters.console.change_lines import changes_text, verdicts_text
from runner.reporters.console.style import DOUBLE, Style, count
from runner.results.change_verdict import change_between
from runner.results.comparison import compare
from runner.results.sides import Sides
from runner.store.baseline import baseline_of
from runner.store.places import StorePlace
from runner.store.store import Store


def comparison_text(place: StorePlace, name: str, colors: bool) -> str:
    """Compares a run with the newest runs of a name, in the words of `yao-test diff`. Raises ConfigurationError when
    there is nothing to compare with, StoreError when the store cannot be read."""
    style = Style(colors)
    with Store(place.folder) as store:
        baseline = baseline_of(store, name, store.report(place.run), leave_out=place.run)
    run = baseline.compared
    newest = baseline.runs[0]
    of = f"{count(len(baseline.runs), 'run')}, the newest one of {newest.started_at[:10]}"
    head = f"{DOUBLE}\n  {style.paint(f'Compared with {name}', 'bold')} ({of})\n{DOUBLE}\n"
    verdict = change_between(baseline.report, run, names=Sides(a=name, b="this run"))
    return head + changes_text(compare(baseline.report, run), style) + verdicts_text([verdict], [name], style)
