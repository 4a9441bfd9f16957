"""What a resumed run takes from an earlier one, and what a report says so that it can be resumed.

The start line of a report has in `resume` how it was made: `{key, options, from_file?, failed?, planned}`.
"""

from __future__ import annotations

from runner.options.flags import Carried
from runner.options.options import FLAGS, RunOptions
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from runner.planning.case_source import CaseSource
    from runner.planning.gaps import Gap
    from runner.planning.saved_run import Saved
    from runner.results.line_file import LineFile
    from scripttest import Status
    from scripttest.typing_names import Record

LISTED = 1000
"""The start of a report lists the ids of at most this many cases of one input; of more it has only the number."""


class ResumeState(Value):
    """What a run takes from an earlier one, and what a later run can take from this one."""

    sources: list[CaseSource]
    """The cases, with their results of the earlier run."""
    retained: Retained | None = None
    """The results that are kept; None: there is no earlier run."""
    origin: Record | None = None
    """The content of `resume` in the start line of the report; None when the run writes no report that needs it."""
    warnings: tuple[str, ...] = ()
    resumed_report: LineFile | None = None
    """The open report that is continued; it is locked from before it was read."""

    @property
    def retained_count(self) -> int:
        """How many tests have a result of the earlier run."""
        if self.retained is None:
            return 0
        return len({(suite, record["id"]) for suite, kept in self.retained.results.items() for record in kept})


class Retained(Value):
    """The results that a run takes from the earlier one."""

    saved: Saved
    results: Mapping[str, list[Record]]
    """Suite id → its results, with the positions that their tests have in this run."""
    ended: Mapping[str, Mapping[str, Status]]
    """Suite id → its cases of which no run is repeated, with their statuses."""
    gaps: tuple[Gap, ...]
    """What runs again, as far as that is known before modules are loaded."""
    warnings: tuple[str, ...]

    def statuses(self, suite: str) -> dict[str, dict[int, Status]]:
        """Test → the status of each of its runs that has a result; 0 is the only run of a test that runs once."""
        found: dict[str, dict[int, Status]] = {}
        for record in self.results.get(suite, ()):
            found.setdefault(record["id"], {})[record.get("run", 0)] = record["status"]
        return found

    def places(self, suite: str) -> frozenset[int]:
        """The positions of the tests that have results."""
        return frozenset(record["position"] for record in self.results.get(suite, ()))

    @property
    def count(self) -> int:
        """How many results there are."""
        return sum(map(len, self.results.values()))


def origin_of(
    options: RunOptions,
    typed: RunOptions,
    sources: Iterable[CaseSource],
    key: str,
    failed: Mapping[str, list[str]],
) -> Record:
    """`{key, options, from_file?, failed?, planned}` of the start line; `from_file` names the options that the
    configuration file has said, `failed` are the tests that `--last-failed` selects, by the keys of their suites, and
    `planned` is `{suite: {cases, ids?}}`."""
    used = [flag for flag in FLAGS if flag.carried is not Carried.NO]
    given = {flag.field: _stored(value) for flag in used if (value := getattr(options, flag.field)) != flag.default}
    planned: dict[str, Record] = {}
    for source in sources:
        planned[source.suite.name] = {"cases": source.selected}
        if source.selected <= LISTED:
            planned[source.suite.name]["ids"] = [located.case.id for located in source.cases()]
    in_file = (flag.field for flag in used if flag.in_file and flag.field in given)
    read = [name for name in in_file if getattr(typed, name) != getattr(options, name)]
    more = {"from_file": read, "failed": dict(failed)}
    return {"key": key, "options": given, **{name: value for name, value in more.items() if value}, "planned": planned}


def _stored(value: Any) -> Any:
    """The value of a flag as JSON, which `Flag.saved_value` reads."""
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if isinstance(value, str | int | float) else str(value)
