"""Finds which results of an earlier run are still valid, and which tests must run again, each with its reason.

| reason | the result of the earlier run |
| --- | --- |
| `missing` | does not exist |
| `runs` | exists for some of its runs, but not for all |
| `changed` | depends on something that has changed |
| `unknown` | does not say what it depends on |
| `broken` | says nothing about what was tested, because something that the test needs broke |
| `cut` | belongs to a test that was cut short |
| `skipped` | was skipped because of a test that runs again |
| `gone` | belongs to a case that no longer exists; it is left out |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from runner.errors import ConfigurationError
from runner.parts import dependency_in
from runner.record.fingerprint_changes import change_text
from runner.record.verdict import Verdict, verdict_in
from scripttest import Status, kind_of
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.cases.model import Case
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.planning.case_source import CaseSource
    from runner.record.model import Suite

UNDECIDED = "as many runs as needed"
NAMED = 10
"""At most this many tests of one group are named."""


class Reason(StrEnum):
    """Why a test runs again although an earlier run has a result of it, or should have one."""

    MISSING = "missing"
    RUNS = "runs"
    CHANGED = "changed"
    UNKNOWN = "unknown"
    BROKEN = "broken"
    CUT = "cut"
    SKIPPED = "skipped"
    GONE = "gone"


_WORDS = {
    Reason.MISSING: "without a result",
    Reason.UNKNOWN: "run again, since their results have no fingerprint",
    Reason.BROKEN: "run again, since something broke that they need",
    Reason.CUT: "run again, since they were cut short",
    Reason.SKIPPED: "run again, since cases that they depend on run again",
    Reason.GONE: "no longer there, so their results are left out",
}


class Gap(Value):
    """Tests of one suite that run for the same reason."""

    suite: str
    """Its name for people."""
    reason: Reason
    parts: tuple[str, ...]
    """The names of the parts of the fingerprint that have changed; or the runs that have no result."""
    ids: tuple[str, ...]

    @property
    def text(self) -> str:
        """The gap as a line for people."""
        shown = ", ".join(self.ids[:NAMED]) + (f" and {len(self.ids) - NAMED} more" if len(self.ids) > NAMED else "")
        if self.reason is Reason.CHANGED:
            return f"{self.suite}: run again, since {change_text(self.parts)}: {shown}"
        if self.reason is Reason.RUNS:
            return f"{self.suite}: without a result of {', '.join(self.parts)}: {shown}"
        return f"{self.suite}: {_WORDS[self.reason]}: {shown}"


class Holding(Value):
    """Which results of a report are valid for this run, and what runs again."""

    results: Mapping[str, list[Record]]
    """Suite id → the valid results, with the positions that their tests have now."""
    ended: Mapping[str, Mapping[str, Status]]
    """Suite id → its cases of which no run is repeated, with their statuses."""
    gaps: tuple[Gap, ...]


class _Why(Value):
    """Why one result is not valid."""

    reason: Reason
    parts: tuple[str, ...] = ()


class _Suite:
    """Sorts the results of one suite into valid ones and tests that run again."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.kept: list[Record] = []
        self.why: dict[str, _Why] = {}
        """Test → why it runs again."""
        self.ended: dict[str, Status] = {}
        """Case → its status, for cases of which no run is repeated."""

    def gaps(self) -> Iterator[Gap]:
        """The tests that run again, grouped by their reasons."""
        groups: dict[_Why, list[str]] = {}
        for id, why in self.why.items():
            groups.setdefault(why, []).append(id)
        for why, ids in groups.items():
            name = self.suite.name if self.suite.variant else self.suite.label
            yield Gap(suite=name, reason=why.reason, parts=why.parts, ids=tuple(ids))


