"""Which cases of a file run: those that are chosen, and those that they depend on; and circles in what waits for each
other, cases with `depends_on` and checkpoints with `after`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice

from runner.cases.model import Case
from runner.errors import did_you_mean
from runner.filters import matcher
from scripttest.values import Value

Chosen = Callable[[Case], bool]
SHOWN = 10
"""How many names of a cycle are listed."""
CIRCLES = 20
"""How many cycles are listed."""
Waits = Mapping[str, Sequence[str]]
"""Name → the names that it waits for."""


class Needs(Value):
    """What the chosen cases of a file depend on."""

    ids: frozenset[str]
    """Cases that others wait for."""
    added: Mapping[str, str]
    """Cases that are not chosen, and run all the same → the case that depends on each."""


class Fault(Value):
    """A case that can never begin, because it depends on itself."""

    name: str
    """What waits."""
    which: int
    """What it waits for, by its place in the list."""
    text: str
    hint: str | None = None


def chooser(pattern: str) -> Chosen:
    """Cases whose id or name the pattern of `--run` is found in. Raises ConfigurationError when it is invalid."""
    matches = matcher(pattern)
    return lambda case: matches(case.id) or (case.name is not None and matches(case.name))


def both(first: Chosen | None, second: Chosen | None) -> Chosen | None:
    """Cases that both choices select; None selects all."""
    if first is None or second is None:
        return first or second
    return lambda case: second(case) and first(case)


def skip_reason(case: Case) -> str | None:
    """Why a case is left out: the reason it gives, perhaps empty; None when it runs."""
    if isinstance(case.skip, str):
        return case.skip or None
    return "" if case.skip else None


def needs_of(dependencies: Mapping[str, Sequence[str]], left_out: frozenset[str]) -> Needs:
    """The cases that must run, by id. `dependencies`: case → the cases it depends on; only cases with dependencies,
    also those that are not selected. `left_out`: the cases that are not selected."""
    added: dict[str, str] = {}
    waited: set[str] = set()
    pending = [id for id in dependencies if id not in left_out]
    while pending:
        id = pending.pop()
        for needed in dependencies.get(id, ()):
            waited.add(needed)
            if needed in left_out and needed not in added:
                added[needed] = id
                pending.append(needed)
    return Needs(ids=frozenset(waited), added=added)


def faults(waits: Waits, known: Collection[str], what: str) -> Iterator[Fault]:
    """Names that nothing has, names that wait for themselves, and circles, each once. `what` is said of a name: `case`,
    `checkpoint`."""
    for name, others in waits.items():
        for index, other in enumerate(others):
            if other == name:
                yield Fault(name=name, which=index, text=f'the {what} "{name}" depends on itself')
            elif other not in known:
                yield Fault(
                    name=name, which=index, text=f'there is no {what} "{other}"', hint=did_you_mean(other, known)
                )
    for circle in islice(_circles(waits), CIRCLES):
        names = circle if len(circle) <= SHOWN else [*circle[: SHOWN - 1], "..."]
        text = f"{what}s that depend on each other: {' → '.join([*names, circle[0]])}"
        yield Fault(
            name=circle[0],
            which=waits[circle[0]].index(circle[1]),
            text=text,
            hint="Remove one of these dependencies",
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
