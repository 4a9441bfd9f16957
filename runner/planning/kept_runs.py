"""Finds out whether an earlier run has results of all runs that a case needs."""

from __future__ import annotations

from collections.abc import Sequence

from runner.results.verdict import Verdict, verdict_in
from scripttest import Status
from scripttest.typing_names import Record
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.cases.model import Case


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
        from runner.results.repeating import repeat_of

        ordered = sorted(records, key=lambda record: int(record["run"]))
        verdict = repeat_of(policy, [verdict_in(record) for record in ordered]).verdict
        if verdict is None:
            return None
        return Status.PASSED if verdict is Verdict.PASSED else verdict.status
