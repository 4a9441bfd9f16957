"""Finds which results of an earlier run are still valid, and which tests must run again, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runner.errors import ConfigurationError
from runner.parts import dependency_in
from runner.planning.plan import CaseSource, Reason, Rerun, Retained, RunPlan
from runner.record.lines import with_members
from runner.record.outcomes import Verdict
from scripttest import Status, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.cases.model import Case
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.options.options import RunOptions
    from runner.record.model import Suite, TestResult

UNDECIDED = "as many runs as needed"


_Why = tuple[Reason, tuple[str, ...]]
"""A reason, with the parts of the fingerprint that have changed, or the runs that have no result."""


def retain(
    saved: Iterable[TestResult], subject: str, plan: RunPlan, fingerprints: Fingerprints, rounds: int | None = None
) -> Retained:
    """Finds those of the saved results that are still valid for a plan. Which tests of a module have no result is known
    only when the module is listed. `rounds`: how many runs of a case were enough to tell variants apart; None: all are
    needed. Blocks: compiles the scripts that results depend on. Raises ConfigurationError, which begins with `subject`,
    when there are results of inputs that this run does not have."""
    from runner.fingerprints.parts import take_scripts

    known = {suite.name: suite for suite in plan.suites}
    by_suite: dict[str, list[TestResult]] = {name: [] for name in known}
    keys: set[str] = set()
    for result in saved:
        if result.suite not in known:
            raise ConfigurationError(
                f"{subject}: it has results of {result.suite}, which are not part of this run",
                "Run it from the same folder, with the same -i",
            )
        by_suite[result.suite].append(result)
        keys.update(result.fingerprint or ())
    take_scripts(filter(None, map(dependency_in, sorted(keys))), fingerprints.root, fingerprints.parts)
    of_cases = {source.suite.name: source for source in plan.sources}
    needed = rounds or plan.options.runs
    found = [_Suite(suite, by_suite[name], plan.options, fingerprints, needed) for name, suite in known.items()]
    for each in found:
        if (source := of_cases.get(each.suite.name)) is not None:
            each.sort_cases(source)
        else:
            each.sort_tests()
    return Retained(
        results={each.suite.id: each.kept for each in found},
        ended={each.suite.id: each.ended for each in found},
        reruns=tuple(rerun for each in found for rerun in each.reruns()),
    )


class _Suite:
    """Sorts the results of one suite into valid ones and tests that run again."""

    def __init__(
        self, suite: Suite, results: list[TestResult], options: RunOptions, fingerprints: Fingerprints, needed: int
    ) -> None:
        """`needed`: runs of each case."""
        self.suite, self._options, self._fingerprints, self._needed = suite, options, fingerprints, needed
        self.kept: list[TestResult] = []
        self.ended: dict[str, Status] = {}
        """Case → its status, for cases of which no run is repeated."""
        self._results: dict[str, list[TestResult]] = {}
        for result in results:
            self._results.setdefault(result.name, []).append(result)
        self._why: dict[str, _Why] = {}
        """Test → why it runs again."""

    def reruns(self) -> Iterator[Rerun]:
        """The tests that run again, grouped by their reasons."""
        name = self.suite.name if self.suite.variant else self.suite.label
        groups: dict[_Why, list[str]] = {}
        for id, why in self._why.items():
            groups.setdefault(why, []).append(id)
        for (reason, parts), ids in groups.items():
            yield Rerun(suite=name, reason=reason, parts=parts, ids=tuple(ids))

    def sort_tests(self) -> None:
        """Sorts the results of a module: a test keeps the results of all its runs, or none of them."""
        for id, made in self._results.items():
            why = next(filter(None, map(self._problem, made)), None)
            if why is None and len(made) != self._options.runs:
                why = _without_runs(made, self._options.runs)
            if why is not None:
                self._why[id] = why
            elif kind_of(id):  # the result of a module that did not load is not a test
                self.kept += made

    def sort_cases(self, source: CaseSource) -> None:
        """Sorts the results of cases: a case keeps the results of those of its runs that are valid."""
        from runner.cases.validation import repeat_of

        skipped: dict[str, Case] = {}
        kept: dict[str, list[TestResult]] = {}
        for position, case in enumerate(located.case for located in source.cases()):
            holds: list[TestResult] = []
            for result in self._results.pop(case.id, ()):
                why = self._problem(result, case, source)
                if why is None:
                    holds.append(with_members(result, position=position))
                else:
                    self._why.setdefault(case.id, why)
            policy = repeat_of(case, self._options.repeat)
            holds = kept[case.id] = _usable(policy, self._options.runs, holds)
            status = _status(policy, self._needed, holds)
            if status is None:
                self._why.setdefault(case.id, _without_runs(holds, self._needed if policy is None else None))
            elif policy is not None:  # what is left of its runs is enough
                self._why.pop(case.id, None)
            if case.id not in self._why and status is not None:
                self.ended[case.id] = status
                if case.depends_on and not case.skip and all(result.status == Status.SKIPPED for result in holds):
                    skipped[case.id] = case
        while again := [id for id, case in skipped.items() if not self.ended.keys() >= {*case.depends_on}]:
            for id in again:  # skipped because of a case that runs again
                del skipped[id], self.ended[id], kept[id]
                self._why[id] = (Reason.SKIPPED, ())
        self._why |= dict.fromkeys(self._results, (Reason.GONE, ()))
        self.kept = [result for holds in kept.values() for result in holds]

    def _problem(self, result: TestResult, case: Case | None = None, source: CaseSource | None = None) -> _Why | None:
        turns = result.case.turns if result.status == Status.SKIPPED and result.case is not None else ()
        if result.verdict is Verdict.BROKEN or any(turn.skip_reason == "simulator error" for turn in turns):
            return Reason.BROKEN, ()
        if result.cut_short:
            return Reason.CUT, ()
        if result.fingerprint is None:
            return Reason.UNKNOWN, ()
        of_source = (source.folder, source.variant) if source is not None else ()
        parts = self._fingerprints.changed(result.fingerprint, self.suite.agent, case, *of_source)
        return (Reason.CHANGED, parts) if parts else None


def _without_runs(results: Sequence[TestResult], runs: int | None) -> _Why:
    """The reason of a test that has fewer results than `runs`; None: as many as its policy needs."""
    if runs is None:
        return (Reason.RUNS, (UNDECIDED,)) if results else (Reason.MISSING, ())
    made = {result.run or 1 for result in results}
    absent = tuple(f"run {number}" for number in range(1, runs + 1) if number not in made)
    return (Reason.RUNS, absent) if made and absent else (Reason.MISSING, ())


def _usable(policy: Any, count: int, results: list[TestResult]) -> list[TestResult]:
    """Those results of a case that fit the runs that this run would make, each with the policy of now."""
    if all(result.status == Status.SKIPPED and not result.run for result in results):
        return results
    kept = [result for result in results if bool(result.run) is (policy is not None or count > 1)]
    if policy is not None:
        kept.sort(key=lambda result: result.run)
        lengths = range(1, len(kept))
        kept = kept[: next((at for at in lengths if _status(policy, count, kept[:at]) is not None), len(kept))]
    return [with_members(result, repeat=policy) for result in kept]


def _status(policy: Any, count: int, results: Sequence[TestResult]) -> Status | None:
    """The status of a case by its usable results; None when it needs more runs."""
    if not results or (policy is None and results[0].run and len(results) < count):
        return None
    if policy is None or not results[0].run:
        return min(result.status for result in results)  # FAILED comes before PASSED
    from runner.record.stability import repeat_of

    ordered = sorted(results, key=lambda result: result.run)
    verdict = repeat_of(policy, [result.verdict for result in ordered]).verdict
    return None if verdict is None else verdict.status
