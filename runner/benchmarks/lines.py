"""Go's format of benchmark results (https://go.dev/design/14313-benchmark-format), written and read:

pkg: scripts.expense.fees
BenchmarkTotal-2     43210     27712 ns/op     3 calls/op
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from scripttest.values import Value

_LINE = re.compile(r"(Benchmark\S*)\s+(\d+)((?:\s+\S+\s+\S+)+)\s*")
_SUFFIX = re.compile(r"-\d+$")
_DIGITS = (
    (999.95, "10.0"), (99.995, "12.1"), (9.9995, "13.2"), (0.99995, "14.3"),
    (0.099995, "15.4"), (0.0099995, "16.5"), (0.00099995, "17.6"), (0.0, "18.7"),
)  # fmt: skip


class Sample(Value):
    """One line: what one run of a benchmark has measured."""

    package: str
    """The name of its module; empty when it is not known."""
    name: str
    """Without the number of CPUs."""
    rounds: int
    values: Mapping[str, float]
    """By unit, such as `ns/op`."""


def written(sample: Sample, cpus: int) -> str:
    """The line of a sample, without its end."""
    name = f"{sample.name}-{cpus}" if cpus > 1 else sample.name
    fields = [f"{name:<24}", f"{sample.rounds:8d}", *(_measured(value, unit) for unit, value in sample.values.items())]
    return "\t".join(fields)


def read(text: str) -> Iterator[Sample]:
    """The samples in a text; all other lines are passed over, but those of packages."""
    package = ""
    for line in text.splitlines():
        if line.startswith("pkg:"):
            package = line[4:].strip()
        elif match := _LINE.fullmatch(line):
            words = match[3].split()
            try:
                values = {unit: float(value) for value, unit in zip(words[0::2], words[1::2], strict=True)}
            except ValueError:
                continue
            yield Sample(package=package, name=_SUFFIX.sub("", match[1]), rounds=int(match[2]), values=values)


def _measured(value: float, unit: str) -> str:
    if value == int(value):
        return f"{int(value):10d} {unit}"
    digits = next(digits for least, digits in _DIGITS if abs(value) >= least)
    return f"{value:{digits}f} {unit}"
