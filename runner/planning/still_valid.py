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
| `gone` | belongs to a case that no longer exists; it is left out |"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from runner.errors import ConfigurationError
from runner.parts import dependency_in
from runner.record.fingerprint_changes import described
from runner.record.lines import with_members
from runner.record.verdict import Verdict
from runner.version import VERSION
from scripttest import Status, kind_of
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.cases.model import Case
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.options.options import RunOptions
    from runner.planning.case_source import CaseSource
    from runner.planning.saved_run import SavedRun
    from runner.record.model import Suite, TestResult

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
    Reason.UNKNOWN: "re-run because their results have no fingerprint",
    Reason.BROKEN: "re-run because they ended with an error",
    Reason.CUT: "re-run because they were cut short",
    Reason.SKIPPED: "re-run because cases they depend on are re-run",
    Reason.GONE: "no longer there, so their results are left out",
}


class Rerun(Value):
    """Tests of one suite that run for the same reason."""

    suite: str
    """Its name for people."""
    reason: Reason
    parts: tuple[str, ...]
    """The names of the parts of the fingerprint that have changed; or the runs that have no result."""
    ids: tuple[str, ...]

    @property
    def text(self) -> str:
        """It as a line for people."""
        shown = ", ".join(self.ids[:NAMED]) + (f" and {len(self.ids) - NAMED} more" if len(self.ids) > NAMED else "")
        if self.reason is Reason.CHANGED:
            return f"{self.suite}: re-run because {described(self.parts)} changed: {shown}"
        if self.reason is Reason.RUNS:
            return f"{self.suite}: without a result of {', '.join(self.parts)}: {shown}"
        return f"{self.suite}: {_WORDS[self.reason]}: {shown}"


class Retained(Value):
    """The results of a report that are valid for this run, and what runs again."""

    saved: SavedRun
    results: Mapping[str, Sequence[TestResult]]
    """Suite id → the valid results, with the positions that their tests have now."""
    ended: Mapping[str, Mapping[str, Status]]
    """Suite id → its cases of which no run is repeated, with their statuses."""
    reruns: tuple[Rerun, ...]
    """As far as they are known before modules are loaded."""
    warnings: tuple[str, ...]

    def statuses(self, suite: str) -> dict[str, dict[int, Status]]:
        """Test → the status of each of its runs that has a result; 0 is the only run of a test that runs once."""
        found: dict[str, dict[int, Status]] = {}
        for result in self.results.get(suite, ()):
            found.setdefault(result.name, {})[result.run] = result.status
        return found

    def places(self, suite: str) -> frozenset[int]:
        """The positions of the tests that have results."""
        return frozenset(result.position for result in self.results.get(suite, ()))

    @property
    def count(self) -> int:
        """How many results there are."""
        return sum(map(len, self.results.values()))


class _Why(Value):
    """Why one result is not valid."""

    reason: Reason
    parts: tuple[str, ...] = ()