def holding(
    saved: Iterable[Record],
    subject: str,
    fingerprints: Fingerprints,
    sources: Iterable[CaseSource],
    suites: Iterable[Suite],
    runs: Runs,
) -> Holding:
    """Finds the results of a report that are still valid. Which tests of a module have no result is known only when the
    module is listed. Blocks: compiles the scripts that results depend on. Raises ConfigurationError when there are
    results of inputs that this run does not have."""
    from runner.fingerprints.parts import take_scripts

    known = {suite.name: suite for suite in suites}
    records: dict[str, list[Record]] = {id: [] for id in known}
    for record in saved:
        if record["suite"] not in known:
            raise ConfigurationError(
                f"{subject}: it has results of {record['suite']}, which this run does not test",
                "Run it from the same folder, with the same -i",
            )
        records[record["suite"]].append(record)
    keys = {key for record in saved for key in record.get("fingerprint") or ()}
    take_scripts(filter(None, map(dependency_in, sorted(keys))), fingerprints.root, fingerprints.parts)
    of_cases = {source.suite.name: source for source in sources}
    found = []
    for id, suite in known.items():
        if id in of_cases:
            found.append(_of_cases(of_cases[id], records[id], fingerprints, runs))
        else:
            found.append(_of_module(suite, records[id], fingerprints, runs.count))
    return Holding(
        results={each.suite.id: each.kept for each in found},
        ended={each.suite.id: each.ended for each in found},
        gaps=tuple(gap for each in found for gap in each.gaps()),
    )


def _of_module(suite: Suite, records: list[Record], fingerprints: Fingerprints, runs: int) -> _Suite:
    """The results of a module: a test keeps the results of all its runs, or none of them."""
    found = _Suite(suite)
    made: dict[str, list[Record]] = {}
    for record in records:
        id = record["id"]
        made.setdefault(id, []).append(record)
        why = _why(record) or _stale(found, fingerprints, record)
        if why is not None:
            found.why.setdefault(id, why)
    for id, of_test in made.items():
        if len(of_test) != runs and id not in found.why:
            found.why[id] = _without_runs(of_test, runs)
    for record in records:  # the result of a module that did not load is not a test
        if record["id"] not in found.why and kind_of(record["id"]):
            found.kept.append(record)
    return found


def _of_cases(source: CaseSource, records: list[Record], fingerprints: Fingerprints, runs: Runs) -> _Suite:
    """The results of cases: a case keeps the results of those of its runs that are valid."""
    found = _Suite(source.suite)
    by_case: dict[str, list[Record]] = {}
    for record in records:
        by_case.setdefault(record["id"], []).append(record)
    done: set[str] = set()
    """The cases of which no run is repeated."""
    skipped: dict[str, Case] = {}
    kept: dict[str, list[Record]] = {}
    for position, case in enumerate(located.case for located in source.cases()):
        holds: list[Record] = []
        for record in by_case.pop(case.id, ()):
            why = _why(record) or _stale(found, fingerprints, record, case, source)
            if why is None:
                holds.append({**record, "position": position})
            else:
                found.why.setdefault(case.id, why)
        holds = runs.usable(case, holds)
        status = runs.status(case, holds)
        if status is None:
            count = runs.count if runs.policy_of(case) is None else None
            found.why.setdefault(case.id, _without_runs(holds, count))
        elif runs.policy_of(case) is not None:  # what is left of its runs is enough
            found.why.pop(case.id, None)
        if case.id not in found.why and status is not None:
            done.add(case.id)
            found.ended[case.id] = status
            if case.depends_on and not case.skip and all(record["status"] == Status.SKIPPED for record in holds):
                skipped[case.id] = case
        kept[case.id] = holds
    _run_dependents(found, skipped, done)
    for id in by_case:
        found.why[id] = _Why(reason=Reason.GONE)
    again = {id for id, why in found.why.items() if why.reason is Reason.SKIPPED}
    found.ended = {id: status for id, status in found.ended.items() if id not in again}
    found.kept = [record for id, holds in kept.items() if id not in again for record in holds]
    return found


