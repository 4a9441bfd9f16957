"""The history of each test: how often it passes, whether it has become flaky, slower or dearer, and since when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import compress, pairwise
from operator import attrgetter, truediv
from sys import intern
from typing import Any

from runner.amounts import Estimate
from runner.compare.comparison import STANDARD
from runner.parts import asked_by, changed
from runner.record.outcomes import Verdict
from runner.statistics.change import Break, level_break, rate_break
from runner.statistics.intervals import Interval, wilson
from runner.store.store import Store
from runner.store.stored import NOT_ENDED, StoredResult, StoredRun
from scripttest.values import Value, fields_of, names_of

_PASSED = str(Verdict.PASSED)
_VERDICTS = {verdict.value: verdict.value for verdict in Verdict}
"""One text for all that say the same."""
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


class Series(Value):
    """The verdicts on one test, in the order in which its runs began: some fields of a `StoredResult`, each of all."""

    suite: tuple[str, ...]
    test: tuple[str, ...]
    run: tuple[str, ...]
    verdict: tuple[str, ...]
    passed: tuple[int, ...]
    judged: tuple[int, ...]
    duration_ms: tuple[float, ...]
    cost: tuple[float | None, ...]
    tokens: tuple[float | None, ...]
    connector: tuple[str | None, ...]
    made_of: tuple[str | None, ...]
    asked: tuple[str, ...] = ()
    """As in `TestHistory`."""

    @classmethod
    def of(cls, columns: Mapping[str, tuple[Any, ...]]) -> Series:
        """Of the columns of `OF_SERIES`."""
        fields = {**columns}
        if any(estimated := fields.pop("cost_estimated")):
            fields["cost"] = tuple(map(_cost, fields["cost"], estimated))
        return cls(**fields)

    def asking(self, asked: str, begin: int) -> list[bool]:
        """For each verdict whether it is from this place on, of what asked this."""
        return [*begin * (False,), *(one == asked for one in self.asked[begin:])]

    def where(self, chosen: Sequence[object]) -> Series:
        """The verdicts of which a value is true."""
        if all(chosen):
            return self
        return Series(**{name: tuple(compress(column, chosen)) for name, column in fields_of(self).items()})


OF_SERIES = (*(name for name in names_of(Series) if name != "asked"), "cost_estimated")
"""Columns of results."""


def _cost(cost: float | None, estimated: int) -> float | None:
    return cost if cost is None or not estimated else Estimate(cost)


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
    def rate(self) -> float:
        """The pass rate; 1 where none was judged."""
        return self.passed / self.judged if self.judged else 1.0

    @property
    def worst(self) -> Trend:
        """The trend that is listed first."""
        return self.trends[0]


_ORDER = {trend: place for place, trend in enumerate(Trend)}


def histories(
    store: Store, runs: Sequence[StoredRun], tests: Sequence[tuple[str, str]] | None = None
) -> list[TestHistory]:
    """The history of each test that some of these runs have, the worst first; only of these `tests`, by suite and
    name."""
    if tests is not None:
        made = [history for suite, test in tests if (history := history_of(store, suite, test, runs))]
    else:
        known = {run.id: run for run in reversed(runs)}
        made = [_history(store, known, Series.of(columns)) for columns in store.by_test(list(known), OF_SERIES)]
    return sorted(made, key=lambda one: (_ORDER[one.worst], one.rate, one.suite, one.test))


def history_of(store: Store, suite: str, test: str, runs: Sequence[StoredRun]) -> TestHistory | None:
    """The history of one test over these runs; None when none of them came to it."""
    known = {run.id: run for run in runs}
    results = tuple(one for one in store.over_time(suite, test, list(known)) if one.cause != NOT_ENDED)
    series = {name: tuple(map(attrgetter(name), results)) for name in OF_SERIES}
    return _history(store, known, Series.of(series), results) if results else None


def _history(
    store: Store, runs: Mapping[str, StoredRun], series: Series, results: tuple[StoredResult, ...] = ()
) -> TestHistory:
    """`results`: none in a list of all tests, which keeps none in memory."""
    series = series.replace(asked=_asked(store, series))
    judged = series.where(series.judged)

    def since(at: int, of: Series, p: float) -> Since:
        made_of = store.fingerprint(of.made_of[at - 1]), store.fingerprint(of.made_of[at])
        parts, is_known = changed(*made_of, *of.connector[at - 1 : at + 1]), None not in made_of
        return Since(run=runs[of.run[at]], before=runs[of.run[at - 1]], parts=parts, is_known=is_known, p=p)

    rate = rate_break(judged.passed, judged.judged, steady=_is_steady(store, judged))
    asks = judged.asked[-1] if judged.asked else ""
    newest = judged.asking(asks, rate.at if rate is not None else 0)
    passed, count = (sum(compress(column, newest)) for column in (judged.passed, judged.judged))
    streak = _streak(judged)
    fine = judged.where([verdict == _PASSED for verdict in judged.verdict])
    duration, milliseconds = _level(fine, asks, "duration_ms", since, STANDARD.is_slower)
    price, cost = _level(judged, asks, "cost", since, STANDARD.takes_more)
    tokens_level, tokens = _level(judged, asks, "tokens", since, STANDARD.takes_more)
    price = price if cost is not None else tokens_level
    trends = set(_trends(series.verdict[-1], rate, {*compress(judged.verdict, newest)}, passed, count, duration, price))
    return TestHistory(
        suite=series.suite[-1],
        test=series.test[-1],
        results=results,
        verdicts=tuple(map(_VERDICTS.__getitem__, series.verdict)),
        newest=runs[series.run[-1]],
        average_ms=sum(series.duration_ms) / len(series.run),
        asked=series.asked,
        passed=passed,
        judged=count,
        all_passed=sum(judged.passed),
        all_judged=sum(judged.judged),
        broken=sum(map(series.verdict.count, _NONE)),
        trends=tuple(sorted(trends, key=_ORDER.__getitem__)),
        rate_before=rate.before if rate is not None else None,
        since=since(rate.at, judged, rate.p) if rate is not None else None,
        failing=streak,
        failing_since=since(len(judged.run) - streak, judged, 1.0) if 0 < streak < len(judged.run) else None,
        milliseconds=milliseconds,
        cost=cost,
        tokens=tokens,
        duration=duration,
        price=price,
    )


def _trends(
    verdict: str,
    rate: Break | None,
    newest: set[str],
    passed: int,
    judged: int,
    duration: Level | None,
    price: Level | None,
) -> Iterable[Trend]:
    if verdict in _NONE:
        yield Trend.NO_VERDICT
    if judged:
        if rate is not None:
            yield Trend.BROKE if rate.after < rate.before else Trend.FIXED
        if 0 < passed < judged:
            yield Trend.FLAKY
        elif rate is None and newest == {Verdict.FAILED}:
            yield Trend.FAILS
        elif passed == judged and rate is None:
            yield Trend.STEADY
    elif verdict not in _NONE:
        yield Trend.SKIPPED
    if duration is not None:
        yield Trend.SLOWER if duration.ratio > 1 else Trend.FASTER
    if price is not None:
        yield Trend.DEARER if price.ratio > 1 else Trend.CHEAPER


def _is_steady(store: Store, judged: Series) -> bool:
    """Whether the test only ends otherwise where something of it changed: no model, and no chance, is in it."""
    if not {*judged.connector} <= {None, SCRIPTED}:
        return False
    if any(0 < passed < of for passed, of in zip(judged.passed, judged.judged, strict=True)):
        return False
    rates = map(truediv, judged.passed, judged.judged)  # not how many passed: runs of one test may be more or fewer
    for one, other in pairwise(zip(rates, judged.made_of, judged.connector, strict=True)):
        made_of = store.fingerprint(one[1]), store.fingerprint(other[1])
        if one[0] != other[0] and None not in (one[1], other[1]) and not changed(*made_of, one[2], other[2]):
            return False
    return True


def _asked(store: Store, series: Series) -> tuple[str, ...]:
    """What each result has asked, so that two have the same name only if it was the same."""
    if len({*series.made_of}) == 1:
        named = {connector: intern(connector or "") for connector in {*series.connector}}
        return tuple(map(named.__getitem__, series.connector))
    both = list(zip(series.connector, series.made_of, strict=True))
    made_of = set(both)
    name_of = {asked: intern(asked[0] or "") for asked in made_of}
    model_of = {(name, digest): asked_by(name, store.fingerprint(digest)) for name, digest in made_of}
    known = Counter(name for name, model in {(name_of[asked], model) for asked, model in model_of.items()} if model)
    for asked, model in model_of.items():
        if model and known[name_of[asked]] > 1:
            name_of[asked] += f" ({model})"
    return tuple(map(name_of.__getitem__, both))


def _streak(judged: Series) -> int:
    return next((at for at, one in enumerate(reversed(judged.verdict)) if one != Verdict.FAILED), len(judged.verdict))


def _level(
    series: Series,
    asks: str,
    figure: str,
    since: Callable[[int, Series, float], Since],
    counts: Callable[[float, float], bool],
) -> tuple[Level | None, float | None]:
    """How a figure changed, if that counts, and its mean from then on, in results that ask this."""
    if not any(getattr(series, figure)):
        return None, None
    having = series.where(getattr(series, figure))
    values: tuple[float, ...] = getattr(having, figure)
    found = level_break(values) if counts(min(values), max(values)) else None
    if found is None or not (counts(found.before, found.after) or counts(found.after, found.before)):
        found = None
    alike = list(compress(values, having.asking(asks, found.at if found is not None else 0)))
    mean = sum(alike) / len(alike) if alike else None
    if found is None:
        return None, mean
    return Level(before=found.before, after=found.after, since=since(found.at, having, found.p)), mean