class _Suite:
    """Sorts the results of one suite into valid ones and tests that run again."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.kept: list[TestResult] = []
        self.why: dict[str, _Why] = {}
        """Test → why it runs again."""
        self.ended: dict[str, Status] = {}
        """Case → its status, for cases of which no run is repeated."""

    def reruns(self) -> Iterator[Rerun]:
        """The tests that run again, grouped by their reasons."""
        groups: dict[_Why, list[str]] = {}
        for id, why in self.why.items():
            groups.setdefault(why, []).append(id)
        for why, ids in groups.items():
            name = self.suite.name if self.suite.variant else self.suite.label
            yield Rerun(suite=name, reason=why.reason, parts=why.parts, ids=tuple(ids))


def retain(
    saved: SavedRun,
    options: RunOptions,
    sources: Iterable[CaseSource],
    suites: Iterable[Suite],
    fingerprints: Fingerprints,
) -> Retained:
    """Finds the results of a report that are still valid. Which tests of a module have no result is known only when the
    module is listed. Blocks: compiles the scripts that results depend on. Raises ConfigurationError when there are
    results of inputs that this run does not have."""
    from runner.fingerprints.parts import take_scripts

    policies = RunPolicies(count=options.runs, repeat=options.repeat)
    known = {suite.name: suite for suite in suites}
    by_suite: dict[str, list[TestResult]] = {id: [] for id in known}
    for result in saved.results:
        if result.suite not in known:
            raise ConfigurationError(
                f"{saved.subject}: it has results of {result.suite}, which are not part of this run",
                "Run it from the same folder, with the same -i",
            )
        by_suite[result.suite].append(result)
    keys = {key for result in saved.results for key in result.fingerprint or ()}
    take_scripts(filter(None, map(dependency_in, sorted(keys))), fingerprints.root, fingerprints.parts)
    of_cases = {source.suite.name: source for source in sources}
    found = [
        _of_cases(of_cases[id], by_suite[id], fingerprints, policies)
        if id in of_cases
        else _of_module(suite, by_suite[id], fingerprints, policies.count)
        for id, suite in known.items()
    ]
    reruns = tuple(rerun for each in found for rerun in each.reruns())
    return Retained(
        saved=saved,
        results={each.suite.id: each.kept for each in found},
        ended={each.suite.id: each.ended for each in found},
        reruns=reruns,
        warnings=(*_differences(saved, options), *(rerun.text for rerun in reruns)),
    )


def _differences(saved: SavedRun, options: RunOptions) -> Iterator[str]:
    """Warnings about kept results that were made with other options."""
    if not saved.start:
        return
    then, now = saved.options.get("timeout"), options.timeout
    if then != now:
        yield f"--timeout differs from that of the kept results: {_seconds(now)}, not {_seconds(then)}"
    version = saved.start.get("version")
    if version != VERSION:
        yield f"{saved.path.name} was started by yao-test {version}, but this is {VERSION}"


def _seconds(value: float | None) -> str:
    return "the default" if value is None else f"{value:g}s"


def _of_module(suite: Suite, results: Sequence[TestResult], fingerprints: Fingerprints, runs: int) -> _Suite:
    """The results of a module: a test keeps the results of all its runs, or none of them."""
    found = _Suite(suite)
    made: dict[str, list[TestResult]] = {}
    for result in results:
        made.setdefault(result.name, []).append(result)
        why = _why(result) or _stale(found, fingerprints, result)
        if why is not None:
            found.why.setdefault(result.name, why)
    for id, of_test in made.items():
        if len(of_test) != runs and id not in found.why:
            found.why[id] = _without_runs(of_test, runs)
    # the result of a module that did not load is not a test
    found.kept = [result for result in results if result.name not in found.why and kind_of(result.name)]
    return found


def _of_cases(
    source: CaseSource, results: Iterable[TestResult], fingerprints: Fingerprints, policies: RunPolicies
) -> _Suite:
    """The results of cases: a case keeps the results of those of its runs that are valid."""
    found = _Suite(source.suite)
    by_case: dict[str, list[TestResult]] = {}
    for result in results:
        by_case.setdefault(result.name, []).append(result)
    done: set[str] = set()
    """The cases of which no run is repeated."""
    skipped: dict[str, Case] = {}
    kept: dict[str, list[TestResult]] = {}
    for position, case in enumerate(located.case for located in source.cases()):
        holds: list[TestResult] = []
        for result in by_case.pop(case.id, ()):
            why = _why(result) or _stale(found, fingerprints, result, case, source)
            if why is None:
                holds.append(with_members(result, position=position))
            else:
                found.why.setdefault(case.id, why)
        holds = policies.usable(case, holds)
        status = policies.status(case, holds)
        if status is None:
            count = policies.count if policies.policy_of(case) is None else None
            found.why.setdefault(case.id, _without_runs(holds, count))
        elif policies.policy_of(case) is not None:  # what is left of its runs is enough
            found.why.pop(case.id, None)
        if case.id not in found.why and status is not None:
            done.add(case.id)
            found.ended[case.id] = status
            if case.depends_on and not case.skip and all(result.status == Status.SKIPPED for result in holds):
                skipped[case.id] = case
        kept[case.id] = holds
    _run_dependents(found, skipped, done)
    for id in by_case:
        found.why[id] = _Why(reason=Reason.GONE)
    again = {id for id, why in found.why.items() if why.reason is Reason.SKIPPED}
    found.ended = {id: status for id, status in found.ended.items() if id not in again}
    found.kept = [result for id, holds in kept.items() if id not in again for result in holds]
    return found


def _without_runs(results: Sequence[TestResult], runs: int | None) -> _Why:
    """The reason of a test that has fewer results than `runs`; None: as many as its policy needs."""
    if runs is None:
        return _Why(reason=Reason.RUNS, parts=(UNDECIDED,)) if results else _Why(reason=Reason.MISSING)
    made = {result.run or 1 for result in results}
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


def _why(result: TestResult) -> _Why | None:
    """Why a result does not count, whatever its fingerprint says; None when nothing speaks against it."""
    if result.verdict is Verdict.BROKEN:
        return _Why(reason=Reason.BROKEN)
    if result.cut_short:
        return _Why(reason=Reason.CUT)
    turns = result.case.turns if result.status == Status.SKIPPED and result.case is not None else ()
    return _Why(reason=Reason.BROKEN) if any(turn.skip_reason == "simulator error" for turn in turns) else None


def _stale(
    found: _Suite,
    fingerprints: Fingerprints,
    result: TestResult,
    case: Case | None = None,
    source: CaseSource | None = None,
) -> _Why | None:
    """Why the fingerprint of a result does not fit any more; None when it does."""
    if result.fingerprint is None:
        return _Why(reason=Reason.UNKNOWN)
    of_source = (source.folder, source.variant) if source is not None else ()
    parts = fingerprints.changed(result.fingerprint, found.suite.agent, case, *of_source)
    return _Why(reason=Reason.CHANGED, parts=parts) if parts else None


class RunPolicies(Value):
    """How often cases run, and which of their results fit."""

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

    def usable(self, case: Case, results: Sequence[TestResult]) -> list[TestResult]:
        """Those results of a case that fit the runs that this run would make, each with the policy of now."""
        if all(result.status == Status.SKIPPED and not result.run for result in results):
            return list(results)
        policy = self.policy_of(case)
        repeats = policy is not None or self.count > 1
        kept = [result for result in results if bool(result.run) is repeats]
        if policy is not None:
            kept.sort(key=lambda result: result.run)
            lengths = range(1, len(kept))
            kept = kept[: next((at for at in lengths if self.status(case, kept[:at]) is not None), len(kept))]
        return [with_members(result, repeat=policy) for result in kept]

    def status(self, case: Case, results: Sequence[TestResult]) -> Status | None:
        """The status of a case by its usable results; None when it needs more runs."""
        policy = self.policy_of(case)
        if not results or (policy is None and results[0].run and len(results) < self.count):
            return None
        if policy is None or not results[0].run:
            return min(result.status for result in results)  # FAILED comes before PASSED
        from runner.record.repeating import repeat_of

        ordered = sorted(results, key=lambda result: result.run)
        verdict = repeat_of(policy, [result.verdict for result in ordered]).verdict
        return None if verdict is None else verdict.status
