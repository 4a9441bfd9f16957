"""`yao-test merge PART... -o OUT`: the parts of one run as one report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import click

from runner import exit_codes
from runner.commands import tables
from runner.commands.inputs import read_report, write_reports
from runner.compare.variants import PooledRuns, as_runs
from runner.environment import Environment
from runner.errors import ConfigurationError, listed
from runner.options.flags import Carried, Changes
from runner.options.options import FLAGS, check_kept, spelled, texts_in
from runner.options.values import Shard, misses_in, read_shard
from runner.record import coverage
from runner.record.events import RunEnd, RunStatus
from runner.record.fold import counted, status_of
from runner.record.model import Suite, TestResult
from runner.record.report import Report, in_order
from runner.record.result_texts import counts_text, name_of
from runner.record.summary import remarks, snapshots_together
from runner.reporters.console.style import count
from runner.security.files import JOURNAL
from runner.security.terminal import in_line
from scripttest import TestKey
from scripttest.typing_names import Record

SAID = 20
"""At most this many warnings are printed."""
_ALWAYS = tuple(f"--{flag.name}" for flag in FLAGS if flag.changes is Changes.ALL)
"""Flags that are in the fingerprint of each result if they are set."""
WORST = (RunStatus.INTERRUPTED, RunStatus.ERROR)
"""Statuses that a merged run takes over from any of its parts; the first of them that is found counts."""


def merge(environment: Environment, given: tables.Merge) -> int:
    """Writes the merged report, prints contradictions between the parts and what is missing. Returns the exit code."""
    parts = tuple(part for part in given.parts if not part.endswith(JOURNAL)) or given.parts
    check_kept(given.outputs, (environment.directory / part for part in parts), environment.directory)
    reports = [read_report(environment, part) for part in parts]
    if given.as_runs and given.partial:
        raise click.UsageError("--as-runs combines complete runs, --partial is for the parts of one run")
    joined = as_runs(reports, parts) if given.as_runs else merged(reports, parts)
    whole, misses = joined.report, []
    if given.thresholds:
        if whole.end.coverage is None:
            why = "Cannot use --coverage-threshold: no part has coverage"
            raise ConfigurationError(why, "Run the parts with --coverage")
        misses = [*misses_in(whole.end.coverage.miss, given.thresholds)]
    if misses:
        status = RunStatus.FAILED if whole.end.status == RunStatus.PASSED else whole.end.status
        whole = whole.replace(warnings=[*whole.warnings, *misses], end=whole.end.replace(status=status))
    missing = [] if given.as_runs else [*lacking(reports, parts, whole)]
    said = [*map(in_line, (*joined.said, *misses))]
    _warn(environment, "Warning: ", said, "Warning: ")
    write_reports(environment, whole, given.outputs)
    of = count(len(parts), "report" if given.as_runs else "part")
    environment.stdout.write("\n".join([f"{counts_text(whole.counts)} in {of}", *remarks(whole.counts), ""]))
    _warn(environment, "Warning: " if given.partial else "Error: ", missing, "")
    if missing and not given.partial:
        environment.stderr.write("Hint: Pass the missing parts, or --partial to merge without them\n")
        return exit_codes.CONFIGURATION
    return exit_codes.FAILED if misses else exit_codes.PASSED


def _warn(environment: Environment, head: str, lines: Sequence[str], more: str) -> None:
    shown = [f"{head}{line}\n" for line in lines[:SAID]]
    shown += [f"{more}... and {len(lines) - SAID} more\n"] if len(lines) > SAID else []
    environment.stderr.write("".join(shown))


def merged(reports: list[Report], names: tuple[str, ...]) -> PooledRuns:
    """Merges several reports into one.

    The same result in two parts is that of the later one. Durations add up; a run that was interrupted in one part, or
    had errors, was interrupted, or had errors. Raises ConfigurationError when a suite is of two kinds, and for parts
    that were made with different flags."""
    if len(reports) == 1:
        return PooledRuns(report=reports[0])
    _check_flags(reports, names)
    _check_agents(reports, names)
    said: list[str] = []
    suites: dict[str, Suite] = {}
    results: dict[TestKey, list[TestResult]] = {}
    sources: dict[TestKey, int] = {}
    for part, (name, report) in enumerate(zip(names, reports, strict=True)):
        said += _differences(reports[0], report, names[0], name)
        for suite in report.suites:
            if suites.setdefault(suite.id, suite).has_cases != suite.has_cases:
                raise ConfigurationError(f'Cannot merge {name}: "{suite.id}" has a different kind in other parts')
        for result in report.results:
            key = TestKey(suite=result.suite, test=result.name, run=result.run)
            earlier = sources.get(key, part)
            if earlier != part:
                said.append(f"{result.suite} {name_of(result)} is in {names[earlier]} and {name}: the latter is used")
                results[key] = []
            results.setdefault(key, []).append(result)  # twice in one file: both are kept
            sources[key] = part
    ordered = in_order(tuple(suites.values()), list(chain.from_iterable(results.values())))
    errors = [error for report in reports for error in report.errors]
    ends = [report.end for report in reports]
    statuses = {end.status for end in ends}
    covered, differ = coverage.together(end.coverage for end in ends if end.coverage is not None)
    said += [f"{path} differs between parts; its coverage is taken from the last one" for path in differ]
    whole = Report(
        start=min((report.start for report in reports), key=lambda start: start.started_at).replace(
            suites=tuple(suites.values()),
            shard=None,
            run_id=None,
            run_ids=tuple(dict.fromkeys(id for report in reports for id in report.start.all_run_ids)),
            resume=None,
        ),
        results=ordered,
        errors=errors,
        warnings=list(dict.fromkeys(warning for report in reports for warning in report.warnings)),
        end=RunEnd(
            status=next((worst for worst in WORST if worst in statuses), status_of(counted(ordered), bool(errors))),
            seconds=sum(end.seconds for end in ends),
            completed_at=max(end.completed_at for end in ends),
            stopped=", ".join(dict.fromkeys(end.stopped for end in ends if end.stopped)) or None,
            not_run=sum(end.not_run for end in ends if end.stopped),
            snapshots=snapshots_together([end.snapshots for end in ends if end.snapshots is not None]),
            coverage=covered,
        ),
        root=reports[0].root,
        clean=reports[0].clean,
        hints={error: hint for report in reports for error, hint in report.hints.items()},
        damage=[warning for report in reports for warning in report.damage],
    )
    return PooledRuns(report=whole, said=tuple(said))


def _check_flags(reports: list[Report], names: tuple[str, ...]) -> None:
    """Raises ConfigurationError for parts with different flags, if results depend on them."""
    first, *others = (texts_in(report.result_flags) or {} for report in reports)
    for name, given in zip(names[1:], others, strict=True):
        for flag in FLAGS if given != first else ():
            value, known = given.get(flag.field), first.get(flag.field)
            if flag.changes_results and value != known:
                raise ConfigurationError(
                    f"Cannot merge {name}: it was made with {spelled(flag, value)}, and {names[0]} with"
                    f" {spelled(flag, known)}",
                    "The parts of one run must have the same flags; --as-runs combines several runs of the same cases",
                )


def _check_agents(reports: list[Report], names: tuple[str, ...]) -> None:
    """Raises ConfigurationError for agents with different settings in two parts, as fingerprints say it."""
    known: dict[tuple[Any, ...], tuple[Any, str]] = {}
    for name, report in zip(names, reports, strict=True):
        agents = {suite.id: suite.agent for suite in report.suites}
        for result in report.results:
            made = result.fingerprint or {}
            for key in _ALWAYS if made else ():
                agent = agents.get(result.suite)
                value, earlier = known.setdefault((agent, result.variant, key), (made.get(key), name))
                if value != made.get(key):
                    raise ConfigurationError(
                        f"Cannot merge {name}: results of {agent} were made with another {key} than in {earlier}",
                        "Run both parts with the same yao-test.toml",
                    )


def _differences(first: Report, other: Report, first_name: str, name: str) -> Iterator[str]:
    one, two = first.start, other.start
    if one.version != two.version:
        yield f"{first_name} was made by yao-test {one.version}, {name} by yao-test {two.version}"
    if one.environment != two.environment:
        yield f"{first_name} and {name} ran with a different user, team or locale"


MOST_RUNS = 1_000_000
"""A larger number of runs is not believed."""


def lacking(parts: Sequence[Report], names: Sequence[str], whole: Report) -> Iterator[str]:
    """What is missing, one sentence for each: shards without a report, then what each suite lacks. `names`: of the
    parts. `whole`: the parts together."""
    shards = [(shard, _chosen(part)) for part in parts if (shard := _shard(part)) is not None]
    for of in sorted({shard.of for shard, _ in shards}) if len(shards) == len(parts) else ():  # else one has all tests
        yield from _absent(of, [(shard.number, flags) for shard, flags in shards if shard.of == of])
    runs = max((int(part.start.runs) for part in parts if part.start.runs < MOST_RUNS), default=1)
    for suite, results in whole.by_suite():
        having = [pair for pair in zip(parts, names, strict=True) if any(one.id == suite.id for one in pair[0].suites)]
        if said := _lacking_tests(suite, having, {result.name for result in results}):
            yield f"{suite.label}: {said}"
        left = {result.name: numbers for result in results if (numbers := _runs_left(result, runs))}
        if left:
            number, of_tests = count(sum(map(len, left.values())), "run"), count(len(left), "test")
            each = [f"{id} ({'run' if len(of) == 1 else 'runs'} {listed([*map(str, of)])})" for id, of in left.items()]
            yield f"{suite.label}: no result for {number} of {of_tests}: {listed(each)}"


def _shard(part: Report) -> Shard | None:
    text = part.start.shard or ((part.start.resume or {}).get("options") or {}).get("shard")
    try:
        return read_shard(text, "--shard") if isinstance(text, str) else None
    except ConfigurationError:
        return None


def _absent(of: int, shards: Sequence[tuple[int, str | None]]) -> Iterator[str]:
    """The shards that are missing, unless all are there that were made with the same flags. `shards`: the numbers of
    those that are there, and `_chosen`."""
    is_known = all(flags is not None for _, flags in shards)
    there: dict[str, set[int]] = {}
    for number, flags in shards:
        there.setdefault((is_known and flags) or "", set()).add(number)
    absent = {flags: [f"{one}/{of}" for one in range(1, of + 1) if one not in ours] for flags, ours in there.items()}
    for flags, missing in absent.items() if all(absent.values()) else ():
        of_tests = f" of {f'the tests of {flags}' if flags else 'all tests'}" if len(absent) > 1 else ""
        yield f"{'shard' if len(missing) == 1 else 'shards'} without a report: {listed(missing)}{of_tests}"


def _chosen(part: Report) -> str | None:
    """The flags that chose the tests of which a part is a shard, as on a command line; None: not known. Inputs are not
    compared: they may be named otherwise on another machine."""
    if part.start.resume is None:
        return None
    options = part.start.resume.get("options") or {}
    choosing = (flag for flag in FLAGS if flag.carried is Carried.RUN and flag.field not in ("inputs", "shard"))
    return " ".join(spelled(flag, options[flag.field]) for flag in choosing if flag.field in options)


def _runs_left(result: TestResult, runs: int) -> list[int]:
    """The numbers of the runs that a test lacks: for `--runs`, or before its policy can decide."""
    made = {attempt.run: attempt.verdict for attempt in result.attempts}
    repeat = result.repeat
    if repeat is None:
        return [run for run in range(1, runs + 1) if run not in made] if made else []
    if repeat.verdict is not None:
        return []
    from runner.record.stability import needs_more

    return needs_more(repeat.policy, made)


def _lacking_tests(suite: Suite, having: Sequence[tuple[Report, str]], there: set[str]) -> str | None:
    """The tests of a suite without a result, named by their ids where these are known; None where there are none.
    `having`: the parts that have the suite. `there`: the tests that have a result."""
    plans = [*{str(_shard(part)): _planned(part, suite.id) for part, _ in having}.values()]
    if plans and None not in plans:
        wanted = sum(plan["cases"] for plan in plans if plan)
        ids = [str(id) for plan in plans if plan for id in plan.get("ids") or ()]
        absent = [id for id in ids if id not in there]
        number = len(absent) if len(ids) == wanted else wanted - len(there)
        named = f": {listed(absent)}" if absent else ""
        return f"no result for {number} of {count(wanted, 'case')}{named}" if number > 0 else None
    partial = [next((one for one in part.partial if one.id == suite.id), None) for part, _ in having]
    for (part, _), said in zip(having, partial, strict=True):
        own = sum(result.suite == suite.id for result in part.results)
        if not part.damage and (said is None or (said.ended and said.selected is not None and own >= said.selected)):
            return None
    if not there:
        return "no results"
    known = max((said.selected for said in partial if said is not None and said.selected is not None), default=0)
    if known > len(there):
        return f"no result for {known - len(there)} of {count(known, 'test')}"
    return f"it may have more tests, because {', '.join(name for _, name in having)} did not end"


def _planned(part: Report, suite: str) -> Record | None:
    """What the start record of a report has for a suite of cases: `{cases, ids?}`."""
    plan = ((part.start.resume or {}).get("planned") or {}).get(suite)
    return plan if isinstance(plan, dict) and isinstance(plan.get("cases"), int) else None
