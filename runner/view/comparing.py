"""Two or more runs side by side: `diff` of two, and the answers of all."""

from __future__ import annotations

from collections.abc import Sequence

from runner.errors import ConfigurationError
from runner.reporters.html.compared import comparison_record
from runner.reporters.html.variants import variants_record
from runner.results.change_verdict import adjusted, change_between
from runner.results.comparison import compare
from runner.results.report import Report
from runner.results.sides import Sides
from runner.results.variants import VariantsCompared
from scripttest.typing_names import Record

MOST = 10
"""Runs that are compared at a time."""


def compared(reports: Sequence[Report], names: Sequence[str]) -> Record:
    """`{comparison, variants}` in the format of the HTML report: the first run compared with each other one.
    `comparison` is null for more than two runs. Raises ConfigurationError.

    Args:
        reports: in the order in which they began.
        names: their names.
    """
    if not 2 <= len(reports) <= MOST:
        raise ConfigurationError(f"Cannot compare {len(reports)} runs: 2 to {MOST} can be compared")
    first, *others = reports
    verdicts = adjusted(
        [
            change_between(first, other, names=Sides(a=names[0], b=name))
            for other, name in zip(others, names[1:], strict=True)
        ]
    )
    variants = variants_record(VariantsCompared(names=names, parts=reports, verdicts=verdicts))
    variants["rows"].sort(key=lambda row: not (row["differs"] or row["answers_differ"]))
    (_, *head), *rows = variants["overview"]
    variants["overview"] = [["Run", *head], *rows]
    if len(others) > 1:
        return {"comparison": None, "variants": variants}
    found = comparison_record(compare(first, others[0]), others[0], first, [(names[1], verdicts[0])])
    return {"comparison": found, "variants": {**variants, "overview": [], "said": []}}
