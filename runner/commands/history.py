"""`yao-test history [TEST]`: tests over the runs that a store has; `yao-test store list|merge|prune`: these runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote

from runner import exit_codes
from runner.amounts import Estimate, dollars
from runner.commands import tables
from runner.commands.inputs import named_store, print_json, store_folder
from runner.environment import Environment
from runner.errors import ConfigurationError, did_you_mean
from runner.parts import changed, described
from runner.record.outcomes import shown
from runner.reporters.console.style import Style, count, in_milliseconds
from runner.reporters.console.table import columns_of, grouped, table
from runner.security.terminal import in_line
from runner.store.database import open_store
from runner.store.history import SCRIPTED, Level, Since, TestHistory, Trend, histories
from runner.store.store import Store
from runner.store.stored import CUT_SHORT, StoredRun
from scripttest.typing_names import Record


def history(environment: Environment, given: tables.History) -> int:
    """Prints the history and returns the exit code, which does not depend on the results."""
    with Store(store_folder(environment, given.store)) as opened:
        runs = opened.runs(branch=given.branch, limit=given.last)
        if not runs:
            of = f" of the branch {given.branch}" if given.branch else ""
            known = sorted({run.branch for run in opened.runs() if run.branch})
            hint = f"There are runs on {', '.join(known[:10])}" if known else None
            raise ConfigurationError(f"The store {opened.folder} has no runs{of}", hint)
        names = None if given.test is None else _matching(opened.tests([run.id for run in runs]), given.test)
        chosen = histories(opened, runs, names)
        is_one = given.test is not None and len(chosen) == 1
        if given.as_json:
            tests = [history_record(one, with_results=is_one) for one in chosen]
            print_json(environment, {"runs": list(map(run_record, runs)), "tests": tests})
            return exit_codes.PASSED
        style, room = Style(environment.colors and not given.no_color), columns_of(environment)
        if is_one:
            text = history_text(chosen[0], opened, {run.id: run for run in runs}, style, room, given.verbose)
        else:
            text = table_of(chosen, style, room, given.verbose)
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


Row = tuple[str, ...]
SHORT = 7
"""Characters of a commit that are shown."""
HEAD: Row = ("Test", "Connector", "Run pass rate", "Trend", "Since", "Duration", "Cost")
OF_RUN: Row = ("Run", "When", "Branch", "Commit", "Connector")
OF_TEST: Row = (*OF_RUN, "Verdict", "Passed", "Duration", "Tokens", "Cost", "Changed")
LEAST = "Connector Branch Tokens Cost Labels Skipped Commit State Changed Since Duration".split()
"""Columns of all these tables, those first that matter least."""
OF_RUNS: Row = (*OF_RUN, "State", "Passed", "Failed", "Errors", "Skipped", "Labels")
COLORS = {
    **dict.fromkeys((Trend.BROKE, Trend.FAILS, Trend.NO_VERDICT), "red"),
    **dict.fromkeys((Trend.FLAKY, Trend.SLOWER, Trend.DEARER), "yellow"),
    **dict.fromkeys((Trend.FIXED, Trend.FASTER, Trend.CHEAPER, Trend.STEADY), "green"),
    Trend.SKIPPED: "cyan",
}


def table_of(found: Sequence[TestHistory], style: Style, room: int | None, detailed: bool) -> str:
    """A table of all tests, the worst first; with intervals if `detailed`."""
    rows = []
    for one in found:
        asks = one.asked[-1] if len(set(one.asked)) > 1 else ""
        about = (asks, rate_of(one, detailed), ", ".join(one.trends), _short_since(one), _took(one), _cost(one))
        rows.append((one.suite, (one.test, *about)))
    shown = grouped(HEAD, rows)
    return table(shown, room, least=LEAST, paint=lambda row, _, cell: style.paint(cell, COLORS[found[row].worst]))


def history_text(
    one: TestHistory, store: Store, runs: Mapping[str, StoredRun], style: Style, room: int | None, detailed: bool
) -> str:
    """The runs of one test as text, the newest first; with intervals and p-values if `detailed`."""
    text = f"{in_line(one.suite)} › {style.paint(in_line(one.test), 'bold')}\n"
    before = "" if one.rate_before is None else f", {one.rate_before:.1%} before"
    asks = f" with {one.asked[-1]}" if len(set(one.asked)) > 1 else ""
    if one.judged:
        text += f"  Run pass rate: {rate_of(one, detailed)} of {count(one.judged, 'run')}{asks}{before}\n"
    for trend in one.trends:
        if said := _said(one, trend, detailed):
            text += f"  {style.paint(trend.capitalize(), COLORS[trend])} {said}\n"
    if one.failing and Trend.BROKE not in one.trends:
        text += f"  Failing in the newest {count(one.failing, 'run') if one.failing > 1 else 'run'}"
        text += f", {since_text(one.failing_since)}\n" if one.failing_since else "\n"
    rows = [OF_TEST]
    asked = _worth_naming(one.asked)
    for at, result in reversed(list(enumerate(one.results))):
        parts: tuple[str, ...] = ()
        if at:
            earlier = one.results[at - 1]
            made_of = store.fingerprint(earlier.made_of), store.fingerprint(result.made_of)
            parts = changed(*made_of, earlier.connector, result.connector)
        figures = (
            f"{result.passed}/{result.judged}" if result.judged > 1 else "",
            in_milliseconds(result.duration_ms),
            "" if result.tokens is None else f"{result.tokens:.0f}",
            "" if result.cost is None else dollars(result.cost),
        )
        rows.append((*_about(runs[result.run], asked[at]), shown(result.verdict), *figures, described(parts)))
    return text + "\n" + table(rows, room, least=LEAST)


def list_of(runs: Sequence[StoredRun], room: int | None) -> str:
    """The runs of a store as a table, the newest first."""
    rows = [OF_RUNS]
    asked = _worth_naming([", ".join(run.connectors) for run in runs])
    for run, connectors in zip(runs, asked, strict=True):
        counts = run.counts
        errors = counts.get("broken", 0) + counts.get("inconclusive", 0)
        numbers = (counts.get("passed", 0), counts.get("failed", 0), errors, counts.get("skipped", 0), run.labels)
        state = ", ".join(dict.fromkeys((run.state, str(run.summary.get("stopped", run.state)))))
        rows.append((*_about(run, connectors), state, *(str(number or "") for number in numbers)))
    return table(rows, room, least=LEAST)


def _about(run: StoredRun, connectors: str) -> Row:
    return run.id, when(run), run.branch or "", commit(run), connectors


def run_record(run: StoredRun) -> Record:
    """`{id, started_at, ended_at, state, branch, commit, profile, connectors, reports, counts, labels}`."""
    own = ("id", "started_at", "ended_at", "state", "branch", "commit", "profile", "connectors", "reports", "counts")
    return {name: getattr(run, name) for name in (*own, "labels")}


def history_record(one: TestHistory, *, with_results: bool = False) -> Record:
    """`{suite, test, runs, passed, judged, pass_rate, pass_rate_interval, broken, trends, since?, failing,
    failing_since?, duration_ms, tokens, cost, slower?, dearer?, results?}`; rates are 0 to 1, `passed` and `judged`
    count runs since the pass rate last changed, `slower` and `dearer` are there too where it became faster or
    cheaper."""
    record: Record = {
        "suite": one.suite,
        "test": one.test,
        "runs": len(one.verdicts),
        "passed": one.passed,
        "judged": one.judged,
        "pass_rate": round(one.passed / one.judged, 4) if one.judged else None,
        "pass_rate_interval": [round(one.interval.low, 4), round(one.interval.high, 4)] if one.judged else None,
        "broken": one.broken,
        "trends": list(one.trends),
        "failing": one.failing,
        "duration_ms": _rounded(one.milliseconds),
        "tokens": _rounded(one.tokens),
        "cost": one.cost,
        **({"cost_estimated": True} if isinstance(one.cost, Estimate) else {}),
    }
    if one.since is not None and one.rate_before is not None:
        record["since"] = {"pass_rate_before": round(one.rate_before, 4), **_since_record(one.since)}
    if one.failing_since is not None:
        record["failing_since"] = _since_record(one.failing_since)
    record |= {name: _level_record(level) for name, level in (("slower", one.duration), ("dearer", one.price)) if level}
    if with_results:
        left_out = ("suite", "test", "position", "attempt")
        record["results"] = [
            {key: value for key, value in result.__dict__.items() if key not in left_out} | {"asked": asked}
            for result, asked in zip(one.results, one.asked, strict=True)
        ]
    return record


def rate_of(one: TestHistory, detailed: bool = True) -> str:
    """A pass rate, if `detailed` with its interval, such as `91.7% (64.6-98.5%)`."""
    if not one.judged:
        return ""
    rate = f"{one.passed / one.judged:.1%}"
    return rate if not detailed else f"{rate} ({one.interval.low * 100:.1f}-{one.interval.high * 100:.1f}%)"


def since_text(since: Since) -> str:
    """`since 3fa9c1d (main, 2026-11-20 03:00), changed: prompts of refunds`."""
    run = since.run
    facts = ", ".join(filter(None, (run.branch if run.commit else None, when(run))))
    text = f"since {commit(run)} ({facts})" if run.commit else f"since run {run.id} ({facts})"
    if since.parts:
        return f"{text}, changed: {described(since.parts)}"
    return f"{text}, none of its dependencies changed" if since.is_known else text


def when(run: StoredRun) -> str:
    """A time in UTC, such as `2026-11-20 03:00`."""
    return run.started_at[:16].replace("T", " ")


def commit(run: StoredRun) -> str:
    """The commit of a run, shortened; empty when it is not known."""
    return (run.commit or "")[:SHORT]


def _said(one: TestHistory, trend: Trend, detailed: bool) -> str:
    if trend in (Trend.BROKE, Trend.FIXED) and one.since is not None:
        if not detailed:
            return since_text(one.since)
        chance = f", p {one.since.p:.3f}" if one.since.p >= 0.001 else ", p < 0.001" if one.since.p else ""
        return since_text(one.since) + chance
    if trend in (Trend.SLOWER, Trend.FASTER) and one.duration is not None:
        before, after = in_milliseconds(one.duration.before), in_milliseconds(one.duration.after)
        return f"x{one.duration.ratio:.2g}, {before} → {after}, {since_text(one.duration.since)}"
    if trend in (Trend.DEARER, Trend.CHEAPER) and one.price is not None:
        show = dollars if one.cost is not None else lambda tokens: f"{tokens:.0f} tokens"
        price = one.price
        return f"x{price.ratio:.2g}, {show(price.before)} → {show(price.after)}, {since_text(price.since)}"
    if trend is Trend.FLAKY:
        return f"{one.judged - one.passed} of {count(one.judged, 'run')} failed, and its pass rate did not change"
    return ""


def _worth_naming(asked: Sequence[str]) -> Sequence[str]:
    """What runs have asked; nothing where that was no model in any of them."""
    return [""] * len(asked) if {*asked} <= {"", SCRIPTED} else asked


def _short_since(one: TestHistory) -> str:
    levels = (one.duration, one.price)
    since = one.since or one.failing_since or next((level.since for level in levels if level is not None), None)
    return "" if since is None else f"{commit(since.run) or since.run.id} {when(since.run)[:10]}"


def _took(one: TestHistory) -> str:
    took = "" if one.milliseconds is None else in_milliseconds(one.milliseconds)
    return took if one.duration is None else f"{took} (x{one.duration.ratio:.2g})"


def _cost(one: TestHistory) -> str:
    cost = "" if one.cost is None else dollars(one.cost)
    return cost if one.price is None or one.cost is None else f"{cost} (x{one.price.ratio:.2g})"


def _level_record(level: Level) -> Record:
    return {
        "ratio": round(level.ratio, 4),
        "before": round(level.before, 6),
        "after": round(level.after, 6),
        **_since_record(level.since),
    }


def _since_record(since: Since) -> Record:
    """`{run, previous, commit, branch, started_at, changed, p}`."""
    run = since.run
    about = {"commit": run.commit, "branch": run.branch, "started_at": run.started_at}
    return {"run": run.id, "previous": since.before.id, **about, "changed": list(since.parts), "p": round(since.p, 6)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


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
    from runner.store.upkeep import join

    target = named_store(environment, given.into)
    damaged: list[str] = []
    for name in given.stores:
        source = named_store(environment, name)
        if source == target:
            raise ConfigurationError(f"Cannot merge {name} into itself", "Pass two stores, the target first")
        found = join(target, source)
        said = [f"{count(found.added, 'run')} added"]
        said += [f"{found.completed} completed"] if found.completed else []
        said += [f"{found.known} known"] if found.known else []
        said += [f"{count(found.labels, 'label')} added"] if found.labels else []
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
    from runner.store.upkeep import prune, size_of

    with open_store(place) as database:
        removed = prune(database, place, given.keep, environment.now())
        left, size = database.execute("SELECT count(*) FROM runs").fetchone()[0], size_of(database)
    environment.stdout.write(f"{count(len(removed), 'run')} removed, {left} left, {size / 1e6:.1f} MB\n")
    return exit_codes.PASSED