def _without_runs(records: list[Record], runs: int | None) -> _Why:
    """The reason of a test that has fewer results than `runs`; None: as many as its policy needs."""
    if runs is None:
        return _Why(reason=Reason.RUNS, parts=(UNDECIDED,)) if records else _Why(reason=Reason.MISSING)
    made = {record.get("run", 1) for record in records}
    absent = tuple(f"run {number}" for number in range(1, runs + 1) if number not in made)
    return _Why(reason=Reason.RUNS, parts=absent) if made and absent else _Why(reason=Reason.MISSING)


def _run_dependents(found: _Suite, skipped: Mapping[str, Case], done: set[str]) -> None:
    """Lets cases run again that were skipped because of a case that runs again, and those that depend on them."""
    waiting = dict(skipped)
    while again := [id for id, case in waiting.items() if not done.issuperset(case.depends_on)]:
        for id in again:
            del waiting[id]
            done.discard(id)
            found.why[id] = _Why(reason=Reason.SKIPPED)


def _why(record: Record) -> _Why | None:
    """Why a result does not count, whatever its fingerprint says; None when nothing speaks against it."""
    skipped = record["status"] == Status.SKIPPED
    if verdict_in(record) is Verdict.BROKEN:
        return _Why(reason=Reason.BROKEN)
    if record.get("cut_short"):
        return _Why(reason=Reason.CUT)
    if skipped and any(turn.get("skip_reason") == "simulator error" for turn in record.get("turns") or ()):
        return _Why(reason=Reason.BROKEN)
    return None


def _stale(
    found: _Suite,
    fingerprints: Fingerprints,
    record: Record,
    case: Case | None = None,
    source: CaseSource | None = None,
) -> _Why | None:
    """Why the fingerprint of a result does not fit any more; None when it does."""
    fingerprint = record.get("fingerprint")
    if not isinstance(fingerprint, dict):
        return _Why(reason=Reason.UNKNOWN)
    of_source = (source.folder, source.variant) if source is not None else ()
    parts = fingerprints.changed(fingerprint, found.suite.agent, case, *of_source)
    return _Why(reason=Reason.CHANGED, parts=parts) if parts else None


class Runs(Value):
    """How often cases run that have no number of runs of their own."""

    count: int
    """`--runs`."""
    repeat: str | None
    """`--repeat`."""

    def policy_of(self, case: Case) -> Any:
        """The policy of a case, as it is written in its file or in `--repeat`; None: it has none."""
        if case.repeat is None:
            return self.repeat
        from runner.cases.checks import repeat_of

        return repeat_of(case)

    def usable(self, case: Case, records: Sequence[Record]) -> list[Record]:
        """Those results of a case that fit the runs that this run would make, each with the policy of now."""
        if all(record["status"] == Status.SKIPPED and "run" not in record for record in records):
            return list(records)
        policy = self.policy_of(case)
        repeats = policy is not None or self.count > 1
        kept = [record for record in records if ("run" in record) is repeats]
        if policy is None:
            return [{key: value for key, value in record.items() if key != "repeat"} for record in kept]
        ordered = sorted(kept, key=lambda record: int(record["run"]))
        enough = next(
            (at for at in range(1, len(ordered)) if self.status(case, ordered[:at]) is not None), len(ordered)
        )
        return [{**record, "repeat": policy} for record in ordered[:enough]]

    def status(self, case: Case, records: Sequence[Record]) -> Status | None:
        """The status of a case by its usable results; None when it needs more runs."""
        policy = self.policy_of(case)
        if not records or (policy is None and "run" in records[0] and len(records) < self.count):
            return None
        if policy is None or "run" not in records[0]:
            return min(Status(record["status"]) for record in records)  # FAILED comes before PASSED
        from runner.record.repeating import repeat_of

        ordered = sorted(records, key=lambda record: int(record["run"]))
        verdict = repeat_of(policy, [verdict_in(record) for record in ordered]).verdict
        if verdict is None:
            return None
        return Status.PASSED if verdict is Verdict.PASSED else verdict.status
