"""Dependencies, and circles in them: checkpoints with `after`, cases with `depends_on`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from runner.errors import did_you_mean
from scripttest.values import Value

SHOWN = 10
"""How many names of a cycle are listed."""
CIRCLES = 20
"""How many cycles are listed."""

Waits = Mapping[str, Sequence[str]]
"""Name → the names that it waits for."""


class Fault(Value):
    """A case that can never begin, because it depends on itself."""

    name: str
    """What waits."""
    which: int
    """What it waits for, by its place in the list."""
    text: str
    hint: str | None = None


def faults(waits: Waits, known: Collection[str], what: str) -> Iterator[Fault]:
    """Names that nothing has, names that wait for themselves, and circles, each once. `what` is said of a name: `case`,
    `checkpoint`."""
    for name, others in waits.items():
        for index, other in enumerate(others):
            if other == name:
                yield Fault(name=name, which=index, text=f'the {what} "{name}" waits for itself')
            elif other not in known:
                yield Fault(
                    name=name, which=index, text=f'there is no {what} "{other}"', hint=did_you_mean(other, known)
                )
    for circle in islice(_circles(waits), CIRCLES):
        text = f"{what}s that wait for each other: {_written(circle)}"
        yield Fault(
            name=circle[0],
            which=waits[circle[0]].index(circle[1]),
            text=text,
            hint="Take one of them out of the circle",
        )


def _circles(waits: Waits) -> Iterator[list[str]]:
    """Circles of two and more; of those that share a part, at least one."""
    done: set[str] = set()
    for start in waits:
        path: dict[str, Iterator[str]] = {}
        current: str | None = None if start in done else start
        while current is not None:
            if current not in path:
                path[current] = iter(waits.get(current, ()))
            other = next(path[current], None)
            if other is None:
                done.add(current)
                del path[current]
                current = next(reversed(path), None)
            elif other in path:
                names = list(path)
                circle = names[names.index(other) :]
                if len(circle) > 1:
                    yield circle
            elif other not in done:
                current = other


def _written(circle: list[str]) -> str:
    names = circle if len(circle) <= SHOWN else [*circle[: SHOWN - 1], "..."]
    return " → ".join([*names, circle[0]])
