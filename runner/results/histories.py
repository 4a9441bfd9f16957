"""Combines several reports of the same cases into one, in which each case has the runs of all: a baseline without
further runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runner.errors import ConfigurationError
from runner.results.certainty import certainty_of
from runner.results.combining import usage_of_lines
from runner.results.counts import counted, status_of
from runner.results.judged_cases import judged_cases, says_the_same
from runner.results.model import Attempt
from runner.results.report import Report, in_order
from runner.results.result_keys import ResultKey, key_of
from runner.results.stability import normalised, shown_of, stability_of
from runner.results.stability_json import attempt_of, attempts_in, runs_of
from runner.results.summary import counts_record, usage_record
from runner.results.verdict import verdict_in
from scripttest.typing_names import Record
from scripttest.values import Value

OWN = ("runs", "attempts", "run")
"""Keys of a result's record that are computed again."""


class Joined(Value):
    """Several reports as one."""

    report: Report
    said: tuple[str, ...] = ()
    """Where they disagree, a sentence each."""


def as_runs(reports: Sequence[Report], names: Sequence[str]) -> Joined:
    """One report, the runs of each case numbered in the order of the reports.

    What a case says, and how it is shown, is what the last report with it has. Runs of a case that said something else
    are left out, and that is said. Raises ConfigurationError for a report with a run that an earlier one has.
    """
    runs = _distinct(reports, names)
    cases = [judged_cases(report) for report in reports]
    last = {key: (at, case) for at, known in enumerate(cases) for key, case in known.items()}
    suites: dict[str, Record] = {}
    found: dict[ResultKey, list[Record]] = {}
    said = []
    for name, report, known in zip(names, reports, cases, strict=True):
        suites |= {suite["id"]: suite for suite in report.suites}
        other = [key for key, case in known.items() if not says_the_same(case, last[key][1])]
        if other:
            which = ", ".join(key.name for key in other[:3]) + (f" and {len(other) - 3} more" if len(other) > 3 else "")
            said.append(f"{name}: cases that were changed in a later report are left out: {which}")
        of_report = {key_of(record): record for record in report.results}
        for key in [key for key in of_report if key not in other]:
            found.setdefault(key, []).append(of_report[key])
    said += _of_several_connectors(found)
    newest = reports[-1]
    least = newest.start.get("min_pass_rate", 100)
    results = in_order(list(suites.values()), [_together(records, least) for records in found.values()])
    errors = list(dict.fromkeys(error for report in reports for error in report.errors))
    counts = counted(results)
    start: Record = {**newest.start, "suites": list(suites.values()), "min_pass_rate": least}
    start["runs_per_case"] = max((len(attempts_in(record)[0]) for record in results), default=1)
    for name in ("flags", "result_flags"):
        if any(report.start.get(name) != newest.start.get(name) for report in reports):
            start.pop(name, None)
    start.pop("shard", None)
    start.pop("run_id", None)
    if runs:
        start["run_ids"] = list(runs)
    summary = {
        **counts_record(counts),
        **usage_record(counts),
        **certainty_of(counts),
        "duration_ms": sum(report.summary["duration_ms"] for report in reports),
        "status": status_of(counts, bool(errors)),
        "completed_at": newest.summary.get("completed_at"),
    }
    warnings = list(dict.fromkeys(warning for report in reports for warning in report.warnings))
    whole = newest.replace(start=start, results=results, errors=errors, warnings=warnings, summary=summary, text="")
    return Joined(report=whole.replace(origin={}), said=tuple(said))


def _distinct(reports: Sequence[Report], names: Sequence[str]) -> dict[str, str]:
    """The ids of all runs, with the reports that have them."""
    found: dict[str, str] = {}
    for name, report in zip(names, reports, strict=True):
        for id in report.run_ids:
            if id in found:
                raise ConfigurationError(
                    f"Cannot merge {name}: it has the run {id}, which {found[id]} has too",
                    "Each run counts once: leave out the copy",
                )
        found |= dict.fromkeys(report.run_ids, name)
    return found


def _of_several_connectors(found: Mapping[ResultKey, Sequence[Record]]) -> Iterator[str]:
    """What is said of cases whose runs are not alike because they asked different connectors."""
    for key, records in found.items():
        connectors = sorted({str(record["connector"]) for record in records if record.get("connector")})
        if len(connectors) > 1:
            yield f"the runs of {key.name} are with different connectors: {', '.join(connectors)}"


def _together(records: Sequence[Record], least: float) -> Record:
    """The combined record of a case from those of several reports, each of one run or of several."""
    owned = [(record, attempt) for record in records for attempt in _attempts(record)]
    attempts = [attempt.replace(run=number) for number, (_, attempt) in enumerate(owned, 1)]
    stability = stability_of(attempts)
    at = shown_of(attempts, least)
    verdict = attempts[at].verdict
    shown = next((record for record in reversed(records) if verdict_in(record) is verdict), owned[at][0])
    record = {key: value for key, value in shown.items() if key not in OWN}
    record["status"] = verdict.status
    if stability is not None:
        record["duration_ms"] = stability.avg_duration_ms
    return {**record, **usage_of_lines(records), **runs_of(stability, attempts)}


def _attempts(record: Record) -> list[Attempt]:
    attempts, _ = attempts_in(record)
    if not attempts:
        return [attempt_of(record, 1)]
    return [attempt.replace(answer=_answer(record, attempt)) for attempt in attempts]


def _answer(record: Record, attempt: Attempt) -> str:
    return normalised(attempt.output if "input" in record else [attempt.status, attempt.error])
