"""The history of each test: how often it passes, whether it has become flaky, slower or dearer, and since when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from operator import attrgetter
from sys import intern
from typing import Any

from runner.compare.comparison import STANDARD
from runner.parts import asked_by, changed
from runner.record.outcomes import Verdict
from runner.statistics.change import Break, level_break, rate_break
from runner.statistics.intervals import Interval, wilson
from runner.store.store import Store
from runner.store.stored import NOT_ENDED, StoredResult, StoredRun
from scripttest.values import Value

_NONE = frozenset(verdict.value for verdict in Verdict if verdict.is_none)
SCRIPTED = "scripted"
"""The connector whose answers are the same each time."""


class Trend(StrEnum):
    """The trend of a test; the worst one is listed first."""

    BROKE = "broke"
    """It passes less often than before, beyond chance."""
    FAILS = "fails"
    """It has never passed since it last changed, nor with the model that it asks now."""
    FLAKY = "flaky"
    """It passed and failed with one model, while its pass rate did not change."""
    NO_VERDICT = "no verdict"
    """The newest run of it broke, or was inconclusive."""
    SLOWER = "slower"
    DEARER = "dearer"
    """It takes more money, or more tokens where no price is known."""
    FIXED = "fixed"
    """It passes more often than before, beyond chance."""
    FASTER = "faster"
    CHEAPER = "cheaper"
    STEADY = "passes"
    SKIPPED = "skipped"


class Since(Value):
    """The first run after a change."""

    run: StoredRun
    before: StoredRun
    """The run before it."""
    parts: tuple[str, ...]
    """What the test depends on and differs between both; see `runner.parts`."""
    is_known: bool
    """Whether both have fingerprints of the test."""
    p: float
    """How likely so much of a difference is where nothing changed."""


class Level(Value):
    """A figure before and after a change."""

    before: float
    """The mean before."""
    after: float
    since: Since

    @property
    def ratio(self) -> float:
        """How many times as much."""
        return self.after / self.before


class TestHistory(Value):
    """The results of one test in several runs, in the order of time."""

    suite: str
    test: str
    results: tuple[StoredResult, ...]
    """One for each run that came to it; empty in a list of all tests."""
    verdicts: tuple[str, ...]
    """The verdict of each."""
    newest: StoredRun
    """The last one that came to it."""
    average_ms: float
    """The mean duration of all."""
    asked: tuple[str, ...]
    """The connector of each, and its model where that is not the same in all; empty for what asks no model."""
    passed: int
    """Runs that passed, with what the newest asks, since its pass rate last changed ..."""
    judged: int
    """... of those that passed or failed since then."""
    all_passed: int
    """The same of all that are looked at."""
    all_judged: int
    broken: int
    """Runs that broke or were inconclusive, of all."""
    trends: tuple[Trend, ...]
    """The worst first; at least one."""
    rate_before: float | None
    """The pass rate before it changed; None where it did not."""
    since: Since | None
    """When the pass rate changed."""
    failing: int
    """How many of the newest results failed, one after another."""
    failing_since: Since | None
    """When these began; None where none failed, or all did."""
    milliseconds: float | None
    """The mean of the runs that passed; after the last change, where there was one."""
    cost: float | None
    """US dollars, the same of runs that were judged."""
    tokens: float | None
    duration: Level | None
    """How the duration changed; None where it did not."""
    price: Level | None
    """How the cost changed, or the number of tokens where no price is known."""

    @property
    def interval(self) -> Interval:
        """The interval of the pass rate, at 95 %."""
        return wilson(self.passed, self.judged)

    @property
    def worst(self) -> Trend:
        """The trend that is listed first."""
        return self.trends[0]


_ORDER = {trend: place for place, trend in enumerate(Trend)}
_VERDICT, _PASSED, _JUDGED, _DURATION = map(attrgetter, ("verdict", "passed", "judged", "duration_ms"))
"""Fields of results."""


def histories(
    store: Store, runs: Sequence[StoredRun], tests: Sequence[tuple[str, str]] | None = None
) -> list[TestHistory]:
    """The history of each test that some of these runs have, the worst first; only of these `tests`, by suite and
    name."""
    if tests is not None:
        made = [history for suite, test in tests if (history := history_of(store, suite, test, runs))]
    else:
        made = _all(store, runs)
    return sorted(made, key=lambda one: (_ORDER[one.worst], _rate(one), one.suite, one.test))


def _all(store: Store, runs: Sequence[StoredRun]) -> list[TestHistory]:
    known = {run.id: run for run in runs}
    order = {run.id: place for place, run in enumerate(reversed(runs))}
    found = ([one for one in results if one.cause != NOT_ENDED] for results in store.by_test(list(known)))
    return [
        _history(store, known, sorted(results, key=lambda one: order[one.run]), listed=True)
        for results in found
        if results
    ]


def history_of(store: Store, suite: str, test: str, runs: Sequence[StoredRun]) -> TestHistory | None:
    """The history of one test over these runs; None when none of them came to it."""
    known = {run.id: run for run in runs}
    results = [one for one in store.over_time(suite, test, list(known)) if one.cause != NOT_ENDED]
    return _history(store, known, results) if results else None


def _rate(one: TestHistory) -> float:
    return one.passed / one.judged if one.judged else 1.0


def _history(
    store: Store, runs: Mapping[str, StoredRun], results: Sequence[StoredResult], *, listed: bool = False
) -> TestHistory:
    """`listed`: in a list of all tests, which keeps no results in memory."""
    asked = _asked(store, results)
    judged = [result for result in results if result.judged]

    def since(at: int, of: Sequence[StoredResult], p: float) -> Since:
        before, after = of[at - 1], of[at]
        made_of = store.fingerprint(before.made_of), store.fingerprint(after.made_of)
        parts, is_known = changed(*made_of, before.connector, after.connector), None not in made_of
        return Since(run=runs[after.run], before=runs[before.run], parts=parts, is_known=is_known, p=p)

    rate = rate_break(judged, steady=_is_steady(store, judged)) if judged else None
    newest = judged[rate.at :] if rate is not None else judged
    now: Collection[int] | None = None
    if len(set(asked)) > 1 and judged:
        asks = {one.seq: name for one, name in zip(results, asked, strict=True)}
        now = {one.seq for one in judged if asks[one.seq] == asks[judged[-1].seq]}
        newest = [one for one in newest if one.seq in now]
    passed, count = sum(map(_PASSED, newest)), sum(map(_JUDGED, newest))
    streak = _streak(judged)
    fine = [result for result in judged if result.verdict == Verdict.PASSED]
    duration, milliseconds = _level(fine, now, _DURATION, since, _is_slower)
    price, cost = _level(judged, now, attrgetter("cost"), since, _takes_more)
    tokens_level, tokens = _level(judged, now, attrgetter("tokens"), since, _takes_more)
    price = price if cost is not None else tokens_level
    all_fail = all(one.verdict == Verdict.FAILED for one in newest)
    trends = set(_trends(results, rate, passed, count, all_fail, duration, price))
    return TestHistory(
        suite=results[-1].suite,
        test=results[-1].test,
        results=() if listed else tuple(results),
        verdicts=tuple(map(intern, map(_VERDICT, results))),
        newest=runs[results[-1].run],
        average_ms=sum(map(_DURATION, results)) / len(results),
        asked=asked,
        passed=passed,
        judged=count,
        all_passed=sum(map(_PASSED, judged)),
        all_judged=sum(map(_JUDGED, judged)),
        broken=sum(map(_NONE.__contains__, map(_VERDICT, results))),
        trends=tuple(sorted(trends, key=lambda trend: _ORDER[trend])),
        rate_before=rate.before if rate is not None else None,
        since=since(rate.at, judged, rate.p) if rate is not None else None,
        failing=streak,
        failing_since=since(len(judged) - streak, judged, 1.0) if 0 < streak < len(judged) else None,
        milliseconds=milliseconds,
        cost=cost,
        tokens=tokens,
        duration=duration,
        price=price,
    )


def _trends(
    results: Sequence[StoredResult],
    rate: Break | None,
    passed: int,
    judged: int,
    all_fail: bool,
    duration: Level | None,
    price: Level | None,
) -> Iterable[Trend]:
    if Verdict(results[-1].verdict).is_none:
        yield Trend.NO_VERDICT
    if judged:
        if rate is not None:
            yield Trend.BROKE if rate.after < rate.before else Trend.FIXED
        if 0 < passed < judged:
            yield Trend.FLAKY
        elif all_fail and rate is None:
            yield Trend.FAILS
        elif passed == judged and rate is None:
            yield Trend.STEADY
    elif not Verdict(results[-1].verdict).is_none:
        yield Trend.SKIPPED
    if duration is not None:
        yield Trend.SLOWER if duration.ratio > 1 else Trend.FASTER
    if price is not None:
        yield Trend.DEARER if price.ratio > 1 else Trend.CHEAPER


def _is_steady(store: Store, judged: Sequence[StoredResult]) -> bool:
    """Whether the test only ends otherwise where something of it changed: no model, and no chance, is in it."""
    if any(result.connector not in (None, SCRIPTED) or 0 < result.passed < result.judged for result in judged):
        return False
    for one, other in pairwise(judged):
        if one.passed != other.passed and one.made_of is not None and other.made_of is not None:
            made_of = store.fingerprint(one.made_of), store.fingerprint(other.made_of)
            if not changed(*made_of, one.connector, other.connector):
                return False
    return True


def _asked(store: Store, results: Sequence[StoredResult]) -> tuple[str, ...]:
    """What each result has asked, so that two have the same name only if it was the same."""
    made_of = set(map(attrgetter("connector", "made_of"), results))
    if len(made_of) < 2:
        return (intern(results[0].connector or ""),) * len(results)
    connectors = [intern(one.connector or "") for one in results]
    model_of = {(name, digest): asked_by(name, store.fingerprint(digest)) for name, digest in made_of}
    models = [model_of[one.connector, one.made_of] for one in results]
    known = Counter(name for name, model in {(name or "", model) for (name, _), model in model_of.items()} if model)
    several = {name for name, number in known.items() if number > 1}
    return tuple(
        f"{name} ({model})" if model and name in several else name
        for name, model in zip(connectors, models, strict=True)
    )


def _streak(judged: Sequence[StoredResult]) -> int:
    return next((at for at, one in enumerate(reversed(judged)) if one.verdict != Verdict.FAILED), len(judged))


def _level(
    results: Sequence[StoredResult],
    now: Collection[int] | None,
    figure: Callable[[StoredResult], Any],
    since: Callable[[int, Sequence[StoredResult], float], Since],
    counts: Callable[[float, float], bool],
) -> tuple[Level | None, float | None]:
    """How a figure changed, if that counts, and its mean from then on, in results that ask what the newest one asks,
    which are the numbers `now`; None: all."""
    values: list[float] = list(filter(None, map(figure, results)))
    if not values:
        return None, None
    having = list(filter(figure, results))
    found = level_break(values) if counts(min(values), max(values)) else None
    if found is None or not (counts(found.before, found.after) or counts(found.after, found.before)):
        found = None
    begin = found.at if found is not None else 0
    alike = [figure(one) for one in having[begin:] if one.seq in now] if now is not None else values[begin:]
    mean = sum(alike) / len(alike) if alike else None
    if found is None:
        return None, mean
    return Level(before=found.before, after=found.after, since=since(found.at, having, found.p)), mean


def _is_slower(before: float, after: float) -> bool:
    return after >= before * STANDARD.slower_factor and after - before >= STANDARD.slower_by


def _takes_more(before: float, after: float) -> bool:
    return after >= before * STANDARD.usage_factor
